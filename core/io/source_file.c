/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Sources of paths and descriptors: what is a file is left to be mapped or read, what is a stream is read to its end, and
 * spilled to a temporary file if that is long. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/io/io_private.h"

/* A stream that is longer goes to a temporary file, unless the context says less. */
#define SPILL_FROM (UINT64_C(64) << 20)
#define STREAM_FIRST (UINT64_C(1) << 20)

/* ------------------------------------------------------------------------------------------------------- streams -- */

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

/* What is read to its end, and the size it is said to have, or REC_UNKNOWN. */
struct stream {
    lr_stream_fn read;
    void *user;
    uint64_t total;
};

/* The next bytes. One more than there may be is asked for, so that what never ends is found out at once. */
static int32_t more(rec_job *job, const rec_source *source, const struct stream *stream, uint64_t at, void *target,
                    uint64_t room, uint64_t *got)
{
    char said[32];
    uint64_t left = stream->total == REC_UNKNOWN ? REC_UNKNOWN : stream->total - at;
    int32_t status = stream->read(job, source, stream->user, at, target, left < room ? left + 1 : room, got);
    if (status == REC_OK && *got > left) {
        *got = 0;
        status = lr_io_fail(job, source->name, REC_E_IO, stream->total, NULL, "it was to have %s bytes and has more",
                            lr_group_digits(stream->total, said, sizeof said));
    }
    return status;
}

/* The rest of a stream of which `pages` hold the first `used` bytes. */
static int32_t spill(rec_job *job, rec_source *source, const struct stream *stream, lr_pages *pages, uint64_t used)
{
    int temporary = lr_spill_open(job);
    int32_t status;
    uint64_t got = 1;
    if (temporary < 0) {
        return job->error.status;
    }
    status = lr_spill_write(job, temporary, pages->data, used);
    lr_pages_trim(pages, LR_IO_PIECE); /* the rest passes through what is left of them */
    while (status == REC_OK && got) {
        status = more(job, source, stream, used, pages->data, pages->size, &got);
        if (status == REC_OK && got) {
            status = lr_spill_write(job, temporary, pages->data, got);
            used += got;
        }
        if (status == REC_OK && used / LR_IO_PIECE != (used - got) / LR_IO_PIECE) {
            status = rec_job_progress(job, used, REC_UNKNOWN);
        }
    }
    return lr_spill_map(job, source, temporary, used, status);
}

int32_t lr_source_drain(rec_job *job, rec_source *source, lr_stream_fn read, void *user, uint64_t total)
{
    const struct stream stream = {.read = read, .user = user, .total = total};
    lr_pages pages = {.allocator = job->allocator};
    uint64_t used = 0, got = 1, most = job->context->spill;
    int32_t status = REC_OK;
    most = most && most < SPILL_FROM ? most : SPILL_FROM;
    while (status == REC_OK && got) {
        if (used == pages.size) {
            uint64_t want = used ? used * 2 : STREAM_FIRST;
            if (used && used >= most) {
                status = spill(job, source, &stream, &pages, used);
                goto done;
            }
            if (!lr_pages_grow(&pages, want)) {
                status = lr_fail_memory(job, want);
                goto done;
            }
        }
        status = more(job, source, &stream, used, pages.data + used, pages.size - used, &got);
        used += got;
        if (status == REC_OK && used / LR_IO_PIECE != (used - got) / LR_IO_PIECE) {
            status = rec_job_progress(job, used, REC_UNKNOWN);
        }
    }
    if (status == REC_OK) {
        lr_pages_trim(&pages, used);
        source->pages = pages;
        lr_source_ready(source, pages.data, used);
        return REC_OK;
    }
done:
    lr_pages_free(&pages);
    return status;
}

/* ------------------------------------------------------------------------------------------------------- opening -- */

/* Fills a source from a descriptor, from where it stands if it is a regular file (`at_position`). */
static int32_t fill(rec_job *job, rec_source *source, int fd, bool at_position, bool map)
{
    struct stat info;
    uint64_t begin = 0, end;
    int32_t status;
    if (fstat(fd, &info) != 0) {
        return lr_io_errno(job, source->name, REC_UNKNOWN, NULL, errno, "look at the file");
    }
    if (S_ISDIR(info.st_mode)) {
        return lr_io_fail(job, source->name, REC_E_IO, REC_UNKNOWN, "Give the name of a file.",
                          "this is a folder, not a file");
    }
    end = S_ISREG(info.st_mode) && info.st_size > 0 ? (uint64_t)info.st_size : 0;
    if (end && at_position) {
        off_t position = lseek(fd, 0, SEEK_CUR);
        begin = position > 0 ? (uint64_t)position : 0;
    }
    if (begin >= end) {
        /* A stream, an empty file, or one of those of /proc that have bytes and no size. */
        status = lr_source_drain(job, source, read_some, &fd, REC_UNKNOWN);
    } else {
        status = lr_source_fill(job, source, fd, begin, end, map);
    }
    if (status == REC_OK && at_position && begin < end) {
        (void)lseek(fd, (off_t)end, SEEK_SET); /* what was read has been read, as with a pipe */
    }
    return status;
}

int32_t lr_path_open(rec_job *job, const char *path, int *fd, int *error)
{
    int32_t status = REC_OK;
    *fd = -1;
    *error = 0;
    while (*fd < 0 && *error == 0 && status == REC_OK) {
        *fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
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
    (void)close(fd); /* it was only read: nothing can be lost */
    return status;
}

rec_source *lr_source_open(rec_job *job, const char *path, bool map)
{
    rec_source *source = lr_source_new(job, path);
    int32_t status;
    int fd, error;
    if (!source) {
        return NULL;
    }
    status = lr_path_open(job, path, &fd, &error);
    if (error) {
        status = lr_path_refused(job, path, error);
    }
    if (status == REC_OK) {
        status = lr_path_begin(job, source, fd, map);
    }
    if (status == REC_OK) {
        lr_job_input(job, rec_source_size(source));
    } else {
        lr_source_release(source);
        source = NULL;
    }
    return source;
}

rec_source *lr_source_file(rec_job *job, const char *path, bool map)
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

rec_source *lr_source_fd(rec_job *job, int fd, const char *name, bool map)
{
    rec_source *source = lr_source_new(job, name);
    if (source && fill(job, source, fd, true, map) != REC_OK) {
        lr_source_release(source);
        source = NULL;
    }
    if (source) {
        lr_job_input(job, source->size);
    }
    return source;
}
