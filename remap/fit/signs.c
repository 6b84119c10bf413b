/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What a file shows of its layout: Burn's own store leaves the same metadata whether it is Burn's layout or, by the
 * store's adapter, PyTorch's, and others say nothing at all. Signs of the former are noted in trials; remap/decide.c
 * weighs them. */
#include <inttypes.h>

#include "remap/fit/fit_private.h"

/* Returns the source of the pieces below a node if signs of its layout are needed; otherwise NULL. */
static const lr_plan_source *wanted(const lr_fitter *f, const lr_node *node)
{
    const lr_piece *piece = f->plan->quiet || !node ? NULL : lr_node_piece(node);
    const lr_plan_source *source = piece && !piece->kept ? &f->plan->sources[piece->source] : NULL;
    return source && (f->plan->trial ? source->doubted : source->presumed) ? source : NULL;
}

bool lr_fit_doubted(const lr_fitter *f, const lr_node *node)
{
    return f->plan->trial && wanted(f, node);
}

/* 0.MINOR of the store that wrote it, -1 if it does not say. */
static int32_t minor_of(const lr_plan_source *source)
{
    const lr_entry *version = lr_map_find_text(&source->record->metadata, "version", 7);
    int32_t minor = -1;
    if (version && version->value.kind == REC_KIND_STRING) {
        const char *text = version->value.v.text;
        for (text += strncmp(text, "0.", 2) == 0 ? 2 : strlen(text); *text >= '0' && *text <= '9' && minor < 1000;
             text++) {
            minor = (minor < 0 ? 0 : minor) * 10 + (*text - '0');
        }
    }
    return minor;
}

/* Whether a tensor of the module had that name in the file, whatever rules made of it. */
static bool came_as(const lr_node *node, const char *field)
{
    for (const lr_node *child = node->first; child; child = child->next) {
        const lr_piece *piece = child->first ? NULL : child->piece;
        if (piece && lr_piece_is_tensor(piece) && !piece->kept && piece->input_count == 1) {
            const lr_key *key = lr_piece_inputs(piece)[0];
            if (strcmp(lr_path_last(key->text, key->length), field) == 0) {
                return true;
            }
        }
    }
    return false;
}

static bool is_one_of(const char *type, const char *const *types)
{
    while (*types && strcmp(*types, type) != 0) {
        types++;
    }
    return *types != NULL;
}

int32_t lr_fit_sign_names(lr_fitter *f, const lr_node *node, const char *type, bool sure)
{
    /* What the store's adapter renames; RmsNorm from 0.22 on. PRelu and InstanceNorm keep Burn's names. */
    static const char *const renamed[] = {"BatchNorm", "LayerNorm", "GroupNorm", NULL};
    static const char *const norms[] = {"BatchNorm", "LayerNorm", "GroupNorm", "RmsNorm", "PRelu", NULL};
    enum { RMS_NORM_SINCE = 22 };
    const lr_plan_source *source = wanted(f, node);
    const char *path = lr_fit_here(f), *dot = *path ? "." : "";
    if (!source || !is_one_of(type, norms)) {
        return REC_OK;
    }
    if (came_as(node, "weight")) {
        return lr_plan_sign(f->job, f->plan, LR_SIGN_TORCH, path, "%.300s%sweight", path, dot);
    }
    if (came_as(node, "gamma") &&
        (is_one_of(type, renamed) || (strcmp(type, "RmsNorm") == 0 && minor_of(source) >= RMS_NORM_SINCE))) {
        /* Without a type an InstanceNorm, which is never renamed, looks like the others; but it has no statistics. */
        bool certain = sure || strcmp(type, "BatchNorm") == 0;
        return lr_plan_sign(f->job, f->plan, certain ? LR_SIGN_BURN : LR_SIGN_HINT, path, "%.300s%sgamma", path, dot);
    }
    return REC_OK;
}

int32_t lr_fit_sign_linear(lr_fitter *f, const lr_node *node, const uint64_t *weight, uint64_t bias)
{
    const char *path = lr_fit_here(f);
    char shape[160];
    if (!lr_fit_doubted(f, node)) {
        return REC_OK;
    }
    return lr_plan_sign(f->job, f->plan, LR_SIGN_BURN, path, "%.300s%sweight %s with bias [%" PRIu64 "]", path,
                        *path ? ": " : "", lr_shape_words(shape, sizeof shape, weight, 2), bias);
}

int32_t lr_fit_sign_held(lr_fitter *f, const lr_node *node, const char *module, const rec_value *value)
{
    const lr_entry *w, *b;
    const rec_tensor *weight, *bias;
    const char *path = lr_fit_here(f);
    if (f->plan->trial || !wanted(f, node) || strcmp(module, "Linear") != 0) {
        return REC_OK;
    }
    w = lr_map_find_text(value->v.map, "weight", 6);
    b = lr_map_find_text(value->v.map, "bias", 4);
    weight = w ? rec_value_tensor(&w->value) : NULL;
    bias = b ? rec_value_tensor(&b->value) : NULL;
    if (!weight || !bias || weight->rank != 2 || weight->shape[0] == weight->shape[1]) {
        return REC_OK;
    }
    return lr_plan_sign(f->job, f->plan, LR_SIGN_TORCH, path, "%.300s", path);
}
