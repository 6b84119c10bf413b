/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Going backwards: Burn's modules become PyTorch's, operations are undone, tied tensors are left out. */
#include <inttypes.h>
#include <stdio.h>

#include "remap/reverse/reverse_private.h"

/* -------------------------------------------------------------------------------- modules and their operations -- */

/* Takes the count of `op`. @return false: there is a problem, or the job has failed. */
static bool replace_op(lr_reverse *b, lr_back_item *one, lr_op *op, const char *word)
{
    if (!op) {
        return false;
    }
    lr_op_release(one->op);
    one->op = op;
    one->operations = lr_plan_and(b->job, b->plan, one->operations, word);
    return one->operations != NULL;
}

static lr_op *unsqueeze(lr_reverse *b, const lr_rule *rule, const lr_op *op, lr_op *input)
{
    uint64_t shape[LR_RANK_MOST];
    bool one[LR_RANK_MOST] = {false};
    uint32_t rank = lr_op_rank(op) + (uint32_t)rule->amount_count, from = 0;
    if (rule->amount_count > LR_RANK_MOST || rank > LR_RANK_MOST) {
        return LR_AS_NULL(
            rec_fail(b->job, REC_E_MISMATCH, REC_UNKNOWN, "a shape has at most %d dimensions", LR_RANK_MOST));
    }
    for (uint64_t i = 0; i < rule->amount_count; i++) {
        int64_t axis;
        if (lr_source_amount(b->job, b->source, rule, &rule->amounts[i], &axis) != REC_OK) {
            return NULL;
        }
        axis += axis < 0 ? rank : 0;
        if (axis < 0 || axis >= (int64_t)rank || one[axis]) {
            return LR_AS_NULL(
                rec_fail(b->job, REC_E_MISMATCH, REC_UNKNOWN, "axis %" PRId64 " is not there, or given twice", axis));
        }
        one[axis] = true;
    }
    for (uint32_t i = 0; i < rank; i++) {
        shape[i] = one[i] ? 1 : lr_op_shape(op)[from++];
    }
    return lr_op_reshape(b->job, input, shape, rank);
}

/* In the reverse of the order in which they act. */
static const int32_t works[] = {LR_RULE_ADD,       LR_RULE_ROPE,    LR_RULE_PERMUTE,
                                LR_RULE_TRANSPOSE, LR_RULE_RESHAPE, LR_RULE_SQUEEZE};

static lr_op *unpermute(lr_reverse *b, const lr_rule *rule, lr_op *op)
{
    uint32_t order[LR_RANK_MOST];
    for (uint32_t i = 0; i < rule->order_count; i++) {
        order[rule->order[i] % LR_RANK_MOST] = i; /* more axes than a tensor has are refused all the same */
    }
    return lr_op_permute(b->job, op, order, rule->order_count);
}

static int32_t undone(lr_reverse *b, lr_back_item *one, const lr_rule *rule, lr_op *op, const char *word)
{
    return replace_op(b, one, op, word) ? REC_OK : lr_back_refused_by(b, one->text, rule);
}

/* Undoes one rule. */
static int32_t undo_work(lr_reverse *b, lr_back_item *one, uint64_t index)
{
    const lr_rule *rule = lr_back_rule(b, index);
    b->source->rules->rules[index].hits++;
    switch (rule->kind) {
    case LR_RULE_ADD:
        if (lr_back_inexact(b, index, one->text, "the sum was rounded, so the number cannot be removed exactly") !=
            REC_OK) {
            return b->job->error.status;
        }
        return undone(b, one, rule, lr_op_add(b->job, one->op, -rule->number_value), "subtract");
    case LR_RULE_RESHAPE:
        if (!rule->before) {
            return lr_back_no_inverse(b, index, one->text, "the shape before is not in it",
                                      "Give both shapes: reshape = PATTERN | [n, H, -1] to [n, -1].");
        }
        return undone(b, one, rule, lr_rule_reshape(b->job, b->source, rule, one->op, true), "reshape back");
    case LR_RULE_TRANSPOSE:
        return undone(b, one, rule, lr_op_transpose(b->job, one->op), "permute back");
    case LR_RULE_PERMUTE:
        return undone(b, one, rule, unpermute(b, rule, one->op), "permute back");
    case LR_RULE_SQUEEZE:
        if (!rule->amount_count) {
            return lr_back_no_inverse(b, index, one->text, "which axes of length 1 there were is not in it",
                                      "Name the axes: squeeze = PATTERN | 1 2.");
        }
        return undone(b, one, rule, unsqueeze(b, rule, one->op, one->op), "unsqueeze");
    default:
        return undone(b, one, rule, lr_rule_rope(b->job, b->source, rule, one->op, true), "rope back");
    }
}

/* Recognises the module of a tensor that no rule and no type names: all norms have gamma and beta. */
static const char *recognised(const lr_back_item *one, const char *field)
{
    const char *module = one->input_count == 1 ? one->inputs[0]->module : NULL;
    if (module && lr_adapt_known(module)) {
        return module;
    }
    return strcmp(field, "gamma") == 0 || strcmp(field, "beta") == 0 ? "LayerNorm" : NULL;
}

/* The module that a tensor is a field of: by a module rule, else by what the import left, else by the type, else by
 * what the record shows; as on the way there, and of each key by itself. @param type (out) NULL: none that is laid out
 * otherwise. */
