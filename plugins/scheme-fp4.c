/* SPDX-License-Identifier: MIT OR Apache-2.0
 * FP4 (E2M1) weights in pairs, two elements in a byte, the first one in the low bits: blocks of elements along the last
 * dimension, a scale for each, and perhaps one for the whole. The scale of a block, times or divided by that of the
 * whole, is rounded to f32 first, and the product with an element once more, as the published reference code does it.
 * MXFP4 has blocks of 32 and scales that are powers of two, NVFP4 blocks of 16, FP8 scales, and one f32 for
 * the whole. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "plugins/codec/scheme/element.h"

/* How the scale of the whole tensor is applied. */
enum { NO_WHOLE, TIMES, DIVIDED };

/* What a claim is made of. */
typedef struct pairs {
    const rec_part *codes, *scale; /* without scale: unsupported */
    const rec_part *whole;         /* a scale for each matrix or for all, or NULL */
    int operation;                 /* of those above */
    int element;                   /* LR_ELEMENT_… of the scales */
    uint64_t block;                /* elements with a scale */
    bool swapped; /* codes of [E, R, G, 16]: the last two dimensions of the numbers change places, [E, 32 G, R] */
} pairs;

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
static bool shapes_fit(const pairs *p, uint64_t columns)
{
    const rec_part *codes = p->codes, *scale = p->scale;
    return columns % p->block == 0 && scale->rank == codes->rank &&
           memcmp(codes->shape, scale->shape, (codes->rank - 1) * sizeof *codes->shape) == 0 &&
           scale->shape[scale->rank - 1] == columns / p->block && scale->nbytes == scale->count;
}

/* Codes of [.., R, G, 16] with scales of [.., R, G]. */
static bool blocks_fit(const pairs *p)
{
    const rec_part *codes = p->codes, *scale = p->scale;
    return codes->rank >= 3 && scale->rank + 1 == codes->rank && codes->shape[codes->rank - 1] == p->block / 2 &&
           memcmp(codes->shape, scale->shape, scale->rank * sizeof *codes->shape) == 0 && scale->nbytes == scale->count;
}

static bool whole_fits(const pairs *p, const rec_logical *l, uint64_t *each)
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

/* Fills a claim: shape, parts, state. Sets `unsupported` where shapes do not fit. */
static void claim(const pairs *p, rec_logical *l)
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

static void pairs_spans(const uint64_t *state, uint64_t first, uint64_t count, rec_span *spans)
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
    if (p->state[OPERATION] == NO_WHOLE) {
        return scale;
    }
    whole = lr_element_read(LR_ELEMENT_F32, p->wholes, index / p->state[WHOLE_EACH]);
    return p->state[OPERATION] == TIMES ? scale * whole : scale / whole;
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

static int32_t pairs_tile(const uint64_t *state, uint64_t first, uint64_t count, const rec_span *spans,
                          const void *const *parts, void *numbers)
{
    pieces p = {.state = state, .codes = parts[0], .scales = parts[1]};
    p.wholes = state[OPERATION] == NO_WHOLE ? NULL : parts[2];
    lr_element_table((int)state[ELEMENT], p.table);
    if (state[ROWS]) {
        swapped(&p, first, count, &spans[1], numbers);
    } else {
        in_order(&p, first, count, numbers);
    }
    return REC_OK;
}

/* ------------------------------------------------------------------------------------------------------- names -- */

static bool is_codes(const rec_part *part)
{
    return part->rank >= 1 && (part->dtype == REC_DTYPE_U8 || part->dtype == REC_DTYPE_I8 ||
                               (part->dtype == REC_DTYPE_OPAQUE && strcmp(part->dtype_name, "F4") == 0 &&
                                part->count % 2 == 0 && part->nbytes == part->count / 2));
}

/* The first sibling there is of a NULL-terminated list of ends. */
static const rec_part *first_of(rec_job *job, const rec_siblings *siblings, const rec_part *part, size_t less,
                                const char *const *ends)
{
    const rec_part *found = NULL;
    for (; *ends && !found; ends++) {
        found = rec_sibling_of(job, siblings, part, less, *ends);
    }
    return found;
}

/* ---------------------------------------------------------------------------------------------------- NVFP4 -- */

