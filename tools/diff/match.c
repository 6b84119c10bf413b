/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Which tensors and values of two records belong together: those of one name, or of one id, or of one position. */
#include <stdlib.h>
#include <string.h>

#include "tools/diff/diff_private.h"

/* An item by what it goes by. */
typedef struct named {
    const char *word;
    size_t index;
} named;

static int by_word(const void *a, const void *b)
{
    return strcmp(((const named *)a)->word, ((const named *)b)->word);
}

/* @param goes_by one for each item; NULL: they go by their keys. */
static const char *word_at(const item *items, char *const *goes_by, size_t i)
{
    return goes_by ? goes_by[i] : items[i].key;
}

/* The words of all items, where they do not go by their keys; NULL: they do. */
static char **make_words(const item *items, size_t count, int match)
{
    char **goes_by = match == MATCH_ID ? xmalloc((count + 1) * sizeof *goes_by) : NULL;

    for (size_t i = 0; goes_by && i < count; i++) {
        goes_by[i] = tool_diff_id_word(&items[i]);
    }
    return goes_by;
}

static void free_words(char **goes_by, size_t count)
{
    for (size_t i = 0; goes_by && i < count; i++) {
        free(goes_by[i]);
    }
    free(goes_by);
}

static void bring_together(item *a, size_t count_a, item *b, size_t count_b, int match)
{
    char **goes_a, **goes_b;
    void *known = NULL;
    named *all;

    if (match == MATCH_POSITION) {
        for (size_t i = 0; i < count_a && i < count_b; i++) {
            a[i].twin = b[i].twin = i;
        }
        return;
    }
    goes_a = make_words(a, count_a, match);
    goes_b = make_words(b, count_b, match);
    all = xmalloc((count_b + 1) * sizeof *all);
    /* Of several that go by the same word the first one counts: ids may repeat. */
    for (size_t i = 0; i < count_b; i++) {
        all[i] = (named){word_at(b, goes_b, i), i};
        (void)tool_known_add(&known, &all[i], by_word);
    }
    for (size_t i = 0; i < count_a; i++) {
        const named *twin = tool_known_find(&known, &(named){.word = word_at(a, goes_a, i)}, by_word);
        if (twin && b[twin->index].twin == NO_TWIN) {
            a[i].twin = twin->index;
            b[twin->index].twin = i;
        }
    }
    tool_known_free(&known, by_word);
    free(all);
    free_words(goes_a, count_a);
    free_words(goes_b, count_b);
}

/* All except the longest increasing run. */
size_t tool_diff_count_moved(const item *a, size_t count)
{
    size_t *ends = xmalloc(count * sizeof *ends), length = 0, paired = 0;

    for (size_t i = 0; i < count; i++) {
        size_t low = 0, high = length, twin = a[i].twin;
        if (twin == NO_TWIN) {
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

    bring_together(a->tensors, a->tensor_count, b->tensors, b->tensor_count, match);
    c->moved = tool_diff_count_moved(a->tensors, a->tensor_count);
    c->pairs = xmalloc(a->tensor_count * sizeof *c->pairs);
    for (size_t i = 0; i < a->tensor_count; i++) {
        const item *it = &a->tensors[i];
        if (it->twin != NO_TWIN) {
            c->pairs[c->pair_count++] = (pair){.index = {i, it->twin}};
        }
    }
    /* What a file without names has besides its parameters cannot be found in it. */
    if (!a->by_position && !b->by_position) {
        bring_together(a->values, a->value_count, b->values, b->value_count, match == MATCH_ID ? MATCH_ID : MATCH_NAME);
    }
}
