/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Sinks of descriptors: small writes are gathered in a buffer, bytes that stay are queued where they are, and all of it
 * goes out in large vectors, on a second thread if many bytes are made. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "core/io/io_private.h"
#include "os/file.h"
#include "os/map.h"

/* It fits the second-level cache, so that bytes which are made in it are still there when they are written; and what is
 * transposed is so many rows at once that whole lines of it pay. */
enum { PIECE = LR_FD_PIECE, BUFFER = LR_FD_BUFFER };
/* Bytes that stay are copied up to this size: a part of its own costs more. */
enum { COPIED_UP_TO = 2 * 1024 };
/* Bytes that do not stay are written at once from this size on. */
enum { WRITTEN_FROM = 64 * 1024 };
/* Of a cache line. */
enum { ALIGNMENT = 64 };
/* A write of this size is as fast as a larger one. */
enum { TOGETHER = 1 << 20 };
/* The disk is given pieces of this size. */
enum { OUT_FROM = 16 << 20 };
/* From so many bytes in the buffer on there are likely to be enough more of them for a second thread to pay. */
enum { BEHIND_FROM = 2 * PIECE };

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
        rec_fail_hint(job, "The reader of this output has exited.");
        break;
    case EFAULT:
        rec_fail_hint(job, "The data were in a mapped file that was truncated; load it with map=no.");
        break;
    default:
        break;
    }
    return status;
}

/* ----------------------------------------------------------------------------------------------------- batches -- */

static lr_fd_batch *batch_new(const lr_allocator *allocator)
{
    lr_fd_batch *batch = lr_alloc(allocator, sizeof *batch); /* not zeroed: the buffer is large */
    if (batch) {
        batch->used = batch->queued = batch->done = 0;
        batch->count = batch->first = 0;
    }
    return batch;
}

static void batch_clear(lr_fd_batch *batch)
{
    for (uint32_t i = 0; i < batch->count; i++) {
        lr_source_release(batch->held[i]);
    }
    batch->used = batch->queued = batch->done = 0;
    batch->count = batch->first = 0;
}

/* Writes what is left of a batch. Runs on either thread, so it touches nothing but the batch. @return 0 when all of it
 * is written, else the errno; it may be called again then. */
static int batch_write(lr_fd_batch *batch, int fd)
{
    while (batch->first < batch->count) {
        ssize_t n = writev(fd, batch->parts + batch->first, (int)(batch->count - batch->first));
        size_t size = n > 0 ? (size_t)n : 0;
        if (n <= 0) {
            return n < 0 ? errno : EIO;
        }
        batch->done += size;
        while (batch->first < batch->count && size >= batch->parts[batch->first].iov_len) {
            size -= batch->parts[batch->first++].iov_len;
        }
        if (size) {
            struct iovec *part = &batch->parts[batch->first];
            part->iov_base = (uint8_t *)part->iov_base + size;
            part->iov_len -= size;
        }
    }
    return 0;
}

/* What the system has taken is on its way to the disk before the rest is made: who waits for all of it at the end waits
 * for little. A wish. */
static void write_out(lr_fd_sink *self)
{
    if (self->early && self->flushed - self->out >= OUT_FROM) {
        lr_file_sync_begin(self->fd, self->out, self->flushed - self->out);
        self->out = self->flushed;
    }
}

static bool is_watched(const rec_source *source)
{
    return source && source->lies_in && source->lies_in->watch;
}

