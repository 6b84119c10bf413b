/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Files read on demand: in chunks for sequential readers (decompression), or mapped or copied whole for the view. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "core/io/io_private.h"
#include "os/file.h"

typedef struct deferred {
    int fd;      /* -1 once the view is there, and no reader of headers looks at what is between */
    bool random; /* read-ahead is off */
    uint64_t size;
} deferred;

static uint64_t file_size(const rec_source *source)
{
    return ((const deferred *)source->self)->size;
}

/* The view is there: it was only read, nothing can be lost. */
static void file_done(deferred *file)
{
    (void)close(file->fd);
    file->fd = -1;
}

/* The same, but headers may still be read from the file. */
static void file_mapped(const rec_job *job, const rec_source *source, deferred *file)
{
    if (job->stepped != source || !source->mapped) {
        file_done(file);
    } else if (file->size >= LR_STEP_FROM) {
        file->random = lr_file_random(file->fd, true);
    }
}

/* It is the file of the map, too. */
static void file_stepped(rec_source *source)
{
    deferred *file = source->self;
    (void)pthread_mutex_lock(&source->lock);
    if (file->random) {
        (void)lr_file_random(file->fd, false);
        file->random = false;
    }
    if (source->mapped && file->fd >= 0) {
        file_done(file);
    }
    (void)pthread_mutex_unlock(&source->lock);
}

static int32_t file_view(rec_job *job, rec_source *source)
{
    deferred *file = source->self;
    int32_t status = lr_source_fill(job, source, file->fd, 0, file->size, source->may_map);
    if (status == REC_OK) {
        file_mapped(job, source, file);
    }
    return status;
}

static int32_t file_map(rec_job *job, rec_source *source)
{
    deferred *file = source->self;
    if (source->may_map && lr_source_map_file(source, file->fd, 0, file->size)) {
        file_mapped(job, source, file);
    }
    return REC_OK;
}

int32_t lr_io_read_at(rec_job *job, const char *name, int fd, uint64_t whole, uint64_t at, uint8_t *target,
                      uint64_t size)
{
    int32_t status = REC_OK;
    while (size && status == REC_OK) {
        ssize_t n = pread(fd, target, (size_t)(size < LR_IO_PIECE ? size : LR_IO_PIECE), (off_t)at);
        if (n > 0) {
            at += (uint64_t)n;
            target += n;
            size -= (uint64_t)n;
        } else if (n == 0) {
            status = lr_io_shrank(job, name, at, whole);
        } else if (errno == EINTR) {
            status = lr_io_interrupted(job);
        } else {
            status = lr_io_errno(job, name, at, NULL, errno, "read the file");
        }
    }
    return status;
}

static int32_t file_read_at(rec_job *job, rec_source *source, uint64_t at, void *target, uint64_t size)
{
    const deferred *file = source->self;
    int32_t status = REC_OK;
    (void)pthread_mutex_lock(&source->lock);
    if (file->fd >= 0) {
        status = lr_io_read_at(job, source->name, file->fd, file->size, at, target, size);
    } else if (size) {
        memcpy(target, source->data + at, (size_t)size); /* another thread has made the view meanwhile */
    }
    (void)pthread_mutex_unlock(&source->lock);
    return status;
}

static void file_release(rec_source *source)
{
    deferred *file = source->self;
    if (file->fd >= 0) {
        (void)close(file->fd);
    }
    lr_release(source->allocator, file);
}

static const lr_source_ops file_ops = {
    .stored = true,
    .size = file_size,
    .view = file_view,
    .map = file_map,
    .read_at = file_read_at,
    .stepped = file_stepped,
    .release = file_release,
};

int32_t lr_source_defer(rec_job *job, rec_source *source, int fd, uint64_t size)
{
    deferred *file = lr_zalloc(source->allocator, sizeof *file);
    if (!file) {
        (void)close(fd);
        return lr_fail_memory(job, sizeof *file);
    }
    file->fd = fd;
    file->size = size;
    source->ops = &file_ops;
    source->self = file;
    return REC_OK;
}
