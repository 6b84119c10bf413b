/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Parts of a model that did not change while others did: layers that were frozen. */
#include <stdlib.h>
#include <string.h>

#include "tools/diff/diff_private.h"

/* A tensor. */
typedef struct level {
    const char *key;
    bool changed;
    uint64_t elements;
} level;

static int by_key(const void *a, const void *b)
{
    return strcmp(((const level *)a)->key, ((const level *)b)->key);
}

/* @return the tensors in the order of their keys, with their results. */
static level *list_tensors(const comparison *c, size_t *count)
{
    size_t room = c->sides[SIDE_A].tensors.count + c->sides[SIDE_B].tensors.count;
    level *levels = xmalloc(room * sizeof *levels);

    *count = 0;
    for (size_t i = 0; i < c->pair_count; i++) {
        const pair *p = &c->pairs[i];
        const char *key = tool_diff_key(c, p);
        levels[(*count)++] =
            (level){key, p->verdict != PAIR_EQUAL || p->renamed, rec_tensor_count(p->of[SIDE_A]->tensor)};
    }
    for (int which = 0; which < SIDES; which++) {
        for (size_t i = 0; i < c->sides[which].tensors.count; i++) {
            const item *it = c->sides[which].tensors.at[i];
            if (!it->twin) {
                levels[(*count)++] = (level){it->key, true, 0};
            }
        }
    }
    qsort(levels, *count, sizeof *levels, by_key);
    return levels;
}

static void add(frozen *f, const level *l, size_t length, size_t tensors, uint64_t elements, bool changed)
{
    f->at = tool_grown(f->at, f->count, sizeof *f->at);
    f->at[f->count++] = (struct frozen_part){xasprintf("%.*s", (int)length, l->key), tensors, elements, changed};
}

/* Finds the unchanged modules among `count` tensors whose keys share the first `at` bytes. Tensors that share the next
 * part are adjacent, except for the few names that extend it with a character below '.': `a`, `a-b`, `a.c`. */
static void find(frozen *f, const level *levels, size_t count, size_t at, unsigned depth, bool told)
{
    enum { DEEPEST = 64, LONGEST = 4096 }; /* keys of strangers may be nothing but dots */

    for (size_t i = 0, end; i < count; i = end) {
        size_t length = at + tool_level_length(levels[i].key + at), changed = 0;
        uint64_t elements = 0;
        for (end = i; end < count && at + tool_level_length(levels[end].key + at) == length &&
                      memcmp(levels[end].key + at, levels[i].key + at, length - at) == 0;
             end++) {
            changed += levels[end].changed;
            elements += levels[end].elements;
        }
        /* Below a listed module names are kept, to distinguish the names of other layers. */
        add(f, &levels[i], length, end - i, elements, told || changed);
        if (levels[i].key[length] && depth < DEEPEST && length < LONGEST) {
            find(f, &levels[i], end - i, length + 1, depth + 1, told || !changed);
        }
    }
}

void tool_diff_frozen(const comparison *c, frozen *f)
{
    size_t count, changed = 0;
    level *levels = list_tensors(c, &count);

    *f = (frozen){0};
    for (size_t i = 0; i < count; i++) {
        changed += levels[i].changed;
    }
    if (changed && changed < count) {
        find(f, levels, count, 0, 0, false);
    }
    free(levels);
}

void tool_diff_frozen_free(frozen *f)
{
    for (size_t i = 0; i < f->count; i++) {
        free(f->at[i].key);
    }
    free(f->at);
}
