/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Schemes that are recognised and not decoded: GPTQ, AWQ, bitsandbytes, compressed-tensors with integers, and some
 * more. Their tensors are rejected by name where numbers are needed, instead of being taken for integers. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "plugins/codec/scheme/element.h"

static const char not_yet[] = "librecord knows the scheme and does not decode it; save plain weights with its package";

/* Claims a tensor with those of its siblings that are there. @param ends NULL-terminated. */
static void recognise(rec_job *job, const rec_siblings *siblings, const rec_part *part, size_t less,
                      const char *const *ends, const char *label, rec_logical *logical)
{
    logical->parts[logical->part_count++] = part;
    for (; *ends && logical->part_count < REC_PARTS_MOST; ends++) {
        const rec_part *found = rec_sibling_of(job, siblings, part, less, *ends);
        if (found && found != part) {
            logical->parts[logical->part_count++] = found;
        }
    }
    (void)snprintf(logical->label, sizeof logical->label, "%s", label);
    logical->unsupported = not_yet;
}

/* Both have qweight, qzeros and scales. GPTQ packs along the rows, so that as many columns are left as scales have; AWQ
 * along the columns. */
static bool is_awq(rec_job *job, const rec_siblings *siblings, const rec_part *part, size_t less)
{
    const char *method = rec_sibling_setting(job, siblings, "quantization_config.quant_method");
    const rec_part *scales = rec_sibling_of(job, siblings, part, less, "scales");
    return method ? strcmp(method, "awq") == 0
                  : part->rank == 2 && scales && scales->rank == 2 && scales->shape[1] != part->shape[1];
}

static int32_t claim_group(rec_job *job, const rec_siblings *siblings, const rec_part *part, rec_logical *logical,
                           bool awq)
{
    static const char *const ends[] = {"qzeros", "scales", "g_idx", NULL};
    size_t less = lr_ends_in(part, "qweight");
    if (less && part->dtype == REC_DTYPE_I32 && is_awq(job, siblings, part, less) == awq) {
        recognise(job, siblings, part, less, ends, awq ? "AWQ" : "GPTQ", logical);
    }
    return REC_OK;
}

static int32_t claim_gptq(rec_job *job, const rec_siblings *siblings, const rec_part *part, rec_logical *logical)
{
    return claim_group(job, siblings, part, logical, false);
}

static int32_t claim_awq(rec_job *job, const rec_siblings *siblings, const rec_part *part, rec_logical *logical)
{
    return claim_group(job, siblings, part, logical, true);
}

static int32_t claim_bitsandbytes(rec_job *job, const rec_siblings *siblings, const rec_part *part,
                                  rec_logical *logical)
{
    static const char *const four[] = {".absmax",
                                       ".quant_map",
                                       ".nested_absmax",
                                       ".nested_quant_map",
                                       ".quant_state.bitsandbytes__nf4",
                                       ".quant_state.bitsandbytes__fp4",
                                       NULL};
    static const char *const eight[] = {"SCB", "weight_format", NULL};
    size_t less = lr_ends_in(part, "weight");
    bool bytes = part->dtype == REC_DTYPE_U8 || part->dtype == REC_DTYPE_I8;
    if (bytes && rec_sibling_of(job, siblings, part, 0, ".absmax")) {
        recognise(job, siblings, part, 0, four, "bitsandbytes, 4 bits", logical);
    } else if (bytes && less && rec_sibling_of(job, siblings, part, less, "SCB")) {
        recognise(job, siblings, part, less, eight, "bitsandbytes, 8 bits", logical);
    }
    return REC_OK;
}

static int32_t claim_compressed(rec_job *job, const rec_siblings *siblings, const rec_part *part, rec_logical *logical)
{
    static const char *const ends[] = {"_scale", "_zero_point", "_shape", "_g_idx", NULL};
    size_t less = lr_ends_in(part, "weight_packed") ? strlen("_packed") : 0;
    bool packed = less && part->dtype == REC_DTYPE_I32;
    bool whole = lr_ends_in(part, "weight") && part->dtype == REC_DTYPE_I8;
    if (packed || (whole && rec_sibling_of(job, siblings, part, less, "_scale"))) {
        recognise(job, siblings, part, less, ends,
                  packed ? "compressed-tensors, packed integers" : "compressed-tensors, integers of 8 bits", logical);
    }
    return REC_OK;
}

/* Pairs of integers and scales that other packages write. */
static int32_t claim_others(rec_job *job, const rec_siblings *siblings, const rec_part *part, rec_logical *logical)
{
    static const struct {
        const char *end, *label, *siblings[4];
    } others[] = {
        {"_data", "quanto", {"_scale", "_shift", "_zeropoint"}},
        {"W_q", "HQQ", {"scale", "zero", "meta"}},
        {"qweight", "EETQ", {"weight_scales"}},
        {"codes", "AQLM", {"codebooks", "scales"}},
    };
    for (size_t i = 0; i < sizeof others / sizeof *others && !logical->part_count; i++) {
        size_t less = lr_ends_in(part, others[i].end);
        if (less && part->dtype >= REC_DTYPE_I64 && part->dtype <= REC_DTYPE_U8 &&
            rec_sibling_of(job, siblings, part, less, others[i].siblings[0])) {
            recognise(job, siblings, part, less, others[i].siblings, others[i].label, logical);
        }
    }
    return REC_OK;
}

#define KNOWN(id, text, other, words, function)                                  \
    static const rec_plugin id = {.abi = REC_PLUGIN_ABI,                         \
                                  .size = sizeof id,                             \
                                  .kind = REC_PLUGIN_SCHEME,                     \
                                  .name = text,                                  \
                                  .aliases = (const char *const[]){other, NULL}, \
                                  .description = words,                          \
                                  .claim = function}

KNOWN(gptq, "gptq", NULL, "scheme: GPTQ, recognised and rejected", claim_gptq);
KNOWN(awq, "awq", NULL, "scheme: AWQ, recognised and rejected", claim_awq);
KNOWN(bitsandbytes, "bnb", "bitsandbytes", "scheme: NF4, FP4, LLM.int8, rejected", claim_bitsandbytes);
KNOWN(compressed, "ct-int", "compressed-tensors", "scheme: packed integers, rejected", claim_compressed);
KNOWN(others, "int-other", NULL, "scheme: quanto, HQQ, EETQ, AQLM, rejected", claim_others);

REC_PLUGINS(scheme_known, &gptq, &awq, &bitsandbytes, &compressed, &others);
