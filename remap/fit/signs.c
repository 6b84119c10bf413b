/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What a file that Burn's own store wrote shows of its layout: its metadata are the same whether it is Burn's layout or,
 * by the store's adapter, PyTorch's. Signs are noted in trials only; remap/decide.c weighs them. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "remap/fit/fit_private.h"

/* The source of what stands below a node, if its layout is to be decided; else NULL. */
static const lr_plan_source *doubted(const lr_fitter *f, const lr_node *node)
{
    const lr_piece *piece = f->plan->trial && !f->plan->quiet ? lr_node_piece(node) : NULL;
    const lr_plan_source *source = piece && !piece->kept ? &f->plan->sources[piece->source] : NULL;
    return source && source->doubted ? source : NULL;
}

bool lr_fit_doubted(const lr_fitter *f, const lr_node *node)
{
    return doubted(f, node) != NULL;
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
        if (piece && piece->op && !piece->kept && piece->input_count == 1) {
            const char *text = piece->inputs[0]->text, *dot = strrchr(text, '.');
            if (strcmp(dot ? dot + 1 : text, field) == 0) {
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
    const lr_plan_source *source = doubted(f, node);
    const char *path = f->path.text ? f->path.text : "", *dot = *path ? "." : "";
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
    const char *path = f->path.text ? f->path.text : "";
    char shape[160];
    if (!doubted(f, node)) {
        return REC_OK;
    }
    return lr_plan_sign(f->job, f->plan, LR_SIGN_BURN, path, "%.300s%sweight %s with bias [%" PRIu64 "]", path,
                        *path ? ": " : "", lr_shape_words(shape, sizeof shape, weight, 2), bias);
}
