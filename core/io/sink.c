/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Sinks: what every one of them does, and those that only count. */
#include <stdio.h>
#include <string.h>

#include "core/io/io_private.h"

void *lr_sink_new(rec_job *job, const lr_sink_ops *ops, uint64_t size)
{
    rec_sink *sink = lr_job_zalloc(job, size);
    if (!sink) {
        return NULL;
    }
    sink->ops = ops;
    sink->job = job;
    sink->name = job->file ? job->file : "";
    sink->total = sink->whole = REC_UNKNOWN;
    return sink;
}

static void free_beside(rec_sink *sink)
{
    lr_sinks *beside = sink->beside;
    if (beside) {
        for (uint64_t i = 0; i < beside->count; i++) {
            lr_sink_free(beside->sinks[i]);
        }
        lr_release(sink->job->allocator, (void *)beside->sinks);
        lr_release(sink->job->allocator, beside);
        sink->beside = NULL;
    }
}

/* Removes it from the list of sinks to close. */
static void forget(const rec_sink *sink)
{
    rec_sink **link = &sink->job->made;
    while (*link && *link != sink) {
        link = &(*link)->older;
    }
    if (*link) {
        *link = sink->older;
    }
}

void lr_sink_free(rec_sink *sink)
{
    const lr_allocator *allocator = sink->job->allocator;
    free_beside(sink); /* before what they share with it */
    if (sink->ops && sink->ops->release) {
        sink->ops->release(sink);
    }
    lr_release(allocator, sink->own_name);
    lr_release(allocator, sink->tile);
    if (sink->closable) {
        forget(sink);
        *sink = (rec_sink){
            .job = sink->job, .name = "", .written = sink->written, .finished = true, .closable = true, .closed = true};
        lr_job_bury(sink->job, sink);
    } else {
        lr_release(allocator, sink);
    }
}

bool lr_sinks_left(rec_job *job, const rec_sink *before)
{
    bool any = job->made != before;
    while (job->made && job->made != before) {
        lr_sink_free(job->made);
    }
    return any;
}

bool lr_sink_is_made(const rec_job *job, const rec_sink *sink)
{
    const rec_sink *made = job->made;
    while (made && made != sink) {
        made = made->older;
    }
    return made != NULL;
}

void lr_sink_lend(rec_sink *sink, bool lent)
{
    sink->lent = lent;
}

bool lr_sink_may_make(rec_job *job, const char *function)
{
    bool may = !lr_call_is(LR_CALL_LOAD);
    if (!may) {
        (void)lr_breach(job, REC_UNKNOWN, "called %s() while it loads", function);
    }
    return may;
}

void lr_sink_remember(rec_sink *sink)
{
    sink->closable = true;
    sink->older = sink->job->made;
    sink->job->made = sink;
}

/* ------------------------------------------------------------------------------------------------ of other rooms -- */

rec_sink *lr_sink_of(rec_job *job, const char *name, const lr_sink_ops *ops, void *self)
{
    rec_sink *sink = lr_sink_new(job, ops, sizeof *sink);
    if (sink && *name && lr_sink_set_own_name(sink, name) != REC_OK) {
        lr_release(job->allocator, sink);
        return NULL;
    }
    if (sink) {
        sink->self = self;
    }
    return sink;
}

void *lr_sink_self(const rec_sink *sink)
{
    return sink->self;
}

rec_job *lr_sink_job(const rec_sink *sink)
{
    return sink->job;
}

void lr_sink_hush(rec_sink *sink)
{
    sink->quiet = true;
}

/* -------------------------------------------------------------------------------------------------- every sink -- */

/* Counts what was written, and lets the caller know and cancel from time to time. */
static int32_t count(rec_sink *sink, uint64_t size)
{
    rec_sink *first = sink->first ? sink->first : sink;
    sink->written += size;
    first->all += size;
    if (first->all - first->told < LR_IO_PIECE || !sink->ops || sink->quiet) {
        return REC_OK;
    }
    first->told = first->all;
    return rec_job_progress(sink->job, first->all, first->whole);
}

/* Bytes of any number in pieces, so that nothing behind needs a counter of more than 32 bits. `source`: what keeps them
 * alive, NULL if they may be gone afterwards. */
