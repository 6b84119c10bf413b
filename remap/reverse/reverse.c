/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Applies a profile backwards: from Burn's keys and layouts to those of the original file, in reverse order.
 * Ambiguities are problems of the plan; nothing is guessed. */
#include <inttypes.h>
#include <stdio.h>

#include "remap/reverse/reverse_private.h"
#include "remap/torch/torch.h"

/* ------------------------------------------------------------------------------------------- the record's type -- */

/* Takes the type of the source, if it has one. */
static int32_t take_type(lr_reverse *b)
{
    const lr_plan_source *source = b->source;
    b->type = source->type.layout ? lr_plan_layout(b->job, source->type, source->record->burn_minor) : NULL;
    return b->type ? lr_check_tensors(b->job, source->record, b->type) : b->job->error.status;
}

/* Follows a key through the record's type.
 * @param clean (out) the key without the names of variants, which are no parts of PyTorch's; NUL-terminated, room for
 * `length` + 1. @param site (out) the first module of remap/torch on the way: kind, below and listed.
 * @return the name of the module that the last part is a field of; NULL where the type has no such place, then `clean`
 * is the key. */
static const char *follow_type(const rec_layout *layout, const char *text, uint64_t length, char *clean,
                               lr_back_site *site)
{
    const char *part = text, *end = text + length, *module = NULL;
    size_t used = 0;
    bool listed = false;
    *site = (lr_back_site){0};
    for (bool last = false; layout && !last;) {
        const char *dot = lr_path_dot(part, end);
        uint64_t size = (uint64_t)((dot ? dot : end) - part);
        bool variant;
        last = dot == NULL;
        while (layout && layout->kind == REC_LAYOUT_OPTION) {
            layout = rec_layout_child(layout, 0);
        }
        if (!layout || layout->role != LR_ROLE_NONE) {
            layout = NULL;
            break;
        }
        if (!site->kind) {
            *site = (lr_back_site){lr_torch_kind_of(layout), listed, 0, (uint32_t)(used ? used + 1 : 0), 0};
        }
        listed = layout->kind == REC_LAYOUT_LIST;
        if (layout->kind == REC_LAYOUT_STRUCT) {
            module = layout->module ? layout->module : "";
        } else if (layout->kind != REC_LAYOUT_ENUM) {
            module = ""; /* an element of a list is a field of nothing */
        }
        variant = layout->kind == REC_LAYOUT_ENUM; /* its name is no part of PyTorch's keys */
        layout = lr_layout_below(layout, part, size);
        if (!variant) {
            if (used) {
                clean[used++] = '.';
            }
            memcpy(clean + used, part, (size_t)size);
            used += (size_t)size;
        }
        part = dot ? dot + 1 : end;
    }
    if (!layout) {
        memcpy(clean, text, (size_t)length);
        clean[length] = '\0';
        return NULL;
    }
    clean[used] = '\0';
    return module;
}

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

/* The key without levels that no type shows and, if `moved`, with the indices before gaps were closed. @param out NULL:
 * unchanged. */
static int32_t restore(lr_reverse *b, const lr_key *key, bool moved, char **out)
{
    bool keep_gaps = b->source->gaps_given && !b->source->close_gaps;
    *out = NULL;
    return b->source->memory ? lr_memory_restore(b->job, b->source->memory, moved && !keep_gaps, !b->type, key->text,
                                                 key->length, out)
                             : REC_OK;
}

/* What the import left of a weight: 1 it was transposed, 2 it was not, 0 nothing. */
static int was_linear(const lr_reverse *b, const lr_key *key)
{
    const lr_memory_list *linear = b->source->memory ? &b->source->memory->linear : NULL;
    if (!linear || !linear->count) {
        return 0;
    }
    return lr_memory_find(linear, key->text, key->length) || lr_memory_has(linear, key->text, key->length) ? 1 : 2;
}

/* A text through the `back` rules. @param out in the plan's arena. */
static int32_t apply_back(lr_reverse *b, const char *text, size_t length, const char **out)
{
    const lr_rules *rules = b->source->rules;
    for (uint64_t i = 0; i < rules->count; i++) {
        const lr_rule *rule = &rules->rules[i];
        int64_t n = rule->kind == LR_RULE_BACK
                        ? lr_regex_replace(b->job, rule->regex, b->matcher, text, length, rule->template)
                        : 0;
        if (n < 0) {
            return LR_HINT(b->job, "It was tried on the key %.200s.", text);
        }
        if (n) {
            b->source->rules->rules[i].hits++;
            text = lr_matcher_output(b->matcher, &length);
        }
    }
    *out = lr_plan_keep(b->job, b->plan, text, length);
    return b->job->error.status;
}

/* A key without prefix and levels of variants, and through the `back` rules. @param module,site (out) what the type
 * says. */
