/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Files that are read when somebody asks for their bytes: piece by piece by who wants them once (decompression), or
 * mapped or copied as a whole for the view. */
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "core/io/io_private.h"

struct lr_unread {
    pthread_mutex_t lock; /**< deferred tensors of one record may ask for bytes from several threads */
    int fd;               /**< -1 once the view is there */
    bool map;
    uint64_t size;
    uint8_t *head; /**< the first bytes, for those who only look; NULL until then */
};

int32_t lr_unread_begin(rec_job *job, rec_source *source, int fd, uint64_t size, bool map)
{
    lr_unread *unread = lr_zalloc(job->allocator, sizeof *unread);
    if (!unread || pthread_mutex_init(&unread->lock, NULL) != 0) {
        lr_release(job->allocator, unread);
        (void)close(fd);
        return lr_fail_memory(job, sizeof *unread);
    }
    unread->fd = fd;
    unread->size = size;
    unread->map = map;
    source->unread = unread;
    return REC_OK;
}

bool lr_unread_mapped(const rec_source *source)
{
    return source->unread->map;
}

uint64_t lr_unread_size(const rec_source *source)
{
    return source->unread->size;
}

int32_t lr_unread_view(rec_job *job, rec_source *source)
{
    lr_unread *unread = source->unread;
    int32_t status = REC_OK;
    (void)pthread_mutex_lock(&unread->lock);
    if (unread->fd >= 0) {
        status = lr_source_fill(job, source, unread->fd, 0, unread->size, unread->map);
        if (status == REC_OK) {
            (void)close(unread->fd); /* it was only read: nothing can be lost */
            unread->fd = -1;
        }
    }
    (void)pthread_mutex_unlock(&unread->lock);
    return status;
}

/* All of a place that is within the size. */
static int32_t read_all(rec_job *job, const rec_source *source, uint64_t at, uint8_t *target, uint64_t size)
{
    const lr_unread *unread = source->unread;
    int32_t status = REC_OK;
    while (size && status == REC_OK) {
        ssize_t n = pread(unread->fd, target, (size_t)(size < LR_IO_PIECE ? size : LR_IO_PIECE), (off_t)at);
        if (n > 0) {
            at += (uint64_t)n;
            target += n;
            size -= (uint64_t)n;
        } else if (n == 0) {
            status = lr_io_shrank(job, source->name, at, unread->size);
        } else if (errno == EINTR) {
            status = lr_io_interrupted(job);
        } else {
            status = lr_io_errno(job, source->name, at, NULL, errno, "read the file");
        }
    }
    return status;
}

int32_t lr_unread_read(rec_job *job, rec_source *source, uint64_t at, void *target, uint64_t size)
{
    lr_unread *unread = source->unread;
    int32_t status = REC_OK;
    (void)pthread_mutex_lock(&unread->lock);
    if (unread->fd >= 0) {
        status = read_all(job, source, at, target, size);
    } else if (size) {
        memcpy(target, source->data + at, (size_t)size); /* another thread has made the view meanwhile */
    }
    (void)pthread_mutex_unlock(&unread->lock);
    return status;
}

int32_t lr_unread_head(rec_job *job, rec_source *source, uint64_t most, const uint8_t **data, uint64_t *size)
{
    lr_unread *unread = source->unread;
    uint64_t length = unread->size < most ? unread->size : most;
    *data = unread->head;
    *size = length;
    if (!unread->head) {
        uint8_t *head = lr_alloc(source->allocator, length);
        int32_t status = head ? lr_unread_read(job, source, 0, head, length) : lr_fail_memory(job, length);
        if (status != REC_OK) {
            lr_release(source->allocator, head);
            *size = 0;
            return status;
        }
        *data = unread->head = head;
    }
    return REC_OK;
}

void lr_unread_free(rec_source *source)
{
    lr_unread *unread = source->unread;
    if (unread) {
        if (unread->fd >= 0) {
            (void)close(unread->fd);
        }
        lr_release(source->allocator, unread->head);
        (void)pthread_mutex_destroy(&unread->lock);
        lr_release(source->allocator, unread);
        source->unread = NULL;
    }
}