static int32_t module_of(lr_reverse *b, lr_back_item *one, const char *field, const char **type)
{
    const char *last = lr_path_last(one->place, strlen(one->place));
    char text[400];
    *type = NULL;
    if (!b->torch) { /* the file's reader alone knew that the weight was transposed */
        bool hinted = b->source->rules->adapter == LR_ADAPTER_FOREIGN && one->linear == 1;
        *type = hinted && strcmp(field, "weight") == 0 && lr_op_rank(one->op) == 2 ? "Linear" : NULL;
        return REC_OK;
    }
    *type = lr_module_rule(b->job, b->source, b->matcher, one->place,
                           last > one->place ? (uint64_t)(last - one->place) - 1 : 0);
    if (*type || lr_job_failed(b->job)) {
        return b->job->error.status;
    }
    if (one->linear && strcmp(field, "weight") == 0 && lr_op_rank(one->op) == 2) {
        *type = one->linear == 1 ? "Linear" : NULL;
        return REC_OK;
    }
    if (one->module) { /* fields of a custom module are unchanged */
        *type = lr_adapt_known(one->module) ? one->module : NULL;
        return REC_OK;
    }
    *type = recognised(one, field);
    if (*type || strcmp(field, "weight") != 0 || lr_op_rank(one->op) != 2) {
        return REC_OK;
    }
    (void)snprintf(text, sizeof text,
                   "%.300s: nothing says whether it is a Linear's, which is transposed, or an Embedding's", one->text);
    return lr_back_issue(b, REC_PROBLEM_AMBIGUOUS, 0, one->text, "module", text,
                         "Give the record's type, module rules (module = PATTERN => Linear) or --adapter none.");
}

int32_t lr_back_unadapt(lr_reverse *b, lr_back_item *one)
{
    const lr_rules *rules = b->source->rules;
    uint64_t length = strlen(one->text);
    const char *field = lr_path_last(one->text, length), *torch = NULL, *type;
    int change;
    if (one->gone || module_of(b, one, field, &type) != REC_OK) {
        return b->job->error.status;
    }
    change = type ? lr_adapt_back(type, field, length - (uint64_t)(field - one->text), &torch) : LR_ADAPT_NONE;
    b->batch_norms += type && strcmp(type, "BatchNorm") == 0 && strcmp(field, "running_mean") == 0;
    one->why = type ? type : "";
    one->starts[one->start_count++] = one->text;
    if (change == LR_ADAPT_TRANSPOSE && !replace_op(b, one, lr_op_transpose(b->job, one->op), "transpose")) {
        return lr_plan_refused(b->job, b->plan, one->text, "a Linear's weight is transposed");
    }
    if (change == LR_ADAPT_RENAME) {
        size_t head = (size_t)(field - one->text), tail = strlen(torch);
        char *renamed = lr_arena_alloc(&b->plan->arena, head + tail + 1, 1);
        if (!renamed) {
            return lr_fail_memory(b->job, head + tail);
        }
        memcpy(renamed, one->text, head);
        memcpy(renamed + head, torch, tail + 1);
        /* It may have come under Burn's own name, too, by a rename: both are tried. */
        one->starts[1] = one->starts[0];
        one->starts[0] = renamed;
        one->start_count = 2;
    }
    for (size_t w = 0; b->source->works && w < sizeof works / sizeof *works; w++) {
        for (uint64_t i = rules->count; i-- > 0;) {
            int found = rules->rules[i].kind == works[w]
                            ? lr_regex_match(b->job, rules->rules[i].regex, b->matcher, one->place, strlen(one->place))
                            : 0;
            bool fits = found > 0 && lr_rule_fits(&rules->rules[i], lr_op_rank(one->op), true);
            if (found < 0 || (fits && undo_work(b, one, i) != REC_OK)) {
                return b->job->error.status;
            }
        }
    }
    return REC_OK;
}

/* -------------------------------------------------------------------------------------------------------- ties -- */

static lr_back_item *find_item(const lr_reverse *b, const char *key)
{
    for (uint64_t i = 0; i < b->count; i++) {
        for (uint32_t k = 0; !b->items[i].gone && k < b->items[i].start_count; k++) {
            if (strcmp(b->items[i].starts[k], key) == 0) {
                return &b->items[i];
            }
        }
    }
    return NULL;
}

/* Two tensors that were one differ now: a configuration that ties them has one of them lost. */
static int32_t parted(lr_reverse *b, uint64_t rule, const lr_rule *r)
{
    double value = 0;
    char text[700];
    if (!lr_variables_find(&b->source->numbers, LR_NUMBER_TIED, &value) || value == 0) {
        return REC_OK;
    }
    (void)snprintf(text, sizeof text,
                   "%.200s and %.200s were one tensor and differ now, while the configuration says %s: a loader would "
                   "put the second in the place of the first",
                   r->pattern, r->replacement, LR_NUMBER_TIED);
    return lr_back_issue(
        b, REC_PROBLEM_AMBIGUOUS, rule + 1, r->pattern, "parted", text,
        "Set it to false in config.json and here (--set tie_word_embeddings=0): both are written then.");
}

int32_t lr_back_untie(lr_reverse *b, uint64_t rule)
{
    const lr_rule *r = lr_back_rule(b, rule);
    lr_back_item *tied = find_item(b, r->pattern), *to = find_item(b, r->replacement);
    const char *why;
    int same;
    if (!tied || !to || tied == to) {
        return REC_OK;
    }
    b->source->rules->rules[rule].hits++;
    same = lr_op_same(b->job, tied->op, to->op);
    if (same < 0) {
        return b->job->error.status;
    }
    if (!same) {
        return parted(b, rule, r);
    }
    tied->gone = true;
    why = lr_plan_text(b->job, b->plan, "tied to %s, rule %u", r->replacement, (unsigned)r->number);
    for (uint64_t i = 0; why && i < tied->input_count; i++) {
        if (!tied->inputs[i]->used && lr_plan_lost(b->job, b->plan, REC_PLAN_DROPPED, tied->inputs[i], why) != REC_OK) {
            break;
        }
    }
    return b->job->error.status;
}
