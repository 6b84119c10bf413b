/* SPDX-License-Identifier: MIT OR Apache-2.0
 * A node as a source: bytes that an operation makes when somebody asks for them. In pieces it keeps no more than the
 * operation needs; who asks for the view gets all of it, kept as long as the source. */
#include "remap/ops/ops_private.h"

#include "core/io/io_private.h"

struct lr_made {
    pthread_mutex_t lock; /**< of the view */
    lr_op *op;
};

rec_source *lr_source_made(rec_job *job, lr_op *op)
{
    rec_source *source = lr_source_new(job, job->file);
    lr_made *made = source ? lr_alloc(job->allocator, sizeof *made) : NULL;
    if (source && (!made || pthread_mutex_init(&made->lock, NULL) != 0)) {
        lr_release(job->allocator, made);
        rec_source_release(source);
        (void)lr_fail_allocator(job, sizeof *made);
        return NULL;
    }
    if (source) {
        made->op = lr_op_retain(op);
        source->made = made;
    }
    return source;
}

bool lr_source_is_made(const rec_source *source)
{
    return source && source->made;
}

uint64_t lr_made_size(const rec_source *source)
{
    return source->made->op->nbytes;
}

int32_t lr_made_read(rec_job *job, rec_source *source, uint64_t at, void *target, uint64_t size)
{
    return lr_op_read(job, source->made->op, at, target, size);
}

int32_t lr_made_view(rec_job *job, rec_source *source)
{
    lr_made *made = source->made;
    int32_t status = REC_OK;
    (void)pthread_mutex_lock(&made->lock);
    if (!atomic_load_explicit(&source->ready, memory_order_acquire)) {
        if (!lr_pages_grow(&source->pages, made->op->nbytes)) {
            status = lr_fail_allocator(job, made->op->nbytes);
        } else {
            status = lr_op_make(job, made->op, source->pages.data);
        }
        if (status == REC_OK) {
            lr_source_ready(source, source->pages.data, made->op->nbytes);
        } else {
            lr_pages_free(&source->pages);
        }
    }
    (void)pthread_mutex_unlock(&made->lock);
    return status;
}

void lr_made_free(rec_source *source)
{
    lr_made *made = source->made;
    if (made) {
        lr_op_release(made->op);
        (void)pthread_mutex_destroy(&made->lock);
        lr_release(source->allocator, made);
        source->made = NULL;
    }
}
