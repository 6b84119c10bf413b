/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Which tensors and values of two records belong together: those of one name, or of one id, or of one position. */
#include <stdlib.h>
#include <string.h>

#include "os/system.h"
#include "tools/diff/diff_private.h"

/* Open addressing over the items of one side. A random seed, as keys come from files of strangers. */
typedef struct table_of_items {
    struct place {
        uint64_t hash;
        size_t index; /* plus one; 0: empty */
    } *places;
    size_t mask;
    uint64_t seed;
} table_of_items;

static uint64_t hash_of(uint64_t hash, const char *word)
{
    for (; *word; word++) {
        hash = (hash ^ (unsigned char)*word) * UINT64_C(0x100000001B3);
    }
    return hash ^ hash >> 29;
}

/* What an item goes by. @param goes_by one for each item; NULL: they go by their keys. */
static const char *word_at(const item *items, char *const *goes_by, size_t i)
{
    return goes_by ? goes_by[i] : items[i].key;
}

static table_of_items make_table(const item *items, size_t count, char *const *goes_by)
{
    table_of_items t = {NULL, 15, UINT64_C(0xCBF29CE484222325)};
    uint64_t seed;

    if (lr_system_random(&seed, sizeof seed, false)) {
        t.seed ^= seed;
    }
    while (t.mask < count * 2) {
        t.mask = t.mask * 2 + 1;
    }
    t.places = xmalloc((t.mask + 1) * sizeof *t.places);
    memset(t.places, 0, (t.mask + 1) * sizeof *t.places);
    for (size_t i = 0; i < count; i++) {
        const char *word = word_at(items, goes_by, i);
        uint64_t hash = hash_of(t.seed, word);
        size_t at = (size_t)hash & t.mask;
        /* Of several that go by the same word the first one counts: ids may repeat. */
        while (t.places[at].index &&
               (t.places[at].hash != hash || strcmp(word_at(items, goes_by, t.places[at].index - 1), word) != 0)) {
            at = (at + 1) & t.mask;
        }
        if (!t.places[at].index) {
            t.places[at] = (struct place){hash, i + 1};
        }
    }
    return t;
}

/* @return the first unmatched item of that word, or NO_TWIN. */
static size_t find(const table_of_items *t, const item *items, char *const *goes_by, const char *word)
{
    uint64_t hash = hash_of(t->seed, word);

    for (size_t at = (size_t)hash & t->mask; t->places[at].index; at = (at + 1) & t->mask) {
        size_t index = t->places[at].index - 1;
        if (t->places[at].hash == hash && items[index].twin == NO_TWIN &&
            strcmp(word_at(items, goes_by, index), word) == 0) {
            return index;
        }
    }
    return NO_TWIN;
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
    table_of_items t;

    if (match == MATCH_POSITION) {
        for (size_t i = 0; i < count_a && i < count_b; i++) {
            a[i].twin = b[i].twin = i;
        }
        return;
    }
    goes_a = make_words(a, count_a, match);
    goes_b = make_words(b, count_b, match);
    t = make_table(b, count_b, goes_b);
    for (size_t i = 0; i < count_a; i++) {
        size_t twin = find(&t, b, goes_b, word_at(a, goes_a, i));
        if (twin != NO_TWIN) {
            a[i].twin = twin;
            b[twin].twin = i;
        }
    }
    free(t.places);
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
