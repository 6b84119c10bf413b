/* SPDX-License-Identifier: MIT OR Apache-2.0
 * PyTorch's modules of several tensors: found by the type or by their keys, split and renamed. */
#include <inttypes.h>
#include <stdio.h>

#include "remap/torch/torch_private.h"

/* More levels than a type or a record may have. */
enum { LEVELS_MOST = 200 };

static const lr_node *child_of(const lr_node *node, const char *name)
{
    return lr_node_child(node, name, strlen(name));
}

/* ------------------------------------------------------------------------------------------------------ problems -- */

static int32_t lacks(lr_torch_run *r, const lr_torch_kind *kind, const lr_node *child)
{
    const lr_piece *piece = lr_node_piece(child);
    bool projection = kind->recurrent;
    bool norm = child->length == 4 && memcmp(child->name, "norm", 4) == 0;
    const lr_plan_source *source = &r->plan->sources[piece->source];
    return lr_plan_problem(
        r->job, r->plan, REC_PROBLEM_UNEXPECTED, !source->partial, piece->key,
        norm ? "Let a rename move it to a norm of the model's own, which applies it after the last layer."
             : "Burn cannot compute this model. A partial load (partial) leaves the tensor out.",
        "%.300s: Burn's %s has no such field%s", piece->key, kind->name,
        projection ? " (proj_size)"
        : norm     ? " (the norm after the last layer)"
                   : " (add_bias_kv)");
}

/* @param layer it is of another layer, else of the other direction. */
static int32_t other_tensor(lr_torch_run *r, const lr_torch_kind *kind, const lr_node *node, const char *to, bool layer)
{
    return lr_plan_problem(r->job, r->plan, REC_PROBLEM_SHAPE, true, to, "",
                           "%.300s: %.200s is of %s, and Burn's %s has one%s. The type must have a %s%s%s here",
                           *to ? to : "the model", lr_node_piece(node)->key,
                           layer ? "a second layer" : "the reverse direction", kind->name, layer ? "" : " direction",
                           layer ? "Vec<" : "Bi", kind->name, layer ? ">" : "");
}

/* Whether the gates that the file shows are those of the kind; else makes a problem. */
static bool gates_agree(lr_torch_run *r, const lr_torch_kind *kind, const lr_node *node, const char *to)
{
    const lr_piece *layer = lr_torch_leaf(r, node, "weight_hh_l0");
    const lr_piece *piece = layer ? layer : lr_torch_leaf(r, node, "weight_hh");
    const uint64_t *shape = piece && lr_piece_rank(piece) == 2 ? lr_piece_shape(piece) : NULL;
    const lr_torch_kind *shown;
    uint64_t gates = shape && shape[1] && shape[0] % shape[1] == 0 ? shape[0] / shape[1] : 0;
    if (!gates || gates == lr_torch_part_count(kind)) {
        return true;
    }
    shown = lr_torch_kind_of_gates(gates, kind->both);
    return LR_AS_FALSE(
        lr_plan_problem(r->job, r->plan, REC_PROBLEM_SHAPE, true, to, "Is the type right?",
                        "%.300s: %s has %" PRIu64 " gates, found %" PRIu64 " in %.200s [%" PRIu64 ", %" PRIu64 "]%s%s",
                        *to ? to : "the model", kind->name, lr_torch_part_count(kind), gates, piece->key, shape[0],
                        shape[1], shown ? ": the file's module is " : "", shown ? shown->name : ""));
}

/* --------------------------------------------------------------------------------------------------- norms first -- */

static int32_t report_unsure(lr_torch_run *r)
{
    char more[64] = "";
    if (r->unsure_count == 0) {
        return REC_OK;
    }
    if (r->unsure_count > 1) {
        (void)snprintf(more, sizeof more, " (and %" PRIu64 " more)", r->unsure_count - 1);
    }
    return lr_plan_problem(r->job, r->plan, REC_PROBLEM_AMBIGUOUS, true, r->unsure,
                           "Give the model's own norm_first, 0 for False and 1 for True: --set norm_first=0|1",
                           "%.300s%s: no tensor shows whether the layer applies its norms first (norm_first), and "
                           "Burn numbers them by that",
                           *r->unsure ? r->unsure : "the model", more);
}

