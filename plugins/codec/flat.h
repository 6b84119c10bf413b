/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Names in a file that has tensors and no tree: the keys and numbers on the way to a tensor, joined with dots. */
#ifndef LR_CODEC_FLAT_H
#define LR_CODEC_FLAT_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/names.h"
#include "plugins/codec/buffer.h"

/** A list or map that is open. */
typedef struct lr_flat_level {
    uint64_t before; /**< length of the path to it */
    uint64_t next;   /**< number of the list's next item */
    bool list;
    bool told; /**< the writer's */
} lr_flat_level;

typedef struct lr_flat {
    lr_buffer path; /**< of the value that comes next */
    lr_flat_level *levels;
    uint64_t depth, room;
    bool paths; /**< the root's keys are paths */
} lr_flat;

/** Adds the name of what comes next in the innermost list or map. */
static inline int32_t lr_flat_name(lr_flat *f, const char *name, uint64_t length)
{
    lr_buffer *b = &f->path;
    b->size = f->levels[f->depth - 1].before;
    lr_put(b, ".", f->depth > 1);
    lr_put(b, name, length);
    return b->status;
}

/** A value comes next: an item of a list is named by its number. */
static inline int32_t lr_flat_value(lr_flat *f)
{
    lr_flat_level *level = f->depth ? &f->levels[f->depth - 1] : NULL;
    char digits[24];
    return level && level->list
               ? lr_flat_name(f, digits, (uint64_t)snprintf(digits, sizeof digits, "%" PRIu64, level->next++))
               : REC_OK;
}

/** A map's key. Of a path the name has no escapes. */
static inline int32_t lr_flat_key(lr_flat *f, const rec_scalar *key)
{
    lr_buffer *b = &f->path;
    char digits[24];
    switch (key->kind) {
    case REC_KIND_STRING:
        if (f->paths && f->depth == 1) {
            b->size = 0;
            lr_put_unescaped(b, key->text, key->v.length);
            return b->status;
        }
        return lr_flat_name(f, key->text, key->v.length);
    case REC_KIND_BOOL:
        return lr_flat_name(f, key->v.i ? "true" : "false", key->v.i ? 4 : 5);
    case REC_KIND_INT:
        return lr_flat_name(f, digits, (uint64_t)snprintf(digits, sizeof digits, "%" PRId64, key->v.i));
    default:
        return lr_flat_name(f, digits, (uint64_t)snprintf(digits, sizeof digits, "%" PRIu64, key->v.u));
    }
}

/** A list or map begins. */
static inline int32_t lr_flat_begin(lr_flat *f, bool list)
{
    int32_t status = lr_flat_value(f);
    status =
        status == REC_OK ? lr_codec_grow(f->path.job, &f->levels, f->depth + 1, &f->room, sizeof *f->levels) : status;
    if (status == REC_OK) {
        f->levels[f->depth++] = (lr_flat_level){.before = f->path.size, .list = list};
    }
    return status;
}

static inline void lr_flat_end(lr_flat *f)
{
    f->path.size = f->levels[--f->depth].before;
}

static inline void lr_flat_free(lr_flat *f)
{
    rec_job_free(f->path.job, f->levels);
    rec_job_free(f->path.job, f->path.data);
}

/** The place of a name in a buffer. */
typedef struct lr_flat_place {
    uint64_t at, length;
} lr_flat_place;

/** A name, which need not end in NUL. */
typedef struct lr_flat_text {
    const char *text;
    uint64_t length;
} lr_flat_text;

static inline int lr_flat_by_text(const void *a, const void *b)
{
    const lr_flat_text *x = a, *y = b;
    return lr_text_order(x->text, x->length, y->text, y->length);
}

/** Finds a name that two tensors have: of a field `b` in `a`, and of a field `a.b`. @param twice (out) its text, NULL:
 * all differ. */
static inline int32_t lr_flat_twice(rec_job *job, const char *text, const lr_flat_place *places, uint64_t count,
                                    lr_flat_text *twice)
{
    lr_flat_text *names = rec_job_alloc(job, (count + 1) * sizeof *names);
    *twice = (lr_flat_text){0};
    if (!names) {
        return rec_fail(job, REC_E_MEMORY, REC_UNKNOWN, "out of memory for %" PRIu64 " names", count);
    }
    for (uint64_t i = 0; i < count; i++) {
        names[i] = (lr_flat_text){text + places[i].at, places[i].length};
    }
    if (count) {
        qsort(names, (size_t)count, sizeof *names, lr_flat_by_text);
    }
    for (uint64_t i = 1; i < count && !twice->text; i++) {
        if (lr_flat_by_text(&names[i - 1], &names[i]) == 0) {
            *twice = names[i];
        }
    }
    rec_job_free(job, names);
    return REC_OK;
}

#endif
