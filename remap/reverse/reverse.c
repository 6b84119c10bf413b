/* SPDX-License-Identifier: MIT OR Apache-2.0
 * A profile backwards: from Burn's keys and layouts to those of the file they came from, in the reverse order of the
 * forward way. What cannot be told for sure is a problem of the plan, never a guess. */
#include <stdio.h>
#include <string.h>

#include "remap/reverse/reverse_private.h"

/* ------------------------------------------------------------------------------------------------------- items -- */

static int32_t set_inputs(lr_reverse *b, lr_back_item *one, lr_key *const *inputs, uint64_t count)
{
    lr_key **copy = lr_arena_alloc(&b->plan->arena, (count + 1) * sizeof *copy, 8);
    if (!copy) {
        return lr_fail_memory(b->job, count * sizeof *copy);
    }
    memcpy(copy, inputs, (size_t)count * sizeof *copy);
    one->inputs = copy;
    one->input_count = count;
    return REC_OK;
}

/* Numbers are data; a text may be the name of a variant, which the model's source has. */
static bool is_number(const rec_value *value)
{
    return value->kind == REC_KIND_INT || value->kind == REC_KIND_UINT || value->kind == REC_KIND_FLOAT ||
           value->kind == REC_KIND_BOOL || value->kind == REC_KIND_NUMBERS;
}

/* A key that goes nowhere. @param data it holds some, and strict rejects that. */
static int32_t left_out(lr_reverse *b, lr_key *key, int32_t action, const char *why, bool data)
{
    int32_t status = lr_plan_lost(b->job, b->plan, action, key, why);
    char text[500];
    if (status != REC_OK || !data || !b->source->strict) {
        return status;
    }
    (void)snprintf(text, sizeof text, "%.300s: left out, %s", key->text, why);
    return lr_back_issue(b, REC_PROBLEM_UNEXPECTED, 0, key->text, why, text, "");
}

/* A key of the record, through the `back` rules. */
static int32_t take_key(lr_reverse *b, lr_key *key)
{
    const lr_rules *rules = b->source->rules;
    const char *prefix = b->source->prefix, *text = key->text, *module = NULL;
    const rec_tensor *tensor = rec_value_tensor(key->value);
    size_t length = (size_t)key->length;
    char *clean = NULL;
    lr_back_item *one;
    if (prefix && *prefix) {
        size_t head = strlen(prefix);
        if (length <= head || memcmp(text, prefix, head) != 0 || text[head] != '.') {
            return left_out(b, key, REC_PLAN_UNEXPECTED, "not below the prefix", tensor != NULL);
        }
        text += head + 1;
        length -= head + 1;
    }
    if (!tensor) {
        /* A constant holds nothing: not worth a line. */
        key->used = true;
        return key->value->kind == REC_KIND_NIL
                   ? REC_OK
                   : left_out(b, key, REC_PLAN_DROPPED, "not a tensor: PyTorch's files have no place for it",
                              is_number(key->value));
    }
    if (b->type.item) {
        clean = lr_alloc(b->job->allocator, length + 1);
        if (!clean) {
            return lr_fail_memory(b->job, length);
        }
        module = lr_back_type_of(&b->type, text, length, clean);
        text = clean;
        length = strlen(clean);
    }
    for (uint64_t i = 0; i < rules->count; i++) {
        const lr_rule *rule = &rules->rules[i];
        if (rule->kind == LR_RULE_BACK) {
            int64_t n = lr_regex_replace(b->job, rule->regex, b->matcher, text, length, rule->template);
            if (n < 0) {
                rec_fail_hint(b->job, "It was tried on the key %.200s.", text);
                goto done;
            }
            if (n) {
                b->source->hits[i]++;
                text = lr_matcher_output(b->matcher, &length);
            }
        }
    }
    one = lr_back_item_new(b);
    if (one) {
        one->text = lr_back_keep(b, text, length);
        one->module = module && *module ? lr_back_keep(b, module, strlen(module)) : module;
        one->op = lr_op_tensor(b->job, tensor);
        (void)set_inputs(b, one, &key, 1);
    }

done:
    lr_release(b->job->allocator, clean);
    return b->job->error.status;
}

/* --------------------------------------------------------------------------------------------------------- all -- */

