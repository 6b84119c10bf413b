/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What one process saw of a model's files, for others. */
#include "core/config/config.h"
#include "core/io/io.h"
#include "recorder/recorder.h"

/* What tells one format from another, which is asked for by who is given no recorder. */
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
    if (LR_NULL(recorder) || LR_NULL(path) || LR_NULL(files) || LR_NULL(size)) {
        return REC_E_ARGUMENT;
    }
    *files = NULL;
    *size = 0;
    lr_job_begin(&job, recorder->context, "look at", path);
    if (lr_seen_begin(&job)) {
        struct lr_seen *noting = job.noting;
        rec_status status;
        look_at_ends(&job, path);
        if (!lr_job_failed(&job)) {
            rec_record_free(lr_load_file(&job, recorder, path));
        }
        status = job.error.status;
        if (status != REC_E_MEMORY && status != REC_E_CANCELLED) {
            lr_job_again(&job); /* whoever loads it is told */
            job.noting = noting;
        }
        (void)lr_seen_end(&job, files, size);
    }
    return lr_job_end(&job);
}

rec_status rec_files_show(rec_recorder *recorder, const void *files, uint64_t size)
{
    rec_job job;
    if (LR_NULL(recorder) || (size && LR_NULL(files))) {
        return REC_E_ARGUMENT;
    }
    lr_job_begin(&job, recorder->context, "look at", NULL);
    (void)lr_seen_show(&job, files, size);
    return lr_job_end(&job);
}
