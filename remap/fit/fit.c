/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Whether a part of a plan's tree fits a type, without building anything: which node is whose, and which variant. */
#include "remap/fit/fit_private.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

bool lr_fit_is_tensor(const rec_layout *layout)
{
    return layout->role == LR_ROLE_TENSOR || layout->role == LR_ROLE_PARAMETER;
}

bool lr_fit_has_content(const lr_node *node)
{
    return node && (node->first || (node->piece && !(node->piece->value && node->piece->value->kind == REC_KIND_NIL)));
}

bool lr_fit_holds_nothing(const rec_layout *layout)
{
    uint64_t count = layout->kind == REC_LAYOUT_ARRAY ? layout->count > 0 : layout->count; /* of different children */
    if (lr_fit_is_tensor(layout)) {
        return false;
    }
    switch (layout->kind) {
    case REC_LAYOUT_UNIT:
        return true;
    case REC_LAYOUT_OPTION:
        return rec_layout_child(layout, 0) == NULL;
    case REC_LAYOUT_STRUCT:
    case REC_LAYOUT_TUPLE:
    case REC_LAYOUT_ARRAY:
        for (uint64_t i = 0; i < count; i++) {
            const rec_layout *child = rec_layout_child(layout, i);
            if (child && !lr_fit_holds_nothing(child)) {
                return false;
            }
        }
        return true;
    default:
        return false;
    }
}

bool lr_fit_may_be_bare(const rec_layout *layout)
{
    if (layout->kind != REC_LAYOUT_STRUCT || lr_fit_is_tensor(layout)) {
        return false;
    }
    for (uint64_t i = 0; i < layout->count; i++) {
        const rec_layout *child = layout->children[i];
        const rec_layout *held = child->kind == REC_LAYOUT_OPTION ? rec_layout_child(child, 0) : NULL;
        if (!lr_fit_holds_nothing(child) && !(held && lr_fit_is_tensor(held)) && !lr_fit_may_be_bare(child)) {
            return false;
        }
    }
    return true;
}

/* ---------------------------------------------------------------------------------------------------- adapters -- */

bool lr_fit_adapts(const lr_fitter *f, const lr_piece *piece)
{
    return piece && !piece->adapted && !piece->kept && f->plan->sources[piece->source].adapter == LR_ADAPTER_PYTORCH;
}

const char *lr_fit_module(lr_fit *t, const rec_layout *layout, const lr_node *node, bool *ruled)
{
    const lr_piece *piece = lr_node_piece(node);
    const char *type = NULL, *path;
    uint64_t length;
    *ruled = false;
    if (!lr_fit_adapts(t->f, piece)) {
        return NULL;
    }
    path = lr_place_rule_path(t->f, &t->f->plan->sources[piece->source], &length);
    type = lr_module_rule(t->f->job, &t->f->plan->sources[piece->source], t->f->matcher, path, length);
    if (type || lr_job_failed(t->f->job)) {
        *ruled = true;
        return type;
    }
    if (!layout->from_c || !layout->module) {
        return layout->module;
    }
    for (size_t i = 0; lr_adapt_types[i]; i++) { /* a C struct is LAYER_NORM, say */
        if (lr_name_same(lr_adapt_types[i], layout->module)) {
            return lr_adapt_types[i];
        }
    }
    return layout->module;
}

lr_node *lr_fit_field(const lr_fit *t, const char *type, const lr_node *node, const char *field, bool *transpose)
{
    const char *torch;
    uint64_t length = strlen(field);
    int change = type ? lr_adapt_back(type, field, length, &torch) : LR_ADAPT_NONE;
    *transpose = false;
    if (change != LR_ADAPT_NONE) {
        lr_node *foreign = lr_node_child(node, torch, strlen(torch));
        if (foreign && lr_fit_adapts(t->f, foreign->piece)) {
            *transpose = change == LR_ADAPT_TRANSPOSE;
            return foreign;
        }
    }
    return lr_node_child(node, field, length);
}

/* ---------------------------------------------------------------------------------------------------- elements -- */

static int by_index(const void *a, const void *b)
{
    const lr_node *x = *(lr_node *const *)a, *y = *(lr_node *const *)b;
    return x->index < y->index ? -1 : x->index > y->index;
}

