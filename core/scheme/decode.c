/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The numbers of a logical tensor as a source: core fetches the bytes that a tile needs, and the scheme decodes them on
 * as many threads as the job may use. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/io/io.h"
#include "core/scheme/scheme_private.h"

enum {
    TILE = 64 * 1024,         /* elements that are decoded at a time */
    FAR_TILE = 1024 * 1024,   /* the same where their bytes are read for it */
    BYTES_A_THREAD = 2 << 20, /* numbers that are worth a thread: a huge page */
    PIECE = 32 << 20,         /* bytes of numbers between two reports of progress */
    THREADS_MOST = 16,
    SMALL_STEP = 1024 /* elements of a step that the stack has room for */
};

/** The bytes of a part. */
typedef struct stored {
    rec_source *source; /**< counted, or NULL */
    uint64_t offset, size;
    const uint8_t *data; /**< NULL: to be read from the source */
    uint8_t *own;        /**< bytes that no source holds, copied */
} stored;

typedef struct decoder {
    void (*spans)(const uint64_t *state, uint64_t first, uint64_t count, rec_span *spans);
    int32_t (*tile)(const uint64_t *state, uint64_t first, uint64_t count, const rec_span *spans,
                    const void *const *parts, void *numbers);
    const char *scheme; /**< the plugin's name */
    uint64_t state[REC_STATE_WORDS];
    uint64_t count, step;
    uint32_t width; /**< bytes of a number */
    uint32_t part_count;
    char path[128];
    stored parts[];
} decoder;

/** A run of elements that one thread decodes. */
typedef struct share {
    const decoder *d;
    rec_job *job;                         /**< of the share that may read; else NULL */
    const uint8_t *bases[REC_PARTS_MOST]; /**< parts in memory */
    uint64_t first, count, tile;
    uint8_t *numbers;
    uint8_t *room[REC_PARTS_MOST]; /**< for bytes that are not in one piece, grown as needed */
    uint64_t room_size[REC_PARTS_MOST];
    int32_t status;
    bool breach; /**< a span is not in its part */
} share;

static void little_endian(const decoder *d, void *numbers, uint64_t count)
{
    lr_swap_if_big(numbers, d->width, count);
}

/* -------------------------------------------------------------------------------------------- bytes of a tile -- */

/* Whether a span lies in its part. @param size (out) bytes of all runs. */
static bool span_fits(const rec_span *span, uint64_t part, uint64_t *size)
{
    uint64_t last, end;
    return span->count >= 1 && lr_mul(span->length, span->count, size) && *size <= part &&
           (span->count == 1 || lr_mul(span->stride, span->count - 1, &last)) &&
           lr_add(span->offset, span->count == 1 ? 0 : last, &end) && lr_add(end, span->length, &end) && end <= part;
}

static bool make_room(share *s, uint32_t part, uint64_t size)
{
    if (size > s->room_size[part]) {
        free(s->room[part]);
        s->room[part] = malloc((size_t)size);
        s->room_size[part] = s->room[part] ? size : 0;
    }
    return s->room[part] != NULL;
}

static int32_t copy_runs(const share *s, uint32_t part, const rec_span *span)
{
    const stored *from = &s->d->parts[part];
    int32_t status = REC_OK;
    for (uint64_t i = 0; i < span->count && status == REC_OK; i++) {
        uint64_t at = span->offset + i * span->stride;
        uint8_t *to = s->room[part] + i * span->length;
        if (s->bases[part]) {
            memcpy(to, s->bases[part] + at, (size_t)span->length);
        } else {
            status = rec_source_read_at(s->job, from->source, from->offset + at, to, span->length);
        }
    }
    return status;
}

static int32_t fetch(share *s, uint32_t part, const rec_span *span, const void **bytes)
{
    uint64_t size;
    static const uint8_t none;
    if (!span_fits(span, s->d->parts[part].size, &size)) {
        s->breach = true;
        return REC_E_PLUGIN;
    }
    if (size == 0) {
        *bytes = &none;
        return REC_OK;
    }
    if (s->bases[part] && (span->count == 1 || span->stride == span->length)) {
        *bytes = s->bases[part] + span->offset;
        return REC_OK;
    }
    if (!make_room(s, part, size)) {
        return REC_E_MEMORY;
    }
    *bytes = s->room[part];
    return copy_runs(s, part, span);
}

static int32_t decode_tile(share *s, uint64_t first, uint64_t count, uint8_t *numbers)
{
    const decoder *d = s->d;
    rec_span spans[REC_PARTS_MOST];
    const void *bytes[REC_PARTS_MOST];
    int32_t status = REC_OK;
    for (uint32_t i = 0; i < d->part_count; i++) {
        spans[i] = (rec_span){.length = d->parts[i].size, .count = 1};
    }
    if (d->spans) {
        d->spans(d->state, first, count, spans);
    }
    for (uint32_t i = 0; i < d->part_count && status == REC_OK; i++) {
        status = fetch(s, i, &spans[i], &bytes[i]);
    }
    if (status == REC_OK && d->tile(d->state, first, count, spans, bytes, numbers) != REC_OK) {
        status = REC_E_FORMAT;
    }
    little_endian(d, numbers, count);
    return status;
}

