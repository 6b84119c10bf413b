/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Sets of type definitions. */
#include "types/types.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/config/config.h"
#include "types/rust_lex_private.h"

/* --------------------------------------------------------------------------------------------------------- files -- */

/* The source of a file, to be released with the job's allocator. NULL: the job has failed. */
static char *read_source(rec_job *job, const char *path, uint64_t *length)
{
    enum { FIRST_ROOM = 1 << 16 };
    char words[256], *text = NULL;
    uint64_t room = 0, used = 0;
    struct stat state;
    int32_t status = REC_OK;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0) {
        (void)lr_fail_line(job, REC_E_IO, path, 0, "cannot open: %s", lr_errno_words(errno, words, sizeof words));
        return NULL;
    }
    if (fstat(fd, &state) == 0 && S_ISDIR(state.st_mode)) {
        status = lr_fail_line(job, REC_E_IO, path, 0, "a folder, where a file of Rust source is needed");
    }
    while (status == REC_OK) {
        ssize_t got;
        if (used == room) {
            uint64_t larger = room ? room * 2 : FIRST_ROOM;
            char *grown = lr_resize(job->allocator, text, larger + 1);
            if (!grown) {
                status = lr_fail_memory(job, larger + 1);
                continue;
            }
            text = grown;
            room = larger;
        }
        got = read(fd, text + used, (size_t)(room - used));
        if (got == 0) {
            break;
        }
        if (got < 0) {
            if (errno != EINTR) {
                status =
                    lr_fail_line(job, REC_E_IO, path, 0, "cannot read: %s", lr_errno_words(errno, words, sizeof words));
            }
            continue;
        }
        used += (uint64_t)got;
        if (used > LR_RUST_SOURCE_MOST) {
            status = lr_fail_line(job, REC_E_LIMIT, path, 0, "larger than 16 MiB: this is no Rust source");
        }
    }
    (void)close(fd);
    if (status != REC_OK) {
        lr_release(job->allocator, text);
        return NULL;
    }
    text[used] = '\0';
    *length = used;
    return text;
}

/* -------------------------------------------------------------------------------------------------------- public -- */

rec_types *lr_types_new(rec_job *job)
{
    rec_types *types = lr_job_failed(job) ? NULL : lr_zalloc(job->allocator, sizeof *types);
    if (!types) {
        if (!lr_job_failed(job)) {
            (void)lr_fail_memory(job, sizeof *types);
        }
        return NULL;
    }
    types->context = job->context;
    lr_arena_init(&types->arena, job->allocator);
    if (lr_types_add_builtin(job, types) != REC_OK) {
        rec_types_free(types);
        return NULL;
    }
    return types;
}

rec_types *rec_types_new(rec_context *context)
{
    rec_types *types;
    rec_job job;
    lr_job_open(&job, context, "types", NULL);
    types = lr_types_new(&job);
    if (lr_job_end(&job) != REC_OK) {
        rec_types_free(types);
        return NULL;
    }
    return types;
}

void rec_types_free(rec_types *types)
{
    if (types) {
        const lr_allocator *allocator = &types->context->allocator;
        lr_arena_free(&types->arena);
        lr_release(allocator, types);
    }
}

rec_status rec_types_add_file(rec_types *types, const char *path)
{
    size_t length = path ? strlen(path) : 0;
    rec_job job;
    if (LR_NULL(types) || LR_NULL(path)) {
        return REC_E_ARGUMENT;
    }
    if (!length) {
        return lr_publish(REC_E_ARGUMENT, "rec_types_add_file: no path was given");
    }
    lr_job_begin(&job, types->context, "types", path);
    if (length > 4 && strcmp(path + length - 4, ".ini") == 0) {
        (void)lr_types_add_inis(&job, types, &path, 1);
    } else {
        uint64_t size = 0;
        char *text = read_source(&job, path, &size);
        if (text) {
            (void)lr_types_add_rust(&job, types, text, size, path);
        }
        lr_release(job.allocator, text);
    }
    return lr_job_end(&job);
}

rec_status rec_types_add_rust(rec_types *types, const char *text, const char *name)
{
    rec_job job;
    if (LR_NULL(types) || LR_NULL(text) || LR_NULL(name)) {
        return REC_E_ARGUMENT;
    }
    lr_job_begin(&job, types->context, "types", name);
    (void)lr_types_add_rust(&job, types, text, strlen(text), name);
    return lr_job_end(&job);
}
