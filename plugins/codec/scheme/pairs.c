/* SPDX-License-Identifier: MIT OR Apache-2.0
 * FP4 in pairs. The scale of a block, times or divided by that of the whole, is rounded to f32 first, and the product
 * with an element once more, as the published reference code does it. */
#include "plugins/codec/scheme/pairs.h"

#include <string.h>

#include "plugins/codec/scheme/element.h"

/* Words of the state. */
enum {
    ELEMENT,
    BLOCK,
    OPERATION,
    WHOLE_EACH, /* blocks that have the same scale of the whole */
    ROWS,       /* swapped: rows of codes in a matrix, else 0 */
    GROUPS      /* swapped: blocks in a row */
};

/* -------------------------------------------------------------------------------------------------- claiming -- */

static bool is_packed(const rec_part *codes)
{
    return codes->dtype == REC_DTYPE_U8 || codes->dtype == REC_DTYPE_I8;
}

/* The numbers of a row of codes, and whether the scales have as many blocks, row by row. */
static bool shapes_fit(const lr_pairs *p, uint64_t columns)
{
    const rec_part *codes = p->codes, *scale = p->scale;
    return columns % p->block == 0 && scale->rank == codes->rank &&
           memcmp(codes->shape, scale->shape, (codes->rank - 1) * sizeof *codes->shape) == 0 &&
           scale->shape[scale->rank - 1] == columns / p->block && scale->nbytes == scale->count;
}

/* Codes of [.., R, G, 16] with scales of [.., R, G]. */
static bool blocks_fit(const lr_pairs *p)
{
    const rec_part *codes = p->codes, *scale = p->scale;
    return codes->rank >= 3 && scale->rank + 1 == codes->rank && codes->shape[codes->rank - 1] == p->block / 2 &&
           memcmp(codes->shape, scale->shape, scale->rank * sizeof *codes->shape) == 0 && scale->nbytes == scale->count;
}

static bool whole_fits(const lr_pairs *p, const rec_logical *l, uint64_t *each)
{
    uint64_t matrices = l->rank == 3 ? l->shape[0] : 1;
    bool one = p->whole && p->whole->count == 1;
    if (!p->whole) {
        return true;
    }
    if (p->whole->dtype != REC_DTYPE_F32 || (!one && (!matrices || p->whole->count != matrices))) {
        return false;
    }
    *each = one || !matrices ? p->scale->count : p->scale->count / matrices;
    return true;
}

void lr_pairs_claim(const lr_pairs *p, rec_logical *l)
{
    const rec_part *codes = p->codes;
    bool blocks = codes->rank >= 3 && p->scale && p->scale->rank + 1 == codes->rank, fits = codes->rank >= 1;
    uint32_t rank = blocks ? codes->rank - 1 : codes->rank;
    fits = fits && rank <= REC_LOGICAL_RANK_MOST;
    l->parts[l->part_count++] = codes;
    if (!p->scale) {
        l->unsupported = "its scales are not there";
        return;
    }
    l->parts[l->part_count++] = p->scale;
    if (p->whole) {
        l->parts[l->part_count++] = p->whole;
    }
    if (fits) {
        l->rank = rank;
        memcpy(l->shape, codes->shape, rank * sizeof *l->shape);
        fits = l->shape[rank - 1] < UINT64_MAX / p->block;
        l->shape[rank - 1] *= blocks ? p->block : is_packed(codes) ? 2 : 1;
        fits = fits && (blocks ? blocks_fit(p) : shapes_fit(p, l->shape[rank - 1]));
    }
    l->state[WHOLE_EACH] = 1;
    if (!fits || !whole_fits(p, l, &l->state[WHOLE_EACH])) {
        l->unsupported = "its scales have a shape or type that does not fit the weight";
        l->rank = 0;
        return;
    }
    l->dtype = REC_DTYPE_F32;
    l->step = p->block;
    l->state[ELEMENT] = (uint64_t)p->element;
    l->state[BLOCK] = p->block;
    l->state[OPERATION] = (uint64_t)p->operation;
    if (p->swapped) {
        uint64_t rows = l->shape[rank - 2];
        l->state[ROWS] = rows;
        l->state[GROUPS] = l->shape[rank - 1] / p->block;
        l->shape[rank - 2] = l->shape[rank - 1];
        l->shape[rank - 1] = rows;
        l->step = rows ? rows * p->block : 1;
    }
    if (l->step > REC_STEP_MOST) {
        l->unsupported = "its rows are too many to be transposed block by block";
    }
}

/* ------------------------------------------------------------------------------------------------------ bytes -- */