static int32_t claim_nvfp4(rec_job *job, const rec_siblings *siblings, const rec_part *part, rec_logical *logical)
{
    /* ModelOpt: weight, weight_scale, weight_scale_2; of experts in one tensor gate_up_proj, gate_up_proj_weight_scale.
     */
    static const char *const scales[] = {"_scale", "_weight_scale", NULL};
    static const char *const wholes[] = {"_scale_2", "_weight_scale_2", NULL};
    /* compressed-tensors: weight_packed, weight_scale, weight_global_scale, which divides. */
    static const char *const global[] = {"_global_scale", NULL};
    bool packed = lr_ends_in(part, "weight_packed");
    size_t less = packed ? strlen("_packed") : 0;
    pairs p = {.codes = part, .element = LR_ELEMENT_E4M3, .block = 16};
    if (!is_codes(part)) {
        return REC_OK;
    }
    p.scale = first_of(job, siblings, part, less, scales);
    if (!p.scale || lr_element_of(p.scale) != LR_ELEMENT_E4M3) {
        return REC_OK;
    }
    p.whole = first_of(job, siblings, part, less, packed ? global : wholes);
    p.operation = packed ? DIVIDED : TIMES;
    (void)snprintf(logical->label, sizeof logical->label, "NVFP4, blocks of 16");
    logical->path_less = (uint32_t)less;
    claim(&p, logical);
    if (!p.whole) {
        logical->unsupported = "the scale of the whole tensor is missing";
    }
    return REC_OK;
}

/* ---------------------------------------------------------------------------------------------------- MXFP4 -- */

/* Whether a tensor has bytes that are exponents. */
static bool is_exponents(const rec_part *scale)
{
    return scale && (scale->dtype == REC_DTYPE_U8 || lr_element_of(scale) == LR_ELEMENT_E8M0);
}

/* Whether scales have the shape of a matrix of pairs. Bytes with bytes could be anything, so it has to fit. */
static bool looks_right(const rec_part *codes, const rec_part *scale)
{
    uint64_t packed = codes->dtype == REC_DTYPE_OPAQUE ? 1 : 2;
    return scale->rank == codes->rank && scale->shape[scale->rank - 1] < UINT64_MAX / 32 &&
           scale->shape[scale->rank - 1] * 32 == codes->shape[codes->rank - 1] * packed;
}

static int32_t claim_mxfp4(rec_job *job, const rec_siblings *siblings, const rec_part *part, rec_logical *logical)
{
    /* gpt-oss: gate_up_proj_blocks in transformers, where the weight is transposed; mlp1_weight.blocks in its code. */
    bool flat = lr_ends_in(part, "_blocks"), dotted = lr_ends_in(part, ".blocks");
    bool packed = lr_ends_in(part, "weight_packed"), weight = lr_ends_in(part, "weight");
    static const char *const usual[] = {"_scale", "_scale_inv", NULL}, *const next[] = {"scale", NULL};
    size_t less = flat || dotted ? strlen("_blocks") : packed ? strlen("_packed") : 0;
    pairs p = {.codes = part, .element = LR_ELEMENT_E8M0, .block = 32, .swapped = flat};
    if (!is_codes(part)) {
        return REC_OK;
    }
    if (flat || dotted) {
        p.scale = rec_sibling_of(job, siblings, part, strlen("blocks"), "scales");
        if ((p.scale && !is_exponents(p.scale)) || part->rank < 3 || part->shape[part->rank - 1] != 16) {
            return REC_OK;
        }
    } else {
        p.scale = first_of(job, siblings, part, less, usual);
        p.scale = p.scale || !weight ? p.scale : first_of(job, siblings, part, strlen("weight"), next);
        if (p.scale ? !is_exponents(p.scale) || !looks_right(part, p.scale) : !packed) {
            return REC_OK;
        }
    }
    (void)snprintf(logical->label, sizeof logical->label, p.scale ? "MXFP4, blocks of 32" : "FP4");
    logical->path_less = (uint32_t)less;
    claim(&p, logical);
    return REC_OK;
}

static const rec_plugin nvfp4 = {
    .abi = REC_PLUGIN_ABI,
    .size = sizeof nvfp4,
    .kind = REC_PLUGIN_SCHEME,
    .name = "nvfp4",
    .description = "scheme: NVFP4, blocks of 16 with FP8 scales",
    .claim = claim_nvfp4,
    .spans = pairs_spans,
    .tile = pairs_tile,
};

static const rec_plugin mxfp4 = {
    .abi = REC_PLUGIN_ABI,
    .size = sizeof mxfp4,
    .kind = REC_PLUGIN_SCHEME,
    .name = "mxfp4",
    .description = "scheme: MXFP4, blocks of 32 with E8M0 scales",
    .claim = claim_mxfp4,
    .spans = pairs_spans,
    .tile = pairs_tile,
};

REC_PLUGINS(scheme_fp4, &nvfp4, &mxfp4);
