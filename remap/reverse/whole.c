/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Going backwards: each tensor's key in the file, or the tensor that it is a part of. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "remap/reverse/reverse_private.h"

/* -------------------------------------------------------------------------------------------- parts and wholes -- */

/* Copies a candidate into the plan's arena. */
static bool keep_candidate(lr_reverse *b, const lr_candidate *from, lr_candidate *to)
{
    uint64_t width = lr_retrace_width(b->retracer);
    uint8_t *fired = lr_arena_alloc(&b->plan->arena, width, 1);
    *to = *from;
    to->text = lr_plan_keep(b->job, b->plan, from->text, from->length);
    if (!fired || !to->text) {
        return LR_AS_FALSE(lr_fail_memory(b->job, width));
    }
    memcpy(fired, from->fired, (size_t)width);
    to->fired = fired;
    return true;
}

/* An item that may be a part waits until all items are known. */
static int32_t wait_for_parts(lr_reverse *b, lr_back_item *one, const lr_candidates *candidates)
{
    one->waits = true;
    one->candidates = *candidates;
    one->candidates.list = lr_arena_alloc(&b->plan->arena, candidates->count * sizeof *candidates->list, 8);
    if (!one->candidates.list) {
        return lr_fail_memory(b->job, candidates->count * sizeof *candidates->list);
    }
    for (uint64_t i = 0; i < candidates->count; i++) {
        if (!keep_candidate(b, &candidates->list[i], &one->candidates.list[i])) {
            return b->job->error.status;
        }
    }
    return REC_OK;
}

/* The axis that a split cuts. */
static uint32_t axis_of(const lr_rule *rule, uint32_t rank)
{
    return rule->axis < 0 ? (rank ? rank - 1 : 0) : (uint32_t)rule->axis;
}

/* Settles whether the parts make a whole that the rule would cut into them again. */
static int32_t check_whole(lr_reverse *b, lr_whole *w)
{
    const lr_rule *rule = w->rule;
    const lr_op *first;
    uint32_t rank, axis;
    int64_t groups, share;
    uint64_t unit = 0;
    for (uint64_t p = 0; p < rule->part_count; p++) {
        if (!w->parts[p]) {
            w->wrong = lr_plan_text(b->job, b->plan, "the part %s is missing", rule->parts[p].name);
            return b->job->error.status;
        }
    }
    first = b->items[w->parts[0] - 1].op;
    rank = lr_op_rank(first);
    axis = axis_of(rule, rank);
    if (lr_source_amount(b->job, b->source, rule, rule->groups, &groups) != REC_OK) {
        return b->job->error.status;
    }
    if (axis >= rank || groups <= 0) {
        w->wrong = "its parts have no such axis";
        return REC_OK;
    }
    for (uint64_t p = 0; p < rule->part_count && !w->wrong; p++) {
        const lr_op *op = b->items[w->parts[p] - 1].op;
        bool fits = lr_op_dtype(op) == lr_op_dtype(first) && lr_op_rank(op) == rank;
        uint64_t length = fits ? lr_op_shape(op)[axis] : 0;
        for (uint32_t i = 0; fits && i < rank; i++) {
            fits = i == axis || lr_op_shape(op)[i] == lr_op_shape(first)[i];
        }
        if (lr_source_amount(b->job, b->source, rule, rule->parts[p].amount, &share) != REC_OK) {
            return b->job->error.status;
        }
        if (!fits || share < 0 || length % (uint64_t)groups ||
            (share == 0 ? length != 0 : length / (uint64_t)groups % (uint64_t)share != 0)) {
            w->wrong = "its parts do not fit each other";
        } else if (share > 0) {
            uint64_t this_unit = length / (uint64_t)groups / (uint64_t)share;
            if (p && unit && this_unit != unit) {
                w->wrong = "its parts do not have the shares of the rule";
            }
            unit = this_unit;
        }
    }
    return REC_OK;
}

/* What an item may be a part of. */
typedef struct member {
    lr_candidate *of;
    uint64_t item;
} member;

