/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Sinks of descriptors: small writes are gathered in a buffer, bytes that stay are queued where they are, and all of it
 * goes out in large vectors. */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "io_private.h"

/* The buffer fits the second-level cache, so that bytes which are made in it are still there when they are written. */
enum { BUFFER = 1 << 20 };
/* Bytes that stay are copied up to this size: a part of its own costs more. */
enum { COPIED_UP_TO = 2 * 1024 };
/* Bytes that do not stay are written at once from this size on. */
enum { WRITTEN_FROM = 64 * 1024 };
/* A write of this size is as fast as a larger one. */
enum { TOGETHER = 1 << 20 };

int32_t lr_fd_init(lr_fd_sink *self, int fd)
{
    self->fd = fd;
    self->buffer = lr_alloc(self->sink.job->allocator, BUFFER);
    return self->buffer ? REC_OK : lr_fail_memory(self->sink.job, BUFFER);
}

/* Bytes that a user may still write to the file system that the file is on. */
static uint64_t free_space(const lr_fd_sink *self)
{
    struct statvfs system;
    struct stat info;
    uint64_t space, held = 0;
    /* A device's space is not that of the file system it is on. */
    if (fstat(self->fd, &info) != 0 || !S_ISREG(info.st_mode) || fstatvfs(self->fd, &system) != 0) {
        return REC_UNKNOWN;
    }
    if (self->temporary) {
        held = (uint64_t)info.st_blocks * 512;
    }
    return lr_mul(system.f_bavail, system.f_frsize, &space) && lr_add(space, held, &space) ? space : REC_UNKNOWN;
}

int32_t lr_fd_errno(lr_fd_sink *self, uint64_t at, int error, const char *doing)
{
    rec_job *job = self->sink.job;
    bool first = !lr_job_failed(job);
    int32_t status = lr_io_errno(job, self->sink.name, at, NULL, error, doing);
    char need[32], have[32];
    if (!first) {
        return status;
    }
    switch (error) {
    case ENOSPC:
    case EDQUOT: {
        uint64_t space = free_space(self);
        bool known = self->sink.total != REC_UNKNOWN;
        (void)lr_group_digits(known ? self->sink.total : self->flushed + 1, need, sizeof need);
        if (space == REC_UNKNOWN || error == EDQUOT) {
            rec_fail_hint(job, "It needs %s%s bytes.", known ? "" : "at least ", need);
        } else {
            rec_fail_hint(job, "It needs %s%s bytes, %s are free there.", known ? "" : "at least ", need,
                          lr_group_digits(space, have, sizeof have));
        }
        break;
    }
    case EFBIG:
        rec_fail_hint(job, "Files of this size are not allowed here: see `ulimit -f` and the file system's own limit.");
        break;
    case EPIPE:
        rec_fail_hint(job, "Whoever was to read this has gone away.");
        break;
    case EFAULT:
        rec_fail_hint(job, "The data were in a mapped file that somebody made shorter; load it with map=no.");
        break;
    default:
        break;
    }
    return status;
}

static void drop_parts(lr_fd_sink *self)
{
    for (uint32_t i = 0; i < self->count; i++) {
        rec_source_release(self->held[i]);
    }
    self->count = 0;
    self->used = self->queued = 0;
}

void lr_fd_free(lr_fd_sink *self)
{
    drop_parts(self);
    lr_release(self->sink.job->allocator, self->buffer);
    self->buffer = NULL;
}

/* Takes `size` bytes that were written off the parts from `first` on. @return the first part that has some left. */
static uint32_t advance(lr_fd_sink *self, uint32_t first, size_t size)
{
    while (first < self->count && size >= self->parts[first].iov_len) {
        size -= self->parts[first++].iov_len;
    }
    if (size) {
        self->parts[first].iov_base = (uint8_t *)self->parts[first].iov_base + size;
        self->parts[first].iov_len -= size;
    }
    return first;
}