static int32_t write_pieces(rec_sink *sink, const uint8_t *data, uint64_t size, rec_source *source)
{
    int32_t status = REC_OK;
    while (size && status == REC_OK) {
        uint64_t piece = size < LR_IO_PIECE ? size : LR_IO_PIECE;
        status = source && sink->ops->view ? sink->ops->view(sink, data, piece, source)
                                           : sink->ops->write(sink, data, piece);
        if (status == REC_OK) {
            status = count(sink, piece);
        }
        data += piece;
        size -= piece;
    }
    return status;
}

/* Room for bytes that are yet to be made: the sink's own, or a tile for one without any. */
static int32_t make_room(rec_sink *sink, uint64_t want, uint8_t **room, uint64_t *size)
{
    enum { TILE = 1 << 20 };
    if (sink->ops->space) {
        return sink->ops->space(sink, want, room, size);
    }
    if (!sink->tile) {
        sink->tile = lr_job_alloc(sink->job, TILE);
    }
    *room = sink->tile;
    *size = want < TILE ? want : TILE;
    return sink->job->error.status;
}

/* Bytes that are yet to be made. */
static int32_t write_stream(rec_sink *sink, const rec_blob *blob)
{
    uint64_t left = blob->length;
    int32_t status = REC_OK;
    while (left && status == REC_OK) {
        uint8_t *room;
        uint64_t piece;
        status = make_room(sink, left < LR_IO_PIECE ? left : LR_IO_PIECE, &room, &piece);
        if (status == REC_OK && blob->kind == REC_BLOB_RANGE) {
            status = rec_source_read_at(sink->job, blob->source, blob->offset + (blob->length - left), room, piece);
        } else if (status == REC_OK) {
            status = lr_blob_next(sink->job, blob, room, piece);
        }
        if (status == REC_OK) {
            status = sink->ops->space ? sink->ops->filled(sink, piece) : sink->ops->write(sink, room, piece);
        }
        if (status == REC_OK) {
            status = count(sink, piece);
            left -= piece;
        }
    }
    return status;
}

static int32_t check_growth(rec_sink *sink, uint64_t size)
{
    const rec_sink *first = sink->first ? sink->first : sink;
    uint64_t sum;
    if (lr_job_failed(sink->job)) {
        return sink->job->error.status;
    }
    if (sink->finished) {
        return lr_breach(sink->job, REC_UNKNOWN, "wrote to a sink that it had closed");
    }
    if (!lr_add(first->all, size, &sum)) {
        return lr_io_fail(sink->job, sink->name, REC_E_RANGE, sink->written, NULL, "a file cannot have 2^64 bytes");
    }
    return REC_OK;
}

int32_t rec_sink_write(rec_sink *sink, const void *data, uint64_t size)
{
    int32_t status;
    if (LR_LACKS(NULL, sink) || (size && LR_LACKS(sink->job, data))) {
        return lr_breach_status(sink ? sink->job : NULL);
    }
    status = check_growth(sink, size);
    if (status != REC_OK) {
        return status;
    }
    return sink->ops ? write_pieces(sink, data, size, NULL) : count(sink, size);
}

int32_t rec_sink_put(rec_sink *sink, const rec_blob *blob)
{
    rec_blob b;
    const uint8_t *data = NULL;
    int32_t status;
    if (LR_LACKS(NULL, sink) || LR_LACKS(sink->job, blob)) {
        return lr_breach_status(sink ? sink->job : NULL);
    }
    status = lr_blob_check(sink->job, blob, &b);
    if (status == REC_OK) {
        status = check_growth(sink, b.length);
    }
    if (status != REC_OK || !sink->ops) {
        return status != REC_OK ? status : count(sink, b.length);
    }
    if (sink->ops->put) {
        status = sink->ops->put(sink, &b);
        return status == REC_OK ? count(sink, b.length) : status;
    }
    if (b.kind == REC_BLOB_STREAM || lr_blob_in_parts(&b)) {
        return write_stream(sink, &b);
    }
    status = lr_blob_view(sink->job, &b, &data);
    if (status == REC_OK) {
        status = write_pieces(sink, data, b.length, b.kind == REC_BLOB_TEMPORARY ? NULL : b.source);
    }
    return status;
}

uint64_t rec_sink_tell(const rec_sink *sink)
{
    return LR_LACKS(NULL, sink) ? 0 : sink->written;
}

int32_t rec_sink_wants(const rec_sink *sink, uint64_t size)
{
    return !LR_LACKS(NULL, sink) && sink->ops && (!sink->ops->wants || sink->ops->wants(sink, size));
}

