/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Loading: a file is read, and then made into what its load arguments ask for. */
#include "core/io/io.h"
#include "core/config/config.h"
#include "recorder/recorder.h"

/* What becomes of a record that was read. Takes it. */
static rec_record *finish(rec_job *job, const rec_recorder *recorder, rec_record *raw, const char *name)
{
    lr_plan_input input = lr_recorder_input(recorder, raw, name);
    return lr_import_needed(&input) ? lr_import(job, &input, name) : raw;
}

rec_record *rec_load(rec_recorder *recorder, const char *path)
{
    rec_job job;
    rec_record *record = NULL;
    if (LR_NULL(recorder) || LR_NULL(path)) {
        return NULL;
    }
    lr_job_begin(&job, recorder->context, "load", path);
    if (!*path) {
        (void)rec_fail(&job, REC_E_ARGUMENT, REC_UNKNOWN, "no path was given");
    } else {
        record = lr_load_file(&job, recorder, path);
        record = record ? finish(&job, recorder, record, path) : NULL;
    }
    (void)lr_job_end(&job);
    return record;
}

rec_record *rec_load_bytes(rec_recorder *recorder, const void *data, uint64_t size)
{
    rec_job job;
    rec_record *record = NULL;
    rec_source *source;
    if (LR_NULL(recorder) || (size && LR_NULL(data))) {
        return NULL;
    }
    lr_job_begin(&job, recorder->context, "load", "(memory)");
    source = lr_source_memory(&job, data, size, "(memory)");
    if (source) {
        record = lr_load_source(&job, recorder, source, "");
        record = record ? finish(&job, recorder, record, "(memory)") : NULL;
        lr_source_release(source);
    }
    (void)lr_job_end(&job);
    return record;
}

rec_record *rec_load_fd(rec_recorder *recorder, int fd, const char *name)
{
    rec_job job;
    rec_record *record = NULL;
    rec_source *source;
    if (LR_NULL(recorder) || LR_NULL(name)) {
        return NULL;
    }
    lr_job_begin(&job, recorder->context, "load", name);
    source = lr_source_fd(&job, fd, name, recorder->map);
    if (source) {
        record = lr_load_source(&job, recorder, source, name);
        record = record ? finish(&job, recorder, record, name) : NULL;
        lr_source_release(source);
    }
    (void)lr_job_end(&job);
    return record;
}

const char *rec_recognise(rec_context *context, const char *path)
{
    rec_job job;
    rec_source *source = NULL;
    const lr_plugin *plugin = NULL;
    if (LR_NULL(path)) {
        return NULL;
    }
    lr_job_open(&job, context, "recognise", path);
    if (!lr_job_failed(&job)) {
        source = lr_registry_open(&job, path, true);
    }
    if (source) {
        plugin = lr_recorder_reader(&job, NULL, source, path);
        lr_source_release(source);
    }
    (void)lr_job_end(&job);
    return plugin ? plugin->d.name : NULL;
}
