/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Stacks and joins: several tensors that become one, each brought into Burn's layout first. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "remap/forward/rules_run_private.h"

int32_t lr_rules_refused(lr_rules_run *r, const char *key, const lr_rule *rule)
{
    char doing[260];
    (void)snprintf(doing, sizeof doing, "rule %u (%.200s)", (unsigned)rule->number, rule->text);
    return lr_plan_refused(r->job, r->plan, key, doing);
}

lr_piece *lr_rules_pieces(const lr_rules_run *r)
{
    return r->before ? r->before->next : r->plan->pieces;
}

const char *lr_rules_key_of(const lr_rules_run *r, const lr_piece *piece, size_t *length)
{
    size_t skip = r->source->prefix && *r->source->prefix ? strlen(r->source->prefix) + 1 : 0;
    *length = (size_t)piece->length - skip;
    return piece->key + skip;
}

/* A piece that becomes part of another. */
typedef struct member {
    lr_piece *piece;
    lr_op *op;          /* in Burn's layout */
    const char *target; /* in the plan's arena */
    uint64_t order;     /* index, or number of the part */
} member;

typedef struct members {
    member *at;
    uint64_t count, room;
} members;

/* Converts a piece to Burn's layout as the module rules say, since the tensor that it becomes part of has no module of
 * its own. @param key (out) its new key, in the plan's arena. */
static int32_t adapt(lr_rules_run *r, lr_piece *piece, lr_op **op, const char **key)
{
    size_t length;
    const char *text = lr_rules_key_of(r, piece, &length);
    const char *field = lr_path_last(text, length), *burn = NULL;
    bool transpose = false;
    const char *type = NULL, *operations;
    int change = LR_ADAPT_NONE;
    *op = NULL;
    *key = NULL;
    if (r->source->adapter == LR_ADAPTER_PYTORCH) {
        type = lr_module_rule(r->job, r->source, r->matcher, text, field > text ? (uint64_t)(field - text) - 1 : 0);
        if (lr_job_failed(r->job)) {
            return r->job->error.status;
        }
        change = type ? lr_adapt_field(type, field, length - (uint64_t)(field - text), &burn) : LR_ADAPT_NONE;
        transpose = change == LR_ADAPT_TRANSPOSE;
    }
    *key = change == LR_ADAPT_RENAME ? lr_plan_text(r->job, r->plan, "%.*s%s", (int)(field - text), text, burn)
                                     : lr_plan_text(r->job, r->plan, "%.*s", (int)length, text);
    if (!*key ||
        lr_place_work(r->job, r->plan, r->matcher, piece, *key, strlen(*key), transpose, op, &operations) != REC_OK) {
        return r->job->error.status;
    }
    piece->operations = lr_plan_and(r->job, r->plan, piece->operations, operations);
    return piece->operations ? REC_OK : r->job->error.status;
}

static int by_target(const void *a, const void *b)
{
    const member *x = a, *y = b;
    int order = strcmp(x->target, y->target);
    return order ? order : x->order < y->order ? -1 : x->order > y->order;
}

static int32_t add_member(lr_rules_run *r, members *m, const member *one)
{
    if (!lr_job_grow(r->job, &m->at, m->count + 1, &m->room, sizeof *one)) {
        return r->job->error.status;
    }
    m->at[m->count++] = *one;
    return REC_OK;
}

/* The group that tells the place in a stack: the first that the target lacks and that is a number. */
static bool stack_index(lr_rules_run *r, const lr_rule *rule, const char *text, uint64_t *index)
{
    for (uint32_t g = 1; g <= lr_regex_groups(rule->regex); g++) {
        size_t begin, end;
        if (!lr_template_uses(rule->template, g) && lr_match_group(r->matcher, g, &begin, &end) &&
            lr_node_index(text + begin, end - begin, index)) {
            return true;
        }
    }
    return false;
}

/* One piece that may belong to a stack or a join. @return 1 it does, 0 not, -1: the job has failed. */
static int match_member(lr_rules_run *r, const lr_rule *rule, const char *key, member *one)
{
    size_t length = strlen(key);
    uint64_t parts = rule->kind == LR_RULE_JOIN ? rule->part_count : 1;
    for (uint64_t p = 0; p < parts; p++) {
        const lr_regex *regex = rule->kind == LR_RULE_JOIN ? rule->part_regexes[p] : rule->regex;
        int found = lr_regex_match(r->job, regex, r->matcher, key, length);
        if (found < 0) {
            return -1;
        }
        if (found) {
            one->order = p;
            if (rule->kind == LR_RULE_STACK && !stack_index(r, rule, key, &one->order)) {
                continue;
            }
            lr_matcher_clear(r->matcher);
            if (lr_match_expand(r->job, r->matcher, key, rule->template, NULL) != REC_OK) {
                return -1;
            }
            one->target = lr_plan_text(r->job, r->plan, "%s", lr_matcher_output(r->matcher, &length));
            return one->target ? 1 : -1;
        }
    }
    return 0;
}

