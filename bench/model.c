/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The payload, and small things every part needs. */
#include <err.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"

double live_anonymous;

/* xorshift64*: gaussian data needs no better, and must be the same on every machine. */
static uint64_t next(uint64_t *state)
{
    uint64_t x = *state;

    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    *state = x;
    return x * UINT64_C(2685821657736338717);
}

static double unit(uint64_t *state)
{
    return ((double)(next(state) >> 11) + 0.5) / 9007199254740992.0;
}

/* Box and Muller. Zeros or uniform bytes would falsify gzip. */
static void gaussian(float *out, size_t count, uint64_t *state)
{
    for (size_t i = 0; i < count; i += 2) {
        double radius = sqrt(-2 * log(unit(state))), angle = 6.283185307179586 * unit(state);
        out[i] = (float)(radius * cos(angle));
        out[i + 1] = (float)(radius * sin(angle));
    }
}

model model_new(size_t megabytes)
{
    model m = {.count = megabytes / 4};
    uint64_t state = 42;

    m.layers = calloc(m.count ? m.count : 1, sizeof *m.layers);
    for (size_t i = 0; m.layers && i < m.count; i++) {
        m.layers[i] = malloc(LAYER_BYTES);
        if (!m.layers[i]) {
            err(2, "model");
        }
        gaussian(m.layers[i], LAYER_COUNT, &state);
    }
    if (!m.layers) {
        err(2, "model");
    }
    return m;
}

void model_free(model *m)
{
    for (size_t i = 0; i < m->count; i++) {
        free(m->layers[i]);
    }
    free(m->layers);
}

static double clock_of(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

span begin(void)
{
    double cpu = clock_of(CLOCK_PROCESS_CPUTIME_ID);

    return (span){clock_of(CLOCK_MONOTONIC), cpu};
}

span since(span start)
{
    double seconds = clock_of(CLOCK_MONOTONIC) - start.seconds;

    return (span){seconds, clock_of(CLOCK_PROCESS_CPUTIME_ID) - start.cpu};
}

int must_open(const char *path, int flags)
{
    int fd = open(path, flags | O_CLOEXEC, 0666);

    if (fd < 0) {
        err(2, "%s", path);
    }
    return fd;
}

size_t file_size(int fd)
{
    struct stat s;

    if (fstat(fd, &s) != 0) {
        err(2, "fstat");
    }
    return (size_t)s.st_size;
}

void sync_file(const char *path)
{
    int fd = must_open(path, O_RDONLY);

    if (fsync(fd) != 0) {
        err(2, "%s", path);
    }
    close(fd);
}

bool has_word(char *const *words, const char *word)
{
    for (size_t i = 1; i < WORDS; i++) {
        if (strcmp(words[i], word) == 0) {
            return true;
        }
    }
    return false;
}

size_t number_of(const char *word, size_t least)
{
    size_t number = strtoul(word, NULL, 10);

    return number < least ? least : number;
}

double status_mib(const char *name)
{
    FILE *f = fopen("/proc/self/status", "r");
    char line[256];
    double kib = -1;

    while (f && fgets(line, sizeof line, f)) {
        if (strncmp(line, name, strlen(name)) == 0 && line[strlen(name)] == ':') {
            kib = strtod(line + strlen(name) + 1, NULL);
        }
    }
    if (!f || kib < 0) {
        errx(2, "/proc/self/status has no %s", name);
    }
    fclose(f);
    return kib / 1024;
}

uint64_t sum_words(const void *data, size_t size)
{
    const unsigned char *bytes = data;
    uint64_t sums[4] = {0}, word[4];
    size_t i = 0;

    for (; i + 32 <= size; i += 32) {
        memcpy(word, bytes + i, 32);
        for (int k = 0; k < 4; k++) {
            sums[k] += word[k];
        }
    }
    for (; i < size; i++) {
        sums[0] += bytes[i];
    }
    return sums[0] + sums[1] + sums[2] + sums[3];
}

void *fresh_pages(size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (memory == MAP_FAILED) {
        err(2, "mmap");
    }
    (void)madvise(memory, size, MADV_HUGEPAGE);
    return memory;
}
