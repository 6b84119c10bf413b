/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Lists of rules: making, joining, freeing. rule_parse.c takes the value of a rule apart. */
#include "remap/rules/rules_private.h"

#include <stdio.h>
#include <string.h>

/** More rules than these are no profile: a plan tries each of them on each key. */
enum { RULES_MOST = 10000, SELECT_MOST = 4096 };

int32_t lr_rule_kind(const char *key)
{
    const lr_word *word = lr_word_find(key, LR_FOR_RULES);
    return word && word->which <= LR_RULE_LAST ? word->which : 0;
}

/* --------------------------------------------------------------------------------------------- making, freeing -- */

lr_rules *lr_rules_new(rec_job *job)
{
    lr_rules *rules = lr_job_zalloc(job, sizeof *rules);
    if (!rules) {
        return NULL;
    }
    rules->allocator = job->allocator;
    lr_arena_init(&rules->arena, job->allocator);
    return rules;
}

static void release_rule(const lr_rules *rules, lr_rule *rule)
{
    for (uint64_t i = 0; rule->part_regexes && i < rule->part_count; i++) {
        lr_regex_free(rule->part_regexes[i]);
    }
    lr_release(rules->allocator, rule->part_regexes);
    lr_template_free(rule->template);
    lr_regex_free(rule->regex);
}

void lr_rules_free(lr_rules *rules)
{
    if (!rules) {
        return;
    }
    for (uint64_t i = 0; i < rules->count; i++) {
        release_rule(rules, &rules->rules[i]);
    }
    lr_release(rules->allocator, rules->rules);
    lr_release(rules->allocator, rules->lets);
    lr_arena_free(&rules->arena);
    lr_release(rules->allocator, rules);
}

void lr_rules_remove(lr_rules *rules, uint64_t index)
{
    release_rule(rules, &rules->rules[index]);
    memmove(&rules->rules[index], &rules->rules[index + 1], (size_t)(rules->count - index - 1) * sizeof *rules->rules);
    rules->count--;
    for (uint64_t i = index; i < rules->count; i++) {
        rules->rules[i].number = (uint32_t)i + 1;
    }
}

/* ------------------------------------------------------------------------------------------------------ asking -- */

bool lr_rules_have(const lr_rules *rules, int32_t kind)
{
    uint64_t i = 0;
    while (i < rules->count && rules->rules[i].kind != kind) {
        i++;
    }
    return i < rules->count;
}

bool lr_rule_drops(const lr_rule *rule, rec_dtype dtype, uint32_t rank)
{
    bool any = rule->dtype_count == 0;
    for (uint64_t i = 0; i < rule->dtype_count; i++) {
        any = any || dtype == rule->dtypes[i];
    }
    return rule->kind == LR_RULE_DROP && any && (rule->rank < 0 || (uint32_t)rule->rank == rank);
}

bool lr_key_below(const char *path, const char **key, size_t *length)
{
    size_t head = path && *path ? strlen(path) + 1 : 0;
    if (head && (*length < head || memcmp(*key, path, head - 1) != 0 || (*key)[head - 1] != '.')) {
        return false;
    }
    *key += head;
    *length -= head;
    return true;
}

/* ------------------------------------------------------------------------------------------------------ adding -- */

/* A copy in the list's arena; that of the rule before where it is the same, since most rules stand in one file. */
static const char *keep(rec_job *job, lr_rules *rules, const char *text, const char *before)
{
    if (!text || (before && strcmp(text, before) == 0)) {
        return text ? before : NULL;
    }
    return lr_job_arena_text(job, &rules->arena, text, strlen(text));
}

/* `place` of a line that is `number` among the rules; for an argument it says which rule that is. */
static int32_t keep_place(rec_job *job, lr_rules *rules, const lr_location *place, const char *key, uint32_t number,
                          lr_location *kept)
{
    const lr_location *before = rules->count ? &rules->rules[rules->count - 1].place : NULL;
    char what[32];
    kept->line = place ? place->line : 0;
    if (place && place->file) {
        kept->file = keep(job, rules, place->file, before ? before->file : NULL);
        kept->what = keep(job, rules, place->what, before ? before->what : NULL);
    } else {
        (void)snprintf(what, sizeof what, "rule %u", (unsigned)number);
        kept->file = NULL;
        kept->what = keep(job, rules, number ? what : key, NULL);
    }
    return job->error.status;
}

static int32_t add_rule(rec_job *job, lr_rules *rules, int32_t kind, const char *value, bool strict,
                        const lr_location *place, const char *profile)
{
    lr_rule rule = {.kind = kind, .number = (uint32_t)rules->count + 1, .rank = -1};
    const char *before = rules->count ? rules->rules[rules->count - 1].profile : NULL;
    if (keep_place(job, rules, place, lr_word_name(kind), rule.number, &rule.place) != REC_OK ||
        !lr_job_grow(job, &rules->rules, rules->count + 1, &rules->room, sizeof rule)) {
        return job->error.status;
    }
    if (rules->count == RULES_MOST) {
        return lr_fail_location(job, &rule.place, "more than %d rules", RULES_MOST);
    }
    rule.text = keep(job, rules, value, NULL);
    rule.profile = keep(job, rules, profile, before);
    if (lr_job_failed(job) || lr_rule_parse(job, rules, &rule, strict) != REC_OK) {
        release_rule(rules, &rule);
        return job->error.status;
    }
    rules->rules[rules->count++] = rule;
    return REC_OK;
}