/* -------------------------------------------------------------------------------------------------------- fields -- */

static int32_t apply(lr_torch_run *r, const lr_torch_kind *kind, const lr_node *node, const char *to, bool list);

/* The path of a recurrent module's layer and direction. */
static const char *layer_path(lr_torch_run *r, const lr_torch_kind *kind, const char *to, bool list, uint64_t layer,
                              bool reversed)
{
    if (list) {
        to = lr_plan_text(r->job, r->plan, "%s%s%" PRIu64, to, *to ? "." : "", layer);
    }
    return to && kind->both ? lr_plan_join(r->job, r->plan, to, reversed ? "reverse" : "forward") : to;
}

static int32_t apply_each(lr_torch_run *r, const lr_torch_kind *kind, const lr_node *list, const char *to)
{
    int32_t status = REC_OK;
    for (const lr_node *c = list->first; c && status == REC_OK; c = c->next) {
        const char *path = lr_plan_text(r->job, r->plan, "%s.%.*s", to, (int)c->length, c->name);
        status = !path                     ? r->job->error.status
                 : c->index != REC_UNKNOWN ? apply(r, kind, c, path, false)
                                           : lr_torch_move(r, c, to, NULL, "", false);
    }
    return status;
}

/* Burn's path of a field, which may depend on the order of the norms. */
static const char *burns_path(lr_torch_run *r, const lr_torch_field *field, const lr_node *child, const char *to)
{
    int first = field->norm_first ? lr_torch_norm_first(&r->plan->sources[lr_node_piece(child)->source]) : 0;
    if (first < 0 && strcmp(field->burn, "norm_1") == 0) {
        r->unsure = r->unsure_count++ == 0 ? to : r->unsure;
    }
    return first > 0 ? field->norm_first : field->burn;
}

static int32_t apply_field(lr_torch_run *r, const lr_torch_kind *kind, const lr_torch_field *field, lr_node *child,
                           const char *to)
{
    const lr_torch_kind *inner = lr_torch_kind_find(field->kind);
    const char *burn, *path;
    if (!field->burn) {
        return lacks(r, kind, child);
    }
    if (field->parts) {
        return child->piece && !child->first && lr_piece_is_tensor(child->piece)
                   ? lr_torch_split(r, child->piece, kind, field, to)
                   : REC_OK;
    }
    burn = burns_path(r, field, child, to);
    if (!inner) {
        return lr_torch_move(r, child, to, burn, kind->name, field->linear);
    }
    path = lr_plan_join(r->job, r->plan, to, burn);
    return !path         ? r->job->error.status
           : field->each ? apply_each(r, inner, child, path)
                         : apply(r, inner, child, path, false);
}

/* A child under a name that is not PyTorch's: rules may have given it Burn's. */
static int32_t apply_other(lr_torch_run *r, const lr_torch_kind *kind, lr_node *child, const char *to)
{
    const lr_torch_field *held = lr_torch_holder_find(kind, child->name, child->length);
    return held ? apply_field(r, kind, held, child, to) : lr_torch_move(r, child, to, NULL, kind->name, false);
}

