/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Axes in another order. Axes of length 1 and neighbours that stay neighbours make no difference, so most permutations
 * are a reshape or a transpose between two reshapes. The bytes of others are many small transposes, of the input's
 * innermost axis and the result's, for each index of all other axes. */
#include <string.h>

#include "remap/ops/ops_private.h"

/* --------------------------------------------------------------------------------------------------- the maker -- */

/* A permutation without axes of length 1, neighbours joined. */
typedef struct simple {
    uint32_t rank;
    uint64_t before[LR_RANK_MOST]; /* lengths in the input's order */
    uint64_t after[LR_RANK_MOST];  /* and in the result's */
    uint32_t order[LR_RANK_MOST];
} simple;

static bool is_order(const uint32_t *order, uint32_t count, uint32_t rank)
{
    uint64_t seen = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (count != rank || order[i] >= rank || (seen >> order[i] & 1)) {
            return false;
        }
        seen |= UINT64_C(1) << order[i];
    }
    return count == rank;
}

/* The number of each axis of the input among those that are not of length 1. */
static void number_axes(const lr_op *input, uint32_t *numbers)
{
    uint32_t next = 0;
    for (uint32_t i = 0; i < input->rank; i++) {
        numbers[i] = next;
        next += input->shape[i] != 1;
    }
}

static void simplify(const lr_op *input, const uint32_t *order, simple *s)
{
    uint32_t numbers[LR_RANK_MOST], first[LR_RANK_MOST], last = 0;
    number_axes(input, numbers);
    s->rank = 0;
    for (uint32_t i = 0; i < input->rank; i++) {
        uint64_t length = input->shape[order[i]];
        if (length == 1) {
            continue;
        }
        if (s->rank && numbers[order[i]] == last + 1) {
            s->after[s->rank - 1] *= length;
        } else {
            first[s->rank] = numbers[order[i]];
            s->after[s->rank++] = length;
        }
        last = numbers[order[i]];
    }
    for (uint32_t i = 0; i < s->rank; i++) {
        s->order[i] = 0;
        for (uint32_t k = 0; k < s->rank; k++) {
            s->order[i] += first[k] < first[i];
        }
        s->before[s->order[i]] = s->after[i];
    }
}

static lr_op *make_simple(rec_job *job, lr_op *input, const simple *s)
{
    void *behind;
    lr_op *op;
    if (s->rank == 2) {
        return lr_op_transpose(job, input);
    }
    op = lr_op_new(job, LR_OP_PERMUTE, input->dtype, s->after, s->rank, &input, 1, s->rank * sizeof *s->order, true,
                   &behind);
    if (op) {
        op->u.order = memcpy(behind, s->order, s->rank * sizeof *s->order);
    }
    return op;
}

lr_op *lr_op_permute(rec_job *job, lr_op *input, const uint32_t *order, uint32_t count)
{
    uint64_t shape[LR_RANK_MOST];
    char words[160];
    lr_op *before, *made, *after;
    simple s;
    if (!lr_op_has_elements(job, input, "permuted")) {
        return NULL;
    }
    if (!is_order(order, count, input->rank)) {
        return LR_AS_NULL(rec_fail(job, REC_E_MISMATCH, REC_UNKNOWN,
                                   "a tensor of shape %s cannot be permuted: it does not have %u axes",
                                   lr_shape_words(words, sizeof words, input->shape, input->rank), (unsigned)count));
    }
    for (uint32_t i = 0; i < count; i++) {
        shape[i] = input->shape[order[i]];
    }
    simplify(input, order, &s);
    if (s.rank <= 1 || !input->nbytes) {
        return lr_op_reshape(job, input, shape, count);
    }
    before = lr_op_reshape(job, input, s.before, s.rank);
    made = before ? make_simple(job, before, &s) : NULL;
    after = made ? lr_op_reshape(job, made, shape, count) : NULL;
    lr_op_release(before);
    lr_op_release(made);
    return after;
}

/* ------------------------------------------------------------------------------------------------------- bytes -- */

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
