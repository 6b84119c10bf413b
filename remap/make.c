/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Makes a plan: its steps in order, and problems of the plan as a whole. */
#include <inttypes.h>
#include <stdio.h>

#include "remap/fit/fit.h"
#include "remap/forward/forward.h"
#include "remap/remap.h"
#include "remap/reverse/reverse.h"
#include "remap/torch/torch.h"

/* ---------------------------------------------------------------------------------------------- working it out -- */

/* Makes the base the last source, with its keys. */
static int32_t open_base(rec_job *job, rec_plan *plan)
{
    uint32_t number = (uint32_t)plan->source_count;
    lr_plan_source *slot = lr_plan_source_new(job, plan);
    int32_t status;
    if (!slot) {
        return job->error.status;
    }
    plan->base_source = number;
    /* Modules have the layouts of the base's version. */
    job->burn.minor = plan->base->burn_minor > 0 ? plan->base->burn_minor : LR_BURN_NOW;
    slot->name = "the base";
    slot->record = plan->base;
    slot->rules = lr_rules_new(job);
    slot->adapter = LR_ADAPTER_NONE;
    status = slot->rules ? lr_plan_keys(job, plan, number) : job->error.status;
    job->burn.minor = LR_BURN_NOW;
    return status;
}

/* The base's values are pieces like any other, which give way where a source has something. */
static int32_t add_base(rec_job *job, rec_plan *plan)
{
    uint32_t number = plan->base_source;
    lr_plan_source *slot = &plan->sources[number];
    int32_t status = REC_OK;
    if (plan->base->root.form == REC_FORM_PATHS && !plan->foreign && !plan->backward) {
        (void)rec_fail(job, REC_E_MISMATCH, REC_UNKNOWN, "the base is another framework's file, not a record of Burn");
        return LR_HINT(job, "Convert it first: its layouts differ.");
    }
    for (uint32_t s = 0; s < number && plan->foreign && plan->base->root.form != REC_FORM_PATHS; s++) {
        const lr_plan_source *source = &plan->sources[s];
        if (source->record->root.form == REC_FORM_PATHS && source->adapter == LR_ADAPTER_NONE) {
            (void)rec_fail(job, REC_E_MISMATCH, REC_UNKNOWN,
                           "the base is a record of Burn, and %.200s is not: their layouts are not the same",
                           source->name);
            return job->error.status;
        }
    }
    for (uint64_t i = 0; i < slot->key_count && status == REC_OK; i++) {
        lr_key *key = &slot->keys[i];
        const rec_tensor *tensor = rec_value_tensor(key->value);
        bool makes = tensor && !lr_tensor_is_plain(tensor);
        lr_op *op = makes ? lr_op_tensor(job, tensor) : NULL;
        lr_piece *piece =
            makes && !op ? NULL
                         : lr_plan_piece(job, plan, number, key->text, key->length, op, key->value, &key, 1, "", "");
        lr_op_release(op);
        if (!piece) {
            return job->error.status;
        }
        piece->named = tensor != NULL;
        piece->kept = piece->adapted = true;
    }
    return status;
}

/* Adds an entry of the metadata unless there is one of that key. */
static int32_t add_metadata(rec_job *job, rec_record *record, const char *name, uint64_t length, const rec_value *from)
{
    rec_value key, value;
    lr_entry *entry;
    if (lr_map_find_text(&record->metadata, name, length)) {
        return REC_OK;
    }
    entry = lr_string(&record->arena, name, length, &key) && lr_value_copy(record, from, &value)
                ? lr_map_append(&record->arena, &record->metadata, key)
                : NULL;
    if (!entry) {
        return lr_fail_memory(job, sizeof *entry);
    }
    entry->value = value;
    return REC_OK;
}

/* The result of a reverse conversion is PyTorch's, whose tools need `format`, or has the layout of its profile. It gets
 * the original's metadata without Burn's. With the original as the base, its own count. */
