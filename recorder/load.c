/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Loading: a file is read, and then made into what its load arguments ask for. */
#include "core/io/io.h"
#include "recorder/recorder.h"

/* Turns a record that was read into the result of the load. Takes it. */
static rec_record *finish(rec_job *job, const rec_recorder *recorder, rec_record *raw, const char *name)
{
    lr_plan_input input = lr_recorder_input(recorder, raw, name);
    rec_record *record = lr_import_needed(&input) ? lr_import(job, &input, name) : raw;
    if (record) {
        lr_arena_trim(&record->arena);
    }
    return record;
}

rec_record *rec_load(rec_recorder *recorder, const char *path)
{
    rec_job job;
    rec_record *record = NULL;
    if (LR_NULL(recorder) || LR_NULL(path)) {
        return NULL;
    }
    lr_recorder_job(&job, recorder, "load", path);
    if (!*path) {
        (void)rec_fail(&job, REC_E_ARGUMENT, REC_UNKNOWN, "no path was given");
    } else {
        record = lr_load_file(&job, recorder, path);
        record = record ? finish(&job, recorder, record, path) : NULL;
    }
    (void)lr_job_end(&job);
    return record;
}

/* @param source taken; NULL: the job has failed. @param file "" for memory. @param name for messages. */
static rec_record *load_source(rec_job *job, rec_recorder *recorder, rec_source *source, const char *file,
                               const char *name)
{
    rec_record *record = NULL;
    if (source) {
        record = lr_load_source(job, recorder, source, file);
        record = record ? finish(job, recorder, record, name) : NULL;
        lr_source_release(source);
    }
    return record;
}

rec_record *rec_load_bytes(rec_recorder *recorder, const void *data, uint64_t size)
{
    rec_job job;
    rec_record *record;
    if (LR_NULL(recorder) || (size && LR_NULL(data))) {
        return NULL;
    }
    lr_recorder_job(&job, recorder, "load", "(memory)");
    record = load_source(&job, recorder, lr_source_memory(&job, data, size, "(memory)"), "", "(memory)");
    (void)lr_job_end(&job);
    return record;
}

rec_record *rec_load_bytes_with(rec_recorder *recorder, const void *data, uint64_t size,
                                void (*release)(void *user, const void *data), void *user)
{
    rec_job job;
    rec_record *record;
    if (LR_NULL(recorder) || (size && LR_NULL(data))) {
        if (release) {
            release(user, data);
        }
        return NULL;
    }
    lr_recorder_job(&job, recorder, "load", "(memory)");
    record = load_source(&job, recorder, lr_source_lent(&job, data, size, "(memory)", release, user), "", "(memory)");
    (void)lr_job_end(&job);
    return record;
}

rec_record *rec_load_from(rec_recorder *recorder, const rec_input *input, void *user)
{
    rec_job job;
    rec_record *record = NULL;
    rec_source *source;
    if (LR_NULL(input)) {
        return NULL;
    }
    if (LR_NULL(recorder)) {
        lr_input_give_back(input, user);
        return NULL;
    }
    lr_recorder_job(&job, recorder, "load", NULL);
    source = lr_source_input(&job, input, user);
    if (source) {
        job.file = rec_source_name(source);
        record = load_source(&job, recorder, lr_source_retain(source), job.file, job.file);
        job.file = NULL;
        lr_source_release(source);
    }
    (void)lr_job_end(&job);
    return record;
}

rec_record *rec_load_fd(rec_recorder *recorder, int fd, const char *name)
{
    rec_job job;
    rec_record *record;
    if (LR_NULL(recorder) || LR_NULL(name)) {
        return NULL;
    }
    lr_recorder_job(&job, recorder, "load", name);
    job.skip = recorder->skip;
    record = load_source(&job, recorder, lr_source_fd(&job, fd, name, recorder->map), name, name);
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
