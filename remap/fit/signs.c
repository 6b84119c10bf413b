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
        (is_one_of(type, renamed) ||
         (strcmp(type, "RmsNorm") == 0 && lr_burn_of(&source->record->metadata).minor >= RMS_NORM_SINCE))) {
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

/* Linear layers that a file stores [in, out], as transformers' Conv1D: their bias shows it unless they are square. */

const lr_piece *lr_fit_tensor_of(const lr_node *node, const char *name)
{
    const lr_node *child = lr_node_child(node, name, strlen(name));
    const lr_piece *piece = child && !child->first ? child->piece : NULL;
    return piece && !piece->kept && lr_piece_is_tensor(piece) ? piece : NULL;
}

/* Returns the shape of a weight of rank 2 with a bias, or NULL. @param bias (out) its length. */
static const uint64_t *weight_of(const lr_node *node, uint64_t *bias)
{
    const lr_piece *w = node ? lr_fit_tensor_of(node, "weight") : NULL, *b = w ? lr_fit_tensor_of(node, "bias") : NULL;
    if (!b || w->linear || w->adapted || lr_piece_rank(w) != 2 || lr_piece_rank(b) != 1) {
        return NULL;
    }
    *bias = lr_piece_shape(b)[0];
    return lr_piece_shape(w);
}

static bool any_below(const lr_node *node)
{
    uint64_t bias;
    const uint64_t *shape = weight_of(node, &bias);
    bool found = shape && bias == shape[1] && bias != shape[0];
    for (const lr_node *child = node->first; child && !found; child = child->next) {
        found = child->first && any_below(child);
    }
    return found;
}

bool lr_fit_has_conv1d(const rec_plan *plan)
{
    for (uint64_t s = 0; s < plan->source_count; s++) {
        const lr_rules *rules = plan->sources[s].rules;
        for (uint64_t i = 0; i < rules->count; i++) {
            const lr_rule *rule = &rules->rules[i];
            if (rule->kind == LR_RULE_MODULE && !rule->profile && strcmp(rule->replacement, "Conv1D") == 0) {
                return true;
            }
        }
    }
    return any_below(plan->root);
}

bool lr_fit_doubts_linear(const lr_fit *t, const char *type, const lr_node *node)
{
    const lr_piece *piece = lr_node_piece(node);
    /* Burn's own store never writes one: there such a shape shows that the adapter is the wrong one. */
    bool asked = piece && t->conv1d && !t->f->plan->trial && !t->f->plan->sources[piece->source].stored;
    uint64_t bias;
    const uint64_t *shape = asked && type && strcmp(type, "Linear") == 0 ? weight_of(node, &bias) : NULL;
    return shape && shape[0] == shape[1] && bias == shape[0] && shape[0] > 1;
}