lr_node **lr_fit_in_order(lr_fitter *f, const lr_node *node, const char *hint, bool *ok)
{
    lr_node **list = lr_job_alloc(f->job, (node->child_count + 1) * sizeof *list);
    uint64_t n = 0;
    *ok = true;
    for (lr_node *child = list ? node->first : NULL; child; child = child->next) {
        list[n++] = child;
    }
    if (n) {
        qsort(list, (size_t)n, sizeof *list, by_index);
    }
    for (uint64_t i = 1; i < n && *ok; i++) {
        const lr_node *a = list[i - 1], *b = list[i];
        if (a->index == b->index) {
            *ok = false;
            (void)LR_FIT_PROBLEM(f, REC_PROBLEM_KIND, true, hint,
                                 "%.300s: two spellings of the index %" PRIu64 ": %.*s and %.*s", lr_fit_here(f),
                                 b->index, (int)(a->length < 64 ? a->length : 64), a->name,
                                 (int)(b->length < 64 ? b->length : 64), b->name);
        }
    }
    return list;
}

/* Whether a node has nothing but what stands for it: nil, an empty list or map. */
static bool is_nothing(const lr_node *node)
{
    const rec_value *value = node->piece ? lr_piece_value(node->piece) : NULL;
    return !node->first && (!node->piece || (value && lr_fit_is_nothing(value)));
}

bool lr_fit_elements(lr_fit *t, const rec_layout *layout, lr_node *const *list, uint64_t count, lr_node ***slots)
{
    bool tuple = layout->kind == REC_LAYOUT_TUPLE, by_index_fits = true;
    uint64_t next = 0, wanted = layout->kind == REC_LAYOUT_LIST ? layout->fixed : layout->count, size;
    *slots = lr_mul(wanted, sizeof **slots, &size) ? lr_zalloc(t->f->job->allocator, size) : NULL;
    if (!*slots) {
        return LR_AS_FALSE(lr_fail_memory(t->f->job, size));
    }
    for (uint64_t i = 0; i < count && by_index_fits; i++) {
        by_index_fits =
            list[i]->index < wanted &&
            (is_nothing(list[i]) || !lr_fit_holds_nothing(rec_layout_child(layout, tuple ? list[i]->index : 0)));
    }
    if (by_index_fits) {
        for (uint64_t i = 0; i < count; i++) {
            (*slots)[list[i]->index] = list[i];
        }
        return true;
    }
    for (uint64_t i = 0; i < wanted && next < count; i++) {
        if (!lr_fit_holds_nothing(rec_layout_child(layout, tuple ? i : 0))) {
            (*slots)[i] = list[next++];
        }
    }
    return next == count;
}

/* ------------------------------------------------------------------------------------------------------ trials -- */

static bool fits(lr_fit *t, const rec_layout *layout, lr_node *node);

static bool why_not(lr_fit *t, const char *format, ...) REC_PRINTF(2, 3);
static bool why_not(lr_fit *t, const char *format, ...)
{
    if (!t->why_not[0]) {
        va_list args;
        va_start(args, format);
        (void)vsnprintf(t->why_not, sizeof t->why_not, format, args);
        va_end(args);
    }
    return false;
}

static bool fits_below(lr_fit *t, const rec_layout *layout, lr_node *node, const char *name, uint64_t length)
{
    size_t before;
    bool ok;
    if (!lr_place_enter(t->f->job, &t->f->path, name, length, &before)) {
        return false;
    }
    ok = fits(t, layout, node);
    lr_place_leave(&t->f->path, before);
    return ok;
}

/* The rank a piece has after squeeze and reshape. */
static uint32_t rank_of(lr_fit *t, lr_piece *piece)
{
    uint32_t rank = lr_piece_rank(piece);
    if (t->f->plan->sources[piece->source].works && !piece->adapted) {
        const char *operations;
        lr_op *op = NULL;
        (void)lr_place_work(t->f->job, t->f->plan, t->f->matcher, piece, lr_fit_here(t->f), t->f->path.used, false, &op,
                            &operations);
        rank = op ? lr_op_rank(op) : rank;
        lr_op_release(op);
    }
    return rank;
}

static bool fits_tensor(lr_fit *t, const rec_layout *layout, const lr_node *node)
{
    uint32_t rank;
    if (!node || !node->piece || !lr_piece_is_tensor(node->piece)) {
        return why_not(t, "%s is %s", lr_fit_here(t->f), node && lr_fit_has_content(node) ? "no tensor" : "missing");
    }
    rank = rank_of(t, node->piece);
    if (rank != layout->rank) {
        return why_not(t, "%s has rank %u, expected %" PRIu64, lr_fit_here(t->f), (unsigned)rank, layout->rank);
    }
    t->count++;
    return true;
}

