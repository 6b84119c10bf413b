/* SPDX-License-Identifier: MIT OR Apache-2.0
 * A map of paths as nested maps, for writers of nested formats. The walk goes along a tree, so keys with a common
 * beginning follow one another: a map is opened for each level that the path before did not have, and closed where the
 * next path leaves it. A first walk counts the entries of these maps, which nested formats store before the entries. */
#include "burn/visit/event.h"

typedef struct levels {
    lr_listener listener;
    rec_job *job;
    rec_visitor to;
    void *self;
    uint64_t depth; /* containers that are open */
    bool flat;      /* the outermost one is a map of paths */
    char *path;     /* the last key, as far as maps are open for it: `open` levels */
    uint64_t used, room;
    uint64_t open;
    char *name; /* the name of a level, unescaped */
    uint64_t name_room;
    bool counting;    /* the first walk: the writer gets no events */
    uint64_t *counts; /* entries of each map, in the order in which maps begin */
    uint64_t maps, counts_room;
    uint64_t *inside; /* of the open maps, the outermost first: their places in `counts` */
    uint64_t inside_room;
} levels;

static rec_scalar name_of(levels *l, const char *text, uint64_t length)
{
    uint64_t used = rec_path_unescape(text, length, l->name, l->name_room);
    return (rec_scalar){.kind = REC_KIND_STRING, .text = l->name, .v.length = used};
}

/* The end of a path's first name: the dot after it, or the path's end. */
static uint64_t first_end(const char *path, uint64_t length)
{
    const char *dot = lr_path_dot(path, path + length);
    return dot ? (uint64_t)(dot - path) : length;
}

/* Bytes that a path has in common with the open maps, whole names with their dots. @param count (out) of names. */
static uint64_t common(const levels *l, const char *path, uint64_t length, uint64_t *count)
{
    uint64_t at = 0;
    *count = 0;
    while (*count < l->open) {
        uint64_t end = at + first_end(path + at, length - at);
        if (end >= length || end + 1 > l->used || memcmp(path + at, l->path + at, (size_t)(end + 1 - at)) != 0) {
            break;
        }
        at = end + 1;
        ++*count;
    }
    return at;
}

/* Begins the outermost map, or that of a level. */
static int32_t begin_map(levels *l, uint64_t at, uint64_t depth)
{
    if (!l->counting) {
        return l->to.map_begin(l->self, at, REC_FORM_MAP, l->counts[l->maps++]);
    }
    if (!lr_job_grow_counted(l->job, &l->counts, l->maps + 1, &l->counts_room, sizeof *l->counts) ||
        !lr_job_grow_counted(l->job, &l->inside, depth + 1, &l->inside_room, sizeof *l->inside)) {
        return l->job->error.status;
    }
    l->counts[l->maps] = 0;
    l->inside[depth] = l->maps++;
    return REC_OK;
}

/* A key of the outermost map, or of that of a level. */
static int32_t tell_key(levels *l, uint64_t at, const rec_scalar *name)
{
    if (l->counting) {
        l->counts[l->inside[l->open]]++;
        return REC_OK;
    }
    return l->to.key(l->self, at, name);
}

static int32_t close_to(levels *l, uint64_t count)
{
    int32_t status = REC_OK;
    for (; l->open > count && status == REC_OK; l->open--) {
        status = l->counting ? REC_OK : l->to.end(l->self, REC_UNKNOWN);
    }
    return status;
}

static int32_t keep_path(levels *l, const char *path, uint64_t length)
{
    if (!lr_job_grow_counted(l->job, &l->path, length + 1, &l->room, 1) ||
        !lr_job_grow_counted(l->job, &l->name, length + 1, &l->name_room, 1)) {
        return l->job->error.status;
    }
    memcpy(l->path, path, (size_t)length);
    l->used = length;
    return REC_OK;
}

/* A key of the map of paths. */
static int32_t on_path(levels *l, uint64_t at, const rec_scalar *key)
{
    const char *path = key->text;
    uint64_t length = key->v.length, count, from = common(l, path, length, &count);
    int32_t status = close_to(l, count);
    status = status == REC_OK ? keep_path(l, path, length) : status;
    while (status == REC_OK) {
        uint64_t end = from + first_end(path + from, length - from);
        rec_scalar name = name_of(l, path + from, end - from);
        status = tell_key(l, at, &name);
        if (end >= length || status != REC_OK) {
            break;
        }
        status = begin_map(l, at, ++l->open);
        from = end + 1;
    }
    l->used = from; /* of maps alone: a value is no level */
    return status;
}

static int32_t on_event(lr_listener *self, const lr_event *event)
{
    levels *l = (levels *)self;
    int32_t status = REC_OK;
    if (event->kind == LR_EVENT_KEY && l->flat && l->depth == 1) {
        return on_path(l, event->at, event->key);
    }
    if (event->kind == LR_EVENT_MAP && l->depth == 0 && event->form == REC_FORM_PATHS) {
        l->depth = 1;
        l->flat = true;
        return begin_map(l, event->at, 0);
    }
    if (event->kind == LR_EVENT_END) {
        status = --l->depth == 0 && l->flat ? close_to(l, 0) : REC_OK;
    }
    l->depth += event->kind == LR_EVENT_MAP || event->kind == LR_EVENT_LIST || event->kind == LR_EVENT_VARIANT;
    return status == REC_OK && !l->counting ? lr_event_send(&l->to, l->self, event) : status;
}

/* One of the two walks. */
static int32_t walk(levels *l, const rec_visitor *visitor, bool counting)
{
    l->counting = counting;
    l->depth = l->used = l->open = l->maps = 0;
    l->flat = false;
    return rec_job_walk(l->job, visitor, &l->listener);
}

int32_t rec_job_walk_levels(rec_job *job, const rec_visitor *visitor, void *self)
{
    levels l = {.listener.event = on_event, .job = job, .self = self};
    rec_visitor all;
    int32_t status;
    if (LR_LACKS(job, job) || LR_LACKS(job, visitor) ||
        !lr_size_check(job, "a visitor", visitor->size, offsetof(rec_visitor, metadata_value))) {
        return lr_breach_status(job);
    }
    memcpy(&l.to, visitor, visitor->size < sizeof l.to ? visitor->size : sizeof l.to);
    all = lr_listener_like(&l.to); /* what a writer leaves to the core is left to it here too */
    status = walk(&l, &lr_listener_visitor, true);
    status = status == REC_OK ? walk(&l, &all, false) : status;
    rec_job_free(job, l.path);
    rec_job_free(job, l.name);
    rec_job_free(job, l.counts);
    rec_job_free(job, l.inside);
    return status;
}