/* ---------------------------------------------------------------------------------------------------- switches -- */

static int32_t bad_word(rec_job *job, const lr_location *place, const char *key, const char *value, const char *a,
                        const char *b, const char *c)
{
    lr_excerpt brief;
    lr_suggestion near;
    lr_suggestion_begin(&near, value);
    lr_suggestion_try(&near, a);
    lr_suggestion_try(&near, b);
    if (c) {
        lr_suggestion_try(&near, c);
    }
    /* Outside of a file the place is the key itself. */
    (void)lr_fail_location(job, place, "expected %s%s%s or %s%s%s, found \"%s\"", a, c ? ", " : "", c ? c : "", b,
                           place->file ? " for " : "", place->file ? key : "", lr_excerpt_text(&brief, value));
    if (near.best) {
        rec_fail_hint(job, "Did you mean \"%s\"?", near.best);
    }
    return job->error.status;
}

/* Burn's words for it are taken too. */
static int32_t set_adapter(rec_job *job, lr_rules *rules, const char *value, const lr_location *place)
{
    if (lr_name_same(value, "pytorch") || lr_name_same(value, "PyTorchAdapter")) {
        rules->adapter = LR_ADAPTER_PYTORCH;
    } else if (lr_name_same(value, "none") || lr_name_same(value, "NoAdapter")) {
        rules->adapter = LR_ADAPTER_NONE;
    } else if (lr_name_same(value, "foreign")) {
        rules->adapter = LR_ADAPTER_FOREIGN;
    } else {
        return bad_word(job, place, "adapter", value, "pytorch", "none", "foreign");
    }
    return REC_OK;
}

static int32_t set_gaps(rec_job *job, lr_rules *rules, const char *value, const lr_location *place)
{
    if (strcmp(value, "close") == 0) {
        rules->gaps = LR_SWITCH_YES;
    } else if (strcmp(value, "keep") == 0) {
        rules->gaps = LR_SWITCH_NO;
    } else {
        return bad_word(job, place, "gaps", value, "close", "keep", NULL);
    }
    return REC_OK;
}

static int32_t set_select(rec_job *job, lr_rules *rules, const char *value, const lr_location *place)
{
    size_t length = strlen(value);
    lr_excerpt brief;
    if (strcmp(value, ".") != 0 && (!length || length > SELECT_MOST || value[0] == '.' || value[length - 1] == '.')) {
        (void)lr_fail_location(job, place, "select is \"%s\", which is not a path", lr_excerpt_text(&brief, value));
        return LR_HINT(job, "It names what the wanted keys stand below, without a dot at its ends: select = model.");
    }
    rules->select = keep(job, rules, value, NULL);
    return job->error.status;
}

int32_t lr_rules_add(rec_job *job, lr_rules *rules, const char *key, const char *value, bool strict,
                     const lr_location *place, const char *profile)
{
    int32_t kind = lr_rule_kind(key);
    lr_location kept;
    if (kind) {
        return add_rule(job, rules, kind, value, strict, place, profile);
    }
    if (keep_place(job, rules, place, key, 0, &kept) != REC_OK) {
        return job->error.status;
    }
    return strcmp(key, "adapter") == 0  ? set_adapter(job, rules, value, &kept)
           : strcmp(key, "gaps") == 0   ? set_gaps(job, rules, value, &kept)
           : strcmp(key, "select") == 0 ? set_select(job, rules, value, &kept)
                                        : lr_definition_add(job, rules, value, &kept);
}

int32_t lr_rules_append_one(rec_job *job, lr_rules *rules, const lr_rule *rule, bool strict)
{
    return add_rule(job, rules, rule->kind, rule->text, strict, &rule->place, rule->profile);
}

int32_t lr_rules_append(rec_job *job, lr_rules *rules, const lr_rules *other, bool strict)
{
    int32_t status = REC_OK;
    for (uint64_t i = 0; i < other->count && status == REC_OK; i++) {
        status = lr_rules_append_one(job, rules, &other->rules[i], strict);
    }
    for (uint64_t i = 0; i < other->let_count && status == REC_OK; i++) {
        status = lr_rules_add(job, rules, "let", other->lets[i].text, strict, &other->lets[i].place, NULL);
    }
    if (status == REC_OK && other->select) {
        rules->select = keep(job, rules, other->select, NULL);
        status = job->error.status;
    }
    rules->adapter = other->adapter ? other->adapter : rules->adapter;
    rules->gaps = other->gaps ? other->gaps : rules->gaps;
    return status;
}
