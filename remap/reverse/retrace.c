/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Keys backwards: the renames from the last to the first, each undone where it may have acted and proved forwards; then
 * the splits. Of several keys one is chosen: see lr_retrace_choose(). */
#include <stdio.h>

#include "remap/reverse/reverse_private.h"

/* More candidates of one key are not looked at. */
enum { CANDIDATES_MOST = 4096 };

typedef struct set {
    lr_candidate *list;
    uint64_t count, room;
} set;

struct lr_trace {
    rec_job *job;
    rec_plan *plan;
    lr_plan_source *source;
    lr_matcher *matcher;
    lr_back **backs; /* of renames and splits, by rule; NULL: of another kind */
    bool exports;    /* there are such rules */
    lr_arena arena;  /* of the candidates of one key */
    set now, next;   /* before a step, after it */
    lr_origins origins;
};

uint64_t lr_retrace_width(const lr_trace *r)
{
    return r->source->rules->count + 1;
}

lr_trace *lr_trace_new(rec_job *job, rec_plan *plan, uint32_t source, lr_matcher *matcher)
{
    const lr_rules *rules = plan->sources[source].rules;
    lr_trace *r = lr_job_zalloc(job, sizeof *r);
    if (!r) {
        return NULL;
    }
    r->job = job;
    r->plan = plan;
    r->source = &plan->sources[source];
    r->matcher = matcher;
    lr_arena_init(&r->arena, job->allocator);
    r->origins.allocator = job->allocator;
    r->exports = lr_rules_have(r->source->rules, LR_RULE_EXPORT);
    r->backs = lr_job_zalloc(job, (rules->count + 1) * sizeof *r->backs);
    for (uint64_t i = 0; i < rules->count && !lr_job_failed(job); i++) {
        const lr_rule *rule = &rules->rules[i];
        if (rule->kind == LR_RULE_RENAME || rule->kind == LR_RULE_SPLIT) {
            r->backs[i] = lr_back_new(job, rule->regex, rule->template, 0,
                                      rule->kind == LR_RULE_SPLIT ? LR_BACK_PARTS : LR_BACK_PLACES);
        }
    }
    if (lr_job_failed(job)) {
        lr_trace_free(r);
        return NULL;
    }
    return r;
}

void lr_trace_free(lr_trace *r)
{
    if (r) {
        const lr_allocator *allocator = r->job->allocator;
        for (uint64_t i = 0; r->backs && i < r->source->rules->count; i++) {
            lr_back_free(r->backs[i]);
        }
        lr_release(allocator, r->backs);
        lr_origins_free(&r->origins);
        lr_arena_free(&r->arena);
        lr_release(allocator, r->now.list);
        lr_release(allocator, r->next.list);
        lr_release(allocator, r);
    }
}

const char *lr_retrace_reason(const lr_trace *r, uint64_t rule)
{
    return r->backs[rule] ? r->backs[rule]->reason : NULL;
}

/* ---------------------------------------------------------------------------------------------------- one text -- */

/* Appends a candidate. NULL: the job has failed. */
static lr_candidate *push(lr_trace *r, const lr_candidate *one)
{
    if (!lr_job_grow(r->job, &r->next.list, r->next.count + 1, &r->next.room, sizeof *one)) {
        return NULL;
    }
    r->next.list[r->next.count] = *one;
    return &r->next.list[r->next.count++];
}

/* Appends a candidate with the text of an origin. NULL: the job has failed. */
static lr_candidate *add(lr_trace *r, const lr_candidate *from, const lr_origin *origin)
{
    lr_candidate to = *from;
    to.text = lr_job_arena_text(r->job, &r->arena, r->origins.text + origin->at, origin->length);
    to.length = origin->length;
    return to.text ? push(r, &to) : NULL;
}

/* The next step begins with the result of this one. */
static void turn(lr_trace *r)
{
    set before = r->now;
    r->now = r->next;
    r->next = before;
    r->next.count = 0;
}

/* Whether the origins that a rule's inverse found are few enough; otherwise notes it. @param rule by index. */
static bool are_few(const lr_trace *r, uint64_t rule, lr_candidates *out)
{
    bool few = !r->origins.overflow && r->next.count + r->origins.count <= CANDIDATES_MOST;
    out->lost = r->origins.lost ? rule + 1 : out->lost;
    out->overflow = few ? out->overflow : rule + 1;
    return few;
}

