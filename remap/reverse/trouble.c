/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Going backwards: what all steps share, a tensor on its way, and what goes wrong, said once for all keys it goes wrong
 * with. */
#include <inttypes.h>
#include <stdio.h>

#include "remap/reverse/reverse_private.h"

const lr_rule *lr_back_rule(const lr_reverse *b, uint64_t index)
{
    return &b->source->rules->rules[index];
}

lr_back_item *lr_back_item_new(lr_reverse *b)
{
    if (!lr_job_grow(b->job, &b->items, b->count + 1, &b->room, sizeof *b->items)) {
        return NULL;
    }
    b->items[b->count] = (lr_back_item){.operations = "", .why = ""};
    return &b->items[b->count++];
}

/* @param told it is a note. */
static int32_t add_issue(lr_reverse *b, int32_t kind, uint64_t rule, const char *key, const char *what,
                         const char *text, const char *hint, bool told)
{
    lr_issue *t;
    for (t = b->troubles; t; t = t->next) {
        if (t->kind == kind && t->told == told && t->rule == rule && strcmp(t->what, what) == 0) {
            t->count++;
            return REC_OK;
        }
    }
    t = lr_arena_alloc(&b->plan->arena, sizeof *t, 8);
    if (!t) {
        return lr_fail_memory(b->job, sizeof *t);
    }
    *t = (lr_issue){.kind = kind, .rule = rule, .count = 1, .told = told};
    t->what = lr_plan_keep(b->job, b->plan, what, strlen(what));
    t->key = lr_plan_keep(b->job, b->plan, key, strlen(key));
    t->text = lr_plan_keep(b->job, b->plan, text, strlen(text));
    t->hint = lr_plan_keep(b->job, b->plan, hint, strlen(hint));
    if (lr_job_failed(b->job)) {
        return b->job->error.status;
    }
    if (b->last_trouble) {
        b->last_trouble->next = t;
    } else {
        b->troubles = t;
    }
    b->last_trouble = t;
    return REC_OK;
}

int32_t lr_back_issue(lr_reverse *b, int32_t kind, uint64_t rule, const char *key, const char *what, const char *text,
                      const char *hint)
{
    return add_issue(b, kind, rule, key, what, text, hint, false);
}

int32_t lr_back_inexact(lr_reverse *b, uint64_t rule, const char *key, const char *why)
{
    const lr_rule *r = lr_back_rule(b, rule);
    char text[900];
    (void)snprintf(text, sizeof text,
                   "%.200s: rule %u (%s = %.200s) is undone in function, not to the last bit: %.300s", key,
                   (unsigned)r->number, lr_word_name(r->kind), r->text, why);
    return add_issue(b, REC_PROBLEM_NO_INVERSE, rule + 1, key, why, text,
                     b->source->strict ? "Without strict it is done, with a note." : "", !b->source->strict);
}

int32_t lr_back_no_inverse(lr_reverse *b, uint64_t rule, const char *key, const char *why, const char *hint)
{
    const lr_rule *r = lr_back_rule(b, rule);
    char text[900];
    (void)snprintf(text, sizeof text, "%.200s: rule %u (%s = %.200s) has no inverse: %.300s", key, (unsigned)r->number,
                   lr_word_name(r->kind), r->text, why);
    return lr_back_issue(b, REC_PROBLEM_NO_INVERSE, rule + 1, key, why, text, hint);
}

int32_t lr_back_report(lr_reverse *b)
{
    int32_t status = REC_OK;
    for (const lr_issue *t = b->troubles; t && status == REC_OK; t = t->next) {
        char more[64] = "";
        if (t->count > 1) {
            (void)snprintf(more, sizeof more, " (and %" PRIu64 " more key%s)", t->count - 1, t->count == 2 ? "" : "s");
        }
        status = lr_plan_problem(b->job, b->plan, t->kind, !t->told, t->key, t->hint, "%s%s", t->text, more);
    }
    return status;
}

int32_t lr_back_refused_by(lr_reverse *b, const char *key, const lr_rule *rule)
{
    char doing[260];
    (void)snprintf(doing, sizeof doing, "rule %u backwards (%s = %.200s)", (unsigned)rule->number,
                   lr_word_name(rule->kind), rule->text);
    return lr_plan_refused(b->job, b->plan, key, doing);
}
