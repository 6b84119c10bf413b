/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Loads by several processes: headers that one of them reads for all, and what a conversion would save. */
#include "parallel/parallel.h"
#include "recorder/recorder.h"

/* What tells one format from another, which a caller without a recorder asks for. */
static void look_at_ends(rec_job *job, const char *path)
{
    rec_source *source = lr_registry_open(job, path, false);
    rec_head head;
    if (source && lr_source_head(job, source, &head) == REC_OK) {
        (void)lr_source_tail(job, source, &head);
    }
    lr_source_release(source);
}

rec_status rec_files_look(rec_recorder *recorder, const char *path, void **files, uint64_t *size)
{
    rec_job job;
    lr_seen *seen;
    if (LR_NULL(recorder) || LR_NULL(path) || LR_NULL(files) || LR_NULL(size)) {
        return REC_E_ARGUMENT;
    }
    *files = NULL;
    *size = 0;
    lr_recorder_job(&job, recorder, "look at", path);
    seen = lr_seen_begin(&job);
    if (seen) {
        rec_status status;
        look_at_ends(&job, path);
        if (!lr_job_failed(&job)) {
            rec_record_free(lr_load_file(&job, recorder, path));
        }
        status = job.error.status;
        if (status != REC_E_MEMORY && status != REC_E_CANCELLED) {
            lr_job_again(&job); /* the load reports it */
        }
        (void)lr_seen_end(&job, seen, files, size);
    }
    return lr_job_end(&job);
}

rec_status rec_files_show(rec_recorder *recorder, const void *files, uint64_t size)
{
    rec_job job;
    if (LR_NULL(recorder) || (size && LR_NULL(files))) {
        return REC_E_ARGUMENT;
    }
    lr_recorder_job(&job, recorder, "look at", NULL);
    (void)lr_seen_show(&job, files, size);
    return lr_job_end(&job);
}

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
