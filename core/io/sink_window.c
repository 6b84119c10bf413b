/* SPDX-License-Identifier: MIT OR Apache-2.0
 * A window: a sink that is given a whole file and hands on the bytes of one range of it alone. What lies outside is counted, and
 * not read or made where that can be helped: several processes that do the same save write one file together, each its range. */
#include "core/io/io_private.h"

/* Where bytes are made that nobody wants. */
#define DROPPED (UINT64_C(256) << 10)

struct window_sink {
    rec_sink sink;
    rec_sink *target; /* NULL: nothing is wanted */
    lr_window *window;
    uint64_t sum, run; /* of what was written; bytes of blobs since */
    uint8_t *drop;
};

/* FNV-1a by words: a sum against mistakes, the same in every process. */
static uint64_t add_word(uint64_t sum, uint64_t word)
{
    return (sum ^ word) * UINT64_C(0x100000001b3);
}

static uint64_t add_bytes(uint64_t sum, const uint8_t *data, uint64_t size)
{
    for (uint64_t i = 0; i < size; i++) {
        sum = add_word(sum, data[i]);
    }
    return sum;
}

/* However many blobs there were, and in however many pieces: what counts is how many bytes they had. */
static void end_run(struct window_sink *self)
{
    if (self->run) {
        self->sum = add_word(add_word(self->sum, 0x1ff), self->run);
        self->run = 0;
    }
}

/* What of `size` bytes, which come now, is in the window. @param before (out) bytes in front of it. */
static uint64_t inside(const struct window_sink *self, uint64_t size, uint64_t *before)
{
    uint64_t at = self->sink.written, from = self->window->from, to = self->window->to;
    uint64_t skip = from > at ? from - at : 0, end = to > at ? to - at : 0;
    *before = skip < size ? skip : size;
    end = end < size ? end : size;
    return end > *before ? end - *before : 0;
}

static int32_t window_write(rec_sink *sink, const uint8_t *data, uint64_t size)
{
    struct window_sink *self = (struct window_sink *)sink;
    uint64_t before, kept = inside(self, size, &before);
    end_run(self);
    self->sum = add_bytes(self->sum, data, size);
    return kept && self->target ? rec_sink_write(self->target, data + before, kept) : REC_OK;
}

/* The next bytes of a stream, which are not wanted. */
static int32_t pass(struct window_sink *self, const rec_blob *blob, uint64_t size)
{
    rec_job *job = self->sink.job;
    int32_t status = REC_OK;
    if (job->step.over && job->step.user == blob->user && job->step.read == blob->read) {
        return job->step.over(blob->user, size); /* of none, too: it is told that it is made for a part */
    }
    if (size && !self->drop) {
        self->drop = lr_alloc(job->allocator, DROPPED);
        status = self->drop ? REC_OK : lr_fail_memory(job, DROPPED);
    }
    while (size && status == REC_OK) {
        uint64_t some = size < DROPPED ? size : DROPPED;
        status = lr_blob_next(job, blob, self->drop, some);
        size -= some;
    }
    return status;
}

static int32_t window_put(rec_sink *sink, const rec_blob *blob)
{
    struct window_sink *self = (struct window_sink *)sink;
    uint64_t before, kept = inside(self, blob->size, &before);
    rec_blob part = *blob;
    int32_t status = REC_OK;
    self->run += blob->size;
    part.struct_size = sizeof part;
    part.size = kept;
    if (blob->kind == REC_BLOB_STREAM) {
        status = pass(self, blob, before);
        if (status == REC_OK && kept) {
            status = self->target ? rec_sink_put(self->target, &part) : pass(self, blob, kept);
        }
        return status == REC_OK ? pass(self, blob, blob->size - before - kept) : status;
    }
    if (blob->kind != REC_BLOB_RANGE) {
        part.data = blob->data ? (const uint8_t *)blob->data + before : NULL;
    }
    part.offset += blob->offset == REC_UNKNOWN ? 0 : before;
    return kept && self->target ? rec_sink_put(self->target, &part) : REC_OK;
}

/* A size or an offset that shows afterwards, of which the window may have a part. */
static int32_t window_patch(rec_sink *sink, uint64_t offset, const uint8_t *data, uint64_t size)
{
    struct window_sink *self = (struct window_sink *)sink;
    uint64_t from = self->window->from, to = self->window->to;
    uint64_t begin = offset > from ? offset : from, end = offset + size < to ? offset + size : to;
    end_run(self);
    self->sum = add_bytes(add_word(self->sum, offset), data, size);
    return begin < end && self->target
               ? rec_sink_patch(self->target, begin - from, data + (begin - offset), end - begin)
               : REC_OK;
}

/* As the file would, or what is made is another file. */
static bool window_patches(const rec_sink *sink)
{
    const struct window_sink *self = (const struct window_sink *)sink;
    return self->target ? rec_sink_can_patch(self->target) : !self->window->stream;
}

static bool window_wants(const rec_sink *sink, uint64_t size)
{
    uint64_t before;
    return inside((const struct window_sink *)sink, size, &before) > 0 && ((const struct window_sink *)sink)->target;
}

static int32_t window_finish(rec_sink *sink)
{
    struct window_sink *self = (struct window_sink *)sink;
    end_run(self);
    self->window->total = sink->written;
    self->window->sum = self->sum;
    return REC_OK;
}

static int32_t window_secure(rec_sink *sink)
{
    struct window_sink *self = (struct window_sink *)sink;
    return self->target ? lr_sink_finish(self->target) : REC_OK;
}

static void window_release(rec_sink *sink)
{
    struct window_sink *self = (struct window_sink *)sink;
    if (self->target) {
        lr_sink_free(self->target);
    }
    lr_release(sink->job->allocator, self->drop);
}

static const lr_sink_ops window_ops = {
    .write = window_write,
    .put = window_put,
    .patch = window_patch,
    .patches = window_patches,
    .wants = window_wants,
    .finish = window_finish,
    .secure = window_secure,
    .release = window_release,
};

rec_sink *lr_sink_window(rec_job *job, const char *name, rec_sink *target, lr_window *window)
{
    struct window_sink *self = lr_sink_new(job, &window_ops, sizeof *self);
    if (!self || lr_sink_set_own_name(&self->sink, lr_own_name(name)) != REC_OK) {
        if (target) {
            lr_sink_free(target);
        }
        lr_release(job->allocator, self);
        return NULL;
    }
    self->target = target;
    self->window = window;
    self->sum = UINT64_C(0xcbf29ce484222325);
    if (target) {
        target->quiet = true; /* progress is told of the whole */
    }
    return &self->sink;
}

bool lr_sink_is_window(const rec_sink *sink)
{
    return sink->ops == &window_ops;
}