static int32_t take_back_metadata(rec_job *job, rec_plan *plan, const lr_plan_source *source)
{
    static const rec_value pt = {.kind = REC_KIND_STRING, .length = 2, .v = {.text = "pt"}};
    const lr_map *own = &source->record->metadata;
    const char *layout = plan->result->adapter_name;
    rec_value format = pt;
    int32_t status = REC_OK;
    if (layout) {
        format.v.text = layout;
        format.length = (uint32_t)strlen(layout);
    }
    if (layout || plan->result->adapter != LR_FILE_FOREIGN) {
        status = add_metadata(job, plan->result, "format", 6, &format);
    }
    for (uint64_t i = 0; i < own->count && !plan->base && status == REC_OK; i++) {
        const char *name = own->entries[i].key.v.text;
        rec_value value;
        if (!lr_metadata_is_burns(name) && strcmp(name, LR_METADATA_IMPORT) != 0 && strcmp(name, "producer") != 0) {
            value =
                source->memory ? lr_memory_value(source->memory, name, &own->entries[i].value) : own->entries[i].value;
            status = add_metadata(job, plan->result, name, own->entries[i].key.length, &value);
        }
    }
    return status;
}

/* Merges the metadata of all sources; the first source with a key wins. Entries of a foreign file under the names of
 * Burn's records (format = pt) do not describe a record or its writer. */
static int32_t take_metadata(rec_job *job, rec_plan *plan)
{
    rec_record *record = plan->result;
    int32_t status = REC_OK;
    for (uint64_t s = 0; s < plan->source_count && status == REC_OK; s++) {
        const lr_plan_source *source = &plan->sources[s];
        const lr_map *own = &source->record->metadata;
        bool burns = lr_record_is_foreign(source->record) && !lr_record_is_foreign(record);
        if (source->reverse) {
            status = take_back_metadata(job, plan, source);
            continue;
        }
        for (uint64_t i = 0; i < own->count && status == REC_OK; i++) {
            const char *name = own->entries[i].key.v.text;
            bool of_file = lr_metadata_is_burns(name) || (source->stored && strcmp(name, "producer") == 0);
            if (!burns || !of_file) {
                status = add_metadata(job, record, name, own->entries[i].key.length, &own->entries[i].value);
            }
        }
    }
    return status;
}

/* Returns the layout of the destination's type, or NULL with REC_OK without a type. */
static int32_t destination(rec_job *job, rec_plan *plan, const rec_layout **layout)
{
    *layout = NULL;
    job->plugin = NULL;
    job->burn.minor = plan->minor > 0 ? plan->minor : LR_BURN_NOW;
    if (!plan->type.layout) {
        return REC_OK;
    }
    job->type = plan->type;
    if (job->burn.minor < LR_BURN_V2) {
        job->burn.precision = REC_PRECISION_FULL;
    }
    *layout = lr_layout_item(job);
    return *layout ? REC_OK : job->error.status;
}

/* Problems of a tree, by their numbers. */
typedef struct grown {
    uint64_t first, end, fatal;
} grown;

static int32_t grow_tree(rec_job *job, rec_plan *plan, grown *of)
{
    uint64_t fatal = plan->totals.fatal;
    int32_t status;
    of->first = plan->problem_count;
    status = lr_plan_tree(job, plan);
    of->end = plan->problem_count;
    of->fatal = plan->totals.fatal - fatal;
    return status;
}

/* Grows the tree again after pieces got other keys. Problems of the tree before are not true any more. */
static int32_t grow_again(rec_job *job, rec_plan *plan, grown *of)
{
    if (plan->problem_count > of->end) {
        memmove(&plan->problems[of->first], &plan->problems[of->end],
                (size_t)(plan->problem_count - of->end) * sizeof *plan->problems);
    }
    plan->problem_count -= of->end - of->first;
    plan->totals.fatal -= of->fatal;
    lr_arena_free(&plan->tree);
    lr_arena_init(&plan->tree, job->allocator);
    return grow_tree(job, plan, of);
}

/* Whether PyTorch's modules may be in the tree. */
static bool adapts(const rec_plan *plan)
{
    for (uint64_t s = 0; s < plan->source_count; s++) {
        if (plan->sources[s].adapter == LR_ADAPTER_PYTORCH && !plan->sources[s].reverse) {
            return true;
        }
    }
    return false;
}

/* The tree of the pieces' keys, with PyTorch's modules in Burn's names and layouts. */
static int32_t make_tree(rec_job *job, rec_plan *plan, const rec_layout *layout)
{
    typedef int32_t (*step)(rec_job *job, rec_plan *plan, const rec_layout *layout, bool *changed);
    static const step steps[] = {lr_torch_weights, lr_torch_modules};
    grown of;
    int32_t status = grow_tree(job, plan, &of);
    for (size_t i = 0; i < sizeof steps / sizeof *steps && status == REC_OK && adapts(plan); i++) {
        bool changed = false;
        status = steps[i](job, plan, layout, &changed);
        status = status == REC_OK && changed ? grow_again(job, plan, &of) : status;
    }
    return status;
}

