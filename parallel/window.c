/* SPDX-License-Identifier: MIT OR Apache-2.0
 * A save of which one range of the bytes is passed on: several processes that make the same save write their ranges
 * into one file. A sink receives the whole save. Bytes outside the range are counted, and skipped without being read or
 * produced where possible. Companion files belong to the same range of bytes: they stand one after the other, and the
 * main file is last. */
#include <string.h>

#include "common/names.h"
#include "core/io/io.h"
#include "librecord/parallel.h"
#include "recorder/recorder.h"

/* Bytes of a stream that is not wanted, made to pass it. */
enum { DROPPED = 256 << 10 };

/* In the order of their bytes. */
typedef struct files {
    rec_file *at;
    uint64_t count, room;
} files;

/* What those of one save share. */
typedef struct shared {
    rec_job *job;
    rec_sink *target; /* NULL: only the counts */
    rec_window *window;
    files *files;
    uint64_t sum, run; /* of the bytes written; bytes of blobs since then */
    uint8_t *drop;
    struct part *now;  /* the file that is being written */
    uint64_t ended;    /* bytes of those before */
    char *stem, *tail; /* of the next part of a set */
} shared;

typedef struct part part;
struct part {
    rec_sink *sink;
    shared *all;
    uint64_t base; /* bytes of the files before, once it is written to */
    bool first;    /* the main file; its companion files are the others */
    shared own;    /* of the first */
};

static part *part_of(const rec_sink *sink)
{
    return lr_sink_self(sink);
}

/* A sum against mistakes, the same in every process. */
static uint64_t add_word(uint64_t sum, uint64_t word)
{
    return lr_fnv(sum, &word, sizeof word);
}

/* However many blobs there were, and in however many pieces: what counts is how many bytes they had. */
static void end_run(shared *all)
{
    if (all->run) {
        all->sum = add_word(add_word(all->sum, 0x1ff), all->run);
        all->run = 0;
    }
}

/* Returns how many of the next `size` bytes lie in the window. @param before (out) bytes before the window. */
static uint64_t inside(const part *self, uint64_t size, uint64_t *before)
{
    uint64_t from = self->all->window->from, to = self->all->window->to, at = self->base + rec_sink_tell(self->sink);
    uint64_t skip = from > at ? from - at : 0, end = to > at ? to - at : 0;
    *before = skip < size ? skip : size;
    end = end < size ? end : size;
    return end > *before ? end - *before : 0;
}

/* ------------------------------------------------------------------------------------------------------- files -- */

static void free_file(rec_job *job, const rec_file *file)
{
    lr_release(job->allocator, (void *)(uintptr_t)file->name);
    lr_release(job->allocator, (void *)(uintptr_t)file->stem);
    lr_release(job->allocator, (void *)(uintptr_t)file->tail);
}

static int32_t add_file(shared *all, const char *name, bool fresh)
{
    rec_job *job = all->job;
    files *f = all->files;
    rec_file file = {.name = lr_strdup(job->allocator, name)};
    if (fresh && all->stem && all->tail) {
        file.stem = lr_strdup(job->allocator, all->stem);
        file.tail = lr_strdup(job->allocator, all->tail);
    }
    if (!file.name || (fresh && (!file.stem || !file.tail)) ||
        !lr_grow(job->allocator, (void *)&f->at, f->count + 1, &f->room, sizeof *f->at)) {
        free_file(job, &file);
        return lr_fail_memory(job, strlen(name) + sizeof file);
    }
    f->at[f->count++] = file;
    return REC_OK;
}

static void end_file(const files *f, const rec_sink *sink)
{
    f->at[f->count - 1].size = rec_sink_tell(sink);
}

/* Its bytes come next, and those of the file before it are complete. */
static int32_t enter(part *self, const char *name, bool fresh)
{
    shared *all = self->all;
    if (all->now == self) {
        return REC_OK;
    }
    if (self->base != REC_UNKNOWN || (all->now && all->now->first)) {
        return rec_fail(all->job, REC_E_UNSUPPORTED, REC_UNKNOWN,
                        "a format that does not write its files one after the other cannot be saved in parts");
    }
    if (all->now) {
        end_file(all->files, all->now->sink);
        all->ended += rec_sink_tell(all->now->sink);
    }
    if (all->files->count) {
        end_run(all);
        all->sum = lr_fnv(add_word(all->sum, 0x2ff), name, strlen(name));
    }
    self->base = all->ended;
    all->now = self;
    return add_file(all, name, fresh);
}

