/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Going backwards: stacks and joins taken apart. */
#include <inttypes.h>
#include <stdio.h>

#include "remap/reverse/reverse_private.h"

/* A tensor taken out of an item. Takes the count of `op`. */
static int32_t add_taken(lr_reverse *b, uint64_t from, const char *key, lr_op *op, const char *word)
{
    lr_back_item *one = lr_back_item_new(b);
    const lr_back_item *whole_item = one ? &b->items[from] : NULL;
    if (!one) {
        lr_op_release(op);
        return b->job->error.status;
    }
    one->op = op;
    one->place = one->text = lr_plan_keep(b->job, b->plan, key, strlen(key));
    one->site = whole_item->site;
    one->inputs = whole_item->inputs;
    one->input_count = whole_item->input_count;
    one->operations = lr_plan_and(b->job, b->plan, whole_item->operations, word);
    return b->job->error.status;
}

/* Finds the only text that a stack or a join turns into the key. @return 1: it is in `origins`; 0: none; -1: the job
 * has failed; 2: there is a problem. */
static int one_origin(lr_reverse *b, uint64_t rule, const lr_back *back, const char *key, const char *fixed,
                      lr_origins *origins)
{
    if (lr_back_find(b->job, back, b->matcher, key, strlen(key), NULL, fixed, origins) != REC_OK) {
        return -1;
    }
    if (origins->lost) {
        return lr_back_no_inverse(b, rule, key, back->reason, "") == REC_OK ? 2 : -1;
    }
    if (origins->overflow || origins->count > 1) {
        const lr_rule *r = lr_back_rule(b, rule);
        char text[900];
        (void)snprintf(text, sizeof text, "%.200s: rule %u (%s = %.200s) may have made it of %.150s and of %.150s", key,
                       (unsigned)r->number, lr_word_name(r->kind), r->text,
                       origins->count ? origins->text + origins->list[0].at : "many keys",
                       origins->count > 1 ? origins->text + origins->list[1].at : "more");
        return lr_back_issue(b, REC_PROBLEM_AMBIGUOUS, rule + 1, key, "", text,
                             "Write a more specific pattern, which has one inverse.") == REC_OK
                   ? 2
                   : -1;
    }
    return origins->count == 1;
}

/* A stack rule backwards: its index is the first group that the target lacks and that may be a number. */
static lr_back *stack_back(lr_reverse *b, const lr_rule *rule)
{
    lr_back *first = NULL;
    for (uint32_t g = 1; g <= lr_regex_groups(rule->regex); g++) {
        lr_back *back;
        if (lr_template_uses(rule->template, g)) {
            continue;
        }
        back = lr_back_new(b->job, rule->regex, rule->template, g, LR_BACK_WHOLE);
        if (!back) {
            break;
        }
        if (lr_back_group_fits(back, g, "0", 1)) {
            lr_back_free(first);
            return back;
        }
        if (!first) {
            first = back;
        } else {
            lr_back_free(back);
        }
    }
    if (!first && !lr_job_failed(b->job)) {
        first = lr_back_new(b->job, rule->regex, rule->template, 0, LR_BACK_WHOLE);
    }
    return first;
}

/* A stack's items become pieces of their own: a hostile shape must not make that many. */
enum { STACK_MOST = 65536 };

static int32_t unstack(lr_reverse *b, uint64_t rule, const lr_back *back, uint64_t number, lr_origins *origins)
{
    const lr_back_item *one = &b->items[number];
    const char *key = one->text;
    uint32_t rank = lr_op_rank(one->op);
    uint64_t n = rank ? lr_op_shape(one->op)[0] : 0, shape[LR_RANK_MOST];
    int found = one_origin(b, rule, back, key, "0", origins);
    if (found != 1) {
        b->items[number].gone = found == 2;
        return b->job->error.status;
    }
    b->items[number].gone = true;
    if (n == 0 || n > STACK_MOST) {
        char text[400];
        (void)snprintf(text, sizeof text, "%.200s: rule %u stacks 1 to %d tensors, this would be %" PRIu64, key,
                       (unsigned)lr_back_rule(b, rule)->number, (int)STACK_MOST, n);
        return lr_back_issue(b, REC_PROBLEM_SHAPE, rule + 1, key, "", text, "");
    }
    b->source->rules->rules[rule].hits++;
    memcpy(shape, lr_op_shape(one->op), rank * sizeof *shape);
    for (uint64_t i = 0; i < n; i++) {
        char index[24];
        lr_op *slice, *op;
        (void)snprintf(index, sizeof index, "%" PRIu64, i);
        found = one_origin(b, rule, back, key, index, origins);
        if (found < 0) {
            return b->job->error.status;
        }
        if (found == 0 && lr_back_no_inverse(b, rule, key, "its pattern does not take every number", "") != REC_OK) {
            return b->job->error.status;
        }
        if (found != 1) {
            return REC_OK;
        }
        slice = lr_op_slice(b->job, b->items[number].op, 0, &(lr_span){i, 1}, 1);
        op = slice ? lr_op_reshape(b->job, slice, shape + 1, rank - 1) : NULL;
        lr_op_release(slice);
        if (!op) {
            return lr_back_refused_by(b, key, lr_back_rule(b, rule));
        }
        if (add_taken(b, number, origins->text + origins->list[0].at, op, "unstack") != REC_OK) {
            return b->job->error.status;
        }
    }
    return REC_OK;
}

