/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Ranges of sources as sources: without a copy where the bytes of the whole are in memory. */
#include "core/io/io_private.h"

struct part {
    rec_source *whole;
    uint64_t offset, size;
};

static uint64_t part_size(const rec_source *source)
{
    return ((const struct part *)source->self)->size;
}

static int32_t part_read_at(rec_job *job, rec_source *source, uint64_t at, void *target, uint64_t size)
{
    const struct part *part = source->self;
    return rec_source_read_at(job, part->whole, part->offset + at, target, size);
}

/* Its bytes are those of the whole. */
static void part_ready(rec_source *source, const void *data)
{
    const struct part *part = source->self;
    source->mapped = lr_source_mapped(part->whole);
    source->lies_in = part->whole->lies_in;
    lr_source_ready(source, data, part->size);
}

static int32_t part_view(rec_job *job, rec_source *source)
{
    const struct part *part = source->self;
    const uint8_t *data = NULL;
    int32_t status = lr_source_at_hand(job, part->whole, part->offset, part->size, &data);
    if (status != REC_OK) {
        return status;
    }
    if (!data) {
        return lr_source_read_whole(job, source);
    }
    part_ready(source, data);
    return REC_OK;
}

static int32_t part_map(rec_job *job, rec_source *source)
{
    const struct part *part = source->self;
    const void *data;
    int32_t status = rec_source_at_hand(job, part->whole, part->offset, part->size, &data);
    if (status == REC_OK && data) {
        part_ready(source, data);
    }
    return status;
}

static void part_release(rec_source *source)
{
    struct part *part = source->self;
    lr_source_release(part->whole);
    lr_release(source->allocator, part);
}

static const lr_source_ops part_ops = {
    .stored = true,
    .size = part_size,
    .view = part_view,
    .map = part_map,
    .read_at = part_read_at,
    .release = part_release,
};

int32_t rec_source_part(rec_job *job, rec_source *source, uint64_t offset, uint64_t size, rec_source **out)
{
    rec_source *made = NULL;
    struct part *part = NULL;
    const void *data;
    uint64_t whole;
    int32_t status;
    if (LR_LACKS(job, job) || LR_LACKS(job, source) || LR_LACKS(job, out)) {
        return lr_breach_status(job);
    }
    status = job->error.status;
    *out = NULL;
    if (status == REC_OK && rec_source_size(source) == REC_UNKNOWN) {
        status = rec_source_view(job, source, &data, &whole); /* what is inflated is read once */
    }
    if (status == REC_OK) {
        status = lr_source_check_place(job, source, offset, size, rec_source_size(source));
    }
    if (status != REC_OK) {
        return status;
    }
    made = lr_source_new(job, source->name);
    part = lr_zalloc(job->allocator, sizeof *part);
    if (!made || !part) {
        status = lr_fail_memory(job, sizeof *part);
        lr_release(job->allocator, part);
        lr_source_release(made);
        return status;
    }
    *part = (struct part){.whole = lr_source_retain(source), .offset = offset, .size = size};
    made->ops = &part_ops;
    made->self = part;
    made->may_map = source->may_map;
    made->far = source->far;
    lr_source_derive(made, source);
    if (size == 0) {
        lr_source_ready(made, NULL, 0);
    }
    lr_source_hand(made, false);
    *out = made;
    return REC_OK;
}
