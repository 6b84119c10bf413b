/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Options of recorders: checked when they are set, kept in their order, read back and unset. What a recorder is follows
 * from them alone: without one of them, or for a copy, the others are applied again to an empty recorder. */
#include <stdio.h>

#include "burn/layout/layout.h"
#include "recorder/recorder.h"

/* An option with its value. */
struct lr_kept_option {
    lr_kept_option *next;
    lr_location place; /* a line of the context's INI file; without a file: the program set it */
    bool gone;         /* it is being unset */
    const char *value;
    char name[]; /* then value and place */
};

static int32_t fail_value(rec_job *job, const char *name, const char *expected, const char *value)
{
    char what[320];
    (void)snprintf(what, sizeof what, "%s for the option %s", expected, name);
    return rec_fail_found(job, REC_E_ARGUMENT, REC_UNKNOWN, what, "`%s`", value);
}

/* The options that core has for every recorder. @return 1 if it was one, 0 if not, -1: the job has failed. */
static int set_common(rec_job *job, rec_recorder *r, const char *name, const char *value)
{
    static const char *const names[] = {"map", "sync", "clamp", "modules", "decode"};
    bool *const targets[] = {&r->map, &r->sync, &r->clamp, &r->modules, &r->decode};
    const char *expected = "yes or no";
    bool good = false, yes = false;
    int64_t minor = 0;
    size_t i = 0;
    while (i < sizeof names / sizeof *names && strcmp(name, names[i]) != 0) {
        i++;
    }
    if (i < sizeof names / sizeof *names) {
        good = lr_bool_read(value, targets[i]);
    } else if (strcmp(name, "data") == 0) {
        expected = "read or skip";
        yes = strcmp(value, "skip") == 0;
        good = yes || strcmp(value, "read") == 0;
        r->skip = good ? yes : r->skip;
    } else if (strcmp(name, "as") == 0) {
        expected = "file or burn";
        yes = strcmp(value, "file") == 0;
        good = yes || strcmp(value, "burn") == 0;
        r->as_file = good ? yes : r->as_file;
    } else if (strcmp(name, "check") == 0) {
        bool by_itself = strcmp(value, "auto") == 0;
        expected = "yes, no or auto";
        good = by_itself || lr_bool_read(value, &yes);
        if (good) {
            r->check = by_itself ? LR_CHECK_AUTO : (yes ? LR_CHECK_YES : LR_CHECK_NO);
        }
    } else if (strcmp(name, "layout") == 0) {
        bool keep = strcmp(value, "keep") == 0;
        expected = "keep, or one of burn-0.7 to burn-0.23,";
        good = keep || (strncmp(value, "burn-0.", 7) == 0 && lr_int_read(value + 7, &minor) && minor >= LR_BURN_FIRST &&
                        minor <= LR_BURN_LAST);
        if (good) {
            r->target = keep ? LR_TARGET_KEEP : (int32_t)minor;
        }
    } else {
        return 0;
    }
    if (!good) {
        (void)fail_value(job, name, expected, value);
    }
    return good ? 1 : -1;
}

static int32_t fail_no_option(rec_job *job, const rec_plugin *plugin, const char *name)
{
    char names[256] = "as, map, data, decode, sync, check, clamp, modules, layout";
    lr_suggestion near;
    size_t used = strlen(names);
    (void)rec_fail(job, REC_E_ARGUMENT, REC_UNKNOWN, "%s has no option `%s`", plugin->name, name);
    for (size_t i = 0; plugin->options && plugin->options[i] && used < sizeof names; i++) {
        used += (size_t)snprintf(names + used, sizeof names - used, ", %s", plugin->options[i]->name);
    }
    rec_fail_hint(job, "Its options: %s", names);
    lr_suggestion_begin(&near, name);
    lr_words_suggest(&near, LR_IN_ARGUMENTS);
    if (near.best) {
        rec_fail_hint(job, "The load argument `%s` has nearly that name.", near.best);
    }
    return job->error.status;
}