static const lr_sink_ops window_ops;

/* @return NULL: the job has failed. */
static part *part_new(rec_job *job, const char *name, shared *all)
{
    part *self = lr_job_zalloc(job, sizeof *self);
    if (!self) {
        return NULL;
    }
    self->first = !all;
    self->all = all ? all : &self->own;
    self->base = REC_UNKNOWN;
    self->sink = lr_sink_of(job, name, &window_ops, self);
    if (!self->sink) {
        lr_release(job->allocator, self);
        return NULL;
    }
    return self;
}

static rec_sink *window_beside(rec_sink *sink, const char *name, bool fresh)
{
    shared *all = part_of(sink)->all;
    part *self = part_new(all->job, name, all);
    if (self && enter(self, name, fresh) != REC_OK) {
        all->now = all->now == self ? NULL : all->now;
        (void)lr_sink_commit(self->sink); /* of a job that has failed: it is freed */
        self = NULL;
    }
    return self ? self->sink : NULL;
}

static int32_t window_rename(rec_sink *sink, const char *name)
{
    (void)name; /* it is nobody's yet */
    return lr_sink_job(sink)->error.status;
}

static int32_t window_letters(rec_sink *sink, const char *index, const char *stem, const char *tail, bool writes,
                              const char **letters)
{
    shared *all = part_of(sink)->all;
    const lr_allocator *allocator = all->job->allocator;
    (void)index, (void)writes;
    lr_release(allocator, all->stem);
    lr_release(allocator, all->tail);
    all->stem = lr_strdup(allocator, stem);
    all->tail = lr_strdup(allocator, tail);
    *letters = all->window->letters ? all->window->letters : "";
    return all->stem && all->tail ? REC_OK : lr_fail_memory(all->job, strlen(stem) + strlen(tail));
}

/* ----------------------------------------------------------------------------------------------------- writing -- */

/* Companion files were entered when they were made. */
static int32_t enter_first(part *self)
{
    return enter(self, rec_sink_name(self->sink), false);
}

static int32_t window_write(rec_sink *sink, const uint8_t *data, uint64_t size)
{
    part *self = part_of(sink);
    int32_t status = enter_first(self);
    uint64_t before, kept = status == REC_OK ? inside(self, size, &before) : 0;
    end_run(self->all);
    self->all->sum = lr_fnv(self->all->sum, data, size);
    return kept && self->all->target ? rec_sink_write(self->all->target, data + before, kept) : status;
}

/* The next bytes of a stream, which are not wanted: passed over, or made and dropped. */
static int32_t pass(const part *self, const rec_blob *blob, uint64_t size)
{
    shared *all = self->all;
    const lr_stepping *step = &all->job->parallel->step;
    int32_t status = REC_OK;
    if (step->over && step->user == blob->user && step->read == blob->read) {
        return step->over(blob->user, size); /* also of none: it learns that only a part is made */
    }
    if (size && !all->drop) {
        all->drop = lr_alloc(all->job->allocator, DROPPED);
        status = all->drop ? REC_OK : lr_fail_memory(all->job, DROPPED);
    }
    while (size && status == REC_OK) {
        uint64_t some = size < DROPPED ? size : DROPPED;
        status = rec_blob_read(all->job, blob, 0, all->drop, some);
        size -= some;
    }
    return status;
}