int32_t lr_fd_flush(lr_fd_sink *self)
{
    uint32_t first = 0;
    int32_t status = REC_OK;
    while (first < self->count && status == REC_OK) {
        ssize_t n = writev(self->fd, self->parts + first, (int)(self->count - first));
        if (n > 0) {
            self->flushed += (uint64_t)n;
            first = advance(self, first, (size_t)n);
        } else if (n < 0 && errno == EINTR) {
            status = lr_io_interrupted(self->sink.job);
        } else if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
            status = lr_io_wait(self->sink.job, self->fd, POLLOUT);
        } else {
            status = lr_fd_errno(self, self->flushed, n < 0 ? errno : EIO, "write");
        }
    }
    drop_parts(self);
    return status;
}

/* Queues bytes that stay; those of the buffer that follow on each other become one part. */
static int32_t add_part(lr_fd_sink *self, const uint8_t *data, uint64_t size, rec_source *source)
{
    struct iovec *last = self->count ? &self->parts[self->count - 1] : NULL;
    if (last && (uint8_t *)last->iov_base + last->iov_len == data && self->held[self->count - 1] == source) {
        last->iov_len += (size_t)size;
    } else {
        /* writev does not write to it: sheds the const that its struct cannot have */
        self->parts[self->count] = (struct iovec){.iov_base = (void *)(uintptr_t)data, .iov_len = (size_t)size};
        self->held[self->count++] = source ? lr_source_retain(source) : NULL;
    }
    self->queued += size;
    return self->count == LR_FD_PARTS || self->queued >= TOGETHER ? lr_fd_flush(self) : REC_OK;
}

int32_t lr_fd_view(rec_sink *sink, const uint8_t *data, uint64_t size, rec_source *source)
{
    return size > COPIED_UP_TO ? add_part((lr_fd_sink *)sink, data, size, source) : lr_fd_write(sink, data, size);
}

int32_t lr_fd_write(rec_sink *sink, const uint8_t *data, uint64_t size)
{
    lr_fd_sink *self = (lr_fd_sink *)sink;
    int32_t status = REC_OK;
    if (size > WRITTEN_FROM) {
        status = add_part(self, data, size, NULL);
        return status == REC_OK ? lr_fd_flush(self) : status; /* the caller's bytes may be gone after this */
    }
    if (size > BUFFER - self->used) {
        status = lr_fd_flush(self);
    }
    if (status == REC_OK) {
        memcpy(self->buffer + self->used, data, (size_t)size);
        status = lr_fd_filled(sink, size);
    }
    return status;
}

/* Whole buffers, so that whoever makes the bytes can do so in even pieces. */
int32_t lr_fd_space(rec_sink *sink, uint64_t want, uint8_t **room, uint64_t *size)
{
    lr_fd_sink *self = (lr_fd_sink *)sink;
    int32_t status = want > BUFFER - self->used ? lr_fd_flush(self) : REC_OK;
    *room = self->buffer + self->used;
    *size = want < BUFFER - self->used ? want : BUFFER - self->used;
    return status;
}

int32_t lr_fd_filled(rec_sink *sink, uint64_t size)
{
    lr_fd_sink *self = (lr_fd_sink *)sink;
    const uint8_t *data = self->buffer + self->used;
    self->used += size;
    return add_part(self, data, size, NULL);
}

static int32_t fd_commit(rec_sink *sink)
{
    return lr_fd_flush((lr_fd_sink *)sink);
}

static void fd_release(rec_sink *sink)
{
    lr_fd_free((lr_fd_sink *)sink);
}

static const lr_sink_ops fd_ops = {
    .write = lr_fd_write,
    .view = lr_fd_view,
    .space = lr_fd_space,
    .filled = lr_fd_filled,
    .commit = fd_commit,
    .release = fd_release,
};

rec_sink *lr_sink_fd(rec_job *job, int fd)
{
    lr_fd_sink *self = lr_sink_new(job, &fd_ops, sizeof *self);
    if (self && lr_fd_init(self, fd) != REC_OK) {
        lr_release(job->allocator, self);
        self = NULL;
    }
    return self ? &self->sink : NULL;
}