/* Brings a batch to its end after a try that gave `error`, and empties it. */
static int32_t batch_finish(lr_fd_sink *self, lr_fd_batch *batch, int error)
{
    int32_t status = REC_OK;
    for (;;) {
        self->flushed += batch->done;
        batch->done = 0;
        if (error == EINTR) {
            status = lr_io_interrupted(self->sink.job);
        } else if (error == EAGAIN || error == EWOULDBLOCK) {
            status = lr_io_wait(self->sink.job, self->fd, POLLOUT);
        } else if (error == EFAULT && batch->first < batch->count && is_watched(batch->held[batch->first])) {
            /* There is nothing left in the file that it was to be taken from. */
            lr_watch_mark(batch->held[batch->first]->lies_in->watch);
            status = lr_source_check_whole(self->sink.job, batch->held[batch->first], false);
        } else if (error) {
            status = lr_fd_errno(self, self->flushed, error, "write");
        }
        if (!error || status != REC_OK) {
            break;
        }
        error = batch_write(batch, self->fd);
    }
    for (uint32_t i = 0; i < batch->count && status == REC_OK; i++) {
        lr_source_pass(self->sink.job, batch->held[i], batch->parts[i].iov_base, batch->parts[i].iov_len);
    }
    batch_clear(batch);
    write_out(self);
    return status;
}

/* ---------------------------------------------------------------------------------------------- writing behind -- */

/* Making bytes (converting, printing) and writing them take about the same time, so a second thread writes batches
 * while the caller's fills the next ones. It only calls writev: errors, progress and the sources that parts lie in are
 * the caller's thread's. It never pays for small files, and only for regular files is it right: others may block, and
 * then a signal must reach the thread that asks whether to go on. */

/* With so many the threads need not wait for each other at each: waking up takes as long as writing half a batch. */
enum { BATCHES = 3 };

struct lr_fd_behind {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t work, room;
    int fd;
    lr_fd_batch *ring[BATCHES]; /* batch number n, from 0 on, is ring[n % BATCHES] */
    uint64_t collected;         /* batches that the caller's thread has emptied again; its own */
    /* under the lock */
    uint64_t given;   /* batches that were filled; the sink fills this one */
    uint64_t written; /* batches that were written; the thread writes this one, if it is given */
    uint64_t awaited; /* the number of written ones that the caller's thread waits for */
    int error;        /* of writing this one: the thread waits until that is seen to; 0 if all is well */
    bool end;         /* nothing more is to be written */
};

static void *write_behind(void *user)
{
    lr_fd_behind *behind = user;
    (void)pthread_mutex_lock(&behind->lock);
    while (!behind->end) {
        if (behind->error || behind->written == behind->given) {
            (void)pthread_cond_wait(&behind->work, &behind->lock);
        } else {
            lr_fd_batch *batch = behind->ring[behind->written % BATCHES];
            int error;
            (void)pthread_mutex_unlock(&behind->lock);
            error = batch_write(batch, behind->fd);
            (void)pthread_mutex_lock(&behind->lock);
            behind->error = error;
            behind->written += !error;
            if (error || behind->written == behind->awaited) {
                (void)pthread_cond_signal(&behind->room);
            }
        }
    }
    (void)pthread_mutex_unlock(&behind->lock);
    return NULL;
}

static void free_ring(lr_fd_sink *self, lr_fd_behind *behind)
{
    for (int i = 0; i < BATCHES; i++) {
        if (behind->ring[i] && behind->ring[i] != self->batch) {
            batch_clear(behind->ring[i]);
            lr_release(self->sink.job->allocator, behind->ring[i]);
        }
    }
    lr_release(self->sink.job->allocator, behind);
}

/* Without memory or threads to spare the caller's thread writes, as it does for small files: no failure. */
static void begin_behind(lr_fd_sink *self)
{
    const lr_allocator *allocator = self->sink.job->allocator;
    lr_fd_behind *behind = NULL;
    struct stat info;
    self->alone = true;
    if (self->sink.job->context->threads < 2 || fstat(self->fd, &info) != 0 || !S_ISREG(info.st_mode)) {
        return;
    }
    behind = lr_zalloc(allocator, sizeof *behind);
    if (!behind) {
        return;
    }
    behind->fd = self->fd;
    behind->ring[0] = self->batch;
    for (int i = 1; i < BATCHES; i++) {
        behind->ring[i] = batch_new(allocator);
        if (!behind->ring[i]) {
            goto no_lock;
        }
    }
    if (pthread_mutex_init(&behind->lock, NULL) != 0) {
        goto no_lock;
    }
    if (pthread_cond_init(&behind->work, NULL) != 0) {
        goto no_work;
    }
    if (pthread_cond_init(&behind->room, NULL) != 0) {
        goto no_room;
    }
    if (lr_threads_start(&behind->thread, 1, write_behind, behind)) {
        self->behind = behind;
        return;
    }
    (void)pthread_cond_destroy(&behind->room);
no_room:
    (void)pthread_cond_destroy(&behind->work);
no_work:
    (void)pthread_mutex_destroy(&behind->lock);
no_lock:
    free_ring(self, behind);
}