/* Where the codes of swapped blocks lie: a rectangle within one matrix, all of the matrices where there are several. */
static void swapped_spans(const uint64_t *state, uint64_t first, uint64_t count, rec_span *spans)
{
    uint64_t rows = state[ROWS], groups = state[GROUPS], half = state[BLOCK] / 2, step = rows * state[BLOCK];
    uint64_t begin = first / step, end = (first + count - 1) / step, matrix = begin / groups;
    uint64_t across = end - begin + 1, at = matrix * rows * groups + begin % groups;
    if (end / groups == matrix) {
        spans[0] = (rec_span){at * half, across * half, groups * half, rows};
        spans[1] = (rec_span){at, across, groups, rows};
    } else {
        uint64_t bytes = (end / groups - matrix + 1) * rows * groups;
        spans[0] = (rec_span){matrix * rows * groups * half, bytes * half, 0, 1};
        spans[1] = (rec_span){matrix * rows * groups, bytes, 0, 1};
    }
}

void lr_pairs_spans(const uint64_t *state, uint64_t first, uint64_t count, rec_span *spans)
{
    uint64_t block = state[BLOCK];
    if (state[ROWS]) {
        swapped_spans(state, first, count, spans);
        return;
    }
    spans[0] = (rec_span){.offset = first / 2, .length = count / 2, .count = 1};
    spans[1] = (rec_span){.offset = first / block, .length = count / block, .count = 1};
}

/* ---------------------------------------------------------------------------------------------------- numbers -- */

/** What a tile has at hand. */
typedef struct pieces {
    const uint64_t *state;
    const uint8_t *codes, *scales, *wholes;
    float table[256]; /**< of scales */
} pieces;

/* The scale of block `index` of the tensor, whose byte is `byte`. */
static float scale_of(const pieces *p, uint64_t index, uint8_t byte)
{
    float scale = p->table[byte], whole;
    if (p->state[OPERATION] == LR_PAIRS_NO_WHOLE) {
        return scale;
    }
    whole = lr_element_read(LR_ELEMENT_F32, p->wholes, index / p->state[WHOLE_EACH]);
    return p->state[OPERATION] == LR_PAIRS_TIMES ? scale * whole : scale / whole;
}

/* The 16 numbers that codes of a block stand for. */
static void block_table(float scale, float table[16])
{
    for (int i = 0; i < 16; i++) {
        table[i] = lr_element_fp4[i] * scale;
    }
}

static void in_order(const pieces *p, uint64_t first, uint64_t count, float *to)
{
    uint64_t block = p->state[BLOCK];
    for (uint64_t b = 0; b < count / block; b++) {
        float table[16];
        block_table(scale_of(p, first / block + b, p->scales[b]), table);
        for (uint64_t i = 0; i < block / 2; i++) {
            uint8_t pair = p->codes[b * (block / 2) + i];
            to[b * block + 2 * i] = table[pair & 15];
            to[b * block + 2 * i + 1] = table[pair >> 4];
        }
    }
}

/* One block of each row, the rows next to each other. @param row bytes from a row's scale to that of the next. */
static void swapped_block(const pieces *p, uint64_t index, uint64_t at, uint64_t row, float *to)
{
    uint64_t rows = p->state[ROWS], half = p->state[BLOCK] / 2;
    for (uint64_t r = 0; r < rows; r++, at += row, index += p->state[GROUPS]) {
        float table[16];
        block_table(scale_of(p, index, p->scales[at]), table);
        for (uint64_t i = 0; i < half; i++) {
            uint8_t pair = p->codes[at * half + i];
            to[2 * i * rows + r] = table[pair & 15];
            to[(2 * i + 1) * rows + r] = table[pair >> 4];
        }
    }
}

static void swapped(const pieces *p, uint64_t first, uint64_t count, const rec_span *span, float *to)
{
    uint64_t rows = p->state[ROWS], groups = p->state[GROUPS], step = rows * p->state[BLOCK];
    uint64_t begin = first / step, matrix = begin / groups;
    bool rectangle = span->count > 1 || span->length < groups;
    for (uint64_t b = begin; b < begin + count / step; b++, to += step) {
        uint64_t index = b / groups * rows * groups + b % groups;
        uint64_t at = rectangle ? b - begin : index - matrix * rows * groups;
        swapped_block(p, index, at, rectangle ? span->length : groups, to);
    }
}

int32_t lr_pairs_tile(const uint64_t *state, uint64_t first, uint64_t count, const rec_span *spans,
                      const void *const *parts, void *numbers)
{
    pieces p = {.state = state, .codes = parts[0], .scales = parts[1]};
    p.wholes = state[OPERATION] == LR_PAIRS_NO_WHOLE ? NULL : parts[2];
    lr_element_table((int)state[ELEMENT], p.table);
    if (state[ROWS]) {
        swapped(&p, first, count, &spans[1], numbers);
    } else {
        in_order(&p, first, count, numbers);
    }
    return REC_OK;
}