static int32_t read_key(lr_reverse *b, const char *text, const char **module, lr_back_site *site, const char **out)
{
    char *clean = NULL;
    size_t length = strlen(text);
    int32_t status;
    (void)lr_key_below(b->source->prefix, &text, &length);
    if (b->type) {
        clean = lr_alloc(b->job->allocator, length + 1);
        if (!clean) {
            return lr_fail_memory(b->job, length);
        }
        *module = follow_type(b->type, text, length, clean, site);
        text = clean;
        length = strlen(clean);
    }
    status = apply_back(b, text, length, out);
    lr_release(b->job->allocator, clean);
    return status;
}

static int32_t take_tensor(lr_reverse *b, lr_key *key, const rec_tensor *tensor)
{
    const char *module = NULL, *other = NULL, *text = NULL, *place = NULL;
    char *levels = NULL, *moved = NULL;
    lr_back_item *one = NULL;
    lr_back_site site = {0}, unused;
    int32_t status = restore(b, key, false, &levels);
    status = status == REC_OK ? restore(b, key, true, &moved) : status;
    if (status == REC_OK) {
        status = read_key(b, levels ? levels : key->text, &module, &site, &place);
        text = place;
    }
    if (status == REC_OK && moved) {
        status = read_key(b, moved, &other, &unused, &text);
    }
    one = status == REC_OK ? lr_back_item_new(b) : NULL;
    if (one) {
        one->text = text;
        one->place = place;
        one->site = site;
        one->module = module && *module ? lr_plan_keep(b->job, b->plan, module, strlen(module)) : module;
        one->op = lr_op_tensor(b->job, tensor);
        one->linear = was_linear(b, key);
        (void)set_inputs(b, one, &key, 1);
    }
    lr_release(b->job->allocator, levels);
    lr_release(b->job->allocator, moved);
    return b->job->error.status;
}

/* A key of the record. */
static int32_t take_key(lr_reverse *b, lr_key *key)
{
    const rec_tensor *tensor = rec_value_tensor(key->value);
    const char *text = key->text;
    size_t length = key->length;
    if (!lr_key_below(b->source->prefix, &text, &length)) {
        return left_out(b, key, REC_PLAN_UNEXPECTED, "not below the prefix", tensor != NULL);
    }
    if (tensor) {
        return take_tensor(b, key, tensor);
    }
    key->used = true; /* a constant holds nothing: not worth a line */
    return key->value->kind == REC_KIND_NIL
               ? REC_OK
               : left_out(b, key, REC_PLAN_DROPPED, "not a tensor: PyTorch's files cannot store it",
                          is_number(key->value));
}

/* --------------------------------------------------------------------------------------------------------- all -- */

/* Lists whose gaps were closed: what their numbers were is nowhere. */
static int32_t check_gaps(lr_reverse *b)
{
    if (b->source->memory || !b->source->gaps_given || !b->source->close_gaps) {
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
                               "%.300s: gaps = close has no inverse: the original numbers are not in the record",
                               b->items[i].text);
                return lr_back_issue(b, REC_PROBLEM_NO_INVERSE, 0, b->items[i].text, "gaps", words,
                                     "Give gaps = keep, and back rules that put the numbers back, the highest first.");
            }
        }
    }
    return REC_OK;
}

/* What PyTorch's file has and no record does: bookkeeping, which the original has as a base. */
static int32_t note_dropped(lr_reverse *b)
{
    const lr_memory_list *dropped = b->source->memory ? &b->source->memory->dropped : NULL;
    char more[64] = "";
    if (b->plan->base || lr_job_failed(b->job)) {
        return b->job->error.status;
    }
    if (dropped && dropped->count) {
        if (dropped->count > 1) {
            (void)snprintf(more, sizeof more, " and %" PRIu64 " more name%s", dropped->count - 1,
                           dropped->count == 2 ? "" : "s");
        }
        return lr_plan_problem(b->job, b->plan, REC_PROBLEM_MISSING, false, "",
                               "With the original as the base (--base ORIGINAL) they come back.",
                               "%.300s%s: left out when the record was imported, so the file lacks them",
                               dropped->at[0].text, more);
    }
    return b->batch_norms
               ? lr_plan_problem(b->job, b->plan, REC_PROBLEM_MISSING, false, "",
                                 "With the original as the base (--base ORIGINAL) they come back.",
                                 "num_batches_tracked of %" PRIu64 " BatchNorm%s: no record has it, and PyTorch "
                                 "counts from 0 again",
                                 b->batch_norms, b->batch_norms == 1 ? "" : "s")
               : REC_OK;
}