int32_t rec_sink_can_patch(const rec_sink *sink)
{
    const rec_sink *real;
    if (LR_LACKS(NULL, sink)) {
        return 0;
    }
    real = sink->ops || !sink->like ? sink : sink->like;
    if (!real->ops) {
        return !real->first || !real->first->like || rec_sink_can_patch(real->first);
    }
    return real->ops->patch && (!real->ops->patches || real->ops->patches(real));
}

int32_t rec_sink_patch(rec_sink *sink, uint64_t offset, const void *data, uint64_t size)
{
    rec_job *job;
    if (LR_LACKS(NULL, sink) || (size && LR_LACKS(sink->job, data))) {
        return lr_breach_status(sink ? sink->job : NULL);
    }
    job = sink->job;
    if (lr_job_failed(job)) {
        return job->error.status;
    }
    if (sink->finished) {
        return lr_breach(job, REC_UNKNOWN, "wrote to a sink that it had closed");
    }
    if (offset > sink->written || size > sink->written - offset) {
        char from[32], many[32], have[32];
        return lr_breach(job, REC_UNKNOWN, "overwrote %s bytes from byte %s on, where only %s bytes were written",
                         lr_group_digits(size, many, sizeof many), lr_group_digits(offset, from, sizeof from),
                         lr_group_digits(sink->written, have, sizeof have));
    }
    if (!rec_sink_can_patch(sink)) {
        return lr_io_fail(job, sink->name, REC_E_UNSUPPORTED, offset, "Save it by the path of a regular file.",
                          "bytes written to a stream or to compressed output cannot be overwritten");
    }
    return sink->ops && size ? sink->ops->patch(sink, offset, data, size) : REC_OK;
}

int32_t lr_sink_reserve(rec_sink *sink, uint64_t size)
{
    if (lr_job_failed(sink->job)) {
        return sink->job->error.status;
    }
    sink->total = sink->whole = size;
    return sink->ops && sink->ops->reserve && size ? sink->ops->reserve(sink, size) : REC_OK;
}

int32_t lr_sink_expect(rec_sink *sink, const rec_sink *layout)
{
    if (layout->beside) {
        sink->whole = layout->all; /* which of it goes where shows only as the files are written */
        return sink->job->error.status;
    }
    return lr_sink_reserve(sink, layout->written);
}

uint64_t lr_sink_tell_all(const rec_sink *sink)
{
    return sink->all;
}

int32_t lr_sink_set_own_name(rec_sink *sink, const char *name)
{
    char *own = lr_strdup(sink->job->allocator, name);
    if (!own) {
        return lr_fail_memory(sink->job, strlen(name) + 1);
    }
    lr_release(sink->job->allocator, sink->own_name);
    sink->own_name = own;
    return REC_OK;
}

const char *rec_sink_name(const rec_sink *sink)
{
    return !LR_LACKS(NULL, sink) && sink->own_name ? sink->own_name : "";
}

uint64_t lr_sink_sibling_count(const rec_sink *sink)
{
    return sink->beside ? sink->beside->count : 0;
}

const rec_sink *lr_sink_sibling_at(const rec_sink *sink, uint64_t index)
{
    return sink->beside->sinks[index];
}

/* -------------------------------------------------------------------------------------------------- committing -- */

/* Some names are new and the rest are not: which, as far as there is room to say so. */
static void hint_placed(rec_sink *sink, uint64_t placed)
{
    const lr_sinks *beside = sink->beside;
    char names[512] = "";
    size_t used = 0;
    uint64_t i = 0;
    while (i < placed && used + strlen(rec_sink_name(beside->sinks[i])) + 3 < sizeof names) {
        const char *name = rec_sink_name(beside->sinks[i]);
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i++ ? ", " : "", name);
    }
    rec_fail_hint(sink->job, "Of the %llu files of the set, %llu are new (%s%s), the others unchanged: save again.",
                  (unsigned long long)beside->count + 1, (unsigned long long)placed, names, i < placed ? ", ..." : "");
}

/* A failure of either is the job's. */
static int32_t bring_out(rec_sink *sink)
{
    if (!lr_job_failed(sink->job) && !sink->finished) {
        sink->finished = true;
        if (sink->ops && sink->ops->finish) {
            (void)sink->ops->finish(sink);
        }
    }
    return sink->job->error.status;
}

static int32_t finish(rec_sink *sink)
{
    if (bring_out(sink) == REC_OK && !sink->secured) {
        sink->secured = true;
        if (sink->ops && sink->ops->secure) {
            (void)sink->ops->secure(sink);
        }
    }
    return sink->job->error.status;
}