static int32_t unjoin(lr_reverse *b, uint64_t rule, lr_back *const *backs, uint64_t number, lr_origins *origins)
{
    const lr_rule *r = lr_back_rule(b, rule);
    const char *key = b->items[number].text;
    uint32_t rank = lr_op_rank(b->items[number].op);
    uint32_t axis = r->axis < 0 ? (rank ? rank - 1 : 0) : (uint32_t)r->axis;
    int64_t *amounts = NULL;
    uint64_t sum = 0, offset = 0, length;
    bool shares = false;
    int found = one_origin(b, rule, backs[0], key, NULL, origins);
    if (found != 1) {
        b->items[number].gone = found == 2;
        return b->job->error.status;
    }
    b->items[number].gone = true;
    amounts = lr_alloc(b->job->allocator, (r->part_count + 1) * sizeof *amounts);
    if (!amounts) {
        return lr_fail_memory(b->job, r->part_count);
    }
    for (uint64_t p = 0; p < r->part_count; p++) {
        shares = shares || r->parts[p].amount;
    }
    if (!shares) {
        (void)lr_back_no_inverse(b, rule, key, "the rule does not have the length of each part along the axis",
                                 "Give the parts their shares: gate*1 up*1, q*H k*K v*K.");
        goto done;
    }
    for (uint64_t p = 0; p < r->part_count; p++) {
        if (lr_source_amount(b->job, b->source, r, r->parts[p].amount, &amounts[p]) != REC_OK) {
            goto done;
        }
        if (amounts[p] < 0 || !lr_add(sum, (uint64_t)amounts[p], &sum)) {
            sum = 0;
            break;
        }
    }
    length = axis < rank ? lr_op_shape(b->items[number].op)[axis] : 0;
    if (axis >= rank || sum == 0 || length % sum) {
        char text[400];
        (void)snprintf(text, sizeof text,
                       "%.200s: rule %u joins %" PRIu64
                       " equal shares, which does not come out even for a length of %" PRIu64,
                       key, (unsigned)r->number, sum, length);
        (void)lr_back_issue(b, REC_PROBLEM_SHAPE, rule + 1, key, "", text,
                            "Are the numbers those of this model? Give its config.json, or --set.");
        goto done;
    }
    b->source->rules->rules[rule].hits++;
    for (uint64_t p = 0; p < r->part_count; p++) {
        uint64_t size = (uint64_t)amounts[p] * (length / sum);
        lr_op *op;
        found = one_origin(b, rule, backs[p], key, NULL, origins);
        if (found == 0) {
            (void)lr_back_no_inverse(b, rule, key, "not every part's pattern leads to it", "");
        }
        if (found != 1) {
            break;
        }
        op = lr_op_slice(b->job, b->items[number].op, axis, &(lr_span){offset, size}, 1);
        if (!op) {
            (void)lr_back_refused_by(b, key, r);
            break;
        }
        if (add_taken(b, number, origins->text + origins->list[0].at, op, "unjoin") != REC_OK) {
            break;
        }
        offset += size;
    }

done:
    lr_release(b->job->allocator, amounts);
    return b->job->error.status;
}

int32_t lr_back_take_apart(lr_reverse *b, uint64_t rule)
{
    const lr_rule *r = lr_back_rule(b, rule);
    bool join = r->kind == LR_RULE_JOIN;
    uint64_t back_count = join ? r->part_count : 1, count = b->count;
    lr_back **backs = lr_zalloc(b->job->allocator, back_count * sizeof *backs);
    lr_origins origins = {.allocator = b->job->allocator};
    int32_t status = REC_OK;
    if (!backs) {
        return lr_fail_memory(b->job, back_count * sizeof *backs);
    }
    for (uint64_t p = 0; p < back_count && status == REC_OK; p++) {
        backs[p] = join ? lr_back_new(b->job, r->part_regexes[p], r->template, 0, LR_BACK_WHOLE) : stack_back(b, r);
        status = backs[p] ? REC_OK : b->job->error.status;
    }
    for (uint64_t i = 0; i < count && status == REC_OK; i++) {
        if (!b->items[i].gone) {
            status = join ? unjoin(b, rule, backs, i, &origins) : unstack(b, rule, backs[0], i, &origins);
        }
    }
    for (uint64_t p = 0; p < back_count; p++) {
        lr_back_free(backs[p]);
    }
    lr_release(b->job->allocator, backs);
    lr_origins_free(&origins);
    return status;
}