/* Notes how often a rename acted on a candidate. @param to NULL: the job has failed. */
static bool fire(lr_trace *r, lr_candidate *to, uint64_t number, uint32_t times)
{
    size_t width = (size_t)lr_retrace_width(r);
    uint8_t *fired = to ? lr_job_arena_alloc(r->job, &r->arena, width, 1) : NULL;
    if (fired) {
        memcpy(fired, to->fired, width);
        fired[number + 1] = (uint8_t)(times < UINT8_MAX ? times : UINT8_MAX);
        to->fired = fired;
    }
    return fired != NULL;
}

/* Undoes a rename in all texts there are. */
static int32_t undo(lr_trace *r, uint64_t number, lr_candidates *out)
{
    const lr_back *back = r->backs[number];
    for (uint64_t i = 0; i < r->now.count; i++) {
        const lr_candidate *from = &r->now.list[i];
        int leaves = lr_back_leaves(r->job, back, r->matcher, from->text, from->length);
        if (leaves < 0 ||
            lr_back_find(r->job, back, r->matcher, from->text, from->length, NULL, NULL, &r->origins) != REC_OK) {
            return LR_HINT(r->job, "It was tried on the key %.200s.", from->text);
        }
        if (!are_few(r, number, out)) {
            return REC_OK;
        }
        for (uint64_t k = 0; k < r->origins.count; k++) {
            const lr_origin *origin = &r->origins.list[k];
            lr_candidate *to = add(r, from, origin);
            if (!fire(r, to, number, origin->places)) {
                return r->job->error.status;
            }
            to->inside += origin->inside;
        }
        if (leaves) { /* unchanged, or the rule acts on it too, and makes it of itself */
            lr_candidate *to = push(r, from);
            if (!to || (leaves == 2 && !fire(r, to, number, 1))) {
                return r->job->error.status;
            }
        }
    }
    turn(r);
    return REC_OK;
}

/* -------------------------------------------------------------------------------------- what the file may have -- */

/* @return 1 if a rule drops the key, 0 if not, -1: the job has failed. */
static int drops(lr_trace *r, const char *text, size_t length, const lr_op *op)
{
    const lr_rules *rules = r->source->rules;
    for (uint64_t i = 0; i < rules->count; i++) {
        const lr_rule *rule = &rules->rules[i];
        int found = lr_rule_drops(rule, lr_op_dtype(op), lr_op_rank(op))
                        ? lr_regex_match(r->job, rule->regex, r->matcher, text, length)
                        : 0;
        if (found) {
            return found;
        }
    }
    return 0;
}

/* The first split that acts on a key. @return its index among the rules, their count for none; UINT64_MAX: the job has
 * failed. */
static uint64_t split_of(lr_trace *r, const char *text, size_t length)
{
    const lr_rules *rules = r->source->rules;
    for (uint64_t i = 0; i < rules->count; i++) {
        int leaves =
            rules->rules[i].kind == LR_RULE_SPLIT ? lr_back_leaves(r->job, r->backs[i], r->matcher, text, length) : 1;
        if (leaves != 1) {
            return leaves < 0 ? UINT64_MAX : i;
        }
    }
    return rules->count;
}

/* The weight_norm rule that a weight's key would be fused by, by index + 1; 0: none; UINT64_MAX: the job has failed. */
static uint64_t fused_by(lr_trace *r, const char *text, size_t length)
{
    const char *last = lr_path_last(text, length);
    uint64_t i = 0;
    int found;
    if (length - (size_t)(last - text) < 6 || memcmp(last, "weight", 6) != 0) {
        return 0;
    }
    found = lr_source_rule(r->job, r->source, r->matcher, LR_RULE_WEIGHT_NORM, text,
                           last > text ? (size_t)(last - text) - 1 : 0, &i);
    return found < 0 ? UINT64_MAX : found ? i + 1 : 0;
}

/* Appends a key of the file that a split cuts a candidate out of, unless another rule acts on it. */
static int32_t add_whole(lr_trace *r, const lr_candidate *from, const lr_origin *origin, uint64_t number, uint32_t part,
                         const lr_op *op, lr_candidates *out)
{
    const char *text = r->origins.text + origin->at;
    int dropped = drops(r, text, origin->length, op);
    uint64_t split = dropped == 0 ? split_of(r, text, origin->length) : UINT64_MAX;
    lr_candidate *to;
    if (split != number) {
        return r->job->error.status;
    }
    to = add(r, from, origin);
    if (to) {
        to->split = number + 1;
        to->part = part;
        out->split = true;
    }
    return r->job->error.status;
}

