/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Pairs of tensors compared for others than `record diff`, with its kernels and its words for what differs. */
#include <stdlib.h>

#include "tools/diff/diff_private.h"

int tool_diff_pairs(session *s, const rec_tensor *const *a, const rec_tensor *const *b, size_t count, diff_found *found)
{
    const rec_tensor *const *tensors[SIDES] = {a, b};
    const wishes none = {0};
    options all = *s->o;
    session whole = *s;
    side sides[SIDES] = {{0}};
    comparison c = {.w = &none, .sides = sides, .pair_count = count};
    int status;

    all.quiet = false; /* quiet comparisons end at the first difference */
    whole.o = &all;
    c.pairs = xmalloc((count + 1) * sizeof *c.pairs);
    for (int which = 0; which < SIDES; which++) {
        sides[which].tensors = xmalloc((count + 1) * sizeof *sides[which].tensors);
        sides[which].tensor_count = count;
        for (size_t i = 0; i < count; i++) {
            sides[which].tensors[i] = (item){.key = "", .tensor = tensors[which][i], .twin = i};
            sides[which].nbytes += rec_tensor_nbytes(tensors[which][i]);
        }
    }
    for (size_t i = 0; i < count; i++) {
        c.pairs[i] = (pair){.index = {i, i}};
    }
    status = tool_diff_tensors(&whole, &c);
    for (size_t i = 0; i < count; i++) {
        const pair *p = &c.pairs[i];
        const figures *f = p->figures;
        diff_found *out = &found[i];
        *out = (diff_found){.known = p->verdict == PAIR_EQUAL || (f && f->differing), .cosine = 1};
        if (out->known && f) {
            out->differing = f->differing;
            out->rounded = p->verdict == PAIR_ROUNDED;
            out->most = f->max_abs;
            out->at = f->max_abs > 0 ? f->max_abs_at : f->odd_at;
            out->change = tool_diff_change(f);
            out->cosine = tool_diff_cosine(f);
        }
        free(p->figures);
    }
    for (int which = 0; which < SIDES; which++) {
        free(sides[which].tensors);
    }
    free(c.pairs);
    return status;
}
