/* SPDX-License-Identifier: MIT OR Apache-2.0
 * bench MEGABYTES: reads one operation a line, answers each with "seconds peak anonymous" (MiB of this process so
 * far, VmHWM; and RssAnon while the record was there). bench/run is its only user. */
#include <err.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bench.h"

/* What was written goes to the disk outside every time, or the next operation would pay for it. */
static void sync_file(const char *path)
{
    int fd = must_open(path, O_RDONLY);

    if (fsync(fd) != 0) {
        err(2, "%s", path);
    }
    close(fd);
}

static unsigned count_of(const char *word)
{
    unsigned long count = strtoul(word, NULL, 10);

    return count < 1 || count > 8 ? 1 : (unsigned)count;
}

/* Touches memory and gives it back. A virtual machine may have handed its free pages to its host, and the next one to
 * want them would pay ten times for each: everyone shall find them as warm as everyone else. */
static void warm(size_t megabytes)
{
    size_t size = megabytes << 20;
    char *memory = fresh_pages(size);

    for (size_t i = 0; i < size; i += 4096) {
        memory[i] = 1;
    }
    munmap(memory, size);
}

static bool is_foreign(const model *m, char **words, size_t count, double *seconds)
{
    const char *op = words[0], *path = count > 1 ? words[1] : "", *third = count > 2 ? words[2] : "",
               *fourth = count > 3 ? words[3] : "", *fifth = count > 4 ? words[4] : "";
    bool watched = count > 5;

    *seconds = 0;
    if (strcmp(op, "write-header") == 0) {
        write_header(path, strtoul(third, NULL, 10));
    } else if (strcmp(op, "write-sparse") == 0) {
        write_sparse(path, strtoul(third, NULL, 10));
    } else if (strcmp(op, "write-layers") == 0) {
        write_layers(m, path);
    } else if (strcmp(op, "write-sixteen") == 0) {
        write_sixteen(m, path);
    } else if (strcmp(op, "raw-copy-memory") == 0) {
        *seconds = raw_copy_memory(path);
    } else if (strcmp(op, "raw-copy-file") == 0) {
        (void)unlink(third);
        *seconds = raw_copy_file(path, third);
        sync_file(third);
    } else if (strcmp(op, "raw-match") == 0) {
        *seconds = raw_match(strtoul(path, NULL, 10));
    } else if (strcmp(op, "foreign-open") == 0) {
        *seconds = foreign_open(path);
    } else if (strcmp(op, "foreign-reader") == 0) {
        *seconds = foreign_reader(path, third);
    } else if (strcmp(op, "foreign-load") == 0) {
        *seconds = foreign_load(path);
    } else if (strcmp(op, "foreign-check") == 0) {
        foreign_check(m, path);
    } else if (strcmp(op, "foreign-convert") == 0) {
        (void)unlink(third);
        *seconds = foreign_convert(path, third, strcmp(fourth, "adapt") == 0, fifth, watched);
        sync_file(third);
    } else if (strcmp(op, "foreign-plan") == 0) {
        *seconds = foreign_plan(path);
    } else {
        return false;
    }
    return true;
}

/* words: the operation, the file, what else it wants */
static double run(const model *m, char **words, size_t count)
{
    const char *op = words[0], *path = count > 1 ? words[1] : "", *third = count > 2 ? words[2] : "",
               *fourth = count > 3 ? words[3] : "";
    double seconds;

    if (strcmp(op, "nothing") == 0) {
        return 0;
    }
    if (strcmp(op, "warm") == 0) {
        warm(strtoul(path, NULL, 10));
        return 0;
    }
    if (strcmp(op, "raw-open") == 0) {
        return raw_open(path);
    }
    if (strcmp(op, "raw-scan") == 0) {
        return raw_scan(path);
    }
    if (strcmp(op, "raw-read") == 0) {
        return raw_read(path, count_of(third));
    }
    if (strcmp(op, "transpose") == 0) {
        return transposes(strtoul(path, NULL, 10), strcmp(third, "copy") == 0);
    }
    if (strcmp(op, "raw-inflate") == 0) {
        return raw_inflate(path);
    }
    if (strcmp(op, "raw-write") == 0) {
        (void)unlink(path);
        seconds = raw_write(m, path, strcmp(third, "half") == 0);
        sync_file(path);
        return seconds;
    }
    if (strcmp(op, "open") == 0) {
        return ours_open(path);
    }
    if (strcmp(op, "scan") == 0) {
        return ours_scan(path);
    }
    if (strcmp(op, "touch") == 0) {
        return ours_touch(path);
    }
    if (strcmp(op, "load") == 0) {
        return ours_load(path, third, count_of(fourth));
    }
    if (strcmp(op, "load-f32") == 0) {
        return ours_load_f32(path, count_of(third));
    }
    if (strcmp(op, "load-scalars") == 0) {
        return ours_load_scalars(path);
    }
    if (strcmp(op, "save") == 0) {
        (void)unlink(path);
        seconds = ours_save(m, path, third, fourth);
        sync_file(path);
        return seconds;
    }
    if (strcmp(op, "check") == 0) {
        ours_check(m, path, third, strcmp(fourth, "half") == 0);
        return 0;
    }
    if (is_foreign(m, words, count, &seconds)) {
        return seconds;
    }
    if (strcmp(op, "write-scalars") == 0) {
        write_scalars(path, 375000);
        return 0;
    }
    errx(2, "no operation %s", op);
}

int main(int argc, char **argv)
{
    model m = model_new(argc > 1 ? strtoul(argv[1], NULL, 10) : 0);
    char *line = NULL, *words[6], *next;
    size_t room = 0, count;

    while (getline(&line, &room, stdin) > 0) {
        count = 0;
        for (char *word = strtok_r(line, " \n", &next); word && count < 6; word = strtok_r(NULL, " \n", &next)) {
            words[count++] = word;
        }
        if (count == 0) {
            continue;
        }
        live_anonymous = status_mib("RssAnon");
        double seconds = run(&m, words, count);
        printf("%.9f %.3f %.3f\n", seconds, status_mib("VmHWM"), live_anonymous);
        (void)fflush(stdout);
    }
    free(line);
    model_free(&m);
    return 0;
}
