/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Sources of paths and descriptors: what is a file is left to be mapped or read, what is a stream is read to its end,
 * and spilled to a temporary file if that is long. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/io/io_private.h"

/* ----------------------------------------------------------------------------------------------------- streams -- */

/* Of a descriptor: the lr_stream_fn of lr_source_drain. */
static int32_t read_some(rec_job *job, const rec_source *source, void *user, uint64_t at, void *target, uint64_t room,
                         uint64_t *got)
{
    int fd = *(const int *)user;
    *got = 0;
    for (;;) {
        ssize_t n = read(fd, target, (size_t)(room < LR_IO_PIECE ? room : LR_IO_PIECE));
        int32_t status = REC_OK;
        if (n >= 0) {
            *got = (uint64_t)n;
            return REC_OK;
        }
        if (errno == EINTR) {
            status = lr_io_interrupted(job);
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            status = lr_io_wait(job, fd, POLLIN);
        } else {
            return lr_io_errno(job, source->name, at, NULL, errno, "read");
        }
        if (status != REC_OK) {
            return status;
        }
    }
}

/* ----------------------------------------------------------------------------------------------------- opening -- */

int32_t lr_path_open(rec_job *job, const char *path, int flags, int *fd, int *error)
{
    int32_t status = REC_OK;
    *fd = -1;
    *error = 0;
    while (*fd < 0 && *error == 0 && status == REC_OK) {
        *fd = open(path, flags | O_CLOEXEC | O_NOCTTY, 0); /* without a mode glibc calls __open_2() */
        if (*fd < 0 && errno == EINTR) {
            status = lr_io_interrupted(job);
        } else if (*fd < 0) {
            *error = errno;
        }
    }
    return status;
}

int32_t lr_path_refused(rec_job *job, const char *path, int error)
{
    return lr_io_errno(job, path, REC_UNKNOWN, NULL, error, "open the file");
}

/* Fills a source from a descriptor, from where it stands if it is a regular file (`at_position`). */
static int32_t fill(rec_job *job, rec_source *source, int fd, bool at_position, bool map)
{
    struct stat info;
    uint64_t begin = 0, end;
    int32_t status;
    if (fstat(fd, &info) != 0) {
        return lr_io_errno(job, source->name, REC_UNKNOWN, NULL, errno, "inspect the file");
    }
    if (S_ISDIR(info.st_mode)) {
        return lr_io_fail(job, source->name, REC_E_IO, REC_UNKNOWN, "Give the name of a file.",
                          "this is a directory, not a file");
    }
    end = S_ISREG(info.st_mode) && info.st_size > 0 ? (uint64_t)info.st_size : 0;
    if (end && at_position) {
        off_t position = lseek(fd, 0, SEEK_CUR);
        begin = position > 0 ? (uint64_t)position : 0;
    }
    if (begin >= end && job->skip && !S_ISREG(info.st_mode)) {
        status = lr_source_stream(job, source, read_some, fd, !at_position);
    } else if (begin >= end) {
        /* A stream, an empty file, or one of those of /proc that have bytes and no size. */
        status = lr_source_drain(job, source, &(lr_stream){.read = read_some, .user = &fd, .total = REC_UNKNOWN});
    } else {
        status = lr_source_fill(job, source, fd, begin, end, map);
    }
    if (status == REC_OK && at_position && begin < end) {
        (void)lseek(fd, (off_t)end, SEEK_SET); /* what was read has been read, as with a pipe */
    }
    return status;
}

int32_t lr_path_begin(rec_job *job, rec_source *source, int fd, bool map)
{
    struct stat info;
    int32_t status;
    bool known = fstat(fd, &info) == 0;
    source->located = true;
    source->may_map = map;
    if (known && S_ISREG(info.st_mode) && info.st_size > 0) {
        return lr_source_defer(job, source, fd, (uint64_t)info.st_size);
    }
    if (known && S_ISDIR(info.st_mode)) {
        return lr_source_list(job, source, fd);
    }
    status = fill(job, source, fd, false, map);
    if (!source->self) {
        (void)close(fd); /* it was only read: nothing can be lost */
    }
    return status;
}

int32_t lr_parallel_open(rec_job *job, rec_source *source, bool map, bool *missing, bool *done)
{
    const lr_parallel *parallel = job->parallel;
    if (!parallel || !parallel->open) {
        parallel = atomic_load_explicit(&job->context->parallel, memory_order_acquire);
    }
    *done = false;
    source->may_map_late = map;
    return parallel ? parallel->open(parallel, job, source, map, missing, done) : REC_OK;
}

bool lr_parallel_has(const rec_job *job, const char *path)
{
    const lr_parallel *shown = atomic_load_explicit(&job->context->parallel, memory_order_acquire);
    return shown && shown->has(shown, path);
}

rec_source *lr_source_open(rec_job *job, const char *path, bool map)
{
    rec_source *source = lr_source_new(job, path);
    int32_t status;
    bool seen;
    int fd, error = 0;
    if (!source) {
        return NULL;
    }
    status = lr_parallel_open(job, source, map, NULL, &seen);
    if (status == REC_OK && !seen) {
        status = lr_path_open(job, path, O_RDONLY, &fd, &error);
    }
    if (error) {
        status = lr_path_refused(job, path, error);
    }
    if (status == REC_OK && !seen) {
        status = lr_path_begin(job, source, fd, map);
    }
    if (status == REC_OK && rec_source_size(source) != REC_UNKNOWN) {
        lr_job_input(job, rec_source_size(source));
    } else if (status != REC_OK) {
        lr_source_release(source);
        source = NULL;
    }
    return source;
}

rec_source *lr_source_fd(rec_job *job, int fd, const char *name, bool map)
{
    rec_source *source = lr_source_new(job, name);
    if (source && fill(job, source, fd, true, map) != REC_OK) {
        lr_source_release(source);
        source = NULL;
    }
    if (source && rec_source_size(source) != REC_UNKNOWN) {
        lr_job_input(job, source->size);
    }
    return source;
}
