/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Linear layers that a file stores [in, out], as transformers' Conv1D: their bias shows it unless they are square. */

#include "remap/fit/fit_private.h"

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

static bool is_conv1d(const lr_node *node)
{
    uint64_t bias;
    const uint64_t *shape = weight_of(node, &bias);
    return shape && bias == shape[1] && bias != shape[0];
}

static bool any_below(const lr_node *node)
{
    bool found = is_conv1d(node);
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
