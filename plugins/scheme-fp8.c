/* SPDX-License-Identifier: MIT OR Apache-2.0
 * FP8 weights with their scales: one for the tensor, a row, or a block of 128x128. The numbers are those of the
 * published reference code: the product of element and scale as f32, rounded once. */
#include <stdio.h>
#include <string.h>

#include "plugins/codec/scheme/element.h"
#include "plugins/codec/scheme/grid.h"

/* What `state` holds. */
enum { ELEMENT, SCALED, GRID /* and what follows */ };

/* Finds the scale of a tensor, by the names in use; may return NULL. */
static const rec_part *find_scale(rec_job *job, const rec_siblings *siblings, const rec_part *part)
{
    /* DeepSeek: weight_scale_inv, which is multiplied as well; compressed-tensors, ModelOpt, FBGEMM: weight_scale;
     * ComfyUI: scale_weight; DeepSeek's own code: scale. */
    static const char *const ends[] = {"_scale_inv", "_scale", "scale_weight", "scale"};
    size_t weight = lr_ends_in(part, "weight");
    const rec_part *scale = NULL;
    for (int i = 0; i < 4 && !scale && (i < 2 || weight); i++) {
        scale = rec_sibling_of(job, siblings, part, i < 2 ? 0 : weight, ends[i]);
    }
    return scale;
}

static int32_t claim(rec_job *job, const rec_siblings *siblings, const rec_part *part, rec_logical *logical)
{
    int element = lr_element_of(part);
    const rec_part *scale;
    char words[48] = "no scale";
    if (element < LR_ELEMENT_E4M3 || element > LR_ELEMENT_E8M0 || part->rank > REC_LOGICAL_RANK_MOST) {
        return REC_OK;
    }
    scale = find_scale(job, siblings, part);
    logical->parts[logical->part_count++] = part;
    logical->dtype = REC_DTYPE_F32;
    logical->rank = part->rank;
    memcpy(logical->shape, part->shape, part->rank * sizeof *part->shape);
    logical->state[ELEMENT] = (uint64_t)element;
    if (scale) {
        logical->parts[logical->part_count++] = scale;
        logical->state[SCALED] = 1;
        if (!lr_grid_find(job, siblings, part, scale, logical->state + GRID)) {
            logical->unsupported = "its scale has a shape or type that does not fit the weight";
            lr_grid_misfit(scale, words, sizeof words);
        } else {
            lr_grid_words(logical->state + GRID, words, sizeof words);
        }
    } else if (strstr(part->path, "scale") == NULL && lr_grid_setting(job, siblings, "quant_method")) {
        logical->unsupported = "config.json says that it is quantised, but its scale is missing";
    }
    (void)snprintf(logical->label, sizeof logical->label,
                   logical->unsupported && scale ? "FP8 %s, scale %s" : "FP8 %s, %s", lr_element_name(element), words);
    return REC_OK;
}

static void spans(const uint64_t *state, uint64_t first, uint64_t count, rec_span *spans)
{
    spans[0] = (rec_span){.offset = first, .length = count, .count = 1};
    if (state[SCALED]) {
        lr_grid_span(state + GRID, first, count, &spans[1]);
    }
}

static int32_t tile(const uint64_t *state, uint64_t first, uint64_t count, const rec_span *spans,
                    const void *const *parts, void *numbers)
{
    float table[256], *to = numbers;
    const uint8_t *codes = parts[0];
    lr_grid_run run;
    lr_element_table((int)state[ELEMENT], table);
    if (!state[SCALED]) {
        for (uint64_t i = 0; i < count; i++) {
            to[i] = table[codes[i]];
        }
        return REC_OK;
    }
    lr_grid_begin(&run, state + GRID, first, count, parts[1], spans[1].offset);
    while (lr_grid_next(&run)) {
        for (uint64_t i = 0; i < run.length; i++) {
            to[i] = table[codes[i]] * run.scale;
        }
        codes += run.length;
        to += run.length;
    }
    return REC_OK;
}

static const rec_plugin fp8 = {
    .abi = REC_PLUGIN_ABI,
    .size = sizeof fp8,
    .kind = REC_PLUGIN_SCHEME,
    .name = "fp8",
    .description = "scheme: FP8, a scale for tensor, rows, blocks",
    .claim = claim,
    .spans = spans,
    .tile = tile,
};

REC_PLUGINS(scheme_fp8, &fp8);
