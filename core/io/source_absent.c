/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What tensors have in place of their data, where a load skips them: asking for bytes is a failure that says why. */
#include "core/io/io_private.h"

static int32_t fail_absent(rec_job *job, const rec_source *source)
{
    return lr_io_fail(job, source->name, REC_E_ARGUMENT, REC_UNKNOWN,
                      "Load it without that option (data = read) for its values.",
                      "the record was loaded without the data of its tensors (data = skip)");
}

static int32_t absent_view(rec_job *job, rec_source *source)
{
    return fail_absent(job, source);
}

static int32_t absent_read_at(rec_job *job, rec_source *source, uint64_t at, void *target, uint64_t size)
{
    (void)at;
    (void)target;
    return size ? fail_absent(job, source) : REC_OK;
}

static const lr_source_ops absent_ops = {
    .stored = true,
    .lasting = true,
    .size = lr_source_size_unknown,
    .view = absent_view,
    .read_at = absent_read_at,
};

rec_source *lr_source_absent(rec_job *job)
{
    if (!job->absent) {
        job->absent = lr_source_of(job, job->file ? job->file : "", &absent_ops, NULL);
    }
    return job->absent;
}

void lr_source_absent_end(rec_job *job)
{
    lr_source_release(job->absent);
    job->absent = NULL;
}
