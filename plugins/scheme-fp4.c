/* SPDX-License-Identifier: MIT OR Apache-2.0
 * FP4 weights: MXFP4 (blocks of 32, scales that are powers of two) and NVFP4 (blocks of 16, FP8 scales, and one f32 for
 * the whole). */
#include <stdio.h>
#include <string.h>

#include "plugins/codec/scheme/element.h"
#include "plugins/codec/scheme/pairs.h"

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
    lr_pairs pairs = {.codes = part, .element = LR_ELEMENT_E4M3, .block = 16};
    if (!is_codes(part)) {
        return REC_OK;
    }
    pairs.scale = first_of(job, siblings, part, less, scales);
    if (!pairs.scale || lr_element_of(pairs.scale) != LR_ELEMENT_E4M3) {
        return REC_OK;
    }
    pairs.whole = first_of(job, siblings, part, less, packed ? global : wholes);
    pairs.operation = packed ? LR_PAIRS_DIVIDED : LR_PAIRS_TIMES;
    (void)snprintf(logical->label, sizeof logical->label, "NVFP4, blocks of 16");
    logical->path_less = (uint32_t)less;
    lr_pairs_claim(&pairs, logical);
    if (!pairs.whole) {
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
    lr_pairs pairs = {.codes = part, .element = LR_ELEMENT_E8M0, .block = 32, .swapped = flat};
    if (!is_codes(part)) {
        return REC_OK;
    }
    if (flat || dotted) {
        pairs.scale = rec_sibling_of(job, siblings, part, strlen("blocks"), "scales");
        if ((pairs.scale && !is_exponents(pairs.scale)) || part->rank < 3 || part->shape[part->rank - 1] != 16) {
            return REC_OK;
        }
    } else {
        pairs.scale = first_of(job, siblings, part, less, usual);
        pairs.scale = pairs.scale || !weight ? pairs.scale : first_of(job, siblings, part, strlen("weight"), next);
        if (pairs.scale ? !is_exponents(pairs.scale) || !looks_right(part, pairs.scale) : !packed) {
            return REC_OK;
        }
    }
    (void)snprintf(logical->label, sizeof logical->label, pairs.scale ? "MXFP4, blocks of 32" : "FP4");
    logical->path_less = (uint32_t)less;
    lr_pairs_claim(&pairs, logical);
    return REC_OK;
}

static const rec_plugin nvfp4 = {
    .abi = REC_PLUGIN_ABI,
    .size = sizeof nvfp4,
    .kind = REC_PLUGIN_SCHEME,
    .name = "nvfp4",
    .description = "scheme: NVFP4, blocks of 16 with FP8 scales",
    .claim = claim_nvfp4,
    .spans = lr_pairs_spans,
    .tile = lr_pairs_tile,
};

static const rec_plugin mxfp4 = {
    .abi = REC_PLUGIN_ABI,
    .size = sizeof mxfp4,
    .kind = REC_PLUGIN_SCHEME,
    .name = "mxfp4",
    .description = "scheme: MXFP4, blocks of 32 with E8M0 scales",
    .claim = claim_mxfp4,
    .spans = lr_pairs_spans,
    .tile = lr_pairs_tile,
};

REC_PLUGINS(scheme_fp4, &nvfp4, &mxfp4);