/* By the wholes, then by the items. */
static int by_whole(const void *x, const void *y)
{
    const member *a = x, *b = y;
    int order = a->of->split < b->of->split ? -1 : a->of->split > b->of->split;
    order = order ? order : strcmp(a->of->text, b->of->text);
    return order ? order : a->item < b->item ? -1 : a->item > b->item;
}

/* Makes the whole of some parts. */
static int32_t make_whole(lr_reverse *b, const member *parts, uint64_t count)
{
    uint64_t index = parts->of->split - 1, size = lr_back_rule(b, index)->part_count * sizeof *((lr_whole *)0)->parts;
    lr_whole *w = lr_job_arena_alloc(b->job, &b->plan->arena, sizeof *w, 8);
    uint64_t *items = w ? lr_job_arena_alloc(b->job, &b->plan->arena, size, 8) : NULL;
    if (!items) {
        return b->job->error.status;
    }
    memset(items, 0, (size_t)size);
    *w = (lr_whole){.rule = lr_back_rule(b, index), .index = index, .text = parts->of->text, .parts = items};
    for (uint64_t i = count; i-- > 0;) { /* the first item counts */
        parts[i].of->whole = w;
        items[parts[i].of->part] = parts[i].item + 1;
    }
    return check_whole(b, w);
}

int32_t lr_back_make_wholes(lr_reverse *b)
{
    member *parts = NULL;
    uint64_t count = 0, room = 0;
    for (uint64_t i = 0; i < b->count; i++) {
        for (uint64_t k = 0; k < b->items[i].candidates.count; k++) {
            lr_candidate *of = &b->items[i].candidates.list[k];
            if (of->split && lr_job_grow(b->job, &parts, count + 1, &room, sizeof *parts)) {
                parts[count++] = (member){.of = of, .item = i};
            }
        }
    }
    if (count) {
        qsort(parts, (size_t)count, sizeof *parts, by_whole);
    }
    for (uint64_t i = 0, n; i < count && !lr_job_failed(b->job); i += n) {
        for (n = 1; i + n < count && parts[i + n].of->split == parts[i].of->split &&
                    strcmp(parts[i + n].of->text, parts[i].of->text) == 0;) {
            n++;
        }
        (void)make_whole(b, &parts[i], n);
    }
    lr_release(b->job->allocator, parts);
    return b->job->error.status;
}

/* ---------------------------------------------------------------------------------------------------- choosing -- */

/* The keys that are left, for a message: "a, b or 3 more". */
static void list_candidates(const lr_candidates *c, const bool *left, char *text, size_t room)
{
    enum { SHOWN = 4 };
    uint64_t count = 0, shown = 0;
    size_t used = 0;
    for (uint64_t i = 0; i < c->count; i++) {
        count += left[i];
    }
    text[0] = '\0';
    for (uint64_t i = 0; i < c->count && shown < SHOWN && used + 1 < room; i++) {
        if (left[i]) {
            shown++;
            used += (size_t)snprintf(text + used, room - used, "%s%.120s",
                                     shown == 1                         ? ""
                                     : shown == count || shown == SHOWN ? " or "
                                                                        : ", ",
                                     c->list[i].text);
        }
    }
    if (count > shown && used + 1 < room) {
        (void)snprintf(text + used, room - used, " (of %" PRIu64 ")", count);
    }
}

