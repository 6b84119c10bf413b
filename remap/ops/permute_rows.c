/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The bytes of a permutation: many small transposes, of the input's innermost axis and the result's, for each index of
 * all other axes. */
#include <string.h>

#include "remap/ops/ops_private.h"

/* Part of a permutation: rows of its outermost axis. */
typedef struct region {
    uint32_t rank, inner, other; /* the innermost axis of the result, and that of the input */
    uint64_t length[LR_RANK_MOST];
    uint64_t from[LR_RANK_MOST]; /* bytes between indices, in the input */
    uint64_t to[LR_RANK_MOST];   /* and in the result */
} region;

static void measure(const lr_op *op, uint64_t rows, region *r)
{
    uint64_t strides[LR_RANK_MOST], from = lr_op_width(op), to = from;
    const uint64_t *shape = op->inputs[0]->shape;
    r->rank = op->rank;
    r->inner = op->rank - 1;
    for (uint32_t i = op->rank; i-- > 0;) {
        strides[i] = from;
        from *= shape[i];
        r->to[i] = to;
        to *= op->shape[i];
    }
    for (uint32_t i = 0; i < op->rank; i++) {
        r->from[i] = strides[op->u.order[i]];
        r->length[i] = i ? op->shape[i] : rows;
        r->other = op->u.order[i] == r->inner ? i : r->other;
    }
}

/* Goes to the next index of the axes that are not copied as a whole. @return false after the last one. */
static bool step(const region *r, uint64_t *index, const uint8_t **from, uint8_t **to)
{
    for (uint32_t i = r->rank; i-- > 0;) {
        if (i == r->inner || i == r->other) {
            continue;
        }
        *from += r->from[i];
        *to += r->to[i];
        if (++index[i] < r->length[i]) {
            return true;
        }
        *from -= r->from[i] * r->length[i];
        *to -= r->to[i] * r->length[i];
        index[i] = 0;
    }
    return false;
}

void lr_op_permute_rows(const lr_op *op, const uint8_t *from, uint64_t first, uint64_t rows, uint8_t *target)
{
    uint64_t index[LR_RANK_MOST] = {0};
    uint32_t width = lr_op_width(op);
    region r = {.other = 0};
    measure(op, rows, &r);
    from += first * r.from[0];
    do {
        if (r.inner == r.other) {
            memcpy(target, from, (size_t)(r.length[r.inner] * width));
        } else {
            lr_transpose(from, r.from[r.inner], target, r.to[r.other], r.length[r.inner], r.length[r.other], width);
        }
    } while (step(&r, index, &from, &target));
}