static void *run(void *user)
{
    share *s = user;
    while (s->count && s->status == REC_OK) {
        uint64_t n = s->count < s->tile ? s->count : s->tile;
        s->status = decode_tile(s, s->first, n, s->numbers);
        s->first += n;
        s->numbers += n * s->d->width;
        s->count -= n;
    }
    for (uint32_t i = 0; i < s->d->part_count; i++) {
        free(s->room[i]);
    }
    return NULL;
}

/* ------------------------------------------------------------------------------------------------- by threads -- */

static int32_t report(rec_job *job, const share *s)
{
    const decoder *d = s->d;
    if (lr_job_failed(job) || s->status == REC_OK) {
        return job->error.status;
    }
    if (s->breach) {
        return rec_fail(job, REC_E_PLUGIN, REC_UNKNOWN,
                        "%s: the scheme %s requests bytes that its parts do not have for the elements before %" PRIu64,
                        d->path, d->scheme, s->first);
    }
    if (s->status == REC_E_MEMORY) {
        return rec_fail(job, REC_E_MEMORY, REC_UNKNOWN, "%s: out of memory for a tile", d->path);
    }
    return rec_fail(job, REC_E_FORMAT, REC_UNKNOWN,
                    "%s: the scheme %s cannot decode the elements before %" PRIu64 ": the file is damaged", d->path,
                    d->scheme, s->first);
}

/* Where a share ends that should end at element `end`: at a step, and so that no two threads share a huge page. */
static uint64_t share_end(const decoder *d, const uint8_t *numbers, uint64_t end, uint64_t count)
{
    uintptr_t begin = (uintptr_t)numbers;
    uintptr_t at = (begin + (uintptr_t)(end * d->width) + BYTES_A_THREAD / 2) / BYTES_A_THREAD * BYTES_A_THREAD;
    uint64_t elements = at > begin ? (at - begin + d->width - 1) / d->width : 0;
    elements = (elements + d->step - 1) / d->step * d->step;
    return end < count && elements < count ? elements : count;
}

/* Parts that are in memory, or could be without reading. @param all (out) all of them are. */
static int32_t find_bases(const decoder *d, rec_job *job, const uint8_t **bases, bool *all)
{
    int32_t status = REC_OK;
    *all = true;
    for (uint32_t i = 0; i < d->part_count && status == REC_OK; i++) {
        const stored *p = &d->parts[i];
        bases[i] = p->data;
        if (!bases[i]) {
            status = lr_source_at_hand(job, p->source, p->offset, p->size, &bases[i]);
        }
        *all = *all && bases[i];
    }
    return status;
}

/* Decodes on as many threads as can be had, the caller's included, which does what others were not started for. */
static int32_t run_shares(rec_job *job, share *shares, uint64_t count)
{
    pthread_t threads[THREADS_MOST];
    uint64_t started = 0;
    while (started + 1 < count && lr_threads_start(&threads[started], 1, run, &shares[started])) {
        started++;
    }
    for (uint64_t i = started; i < count; i++) {
        (void)run(&shares[i]);
    }
    lr_threads_join(threads, (uint32_t)started);
    for (uint64_t i = 0; i < count && report(job, &shares[i]) == REC_OK; i++) {
    }
    return job->error.status;
}

/* Whole steps, to aligned memory. */
static int32_t decode(const decoder *d, rec_job *job, uint64_t first, uint64_t count, uint8_t *numbers)
{
    share shares[THREADS_MOST], whole = {.d = d};
    uint64_t most = (count * d->width + BYTES_A_THREAD / 2) / BYTES_A_THREAD, n = rec_job_threads(job), begin = 0;
    bool near;
    int32_t status = find_bases(d, job, whole.bases, &near);
    if (status != REC_OK) {
        return status;
    }
    whole.job = near ? NULL : job;
    whole.tile = ((near ? TILE : FAR_TILE) + d->step - 1) / d->step * d->step;
    n = !near || most < 1 ? 1 : n < most ? n : most;
    n = n < THREADS_MOST ? n : THREADS_MOST;
    for (uint64_t i = 0; i < n; i++) {
        uint64_t end = share_end(d, numbers, (i + 1) * count / n, count);
        end = end < begin ? begin : end;
        shares[i] = whole;
        shares[i].first = first + begin;
        shares[i].count = end - begin;
        shares[i].numbers = numbers + begin * d->width;
        begin = end;
    }
    return run_shares(job, shares, n);
}

/* ------------------------------------------------------------------------------------------------ as a source -- */

/* Elements from a step on that are decoded apart: a step, or as many as the stack has room for. */
static uint64_t block_at(const decoder *d, uint64_t first)
{
    uint64_t block = d->step < SMALL_STEP ? SMALL_STEP / d->step * d->step : d->step;
    return d->count - first < block ? d->count - first : block;
}

