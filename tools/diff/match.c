/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Which tensors and values of two records belong together: those of one name, or of one id, or of one position; and
 * which of them are selected. */
#include <stdlib.h>
#include <string.h>

#include "tools/diff/diff_private.h"

/* An item by what it goes by: its key, or the word of its id. */
typedef struct named {
    const char *word;
    char *made; /* the same, if it was made here */
    item *it;
} named;

static int by_word(const void *a, const void *b)
{
    return strcmp(((const named *)a)->word, ((const named *)b)->word);
}

static named name_of(item *it, int match)
{
    char *made = match == MATCH_ID ? tool_diff_id_word(it) : NULL;

    return (named){made ? made : it->key, made, it};
}

static void pair_up(item *a, item *b)
{
    a->twin = b;
    b->twin = a;
}

static void bring_together(const items *a, const items *b, int match)
{
    void *known = NULL;
    named *all;

    if (match == MATCH_POSITION) {
        for (size_t i = 0; i < a->count && i < b->count; i++) {
            pair_up(a->at[i], b->at[i]);
        }
        return;
    }
    all = xmalloc((b->count + 1) * sizeof *all);
    /* Of several that go by the same word the first one counts: ids may repeat. */
    for (size_t i = 0; i < b->count; i++) {
        all[i] = name_of(b->at[i], match);
        (void)tool_known_add(&known, &all[i], by_word);
    }
    for (size_t i = 0; i < a->count; i++) {
        named own = name_of(a->at[i], match);
        const named *twin = tool_known_find(&known, &own, by_word);
        if (twin && !twin->it->twin) {
            pair_up(a->at[i], twin->it);
        }
        free(own.made);
    }
    tool_known_free(&known, by_word);
    for (size_t i = 0; i < b->count; i++) {
        free(all[i].made);
    }
    free(all);
}

/* @return how many tensors must move for both sides to have one order: all except the longest increasing run. */
static size_t count_moved(const comparison *c)
{
    size_t *ends = xmalloc(c->pair_count * sizeof *ends), length = 0, paired = 0;

    for (size_t i = 0; i < c->pair_count; i++) {
        size_t low = 0, high = length, twin = c->pairs[i].of[SIDE_B]->place;
        if (c->pairs[i].renamed) {
            continue;
        }
        paired++;
        while (low < high) {
            size_t middle = low + (high - low) / 2;
            if (ends[middle] < twin) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        ends[low] = twin;
        length += low == length;
    }
    free(ends);
    return paired - length;
}

void tool_diff_match(comparison *c, int match)
{
    side *a = &c->sides[SIDE_A], *b = &c->sides[SIDE_B];

    bring_together(&a->tensors, &b->tensors, match);
    c->pairs = xmalloc(a->tensors.count * sizeof *c->pairs);
    for (size_t i = 0; i < a->tensors.count; i++) {
        const item *it = a->tensors.at[i];
        if (it->twin) {
            c->pairs[c->pair_count++] = (pair){.of = {it, it->twin}};
        }
    }
    c->moved = count_moved(c);
    /* What a file without names has besides its parameters cannot be found in it. */
    if (!a->by_position && !b->by_position) {
        bring_together(&a->values, &b->values, match == MATCH_ID ? MATCH_ID : MATCH_NAME);
    }
}

/* ------------------------------------------------------------------------------------------------ selected keys -- */

static void select_items(const items *list, key_patterns *keys)
{
    for (size_t i = 0; i < list->count; i++) {
        item *it = list->at[i];
        if (tool_patterns_match(keys, it->key)) {
            it->kept = true;
            if (it->twin) {
                it->twin->kept = true;
            }
        }
    }
}

static void keep_selected(items *list)
{
    size_t kept = 0;

    for (size_t i = 0; i < list->count; i++) {
        if (list->at[i]->kept) {
            list->at[kept++] = list->at[i];
        }
    }
    list->count = kept;
}

int tool_diff_restrict(comparison *c)
{
    size_t kept = 0;

    for (int i = 0; i < SIDES; i++) {
        if (!c->sides[i].by_position || c->sides[!i].by_position) { /* else the other side has the names */
            select_items(&c->sides[i].tensors, c->keys);
            select_items(&c->sides[i].values, c->keys);
        }
    }
    for (int i = 0; i < SIDES; i++) {
        keep_selected(&c->sides[i].tensors);
        keep_selected(&c->sides[i].values);
    }
    for (size_t i = 0; i < c->pair_count; i++) {
        if (c->pairs[i].of[SIDE_A]->kept) {
            c->pairs[kept++] = c->pairs[i];
        }
    }
    c->pair_count = kept;
    c->moved = count_moved(c);
    return tool_patterns_check(c->keys);
}