static int32_t choice_failed(lr_reverse *b, const lr_back_item *one, const lr_candidates *c, const bool *left,
                             const lr_choice_made *made, const lr_whole *wrong)
{
    char text[1000], keys[560];
    const char *reason = made->rule ? lr_retrace_reason(b->retracer, made->rule - 1) : NULL;
    const lr_rule *rule = made->rule ? lr_back_rule(b, made->rule - 1) : NULL;
    switch (made->result) {
    case LR_CHOICE_NO_INVERSE:
        return lr_back_no_inverse(b, made->rule - 1, one->text, reason ? reason : "", "");
    case LR_CHOICE_SEVERAL:
        list_candidates(c, left, keys, sizeof keys);
        (void)snprintf(text, sizeof text, "%.200s may come from %.500s%s", one->text, keys,
                       rule ? "" : ": nothing shows it");
        if (rule) {
            size_t used = strlen(text);
            (void)snprintf(text + used, sizeof text - used, ": rule %u (%s = %.150s) makes one key of them",
                           (unsigned)rule->number, lr_word_name(rule->kind), rule->text);
        }
        return lr_back_issue(b, REC_PROBLEM_AMBIGUOUS, made->rule, one->text, "several", text,
                             "Add an export rule for the file's keys: export = PATTERN.");
    case LR_CHOICE_TOO_MANY:
        (void)snprintf(text, sizeof text, "%.200s: rule %u (%s = %.200s) may have made it of too many keys", one->text,
                       (unsigned)rule->number, lr_word_name(rule->kind), rule->text);
        return lr_back_issue(b, REC_PROBLEM_AMBIGUOUS, made->rule, one->text, "many", text,
                             "Write a more specific pattern, which has fewer inverses.");
    default:
        if (wrong) {
            (void)snprintf(text, sizeof text, "%.300s cannot be joined by rule %u: %s", wrong->text,
                           (unsigned)wrong->rule->number, wrong->wrong);
            return lr_back_issue(b, REC_PROBLEM_MISSING, wrong->index + 1, one->text, "parts", text,
                                 "All parts must be in the record.");
        }
        (void)snprintf(text, sizeof text, "%.200s: the rules make it of no key%s", one->text,
                       c->dropped ? " that they do not drop" : "");
        return lr_back_issue(b, REC_PROBLEM_NO_INVERSE, 0, one->text, c->dropped ? "dropped" : "none", text,
                             "A back rule gives it a name that they make, or is it another profile's record?");
    }
}

/* Chooses an item's key. @param dead those that cannot be. @param wrong why, or NULL. */
static int32_t choose(lr_reverse *b, lr_back_item *one, const lr_candidates *candidates, const bool *dead,
                      const lr_whole *wrong)
{
    bool few[64], *left = few;
    lr_choice_made made;
    int32_t status;
    if (candidates->count > sizeof few) {
        left = lr_alloc(b->job->allocator, candidates->count);
        if (!left) {
            return lr_fail_memory(b->job, candidates->count);
        }
    }
    status = lr_retrace_choose(b->retracer, candidates, dead, left, &made);
    if (status == REC_OK && made.result == LR_CHOICE_ONE) {
        const lr_candidate *chosen = &candidates->list[made.index];
        one->rules = lr_retrace_why(b->retracer, chosen);
        if (!one->waits) { /* it is not in the arena yet */
            lr_candidate *kept = lr_job_arena_alloc(b->job, &b->plan->arena, sizeof *kept, 8);
            if (kept) {
                *kept = *chosen;
                kept->text = lr_plan_keep(b->job, b->plan, chosen->text, chosen->length);
                kept->fired = NULL;
            }
            chosen = kept;
        }
        one->chosen = chosen;
        status = b->job->error.status;
    } else if (status == REC_OK) {
        status = choice_failed(b, one, candidates, left, &made, wrong);
    }
    if (left != few) {
        lr_release(b->job->allocator, left);
    }
    return status;
}

int32_t lr_back_retrace(lr_reverse *b, lr_back_item *one)
{
    lr_candidates candidates;
    if (one->gone || one->start_count == 0) {
        return REC_OK;
    }
    if (lr_retrace(b->retracer, one->starts, one->start_count, one->op, &candidates) != REC_OK) {
        return b->job->error.status;
    }
    return candidates.split ? wait_for_parts(b, one, &candidates) : choose(b, one, &candidates, NULL, NULL);
}