/* Waits until no more than `left` batches are to be written, and empties those that are. */
static int32_t collect(lr_fd_sink *self, uint64_t left)
{
    lr_fd_behind *behind = self->behind;
    int32_t status = REC_OK;
    int error = 0;
    do {
        uint64_t written;
        (void)pthread_mutex_lock(&behind->lock);
        if (error) { /* this thread has written the rest of that one */
            behind->error = 0;
            behind->written++;
            (void)pthread_cond_signal(&behind->work);
        }
        behind->awaited = behind->given > left ? behind->given - left : 0;
        while (!behind->error && behind->written < behind->awaited) {
            (void)pthread_cond_wait(&behind->room, &behind->lock);
        }
        written = behind->written;
        error = behind->error;
        (void)pthread_mutex_unlock(&behind->lock);
        while (behind->collected < written) {
            (void)batch_finish(self, behind->ring[behind->collected++ % BATCHES], 0); /* nothing is left to fail */
        }
        if (error) {
            status = batch_finish(self, behind->ring[behind->collected++ % BATCHES], error);
        }
    } while (error && status == REC_OK);
    return status;
}

/* Gives the batch to the other thread and takes an empty one. */
static int32_t hand_over(lr_fd_sink *self)
{
    lr_fd_behind *behind = self->behind;
    int32_t status = REC_OK;
    uint64_t given;
    (void)pthread_mutex_lock(&behind->lock);
    given = ++behind->given;
    (void)pthread_cond_signal(&behind->work);
    (void)pthread_mutex_unlock(&behind->lock);
    if (given - behind->collected == BATCHES) {
        status = collect(self, BATCHES / 2);
    }
    self->batch = behind->ring[given % BATCHES];
    return status;
}

static void end_behind(lr_fd_sink *self)
{
    lr_fd_behind *behind = self->behind;
    if (!behind) {
        return;
    }
    (void)pthread_mutex_lock(&behind->lock);
    behind->end = true;
    (void)pthread_cond_signal(&behind->work);
    (void)pthread_mutex_unlock(&behind->lock);
    (void)pthread_join(behind->thread, NULL);
    (void)pthread_cond_destroy(&behind->room);
    (void)pthread_cond_destroy(&behind->work);
    (void)pthread_mutex_destroy(&behind->lock);
    free_ring(self, behind);
    self->behind = NULL;
}

/* ---------------------------------------------------------------------------------------------------- the sink -- */

int32_t lr_fd_init(lr_fd_sink *self, int fd)
{
    self->fd = fd;
    self->batch = batch_new(self->sink.job->allocator);
    return self->batch ? REC_OK : lr_fail_memory(self->sink.job, sizeof *self->batch);
}

void lr_fd_free(lr_fd_sink *self)
{
    end_behind(self);
    if (self->batch) {
        batch_clear(self->batch);
        lr_release(self->sink.job->allocator, self->batch);
        self->batch = NULL;
    }
}

int32_t lr_fd_flush(lr_fd_sink *self)
{
    int32_t status = self->behind ? collect(self, 0) : REC_OK;
    if (status != REC_OK) {
        batch_clear(self->batch);
        return status;
    }
    return batch_finish(self, self->batch, batch_write(self->batch, self->fd));
}

/* As lr_fd_flush for parts that stay: they may be written later. */
static int32_t flush_behind(lr_fd_sink *self)
{
    if (self->batch->count == 0) {
        return REC_OK;
    }
    self->made += self->batch->used;
    if (!self->behind && !self->alone && self->made >= BEHIND_FROM) {
        begin_behind(self);
    }
    return self->behind ? hand_over(self) : lr_fd_flush(self);
}

