/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Keys backwards: the renames from the last to the first, each undone where it may have acted and proved forwards; then
 * the splits. */

#include "remap/reverse/reverse_private.h"

/* More candidates of one key are not looked at. */
enum { CANDIDATES_MOST = 4096 };

uint64_t lr_retrace_width(const lr_trace *r)
{
    return r->renames.count + 1;
}

static bool collect(lr_trace *r, lr_steps *s, int32_t kind, int32_t makes)
{
    const lr_rules *rules = r->source->rules;
    uint64_t count = 0;
    for (uint64_t i = 0; i < rules->count; i++) {
        count += rules->rules[i].kind == kind;
    }
    s->list = lr_job_zalloc(r->job, (count + 1) * sizeof *s->list);
    if (!s->list) {
        return false;
    }
    for (uint64_t i = 0; i < rules->count; i++) {
        const lr_rule *rule = &rules->rules[i];
        if (rule->kind == kind) {
            lr_step *one = &s->list[s->count];
            *one = (lr_step){.rule = rule, .index = i};
            one->back = lr_back_new(r->job, rule->regex, rule->template, 0, makes);
            if (!one->back) {
                return false;
            }
            s->count++;
        }
    }
    return true;
}

static void forget(const lr_trace *r, lr_steps *s)
{
    for (uint64_t i = 0; i < s->count; i++) {
        lr_back_free(s->list[i].back);
    }
    lr_release(r->job->allocator, s->list);
}

lr_trace *lr_trace_new(rec_job *job, rec_plan *plan, uint32_t source, lr_matcher *matcher)
{
    lr_trace *r = lr_zalloc(job->allocator, sizeof *r);
    if (!r) {
        return LR_AS_NULL(lr_fail_memory(job, sizeof *r));
    }
    r->job = job;
    r->plan = plan;
    r->source = &plan->sources[source];
    r->matcher = matcher;
    r->origins.allocator = job->allocator;
    r->exports = lr_rules_have(r->source->rules, LR_RULE_EXPORT);
    if (!collect(r, &r->renames, LR_RULE_RENAME, LR_BACK_PLACES) ||
        !collect(r, &r->splits, LR_RULE_SPLIT, LR_BACK_PARTS)) {
        lr_trace_free(r);
        return NULL;
    }
    return r;
}

void lr_trace_free(lr_trace *r)
{
    if (r) {
        const lr_allocator *allocator = r->job->allocator;
        forget(r, &r->renames);
        forget(r, &r->splits);
        lr_origins_free(&r->origins);
        lr_release(allocator, r->now.list);
        lr_release(allocator, r->next.list);
        lr_release(allocator, r->bytes.at);
        lr_release(allocator, r->candidates);
        lr_release(allocator, r);
    }
}

const char *lr_retrace_reason(const lr_trace *r, uint64_t rule)
{
    const lr_steps *steps[] = {&r->renames, &r->splits};
    for (int s = 0; s < 2; s++) {
        for (uint64_t i = 0; i < steps[s]->count; i++) {
            if (steps[s]->list[i].index == rule) {
                return lr_back_reason(steps[s]->list[i].back);
            }
        }
    }
    return NULL;
}

/* ---------------------------------------------------------------------------------------------------- one text -- */

/* Room for bytes. @return their place, SIZE_MAX: the job has failed. */
static size_t take(lr_trace *r, size_t size)
{
    lr_back_bytes *b = &r->bytes;
    size_t at = b->used;
    if (!lr_job_grow(r->job, &b->at, b->used + size, &b->room, 1)) {
        return SIZE_MAX;
    }
    b->used += size;
    return at;
}

/* NULL: the job has failed. */
static lr_walker *push(lr_trace *r, lr_walkers *to, const lr_walker *walker)
{
    if (!lr_job_grow(r->job, &to->list, to->count + 1, &to->room, sizeof *walker)) {
        return NULL;
    }
    to->list[to->count] = *walker;
    return &to->list[to->count++];
}

/* Appends a text. @param text not among the retracer's bytes. NULL: the job has failed. */
static lr_walker *add(lr_trace *r, lr_walkers *to, const char *text, size_t length)
{
    size_t at = take(r, length + 1);
    if (at == SIZE_MAX) {
        return NULL;
    }
    memcpy(r->bytes.at + at, text, length);
    r->bytes.at[at + length] = '\0';
    return push(r, to, &(lr_walker){.text = at, .length = length});
}

/* Whether the origins that a rule's inverse found are few enough; otherwise notes it. @param rule by index. */
static bool are_few(const lr_trace *r, uint64_t rule, lr_candidates *out)
{
    bool few = !r->origins.overflow && r->next.count + r->origins.count <= CANDIDATES_MOST;
    out->lost = r->origins.lost ? rule + 1 : out->lost;
    out->overflow = few ? out->overflow : rule + 1;
    return few;
}

static bool copy_fired(lr_trace *r, lr_walker *to, const lr_walker *from)
{
    size_t width = (size_t)lr_retrace_width(r), at = take(r, width);
    if (at == SIZE_MAX) {
        return false;
    }
    memcpy(r->bytes.at + at, r->bytes.at + from->fired, width);
    to->fired = at;
    return true;
}

