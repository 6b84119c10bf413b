/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Keys backwards: which of several keys it was; see lr_retrace_choose(). */
#include <stdio.h>

#include "remap/reverse/reverse_private.h"

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
    for (uint64_t i = 0; i <= r->renames.count; i++) {
        if (a->fired[i] != b->fired[i]) {
            /* What leaves no trace is no reason to believe anything. */
            if (a->fired[i] > b->fired[i] || (i > 0 && !lr_back_leaves_trace(r->renames.list[i - 1].back))) {
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
    for (uint64_t i = 0; i < r->renames.count; i++) {
        if (a->fired[i + 1] != b->fired[i + 1]) {
            return r->renames.list[i].index + 1;
        }
    }
    if (a->split != b->split) {
        return a->split ? a->split : b->split;
    }
    for (uint64_t i = 0; i < r->renames.count; i++) { /* one rule, at several places or in several ways */
        if (a->fired[i + 1]) {
            return r->renames.list[i].index + 1;
        }
    }
    return a->split;
}

static uint64_t count_left(const bool *left, uint64_t count)
{
    uint64_t n = 0;
    for (uint64_t i = 0; i < count; i++) {
        n += left[i];
    }
    return n;
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
                r->source->hits[i] += found && pass == 0; /* though an earlier one decides */
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
    if (first == UINT64_MAX) {
        return REC_OK;
    }
    if (count_left(left, c->count) > 1) {
        *made = (lr_choice_made){
            .result = LR_CHOICE_SEVERAL, .index = first, .rule = difference(r, &c->list[first], &c->list[second])};
    } else {
        *made = (lr_choice_made){.result = LR_CHOICE_ONE, .index = first};
    }
    return REC_OK;
}

const char *lr_retrace_why(lr_trace *r, const lr_candidate *candidate)
{
    char text[512] = "";
    size_t used = 0;
    uint64_t count = 0;
    for (int pass = 0; pass < 2; pass++) {
        uint64_t listed = 0;
        for (uint64_t i = 0; i <= r->renames.count; i++) {
            uint64_t index = i == 0 ? candidate->split : candidate->fired[i] ? r->renames.list[i - 1].index + 1 : 0;
            if (!index) {
                continue;
            }
            if (pass == 0) {
                count++;
                r->source->hits[index - 1]++;
            } else if (used + 32 < sizeof text) {
                used += (size_t)snprintf(text + used, sizeof text - used, "%s%u",
                                         listed++    ? ", "
                                         : count > 1 ? "rules "
                                                     : "rule ",
                                         (unsigned)r->source->rules->rules[index - 1].number);
            }
        }
    }
    return lr_plan_text(r->job, r->plan, "%s", text);
}
