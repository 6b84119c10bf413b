/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The rule reshape, with one shape or with the shape before too: `[n, H, -1] to [n, -1]`. A name that is the whole of a
 * length in the shape that a tensor has stands for the tensor's own length there, so the rule serves tensors of any
 * size, and the other way as well. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "remap/plan/plan.h"

bool lr_rule_fits(const lr_rule *rule, uint32_t rank, bool back)
{
    switch (rule->kind) {
    case LR_RULE_TRANSPOSE:
        return rank == 2;
    case LR_RULE_PERMUTE:
        return rank == rule->order_count;
    case LR_RULE_RESHAPE:
        return !rule->before || rank == (back ? rule->amount_count : rule->before_count);
    default:
        return true;
    }
}

/* A shape as a rule has it. */
typedef struct pattern {
    const lr_amount *amounts;
    uint64_t count;
} pattern;

static bool is_name(const lr_amount *amount)
{
    size_t length = strlen(amount->text);
    return length && length <= LR_NAME_MOST && lr_number_name(amount->text, length) == length;
}

static bool is_open(const lr_amount *amount)
{
    return strcmp(amount->text, "-1") == 0;
}

/* The shape with these numbers; -1 is what is left of `all` elements. */
static int32_t evaluate(rec_job *job, const lr_plan_source *source, const lr_variables *numbers, const lr_rule *rule,
                        pattern p, uint64_t all, uint64_t *shape)
{
    uint64_t known = 1, open = UINT64_MAX;
    if (p.count > LR_RANK_MOST) {
        return rec_fail(job, REC_E_MISMATCH, REC_UNKNOWN, "a shape has at most %d dimensions", LR_RANK_MOST);
    }
    for (uint64_t i = 0; i < p.count; i++) {
        int64_t length;
        if (lr_amount_value(job, source->rules, numbers, &p.amounts[i], &rule->place, &length) != REC_OK) {
            return job->error.status;
        }
        shape[i] = length < 0 ? 1 : (uint64_t)length;
        open = length < 0 ? i : open;
        if (!lr_mul(known, shape[i], &known)) {
            return rec_fail(job, REC_E_MISMATCH, REC_UNKNOWN, "the shape would have more than 2^64 elements");
        }
    }
    if (open < p.count && known) {
        shape[open] = all / known;
    }
    return REC_OK;
}

/* Adds the tensor's lengths under the names that its shape has. A number that was set must agree. */
static int32_t bind(rec_job *job, lr_plan_source *source, lr_variables *numbers, pattern p, const lr_op *op)
{
    for (uint64_t i = 0; i < p.count; i++) {
        const char *name = p.amounts[i].text;
        uint64_t length = lr_op_shape(op)[i];
        double value;
        if (!is_name(&p.amounts[i])) {
            continue;
        }
        (void)lr_variables_ask(&source->numbers, name, &value); /* it counts as used */
        if (lr_number_find(source->numbers.set, source->numbers.set_count, name, &value) && value != (double)length) {
            return rec_fail(job, REC_E_MISMATCH, REC_UNKNOWN, "axis %" PRIu64 " has length %" PRIu64 ", and %s=%g", i,
                            length, name, value);
        }
        numbers->set[numbers->set_count++] = (lr_number){.name = (char *)(uintptr_t)name, .value = (double)length};
    }
    return REC_OK;
}

/* Whether the tensor has the shape: numbers and computed lengths must agree. */
static int32_t compare(rec_job *job, const lr_plan_source *source, const lr_variables *numbers, const lr_rule *rule,
                       pattern p, const lr_op *op)
{
    char words[160];
    bool fits = p.count == lr_op_rank(op);
    for (uint64_t i = 0; fits && i < p.count; i++) {
        int64_t length = -1;
        if (!is_open(&p.amounts[i]) && !is_name(&p.amounts[i]) &&
            lr_amount_value(job, source->rules, numbers, &p.amounts[i], &rule->place, &length) != REC_OK) {
            return job->error.status;
        }
        fits = length < 0 || (uint64_t)length == lr_op_shape(op)[i];
    }
    return fits ? REC_OK
                : rec_fail(job, REC_E_MISMATCH, REC_UNKNOWN, "the shape %s is not the one that the rule expects",
                           lr_shape_words(words, sizeof words, lr_op_shape(op), lr_op_rank(op)));
}