/* What a rule that matched nothing was probably meant for: many rules have the same first word. */
typedef struct nearest {
    const lr_plan_source *source;
    char word[LR_NAME_MOST + 1];
    char hint[200];
} nearest;

/* The first word of a pattern outside of escapes, or "". */
static void first_word(const char *pattern, char word[LR_NAME_MOST + 1])
{
    enum { WORD_LEAST = 3 };
    word[0] = '\0';
    for (const char *c = pattern; *c && !word[0]; c++) {
        size_t n = strspn(c, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
        if (*c == '\\' && c[1]) {
            c++;
        } else if (n >= WORD_LEAST && n <= LR_NAME_MOST) {
            memcpy(word, c, n);
            word[n] = '\0';
        } else if (n) {
            c += n - 1;
        }
    }
}

/* Finds a part of the keys that is spelled nearly like a word of the pattern. @return a hint, or "". */
static const char *near_part(nearest *last, const lr_plan_source *source, const char *pattern)
{
    enum { KEYS_MOST = 5000 };
    char word[LR_NAME_MOST + 1], part[LR_NAME_MOST + 1], best[LR_NAME_MOST + 1] = "";
    uint64_t with = 0;
    size_t distance = SIZE_MAX;
    first_word(pattern, word);
    if (last->source == source && strcmp(last->word, word) == 0) {
        return last->hint;
    }
    last->source = source;
    memcpy(last->word, word, sizeof word);
    last->hint[0] = '\0';
    for (uint64_t i = 0; word[0] && i < source->key_count && i < KEYS_MOST; i++) {
        const char *text = source->keys[i].text;
        for (const char *dot; text; text = dot ? dot + 1 : NULL) {
            size_t n = (size_t)((dot = strchr(text, '.')) ? dot - text : (ptrdiff_t)strlen(text));
            lr_suggestion near;
            if (n == 0 || n >= sizeof part || text[0] != word[0]) {
                continue; /* by its first letter: cheaply, and rarely wrong */
            }
            memcpy(part, text, n);
            part[n] = '\0';
            if (strcmp(part, best) == 0) {
                continue;
            }
            lr_suggestion_begin(&near, word);
            lr_suggestion_try(&near, part);
            if (near.best && near.distance < distance) {
                distance = near.distance;
                memcpy(best, part, n + 1);
            }
        }
    }
    for (uint64_t i = 0; best[0] && i < source->key_count; i++) {
        const char *at = strstr(source->keys[i].text, best);
        with += at && (at == source->keys[i].text || at[-1] == '.');
    }
    if (best[0] && distance) {
        (void)snprintf(last->hint, sizeof last->hint, "%" PRIu64 " key%s the part `%s`.", with,
                       with == 1 ? " has" : "s have", best);
    } else {
        (void)snprintf(last->hint, sizeof last->hint, "Rules act in order, each on the result of the one before.");
    }
    return last->hint;
}

/* Whether a rule of that kind can act in a direction. */
static bool may_act(int32_t kind, bool reverse)
{
    switch (kind) {
    case LR_RULE_REQUIRE:
        return false;
    case LR_RULE_BACK:
    case LR_RULE_EXPORT:
        return reverse;
    case LR_RULE_DROP:
    case LR_RULE_VARIANT:
    case LR_RULE_MERGE:
    case LR_RULE_WEIGHT_NORM:
        return !reverse;
    default:
        return true;
    }
}

/* Rules that acted on nothing. Those of a profile speak of a whole family, of which this file may lack a part. */
static int32_t report_dead_rules(rec_job *job, rec_plan *plan)
{
    int32_t status = REC_OK;
    nearest last = {0};
    for (uint64_t s = 0; s < plan->source_count; s++) {
        const lr_plan_source *source = &plan->sources[s];
        bool undecided = source->reverse && plan->totals.fatal; /* which rules act is not settled */
        for (uint64_t i = 0; !undecided && i < source->rules->count && status == REC_OK; i++) {
            const lr_rule *rule = &source->rules->rules[i];
            if (rule->hits || rule->profile || !may_act(rule->kind, source->reverse)) {
                continue;
            }
            status = lr_plan_problem(job, plan, REC_PROBLEM_DEAD_RULE, source->strict, "",
                                     near_part(&last, source, rule->pattern ? rule->pattern : rule->text),
                                     "rule %u (`%.300s`) matched nothing%s%.200s", (unsigned)rule->number,
                                     rule->pattern ? rule->pattern : rule->text, plan->source_count > 1 ? " in " : "",
                                     plan->source_count > 1 ? source->name : "");
        }
    }
    return status;
}

static void count_line(rec_plan_totals *t, int32_t action)
{
    switch (action) {
    case REC_PLAN_MAPPED:
        t->mapped++;
        break;
    case REC_PLAN_DROPPED:
        t->dropped++;
        break;
    case REC_PLAN_UNEXPECTED:
        t->unexpected++;
        break;
    case REC_PLAN_MISSING:
        t->missing++;
        break;
    case REC_PLAN_KEPT:
        t->kept++;
        break;
    default:
        t->defaults++;
        break;
    }
}

/* Whether rules are a profile's. */
static bool has_profile(const rec_plan *plan)
{
    for (uint64_t s = 0; s < plan->source_count; s++) {
        for (uint64_t i = 0; i < plan->sources[s].rules->count; i++) {
            if (plan->sources[s].rules->rules[i].profile) {
                return true;
            }
        }
    }
    return false;
}

/* Whether some tensor of a source has a place at the destination. */
static bool maps_tensors(const rec_plan *plan)
{
    for (uint64_t i = 0; i < plan->line_count; i++) {
        const lr_line *line = &plan->lines[i];
        if (line->action == REC_PLAN_MAPPED && line->piece && lr_piece_is_tensor(line->piece)) {
            return true;
        }
    }
    return false;
}

static void sum_up(rec_plan *plan)
{
    rec_plan_totals *t = &plan->totals;
    for (uint64_t i = 0; i < plan->line_count; i++) {
        count_line(t, plan->lines[i].action);
    }
    for (uint64_t i = 0; i < plan->lost_count; i++) {
        count_line(t, plan->lost[i].action);
    }
    for (uint64_t s = 0; s < plan->source_count; s++) {
        for (uint64_t i = 0; plan->sources[s].record != plan->base && i < plan->sources[s].key_count; i++) {
            t->tensors += plan->sources[s].keys[i].value->kind == REC_KIND_TENSOR;
        }
    }
}

/* Nothing came through. Burn's own import, with a type that may be empty, takes that for a success. Here it is an error
 * unless the load is partial, since the saved file may take the place of a model. */
static int32_t report_empty(rec_job *job, rec_plan *plan, bool typed)
{
    bool tensors = maps_tensors(plan);
    bool came = typed || has_profile(plan) ? tensors : plan->totals.mapped != 0;
    plan->result->hollow = plan->totals.tensors && !tensors && !plan->base;
    if (came || plan->totals.fatal || (plan->totals.tensors == 0 && typed && !plan->base)) {
        return REC_OK; /* what is fatal has said why */
    }
    if (plan->totals.tensors == 0 && !plan->base) {
        bool values = plan->totals.mapped || plan->totals.dropped || plan->totals.unexpected;
        return values ? REC_OK
                      : lr_plan_problem(job, plan, REC_PROBLEM_EMPTY, false, "", "", "there is nothing in the file");
    }
    return lr_plan_problem(job, plan, REC_PROBLEM_EMPTY, plan->base || !lr_fit_is_partial(plan), "",
                           plan->base ? "Have they other names there? Rules change them: rename, prefix, select."
                                      : "Is it the right profile, or the right type?",
                           "none of %" PRIu64 " tensors is mapped: the destination %s", plan->totals.tensors,
                           plan->base ? "would be the base itself" : "stays empty");
}

/* A layer that lacks what its siblings have: it may be meant so. */
static int32_t on_told(void *user, const char *text)
{
    lr_fitter *f = user;
    return lr_plan_problem(f->job, f->plan, REC_PROBLEM_MISSING, false, "", "", "%s", text);
}

/* Whose layout and settings the result has: the first source's, or the layout of the rules that it goes back by. */
static int32_t set_layout(rec_job *job, const rec_plan *plan, rec_record *record)
{
    const lr_plan_source *source = &plan->sources[0];
    bool back = source->reverse && source->rules->adapter == LR_ADAPTER_FOREIGN;
    const char *name = back ? source->rules->name : source->record->adapter_name;
    if (!lr_record_set_settings(record, source->record->settings, source->record->settings_size)) {
        return lr_fail_memory(job, source->record->settings_size);
    }
    record->adapter = back ? LR_FILE_FOREIGN : source->record->adapter;
    if (name && lr_adapter_valid(name)) {
        record->adapter_name = lr_arena_text(&record->arena, name, strlen(name));
        return record->adapter_name ? REC_OK : lr_fail_memory(job, strlen(name));
    }
    return REC_OK;
}

int32_t lr_plan_make(rec_job *job, rec_plan *plan)
{
    lr_fitter f = {.job = job, .plan = plan};
    const rec_layout *layout = NULL;
    int32_t status = REC_OK;
    uint32_t count = (uint32_t)plan->source_count;
    bool typed;
    if (plan->source_count == 0) {
        return rec_fail(job, REC_E_ARGUMENT, REC_UNKNOWN, "the plan has no source");
    }
    job->burn.minor = LR_BURN_NOW; /* the version whose modules are recognised in a reverse conversion */
    status = plan->base ? open_base(job, plan) : REC_OK;
    for (uint32_t s = 0; s < count && status == REC_OK; s++) {
        lr_plan_source *source = &plan->sources[s];
        job->file = source->name;
        status = source->reverse ? lr_back_learn(job, plan, source) : REC_OK;
        for (uint64_t i = 0; i < source->rules->count; i++) {
            source->rules->rules[i].hits = 0; /* those of a trial */
            source->works = source->works || lr_rule_works(source->rules->rules[i].kind);
        }
        status = status == REC_OK ? lr_plan_keys(job, plan, s) : status;
        if (status == REC_OK) {
            status = source->reverse ? lr_plan_backward(job, plan, s) : lr_plan_forward(job, plan, s);
        }
        plan->backward = plan->backward || source->reverse;
    }
    status = status == REC_OK ? lr_plan_merge(job, plan) : status;
    status = status == REC_OK && plan->base ? add_base(job, plan) : status;
    status = status == REC_OK && !plan->backward ? destination(job, plan, &layout) : status;
    status = status == REC_OK ? make_tree(job, plan, layout) : status;
    typed = layout != NULL;
    if (status == REC_OK) {
        f.matcher = lr_matcher_new(job);
        f.record = plan->result = lr_record_new(plan->context);
        status = !f.matcher ? job->error.status : f.record ? REC_OK : lr_fail_memory(job, sizeof *f.record);
    }
    if (status == REC_OK) {
        f.record->precision = plan->precision;
        f.record->clamp = plan->clamp;
        f.record->burn_minor = plan->sources[0].record->burn_minor;
        status = set_layout(job, plan, f.record);
        status = status != REC_OK ? status : typed ? lr_plan_typed(&f, layout) : lr_plan_untyped(&f);
        status = status == REC_OK ? lr_fit_report_clashes(&f) : status;
        status = status == REC_OK ? lr_fit_report_misfits(&f) : status;
        status = status == REC_OK ? lr_fit_report_lacking(&f) : status;
        status = status == REC_OK && !plan->foreign && !plan->backward
                     ? lr_modules_look(job, &f.record->root, false, on_told, &f)
                     : status;
    }
    status = status == REC_OK ? take_metadata(job, plan) : status;
    status = status == REC_OK ? report_dead_rules(job, plan) : status;
    status = status == REC_OK ? lr_plan_report_family(job, plan) : status;
    if (status == REC_OK) {
        sum_up(plan);
    }
    status = status == REC_OK ? report_empty(job, plan, typed) : status;
    status = status == REC_OK && !plan->totals.fatal ? lr_plan_remember(job, plan) : status;
    if (lr_job_failed(job)) {
        status = job->error.status;
    }
    lr_layouts_free(job);
    lr_matcher_free(f.matcher);
    lr_release(job->allocator, f.path.text);
    lr_arena_free(&plan->tree);
    plan->root = NULL;
    job->type = (lr_type_ref){0};
    job->file = NULL;
    return status;
}
