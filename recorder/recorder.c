/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Recorders: opened by name, with options that are checked before they count. */
#include "types/types.h"
#include "recorder/recorder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "burn/layout/layout.h"
#include "core/config/config.h"
#include "core/base/base.h"

/* ----------------------------------------------------------------------------------------------------- options -- */

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
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(name, names[i]) == 0) {
            if (!lr_bool_read(value, targets[i])) {
                (void)fail_value(job, name, "yes or no", value);
                return -1;
            }
            return 1;
        }
    }
    if (strcmp(name, "data") == 0) {
        if (strcmp(value, "read") != 0 && strcmp(value, "skip") != 0) {
            (void)fail_value(job, name, "read or skip", value);
            return -1;
        }
        r->skip = strcmp(value, "skip") == 0;
        return 1;
    }
    if (strcmp(name, "check") == 0) {
        bool yes = false;
        if (strcmp(value, "auto") == 0) {
            r->check = LR_CHECK_AUTO;
        } else if (lr_bool_read(value, &yes)) {
            r->check = yes ? LR_CHECK_YES : LR_CHECK_NO;
        } else {
            (void)fail_value(job, name, "yes, no or auto", value);
            return -1;
        }
        return 1;
    }
    if (strcmp(name, "layout") == 0) {
        int64_t minor = 0;
        if (strcmp(value, "keep") == 0) {
            r->target = LR_TARGET_KEEP;
        } else if (strncmp(value, "burn-0.", 7) == 0 && lr_int_read(value + 7, &minor) && minor >= LR_BURN_FIRST &&
                   minor <= LR_BURN_LAST) {
            r->target = (int32_t)minor;
        } else {
            (void)fail_value(job, name, "keep, or one of burn-0.7 to burn-0.23,", value);
            return -1;
        }
        return 1;
    }
    return 0;
}

