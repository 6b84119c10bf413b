/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Load arguments: parsed when they are set, so that a mistake shows where it was made. */
#include <stdio.h>
#include <string.h>

#include "remap/remap.h"

enum { TEXT_MOST = 4096 };

void lr_arguments_init(lr_arguments *arguments, const lr_allocator *allocator)
{
    *arguments = (lr_arguments){0};
    lr_variables_init(&arguments->numbers, allocator);
}

void lr_arguments_free(lr_arguments *arguments)
{
    const lr_allocator *allocator = arguments->numbers.allocator;
    lr_rules_free(arguments->rules);
    lr_rules_free(arguments->profile);
    lr_release(allocator, arguments->prefix);
    lr_release(allocator, arguments->config);
    lr_variables_free(&arguments->numbers);
    lr_arguments_init(arguments, allocator);
}

/* ----------------------------------------------------------------------------------------------------- setting -- */

/* Replaces a text by a copy. */
static int32_t keep(rec_job *job, char **target, const char *folder, size_t length, const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = lr_alloc(job->allocator, length + size);
    if (!copy) {
        return lr_fail_memory(job, length + size);
    }
    memcpy(copy, folder, length);
    memcpy(copy + length, text, size);
    lr_release(job->allocator, *target);
    *target = copy;
    return REC_OK;
}

static int32_t set_profile(rec_job *job, lr_arguments *arguments, const char *value, const lr_location *place)
{
    bool automatic = lr_name_same(value, "auto");
    lr_rules *profile = automatic ? NULL : lr_profile_load(job, value, place ? place->file : NULL);
    if (profile || automatic) {
        lr_rules_free(arguments->profile);
        arguments->profile = profile;
        arguments->automatic = automatic;
    }
    return job->error.status;
}

/* A path of names: no empty ones, which a stray dot makes. */
static int32_t set_prefix(rec_job *job, lr_arguments *arguments, const char *value)
{
    size_t length = strlen(value);
    lr_excerpt brief;
    if (!length || length > TEXT_MOST || value[0] == '.' || value[length - 1] == '.' || strstr(value, "..")) {
        (void)rec_fail_found(job, REC_E_ARGUMENT, REC_UNKNOWN, "a path for the prefix", "\"%s\"",
                             lr_excerpt_text(&brief, value));
        return LR_HINT(job, "It is put before all keys, with a dot between: prefix = encoder.");
    }
    return keep(job, &arguments->prefix, "", 0, value);
}

/* A file's name in an INI file is relative to that file. */
static int32_t set_config(rec_job *job, lr_arguments *arguments, const char *value, const lr_location *place)
{
    const char *slash = place && place->file && *value != '/' ? strrchr(place->file, '/') : NULL;
    if (!*value) {
        return rec_fail(job, REC_E_ARGUMENT, REC_UNKNOWN, "config names no file");
    }
    return keep(job, &arguments->config, slash ? place->file : "", slash ? (size_t)(slash - place->file) + 1 : 0,
                value);
}

static int32_t set_switch(rec_job *job, bool *target, const char *name, const char *value)
{
    char what[64];
    lr_excerpt brief;
    if (lr_bool_read(value, target)) {
        return REC_OK;
    }
    (void)snprintf(what, sizeof what, "yes or no for the option %s", name);
    return rec_fail_found(job, REC_E_ARGUMENT, REC_UNKNOWN, what, "`%s`", lr_excerpt_text(&brief, value));
}

static int32_t add_rule(rec_job *job, lr_arguments *arguments, const char *name, const char *value,
                        const lr_location *place)
{
    if (!arguments->rules) {
        arguments->rules = lr_rules_new(job);
    }
    return arguments->rules ? lr_rules_add(job, arguments->rules, name, value, arguments->strict, place, NULL)
                            : job->error.status;
}

int32_t lr_arguments_set(rec_job *job, lr_arguments *arguments, const char *name, const char *value,
                         const lr_location *place)
{
    const lr_word *word = lr_word_find(name, LR_FOR_LOAD);
    switch (word ? word->which : 0) {
    case LR_WORD_PROFILE:
        return set_profile(job, arguments, value, place);
    case LR_WORD_PREFIX:
        return set_prefix(job, arguments, value);
    case LR_WORD_CONFIG:
        return set_config(job, arguments, value, place);
    case LR_WORD_SET:
        return lr_variables_set(job, &arguments->numbers, value);
    case LR_WORD_PARTIAL:
        return set_switch(job, &arguments->partial, name, value);
    case LR_WORD_STRICT:
        return set_switch(job, &arguments->strict, name, value);
    case LR_WORD_DEBUG:
        return set_switch(job, &arguments->debug, name, value);
    case LR_WORD_REVERSE:
        return set_switch(job, &arguments->reverse, name, value);
    default:
        return add_rule(job, arguments, name, value, place);
    }
}

/* ------------------------------------------------------------------------------------------------------ asking -- */

bool lr_arguments_any(const lr_arguments *arguments)
{
    const lr_rules *rules = arguments->rules;
    return arguments->profile || arguments->automatic || arguments->prefix || arguments->partial || arguments->strict ||
           arguments->debug || arguments->reverse ||
           (rules &&
            (rules->count || rules->select || rules->adapter > LR_ADAPTER_NONE || rules->gaps == LR_SWITCH_YES));
}

static bool comes_first(const lr_rule *rule)
{
    return rule->kind == LR_RULE_MODULE || rule->kind == LR_RULE_VARIANT;
}

/* The arguments' own rules: of those where the first match decides (`first`), or the others. */
static int32_t append_own(rec_job *job, lr_rules *rules, const lr_arguments *arguments, bool first)
{
    int32_t status = REC_OK;
    for (uint64_t i = 0; i < arguments->rules->count && status == REC_OK; i++) {
        if (comes_first(&arguments->rules->rules[i]) == first) {
            status = lr_rules_append_one(job, rules, &arguments->rules->rules[i], arguments->strict);
        }
    }
    return status;
}

lr_rules *lr_arguments_rules(rec_job *job, const lr_arguments *arguments)
{
    lr_rules *rules = lr_rules_new(job), switches;
    int32_t status = rules ? REC_OK : job->error.status;
    if (status == REC_OK && arguments->rules) {
        status = append_own(job, rules, arguments, true);
    }
    if (status == REC_OK && arguments->profile) {
        status = lr_rules_append(job, rules, arguments->profile, true);
    }
    if (status == REC_OK && arguments->rules) {
        status = append_own(job, rules, arguments, false);
    }
    if (status == REC_OK && arguments->rules) {
        switches = *arguments->rules; /* everything but the rules, which are there */
        switches.count = 0;
        status = lr_rules_append(job, rules, &switches, arguments->strict);
    }
    if (status == REC_OK && arguments->profile) {
        rules->name = lr_arena_text(&rules->arena, arguments->profile->name, strlen(arguments->profile->name));
        status = rules->name ? REC_OK : lr_fail_memory(job, strlen(arguments->profile->name) + 1);
    }
    if (status != REC_OK) {
        lr_rules_free(rules);
        return NULL;
    }
    if (rules->select && strcmp(rules->select, ".") == 0) {
        rules->select = NULL;
    }
    return rules;
}

int32_t lr_arguments_variables(rec_job *job, const lr_arguments *arguments, const lr_rules *rules,
                               const char *model_path, lr_variables *numbers)
{
    int32_t status = lr_variables_copy(job, numbers, &arguments->numbers);
    if (status == REC_OK && (arguments->config || lr_rules_names_variables(rules))) {
        status = lr_variables_read(job, numbers, model_path, arguments->config);
    }
    return status;
}