static bool fits_struct(lr_fit *t, const rec_layout *layout, lr_node *node)
{
    bool transpose, ruled;
    const char *type;
    if (!node) {
        return lr_fit_holds_nothing(layout) || lr_fit_may_be_bare(layout) ||
               why_not(t, "%s is missing", lr_fit_here(t->f));
    }
    type = lr_fit_module(t, layout, node, &ruled);
    for (uint64_t i = 0; i < layout->count && !lr_job_failed(t->f->job); i++) {
        const char *name = layout->names[i];
        if (!fits_below(t, layout->children[i], lr_fit_field(t, type, node, name, &transpose), name, strlen(name))) {
            return false;
        }
    }
    return !lr_job_failed(t->f->job);
}

static bool fits_elements(lr_fit *t, const rec_layout *layout, lr_node *node)
{
    bool listed = layout->kind == REC_LAYOUT_LIST, ok;
    lr_node **list = lr_fit_in_order(t->f, node, "Let a rule give one of them another number.", &ok), **slots = NULL;
    uint64_t count = listed ? node->child_count : layout->count;
    ok = ok && list && (listed || lr_fit_elements(t, layout, list, node->child_count, &slots));
    if (!ok) {
        (void)why_not(t, "%s has elements that are too many, or of one number", lr_fit_here(t->f));
    }
    for (uint64_t i = 0; i < count && ok; i++) {
        char text[24];
        int n = snprintf(text, sizeof text, "%" PRIu64, i);
        ok = fits_below(t, rec_layout_child(layout, layout->kind == REC_LAYOUT_TUPLE ? i : 0),
                        slots ? slots[i] : list[i], text, (uint64_t)n);
    }
    lr_release(t->f->job->allocator, slots);
    lr_release(t->f->job->allocator, list);
    return ok;
}

static bool fits_list(lr_fit *t, const rec_layout *layout, lr_node *node)
{
    if (!node) {
        return layout->kind == REC_LAYOUT_LIST || lr_fit_holds_nothing(layout) ||
               why_not(t, "%s is missing", lr_fit_here(t->f));
    }
    if (lr_fit_holds_nothing(layout)) {
        return true;
    }
    if (node->index_count != node->child_count || (node->piece && lr_piece_is_tensor(node->piece) && !node->first)) {
        return why_not(t, "%s is not a list", lr_fit_here(t->f));
    }
    return fits_elements(t, layout, node);
}

uint64_t lr_fit_level(const lr_fit *t, const rec_layout *layout, const lr_node *node)
{
    const lr_piece *piece = node->child_count == 1 ? lr_node_piece(node) : NULL;
    const lr_plan_source *source = piece ? &t->f->plan->sources[piece->source] : NULL;
    return source && (source->record->root.form != REC_FORM_PATHS || source->stored)
               ? lr_layout_named(layout, node->first->name, node->first->length)
               : REC_UNKNOWN;
}

static bool fits(lr_fit *t, const rec_layout *layout, lr_node *node)
{
    uint64_t level;
    if (lr_fit_is_tensor(layout)) {
        return fits_tensor(t, layout, node);
    }
    switch (layout->kind) {
    case REC_LAYOUT_OPTION:
        return !rec_layout_child(layout, 0) || !lr_fit_has_content(node) || fits(t, layout->children[0], node);
    case REC_LAYOUT_STRUCT:
        return fits_struct(t, layout, node);
    case REC_LAYOUT_LIST:
    case REC_LAYOUT_ARRAY:
    case REC_LAYOUT_TUPLE:
        return fits_list(t, layout, node);
    case REC_LAYOUT_ENUM:
        level = node ? lr_fit_level(t, layout, node) : REC_UNKNOWN;
        if (level != REC_UNKNOWN) {
            return !layout->children[level] || fits(t, layout->children[level], node->first);
        }
        for (uint64_t i = 0; i < layout->count; i++) {
            if (!layout->children[i] || fits(t, layout->children[i], node)) {
                return true;
            }
        }
        return why_not(t, "%s fits no variant", lr_fit_here(t->f));
    default:
        return true;
    }
}

bool lr_fit_fits(lr_fit *t, const rec_layout *layout, lr_node *node)
{
    bool was = t->f->plan->quiet, ok;
    t->why_not[0] = '\0';
    t->f->plan->quiet = true;
    ok = fits(t, layout, node);
    t->f->plan->quiet = was;
    return ok;
}

uint64_t lr_fit_variant(lr_fit *t, const rec_layout *layout, uint64_t index, lr_node *node)
{
    t->count = 0;
    t->why_not[0] = '\0';
    /* One without data is chosen only by its name. */
    return layout->children[index] && lr_fit_fits(t, layout->children[index], node) ? t->count : REC_UNKNOWN;
}