/* Undoes the splits: r->now has the parts' keys and those that were none, r->next gets the file's. */
static int32_t unsplit(lr_trace *r, const lr_op *op, lr_candidates *out)
{
    const lr_rules *rules = r->source->rules;
    for (uint64_t i = 0; i < r->now.count; i++) {
        const lr_candidate *from = &r->now.list[i];
        int dropped = drops(r, from->text, from->length, op);
        uint64_t split = dropped == 0 ? split_of(r, from->text, from->length) : 0;
        if (dropped < 0 || split == UINT64_MAX) {
            return r->job->error.status;
        }
        out->dropped = out->dropped || dropped;
        if (!dropped && split == rules->count) {
            uint64_t blocked = fused_by(r, from->text, from->length);
            lr_candidate *to = blocked == UINT64_MAX ? NULL : push(r, from);
            if (!to) {
                return r->job->error.status;
            }
            to->blocked = blocked;
        }
        for (uint64_t s = 0; s < rules->count; s++) {
            const lr_rule *rule = &rules->rules[s];
            for (uint64_t p = 0; rule->kind == LR_RULE_SPLIT && p < rule->part_count; p++) {
                if (lr_back_find(r->job, r->backs[s], r->matcher, from->text, from->length, rule->parts[p].name, NULL,
                                 &r->origins) != REC_OK ||
                    !are_few(r, s, out)) {
                    return r->job->error.status;
                }
                for (uint64_t k = 0; k < r->origins.count; k++) {
                    if (add_whole(r, from, &r->origins.list[k], s, (uint32_t)p, op, out) != REC_OK) {
                        return r->job->error.status;
                    }
                }
            }
        }
    }
    return REC_OK;
}

int32_t lr_retrace(lr_trace *r, const char *const *starts, uint32_t start_count, const lr_op *op, lr_candidates *out)
{
    size_t width = (size_t)lr_retrace_width(r);
    *out = (lr_candidates){0};
    r->next.count = 0;
    lr_arena_free(&r->arena);
    lr_arena_init(&r->arena, r->job->allocator);
    for (uint32_t i = 0; i < start_count; i++) {
        uint8_t *fired = lr_job_arena_alloc(r->job, &r->arena, width, 1);
        lr_candidate one = {.text = starts[i], .length = strlen(starts[i]), .fired = fired};
        if (!fired || !push(r, &one)) {
            return r->job->error.status;
        }
        memset(fired, 0, width);
        fired[0] = start_count > 1 && i == 0;
    }
    turn(r);
    for (uint64_t i = r->source->rules->count; i-- > 0 && !out->overflow;) {
        if (r->source->rules->rules[i].kind == LR_RULE_RENAME && undo(r, i, out) != REC_OK) {
            return r->job->error.status;
        }
    }
    if (out->overflow || unsplit(r, op, out) != REC_OK) {
        return r->job->error.status;
    }
    out->list = r->next.list;
    out->count = r->next.count;
    return REC_OK;
}

/* ---------------------------------------------------------------------------------------------------- choosing -- */

/* Whether what made `a` is less than what made `b`, and nothing else: b then has a trace that a does not explain. */
static bool is_less(const lr_trace *r, const lr_candidate *a, const lr_candidate *b)
{
    bool less = false;
    if (a->split != b->split || a->part != b->part) {
        if (a->split) {
            return false;
        }
        less = true;
    }
    for (uint64_t i = 0; i <= r->source->rules->count; i++) {
        if (a->fired[i] != b->fired[i]) {
            /* What leaves no trace is no reason to believe anything. */
            if (a->fired[i] > b->fired[i] || (i > 0 && !r->backs[i - 1]->trace)) {
                return false;
            }
            less = true;
        }
    }
    return less;
}

/* The rule that one of two candidates was made by and the other not, by index + 1: the first in the order of the rules,
 * which is the last that was undone; 0: none. */
static uint64_t difference(const lr_trace *r, const lr_candidate *a, const lr_candidate *b)
{
    for (uint64_t i = 1; i <= r->source->rules->count; i++) {
        if (a->fired[i] != b->fired[i]) {
            return i;
        }
    }
    if (a->split != b->split) {
        return a->split ? a->split : b->split;
    }
    for (uint64_t i = 1; i <= r->source->rules->count; i++) { /* one rule, at several places or in several ways */
        if (a->fired[i]) {
            return i;
        }
    }
    return a->split;
}

