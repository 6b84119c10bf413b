/* SPDX-License-Identifier: MIT OR Apache-2.0
 * A node as a source: its bytes are computed on demand. Reads of ranges keep only what the operation caches; the view
 * computes everything and keeps it as long as the source. */
#include "remap/ops/ops_private.h"

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

/* A source whose bytes the node makes; takes a count of it. NULL: the job has failed. */
static rec_source *source_of(rec_job *job, lr_op *op)
{
    rec_source *source = lr_source_of(job, job->file, &computed_ops, op);
    if (source) {
        (void)lr_op_retain(op);
    }
    return source;
}

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
        source = source_of(job, op);
        if (!source) {
            return NULL;
        }
        data = lr_data_lent(record, source, NULL, op->nbytes, 0);
        lr_source_release(source);
    }
    if (!data) {
        (void)lr_fail_memory(job, sizeof *data);
    }
    return data;
}
