/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Converting: a load and a save as one operation, with a plan where load arguments ask for one. */
#include "recorder/recorder.h"

/* The recorder that will write `out` makes foreign files. */
static bool is_foreign(rec_job *job, const rec_recorder *to, const char *out)
{
    const lr_plugin *plugin = to->plugin ? to->plugin : lr_registry_by_extension(job, out, LR_CAN_SAVE);
    return plugin && plugin->d.adapter != REC_ADAPTER_NONE;
}

/* One source by its load arguments alone. */
static void convert_one(rec_job *job, rec_recorder *from, const char *in, rec_recorder *to, const char *out)
{
    rec_record *record;
    rec_plan *plan = NULL;
    lr_plan_input input;
    bool modules = from->modules;
    from->modules = true; /* what is handed on is looked over */
    record = lr_load_file(job, from, in);
    from->modules = modules;
    if (record) {
        input = lr_recorder_input(from, record, in);
    }
    if (record && lr_import_needed(&input)) {
        plan = lr_plan_new(job, to->type, to->target, to->precision, is_foreign(job, to, out));
        if (!plan) {
            rec_record_free(record);
        } else if (lr_plan_add(job, plan, &input) == REC_OK) {
            (void)lr_save_plan(job, plan, to, out);
        }
        rec_plan_free(plan);
    } else if (record) {
        (void)lr_save_file(job, to, record, out);
        rec_record_free(record);
    }
}

rec_status rec_convert(rec_recorder *from, const char *in, rec_recorder *to, const char *out, rec_plan *plan)
{
    rec_job job;
    if ((!plan && (LR_NULL(from) || LR_NULL(in))) || LR_NULL(to) || LR_NULL(out)) {
        return REC_E_ARGUMENT;
    }
    lr_job_begin(&job, to->context, "convert", plan ? NULL : in);
    job.passing = true;
    if (plan ? plan->context != to->context : from->context != to->context) {
        (void)rec_fail(&job, REC_E_ARGUMENT, REC_UNKNOWN, "%s must be of one context",
                       plan ? "plan and recorder" : "both recorders");
    } else if ((!plan && !*in) || !*out) {
        (void)rec_fail(&job, REC_E_ARGUMENT, REC_UNKNOWN, "no path was given");
    } else if (plan) {
        (void)lr_save_plan(&job, plan, to, out);
    } else {
        convert_one(&job, from, in, to, out);
    }
    return lr_job_end(&job);
}