/* Leaves those that are keys of the file that was imported. @return whether there are any. */
static bool by_memory(const lr_trace *r, const lr_candidates *c, bool *left)
{
    const lr_memory *memory = r->source->memory;
    const char *select = r->source->rules->select;
    char text[4096];
    bool any = false;
    for (int pass = 0; memory && memory->keys.count && pass < 1 + any; pass++) {
        for (uint64_t k = 0; k < c->count; k++) {
            int n = snprintf(text, sizeof text, "%s%s%s", select ? select : "", select ? "." : "", c->list[k].text);
            bool found = n > 0 && (size_t)n < sizeof text && lr_memory_has(&memory->keys, text, (uint64_t)n);
            any = any || (found && left[k]);
            left[k] = left[k] && (pass == 0 || found);
        }
    }
    return any;
}

/* Leaves those that match the export rules: load arguments first, then what the import left, then the profile's.
 * @param decided (out) whether some of them decided. */
static int32_t by_exports(lr_trace *r, const lr_candidates *c, bool *left, bool *decided)
{
    const lr_rules *rules = r->source->rules;
    *decided = false;
    for (uint64_t n = 0; (r->exports || r->source->memory) && n < 2 * rules->count; n++) {
        uint64_t i = n % rules->count;
        const lr_rule *rule = &rules->rules[i];
        bool any = false;
        if (n == rules->count && by_memory(r, c, left)) {
            *decided = true;
        }
        if (rule->kind != LR_RULE_EXPORT || (rule->profile != NULL) != (n >= rules->count)) {
            continue;
        }
        for (int pass = 0; pass < 2 && (pass == 0 || any); pass++) {
            for (uint64_t k = 0; k < c->count; k++) {
                int found = lr_regex_match(r->job, rule->regex, r->matcher, c->list[k].text, (size_t)c->list[k].length);
                if (found < 0) {
                    return r->job->error.status;
                }
                r->source->rules->rules[i].hits += found && pass == 0; /* though an earlier one decides */
                any = any || (found && left[k]);
                left[k] = left[k] && (pass == 0 || found);
            }
        }
        if (any) {
            *decided = true;
        }
    }
    return REC_OK;
}

int32_t lr_retrace_choose(lr_trace *r, const lr_candidates *c, const bool *dead, bool *left, lr_choice_made *made)
{
    bool exported = false;
    uint64_t first = UINT64_MAX, second = UINT64_MAX;
    uint32_t inside = UINT32_MAX;
    *made = (lr_choice_made){.result = LR_CHOICE_NONE};
    if (c->overflow) {
        *made = (lr_choice_made){.result = LR_CHOICE_TOO_MANY, .rule = c->overflow};
        return REC_OK;
    }
    for (uint64_t i = 0; i < c->count; i++) {
        left[i] = !dead || !dead[i];
    }
    if (by_exports(r, c, left, &exported) != REC_OK) {
        return r->job->error.status;
    }
    if (c->lost && !exported) {
        *made = (lr_choice_made){.result = LR_CHOICE_NO_INVERSE, .rule = c->lost};
        return REC_OK;
    }
    for (uint64_t i = 0; i < c->count; i++) {
        for (uint64_t k = 0; k < c->count && left[i]; k++) {
            if (k != i && (!dead || !dead[k]) && is_less(r, &c->list[i], &c->list[k])) {
                /* Only one that is left by the export rules may push another out. */
                left[i] = !left[k];
            }
        }
    }
    for (uint64_t i = 0; i < c->count; i++) {
        inside = left[i] && c->list[i].inside < inside ? c->list[i].inside : inside;
    }
    for (uint64_t i = 0; i < c->count; i++) {
        left[i] = left[i] && c->list[i].inside == inside;
        if (left[i]) {
            second = first != UINT64_MAX && second == UINT64_MAX ? i : second;
            first = first == UINT64_MAX ? i : first;
        }
    }
    if (second != UINT64_MAX) {
        *made = (lr_choice_made){
            .result = LR_CHOICE_SEVERAL, .index = first, .rule = difference(r, &c->list[first], &c->list[second])};
    } else if (first != UINT64_MAX) {
        *made = (lr_choice_made){.result = LR_CHOICE_ONE, .index = first};
    }
    return REC_OK;
}

const char *lr_retrace_why(lr_trace *r, const lr_candidate *candidate)
{
    enum { LISTED = 128 };
    uint64_t numbers[LISTED], count = 0;
    char text[512];
    for (uint64_t i = 0; i <= r->source->rules->count; i++) {
        uint64_t index = i == 0 ? candidate->split : candidate->fired[i] ? i : 0;
        if (index) {
            r->source->rules->rules[index - 1].hits++;
            numbers[count] = r->source->rules->rules[index - 1].number;
            count += count + 1 < LISTED;
        }
    }
    return lr_plan_text(r->job, r->plan, "%s", lr_rules_words(text, numbers, count));
}