/* Keeps the lengths that the shape after does not show, for the way back; 0 where tensors differ in them, which fits no
 * tensor. */
static int32_t learn(rec_job *job, lr_plan_source *source, const lr_rule *rule, const lr_op *op)
{
    int32_t status = REC_OK;
    for (uint64_t i = 0; i < rule->before_count && status == REC_OK; i++) {
        const char *name = rule->before[i].text;
        uint64_t length = lr_op_shape(op)[i];
        char text[LR_NAME_MOST + 32];
        bool shown = !is_name(&rule->before[i]);
        double old;
        for (uint64_t k = 0; k < rule->amount_count; k++) {
            shown = shown || strcmp(rule->amounts[k].text, name) == 0;
        }
        if (!shown && lr_number_find(source->numbers.own, source->numbers.own_count, name, &old)) {
            shown = old == (double)length || old == 0;
            length = 0;
        }
        (void)snprintf(text, sizeof text, "%s=%" PRIu64, name, length);
        status = shown ? REC_OK : lr_variables_remember(job, &source->numbers, text);
    }
    return status;
}

/* The source's numbers, which are borrowed, with room for the lengths of a tensor among those that were set. */
static int32_t begin_numbers(rec_job *job, const lr_plan_source *source, lr_variables *numbers)
{
    uint64_t count = source->numbers.set_count;
    *numbers = source->numbers;
    numbers->set = lr_job_zalloc(job, (count + LR_RANK_MOST) * sizeof *numbers->set);
    if (numbers->set && count) {
        memcpy(numbers->set, source->numbers.set, (size_t)count * sizeof *numbers->set);
    }
    return job->error.status;
}

static void end_numbers(rec_job *job, lr_plan_source *source, const lr_variables *numbers)
{
    for (uint64_t i = 0; numbers->set && i < source->numbers.set_count; i++) {
        source->numbers.set[i].used = source->numbers.set[i].used || numbers->set[i].used;
    }
    lr_release(job->allocator, numbers->set);
}

/* The lengths that only the caller or the import know: 0 says that the import's tensors differed. */
static int32_t refuse_zero(rec_job *job, const lr_plan_source *source, const lr_rule *rule, const uint64_t *shape)
{
    double value;
    for (uint64_t i = 0; i < rule->before_count; i++) {
        const char *name = rule->before[i].text;
        if (!shape[i] && lr_number_find(source->numbers.own, source->numbers.own_count, name, &value) && value == 0) {
            return rec_fail(job, REC_E_MISMATCH, REC_UNKNOWN, "%s is not the same for all tensors of the import", name);
        }
    }
    return REC_OK;
}

lr_op *lr_rule_reshape(rec_job *job, lr_plan_source *source, const lr_rule *rule, lr_op *op, bool back)
{
    pattern before = {rule->before, rule->before_count}, after = {rule->amounts, rule->amount_count};
    pattern is = back ? after : before, becomes = back ? before : after;
    uint64_t shape[LR_RANK_MOST], all = 1;
    lr_variables numbers;
    int32_t status;
    if (!lr_shape_count(lr_op_shape(op), lr_op_rank(op), &all)) {
        return NULL; /* it is a node, so its product fits */
    }
    status = begin_numbers(job, source, &numbers);
    if (status == REC_OK && rule->before) {
        status = is.count == lr_op_rank(op) ? bind(job, source, &numbers, is, op) : REC_OK;
        status = status == REC_OK ? compare(job, source, &numbers, rule, is, op) : status;
        status = status == REC_OK && !back ? learn(job, source, rule, op) : status;
        numbers.own = source->numbers.own;
        numbers.own_count = source->numbers.own_count;
    }
    status = status == REC_OK ? evaluate(job, source, &numbers, rule, becomes, all, shape) : status;
    status = status == REC_OK && back ? refuse_zero(job, source, rule, shape) : status;
    end_numbers(job, source, &numbers);
    return status == REC_OK ? lr_op_reshape(job, op, shape, (uint32_t)becomes.count) : NULL;
}