/* Rewrites the module at a node. @param to its path at the destination. @param list a list of recurrent modules. */
static int32_t apply(lr_torch_run *r, const lr_torch_kind *kind, const lr_node *node, const char *to, bool list)
{
    int32_t status = REC_OK;
    bool told = false;
    if (kind->recurrent && child_of(node, "weight_hr_l0")) {
        return lacks(r, kind, child_of(node, "weight_hr_l0"));
    }
    if (kind->recurrent && !gates_agree(r, kind, node, to)) {
        return r->job->error.status;
    }
    if (!list && lr_memory_add(r->job, &r->plan->modules, to, kind->name) != REC_OK) {
        return r->job->error.status;
    }
    for (lr_node *c = node->first; c && status == REC_OK; c = c->next) {
        uint64_t layer;
        bool reversed;
        const lr_torch_field *field = lr_torch_field_find(kind, c->name, c->length, &layer, &reversed);
        const char *path = to;
        if (!lr_torch_adapts(r, c)) {
            continue;
        }
        if (field && kind->recurrent && ((layer && !list) || (reversed && !kind->both))) {
            status = told ? REC_OK : other_tensor(r, kind, c, to, layer && !list);
            told = true;
            continue;
        }
        if (field && kind->recurrent) {
            path = layer_path(r, kind, to, list, layer, reversed);
        }
        status = !path   ? r->job->error.status
                 : field ? apply_field(r, kind, field, c, path)
                         : apply_other(r, kind, c, to);
    }
    return status;
}

/* ------------------------------------------------------------------------------------------------ without a type -- */

static bool is_matrix(const lr_piece *piece)
{
    return piece && lr_piece_rank(piece) == 2;
}

static bool has_matrix(const lr_torch_run *r, const lr_node *node, const char *name)
{
    return node && is_matrix(lr_torch_leaf(r, node, name));
}

/* The recurrent kind whose tensors, or those of its cell, are directly below a node. @param list (out) it has several
 * layers. */
static const lr_torch_kind *recurrent_at(const lr_torch_run *r, const lr_node *node, bool *list)
{
    bool cell = lr_torch_leaf(r, node, "weight_ih") != NULL;
    const lr_piece *input = lr_torch_leaf(r, node, cell ? "weight_ih" : "weight_ih_l0");
    const lr_piece *hidden = lr_torch_leaf(r, node, cell ? "weight_hh" : "weight_hh_l0");
    const uint64_t *shape = is_matrix(input) && is_matrix(hidden) ? lr_piece_shape(hidden) : NULL;
    bool projected = lr_torch_leaf(r, node, "weight_hr_l0") != NULL;
    *list = child_of(node, "weight_ih_l1") != NULL;
    if (!shape || !shape[1] || lr_piece_shape(input)[0] != shape[0] || (shape[0] % shape[1] && !projected)) {
        return NULL;
    }
    return lr_torch_kind_of_gates(projected ? 4 : shape[0] / shape[1], child_of(node, "weight_ih_l0_reverse") != NULL);
}

static bool is_attention(const lr_torch_run *r, const lr_node *node)
{
    const lr_piece *fused = node ? lr_torch_leaf(r, node, "in_proj_weight") : NULL;
    bool three = is_matrix(fused) && lr_piece_shape(fused)[0] && lr_piece_shape(fused)[0] % 3 == 0;
    return node && has_matrix(r, child_of(node, "out_proj"), "weight") &&
           (three || (has_matrix(r, node, "q_proj_weight") && has_matrix(r, node, "k_proj_weight") &&
                      has_matrix(r, node, "v_proj_weight")));
}

/* The child of a field, under PyTorch's name or under Burn's: `pwff.linear_inner`. */
static const lr_node *field_child(const lr_node *node, const lr_torch_field *field)
{
    const lr_node *child = child_of(node, field->torch);
    const char *part = field->burn;
    while (!child && node && part) {
        const char *dot = strchr(part, '.');
        node = lr_node_child(node, part, dot ? (uint64_t)(dot - part) : strlen(part));
        part = dot ? dot + 1 : NULL;
    }
    return child ? child : node;
}

static bool begins_field(const lr_torch_kind *kind, const lr_node *child)
{
    for (const lr_torch_field *f = kind->fields; f->torch; f++) {
        size_t first = strcspn(f->burn, ".");
        if ((strlen(f->torch) == child->length && memcmp(f->torch, child->name, child->length) == 0) ||
            (first == child->length && memcmp(f->burn, child->name, first) == 0)) {
            return true;
        }
    }
    return false;
}

