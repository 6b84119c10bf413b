/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What was found about all pairs, added up, and what of it counts. */
#include <stdlib.h>
#include <string.h>

#include "tools/diff/diff_private.h"

const char *tool_diff_key(const comparison *c, const pair *p)
{
    bool nameless = c->sides[SIDE_A].by_position && !c->sides[SIDE_B].by_position;
    int which = nameless ? SIDE_B : SIDE_A;

    return p->of[which]->key;
}

bool tool_diff_pair_counts(const comparison *c, const pair *p)
{
    const wishes *w = c->w;

    if ((p->renamed && !w->no_renamed) || (p->dtype && !w->no_dtype) || tool_diff_id_counts(c, p)) {
        return true;
    }
    return p->verdict == PAIR_DIFFERS || p->verdict == PAIR_SHAPE || p->verdict == PAIR_APART ||
           (p->verdict == PAIR_ROUNDED && !w->no_dtype);
}

void tool_diff_sum(comparison *c)
{
    const wishes *w = c->w;

    for (int which = 0; which < SIDES; which++) {
        side *d = &c->sides[which];
        for (size_t i = 0; i < d->tensors.count; i++) {
            d->elements += rec_tensor_count(d->tensors.at[i]->tensor);
        }
    }
    for (size_t i = 0; i < c->pair_count; i++) {
        pair *p = &c->pairs[i];
        tool_diff_ids(p);
        c->verdicts[p->verdict]++;
        c->renamed += p->renamed;
        c->dtypes += p->dtype;
        c->shapes += p->verdict == PAIR_SHAPE;
        c->ids += p->id;
        c->bares += p->bare;
        c->differs = c->differs || tool_diff_pair_counts(c, p);
    }
    c->removed = c->sides[SIDE_A].tensors.count - c->pair_count;
    c->added = c->sides[SIDE_B].tensors.count - c->pair_count;
    c->differs = c->differs || (c->removed && !w->no_removed) || (c->added && !w->no_added) ||
                 (c->value_count && !w->no_values) || (c->metadata_count && !w->no_metadata) || (c->moved && w->order);
}

/* ----------------------------------------------------------------------------------------------------- sorting -- */

/* Those without numbers first: how much they changed is not known. */
static int by_change(const void *a, const void *b)
{
    const pair *x = *(const pair *const *)a, *y = *(const pair *const *)b;
    bool opaque = !x->figures->differing, other = !y->figures->differing;

    if (opaque != other) {
        return opaque ? -1 : 1;
    }
    if (x->change > y->change || x->change < y->change) {
        return x->change > y->change ? -1 : 1;
    }
    return x < y ? -1 : x > y;
}

const pair **tool_diff_sorted(const comparison *c, size_t *count)
{
    const pair **sorted = xmalloc(c->pair_count * sizeof *sorted);

    *count = 0;
    for (size_t i = 0; i < c->pair_count; i++) {
        if (c->pairs[i].figures) {
            sorted[(*count)++] = &c->pairs[i];
        }
    }
    qsort(sorted, *count, sizeof *sorted, by_change);
    return sorted;
}

/* ------------------------------------------------------------------------------------------------------ places -- */

rec_scalar tool_diff_element(const rec_tensor *tensor, uint64_t at)
{
    rec_scalar x = {0};
    uint8_t yes = 0;

    if (rec_tensor_read(tensor, REC_DTYPE_F64, at, 1, &x.v.f) == REC_OK) {
        x.kind = REC_KIND_FLOAT;
    } else if (rec_tensor_read(tensor, REC_DTYPE_I64, at, 1, &x.v.i) == REC_OK) {
        x.kind = REC_KIND_INT;
    } else if (rec_tensor_read(tensor, REC_DTYPE_U64, at, 1, &x.v.u) == REC_OK) {
        x.kind = REC_KIND_UINT;
    } else if (rec_tensor_read(tensor, REC_DTYPE_BOOL, at, 1, &yes) == REC_OK) {
        x = (rec_scalar){.kind = REC_KIND_BOOL, .v.i = yes != 0};
    }
    return x;
}

void tool_diff_free(comparison *c)
{
    for (size_t i = 0; i < c->pair_count; i++) {
        free(c->pairs[i].figures);
    }
    free(c->pairs);
    free(c->values);
    for (size_t i = 0; i < c->metadata_count; i++) {
        free(c->metadata[i].made[SIDE_A]);
        free(c->metadata[i].made[SIDE_B]);
    }
    free(c->metadata);
}
