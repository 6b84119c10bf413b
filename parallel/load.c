/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What a conversion by several processes would save. */
#include "core/io/io.h"
#include "librecord/parallel.h"
#include "recorder/recorder.h"

rec_record *rec_load_for(rec_recorder *from, const char *in, const rec_recorder *to, const char *out)
{
    rec_job job;
    rec_record *record;
    rec_plan *plan = NULL;
    if (LR_NULL(from) || LR_NULL(in) || LR_NULL(to) || LR_NULL(out)) {
        return NULL;
    }
    lr_recorder_job(&job, to->progress ? to : from, "load", in);
    record = lr_load_for(&job, from, in, to, out, &plan);
    if (record && plan) { /* what it is made of lives on with it */
        record = lr_watch_judge(&job, false) == REC_OK ? rec_record_copy(record) : NULL;
        if (!record && !lr_job_failed(&job)) {
            (void)lr_fail_memory(&job, sizeof plan);
        }
    }
    rec_plan_free(plan);
    (void)lr_job_end(&job);
    return record;
}