int32_t lr_back_choose(lr_reverse *b, lr_back_item *one)
{
    const lr_candidates *c = &one->candidates;
    bool *dead = one->waits ? lr_job_zalloc(b->job, c->count + 1) : NULL;
    const lr_whole *wrong = NULL;
    int32_t status;
    if (!dead) {
        return b->job->error.status;
    }
    for (uint64_t i = 0; i < c->count; i++) {
        const lr_whole *w = c->list[i].whole;
        dead[i] = w && w->wrong;
        wrong = dead[i] && !wrong ? w : wrong;
    }
    status = choose(b, one, c, dead, wrong);
    lr_release(b->job->allocator, dead);
    return status;
}

/* ---------------------------------------------------------------------------------------------------- emitting -- */

static int32_t emit(lr_reverse *b, const char *text, lr_op *op, lr_key *const *inputs, uint64_t count,
                    const char *operations, const char *why)
{
    const char *key = lr_plan_join(b->job, b->plan, b->source->rules->select, text);
    lr_piece *piece =
        key ? lr_plan_piece(b->job, b->plan, b->number, key, strlen(key), op, NULL, inputs, count, operations, why)
            : NULL;
    if (!piece) {
        return b->job->error.status;
    }
    piece->adapted = true;
    return REC_OK;
}

/* Joins the parts again: in groups, all parts of the first group come first. */
static lr_op *join_parts(lr_reverse *b, const lr_whole *w)
{
    const lr_rule *rule = w->rule;
    lr_op **ops = lr_job_alloc(b->job, rule->part_count * sizeof *ops);
    lr_op *joined = NULL, *op = NULL;
    lr_span *spans = NULL;
    uint32_t axis;
    int64_t groups;
    uint64_t used = 0;
    if (!ops) {
        return NULL;
    }
    for (uint64_t p = 0; p < rule->part_count; p++) {
        ops[p] = b->items[w->parts[p] - 1].op;
    }
    axis = axis_of(rule, lr_op_rank(ops[0]));
    joined = lr_op_join(b->job, ops, rule->part_count, axis);
    if (!joined || lr_source_amount(b->job, b->source, rule, rule->groups, &groups) != REC_OK) {
        goto done;
    }
    if (groups <= 1 || lr_op_shape(joined)[axis] == 0) { /* of nothing, one group says all */
        op = lr_op_retain(joined);
        goto done;
    }
    spans = lr_alloc(b->job->allocator, (uint64_t)groups * rule->part_count * sizeof *spans);
    if (!spans) {
        (void)lr_fail_memory(b->job, (uint64_t)groups * rule->part_count * sizeof *spans);
        goto done;
    }
    for (int64_t g = 0; g < groups; g++) {
        uint64_t begin = 0;
        for (uint64_t p = 0; p < rule->part_count; p++) {
            uint64_t length = lr_op_shape(ops[p])[axis], size = length / (uint64_t)groups;
            if (size) {
                spans[used++] = (lr_span){.begin = begin + (uint64_t)g * size, .count = size};
            }
            begin += length;
        }
    }
    op = lr_op_slice(b->job, joined, axis, spans, used);

done:
    lr_op_release(joined);
    lr_release(b->job->allocator, spans);
    lr_release(b->job->allocator, ops);
    return op;
}

static int32_t emit_whole(lr_reverse *b, lr_whole *w)
{
    const lr_rule *rule = w->rule;
    const lr_back_item *first = &b->items[w->parts[0] - 1];
    lr_key **inputs;
    lr_op *op;
    const char *operations, *why;
    uint64_t count = 0;
    int32_t status = REC_OK;
    w->made = true;
    for (uint64_t p = 0; p < rule->part_count; p++) {
        const lr_back_item *part = &b->items[w->parts[p] - 1];
        if (!part->chosen) {
            return REC_OK; /* there is a problem already */
        }
        if (part->chosen->split != w->index + 1 || strcmp(part->chosen->text, w->text) != 0) {
            char text[700];
            (void)snprintf(text, sizeof text, "%.200s: rule %u would join %.200s into it, which goes to %.200s",
                           w->text, (unsigned)rule->number, part->text, part->chosen->text);
            return lr_back_issue(b, REC_PROBLEM_AMBIGUOUS, w->index + 1, w->text, "elsewhere", text,
                                 "Add an export rule for the file's keys: export = PATTERN.");
        }
        count += part->input_count;
    }
    inputs = lr_alloc(b->job->allocator, (count + 1) * sizeof *inputs);
    if (!inputs) {
        return lr_fail_memory(b->job, count * sizeof *inputs);
    }
    count = 0;
    for (uint64_t p = 0; p < rule->part_count; p++) {
        const lr_back_item *part = &b->items[w->parts[p] - 1];
        memcpy(inputs + count, part->inputs, (size_t)part->input_count * sizeof *inputs);
        count += part->input_count;
    }
    op = join_parts(b, w);
    operations = op ? lr_plan_and(b->job, b->plan, first->operations, "join") : NULL;
    why = operations ? lr_plan_and(b->job, b->plan, first->why, first->rules) : NULL;
    status = why ? emit(b, w->text, op, inputs, count, operations, why) : lr_back_refused_by(b, w->text, rule);
    lr_op_release(op);
    lr_release(b->job->allocator, inputs);
    return status;
}