static int32_t window_put(rec_sink *sink, const rec_blob *blob)
{
    part *self = part_of(sink);
    int32_t status = enter_first(self);
    uint64_t before, kept;
    rec_blob inner = *blob;
    if (status != REC_OK) {
        return status;
    }
    kept = inside(self, blob->length, &before);
    self->all->run += blob->length;
    inner.size = sizeof inner;
    inner.length = kept;
    if (blob->kind == REC_BLOB_STREAM) {
        status = pass(self, blob, before);
        if (status == REC_OK && kept) {
            status = self->all->target ? rec_sink_put(self->all->target, &inner) : pass(self, blob, kept);
        }
        return status == REC_OK ? pass(self, blob, blob->length - before - kept) : status;
    }
    if (blob->kind != REC_BLOB_RANGE) {
        inner.data = blob->data ? (const uint8_t *)blob->data + before : NULL;
    }
    inner.offset += blob->offset == REC_UNKNOWN ? 0 : before;
    return kept && self->all->target ? rec_sink_put(self->all->target, &inner) : REC_OK;
}

/* A size or an offset that shows afterwards, of which the window may have a part. Something was written there before.
 */
static int32_t window_patch(rec_sink *sink, uint64_t offset, const uint8_t *data, uint64_t size)
{
    part *self = part_of(sink);
    shared *all = self->all;
    uint64_t from = all->window->from, to = all->window->to, at = self->base + offset;
    uint64_t begin = at > from ? at : from, end = at + size < to ? at + size : to;
    end_run(all);
    all->sum = lr_fnv(add_word(all->sum, at), data, size);
    return begin < end && all->target ? rec_sink_patch(all->target, begin - from, data + (begin - at), end - begin)
                                      : REC_OK;
}

/* As the file would, or what is made is another file. */
static bool window_patches(const rec_sink *sink)
{
    const shared *all = part_of(sink)->all;
    return !all->target || rec_sink_can_patch(all->target);
}

/* The main file has no offset before its first byte: all companion files come first. */
static bool window_wants(const rec_sink *sink, uint64_t size)
{
    const part *self = part_of(sink);
    uint64_t before;
    return self->all->target && (self->base == REC_UNKNOWN || inside(self, size, &before) > 0);
}

static int32_t window_finish(rec_sink *sink)
{
    part *self = part_of(sink);
    shared *all = self->all;
    if (self->first && enter_first(self) == REC_OK) {
        end_run(all);
        end_file(all->files, sink);
        all->window->total = all->ended + rec_sink_tell(sink);
        all->window->sum = all->sum;
    }
    return all->job->error.status;
}

static int32_t window_secure(rec_sink *sink)
{
    part *self = part_of(sink);
    rec_sink *target = self->own.target;
    self->own.target = NULL;
    return target ? lr_sink_commit(target) : REC_OK;
}