/* Lists whose gaps were closed: what their numbers were is nowhere. */
static int32_t check_gaps(lr_reverse *b)
{
    if (!b->source->gaps_given || !b->source->close_gaps) {
        return REC_OK;
    }
    for (uint64_t i = 0; i < b->count; i++) {
        const char *text = b->items[i].text;
        for (const char *dot; text; text = dot ? dot + 1 : NULL) {
            uint64_t index,
                length =
                    (uint64_t)((dot = lr_path_dot(text, text + strlen(text))) ? dot - text : (ptrdiff_t)strlen(text));
            if (lr_node_index(text, length, &index)) {
                char words[400];
                (void)snprintf(words, sizeof words,
                               "%.300s: gaps = close has no inverse: the numbers before are not in the record",
                               b->items[i].text);
                return lr_back_issue(b, REC_PROBLEM_NO_INVERSE, 0, b->items[i].text, "gaps", words,
                                     "Give gaps = keep, and back rules that put the numbers back, the highest first.");
            }
        }
    }
    return REC_OK;
}

static int32_t run(lr_reverse *b)
{
    const lr_rules *rules = b->source->rules;
    for (uint64_t i = 0; i < b->source->key_count; i++) {
        if (take_key(b, &b->source->keys[i]) != REC_OK) {
            return b->job->error.status;
        }
    }
    for (uint64_t i = rules->count; i-- > 0;) {
        if ((rules->rules[i].kind == LR_RULE_STACK || rules->rules[i].kind == LR_RULE_JOIN) &&
            lr_back_take_apart(b, i) != REC_OK) {
            return b->job->error.status;
        }
    }
    if (lr_back_find_sites(b) != REC_OK) {
        return b->job->error.status;
    }
    for (uint64_t i = 0; i < b->count; i++) {
        if (!b->items[i].gone && lr_back_unadapt(b, &b->items[i]) != REC_OK) {
            return b->job->error.status;
        }
    }
    if (lr_back_put_together(b) != REC_OK) {
        return b->job->error.status;
    }
    for (uint64_t i = rules->count; i-- > 0;) {
        if (rules->rules[i].kind == LR_RULE_TIE && lr_back_untie(b, i) != REC_OK) {
            return b->job->error.status;
        }
    }
    if (check_gaps(b) != REC_OK) {
        return b->job->error.status;
    }
    for (uint64_t i = 0; i < b->count; i++) {
        if (lr_back_retrace(b, i) != REC_OK) {
            return b->job->error.status;
        }
    }
    for (uint64_t i = 0; i < b->whole_count; i++) {
        if (lr_back_check_whole(b, &b->wholes[i]) != REC_OK) {
            return b->job->error.status;
        }
    }
    for (uint64_t i = 0; i < b->count; i++) {
        if (b->items[i].waits && lr_back_choose(b, &b->items[i]) != REC_OK) {
            return b->job->error.status;
        }
    }
    for (uint64_t i = 0; i < b->count; i++) {
        if (lr_back_emit(b, &b->items[i]) != REC_OK) {
            return b->job->error.status;
        }
    }
    return lr_back_report(b);
}

int32_t lr_plan_backward(rec_job *job, rec_plan *plan, uint32_t source)
{
    lr_reverse b = {.job = job, .plan = plan, .source = &plan->sources[source], .number = source};
    int32_t status;
    /* The file's own default, not the record's: a profile's modules are PyTorch's unless something says otherwise. */
    b.torch = b.source->rules->adapter != LR_ADAPTER_NONE;
    status = lr_back_type_begin(job, b.source, &b.type);
    if (status == REC_OK) {
        b.matcher = lr_matcher_new(job);
        b.retracer = b.matcher ? lr_trace_new(job, plan, source, b.matcher) : NULL;
        status = b.retracer ? run(&b) : job->error.status;
    }
    for (uint64_t i = 0; i < b.count; i++) {
        lr_op_release(b.items[i].op);
    }
    lr_release(job->allocator, b.items);
    lr_release(job->allocator, b.wholes);
    lr_release(job->allocator, b.slots);
    lr_trace_free(b.retracer);
    lr_matcher_free(b.matcher);
    lr_back_type_end(job);
    return status;
}
