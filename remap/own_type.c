/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Backwards a type is that of the record: it is checked before the plan is made, as `record types --check` does. */
#include <stdio.h>

#include "burn/visit/visit.h"
#include "remap/remap.h"

/* The first fatal problem of a plan that fits the record to its type becomes one of the plan that goes backwards. */
static int32_t hand_on(rec_job *job, rec_plan *plan, const char *name, const rec_plan *fitted)
{
    int32_t status = REC_OK;
    for (uint64_t i = 0; i < fitted->problem_count && status == REC_OK; i++) {
        const rec_plan_problem *p = &fitted->problems[i];
        if (p->fatal) {
            status = lr_plan_problem(job, plan, p->kind, true, p->key, "Is it the right type of this record?",
                                     "%.200s: %s", name, p->text);
        }
    }
    return status;
}

/* A record whose names were flat says nothing of lists and options: it is fitted to the type first.
 * @param fitted (out) the plan that holds the result; NULL: the job has failed. */
static int32_t fit(rec_job *job, const lr_plan_source *source, rec_plan **fitted)
{
    lr_plan_input input = {.record = source->record, .name = source->name, .type = source->type};
    lr_arguments arguments;
    int32_t status;
    lr_arguments_init(&arguments, job->allocator);
    status =
        source->prefix && *source->prefix ? lr_arguments_set(job, &arguments, "select", source->prefix, NULL) : REC_OK;
    status = status == REC_OK ? lr_arguments_set(job, &arguments, "adapter", "none", NULL) : status;
    status = status == REC_OK ? lr_arguments_set(job, &arguments, "strict", "yes", NULL) : status;
    input.arguments = &arguments;
    input.minor = source->record->burn_minor;
    *fitted = status == REC_OK ? lr_plan_new(job, source->type, input.minor, REC_PRECISION_KEEP, false) : NULL;
    if (*fitted) {
        status = lr_plan_add(job, *fitted, &input) == REC_OK ? lr_plan_make(job, *fitted) : job->error.status;
    }
    lr_arguments_free(&arguments);
    return job->error.status;
}

/* What the walk over the record by its type finds. */
static int32_t walk(rec_job *job, rec_plan *plan, const lr_plan_source *source, const rec_record *record,
                    const rec_value *value)
{
    const rec_layout *layout = lr_plan_layout(job, source->type, record->burn_minor);
    char path[256], text[600], hint[300];
    if (!layout || lr_check_tensors(job, record, layout) != REC_OK ||
        lr_check_type(job, record, value, layout) == REC_OK) {
        return job->error.status;
    }
    if (job->error.status != REC_E_MISMATCH && job->error.status != REC_E_RANGE &&
        job->error.status != REC_E_UNSUPPORTED) {
        return job->error.status;
    }
    (void)snprintf(path, sizeof path, "%.250s", job->error.path);
    (void)snprintf(text, sizeof text, "%.590s", job->error.what);
    (void)snprintf(hint, sizeof hint, "%.290s",
                   *job->error.hint ? job->error.hint : "Is it the right type of this record?");
    lr_job_forgive(job);
    return lr_plan_problem(job, plan, REC_PROBLEM_KIND, true, path, hint, "%.200s: %s%s%s", source->name, path,
                           *path ? ": " : "", text);
}

static int32_t check(rec_job *job, rec_plan *plan, lr_plan_source *source)
{
    rec_plan *fitted = NULL;
    const rec_record *record = source->record;
    const rec_value *value = &record->root;
    int32_t status = REC_OK;
    job->file = source->name;
    if (record->dotted || record->root.form == REC_FORM_PATHS) {
        status = fit(job, source, &fitted);
        record = fitted ? fitted->result : NULL;
        status = status == REC_OK && fitted->totals.fatal ? hand_on(job, plan, source->name, fitted) : status;
        value = record ? &record->root : NULL;
    } else if (source->prefix && *source->prefix) {
        value = lr_at(record, source->prefix);
    }
    if (status == REC_OK && !fitted && !value) {
        status =
            lr_plan_problem(job, plan, REC_PROBLEM_MISSING, true, source->prefix, "",
                            "%.200s: %.300s: the record has nothing below this prefix", source->name, source->prefix);
    }
    if (status == REC_OK && value && !(fitted && fitted->totals.fatal)) {
        status = walk(job, plan, source, record, value);
    }
    rec_plan_free(fitted);
    lr_layouts_free(job);
    job->type = (lr_type_ref){0};
    job->file = NULL;
    return status;
}

int32_t lr_plan_check_types(rec_job *job, rec_plan *plan)
{
    int32_t status = REC_OK;
    for (uint64_t s = 0; s < plan->source_count && status == REC_OK; s++) {
        if (plan->sources[s].reverse && plan->sources[s].type.layout) {
            status = check(job, plan, &plan->sources[s]);
        }
    }
    return status;
}