/* Undoes a rename in all texts there are. */
static int32_t undo(lr_trace *r, uint64_t number, lr_candidates *out)
{
    const lr_step *s = &r->renames.list[number];
    lr_walkers swap;
    r->next.count = 0;
    for (uint64_t i = 0; i < r->now.count; i++) {
        lr_walker from = r->now.list[i];
        int leaves = lr_back_leaves(r->job, s->back, r->matcher, r->bytes.at + from.text, from.length);
        if (leaves < 0 || lr_back_find(r->job, s->back, r->matcher, r->bytes.at + from.text, from.length, NULL, NULL,
                                       &r->origins) != REC_OK) {
            return LR_HINT(r->job, "It was tried on the key %.200s.", r->bytes.at + from.text);
        }
        if (!are_few(r, s->index, out)) {
            return REC_OK;
        }
        for (uint64_t k = 0; k < r->origins.count; k++) {
            const lr_origin *origin = &r->origins.list[k];
            lr_walker *to = add(r, &r->next, r->origins.text + origin->at, origin->length);
            uint8_t *fired;
            if (!to || !copy_fired(r, to, &from)) {
                return r->job->error.status;
            }
            to->inside = from.inside + origin->inside;
            fired = (uint8_t *)r->bytes.at + to->fired + number + 1;
            *fired = (uint8_t)(origin->places < UINT8_MAX ? origin->places : UINT8_MAX);
        }
        if (leaves) { /* unchanged */
            lr_walker *to = push(r, &r->next, &from);
            if (!to || (leaves == 2 && !copy_fired(r, to, &from))) {
                return r->job->error.status;
            }
            if (leaves == 2) { /* the rule acts on it too, and makes it of itself */
                r->bytes.at[to->fired + number + 1] = 1;
            }
        }
    }
    swap = r->now;
    r->now = r->next;
    r->next = swap;
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

/* The first split that acts on a key. @return its place among the splits, r->splits.count for none; UINT64_MAX: the job
 * has failed. */
static uint64_t split_of(lr_trace *r, const char *text, size_t length)
{
    for (uint64_t i = 0; i < r->splits.count; i++) {
        int leaves = lr_back_leaves(r->job, r->splits.list[i].back, r->matcher, text, length);
        if (leaves != 1) {
            return leaves < 0 ? UINT64_MAX : i;
        }
    }
    return r->splits.count;
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

/* Undoes the splits: r->now has the parts' keys and those that were none, r->next gets the file's. */
static int32_t unsplit(lr_trace *r, const lr_op *op, lr_candidates *out)
{
    r->next.count = 0;
    for (uint64_t i = 0; i < r->now.count; i++) {
        lr_walker from = r->now.list[i];
        int dropped = drops(r, r->bytes.at + from.text, from.length, op);
        uint64_t split = dropped == 0 ? split_of(r, r->bytes.at + from.text, from.length) : 0;
        if (dropped < 0 || split == UINT64_MAX) {
            return r->job->error.status;
        }
        out->dropped = out->dropped || dropped;
        if (!dropped && split == r->splits.count) {
            uint64_t blocked = fused_by(r, r->bytes.at + from.text, from.length);
            lr_walker *to = blocked == UINT64_MAX ? NULL : push(r, &r->next, &from);
            if (!to) {
                return r->job->error.status;
            }
            to->blocked = blocked;
        }
        for (uint64_t s = 0; s < r->splits.count; s++) {
            const lr_step *one = &r->splits.list[s];
            for (uint64_t p = 0; p < one->rule->part_count; p++) {
                if (lr_back_find(r->job, one->back, r->matcher, r->bytes.at + from.text, from.length,
                                 one->rule->parts[p].name, NULL, &r->origins) != REC_OK) {
                    return r->job->error.status;
                }
                if (!are_few(r, one->index, out)) {
                    return REC_OK;
                }
                for (uint64_t k = 0; k < r->origins.count; k++) {
                    const lr_origin *origin = &r->origins.list[k];
                    const char *text = r->origins.text + origin->at;
                    lr_walker *to;
                    dropped = drops(r, text, origin->length, op);
                    if (dropped < 0 || (!dropped && (split = split_of(r, text, origin->length)) == UINT64_MAX)) {
                        return r->job->error.status;
                    }
                    if (dropped || split != s) {
                        continue;
                    }
                    to = add(r, &r->next, text, origin->length);
                    if (!to) {
                        return r->job->error.status;
                    }
                    to->fired = from.fired;
                    to->inside = from.inside;
                    to->split = one->index + 1;
                    to->part = (uint32_t)p;
                    out->split = true;
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
    r->now.count = 0;
    r->bytes.used = 0;
    for (uint32_t i = 0; i < start_count; i++) {
        lr_walker *w = add(r, &r->now, starts[i], strlen(starts[i]));
        size_t fired = w ? take(r, width) : SIZE_MAX;
        if (fired == SIZE_MAX) {
            return r->job->error.status;
        }
        memset(r->bytes.at + fired, 0, width);
        r->bytes.at[fired] = start_count > 1 && i == 0;
        w->fired = fired;
    }
    for (uint64_t i = r->renames.count; i-- > 0 && !out->overflow;) {
        if (undo(r, i, out) != REC_OK) {
            return r->job->error.status;
        }
    }
    if (out->overflow) {
        return REC_OK;
    }
    if (unsplit(r, op, out) != REC_OK) {
        return r->job->error.status;
    }
    if (!lr_job_grow(r->job, &r->candidates, r->next.count, &r->candidate_room, sizeof *r->candidates)) {
        return r->job->error.status;
    }
    for (uint64_t i = 0; i < r->next.count; i++) {
        const lr_walker *w = &r->next.list[i];
        r->candidates[i] = (lr_candidate){.text = r->bytes.at + w->text,
                                          .length = w->length,
                                          .split = w->split,
                                          .part = w->part,
                                          .inside = w->inside,
                                          .blocked = w->blocked,
                                          .fired = (const uint8_t *)r->bytes.at + w->fired};
    }
    out->list = r->candidates;
    out->count = r->next.count;
    return REC_OK;
}
