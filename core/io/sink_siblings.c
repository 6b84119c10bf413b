/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Saves models of several files: companion sinks and the names that they may have. */
#include <stdio.h>
#include <string.h>

#include "core/io/io_private.h"

/* More files are hardly meant; each name is compared with all others. */
enum { BESIDE_MOST = 10000 };

/* A counting sink can have companion files if its target can. */
static bool can_have_others(const rec_sink *sink)
{
    if (!sink->ops) {
        return !sink->like || can_have_others(sink->like);
    }
    return sink->ops->beside && sink->own_name;
}

static int32_t check_can(rec_sink *sink)
{
    if (lr_job_failed(sink->job)) {
        return sink->job->error.status;
    }
    if (sink->finished) {
        return lr_breach(sink->job, REC_UNKNOWN, "used a sink after closing it");
    }
    return can_have_others(sink) ? REC_OK
                                 : lr_io_fail(sink->job, sink->name, REC_E_UNSUPPORTED, REC_UNKNOWN,
                                              "Save it by the path of a file, or in one file: memory, streams and "
                                              "compressed output have no directory.",
                                              "a model in several files cannot be saved here");
}

/* The name must be good and free. */
static int32_t check_name(rec_sink *first, const char *name)
{
    lr_excerpt brief;
    int32_t status = lr_check_own_name(first->job, first->name, REC_E_ARGUMENT, name);
    if (status == REC_OK && lr_sink_named(first, name)) {
        status = lr_io_fail(first->job, first->name, REC_E_ARGUMENT, REC_UNKNOWN, NULL,
                            "two of its files would have the name \"%s\"", lr_excerpt_text(&brief, name));
    }
    return status;
}

static int32_t make_room(rec_sink *first)
{
    if (!first->beside) {
        first->beside = lr_zalloc(first->job->allocator, sizeof *first->beside);
        if (!first->beside) {
            return lr_fail_memory(first->job, sizeof *first->beside);
        }
    }
    if (first->beside->count == BESIDE_MOST) {
        return lr_io_fail(first->job, first->name, REC_E_LIMIT, REC_UNKNOWN, "Make each of its files larger.",
                          "a model cannot be saved in more than %d files", BESIDE_MOST + 1);
    }
    return lr_job_grow(first->job, (void *)&first->beside->sinks, first->beside->count + 1, &first->beside->room,
                       sizeof(rec_sink *))
               ? REC_OK
               : first->job->error.status;
}

static rec_sink *count_beside(rec_sink *first, const char *name)
{
    rec_sink *sink = lr_sink_new(first->job, NULL, sizeof *sink);
    if (sink && lr_sink_set_own_name(sink, name) != REC_OK) {
        lr_sink_free(sink);
        sink = NULL;
    }
    return sink;
}

/* @param first one that can have others. */
static int32_t add_beside(rec_sink *first, const char *name, bool fresh, rec_sink **out)
{
    rec_job *job = first->job;
    rec_sink *beside = NULL;
    int32_t status = check_name(first, name);
    if (status == REC_OK) {
        status = make_room(first);
    }
    if (status == REC_OK) {
        beside = first->ops ? first->ops->beside(first, name, fresh) : count_beside(first, name);
        status = job->error.status;
    }
    if (beside) {
        beside->first = first;
        first->beside->sinks[first->beside->count++] = beside;
        *out = beside;
    }
    return status;
}

int32_t rec_sink_beside(rec_job *job, rec_sink *sink, const char *name, rec_sink **out)
{
    rec_sink *first;
    int32_t status;
    if (LR_LACKS(job, job) || LR_LACKS(job, sink) || LR_LACKS(job, name) || LR_LACKS(job, out)) {
        return lr_breach_status(job);
    }
    first = sink->first ? sink->first : sink;
    *out = NULL;
    status = check_can(first);
    return status == REC_OK ? add_beside(first, name, false, out) : status;
}

/* What counts for a file asks that, so that names are as long in the first walk as in the last. */
static int32_t find_letters(rec_sink *first, const char *stem, const char *tail, const char **letters)
{
    rec_sink *real = first;
    *letters = "";
    while (!real->ops && real->like) {
        real = real->like;
    }
    return real->ops ? real->ops->letters(real, rec_sink_name(first), stem, tail, real == first, letters) : REC_OK;
}

int32_t rec_sink_part(rec_job *job, rec_sink *sink, const char *stem, const char *tail, rec_sink **out)
{
    rec_sink *first;
    const char *letters;
    char *name = NULL;
    int32_t status;
    if (LR_LACKS(job, job) || LR_LACKS(job, sink) || LR_LACKS(job, stem) || LR_LACKS(job, tail) || LR_LACKS(job, out)) {
        return lr_breach_status(job);
    }
    first = sink->first ? sink->first : sink;
    *out = NULL;
    status = check_can(first);
    if (status == REC_OK) {
        status = find_letters(first, stem, tail, &letters);
    }
    if (status == REC_OK) {
        uint64_t size = strlen(stem) + strlen(letters) + strlen(tail) + 3;
        name = lr_alloc(job->allocator, size);
        if (name) {
            (void)snprintf(name, (size_t)size, "%s-%s%s%s", stem, letters, *letters ? "-" : "", tail);
            status = add_beside(first, name, true, out);
        } else {
            status = lr_fail_memory(job, size);
        }
    }
    lr_release(job->allocator, name);
    return status;
}

int32_t rec_sink_rename(rec_job *job, rec_sink *sink, const char *name)
{
    int32_t status;
    if (LR_LACKS(job, job) || LR_LACKS(job, sink) || LR_LACKS(job, name)) {
        return lr_breach_status(job);
    }
    status = check_can(sink);
    if (status == REC_OK && (sink->first || sink->written || sink->beside)) {
        status = lr_breach(job, REC_UNKNOWN, "renamed a sink other than its first, or after something was written");
    }
    if (status == REC_OK) {
        status = lr_check_own_name(job, sink->name, REC_E_ARGUMENT, name);
    }
    if (status == REC_OK && strcmp(rec_sink_name(sink), name) != 0) {
        if (sink->ops) {
            status = sink->ops->rename(sink, name);
        }
        if (status == REC_OK) {
            status = lr_sink_set_own_name(sink, name);
        }
    }
    return status;
}