/* Whether a node has all fields of a layer and no other. Rules may have given some of them Burn's names. */
static bool is_layer(const lr_torch_run *r, const lr_torch_kind *kind, const lr_node *node)
{
    for (const lr_torch_field *f = kind->fields; f->torch; f++) {
        const lr_node *child = field_child(node, f);
        bool ok = child && (f->kind     ? is_attention(r, child)
                            : f->linear ? has_matrix(r, child, "weight")
                                        : lr_torch_leaf(r, child, "weight") != NULL);
        if (!ok) {
            return false;
        }
    }
    for (const lr_node *c = node->first; c; c = c->next) {
        if (!begins_field(kind, c)) {
            return false;
        }
    }
    return true;
}

/* The kind of layer that a node is, or NULL. */
static const lr_torch_kind *layer_at(const lr_torch_run *r, const lr_node *node)
{
    static const char *const layers[] = {"TransformerEncoderLayer", "TransformerDecoderLayer"};
    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++) {
        const lr_torch_kind *kind = lr_torch_kind_find(layers[i]);
        if (is_layer(r, kind, node)) {
            return kind;
        }
    }
    return NULL;
}

static const lr_torch_kind *shown_at(const lr_torch_run *r, const lr_node *node, bool *list)
{
    const lr_torch_kind *kind = recurrent_at(r, node, list);
    *list = kind && *list;
    kind = kind ? kind : layer_at(r, node);
    return kind || !is_attention(r, node) ? kind : lr_torch_kind_find("MultiHeadAttention");
}

/* Whether a list of layers that Burn has as modules stands in a node's `layers`. */
static bool holds_layers(const lr_torch_run *r, const lr_node *node)
{
    const lr_node *list = child_of(node, "layers"), *first = list ? list->first : NULL;
    return first && first->index != REC_UNKNOWN && layer_at(r, first);
}

/* A norm after the last layer is a field of the model's own: Burn's TransformerEncoder and TransformerDecoder have
 * none, and no key shows which of these the destination is. A module rule for it says so. */
static int32_t doubt_norm(lr_torch_run *r, const lr_node *node)
{
    const lr_node *norm = holds_layers(r, node) ? child_of(node, "norm") : NULL;
    const lr_piece *piece = norm && lr_torch_adapts(r, norm) ? lr_node_piece(norm) : NULL;
    lr_plan_source *source = piece ? &r->plan->sources[piece->source] : NULL;
    const char *path = piece ? lr_torch_path(r, norm) : NULL;
    lr_matcher *matcher;
    const char *type, *ruled;
    uint64_t length = path ? strlen(path) : 0;
    if (!path || source->partial || r->plan->base || r->plan->foreign || r->plan->type.layout) {
        return r->job->error.status;
    }
    ruled = lr_place_without_prefix(source, path, &length);
    matcher = lr_matcher_new(r->job);
    type = matcher ? lr_module_rule(r->job, source, matcher, ruled, length) : NULL;
    lr_matcher_free(matcher);
    return type || lr_job_failed(r->job)
               ? r->job->error.status
               : lr_plan_problem(r->job, r->plan, REC_PROBLEM_AMBIGUOUS, true, path,
                                 "If the destination has a custom norm there: module = PATTERN => LayerNorm. Burn's "
                                 "own modules cannot compute this model.",
                                 "%.300s: a norm after the last layer, which Burn's TransformerEncoder and "
                                 "TransformerDecoder do not have",
                                 path);
}

static int32_t walk_untyped(lr_torch_run *r, const lr_node *node, unsigned depth)
{
    bool list;
    const lr_torch_kind *kind = node->first ? shown_at(r, node, &list) : NULL;
    const char *path = kind ? lr_torch_path(r, node) : NULL;
    int32_t status = REC_OK;
    if (path) {
        return apply(r, kind, node, path, list);
    }
    status = doubt_norm(r, node);
    for (const lr_node *c = node->first; c && depth < LEVELS_MOST && status == REC_OK; c = c->next) {
        status = c->first ? walk_untyped(r, c, depth + 1) : REC_OK;
    }
    return lr_job_failed(r->job) ? r->job->error.status : status;
}