/* The length of the path of the list that a key's layer is an element of: `layers` of `layers.0.weight`. 0: none. */
static size_t list_of(const char *text)
{
    const char *field = lr_path_last(text, strlen(text)), *layer;
    uint64_t index;
    if (field == text) {
        return 0;
    }
    layer = lr_path_last(text, (size_t)(field - text) - 1);
    return layer > text && lr_node_index(layer, (uint64_t)(field - layer) - 1, &index) ? (size_t)(layer - text) - 1 : 0;
}

/* Lists of layers may be nn.Sequential's, in which layers without tensors have numbers, too. Only what the import left
 * or the base shows those. */
static int32_t note_lists(lr_reverse *b)
{
    const char *first = NULL, *last = NULL;
    size_t length = 0;
    uint64_t count = 0;
    char more[48] = "";
    if (b->source->memory || b->plan->base || b->source->rules->count || b->source->gaps_given || !b->torch ||
        lr_job_failed(b->job)) {
        return b->job->error.status;
    }
    for (uint64_t i = 0; i < b->count; i++) {
        size_t head = list_of(b->items[i].text);
        if (head && !(last && length == head && memcmp(last, b->items[i].text, head) == 0)) {
            last = b->items[i].text;
            length = head;
            first = count++ == 0 ? lr_plan_keep(b->job, b->plan, last, head) : first;
        }
    }
    if (count > 1) {
        (void)snprintf(more, sizeof more, " and %" PRIu64 " more", count - 1);
    }
    return count && first ? lr_plan_problem(b->job, b->plan, REC_PROBLEM_MISSING, false, "",
                                            "With the original as the base (--base ORIGINAL) they have its numbers.",
                                            "%.300s%s: the layers of a list are numbered from 0, and the record does "
                                            "not show which numbers those of an nn.Sequential had",
                                            first, more)
                          : b->job->error.status;
}

static int32_t each(lr_reverse *b, int32_t (*step)(lr_reverse *b, lr_back_item *one))
{
    for (uint64_t i = 0; i < b->count && !lr_job_failed(b->job); i++) {
        (void)step(b, &b->items[i]);
    }
    return b->job->error.status;
}

static int32_t take_keys(lr_reverse *b)
{
    for (uint64_t i = 0; i < b->source->key_count && !lr_job_failed(b->job); i++) {
        (void)take_key(b, &b->source->keys[i]);
    }
    return b->job->error.status;
}

/* Undoes rules of a kind, the last one first. @param other another kind of them. */
static int32_t undo(lr_reverse *b, int32_t kind, int32_t other, int32_t (*step)(lr_reverse *b, uint64_t rule))
{
    const lr_rules *rules = b->source->rules;
    for (uint64_t i = rules->count; i-- > 0 && !lr_job_failed(b->job);) {
        if (rules->rules[i].kind == kind || rules->rules[i].kind == other) {
            (void)step(b, i);
        }
    }
    return b->job->error.status;
}

static int32_t run(lr_reverse *b)
{
    bool done = take_keys(b) == REC_OK && undo(b, LR_RULE_STACK, LR_RULE_JOIN, lr_back_take_apart) == REC_OK &&
                lr_back_find_sites(b) == REC_OK && each(b, lr_back_unadapt) == REC_OK &&
                lr_back_put_together(b) == REC_OK && undo(b, LR_RULE_TIE, LR_RULE_TIE, lr_back_untie) == REC_OK &&
                check_gaps(b) == REC_OK && each(b, lr_back_retrace) == REC_OK && lr_back_make_wholes(b) == REC_OK &&
                each(b, lr_back_choose) == REC_OK && each(b, lr_back_emit) == REC_OK && lr_back_report(b) == REC_OK &&
                note_lists(b) == REC_OK;
    return done ? note_dropped(b) : b->job->error.status;
}

int32_t lr_plan_backward(rec_job *job, rec_plan *plan, uint32_t source)
{
    lr_reverse b = {.job = job, .plan = plan, .source = &plan->sources[source], .number = source};
    int32_t status;
    /* The file's own default, not the record's: a profile's modules are PyTorch's unless something says otherwise. */
    b.torch = b.source->rules->adapter != LR_ADAPTER_NONE && b.source->rules->adapter != LR_ADAPTER_FOREIGN;
    status = lr_back_learn_gaps(job, plan, b.source);
    status = status == REC_OK ? take_type(&b) : status;
    if (status == REC_OK) {
        b.matcher = lr_matcher_new(job);
        b.retracer = b.matcher ? lr_trace_new(job, plan, source, b.matcher) : NULL;
        status = b.retracer ? run(&b) : job->error.status;
    }
    for (uint64_t i = 0; i < b.count; i++) {
        lr_op_release(b.items[i].op);
    }
    lr_release(job->allocator, b.items);
    lr_trace_free(b.retracer);
    lr_matcher_free(b.matcher);
    lr_layouts_free(job);
    job->type = (lr_type_ref){0};
    return status;
}
