/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Restricts a comparison to selected keys, once it is known what belongs together: a pair stays if either key is. */
#include <stdlib.h>
#include <string.h>

#include "tools/diff/diff_private.h"

/* The indices that items get; NO_TWIN: it is not selected. */
static size_t *select_items(const item *items, size_t count, key_patterns *keys, bool named)
{
    size_t *to = xmalloc((count + 1) * sizeof *to);

    for (size_t i = 0; i < count; i++) {
        to[i] = named && tool_patterns_match(keys, items[i].key) ? 0 : NO_TWIN;
    }
    return to;
}

static void select_twins(const item *items, size_t count, const size_t *to, size_t *to_twin)
{
    for (size_t i = 0; i < count; i++) {
        if (to[i] != NO_TWIN && items[i].twin != NO_TWIN) {
            to_twin[items[i].twin] = 0;
        }
    }
}

static size_t keep_items(item *items, size_t count, size_t *to)
{
    size_t kept = 0;

    for (size_t i = 0; i < count; i++) {
        if (to[i] != NO_TWIN) {
            items[kept] = items[i];
            to[i] = kept++;
        }
    }
    return kept;
}

static void set_twins(item *items, size_t count, const size_t *to_twin)
{
    for (size_t i = 0; i < count; i++) {
        items[i].twin = items[i].twin == NO_TWIN ? NO_TWIN : to_twin[items[i].twin];
    }
}

/* Restricts the items of both sides. */
static void restrict_items(item *items[SIDES], size_t *counts[SIDES], size_t *to[SIDES])
{
    for (int i = 0; i < SIDES; i++) {
        select_twins(items[i], *counts[i], to[i], to[!i]);
    }
    for (int i = 0; i < SIDES; i++) {
        *counts[i] = keep_items(items[i], *counts[i], to[i]);
    }
    for (int i = 0; i < SIDES; i++) {
        set_twins(items[i], *counts[i], to[!i]);
    }
}

static void restrict_pairs(comparison *c, size_t *const to[SIDES])
{
    item *ordered = xmalloc((c->pair_count + 1) * sizeof *ordered);
    size_t kept = 0;

    for (size_t i = 0; i < c->pair_count; i++) {
        pair p = c->pairs[i];
        p.index[SIDE_A] = to[SIDE_A][p.index[SIDE_A]];
        p.index[SIDE_B] = to[SIDE_B][p.index[SIDE_B]];
        if (p.index[SIDE_A] != NO_TWIN) {
            ordered[kept] = (item){.twin = p.renamed ? NO_TWIN : p.index[SIDE_B]};
            c->pairs[kept++] = p;
        }
    }
    c->pair_count = kept;
    c->moved = tool_diff_count_moved(ordered, kept);
    free(ordered);
}

static void restrict_values(comparison *c, size_t *const to[SIDES])
{
    const side *a = &c->sides[SIDE_A];
    size_t kept = 0, both = 0;

    for (size_t i = 0; i < c->value_count; i++) {
        difference d = c->values[i];
        for (int which = 0; which < SIDES; which++) {
            d.index[which] = d.index[which] == NO_TWIN ? NO_TWIN : to[which][d.index[which]];
        }
        if (d.index[SIDE_A] != NO_TWIN || d.index[SIDE_B] != NO_TWIN) {
            both += d.index[SIDE_A] != NO_TWIN && d.index[SIDE_B] != NO_TWIN;
            c->values[kept++] = d;
        }
    }
    c->value_count = kept;
    c->values_equal = 0;
    for (size_t i = 0; i < a->value_count; i++) {
        c->values_equal += a->values[i].twin != NO_TWIN;
    }
    c->values_equal -= both;
}

static void count_again(side *d)
{
    d->elements = d->nbytes = 0;
    for (size_t i = 0; i < d->tensor_count; i++) {
        d->elements += rec_tensor_count(d->tensors[i].tensor);
        d->nbytes += rec_tensor_nbytes(d->tensors[i].tensor);
    }
}

int tool_diff_restrict(comparison *c)
{
    side *a = &c->sides[SIDE_A], *b = &c->sides[SIDE_B];
    size_t *tensors[SIDES], *values[SIDES];

    for (int i = 0; i < SIDES; i++) {
        const side *d = &c->sides[i];
        bool named = !d->by_position || c->sides[!i].by_position; /* else the other side has the names */
        tensors[i] = select_items(d->tensors, d->tensor_count, c->keys, named);
        values[i] = select_items(d->values, d->value_count, c->keys, named);
    }
    restrict_items((item *[]){a->tensors, b->tensors}, (size_t *[]){&a->tensor_count, &b->tensor_count}, tensors);
    restrict_items((item *[]){a->values, b->values}, (size_t *[]){&a->value_count, &b->value_count}, values);
    restrict_pairs(c, tensors);
    restrict_values(c, values);
    for (int i = 0; i < SIDES; i++) {
        count_again(&c->sides[i]);
        free(tensors[i]);
        free(values[i]);
    }
    return tool_patterns_check(c->keys);
}
