/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Models in several files, saved: sinks beside a sink. All of them are written before the first gets its name, and the
 * one that is saved gets its own last, so that whoever finds an index finds what it speaks of. */
#include <string.h>

#include "core/io/io_private.h"
#include "core/base/text.h"

/* More files are hardly meant; each name is compared with all others. */
enum { BESIDE_MOST = 10000 };

struct lr_sinks {
    rec_sink **sinks;
    uint64_t count, room;
};

uint64_t lr_sink_beside_count(const rec_sink *sink)
{
    return sink->beside ? sink->beside->count : 0;
}

const rec_sink *lr_sink_beside_at(const rec_sink *sink, uint64_t index)
{
    return sink->beside->sinks[index];
}

void lr_sinks_free(rec_sink *sink)
{
    struct lr_sinks *beside = sink->beside;
    if (beside) {
        for (uint64_t i = 0; i < beside->count; i++) {
            lr_sink_free(beside->sinks[i]);
        }
        lr_release(sink->job->allocator, (void *)beside->sinks);
        lr_release(sink->job->allocator, beside);
        sink->beside = NULL;
    }
}

/* ---------------------------------------------------------------------------------------------------- committing -- */

/* Some names are new and the rest are not: which, as far as there is room to say so. */
static void hint_placed(rec_sink *sink, uint64_t placed)
{
    const struct lr_sinks *beside = sink->beside;
    char names[512] = "";
    size_t used = 0;
    uint64_t i = 0;
    while (i < placed && used + strlen(rec_sink_name(beside->sinks[i])) + 3 < sizeof names) {
        const char *name = rec_sink_name(beside->sinks[i]);
        if (i) {
            memcpy(names + used, ", ", 2);
            used += 2;
        }
        memcpy(names + used, name, strlen(name) + 1);
        used += strlen(name);
        i++;
    }
    rec_fail_hint(sink->job,
                  "Of the %llu files that belong together %llu are new already (%s%s), the others are as they were: "
                  "save again.",
                  (unsigned long long)beside->count + 1, (unsigned long long)placed, names, i < placed ? ", ..." : "");
}

int32_t lr_sink_finish(rec_sink *sink)
{
    if (!lr_job_failed(sink->job) && !sink->finished) {
        sink->finished = true;
        if (sink->ops && sink->ops->finish) {
            (void)sink->ops->finish(sink); /* a failure is the job's */
        }
    }
    return sink->job->error.status;
}

static void place_all(rec_sink *sink)
{
    uint64_t count = lr_sink_beside_count(sink), placed = 0;
    if (!sink->ops || !sink->ops->place) {
        return;
    }
    while (placed < count && sink->ops->place(sink->beside->sinks[placed]) == REC_OK) {
        placed++;
    }
    if (placed == count) {
        (void)sink->ops->place(sink);
    }
    if (lr_job_failed(sink->job) && placed) {
        hint_placed(sink, placed);
    }
    for (uint64_t i = 0; i < count && !lr_job_failed(sink->job); i++) {
        (void)sink->ops->settle(sink->beside->sinks[i]);
    }
    if (!lr_job_failed(sink->job)) {
        (void)sink->ops->settle(sink);
    }
}

int32_t lr_sink_commit(rec_sink *sink)
{
    rec_job *job = sink->job;
    for (uint64_t i = 0; i < lr_sink_beside_count(sink); i++) {
        (void)lr_sink_finish(sink->beside->sinks[i]);
    }
    if (lr_sink_finish(sink) == REC_OK) {
        place_all(sink);
    }
    lr_sink_free(sink);
    return job->error.status;
}

/* -------------------------------------------------------------------------------------------------- another file -- */

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
    return sink->own_name ? sink->own_name : "";
}

/* What counts can have others beside it if that which it counts for can. */
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
    return can_have_others(sink)
               ? REC_OK
               : lr_io_fail(sink->job, sink->name, REC_E_UNSUPPORTED, REC_UNKNOWN,
                            "Save it by the path of a file, or in one file: what is saved to memory, to a stream or "
                            "compressed has no folder.",
                            "a model in several files cannot be saved here");
}

/* The name must be good and free. */
static int32_t check_name(rec_sink *first, const char *name)
{
    lr_brief brief;
    uint64_t count = lr_sink_beside_count(first);
    bool twice = strcmp(rec_sink_name(first), name) == 0;
    int32_t status = lr_check_own_name(first->job, first->name, REC_E_ARGUMENT, name);
    for (uint64_t i = 0; i < count && !twice; i++) {
        twice = strcmp(rec_sink_name(first->beside->sinks[i]), name) == 0;
    }
    if (status == REC_OK && twice) {
        status = lr_io_fail(first->job, first->name, REC_E_ARGUMENT, REC_UNKNOWN, NULL,
                            "two of its files would have the name \"%s\"", lr_brief_text(&brief, name));
    }
    return status;
}

static int32_t make_room(rec_sink *first)
{
    const lr_allocator *allocator = first->job->allocator;
    if (!first->beside) {
        first->beside = lr_zalloc(allocator, sizeof *first->beside);
        if (!first->beside) {
            return lr_fail_memory(first->job, sizeof *first->beside);
        }
    }
    if (first->beside->count == BESIDE_MOST) {
        return lr_io_fail(first->job, first->name, REC_E_LIMIT, REC_UNKNOWN, "Make each of its files larger.",
                          "a model cannot be saved in more than %d files", BESIDE_MOST + 1);
    }
    if (first->beside->count == first->beside->room) {
        uint64_t room = first->beside->room ? first->beside->room * 2 : 8;
        rec_sink **sinks = lr_resize(allocator, (void *)first->beside->sinks, room * sizeof *sinks);
        if (!sinks) {
            return lr_fail_memory(first->job, room * sizeof *sinks);
        }
        first->beside->sinks = sinks;
        first->beside->room = room;
    }
    return REC_OK;
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

int32_t rec_sink_beside(rec_job *job, rec_sink *sink, const char *name, rec_sink **out)
{
    rec_sink *first = sink->first ? sink->first : sink;
    rec_sink *beside = NULL;
    int32_t status = check_can(first);
    *out = NULL;
    if (status == REC_OK) {
        status = check_name(first, name);
    }
    if (status == REC_OK) {
        status = make_room(first);
    }
    if (status == REC_OK) {
        beside = first->ops ? first->ops->beside(first, name) : count_beside(first, name);
        status = job->error.status;
    }
    if (beside) {
        beside->first = first;
        first->beside->sinks[first->beside->count++] = beside;
        *out = beside;
    }
    return status;
}

int32_t rec_sink_rename(rec_job *job, rec_sink *sink, const char *name)
{
    int32_t status = check_can(sink);
    if (status == REC_OK && (sink->first || sink->written || sink->beside)) {
        status = rec_fail(job, REC_E_PLUGIN, REC_UNKNOWN,
                          "a plugin renamed a sink other than its first, or after something was written");
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
