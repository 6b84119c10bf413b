/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Converting: a load and a save as one operation, with a plan where load arguments ask for one. */
#include "core/scheme/scheme.h"
#include "recorder/recorder.h"

/* One source by its load arguments alone: what is to be saved. @param plan (out) which holds it; NULL: it is the
 * caller's. */
static rec_record *load_one(rec_job *job, rec_recorder *from, const char *in, const rec_recorder *to, const char *out,
                            rec_plan **plan)
{
    rec_record *record;
    lr_plan_input input;
    bool modules = from->modules;
    *plan = NULL;
    from->modules = true; /* what is handed on is looked over */
    record = lr_load_file(job, from, in);
    from->modules = modules;
    if (!record) {
        return NULL;
    }
    input = lr_recorder_input(from, record, in);
    if (!lr_import_needed(&input)) {
        if (lr_precision_changes(to->precision) && lr_schemes_decode(job, record) != REC_OK) {
            rec_record_free(record);
            return NULL;
        }
        return record;
    }
    *plan = lr_recorder_plan(job, to, out);
    if (!*plan) {
        rec_record_free(record);
        return NULL;
    }
    return lr_plan_add(job, *plan, &input) == REC_OK && lr_plan_carry_out(job, *plan, NULL) == REC_OK ? (*plan)->result
                                                                                                      : NULL;
}

/* Checks that both recorders can do it. */
static bool can_convert(rec_job *job, const rec_recorder *from, const char *in, const rec_recorder *to, const char *out)
{
    if (from->context != to->context) {
        (void)rec_fail(job, REC_E_ARGUMENT, REC_UNKNOWN, "both recorders must be of one context");
    } else if (!*in || !*out) {
        (void)rec_fail(job, REC_E_ARGUMENT, REC_UNKNOWN, "no path was given");
    }
    return !lr_job_failed(job);
}

rec_record *lr_load_for(rec_job *job, rec_recorder *from, const char *in, const rec_recorder *to, const char *out,
                        rec_plan **plan)
{
    *plan = NULL;
    return can_convert(job, from, in, to, out) ? load_one(job, from, in, to, out, plan) : NULL;
}

static void convert_one(rec_job *job, rec_recorder *from, const char *in, rec_recorder *to, const char *out)
{
    rec_plan *plan;
    rec_record *record = lr_load_for(job, from, in, to, out, &plan);
    if (record) {
        (void)lr_save_file(job, to, record, out);
    }
    if (!plan) {
        rec_record_free(record);
    }
    rec_plan_free(plan);
}

rec_status rec_convert(rec_recorder *from, const char *in, rec_recorder *to, const char *out, rec_plan *plan)
{
    rec_job job;
    if ((!plan && (LR_NULL(from) || LR_NULL(in))) || LR_NULL(to) || LR_NULL(out)) {
        return REC_E_ARGUMENT;
    }
    lr_recorder_job(&job, to->progress || plan ? to : from, "convert", plan ? NULL : in);
    if (!plan) {
        lr_job_phase(&job, 1, "read");
        job.progress.phases = to->check == LR_CHECK_NO ? 2 : 3;
    }
    job.passing = true;
    if (plan && plan->context != to->context) {
        (void)rec_fail(&job, REC_E_ARGUMENT, REC_UNKNOWN, "plan and recorder must be of one context");
    } else if (plan && !*out) {
        (void)rec_fail(&job, REC_E_ARGUMENT, REC_UNKNOWN, "no path was given");
    } else if (plan) {
        (void)lr_save_plan(&job, plan, to, out);
    } else {
        convert_one(&job, from, in, to, out);
    }
    return lr_job_end(&job);
}
