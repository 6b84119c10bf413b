/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What the entries share: memory that is counted, files, what must hold, and what took longest. */
#include "tests/fuzz/fuzz.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

size_t (*fuzz_mutate_bytes)(uint8_t *data, size_t size, size_t room);

/* What one input cost, and the input. */
typedef struct worst {
    uint64_t cost;
    uint8_t *data;
    size_t size;
} worst;

static struct {
    uint64_t used, most; /* bytes that are counted */
    uint64_t before;     /* the input: that were in use */
    uint64_t begun;      /* nanoseconds */
    uint64_t count;      /* of inputs */
    worst slowest, largest;
    const char *target;
    char folder[64]; /* of the process, "" until it is needed */
    pid_t owner;     /* who made it */
    rec_context *counted, *standard;
} all;

void fuzz_must(bool holds, const char *what)
{
    if (!holds) {
        (void)fprintf(stderr, "must hold: %s\n%s: %s\n", what, rec_status_name(rec_error_status()),
                      rec_error_message());
        abort();
    }
}

void fuzz_must_say(void)
{
    fuzz_must(rec_error_status() != REC_OK && rec_error_message()[0], "a failure has words");
    fuzz_must(rec_error_status() != REC_E_PLUGIN, "no plugin breaks its contract");
}

/* ------------------------------------------------------------------------------------------------------ memory -- */

static void *count(void *memory)
{
    all.used += memory ? malloc_usable_size(memory) : 0;
    all.most = all.used > all.most ? all.used : all.most;
    return memory;
}

static void *take(void *user, size_t size)
{
    (void)user;
    return count(malloc(size));
}

static void *change(void *user, void *old, size_t size)
{
    size_t before = malloc_usable_size(old);
    void *memory = realloc(old, size);
    (void)user;
    all.used -= memory ? before : 0;
    return count(memory);
}

static void give(void *user, void *memory)
{
    (void)user;
    all.used -= malloc_usable_size(memory);
    free(memory);
}

uint64_t fuzz_most(void)
{
    return all.most;
}

uint64_t fuzz_used(void)
{
    return all.used;
}

static rec_context *new_context(const rec_allocator *allocator)
{
    rec_limits limits = rec_limits_default();
    rec_context *context = rec_context_new(allocator);
    limits.inflated_slack = 1 << 20; /* a bomb costs time only */
    fuzz_must(context && rec_context_set_limits(context, &limits) == REC_OK &&
                  rec_context_set_threads(context, 1) == REC_OK,
              "a context");
    return context;
}

rec_context *fuzz_context(size_t size)
{
    static const rec_allocator counted = {.size = sizeof counted, .alloc = take, .resize = change, .release = give};
    if (!all.counted) {
        all.counted = new_context(&counted);
        all.standard = new_context(NULL);
    }
    return size % 8 == 7 ? all.standard : all.counted;
}

/* -------------------------------------------------------------------------------------------------------- cost -- */

static uint64_t now(void)
{
    struct timespec time;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void note(worst *w, uint64_t cost, const uint8_t *data, size_t size)
{
    uint8_t *copy;
    if (cost <= w->cost || !(copy = malloc(size + 1))) {
        return;
    }
    if (size) {
        memcpy(copy, data, size);
    }
    free(w->data);
    *w = (worst){cost, copy, size};
}

void fuzz_begin(void)
{
    all.before = all.most = all.used;
    all.begun = now();
}

void fuzz_end(const char *target, const uint8_t *data, size_t size)
{
    uint64_t spent = now() - all.begun;
    all.target = target;
    /* The first inputs open what is opened once. */
    if (all.count++ > 16) {
        note(&all.slowest, spent, data, size);
        note(&all.largest, all.most - all.before, data, size);
    }
}

static void keep(const char *folder, const char *what, const worst *w)
{
    char path[4096];
    FILE *file;
    if (snprintf(path, sizeof path, "%s/%s-%s", folder, what, all.target) >= (int)sizeof path ||
        !(file = fopen(path, "wb"))) {
        return;
    }
    (void)fwrite(w->data, 1, w->size, file);
    (void)fclose(file);
}

void fuzz_report(void)
{
    const char *folder = getenv("LIBRECORD_FUZZ_WORST");
    if (!all.target || !all.slowest.data || !all.largest.data) {
        return;
    }
    (void)fprintf(stderr, "worst of %s: %.3f ms for %zu bytes, %" PRIu64 " bytes of memory for %zu bytes\n", all.target,
                  (double)all.slowest.cost / 1e6, all.slowest.size, all.largest.cost, all.largest.size);
    if (folder && *folder) {
        keep(folder, "slowest", &all.slowest);
        keep(folder, "largest", &all.largest);
    }
}

/* ------------------------------------------------------------------------------------------------------- files -- */

static void remove_folder(void)
{
    static const char *const files[] = {"config.json", "some.ini", "m.safetensors.index.json",
                                        "m-00001-of-00002.safetensors", "m-00002-of-00002.safetensors"};
    char path[256];
    if (all.owner != getpid()) {
        return;
    }
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        (void)snprintf(path, sizeof path, "%s/%s", all.folder, files[i]);
        (void)unlink(path);
    }
    (void)rmdir(all.folder);
}

const char *fuzz_folder(void)
{
    if (!all.folder[0]) {
        const char *parent = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
        (void)snprintf(all.folder, sizeof all.folder, "%s/librecord-fuzz-XXXXXX", parent);
        fuzz_must(mkdtemp(all.folder) != NULL, "a folder");
        all.owner = getpid();
        (void)atexit(remove_folder);
    }
    return all.folder;
}

const char *fuzz_file(const char *name, const void *data, size_t size)
{
    static char path[256];
    int fd;
    (void)snprintf(path, sizeof path, "%s/%s", fuzz_folder(), name);
    fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    fuzz_must(fd >= 0 && write(fd, data, size) == (ssize_t)size && close(fd) == 0, "a file");
    return path;
}

char *fuzz_text(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    fuzz_must(text != NULL, "memory for a text");
    if (size) {
        memcpy(text, data, size);
    }
    text[size] = '\0';
    return text;
}

void fuzz_set_up(const char *program)
{
    static char path[4096];
    const char *slash = program ? strrchr(program, '/') : NULL;
    struct stat state;
    (void)snprintf(path, sizeof path, "%.*s/etc", slash ? (int)(slash - program) : 1, slash ? program : ".");
    if (stat(path, &state) == 0 && S_ISDIR(state.st_mode)) {
        (void)setenv("LIBRECORD_DATA", path, 1);
    } else {
        (void)setenv("LIBRECORD_DATA", FUZZ_DATA, 0);
    }
    (void)atexit(fuzz_report);
}
