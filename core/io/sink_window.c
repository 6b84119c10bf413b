/* SPDX-License-Identifier: MIT OR Apache-2.0
 * A window: a sink that is given a whole file and hands on the bytes of one range of it alone. What lies outside is
 * counted, and not read or made where that can be helped: several processes that do the same save write one file
 * together, each its range. Files beside it are part of the same range of bytes: each begins where the one before it
 * ends, and the first is the last of them. */
#include <string.h>

#include "core/io/io_private.h"

/* What those of one save share. */
typedef struct shared {
    rec_sink *target; /* NULL: nothing is wanted */
    lr_window *window;
    uint64_t sum, run; /* of what was written; bytes of blobs since */
    uint8_t *drop;
    rec_sink *now;     /* the file that is being written */
    uint64_t ended;    /* bytes of those before */
    char *stem, *tail; /* of the next part of a set */
} shared;

struct window_sink {
    rec_sink sink;
    shared *all;
    uint64_t base; /* bytes of the files before, once it is written to */
    shared own;    /* of the first */
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
static void end_run(shared *all)
{
    if (all->run) {
        all->sum = add_word(add_word(all->sum, 0x1ff), all->run);
        all->run = 0;
    }
}

/* What of `size` bytes, which come now, is in the window. @param before (out) bytes in front of it. */
static uint64_t inside(const struct window_sink *self, uint64_t size, uint64_t *before)
{
    uint64_t from = self->all->window->from, to = self->all->window->to, at = self->base + self->sink.written;
    uint64_t skip = from > at ? from - at : 0, end = to > at ? to - at : 0;
    *before = skip < size ? skip : size;
    end = end < size ? end : size;
    return end > *before ? end - *before : 0;
}

/* ------------------------------------------------------------------------------------------------------- files -- */

static int32_t add_file(rec_job *job, lr_window *w, const char *name, bool fresh, const shared *all)
{
    rec_file file = {.name = lr_strdup(job->allocator, name)};
    if (fresh && all->stem && all->tail) {
        file.stem = lr_strdup(job->allocator, all->stem);
        file.tail = lr_strdup(job->allocator, all->tail);
    }
    if (!file.name || (fresh && (!file.stem || !file.tail)) ||
        !lr_grow(job->allocator, (void *)&w->files, w->count + 1, &w->room, sizeof *w->files)) {
        lr_release(job->allocator, (void *)(uintptr_t)file.name);
        lr_release(job->allocator, (void *)(uintptr_t)file.stem);
        lr_release(job->allocator, (void *)(uintptr_t)file.tail);
        return lr_fail_memory(job, strlen(name) + sizeof file);
    }
    w->files[w->count++] = file;
    return REC_OK;
}

void lr_window_end(rec_job *job, lr_window *window)
{
    for (uint64_t i = 0; i < window->count; i++) {
        lr_release(job->allocator, (void *)(uintptr_t)window->files[i].name);
        lr_release(job->allocator, (void *)(uintptr_t)window->files[i].stem);
        lr_release(job->allocator, (void *)(uintptr_t)window->files[i].tail);
    }
    lr_release(job->allocator, window->files);
    window->files = NULL;
    window->count = window->room = 0;
}

/* Its bytes come next, and those of the file before it are complete. */
static int32_t enter(struct window_sink *self, const char *name, bool fresh)
{
    shared *all = self->all;
    lr_window *w = all->window;
    if (all->now == &self->sink) {
        return REC_OK;
    }
    if (self->base != REC_UNKNOWN || (all->now && !all->now->first)) {
        return lr_io_fail(self->sink.job, self->sink.name, REC_E_UNSUPPORTED, REC_UNKNOWN, NULL,
                          "a format that does not write its files one after the other cannot be saved in parts");
    }
    if (all->now) {
        w->files[w->count - 1].size = all->now->written;
        all->ended += all->now->written;
    }
    if (w->count) {
        end_run(all);
        all->sum = add_bytes(add_word(all->sum, 0x2ff), (const uint8_t *)name, strlen(name));
    }
    self->base = all->ended;
    all->now = &self->sink;
    return add_file(self->sink.job, w, name, fresh, all);
}

static rec_sink *window_beside(rec_sink *sink, const char *name, bool fresh)
{
    struct window_sink *first = (struct window_sink *)sink, *self = lr_sink_new(sink->job, sink->ops, sizeof *self);
    if (!self) {
        return NULL;
    }
    self->all = first->all;
    self->base = REC_UNKNOWN;
    self->sink.first = sink;
    self->sink.name = sink->name;
    if (lr_sink_set_own_name(&self->sink, name) != REC_OK || enter(self, name, fresh) != REC_OK) {
        if (self->all->now == &self->sink) {
            self->all->now = NULL;
        }
        lr_sink_free(&self->sink);
        return NULL;
    }
    return &self->sink;
}

static int32_t window_rename(rec_sink *sink, const char *name)
{
    (void)name; /* it is nobody's yet */
    return sink->job->error.status;
}

static int32_t window_letters(rec_sink *sink, const char *index, const char *stem, const char *tail, bool writes,
                              const char **letters)
{
    shared *all = ((struct window_sink *)sink)->all;
    const lr_allocator *allocator = sink->job->allocator;
    (void)index, (void)writes;
    lr_release(allocator, all->stem);
    lr_release(allocator, all->tail);
    all->stem = lr_strdup(allocator, stem);
    all->tail = lr_strdup(allocator, tail);
    *letters = all->window->letters ? all->window->letters : "";
    return all->stem && all->tail ? REC_OK : lr_fail_memory(sink->job, strlen(stem) + strlen(tail));
}

/* ----------------------------------------------------------------------------------------------------- writing -- */

/* What is beside it was entered when it was made. */
static int32_t enter_first(struct window_sink *self)
{
    return enter(self, rec_sink_name(&self->sink), false);
}

static int32_t window_write(rec_sink *sink, const uint8_t *data, uint64_t size)
{
    struct window_sink *self = (struct window_sink *)sink;
    int32_t status = enter_first(self);
    uint64_t before, kept = status == REC_OK ? inside(self, size, &before) : 0;
    end_run(self->all);
    self->all->sum = add_bytes(self->all->sum, data, size);
    return kept && self->all->target ? rec_sink_write(self->all->target, data + before, kept) : status;
}

/* The next bytes of a stream, which are not wanted. */
static int32_t pass(const struct window_sink *self, const rec_blob *blob, uint64_t size)
{
    return lr_blob_skip(self->sink.job, blob, size, &self->all->drop);
}

static int32_t window_put(rec_sink *sink, const rec_blob *blob)
{
    struct window_sink *self = (struct window_sink *)sink;
    int32_t status = enter_first(self);
    uint64_t before, kept;
    rec_blob part = *blob;
    if (status != REC_OK) {
        return status;
    }
    kept = inside(self, blob->size, &before);
    self->all->run += blob->size;
    part.struct_size = sizeof part;
    part.size = kept;
    if (blob->kind == REC_BLOB_STREAM) {
        status = pass(self, blob, before);
        if (status == REC_OK && kept) {
            status = self->all->target ? rec_sink_put(self->all->target, &part) : pass(self, blob, kept);
        }
        return status == REC_OK ? pass(self, blob, blob->size - before - kept) : status;
    }
    if (blob->kind != REC_BLOB_RANGE) {
        part.data = blob->data ? (const uint8_t *)blob->data + before : NULL;
    }
    part.offset += blob->offset == REC_UNKNOWN ? 0 : before;
    return kept && self->all->target ? rec_sink_put(self->all->target, &part) : REC_OK;
}

/* A size or an offset that shows afterwards, of which the window may have a part. Something was written there before.
 */
static int32_t window_patch(rec_sink *sink, uint64_t offset, const uint8_t *data, uint64_t size)
{
    struct window_sink *self = (struct window_sink *)sink;
    shared *all = self->all;
    uint64_t from = all->window->from, to = all->window->to, at = self->base + offset;
    uint64_t begin = at > from ? at : from, end = at + size < to ? at + size : to;
    end_run(all);
    all->sum = add_bytes(add_word(all->sum, at), data, size);
    return begin < end && all->target ? rec_sink_patch(all->target, begin - from, data + (begin - at), end - begin)
                                      : REC_OK;
}

/* As the file would, or what is made is another file. */
static bool window_patches(const rec_sink *sink)
{
    const shared *all = ((const struct window_sink *)sink)->all;
    return !all->target || rec_sink_can_patch(all->target);
}

/* Of a file that nothing was written to nobody knows where it will be: the first, behind all others. */
static bool window_wants(const rec_sink *sink, uint64_t size)
{
    const struct window_sink *self = (const struct window_sink *)sink;
    uint64_t before;
    return self->all->target && (self->base == REC_UNKNOWN || inside(self, size, &before) > 0);
}

static int32_t window_finish(rec_sink *sink)
{
    struct window_sink *self = (struct window_sink *)sink;
    shared *all = self->all;
    if (!sink->first && enter_first(self) == REC_OK) {
        lr_window *w = all->window;
        end_run(all);
        w->files[w->count - 1].size = sink->written;
        w->total = all->ended + sink->written;
        w->sum = all->sum;
    }
    return sink->job->error.status;
}

static int32_t window_secure(rec_sink *sink)
{
    const struct window_sink *self = (const struct window_sink *)sink;
    return !sink->first && self->all->target ? lr_sink_finish(self->all->target) : REC_OK;
}

static void window_release(rec_sink *sink)
{
    struct window_sink *self = (struct window_sink *)sink;
    const lr_allocator *allocator = sink->job->allocator;
    if (self->own.target) {
        lr_sink_free(self->own.target);
    }
    lr_release(allocator, self->own.drop);
    lr_release(allocator, self->own.stem);
    lr_release(allocator, self->own.tail);
}

static const lr_sink_ops window_ops = {
    .write = window_write,
    .put = window_put,
    .patch = window_patch,
    .patches = window_patches,
    .wants = window_wants,
    .finish = window_finish,
    .secure = window_secure,
    .beside = window_beside,
    .rename = window_rename,
    .letters = window_letters,
    .release = window_release,
};

rec_sink *lr_sink_window(rec_job *job, const char *name, rec_sink *target, lr_window *window)
{
    struct window_sink *self = lr_sink_new(job, &window_ops, sizeof *self);
    if (!self || (*name && lr_sink_set_own_name(&self->sink, lr_own_name(name)) != REC_OK)) {
        if (target) {
            lr_sink_free(target);
        }
        lr_release(job->allocator, self);
        return NULL;
    }
    self->all = &self->own;
    self->base = REC_UNKNOWN;
    self->own = (shared){.target = target, .window = window, .sum = UINT64_C(0xcbf29ce484222325)};
    if (target) {
        target->quiet = true; /* progress is told of the whole */
    }
    return &self->sink;
}

bool lr_sink_is_window(const rec_sink *sink)
{
    return sink->ops == &window_ops;
}