/* Bytes that do not begin or end where a step does, or have no aligned place. @param done (out) bytes. */
static int32_t decode_part(const decoder *d, rec_job *job, uint64_t offset, uint8_t *to, uint64_t size, uint64_t *done)
{
    uint64_t small[SMALL_STEP], each = d->step * d->width, first = offset / each * d->step, skip = offset % each;
    uint64_t count = block_at(d, first), bytes = count * d->width, n = bytes - skip < size ? bytes - skip : size;
    uint8_t *room = bytes <= sizeof small ? (uint8_t *)small : malloc((size_t)bytes);
    int32_t status = room ? decode(d, job, first, count, room) : lr_fail_memory(job, bytes);
    if (status == REC_OK) {
        memcpy(to, room + skip, (size_t)n);
    }
    if (bytes > sizeof small) {
        free(room);
    }
    *done = n;
    return status;
}

static int32_t read_at(rec_job *job, rec_source *source, uint64_t offset, void *target, uint64_t size)
{
    const decoder *d = lr_source_self(source);
    uint64_t each = d->step * d->width, total = d->count * d->width, done;
    uint8_t *to = target;
    int32_t status = REC_OK;
    while (size && status == REC_OK) {
        done = size < PIECE ? size : each < PIECE ? PIECE / each * each : each;
        done = offset + done == total ? done : done / each * each;
        if (offset % each == 0 && done && (uintptr_t)to % d->width == 0) {
            status = decode(d, job, offset / d->width, done / d->width, to);
        } else {
            status = decode_part(d, job, offset, to, size, &done);
        }
        if (status == REC_OK && size > PIECE) {
            status = lr_io_moved(job, done);
        }
        to += done;
        offset += done;
        size -= done;
    }
    return status;
}

static uint64_t total(const rec_source *source)
{
    const decoder *d = lr_source_self(source);
    return d->count * d->width;
}

static void drop(decoder *d)
{
    for (uint32_t i = 0; d && i < d->part_count; i++) {
        lr_source_release(d->parts[i].source);
        free(d->parts[i].own);
    }
    free(d);
}

static void release(rec_source *source)
{
    drop(lr_source_self(source));
}

/* Takes the bytes of a part: its source is counted, what is in the record's own memory is copied. */
static bool take_part(stored *to, const lr_data *from)
{
    *to = (stored){.size = from->size, .data = from->data};
    if (from->source) {
        to->source = lr_source_retain(from->source);
        to->offset = from->data ? 0 : from->offset;
    } else if (from->size) {
        to->data = to->own = malloc((size_t)from->size);
        if (!to->own) {
            return false;
        }
        memcpy(to->own, from->data, (size_t)from->size);
    } else {
        to->data = (const uint8_t *)"";
    }
    return true;
}

static bool is_part(const stored *part, const lr_data *data)
{
    const uint8_t *bytes;
    if (part->size != data->size) {
        return false;
    }
    if (part->source && part->source == data->source && part->data == data->data &&
        (data->data || part->offset == data->offset)) {
        return true;
    }
    bytes = lr_data_at_hand(data);
    return !data->size || (part->data && bytes && memcmp(part->data, bytes, (size_t)data->size) == 0);
}

bool lr_scheme_is_of(const rec_source *source, rec_tensor *const *tensors, uint32_t count)
{
    const decoder *d = lr_source_self(source);
    bool same = d->part_count == count;
    for (uint32_t i = 0; same && i < count; i++) {
        same = is_part(&d->parts[i], tensors[i]->data);
    }
    return same;
}

rec_source *lr_scheme_source(rec_job *job, const rec_plugin *plugin, const rec_logical *logical,
                             rec_tensor *const *tensors, const char *path, uint64_t count)
{
    static const lr_source_ops ops = {.size = total, .read_at = read_at, .release = release};
    rec_source *source;
    const rec_source *first = tensors[0]->data->source;
    decoder *d = calloc(1, sizeof *d + logical->part_count * sizeof *d->parts);
    bool taken = d != NULL;
    if (d) {
        d->spans = plugin->spans;
        d->tile = plugin->tile;
        d->scheme = plugin->name;
        memcpy(d->state, logical->state, sizeof d->state);
        d->count = count;
        d->step = logical->step ? logical->step : 1;
        d->width = rec_dtype_bits(logical->dtype) / 8;
        (void)snprintf(d->path, sizeof d->path, "%s", path);
    }
    for (uint32_t i = 0; taken && i < logical->part_count; i++) {
        taken = take_part(&d->parts[i], tensors[i]->data);
        d->part_count = i + 1;
    }
    if (!taken) {
        drop(d);
        return LR_AS_NULL(lr_fail_memory(job, sizeof *d));
    }
    source = lr_source_of(job, first ? rec_source_name(first) : "", &ops, d);
    if (!source) {
        drop(d);
    }
    return source;
}
