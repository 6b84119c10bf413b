/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What the tests of sources and sinks share: a folder of their own, a job, an allocator that counts and fails. */
#ifndef TEST_IO_H
#define TEST_IO_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/local_words.h"
#include "core/io/io.h"

/** The world of one test. `context` is made by hand: these tests need neither configuration nor registry. */
typedef struct world {
    char folder[64]; /**< the current folder while the test runs */
    int before;      /**< the folder before it */
    rec_context context;
    rec_job job;
    int64_t live;    /**< blocks of the counting allocator that are in use */
    int64_t fail_at; /**< which allocation fails, -1: none */
    int64_t made;
    int progress_calls;
    int cancel_at; /**< the progress call that cancels, 0: none */
} world;

static inline void *counted_alloc(void *user, size_t size)
{
    world *w = user;
    void *memory = w->made++ == w->fail_at ? NULL : malloc(size);
    w->live += memory != NULL;
    return memory;
}

static inline void *counted_resize(void *user, void *old, size_t size)
{
    world *w = user;
    return w->made++ == w->fail_at ? NULL : realloc(old, size);
}

static inline void counted_release(void *user, void *memory)
{
    world *w = user;
    w->live--;
    free(memory);
}

static inline int32_t count_progress(void *user, const rec_progress *progress)
{
    world *w = user;
    (void)progress;
    return ++w->progress_calls == w->cancel_at;
}

static inline int remove_one(const char *path, const struct stat *info, int kind, struct FTW *walk)
{
    (void)info;
    (void)kind;
    (void)walk;
    return remove(path);
}

static inline void begin_job(world *w)
{
    lr_job_begin(&w->job, &w->context, "test", "job.file");
}

static inline int enter_world(void **state)
{
    world *w = calloc(1, sizeof *w);
    const char *parent = getenv("TMPDIR");
    assert_non_null(w);
    (void)snprintf(w->folder, sizeof w->folder, "%.40s/librecord-io-XXXXXX", parent && *parent ? parent : "/tmp");
    w->before = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (w->before < 0 || !mkdtemp(w->folder) || chdir(w->folder) != 0) {
        return -1;
    }
    w->context.allocator = lr_standard_allocator;
    w->context.limits = rec_limits_default();
    w->context.threads = 2;
    w->context.progress = count_progress;
    w->context.progress_user = w;
    w->fail_at = -1;
    begin_job(w);
    *state = w;
    return 0;
}

static inline int leave_world(void **state)
{
    world *w = *state;
    int result = fchdir(w->before);
    (void)lr_job_end(&w->job);
    (void)close(w->before);
    (void)nftw(w->folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    free(w);
    return result;
}

/** From now on memory comes from the allocator that counts; it never maps pages. */
static inline void use_counted_allocator(world *w)
{
    w->context.allocator =
        (lr_allocator){.alloc = counted_alloc, .resize = counted_resize, .release = counted_release, .user = w};
    begin_job(w);
}

/** Ends the job and says how. */
static inline rec_status end_job(world *w)
{
    rec_status status = lr_job_end(&w->job);
    begin_job(w);
    return status;
}

#define assert_contains(text, part)                                                      \
    do {                                                                                 \
        if (!strstr((text), local_words(part))) {                                        \
            fail_msg("\"%s\" is not in the message:\n%s", (const char *)(part), (text)); \
        }                                                                                \
    } while (0)

/** The job must have failed like that. */
static inline void assert_failed(world *w, rec_status status, const char *words)
{
    assert_int_equal(lr_job_end(&w->job), status);
    assert_contains(rec_error_message(), words);
    begin_job(w);
}

/** Byte `at` of the test data: no period that a buffer's size could hide. */
static inline uint8_t pattern(uint64_t at)
{
    return (uint8_t)((at * UINT64_C(0x9E3779B97F4A7C15)) >> 56);
}

static inline uint8_t *make_pattern(size_t size)
{
    uint8_t *data = malloc(size ? size : 1);
    assert_non_null(data);
    for (size_t i = 0; i < size; i++) {
        data[i] = pattern(i);
    }
    return data;
}

static inline void write_file(const char *path, const void *data, size_t size)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    assert_true(fd >= 0);
    for (size_t at = 0; at < size;) {
        ssize_t n = write(fd, (const char *)data + at, size - at);
        assert_true(n > 0);
        at += (size_t)n;
    }
    assert_int_equal(close(fd), 0);
}

static inline char *read_file(const char *path, size_t *size)
{
    struct stat info;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    char *data;
    assert_true(fd >= 0);
    assert_int_equal(fstat(fd, &info), 0);
    *size = (size_t)info.st_size;
    data = malloc(*size + 1);
    assert_non_null(data);
    for (size_t at = 0; at < *size;) {
        ssize_t n = read(fd, data + at, *size - at);
        assert_true(n > 0);
        at += (size_t)n;
    }
    data[*size] = '\0';
    (void)close(fd);
    return data;
}

static inline void assert_file(const char *path, const void *data, size_t size)
{
    size_t found;
    char *bytes = read_file(path, &found);
    assert_int_equal(found, size);
    assert_int_equal(memcmp(bytes, data, size), 0);
    free(bytes);
}

/** Files of a folder whose names end in `ending`. */
static inline int count_files(const char *folder, const char *ending)
{
    DIR *list = opendir(folder);
    struct dirent *entry;
    int count = 0;
    assert_non_null(list);
    while ((entry = readdir(list))) {
        size_t length = strlen(entry->d_name), tail = strlen(ending);
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
            count += length >= tail && strcmp(entry->d_name + length - tail, ending) == 0;
        }
    }
    (void)closedir(list);
    return count;
}

/** The whole view. */
static inline void assert_view(world *w, rec_source *source, const void *data, size_t size)
{
    const void *view;
    uint64_t got;
    assert_int_equal(rec_source_view(&w->job, source, &view, &got), REC_OK);
    assert_int_equal(got, size);
    assert_non_null(view);
    assert_int_equal(memcmp(view, data, size), 0);
    assert_int_equal(rec_source_size(source), size);
}

/** Reads to the end in pieces of `piece` bytes. */
static inline void assert_reads(world *w, rec_source *source, const uint8_t *data, size_t size, size_t piece)
{
    uint8_t *room = malloc(piece);
    size_t at = 0;
    assert_non_null(room);
    for (;;) {
        uint64_t got;
        assert_int_equal(rec_source_read(&w->job, source, room, piece, &got), REC_OK);
        if (got == 0) {
            break;
        }
        assert_true(got <= piece && at + got <= size);
        assert_int_equal(memcmp(room, data + at, (size_t)got), 0);
        at += (size_t)got;
    }
    assert_int_equal(at, size);
    free(room);
}

/** A file as a source whose view is there. */
static inline rec_source *source_of_file(rec_job *job, const char *path, bool map)
{
    rec_source *source = lr_source_open(job, path, map);
    const void *data;
    uint64_t size;
    if (source && rec_source_view(job, source, &data, &size) != REC_OK) {
        lr_source_release(source);
        source = NULL;
    }
    return source;
}

#endif