/* --------------------------------------------------------------------------------------------------- with a type -- */

static int32_t walk_typed(lr_torch_run *r, const rec_layout *layout, const lr_node *node, unsigned depth);

static int32_t walk_fields(lr_torch_run *r, const rec_layout *layout, const lr_node *node, unsigned depth)
{
    const lr_torch_kind *kind = lr_torch_adapts(r, node) ? lr_torch_kind_of(layout) : NULL;
    const char *path = kind && node->first ? lr_torch_path(r, node) : NULL;
    int32_t status = REC_OK;
    if (path) {
        return apply(r, kind, node, path, false);
    }
    for (uint64_t i = 0; i < layout->count && status == REC_OK; i++) {
        const lr_node *child = child_of(node, layout->names[i]);
        status = child ? walk_typed(r, rec_layout_child(layout, i), child, depth) : REC_OK;
    }
    return status;
}

/* Whether the layers of a recurrent module stand in the place of a list. */
static bool is_recurrent_list(const lr_torch_run *r, const rec_layout *item, const lr_node *node)
{
    const lr_torch_kind *kind = item ? lr_torch_kind_of(item) : NULL;
    return kind && kind->recurrent && lr_torch_leaf(r, node, "weight_ih_l0");
}

static int32_t walk_elements(lr_torch_run *r, const rec_layout *layout, const lr_node *node, unsigned depth)
{
    bool tuple = layout->kind == REC_LAYOUT_TUPLE;
    const rec_layout *item = tuple ? NULL : rec_layout_child(layout, 0);
    int32_t status = REC_OK;
    if (is_recurrent_list(r, item, node)) {
        const char *path = lr_torch_path(r, node);
        return path ? apply(r, lr_torch_kind_of(item), node, path, true) : r->job->error.status;
    }
    for (const lr_node *c = node->first; c && status == REC_OK; c = c->next) {
        const rec_layout *one = !tuple ? item : c->index < layout->count ? rec_layout_child(layout, c->index) : NULL;
        status = one ? walk_typed(r, one, c, depth) : REC_OK;
    }
    return status;
}

static int32_t walk_typed(lr_torch_run *r, const rec_layout *layout, const lr_node *node, unsigned depth)
{
    if (!layout || layout->role == LR_ROLE_TENSOR || layout->role == LR_ROLE_PARAMETER || depth == LEVELS_MOST ||
        lr_job_failed(r->job)) {
        return r->job->error.status;
    }
    switch (layout->kind) {
    case REC_LAYOUT_OPTION:
        return walk_typed(r, rec_layout_child(layout, 0), node, depth + 1);
    case REC_LAYOUT_STRUCT:
        return walk_fields(r, layout, node, depth + 1);
    case REC_LAYOUT_LIST:
    case REC_LAYOUT_ARRAY:
    case REC_LAYOUT_TUPLE:
        return walk_elements(r, layout, node, depth + 1);
    case REC_LAYOUT_ENUM: /* the tensors show which variant it is */
        return walk_untyped(r, node, depth + 1);
    default:
        return REC_OK;
    }
}

int32_t lr_torch_modules(rec_job *job, rec_plan *plan, const rec_layout *layout, bool *changed)
{
    lr_torch_run r = {.job = job, .plan = plan};
    int32_t status = layout ? walk_typed(&r, layout, plan->root, 0) : walk_untyped(&r, plan->root, 0);
    status = status == REC_OK ? report_unsure(&r) : status;
    status = status == REC_OK ? lr_torch_rename(&r) : status;
    lr_memory_sort(&plan->modules);
    *changed = r.changed;
    lr_release(job->allocator, r.made);
    return status;
}
