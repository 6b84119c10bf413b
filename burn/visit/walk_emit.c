/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The walk's events, or what a writer that lacks one gets instead; and the path where the walk is. */
#include "burn/visit/walk_private.h"

#include <inttypes.h>
#include <stdio.h>

int32_t lr_walk_scalar(lr_walk *w, const rec_scalar *scalar)
{
    if (scalar->kind != REC_KIND_NIL) {
        lr_walk_hold(w);
    }
    return w->visitor.scalar(w->self, REC_UNKNOWN, scalar);
}

int32_t lr_walk_text(lr_walk *w, const char *text, uint64_t length)
{
    rec_scalar scalar = {.kind = REC_KIND_STRING, .v = {.length = length}, .text = text};
    return lr_walk_scalar(w, &scalar);
}

int32_t lr_walk_key(lr_walk *w, const char *name)
{
    rec_scalar key = {.kind = REC_KIND_STRING, .v = {.length = strlen(name)}, .text = name};
    return w->visitor.key(w->self, REC_UNKNOWN, &key);
}

/* ---------------------------------------------------------------------------------- what lists and maps lose -- */

void lr_walk_hold(lr_walk *w)
{
    for (unsigned i = 0; w->held && i < w->depth; i++) {
        w->held[i].next = w->held[i].index + 1;
    }
}

/* Says what the list or map that ends loses. A type says which structs are empty and how long arrays are. */
static void tell_lost(lr_walk *w)
{
    const lr_held *held = &w->held[w->depth - 1];
    const char *writer = w->job->plugin->name;
    char words[64];
    if (w->depth > 1 && held->keys && held->keys == held->numbers) {
        lr_walk_tell(w, REC_NOTE_LAYOUT, 1, "a map",
                     "keys that are numbers may be read back as a list, as %s has names alone", writer);
    } else if (w->depth == 1 && held->list && held->next && !lr_job_typed(w->job)) {
        lr_walk_tell(w, REC_NOTE_LAYOUT, 1, "a list",
                     "the record itself: read back as a map of numbers, as %s has names alone", writer);
    }
    if (held->count == 0 && w->depth > 1 && (held->list || !lr_job_typed(w->job))) {
        lr_walk_tell(w, REC_NOTE_DROPPED, 1, held->list ? "a list" : "a map",
                     "empty values are left out: %s holds only tensors", writer);
    } else if (held->list && held->next < held->count) {
        (void)snprintf(words, sizeof words, "%" PRIu64 " of %" PRIu64, held->count - held->next, held->count);
        lr_walk_tell(w, REC_NOTE_DROPPED, held->count - held->next, words,
                     "elements at the end of a list that hold no tensors are left out: %s holds only tensors", writer);
    }
}

static int32_t deeper(lr_walk *w, bool list, uint64_t count)
{
    if (w->depth >= w->job->limits.depth) {
        return rec_fail(w->job, REC_E_LIMIT, REC_UNKNOWN, "lists and maps are nested deeper than %u levels",
                        (unsigned)w->job->limits.depth);
    }
    w->depth++;
    if (w->held) {
        w->held[w->depth - 1] = (lr_held){.list = list, .count = count};
    }
    return REC_OK;
}

int32_t lr_walk_list(lr_walk *w, int32_t form, uint64_t count)
{
    int32_t status = deeper(w, form != REC_FORM_ARRAY && form != REC_FORM_TUPLE, count);
    return status == REC_OK ? w->visitor.list_begin(w->self, REC_UNKNOWN, form, count) : status;
}

int32_t lr_walk_map(lr_walk *w, int32_t form, uint64_t count)
{
    int32_t status = deeper(w, false, count);
    return status == REC_OK ? w->visitor.map_begin(w->self, REC_UNKNOWN, form, count) : status;
}

int32_t lr_walk_end(lr_walk *w)
{
    if (w->held && !w->aside) {
        tell_lost(w);
    }
    w->depth--;
    return w->visitor.end(w->self, REC_UNKNOWN);
}

int32_t lr_walk_option(lr_walk *w, bool present)
{
    if (w->visitor.option) {
        return w->visitor.option(w->self, REC_UNKNOWN, present);
    }
    return present ? REC_OK : lr_walk_scalar(w, &(rec_scalar){.kind = REC_KIND_NIL, .form = REC_FORM_NONE});
}

int32_t lr_walk_variant(lr_walk *w, uint64_t index, const char *name, uint64_t length, bool payload)
{
    rec_scalar text = {.kind = REC_KIND_STRING, .v = {.length = length}, .text = name};
    int32_t status;
    if (w->visitor.variant_begin) {
        status = deeper(w, false, 1);
        return status == REC_OK ? w->visitor.variant_begin(w->self, REC_UNKNOWN, index, &text, payload) : status;
    }
    if (!payload) {
        return lr_walk_scalar(w, &text);
    }
    status = lr_walk_map(w, REC_FORM_MAP, 1);
    return status == REC_OK ? w->visitor.key(w->self, REC_UNKNOWN, &text) : status;
}

/* Without a payload only a writer that knows variants has begun one. */
int32_t lr_walk_variant_end(lr_walk *w, bool payload)
{
    return payload || w->visitor.variant_begin ? lr_walk_end(w) : REC_OK;
}

