/* SPDX-License-Identifier: MIT OR Apache-2.0
 * A source of ranges of others, one after the other: the chunks of an array, the parts of a tensor in several files;
 * and a part of one, without a copy where the bytes of the whole are in memory. */
#include <string.h>

#include "core/io/io_private.h"

#define PIECE_LEAST (offsetof(rec_source_piece, length) + sizeof(((rec_source_piece *)0)->length))

typedef struct piece {
    rec_source *source;
    uint64_t offset, begin, end; /* of the whole */
} piece;

struct pieces {
    uint64_t count, total;
    piece at[];
};

static uint64_t pieces_size(const rec_source *source)
{
    return ((const struct pieces *)source->self)->total;
}

/* The piece that a byte lies in. */
static uint64_t find(const struct pieces *p, uint64_t at)
{
    uint64_t low = 0, high = p->count;
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (p->at[middle].begin <= at) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

static int32_t pieces_read_at(rec_job *job, rec_source *source, uint64_t at, void *target, uint64_t size)
{
    const struct pieces *p = source->self;
    uint8_t *to = target;
    int32_t status = REC_OK;
    for (uint64_t i = size ? find(p, at) : 0; size && status == REC_OK; i++) {
        const piece *one = &p->at[i];
        uint64_t n = one->end - at < size ? one->end - at : size;
        status = n ? rec_source_read_at(job, one->source, one->offset + (at - one->begin), to, n) : REC_OK;
        at += n;
        to += n;
        size -= n;
    }
    return status;
}

static void free_pieces(struct pieces *p, const lr_allocator *allocator)
{
    for (uint64_t i = 0; p && i < p->count; i++) {
        lr_source_release(p->at[i].source);
    }
    lr_release(allocator, p);
}

static void pieces_release(rec_source *source)
{
    free_pieces(source->self, source->allocator);
}

static const lr_source_ops ops = {
    .stored = true, .lasting = true, .size = pieces_size, .read_at = pieces_read_at, .release = pieces_release};

/* NULL: the job has failed. */
static struct pieces *new_pieces(rec_job *job, uint64_t count)
{
    uint64_t size;
    struct pieces *p;
    return lr_mul(count, sizeof(piece), &size) && lr_add(size, sizeof *p, &size)
               ? lr_job_zalloc(job, size)
               : LR_AS_NULL(lr_fail_memory(job, UINT64_MAX));
}

/* Adds a range. @return a status: the job has failed. */
static int32_t add(rec_job *job, struct pieces *p, const rec_source_piece *from)
{
    uint64_t whole;
    if (!lr_size_check(job, "a piece of a source", from->size, PIECE_LEAST) || LR_LACKS(job, from->source)) {
        return lr_breach_status(job);
    }
    whole = rec_source_size(from->source);
    if (whole == REC_UNKNOWN) {
        return lr_breach(job, REC_UNKNOWN, "made a source of pieces of a stream: rec_source_measure()");
    }
    if (from->offset > whole || from->length > whole - from->offset) {
        return lr_io_fail(job, from->source->name, REC_E_FORMAT, from->offset, "The file is truncated or damaged.",
                          "%llu bytes are expected here, but the file has %llu", (unsigned long long)from->length,
                          (unsigned long long)whole);
    }
    p->at[p->count] = (piece){.offset = from->offset, .begin = p->total};
    if (!lr_add(p->total, from->length, &p->total)) {
        return rec_fail(job, REC_E_RANGE, REC_UNKNOWN, "the pieces of a source have more than 2^64 bytes");
    }
    p->at[p->count].end = p->total;
    p->at[p->count++].source = lr_source_retain(from->source);
    return REC_OK;
}

int32_t rec_source_pieces(rec_job *job, const char *name, const rec_source_piece *pieces, uint64_t count,
                          rec_source **out)
{
    struct pieces *p;
    char *shown = NULL;
    rec_source *source = NULL;
    if (out) {
        *out = NULL;
    }
    if (LR_LACKS(job, job) || LR_LACKS(job, out) || LR_LACKS(job, name) || (count && LR_LACKS(job, pieces))) {
        return lr_breach_status(job);
    }
    if (lr_job_failed(job)) {
        return job->error.status;
    }
    p = new_pieces(job, count);
    if (!p) {
        return job->error.status;
    }
    for (uint64_t i = 0; i < count && !lr_job_failed(job); i++) {
        (void)add(job, p, &pieces[i]);
    }
    shown = lr_job_failed(job) ? NULL : lr_display_name(job, name);
    source = shown ? lr_source_new(job, shown) : NULL;
    lr_release(job->allocator, shown);
    if (!source) {
        free_pieces(p, job->allocator);
        return lr_job_failed(job) ? job->error.status : lr_fail_memory(job, sizeof *source);
    }
    source->ops = &ops;
    source->self = p;
    source->far = true;
    if (p->total == 0) {
        lr_source_ready(source, NULL, 0);
    }
    lr_source_hand(source, false);
    *out = source;
    return REC_OK;
}

/* ------------------------------------------------------------------------------------------------------ one part -- */

/* Its bytes are those of the whole. */
static void part_ready(rec_source *source, const void *data)
{
    const piece *part = &((struct pieces *)source->self)->at[0];
    source->mapped = lr_source_mapped(part->source);
    source->lies_in = part->source->lies_in;
    lr_source_ready(source, data, part->end);
}

static int32_t part_view(rec_job *job, rec_source *source)
{
    const piece *part = &((struct pieces *)source->self)->at[0];
    const uint8_t *data = NULL;
    int32_t status = lr_source_at_hand(job, part->source, part->offset, part->end, &data);
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
    const piece *part = &((struct pieces *)source->self)->at[0];
    const void *data;
    int32_t status = rec_source_at_hand(job, part->source, part->offset, part->end, &data);
    if (status == REC_OK && data) {
        part_ready(source, data);
    }
    return status;
}

static const lr_source_ops part_ops = {
    .stored = true,
    .size = pieces_size,
    .view = part_view,
    .map = part_map,
    .read_at = pieces_read_at,
    .release = pieces_release,
};

int32_t rec_source_part(rec_job *job, rec_source *source, uint64_t offset, uint64_t size, rec_source **out)
{
    rec_source *made = NULL;
    struct pieces *p;
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
    p = new_pieces(job, 1);
    if (!made || !p) {
        lr_release(job->allocator, p);
        lr_source_release(made);
        return job->error.status;
    }
    p->at[0] = (piece){.source = lr_source_retain(source), .offset = offset, .end = size};
    p->count = 1;
    p->total = size;
    made->ops = &part_ops;
    made->self = p;
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

int32_t rec_source_measure(rec_job *job, rec_source *source, uint64_t *size)
{
    const void *data;
    if (LR_LACKS(job, job) || LR_LACKS(job, source) || LR_LACKS(job, size)) {
        return lr_breach_status(job);
    }
    *size = rec_source_size(source);
    return *size != REC_UNKNOWN ? REC_OK : rec_source_view(job, source, &data, size);
}

int32_t rec_blob_slice(rec_job *job, const rec_blob *blob, uint64_t offset, uint64_t size, rec_blob *slice)
{
    rec_blob whole;
    if (LR_LACKS(job, job) || LR_LACKS(job, blob) || LR_LACKS(job, slice)) {
        return lr_breach_status(job);
    }
    if (lr_blob_check(job, blob, &whole) != REC_OK) {
        return job->error.status;
    }
    if (offset > whole.length || size > whole.length - offset) {
        return lr_breach(job, REC_UNKNOWN, "requested a slice of %llu bytes from byte %llu on, of a blob of %llu bytes",
                         (unsigned long long)size, (unsigned long long)offset, (unsigned long long)whole.length);
    }
    *slice = whole;
    slice->length = size;
    if (whole.kind == REC_BLOB_VIEW || whole.kind == REC_BLOB_TEMPORARY) {
        slice->data = whole.data ? (const uint8_t *)whole.data + offset : NULL;
    }
    if (whole.kind == REC_BLOB_RANGE || (whole.kind == REC_BLOB_VIEW && whole.offset != REC_UNKNOWN)) {
        slice->offset = whole.offset + offset;
    }
    return REC_OK;
}
