/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What a node computes, as a source and in comparison with another one. */
#include <string.h>

#include "remap/ops/ops_private.h"

/* A node as a source: its bytes are computed on demand. Reads of ranges keep only what the operation caches; the view
 * computes everything and keeps it as long as the source. */

static uint64_t computed_size(const rec_source *source)
{
    return ((const lr_op *)lr_source_self(source))->nbytes;
}

static int32_t computed_read_at(rec_job *job, rec_source *source, uint64_t at, void *target, uint64_t size)
{
    return lr_op_read(job, lr_source_self(source), at, target, size);
}

static void computed_release(rec_source *source)
{
    lr_op_release(lr_source_self(source));
}

static const lr_source_ops computed_ops = {
    .size = computed_size,
    .read_at = computed_read_at,
    .release = computed_release,
};

lr_data *lr_op_data(rec_job *job, rec_record *record, lr_op *op)
{
    const lr_op *of = lr_op_reshaped(op);
    rec_source *source;
    lr_data *data = NULL;
    if (op->nbytes == 0) {
        data = lr_data_copy(record, NULL, 0);
    } else if (of->kind == LR_OP_TENSOR) {
        data = lr_data_share(record, &of->u.tensor.data);
    } else {
        source = lr_source_of(job, job->file, &computed_ops, op);
        if (!source) {
            return NULL;
        }
        (void)lr_op_retain(op);
        data = lr_data_lent(record, source, NULL, op->nbytes, 0);
        lr_source_release(source);
    }
    if (!data) {
        (void)lr_fail_memory(job, sizeof *data);
    }
    return data;
}

int lr_op_same(rec_job *job, lr_op *a, lr_op *b)
{
    enum { CHUNK = 1 << 20 };
    uint64_t size = lr_op_nbytes(a), rank = lr_op_rank(a);
    uint8_t *buffer;
    int same = 1;
    if (lr_op_dtype(a) != lr_op_dtype(b) || rank != lr_op_rank(b) || size != lr_op_nbytes(b) ||
        memcmp(lr_op_shape(a), lr_op_shape(b), (size_t)rank * sizeof(uint64_t)) != 0) {
        return 0;
    }
    buffer = lr_job_alloc(job, 2 * CHUNK);
    if (!buffer) {
        return -1;
    }
    for (uint64_t at = 0, n; at < size && same == 1; at += n) {
        n = size - at < CHUNK ? size - at : CHUNK;
        if (lr_op_read(job, a, at, buffer, n) != REC_OK || lr_op_read(job, b, at, buffer + CHUNK, n) != REC_OK) {
            same = -1;
        } else {
            same = memcmp(buffer, buffer + CHUNK, (size_t)n) == 0;
        }
    }
    lr_release(job->allocator, buffer);
    return same;
}