static int32_t check_option(rec_job *job, const rec_plugin *plugin, const char *name, const char *value)
{
    const rec_option *option = lr_option_find(plugin, name);
    char why[256];
    if (!option) {
        return fail_no_option(job, plugin, name);
    }
    if (strcmp(option->name, name) != 0) {
        lr_note(job, REC_NOTE_ASSUMED, 1, "", "the option `%s` of %s is called `%s` now", name, plugin->name,
                option->name);
    }
    if (lr_option_check(option, value, why, sizeof why)) {
        return REC_OK;
    }
    (void)fail_value(job, name, why, value);
    if (option->type == REC_OPTION_INT && strpbrk(value, "KMG")) {
        rec_fail_hint(job, "Write the number without a unit.");
    }
    return job->error.status;
}

int32_t lr_recorder_check(rec_job *job, const rec_recorder *r, const rec_plugin *plugin)
{
    int32_t status = REC_OK;
    for (const lr_option_set *set = r->options; set && status == REC_OK; set = set->next) {
        status = check_option(job, plugin, set->name, set->value);
    }
    return status;
}

static int32_t remember(rec_job *job, rec_recorder *r, const char *name, const char *value)
{
    size_t name_size = strlen(name) + 1, value_size = strlen(value) + 1;
    lr_option_set *set = lr_alloc(&r->context->allocator, sizeof *set + name_size + value_size);
    if (!set) {
        return lr_fail_memory(job, name_size + value_size);
    }
    memcpy(set->name, name, name_size);
    set->value = memcpy(set->name + name_size, value, value_size);
    set->next = r->options; /* the last one set is found first */
    r->options = set;
    return REC_OK;
}

/* The one that has an option: of a plugin that can only load or only save another one may do the rest. */
static const rec_plugin *option_owner(rec_job *job, const lr_plugin *plugin, const char *name)
{
    const lr_plugin *other = lr_registry_for(job, plugin, plugin->d.load ? LR_CAN_SAVE : LR_CAN_LOAD);
    return other && !lr_option_find(&plugin->d, name) && lr_option_find(&other->d, name) ? &other->d : &plugin->d;
}

/* --------------------------------------------------------------------------------------------------- applying -- */

/* Sets the recorder's members to their defaults. */
static void clear(rec_recorder *r)
{
    r->map = r->sync = true;
    r->clamp = r->skip = r->decode = r->modules = r->as_file = false;
    r->check = LR_CHECK_AUTO;
    r->target = LR_TARGET_PLAIN;
    r->options = NULL;
    lr_arguments_init(&r->arguments, &r->context->allocator);
}

void lr_recorder_begin(rec_recorder *r)
{
    r->kept = NULL;
    clear(r);
}

/* Frees what options made, not the options. */
static void drop(rec_recorder *r)
{
    for (lr_option_set *set = r->options; set;) {
        lr_option_set *next = set->next;
        lr_release(&r->context->allocator, set);
        set = next;
    }
    lr_arguments_free(&r->arguments);
}

void lr_recorder_forget(rec_recorder *r)
{
    drop(r);
    while (r->kept) {
        lr_kept_option *next = r->kept->next;
        lr_release(&r->context->allocator, r->kept);
        r->kept = next;
    }
}

/* A load argument of an INI file does not count for a file that is loaded unchanged; the program's is a contradiction.
 */
static int32_t set_argument(rec_job *job, rec_recorder *r, const lr_kept_option *one)
{
    if (!r->as_file) {
        return lr_arguments_set(job, &r->arguments, one->name, one->value, one->place.file ? &one->place : NULL);
    }
    if (!one->place.file) {
        (void)rec_fail(job, REC_E_ARGUMENT, REC_UNKNOWN, "as = file loads a file unchanged: `%s` cannot apply",
                       one->name);
        rec_fail_hint(job, "Set `as` to burn, or unset `%s`.", one->name);
    }
    return job->error.status;
}

