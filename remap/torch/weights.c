/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Weights that PyTorch computes from others before each use: weight_norm (a length g and a direction v) and pruning (a
 * weight and a mask). Spectral norm needs an iteration that a file does not show, and is rejected. */

#include "remap/torch/torch_private.h"

enum { LEVELS_MOST = 200 };

/* The tensor next to another whose name differs in its end. */
static lr_piece *partner(lr_torch_run *r, const lr_node *node, const char *name, uint64_t head, const char *end)
{
    const char *text = lr_plan_text(r->job, r->plan, "%.*s%s", (int)head, name, end);
    return text ? lr_torch_leaf(r, node, text) : NULL;
}

/* Whether a length fits a direction: one along all axes but one, or one number. */
static bool is_length_of(const lr_piece *g, const lr_piece *v)
{
    const uint64_t *a = lr_piece_shape(g), *b = lr_piece_shape(v);
    uint32_t rank = lr_piece_rank(g), kept = 0;
    if (rank != lr_piece_rank(v)) {
        return rank == 0;
    }
    for (uint32_t i = 0; i < rank; i++) {
        if (a[i] != 1 && a[i] != b[i]) {
            return false;
        }
        kept += a[i] != 1;
    }
    return rank > 0 && kept <= 1;
}

/* Makes a weight of two tensors: of a length and a direction, or of an original and its mask. @param key of the
 * weight. */
static int32_t compute(lr_torch_run *r, bool norm, lr_piece *first, lr_piece *second, const char *key)
{
    lr_piece *from[2] = {first, second};
    lr_op *a = lr_piece_op(r->job, first), *b = a ? lr_piece_op(r->job, second) : NULL;
    lr_op *op = !b ? NULL : norm ? lr_op_weight_norm(r->job, a, b) : lr_op_multiply(r->job, a, b);
    lr_op_release(a);
    lr_op_release(b);
    if (!op) {
        return lr_plan_refused(r->job, r->plan, from[norm]->key, norm ? "weight_norm" : "pruning");
    }
    return lr_torch_make(r, key, op, from, 2, norm ? "weight_norm" : "prune", "") ? REC_OK : r->job->error.status;
}

static int32_t reject(lr_torch_run *r, lr_piece *piece, const char *what, const char *how)
{
    const lr_plan_source *source = &r->plan->sources[piece->source];
    piece->taken = true; /* no rename makes a weight of it */
    for (uint64_t i = 0; i < piece->input_count; i++) {
        if (lr_plan_lost(r->job, r->plan, REC_PLAN_UNEXPECTED, lr_piece_inputs(piece)[i], what) != REC_OK) {
            return r->job->error.status;
        }
    }
    return lr_plan_problem(r->job, r->plan, REC_PROBLEM_UNEXPECTED, !source->partial, piece->key, how,
                           "%.300s is the weight of %s, which Burn does not have", piece->key, what);
}

static const char *const unspectral = "Remove it in PyTorch before saving: torch.nn.utils.remove_spectral_norm(), or "
                                      "remove_parametrizations().";

/* `weight_g` with `weight_v`, `weight_orig` with `weight_u`: the names before PyTorch 1.9; `weight_orig` with
 * `weight_mask`. */
static int32_t take_old(lr_torch_run *r, const rec_layout *layout, const lr_node *node, const lr_node *child)
{
    lr_piece *piece = child->first ? NULL : child->piece, *other;
    const char *name = child->name, *key;
    uint64_t length = child->length;
    bool is_v = length > 2 && memcmp(name + length - 2, "_v", 2) == 0;
    bool is_orig = length > 5 && memcmp(name + length - 5, "_orig", 5) == 0;
    uint64_t end = is_v ? 2 : 5;
    if ((!is_v && !is_orig) || !piece || piece->dead || !lr_piece_is_tensor(piece) || !lr_torch_adapts(r, child) ||
        lr_layout_named(layout, name, length) != REC_UNKNOWN) { /* a field of the type: the model's own */
        return REC_OK;
    }
    key = lr_plan_keep(r->job, r->plan, piece->key, piece->length - end);
    if (!key) {
        return r->job->error.status;
    }
    other = partner(r, node, name, length - end, is_v ? "_g" : "_u");
    if (is_v) {
        return other && is_length_of(other, piece) ? compute(r, true, other, piece, key) : r->job->error.status;
    }
    if (other) {
        return reject(r, piece, "a spectral norm", unspectral);
    }
    other = partner(r, node, name, length - end, "_mask");
    return other ? compute(r, false, piece, other, key) : r->job->error.status;
}

/* `parametrizations.weight.original0` with `original1`. @param node it holds `parametrizations`. @param one the child
 * of that, `weight`. */
static int32_t take_new(lr_torch_run *r, const lr_node *node, const lr_node *one)
{
    lr_piece *g = lr_torch_leaf(r, one, "original0"), *v = lr_torch_leaf(r, one, "original1");
    lr_piece *whole = lr_torch_leaf(r, one, "original");
    const lr_node *first = lr_node_child(one, "0", 1);
    const char *path, *key;
    if (g && v && is_length_of(g, v)) {
        path = lr_torch_path(r, node);
        key = path ? lr_plan_text(r->job, r->plan, "%s%s%.*s", path, *path ? "." : "", (int)one->length, one->name)
                   : NULL;
        return key ? compute(r, true, g, v, key) : r->job->error.status;
    }
    if (whole && first && lr_torch_leaf(r, first, "_u")) {
        return reject(r, whole, "a spectral norm", unspectral);
    }
    return whole ? reject(r, whole, "a parametrization",
                          "Remove it in PyTorch before saving: torch.nn.utils.parametrize.remove_parametrizations().")
                 : r->job->error.status;
}

static int32_t walk(lr_torch_run *r, const rec_layout *layout, const lr_node *node, unsigned depth)
{
    const lr_node *made = lr_node_child(node, "parametrizations", sizeof "parametrizations" - 1);
    int32_t status = REC_OK;
    for (const lr_node *c = node->first; c && status == REC_OK; c = c->next) {
        status = take_old(r, layout, node, c);
    }
    for (const lr_node *c = made && lr_torch_adapts(r, made) ? made->first : NULL; c && status == REC_OK; c = c->next) {
        status = take_new(r, node, c);
    }
    while (layout && layout->kind == REC_LAYOUT_OPTION) {
        layout = rec_layout_child(layout, 0);
    }
    for (const lr_node *c = node->first; c && depth < LEVELS_MOST && status == REC_OK; c = c->next) {
        const rec_layout *below = layout ? lr_layout_below(layout, c->name, c->length) : NULL;
        status = c->first ? walk(r, below, c, depth + 1) : REC_OK;
    }
    return status;
}

int32_t lr_torch_weights(rec_job *job, rec_plan *plan, const rec_layout *layout, bool *changed)
{
    lr_torch_run r = {.job = job, .plan = plan};
    int32_t status = walk(&r, layout, plan->root, 0);
    status = status == REC_OK ? lr_torch_rename(&r) : status;
    *changed = r.changed;
    lr_release(job->allocator, r.made);
    return status;
}
