/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Merging: tensors of one key in several sources, cut along an axis by whoever trained on several devices (Meta's
 * consolidated.0N), become one again, in the order of the sources. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/names.h"
#include "remap/forward/forward.h"

typedef struct merger {
    rec_job *job;
    rec_plan *plan;
    lr_matcher *matcher;
} merger;

static int by_key(const void *a, const void *b)
{
    const lr_piece *x = *(lr_piece *const *)a, *y = *(lr_piece *const *)b;
    int order = lr_text_order(x->key, x->length, y->key, y->length);
    return order ? order : x->source < y->source ? -1 : x->source > y->source;
}

/* The rule that speaks of a key. @param rule (out) NULL: none. @return 1 found, 0 none, -1: the job has failed. */
static int find_rule(merger *m, const lr_piece *piece, const lr_rule **rule)
{
    lr_plan_source *source = &m->plan->sources[piece->source];
    size_t head = source->prefix && *source->prefix ? strlen(source->prefix) + 1 : 0;
    uint64_t i = 0;
    int found =
        lr_source_rule(m->job, source, m->matcher, LR_RULE_MERGE, piece->key + head, (size_t)piece->length - head, &i);
    *rule = NULL;
    if (found > 0) {
        source->rules->rules[i].hits++;
        *rule = &source->rules->rules[i];
    }
    return found;
}

/* Each device has the whole: the first counts, the others must be the same. */
static int32_t take_first(merger *m, lr_piece *const *pieces, uint64_t count, const lr_rule *rule)
{
    int32_t status = REC_OK;
    for (uint64_t i = 1; i < count && status == REC_OK; i++) {
        int same = lr_op_same(m->job, pieces[0]->op, pieces[i]->op); /* merge() saw to it that there are some */
        status = m->job->error.status;
        if (!same) {
            status =
                lr_plan_problem(m->job, m->plan, REC_PROBLEM_COLLISION, true, pieces[0]->key,
                                "Let the rule name the axis they were cut along.",
                                "%.200s: rule %u says that it is the same in every file, but %.100s and %.100s differ",
                                pieces[0]->key, (unsigned)rule->number, m->plan->sources[pieces[0]->source].name,
                                m->plan->sources[pieces[i]->source].name);
        }
        pieces[i]->dead = true;
        for (uint64_t k = 0; k < pieces[i]->input_count && status == REC_OK; k++) {
            char why[64];
            (void)snprintf(why, sizeof why, "the same, rule %u", (unsigned)rule->number);
            status = lr_plan_lost(m->job, m->plan, REC_PLAN_DROPPED, lr_piece_inputs(pieces[i])[k], why);
        }
    }
    return status;
}

static int32_t join(merger *m, lr_piece *const *pieces, uint64_t count, const lr_rule *rule)
{
    lr_op **ops = lr_alloc(m->job->allocator, count * sizeof *ops);
    uint64_t inputs = 0;
    uint32_t rank = lr_piece_rank(pieces[0]);
    lr_key **keys = NULL;
    lr_op *op = NULL;
    char doing[260];
    int32_t status = REC_OK;
    for (uint64_t i = 0; i < count; i++) {
        inputs += pieces[i]->input_count;
    }
    keys = lr_arena_alloc(&m->plan->arena, (inputs + 1) * sizeof *keys, 8);
    if (!ops || !keys) {
        lr_release(m->job->allocator, ops);
        return lr_fail_memory(m->job, count * sizeof *ops);
    }
    inputs = 0;
    for (uint64_t i = 0; i < count; i++) {
        ops[i] = pieces[i]->op;
        for (uint64_t k = 0; k < pieces[i]->input_count; k++) {
            keys[inputs++] = lr_piece_inputs(pieces[i])[k];
        }
        pieces[i]->dead = i > 0;
    }
    op = lr_op_join(m->job, ops, count, rule->axis < 0 ? (rank ? rank - 1 : 0) : (uint32_t)rule->axis);
    if (op) {
        const char *why = lr_plan_text(m->job, m->plan, "rule %u", (unsigned)rule->number); /* it is kept */
        lr_op_release(pieces[0]->op);
        pieces[0]->op = op;
        if (inputs == 1) {
            pieces[0]->of.one = keys[0];
        } else {
            pieces[0]->of.many = keys;
        }
        pieces[0]->input_count = (uint32_t)inputs; /* of pieces that are in memory */
        pieces[0]->operations = lr_plan_and(m->job, m->plan, pieces[0]->operations, "merge");
        pieces[0]->why = why && pieces[0]->operations ? lr_plan_and(m->job, m->plan, pieces[0]->why, why) : NULL;
        status = pieces[0]->why ? REC_OK : m->job->error.status;
    } else {
        (void)snprintf(doing, sizeof doing, "rule %u (merge = %.200s)", (unsigned)rule->number, rule->text);
        status = lr_plan_refused(m->job, m->plan, pieces[0]->key, doing);
    }
    lr_release(m->job->allocator, ops);
    return status;
}

static int32_t merge(merger *m, lr_piece *const *pieces, uint64_t count)
{
    const lr_rule *rule = NULL;
    int found = 0;
    for (uint64_t i = 0; i < count; i++) {
        if (!lr_piece_is_tensor(pieces[i]) || (i && pieces[i]->source == pieces[i - 1]->source)) {
            return REC_OK; /* two of one source: a collision, which the tree finds */
        }
    }
    for (uint64_t i = 0; i < count && found >= 0; i++) { /* each source's rule speaks of this key; the first decides */
        const lr_rule *one = NULL;
        found = find_rule(m, pieces[i], &one);
        rule = rule ? rule : one;
    }
    if (found < 0 || !rule) {
        return found < 0 ? m->job->error.status : REC_OK;
    }
    for (uint64_t i = 0; i < count; i++) {
        if (!pieces[i]->op) {
            pieces[i]->op = lr_piece_op(m->job, pieces[i]);
            if (!pieces[i]->op) {
                return m->job->error.status;
            }
            pieces[i]->value = NULL;
        }
    }
    return rule->axis == LR_MERGE_SAME ? take_first(m, pieces, count, rule) : join(m, pieces, count, rule);
}

int32_t lr_plan_merge(rec_job *job, rec_plan *plan)
{
    merger m = {.job = job, .plan = plan};
    lr_piece **list;
    uint64_t count = 0;
    bool any = false;
    int32_t status = REC_OK;
    for (uint64_t s = 0; s < plan->source_count; s++) {
        any = any || lr_rules_have(plan->sources[s].rules, LR_RULE_MERGE);
    }
    if (!any || plan->source_count < 2) {
        return REC_OK;
    }
    list = lr_alloc(job->allocator, (plan->piece_count + 1) * sizeof *list);
    m.matcher = list ? lr_matcher_new(job) : NULL;
    if (!m.matcher) {
        lr_release(job->allocator, list);
        return lr_job_failed(job) ? job->error.status : lr_fail_memory(job, plan->piece_count * sizeof *list);
    }
    for (lr_piece *piece = plan->pieces; piece; piece = piece->next) {
        if (!piece->dead) {
            list[count++] = piece;
        }
    }
    qsort(list, (size_t)count, sizeof *list, by_key);
    for (uint64_t i = 0, n; i < count && status == REC_OK; i += n) {
        for (n = 1; i + n < count && list[i + n]->length == list[i]->length &&
                    memcmp(list[i + n]->key, list[i]->key, (size_t)list[i]->length) == 0;) {
            n++;
        }
        status = n > 1 ? merge(&m, &list[i], n) : REC_OK;
    }
    lr_matcher_free(m.matcher);
    lr_release(job->allocator, list);
    return status;
}
