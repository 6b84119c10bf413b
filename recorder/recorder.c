/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Recorders: opened by name, copied, closed. */
#include "types/types.h"
#include "recorder/recorder.h"

#include <stdio.h>
#include <stdlib.h>

/* Applies a `[recorder …]` section; a mistake is reported with its line. */
static int32_t apply_section(rec_job *job, rec_recorder *r, const lr_recorder_section *section)
{
    char what[LR_NAME_MOST + 16];
    (void)snprintf(what, sizeof what, "[recorder %s]", section->name);
    for (uint64_t i = 0; i < section->setting_count; i++) {
        const lr_setting *setting = &section->settings[i];
        const lr_location place = {.file = lr_config_file(r->context->config), .line = setting->line, .what = what};
        if (lr_recorder_set_at(job, r, setting->key, setting->value, &place) != REC_OK) {
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
    uint32_t line = 0;
    r->precision = keeps ? REC_PRECISION_DEFAULT : r->precision;
    if (lr_name_same(name, "Default") || lr_name_same(name, "DefaultFileRecorder")) {
        const char *configured = lr_config_recorder(config, &line);
        name = configured ? configured : name;
    }
    section = lr_config_find_recorder(config, name);
    if (section) {
        name = section->plugin;
        line = section->plugin_line;
        if (r->precision == REC_PRECISION_DEFAULT) {
            r->precision = section->precision;
        }
    }
    if (!is_auto(name)) {
        r->plugin = lr_registry_find(job, name);
        if (!r->plugin) {
            if (line) {
                lr_job_locate(job, job->error.status, lr_config_file(config), line);
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

/* Takes another type, and lets go of what the last one was made of. */
static void take_type(rec_recorder *recorder, lr_type_ref type)
{
    const rec_types *before = recorder->type.types;
    if (type.types) {
        (void)lr_types_retain(type.types);
    }
    recorder->type = type;
    recorder->expression = NULL;
    rec_types_free((rec_types *)(uintptr_t)before); /* sheds the const: it is given up */
}

/* Sets a type by name. NULL removes it. */
static int32_t set_type_name(rec_job *job, rec_recorder *recorder, const rec_types *types, const char *expression)
{
    const lr_expr *expr = NULL;
    const char *text = NULL;
    if (expression) {
        expr = lr_expr_parse(job, &recorder->arena, expression, strlen(expression), NULL, 0);
        text = expr ? lr_arena_text(&recorder->arena, expression, strlen(expression)) : NULL;
        if (expr && !text) {
            (void)lr_fail_memory(job, strlen(expression) + 1);
        }
    }
    if (!lr_job_failed(job)) {
        take_type(recorder, expr ? lr_type_of_expr(types, expr) : (lr_type_ref){0});
        recorder->expression = text;
    }
    return job->error.status;
}

static void recorder_free(rec_recorder *r)
{
    rec_context *context = r->context;
    const lr_allocator *allocator = &context->allocator;
    take_type(r, (lr_type_ref){0});
    lr_recorder_forget(r);
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
    if (!*name) {
        (void)rec_fail_found(&job, REC_E_ARGUMENT, REC_UNKNOWN, "the name of a recorder", "an empty one");
    } else if (precision < REC_PRECISION_DEFAULT || precision > REC_PRECISION_CONFIGURED) {
        (void)rec_fail_found(&job, REC_E_ARGUMENT, REC_UNKNOWN, "one of REC_PRECISION_...", "%d", (int)precision);
    } else {
        r = lr_job_zalloc(&job, sizeof *r);
    }
    if (r) {
        r->context = lr_context_retain(job.context);
        atomic_store_explicit(&job.context->modules, &lr_types_modules, memory_order_relaxed);
        r->precision = precision;
        lr_arena_init(&r->arena, job.allocator);
        lr_recorder_begin(r);
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

static rec_recorder *copy(rec_job *job, const rec_recorder *from)
{
    rec_recorder *r = lr_job_zalloc(job, sizeof *r);
    if (!r) {
        return NULL;
    }
    r->context = lr_context_retain(job->context);
    r->plugin = from->plugin;
    r->precision = from->precision;
    r->progress = from->progress;
    r->progress_user = from->progress_user;
    lr_arena_init(&r->arena, job->allocator);
    lr_recorder_begin(r);
    if (from->expression) {
        (void)set_type_name(job, r, from->type.types, from->expression);
    } else {
        take_type(r, from->type);
    }
    if (lr_job_failed(job) || lr_recorder_set_like(job, r, from) != REC_OK) {
        recorder_free(r);
        r = NULL;
    }
    return r;
}

rec_recorder *rec_recorder_copy(const rec_recorder *recorder)
{
    rec_job job;
    rec_recorder *made;
    if (LR_NULL(recorder)) {
        return NULL;
    }
    lr_job_begin(&job, recorder->context, "copy", NULL);
    made = copy(&job, recorder);
    (void)lr_job_end(&job);
    return made;
}

void rec_recorder_set_progress(rec_recorder *recorder, rec_progress_fn callback, void *user)
{
    if (!LR_NULL(recorder)) {
        recorder->progress = callback;
        recorder->progress_user = user;
    }
}

void lr_recorder_job(rec_job *job, const rec_recorder *recorder, const char *operation, const char *file)
{
    lr_job_begin(job, recorder->context, operation, file);
    job->progress.tell = recorder->progress;
    job->progress.user = recorder->progress_user;
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
    take_type(recorder, lr_type_of_c(type));
    lr_publish_ok();
    return REC_OK;
}

rec_status rec_recorder_set_type_name(rec_recorder *recorder, const rec_types *types, const char *expression)
{
    rec_job job;
    if (LR_NULL(recorder) || (expression && LR_NULL(types))) {
        return REC_E_ARGUMENT;
    }
    lr_job_begin(&job, recorder->context, "set", NULL);
    (void)set_type_name(&job, recorder, types, expression);
    return lr_job_end(&job);
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