/* The axis along which a weight has its lengths; its rank: none. Of the rules for it the last one knows best: those of
 * the import and of the base come after those that are given. */
static uint32_t norm_axis(lr_reverse *b, const lr_candidate *weight, uint32_t rank)
{
    const lr_rules *rules = b->source->rules;
    const char *last = lr_path_last(weight->text, weight->length);
    size_t base = last > weight->text ? (size_t)(last - weight->text) - 1 : 0;
    int32_t axis = 0;
    for (uint64_t i = rules->count; i-- > 0;) {
        if (rules->rules[i].kind == LR_RULE_WEIGHT_NORM &&
            lr_regex_match(b->job, rules->rules[i].regex, b->matcher, weight->text, base) == 1) {
            axis = rules->rules[i].axis;
            break;
        }
    }
    if (axis < 0) {
        return axis == LR_AXIS_WHOLE || !rank ? rank : rank - 1;
    }
    return (uint32_t)axis < rank ? (uint32_t)axis : rank + 1; /* it has no such axis */
}

/* A weight that weight_norm made becomes a direction and the lengths of its rows. torch begins with just these: the
 * weight is the direction. */
static int32_t emit_normed(lr_reverse *b, const lr_back_item *one)
{
    const char *why = lr_plan_and(b->job, b->plan, one->why, one->rules);
    const char *words = why ? lr_plan_and(b->job, b->plan, one->operations, "norm") : NULL;
    const char *names[2];
    const lr_rule *rule = lr_back_rule(b, one->chosen->blocked - 1);
    lr_op *length;
    int32_t status;
    if (!words || lr_back_normed_names(b, one->chosen, names) != REC_OK ||
        lr_back_inexact(b, one->chosen->blocked - 1, one->text,
                        "the weight becomes the direction, with the lengths of its rows") != REC_OK) {
        return b->job->error.status;
    }
    b->source->rules->rules[one->chosen->blocked - 1].hits++;
    length = lr_op_norm(b->job, one->op, norm_axis(b, one->chosen, lr_op_rank(one->op)));
    if (!length) {
        return lr_back_refused_by(b, one->text, rule);
    }
    status = emit(b, names[0], length, one->inputs, one->input_count, words, why);
    lr_op_release(length);
    return status == REC_OK ? emit(b, names[1], one->op, one->inputs, one->input_count, one->operations, why) : status;
}

int32_t lr_back_emit(lr_reverse *b, lr_back_item *one)
{
    const char *why;
    if (one->gone || !one->chosen) {
        return REC_OK;
    }
    if (one->chosen->blocked && lr_back_is_normed(b, one->chosen)) {
        return emit_normed(b, one);
    }
    if (!one->chosen->split) {
        why = lr_plan_and(b->job, b->plan, one->why, one->rules);
        return why ? emit(b, one->chosen->text, one->op, one->inputs, one->input_count, one->operations, why)
                   : b->job->error.status;
    }
    return one->chosen->whole->made ? REC_OK : emit_whole(b, one->chosen->whole);
}