static void window_release(rec_sink *sink)
{
    part *self = part_of(sink);
    const lr_allocator *allocator = lr_sink_job(sink)->allocator;
    if (self->own.target) {
        (void)lr_sink_commit(self->own.target); /* discards it: the job has failed */
    }
    lr_release(allocator, self->own.drop);
    lr_release(allocator, self->own.stem);
    lr_release(allocator, self->own.tail);
    lr_release(allocator, self);
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

/* A sink for the whole save. @param name of the file. @param target of the window's bytes, taken, also on failure,
 * or NULL. */
static rec_sink *window_sink(rec_job *job, const char *name, rec_sink *target, rec_window *window, files *made)
{
    part *self = part_new(job, lr_own_name(name), NULL);
    if (!self) {
        if (target) {
            (void)lr_sink_commit(target); /* discards it: the job has failed */
        }
        return NULL;
    }
    self->own = (shared){.job = job, .target = target, .window = window, .files = made, .sum = LR_FNV_BEGIN};
    if (target) {
        lr_sink_hush(target); /* progress is that of the whole */
    }
    return self->sink;
}

/* ---------------------------------------------------------------------------------------------- the whole save -- */

/* What the struct is at least: its first version. */
#define WINDOW_LEAST sizeof(rec_window)
#define LOSS_LEAST (offsetof(rec_conversion_loss, path) + sizeof(const char *))

/* They are put into names. */
static bool are_sane(const char *letters)
{
    return !letters ||
           (strlen(letters) < 32 && strspn(letters, "abcdefghijklmnopqrstuvwxyz0123456789") == strlen(letters));
}

static bool is_sane(const rec_window *w)
{
    return w->size >= WINDOW_LEAST && w->size <= LR_STRUCT_MOST && are_sane(w->letters) && w->from <= w->to;
}

rec_status rec_conversion_loss_text(const rec_conversion_loss *loss, char *text, uint64_t room)
{
    if (LR_NULL(loss) || LR_NULL(text)) {
        return REC_E_ARGUMENT;
    }
    if (loss->size < LOSS_LEAST || !room || (loss->kind != REC_NOTE_OVERFLOW && loss->kind != REC_NOTE_CLAMPED)) {
        return lr_publish(REC_E_ARGUMENT, "rec_conversion_loss_text: the loss is invalid, or `room` is too small");
    }
    lr_loss_text(loss->kind, loss->dtype, loss->count, text, (size_t)room);
    return REC_OK;
}

/* For lr_parallel: calls the program. */
static void tell_lost(const lr_parallel *self, rec_job *job, const lr_loss *loss)
{
    const rec_window *window = self->user;
    char place[512];
    const rec_conversion_loss told = {.size = sizeof told,
                                      .kind = loss->kind,
                                      .dtype = loss->dtype,
                                      .whole = !loss->part,
                                      .count = loss->count,
                                      .path = lr_place_text(place, sizeof place, loss->path)};
    lr_call call;
    lr_call_begin(&call, job, LR_CALL_PROGRAM, NULL);
    window->lost(window->user, &told);
    lr_call_end(&call);
}

/* Reports each file, unless the job has failed, and forgets it. */
static void tell_files(rec_job *job, const rec_window *window, files *f)
{
    bool told = window->file && !lr_job_failed(job);
    for (uint64_t i = 0; i < f->count; i++) {
        if (told) {
            lr_call call;
            lr_call_begin(&call, job, LR_CALL_PROGRAM, NULL);
            window->file(window->user, &f->at[i]);
            lr_call_end(&call);
        }
        free_file(job, &f->at[i]);
    }
    lr_release(job->allocator, f->at);
}

static rec_status save_window(rec_job *job, rec_recorder *r, const rec_record *record, const char *path,
                              rec_window *window, const rec_output *output, void *user)
{
    files made = {0};
    lr_parallel parallel = {.user = window, .window = true};
    rec_sink *target = output ? lr_sink_output(job, output, user) : NULL;
    const lr_plugin *plugin = NULL;
    char *name = NULL;
    if (!lr_job_failed(job) && !is_sane(window)) {
        (void)rec_fail(job, REC_E_ARGUMENT, REC_UNKNOWN, "the window's size or bounds are invalid");
    }
    plugin = lr_job_failed(job) ? NULL : lr_recorder_writer(job, r, path);
    if (plugin && lr_recorder_path(job, plugin, path, &name) == REC_OK) {
        job->file = name;
        (void)lr_check_replaced(job, record, name);
    }
    if (lr_job_failed(job)) {
        if (target) {
            (void)lr_sink_commit(target); /* discards it: the job has failed */
        }
        job->file = NULL;
        lr_release(job->allocator, name);
        return job->error.status;
    }
    window->total = window->sum = 0;
    parallel.lost = window->lost ? tell_lost : NULL;
    job->parallel = &parallel;
    (void)lr_save_sink(job, r, plugin, record, window_sink(job, name, target, window, &made), NULL, NULL);
    tell_files(job, window, &made);
    job->parallel = NULL;
    job->file = NULL;
    lr_release(job->allocator, name);
    return job->error.status;
}

rec_status rec_save_window(rec_recorder *recorder, const rec_record *record, const char *path, rec_window *window,
                           const rec_output *output, void *user)
{
    rec_job job;
    if (LR_NULL(recorder) || LR_NULL(record) || LR_NULL(path) || LR_NULL(window)) {
        if (output) {
            lr_output_give_back(output, user);
        }
        return REC_E_ARGUMENT;
    }
    lr_recorder_job(&job, recorder, "save", NULL);
    (void)save_window(&job, recorder, record, path, window, output, user);
    return lr_job_end(&job);
}