int32_t lr_walk_numbers(lr_walk *w, rec_dtype dtype, const void *data, uint64_t count)
{
    const uint8_t *from = data;
    uint32_t width = rec_dtype_bits(dtype) / 8;
    int32_t status = REC_OK;
    if (w->held && w->depth && count) {
        lr_walk_hold(w);
        w->held[w->depth - 1].next = w->held[w->depth - 1].count;
    }
    if (w->visitor.numbers) {
        return count ? w->visitor.numbers(w->self, REC_UNKNOWN, dtype, data, count) : REC_OK;
    }
    for (uint64_t i = 0; i < count && status == REC_OK; i++) {
        rec_scalar number = lr_host_element(dtype, from + i * width);
        status = lr_walk_scalar(w, &number);
    }
    return status;
}

enum { TILE = 64 * 1024 };

int32_t lr_walk_bytes(lr_walk *w, const rec_blob *blob)
{
    uint8_t *tile;
    int32_t status;
    lr_walk_hold(w);
    if (w->visitor.bytes) {
        return w->visitor.bytes(w->self, REC_UNKNOWN, blob);
    }
    tile = rec_job_alloc(w->job, TILE);
    if (!tile) {
        return w->job->error.status;
    }
    status = lr_walk_list(w, REC_FORM_LIST, blob->length);
    for (uint64_t done = 0; done < blob->length && status == REC_OK;) {
        uint64_t n = blob->length - done < TILE ? blob->length - done : TILE;
        status = rec_blob_read(w->job, blob, done, tile, n);
        if (status == REC_OK) {
            status = lr_walk_numbers(w, REC_DTYPE_U8, tile, n);
        }
        done += n;
    }
    if (status == REC_OK) {
        status = lr_walk_end(w);
    }
    rec_job_free(w->job, tile);
    return status;
}

/* ------------------------------------------------------------------------------------------------------- paths -- */

/* Room for `more` bytes. Without memory the job has failed, which ends the walk. */
static void make_room(lr_walk *w, uint64_t more)
{
    uint64_t room = w->path_room;
    char *path = NULL;
    if (w->used + more < room) {
        return;
    }
    while (room <= w->used + more) {
        room *= 2;
    }
    path = lr_alloc(w->job->allocator, room);
    if (!path) {
        (void)lr_fail_memory(w->job, room);
        return;
    }
    memcpy(path, w->path, (size_t)w->path_room);
    if (w->path != w->near) {
        lr_release(w->job->allocator, w->path);
    }
    w->path = path;
    w->path_room = room;
}

/* Returns the state of the path, to return to it: its length, and whether it has a name, which may be empty. */
static size_t mark(const lr_walk *w)
{
    return w->used * 2 + w->named;
}

size_t lr_walk_enter_index(lr_walk *w, uint64_t index)
{
    size_t before = mark(w);
    make_room(w, 24);
    if (w->held && w->depth) {
        w->held[w->depth - 1].index = index;
    }
    w->used = lr_path_append_index(w->path, (size_t)w->path_room, w->used, !w->named, index);
    w->named = true;
    return before;
}

/* What a name means once it is part of a path. */
static void watch_key(lr_walk *w, const rec_value *key)
{
    lr_held *held = &w->held[w->depth - 1];
    const char *text = key->kind == REC_KIND_STRING ? key->v.text : "0";
    uint64_t length = key->kind == REC_KIND_STRING ? key->length : 1;
    if (!length && w->flat && w->depth == 1 && held->count == 1) {
        lr_walk_tell(w, REC_NOTE_LAYOUT, 1, "a map", "its only name is empty: read back as a tensor alone");
    }
    held->keys++;
    held->numbers += length && strspn(text, "0123456789") == length && (text[0] != '0' || length == 1);
    if (key->kind == REC_KIND_STRING && memchr(text, '.', length) && !w->record->dotted) {
        lr_excerpt brief;
        lr_walk_tell(w, REC_NOTE_LAYOUT, 1, lr_excerpt_text(&brief, text),
                     "a dot in a name may be read back as a level, as %s has paths alone", w->job->plugin->name);
    }
}

size_t lr_walk_enter_key(lr_walk *w, const rec_value *key)
{
    size_t before = mark(w);
    if (w->held && w->depth && !w->aside) {
        watch_key(w, key);
    }
    make_room(w, key->kind == REC_KIND_STRING ? 2 * (uint64_t)key->length + 2 : 24);
    w->used = lr_path_append_key(w->path, (size_t)w->path_room, w->used, !w->named, key);
    w->named = true;
    return before;
}

size_t lr_walk_enter_path(lr_walk *w, const char *path, uint64_t length)
{
    size_t before = mark(w), end = w->used + (size_t)length;
    make_room(w, length + 2);
    if (end < w->path_room) {
        memcpy(w->path + w->used, path, (size_t)length);
        w->path[end] = '\0';
    }
    w->used = end;
    w->named = true;
    return before;
}

void lr_walk_leave(lr_walk *w, size_t before)
{
    w->used = before / 2;
    w->named = before % 2;
    if (w->used < w->path_room) {
        w->path[w->used] = '\0';
    }
}

uint64_t lr_walk_where(void *user, char *path, size_t room)
{
    const lr_walk *w = user;
    size_t size = w->used < room ? w->used : room - (room > 0);
    if (room) {
        memcpy(path, w->path, size);
        path[size] = '\0';
    }
    return w->used;
}