static int32_t apply(rec_job *job, rec_recorder *r, const lr_kept_option *one)
{
    int common = set_common(job, r, one->name, one->value);
    if (common) {
        return job->error.status;
    }
    if (lr_word_find(one->name, LR_IN_ARGUMENTS)) {
        return set_argument(job, r, one);
    }
    if (r->plugin && check_option(job, option_owner(job, r->plugin, one->name), one->name, one->value) != REC_OK) {
        return job->error.status;
    }
    return lr_job_failed(job) ? job->error.status : remember(job, r, one->name, one->value);
}

/* Takes the adapter and the gaps of a file that is loaded unchanged: load arguments like others from here on. */
static int32_t settle_as(rec_job *job, rec_recorder *r)
{
    return !r->as_file || lr_arguments_set(job, &r->arguments, "adapter", "none", NULL) != REC_OK
               ? job->error.status
               : lr_arguments_set(job, &r->arguments, "gaps", "keep", NULL);
}

/* Makes the recorder of its options again, or leaves it unchanged. `as` decides what load arguments mean: first. */
static int32_t apply_all(rec_job *job, rec_recorder *r, const lr_kept_option *kept)
{
    rec_recorder fresh = {.context = r->context, .plugin = r->plugin};
    clear(&fresh);
    for (int pass = 0; pass < 2; pass++) {
        for (const lr_kept_option *one = kept; one && !lr_job_failed(job); one = one->next) {
            if (!one->gone && (strcmp(one->name, "as") == 0) == (pass == 0)) {
                (void)apply(job, &fresh, one);
            }
        }
    }
    if (lr_job_failed(job) || settle_as(job, &fresh) != REC_OK) {
        drop(&fresh);
        return job->error.status;
    }
    drop(r);
    r->map = fresh.map;
    r->sync = fresh.sync;
    r->clamp = fresh.clamp;
    r->skip = fresh.skip;
    r->decode = fresh.decode;
    r->modules = fresh.modules;
    r->as_file = fresh.as_file;
    r->check = fresh.check;
    r->target = fresh.target;
    r->options = fresh.options;
    r->arguments = fresh.arguments;
    return REC_OK;
}

/* ------------------------------------------------------------------------------------------------------ keeping -- */

/* Removes options that are marked. */
static void sweep(rec_recorder *r)
{
    for (lr_kept_option **at = &r->kept; *at;) {
        lr_kept_option *one = *at;
        if (one->gone) {
            *at = one->next;
            lr_release(&r->context->allocator, one);
        } else {
            at = &one->next;
        }
    }
}

/* @param place copied, but its file; NULL: the program. NULL: the job has failed. */
static lr_kept_option *keep(rec_job *job, rec_recorder *r, const char *name, const char *value,
                            const lr_location *place)
{
    const char *what = place && place->what ? place->what : "";
    size_t name_size = strlen(name) + 1, value_size = strlen(value) + 1, what_size = strlen(what) + 1;
    lr_kept_option *one = lr_alloc(&r->context->allocator, sizeof *one + name_size + value_size + what_size),
                   **last = &r->kept;
    if (!one) {
        (void)lr_fail_memory(job, name_size + value_size + what_size);
        return NULL;
    }
    *one = (lr_kept_option){.value = one->name + name_size};
    memcpy(one->name, name, name_size);
    memcpy(one->name + name_size, value, value_size);
    memcpy(one->name + name_size + value_size, what, what_size);
    if (place) {
        one->place = *place;
        one->place.what = one->name + name_size + value_size;
    }
    while (*last) {
        last = &(*last)->next;
    }
    return *last = one;
}

