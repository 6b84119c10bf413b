/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The progress of a job: its phases, the whole that never goes back, and the callback that may cancel. */
#include "core/base/base_private.h"

void lr_job_phase(rec_job *job, uint32_t phase, const char *step)
{
    job->progress.phase = phase;
    job->progress.step = step;
    job->progress.done = 0;
    job->progress.total = REC_UNKNOWN;
}

/* Fills in the phase and the whole, which never goes back. */
static void fill_whole(rec_job *job, rec_progress *progress)
{
    lr_job_progress *at = &job->progress;
    uint64_t part = 0;
    progress->phase = at->phase ? at->phase : 1;
    progress->overall_total = lr_job_whole(job);
    progress->phases = (uint32_t)(progress->overall_total / LR_PHASE_SHARE);
    progress->step = at->step ? at->step : "read";
    if (progress->total != REC_UNKNOWN && progress->done <= progress->total) {
        part = progress->total ? (uint64_t)((double)progress->done / (double)progress->total * LR_PHASE_SHARE)
                               : LR_PHASE_SHARE;
    }
    part += (uint64_t)(progress->phase - 1) * LR_PHASE_SHARE;
    at->overall = part > at->overall ? part : at->overall;
    progress->overall_done = at->overall;
}

/* Calls the recorder's callback, or the context's. @return not 0: stop. */
static int32_t tell_progress(rec_job *job, uint64_t done, uint64_t total)
{
    rec_context *context = job->context;
    rec_progress_fn tell = job->progress.tell ? job->progress.tell : context->progress;
    void *user = job->progress.tell ? job->progress.user : context->progress_user;
    char file[sizeof job->error.file];
    rec_progress progress = {
        .size = sizeof progress, .operation = job->operation, .file = file, .done = done, .total = total};
    lr_call call;
    int32_t answer;
    if (!tell) {
        return 0;
    }
    lr_error_copy_file(file, job->file ? job->file : "");
    fill_whole(job, &progress);
    lr_call_begin(&call, job, LR_CALL_PROGRAM, NULL);
    answer = tell(user, &progress);
    lr_call_end(&call);
    return answer;
}

int32_t rec_job_progress(rec_job *job, uint64_t done, uint64_t total)
{
    if (LR_LACKS(job, job)) {
        return lr_breach_status(job);
    }
    if (job->error.status != REC_OK) {
        return job->error.status;
    }
    if (total == job->progress.total && done < job->progress.done) {
        /* Reading the inflated data begins: the progress does not go back. */
        done = job->progress.done;
    }
    job->progress.done = done;
    job->progress.total = total;
    if (lr_context_tells(job->context) && tell_progress(job, done, total) != 0) {
        (void)rec_fail(job, REC_E_CANCELLED, REC_UNKNOWN, "cancelled by the caller");
        job->error.path[0] = '\0'; /* where it happened to be */
        return REC_E_CANCELLED;
    }
    return REC_OK;
}