static int32_t not_each_once(lr_rules_run *r, const lr_rule *rule, const char *target, uint64_t order, bool missing)
{
    static const char hint[] = "All of them must be there, each once.";
    const char *what = missing ? "is missing" : "occurs twice";
    if (rule->kind == LR_RULE_STACK) {
        return lr_plan_problem(r->job, r->plan, REC_PROBLEM_MISSING, true, target, hint,
                               "%.200s: rule %u: number %" PRIu64 " %s", target, (unsigned)rule->number, order, what);
    }
    return lr_plan_problem(r->job, r->plan, REC_PROBLEM_MISSING, true, target, hint,
                           "%.200s: rule %u: the part %.64s %s", target, (unsigned)rule->number,
                           rule->parts[order].name, what);
}

static int32_t one_of_them(lr_rules_run *r, const lr_rule *rule, const member *m, uint64_t count)
{
    lr_op **ops = lr_alloc(r->job->allocator, count * sizeof *ops);
    lr_key **inputs = NULL;
    lr_op *op = NULL;
    uint64_t input_count = 0, rank = lr_op_rank(m->op);
    const char *operations = m->piece->operations, *word = rule->kind == LR_RULE_STACK ? "stack" : "join";
    const char *key, *reason;
    lr_piece *piece;
    int32_t status = REC_OK;
    for (uint64_t i = 0; i < count; i++) {
        input_count += m[i].piece->input_count;
    }
    inputs = lr_alloc(r->job->allocator, (input_count + 1) * sizeof *inputs);
    if (!ops || !inputs) {
        status = lr_fail_memory(r->job, count * sizeof *ops);
        goto done;
    }
    input_count = 0;
    for (uint64_t i = 0; i < count; i++) {
        ops[i] = m[i].op;
        for (uint64_t k = 0; k < m[i].piece->input_count; k++) {
            inputs[input_count++] = lr_piece_inputs(m[i].piece)[k];
        }
        if (m[i].order != i) { /* they are in order: a number is left out, or this one is that before */
            status = not_each_once(r, rule, m->target, m[i].order > i ? i : m[i].order, m[i].order > i);
            goto done;
        }
    }
    if (rule->kind == LR_RULE_JOIN && count != rule->part_count) {
        status = not_each_once(r, rule, m->target, count, true);
        goto done;
    }
    op = rule->kind == LR_RULE_STACK
             ? lr_op_stack(r->job, ops, count)
             : lr_op_join(r->job, ops, count, rule->axis < 0 ? (uint32_t)(rank ? rank - 1 : 0) : (uint32_t)rule->axis);
    if (!op) {
        status = lr_rules_refused(r, m->target, rule);
        goto done;
    }
    key = lr_plan_join(r->job, r->plan, r->source->prefix, m->target);
    operations = lr_plan_and(r->job, r->plan, operations, word);
    reason = lr_plan_text(r->job, r->plan, "rule %u", (unsigned)rule->number);
    piece = key && operations && reason ? lr_plan_piece(r->job, r->plan, r->number, key, strlen(key), op, NULL, inputs,
                                                        input_count, operations, reason)
                                        : NULL;
    if (piece) {
        piece->adapted = true;
    }
    status = piece ? REC_OK : r->job->error.status;

done:
    lr_op_release(op);
    lr_release(r->job->allocator, ops);
    lr_release(r->job->allocator, inputs);
    return status;
}

int32_t lr_rules_gather(lr_rules_run *r, const lr_rule *rule, uint64_t number)
{
    members m = {0};
    lr_piece *last = r->plan->last_piece;
    int32_t status = REC_OK;
    for (lr_piece *piece = lr_rules_pieces(r); piece && status == REC_OK; piece = piece->next) {
        member one = {.piece = piece};
        const char *key = NULL;
        size_t length;
        int found;
        if (!lr_piece_is_tensor(piece) || piece->dead) {
            continue;
        }
        /* By the key before the adapter renames its last part. */
        key = lr_rules_key_of(r, piece, &length);
        if (memchr(key, '\0', length)) {
            continue; /* it would be cut, and two of them be one */
        }
        found = match_member(r, rule, key, &one);
        if (found > 0) {
            piece->dead = true;
            r->source->rules->rules[number].hits++;
            if (piece->adapted) {
                one.op = lr_piece_op(r->job, piece);
                status = one.op ? REC_OK : r->job->error.status;
            } else {
                status = adapt(r, piece, &one.op, &key); /* without an operation there is a problem about it */
            }
            if (status == REC_OK && one.op) {
                status = add_member(r, &m, &one);
            }
            if (status != REC_OK) {
                lr_op_release(one.op);
            }
        } else if (found < 0) {
            status = r->job->error.status;
        }
        if (piece == last) {
            break;
        }
    }
    if (m.count && status == REC_OK) {
        qsort(m.at, (size_t)m.count, sizeof *m.at, by_target);
    }
    for (uint64_t i = 0, n; i < m.count && status == REC_OK; i += n) {
        for (n = 1; i + n < m.count && strcmp(m.at[i].target, m.at[i + n].target) == 0;) {
            n++;
        }
        status = one_of_them(r, rule, &m.at[i], n);
    }
    for (uint64_t i = 0; i < m.count; i++) {
        lr_op_release(m.at[i].op);
    }
    lr_release(r->job->allocator, m.at);
    return status;
}
