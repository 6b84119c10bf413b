/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Plans as recorders have part in them: what is read becomes a source, and the result is written. */
#include "core/config/config.h"
#include "core/io/io.h"
#include "recorder/recorder.h"

/* The plugin that writes `out`, as far as it is known. */
static const lr_plugin *writer_of(rec_job *job, const rec_recorder *to, const char *out)
{
    return to->plugin ? to->plugin : out ? lr_registry_by_extension(job, out, LR_CAN_SAVE) : NULL;
}

rec_plan *lr_recorder_plan(rec_job *job, const rec_recorder *to, const char *out)
{
    const lr_plugin *plugin = writer_of(job, to, out);
    rec_plan *plan = lr_plan_new(job, to->type, to->target, to->precision,
                                 plugin && lr_adapter_kind(plugin->d.adapter) != LR_FILE_BURN);
    if (plan && plugin) {
        plan->burns = lr_plugin_is_burns(plugin);
        plan->paths = ((plugin->format ? plugin->format : plugin)->d.traits & REC_TRAIT_PATHS) != 0;
    }
    return plan;
}

rec_plan *rec_plan_new(rec_context *context, const rec_recorder *to)
{
    rec_job job;
    rec_plan *plan = NULL;
    lr_job_open(&job, to ? to->context : context, "plan", NULL);
    if (!lr_job_failed(&job)) {
        plan =
            to ? lr_recorder_plan(&job, to, NULL) : lr_plan_new(&job, (lr_type_ref){0}, 0, REC_PRECISION_KEEP, false);
        if (plan) {
            plan->advises = true;
        }
        if (plan && to && lr_recorder_lend(&job, (rec_recorder *)(uintptr_t)to, plan) != REC_OK) {
            rec_plan_free(plan);
            plan = NULL;
        }
    }
    (void)lr_job_end(&job);
    return plan;
}

lr_plan_input lr_recorder_input(const rec_recorder *recorder, rec_record *raw, const char *path)
{
    const char *file = *raw->origin.file ? raw->origin.file : NULL; /* an address without what opens it */
    return (lr_plan_input){.record = raw,
                           .owned = raw,
                           .name = file ? file : path,
                           .path = file && lr_path_scheme(path) ? path : file,
                           .arguments = &recorder->arguments,
                           .type = recorder->as_file ? (lr_type_ref){0} : recorder->type,
                           .minor = recorder->target};
}

rec_status rec_plan_add(rec_plan *plan, rec_recorder *from, const char *path)
{
    rec_job job;
    if (LR_NULL(plan) || LR_NULL(from) || LR_NULL(path)) {
        return REC_E_ARGUMENT;
    }
    lr_recorder_job(&job, from, "load", path);
    if (from->context != plan->context) {
        (void)rec_fail(&job, REC_E_ARGUMENT, REC_UNKNOWN, "the recorder must be of the plan's context");
    } else if (!*path) {
        (void)rec_fail(&job, REC_E_ARGUMENT, REC_UNKNOWN, "no path was given");
    } else {
        rec_record *record;
        job.passing = true;
        record = lr_recorder_lend(&job, from, plan) == REC_OK ? lr_load_file(&job, from, path) : NULL;
        if (record) {
            lr_plan_input input = lr_recorder_input(from, record, path);
            job.file = input.name;
            (void)lr_plan_add(&job, plan, &input);
            job.file = NULL;
        }
    }
    return lr_job_end(&job);
}

rec_status rec_plan_add_from(rec_plan *plan, rec_recorder *from, const rec_input *input, void *user)
{
    rec_job job;
    rec_source *source = NULL;
    rec_record *record = NULL;
    if (LR_NULL(input)) {
        return REC_E_ARGUMENT;
    }
    if (LR_NULL(plan) || LR_NULL(from)) {
        lr_input_give_back(input, user);
        return REC_E_ARGUMENT;
    }
    lr_recorder_job(&job, from, "load", NULL);
    if (from->context != plan->context) {
        (void)rec_fail(&job, REC_E_ARGUMENT, REC_UNKNOWN, "the recorder must be of the plan's context");
    }
    source = lr_source_input(&job, input, user);
    if (source && lr_recorder_lend(&job, from, plan) == REC_OK) {
        job.passing = true;
        job.file = rec_source_name(source);
        record = lr_load_source(&job, from, source, job.file);
    }
    if (record) {
        lr_plan_input taken = lr_recorder_input(from, record, rec_source_name(source));
        taken.path = NULL; /* not a file: no companion files */
        (void)lr_plan_add(&job, plan, &taken);
    }
    job.file = NULL;
    lr_source_release(source);
    return lr_job_end(&job);
}

/* Adds a record of the caller: a decoded copy of it, if it has encoded tensors and the result has a precision. */
static int32_t add_record(rec_job *job, rec_plan *plan, lr_plan_input *input)
{
    input->record = lr_decode_saved(job, plan->written, input->record, &input->owned);
    if (!input->record) {
        rec_record_free(input->owned);
        return job->error.status;
    }
    return lr_plan_add(job, plan, input);
}

rec_status rec_plan_add_record(rec_plan *plan, const rec_recorder *arguments, const rec_record *record,
                               const char *name)
{
    rec_job job;
    if (LR_NULL(plan) || LR_NULL(record) || LR_NULL(name)) {
        return REC_E_ARGUMENT;
    }
    lr_job_begin(&job, plan->context, "plan", name);
    if (record->context != plan->context || (arguments && arguments->context != plan->context)) {
        (void)rec_fail(&job, REC_E_ARGUMENT, REC_UNKNOWN, "recorder and record must be of the plan's context");
    } else {
        lr_plan_input input = {.record = record, .name = name};
        if (arguments && lr_recorder_lend(&job, (rec_recorder *)(uintptr_t)arguments, plan) == REC_OK) {
            input.arguments = &arguments->arguments;
            input.type = arguments->type;
            input.minor = arguments->target;
        }
        if (!lr_job_failed(&job)) {
            (void)add_record(&job, plan, &input);
        }
    }
    return lr_job_end(&job);
}

static bool goes_back(const rec_plan *plan)
{
    for (uint64_t s = 0; s < plan->source_count; s++) {
        if (plan->sources[s].reverse) {
            return true;
        }
    }
    return false;
}

int32_t lr_save_plan(rec_job *job, rec_plan *plan, rec_recorder *to, const char *out)
{
    const lr_plugin *plugin = goes_back(plan) ? writer_of(job, to, out) : NULL;
    if (plugin && lr_plugin_is_burns(plugin)) { /* the plan was made without it */
        return lr_fail_burns(job);
    }
    return lr_plan_carry_out(job, plan, NULL) == REC_OK ? lr_save_file(job, to, plan->result, out) : job->error.status;
}
