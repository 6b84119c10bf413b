/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Encoded tensors on their way in and out: when they are decoded. */
#include "core/scheme/scheme.h"

#include "recorder/recorder.h"

int32_t lr_decode_loaded(rec_job *job, const rec_recorder *r, rec_source *source, rec_record *record)
{
    lr_settings settings = {.find = lr_settings_find, .user = lr_settings_new(job, source)};
    if (settings.user) {
        if (lr_schemes_find(job, record, &settings) == REC_OK) {
            (void)lr_settings_keep(job, settings.user, record);
        }
        lr_settings_free(settings.user);
    }
    if (lr_job_failed(job)) {
        return job->error.status;
    }
    if (lr_precision_changes(lr_load_precision(r))) {
        return lr_schemes_decode(job, record);
    }
    return r->decode && !r->as_file ? lr_schemes_try(job, record) : REC_OK;
}

const rec_record *lr_decode_saved(rec_job *job, rec_precision precision, const rec_record *record, rec_record **copy)
{
    lr_settings settings = {.find = lr_settings_kept};
    *copy = NULL;
    if (lr_job_failed(job) || !lr_precision_changes(precision) || !lr_schemes_needed(record)) {
        return lr_job_failed(job) ? NULL : record;
    }
    *copy = rec_record_copy(record);
    if (!*copy) {
        (void)lr_fail_memory(job, sizeof *record);
        return NULL;
    }
    settings.user = *copy;
    return lr_schemes_find(job, *copy, &settings) == REC_OK && lr_schemes_decode(job, *copy) == REC_OK ? *copy : NULL;
}