/* All files are written before the first rename, and the main file is renamed last: an index that exists names complete
 * files. */
static void place_all(rec_sink *sink)
{
    uint64_t count = lr_sink_sibling_count(sink), placed = 0;
    if (!sink->ops || !sink->ops->place) {
        return;
    }
    while (placed < count && sink->ops->place(sink->beside->sinks[placed]) == REC_OK) {
        sink->job->placed = true;
        placed++;
    }
    if (placed == count && sink->ops->place(sink) == REC_OK) {
        sink->job->placed = true;
    }
    if (lr_job_failed(sink->job) && placed && !sink->beside->sinks[0]->fresh) {
        hint_placed(sink, placed);
    }
    if (!lr_job_failed(sink->job)) {
        /* All are in place: one that cannot be made to last is no reason to leave the others. */
        for (uint64_t i = 0; i < count; i++) {
            (void)sink->ops->settle(sink->beside->sinks[i]);
        }
        (void)sink->ops->settle(sink);
    }
}

int32_t lr_sink_end(rec_sink *sink)
{
    for (uint64_t i = 0; i < lr_sink_sibling_count(sink); i++) {
        (void)bring_out(sink->beside->sinks[i]);
    }
    return bring_out(sink);
}

rec_source *lr_sink_reopen(rec_sink *sink)
{
    return !lr_job_failed(sink->job) && sink->ops && sink->ops->reopen ? sink->ops->reopen(sink) : NULL;
}

rec_sink *lr_sink_named(rec_sink *first, const char *name)
{
    rec_sink *found = strcmp(rec_sink_name(first), name) == 0 ? first : NULL;
    for (uint64_t i = 0; !found && i < lr_sink_sibling_count(first); i++) {
        found = strcmp(rec_sink_name(first->beside->sinks[i]), name) == 0 ? first->beside->sinks[i] : NULL;
    }
    return found;
}

rec_source *lr_sink_reopen_beside(rec_sink *sink, const char *name, bool optional)
{
    rec_sink *found = lr_sink_named(sink, name);
    lr_excerpt brief;
    if (!found && !optional) {
        (void)lr_io_fail(sink->job, sink->name, REC_E_FORMAT, REC_UNKNOWN, NULL,
                         "the companion file was not written:  \"%s\"", lr_excerpt_text(&brief, name));
    }
    return found ? lr_sink_reopen(found) : NULL;
}

int32_t lr_sink_commit(rec_sink *sink)
{
    rec_job *job = sink->job;
    for (uint64_t i = 0; i < lr_sink_sibling_count(sink); i++) {
        (void)finish(sink->beside->sinks[i]);
    }
    /* If a mapped input was truncated, zeros may have been written. */
    if (finish(sink) == REC_OK && lr_watch_judge(job, true) == REC_OK) {
        place_all(sink);
    }
    lr_sink_free(sink);
    return job->error.status;
}

int32_t rec_sink_close(rec_sink *sink)
{
    if (!sink) {
        return REC_OK;
    }
    if (sink->first) {
        return finish(sink);
    }
    if (!sink->closable || sink->lent) {
        return lr_breach(sink->job, REC_UNKNOWN, "closed the sink passed to it, which the core closes");
    }
    if (sink->closed) {
        return lr_breach(sink->job, REC_UNKNOWN, "closed a sink twice");
    }
    if (sink->busy) {
        return lr_breach(sink->job, REC_UNKNOWN, "has a sink filter that closes itself");
    }
    return lr_sink_commit(sink);
}

/* ------------------------------------------------------------------------------------------------------ layout -- */

rec_sink *rec_sink_layout(rec_job *job)
{
    rec_sink *sink =
        !LR_LACKS(job, job) && lr_sink_may_make(job, __func__) ? lr_sink_new(job, NULL, sizeof *sink) : NULL;
    if (sink) {
        lr_sink_remember(sink);
    }
    return sink;
}

rec_sink *lr_sink_layout_of(rec_job *job, rec_sink *sink)
{
    rec_sink *layout = rec_sink_layout(job);
    if (layout) {
        layout->like = sink;
        if (sink->own_name && lr_sink_set_own_name(layout, sink->own_name) != REC_OK) {
            (void)rec_sink_close(layout);
            layout = NULL;
        }
    }
    return layout;
}