/* Queues bytes that stay until the batch is written; those of the buffer that follow on each other become one part. */
static void add_part(lr_fd_batch *batch, const uint8_t *data, uint64_t size, rec_source *source)
{
    struct iovec *last = batch->count ? &batch->parts[batch->count - 1] : NULL;
    if (last && (uint8_t *)last->iov_base + last->iov_len == data && batch->held[batch->count - 1] == source) {
        last->iov_len += (size_t)size;
    } else {
        /* writev does not write to it: sheds the const that its struct cannot have */
        batch->parts[batch->count] = (struct iovec){.iov_base = (void *)(uintptr_t)data, .iov_len = (size_t)size};
        batch->held[batch->count++] = source ? lr_source_retain(source) : NULL;
    }
    batch->queued += size;
}

/* Converted bytes are still in this processor's cache and are produced faster than they are written: a second thread
 * would have to fetch them. */
static int32_t flush_made(lr_fd_sink *self)
{
    return self->sink.job->converting ? lr_fd_flush(self) : flush_behind(self);
}

/* The next bytes of the buffer were filled. */
static void add_filled(lr_fd_batch *batch, uint64_t size)
{
    const uint8_t *data = batch->buffer + batch->used;
    batch->used += size;
    add_part(batch, data, size, NULL);
}

static bool is_full(const lr_fd_batch *batch)
{
    return batch->count == LR_FD_PARTS || batch->queued >= TOGETHER;
}

int32_t lr_fd_view(rec_sink *sink, const uint8_t *data, uint64_t size, rec_source *source)
{
    lr_fd_sink *self = (lr_fd_sink *)sink;
    if (size <= COPIED_UP_TO) {
        return lr_fd_write(sink, data, size);
    }
    if (source && source->map) {
        /* A write that meets the pages one by one copies in short chunks, and clears bytes that it could not copy. */
        lr_map_populate(data, size);
    }
    add_part(self->batch, data, size, source);
    return is_full(self->batch) ? flush_behind(self) : REC_OK;
}

int32_t lr_fd_write(rec_sink *sink, const uint8_t *data, uint64_t size)
{
    lr_fd_sink *self = (lr_fd_sink *)sink;
    int32_t status = REC_OK;
    if (size > WRITTEN_FROM) {
        add_part(self->batch, data, size, NULL);
        return lr_fd_flush(self); /* the caller's bytes may be gone after this */
    }
    if (size > BUFFER - self->batch->used) {
        status = flush_behind(self);
    }
    if (status == REC_OK) {
        memcpy(self->batch->buffer + self->batch->used, data, (size_t)size);
        add_filled(self->batch, size);
        status = is_full(self->batch) ? flush_behind(self) : REC_OK;
    }
    return status;
}

/* Vectors of numbers are stored faster where they do not cross cache lines; the buffer need not be without gaps. */
static void skip_to_alignment(lr_fd_batch *batch)
{
    uint64_t gap = -(uintptr_t)(batch->buffer + batch->used) % ALIGNMENT;
    batch->used += gap < BUFFER - batch->used ? gap : 0;
}

/* Returns buffers of a minimum size, so that producers do not work in small steps. */
int32_t lr_fd_space(rec_sink *sink, uint64_t want, uint8_t **room, uint64_t *size)
{
    lr_fd_sink *self = (lr_fd_sink *)sink;
    int32_t status = REC_OK;
    skip_to_alignment(self->batch);
    if (want > BUFFER - self->batch->used && self->batch->used > BUFFER - PIECE) {
        status = flush_made(self);
        skip_to_alignment(self->batch);
    }
    *room = self->batch->buffer + self->batch->used;
    *size = want < BUFFER - self->batch->used ? want : PIECE;
    return status;
}

int32_t lr_fd_filled(rec_sink *sink, uint64_t size)
{
    lr_fd_sink *self = (lr_fd_sink *)sink;
    add_filled(self->batch, size);
    return is_full(self->batch) ? flush_made(self) : REC_OK;
}

static int32_t fd_finish(rec_sink *sink)
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
    .finish = fd_finish,
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