int32_t lr_recorder_set_at(rec_job *job, rec_recorder *r, const char *name, const char *value, const lr_location *place)
{
    lr_kept_option *one = keep(job, r, name, value, place);
    bool repeated = lr_word_find(name, LR_IN_ARGUMENTS) != NULL;
    if (!one) {
        return job->error.status;
    }
    one->gone = (strcmp(name, "as") == 0 ? apply_all(job, r, r->kept) : apply(job, r, one)) != REC_OK;
    for (lr_kept_option *earlier = r->kept; earlier != one && !one->gone && !repeated; earlier = earlier->next) {
        earlier->gone = strcmp(earlier->name, name) == 0;
    }
    sweep(r);
    return job->error.status;
}

int32_t lr_recorder_set_like(rec_job *job, rec_recorder *r, const rec_recorder *other)
{
    for (const lr_kept_option *one = other->kept; one; one = one->next) {
        if (!keep(job, r, one->name, one->value, one->place.file ? &one->place : NULL)) {
            return job->error.status;
        }
    }
    return apply_all(job, r, r->kept);
}

/* -------------------------------------------------------------------------------------------------- public part -- */

rec_status rec_recorder_set(rec_recorder *recorder, const char *option, const char *value)
{
    rec_job job;
    if (LR_NULL(recorder) || LR_NULL(option) || LR_NULL(value)) {
        return REC_E_ARGUMENT;
    }
    lr_job_begin(&job, recorder->context, "set", NULL);
    (void)lr_recorder_set_at(&job, recorder, option, value, NULL);
    return lr_job_end(&job);
}

/* An option that was not set. NULL: the job has failed. */
static const char *initial_value(rec_job *job, const rec_recorder *r, const char *name)
{
    static const char *const commons[][2] = {{"as", "burn"},   {"map", "yes"},    {"data", "read"},
                                             {"decode", "no"}, {"sync", "yes"},   {"check", "auto"},
                                             {"clamp", "no"},  {"modules", "no"}, {"layout", ""}};
    const rec_plugin *plugin;
    const rec_option *option;
    for (size_t i = 0; i < sizeof commons / sizeof *commons; i++) {
        if (strcmp(commons[i][0], name) == 0) {
            return commons[i][1];
        }
    }
    if (lr_word_find(name, LR_IN_ARGUMENTS)) {
        return "";
    }
    if (!r->plugin) {
        (void)rec_fail(job, REC_E_ARGUMENT, REC_UNKNOWN, "Auto has no option `%s` before one is set", name);
        return NULL;
    }
    plugin = option_owner(job, r->plugin, name);
    option = lr_option_find(plugin, name);
    if (!option) {
        (void)fail_no_option(job, plugin, name);
    }
    return option ? option->initial : NULL;
}

const char *rec_recorder_get(const rec_recorder *recorder, const char *option)
{
    rec_job job;
    const char *value = NULL;
    if (LR_NULL(recorder) || LR_NULL(option)) {
        return NULL;
    }
    lr_job_begin(&job, recorder->context, "get", NULL);
    for (const lr_kept_option *one = recorder->kept; one; one = one->next) {
        value = strcmp(one->name, option) == 0 ? one->value : value;
    }
    value = value ? value : initial_value(&job, recorder, option);
    (void)lr_job_end(&job);
    return value;
}

rec_status rec_recorder_unset(rec_recorder *recorder, const char *option)
{
    rec_job job;
    bool any = false;
    if (LR_NULL(recorder) || LR_NULL(option)) {
        return REC_E_ARGUMENT;
    }
    lr_job_begin(&job, recorder->context, "unset", NULL);
    for (lr_kept_option *one = recorder->kept; one; one = one->next) {
        one->gone = strcmp(one->name, option) == 0;
        any = any || one->gone;
    }
    if (any && apply_all(&job, recorder, recorder->kept) != REC_OK) {
        for (lr_kept_option *one = recorder->kept; one; one = one->next) {
            one->gone = false;
        }
    } else if (!any) {
        (void)initial_value(&job, recorder, option);
    }
    sweep(recorder);
    return lr_job_end(&job);
}