static int32_t check_option(rec_job *job, const rec_plugin *plugin, const char *name, const char *value)
{
    const rec_option *option = lr_option_find(plugin, name);
    char why[256];
    if (!option) {
        char names[256] = "map, data, decode, sync, check, clamp, modules, layout";
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
    return lr_option_check(option, value, why, sizeof why) ? REC_OK : fail_value(job, name, why, value);
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

/* @param place of an INI file's line, or NULL. */
static int32_t set_at(rec_job *job, rec_recorder *r, const char *name, const char *value, const lr_location *place)
{
    int common = set_common(job, r, name, value);
    if (common) {
        return job->error.status;
    }
    if (lr_word_find(name, LR_IN_ARGUMENTS)) {
        return lr_arguments_set(job, &r->arguments, name, value, place);
    }
    if (r->plugin && check_option(job, option_owner(job, r->plugin, name), name, value) != REC_OK) {
        return job->error.status;
    }
    return lr_job_failed(job) ? job->error.status : remember(job, r, name, value);
}

int32_t lr_recorder_set(rec_job *job, rec_recorder *r, const char *name, const char *value)
{
    return set_at(job, r, name, value, NULL);
}

rec_status rec_recorder_set(rec_recorder *recorder, const char *option, const char *value)
{
    rec_job job;
    if (LR_NULL(recorder) || LR_NULL(option) || LR_NULL(value)) {
        return REC_E_ARGUMENT;
    }
    lr_job_begin(&job, recorder->context, "set", NULL);
    (void)lr_recorder_set(&job, recorder, option, value);
    return lr_job_end(&job);
}

/* ----------------------------------------------------------------------------------------------------- opening -- */

/* Applies a `[recorder …]` section; a mistake is reported with its line. */
static int32_t apply_section(rec_job *job, rec_recorder *r, const lr_recorder_section *section)
{
    char what[LR_NAME_MOST + 16];
    (void)snprintf(what, sizeof what, "[recorder %s]", section->name);
    for (uint64_t i = 0; i < section->setting_count; i++) {
        const lr_setting *setting = &section->settings[i];
        const lr_location place = {.file = lr_config_file(r->context->config), .line = setting->line, .what = what};
        if (set_at(job, r, setting->key, setting->value, &place) != REC_OK) {
            /* The setting came from a profile: report its file and line. */
            lr_job_locate(job, REC_E_CONFIG, place.file, setting->line);
            return job->error.status;
        }
    }
    return REC_OK;
}

static bool is_auto(const char *name)
{
    return lr_name_same(name, "Auto");
}

static int32_t resolve(rec_job *job, rec_recorder *r, const char *name)
{
    const lr_config *config = r->context->config;
    const lr_recorder_section *section;
    bool keeps = r->precision == REC_PRECISION_CONFIGURED;
    r->precision = keeps ? REC_PRECISION_DEFAULT : r->precision;
    if ((lr_name_same(name, "Default") || lr_name_same(name, "DefaultFileRecorder")) && lr_config_recorder(config)) {
        name = lr_config_recorder(config);
    }
    section = lr_config_find_recorder(config, name);
    if (section) {
        name = section->plugin;
        if (r->precision == REC_PRECISION_DEFAULT) {
            r->precision = section->precision;
        }
    }
    if (!is_auto(name)) {
        r->plugin = lr_registry_find(job, name);
        if (!r->plugin) {
            if (section) {
                lr_job_locate(job, job->error.status, lr_config_file(config), section->plugin_line);
            }
            return job->error.status;
        }
    }
    if (r->precision == REC_PRECISION_DEFAULT) {
        r->precision = lr_config_precision(config);
    }
    if (r->precision == REC_PRECISION_DEFAULT) {
        r->precision = keeps ? REC_PRECISION_KEEP : REC_PRECISION_FULL;
    }
    return section ? apply_section(job, r, section) : REC_OK;
}

static void recorder_free(rec_recorder *r)
{
    rec_context *context = r->context;
    const lr_allocator *allocator = &context->allocator;
    lr_recorder_take_type(r, (lr_type_ref){0});
    for (lr_option_set *set = r->options; set;) {
        lr_option_set *next = set->next;
        lr_release(allocator, set);
        set = next;
    }
    lr_arguments_free(&r->arguments);
    lr_arena_free(&r->arena);
    lr_release(allocator, r);
    lr_context_release(context);
}

/* @param function the public one. */
static rec_recorder *open_recorder(const char *function, rec_context *context, const char *name,
                                   rec_precision precision)
{
    rec_job job;
    rec_recorder *r = NULL;
    if (LR_NULL_OF(function, name)) {
        return NULL;
    }
    lr_job_open(&job, context, "open", NULL);
    if (lr_job_failed(&job)) {
        (void)lr_job_end(&job);
        return NULL;
    }
    if (!*name || precision < REC_PRECISION_DEFAULT || precision > REC_PRECISION_CONFIGURED) {
        (void)rec_fail(&job, REC_E_ARGUMENT, REC_UNKNOWN, "a recorder needs a name and a precision");
    } else {
        r = lr_zalloc(job.allocator, sizeof *r);
        if (!r) {
            (void)lr_fail_memory(&job, sizeof *r);
        }
    }
    if (r) {
        r->context = lr_context_retain(job.context);
        atomic_store_explicit(&job.context->modules, &lr_types_modules, memory_order_relaxed);
        r->precision = precision;
        r->map = r->sync = true;
        r->target = LR_TARGET_PLAIN;
        lr_arena_init(&r->arena, job.allocator);
        lr_arguments_init(&r->arguments, job.allocator);
        if (resolve(&job, r, name) != REC_OK) {
            recorder_free(r);
            r = NULL;
        }
    }
    (void)lr_job_end(&job);
    return r;
}

rec_recorder *rec_open_recorder_in(rec_context *context, const char *name, rec_precision precision)
{
    return open_recorder(__func__, context, name, precision);
}

rec_recorder *rec_open_recorder(const char *name, rec_precision precision)
{
    return open_recorder(__func__, NULL, name, precision);
}

void rec_close_recorder(rec_recorder *recorder)
{
    if (recorder && atomic_fetch_sub_explicit(&recorder->held, 1, memory_order_acq_rel) == 0) {
        recorder_free(recorder);
    }
}

static void give_back(void *recorder)
{
    rec_close_recorder(recorder);
}

int32_t lr_recorder_lend(rec_job *job, rec_recorder *recorder, rec_plan *plan)
{
    (void)atomic_fetch_add_explicit(&recorder->held, 1, memory_order_relaxed);
    if (lr_plan_hold(job, plan, give_back, recorder) != REC_OK) {
        rec_close_recorder(recorder);
    }
    return job->error.status;
}

const char *rec_recorder_name(const rec_recorder *recorder)
{
    if (!recorder) {
        return "";
    }
    return recorder->plugin ? recorder->plugin->d.name : "Auto";
}

const char *rec_recorder_extension(const rec_recorder *recorder)
{
    return recorder && recorder->plugin && recorder->plugin->d.extension ? recorder->plugin->d.extension : "";
}

rec_status rec_recorder_set_type(rec_recorder *recorder, const rec_type *type)
{
    if (LR_NULL(recorder)) {
        return REC_E_ARGUMENT;
    }
    if (type && (type->size < sizeof *type || type->field_size < sizeof(rec_field))) {
        return lr_publish(REC_E_ARGUMENT, "the type is not one that REC_DEFINE_STRUCT or REC_DEFINE_ENUM made");
    }
    lr_recorder_take_type(recorder, lr_type_of_c(type));
    lr_publish_ok();
    return REC_OK;
}

/* ------------------------------------------------------------------------------------------------------- names -- */

static bool ends_in(const char *path, const char *extension)
{
    size_t length = strlen(path), tail = strlen(extension);
    return length > tail && path[length - tail - 1] == '.' && strcmp(path + length - tail, extension) == 0;
}

int32_t lr_recorder_path(rec_job *job, const lr_plugin *plugin, const char *path, char **path_out)
{
    const char *extension = plugin ? plugin->d.extension : NULL;
    size_t size = strlen(path) + (extension ? strlen(extension) : 0) + 2;
    *path_out = NULL;
    if (plugin && !extension) {
        (void)rec_fail(job, REC_E_UNSUPPORTED, REC_UNKNOWN, "%s works in memory and has no files", plugin->d.name);
        rec_fail_hint(job, "Use rec_load_bytes and rec_save_bytes, or a recorder with files.");
        return job->error.status;
    }
    *path_out = lr_alloc(job->allocator, size);
    if (!*path_out) {
        return lr_fail_memory(job, size);
    }
    if (!plugin || ends_in(path, extension) || lr_plugin_extension(&plugin->d, path)) {
        (void)snprintf(*path_out, size, "%s", path);
    } else {
        (void)snprintf(*path_out, size, "%s.%s", path, extension);
    }
    return REC_OK;
}

char *rec_recorder_path(const rec_recorder *recorder, const char *path)
{
    rec_job job;
    char *ours = NULL, *theirs = NULL;
    if (LR_NULL(recorder) || LR_NULL(path)) {
        return NULL;
    }
    lr_job_begin(&job, recorder->context, "name", NULL);
    if (lr_recorder_path(&job, recorder->plugin, path, &ours) == REC_OK) {
        theirs = strdup(ours);
        if (!theirs) {
            (void)lr_fail_memory(&job, strlen(ours));
        }
    }
    lr_release(job.allocator, ours);
    (void)lr_job_end(&job);
    return theirs;
}

void rec_free(void *memory)
{
    free(memory);
}
