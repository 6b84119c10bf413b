/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Saving: to a file, into memory, to a descriptor. */
#include "core/io/io.h"
#include "recorder/recorder.h"

rec_status rec_save(rec_recorder *recorder, const rec_record *record, const char *path)
{
    rec_job job;
    if (LR_NULL(recorder) || LR_NULL(record) || LR_NULL(path)) {
        return REC_E_ARGUMENT;
    }
    lr_recorder_job(&job, recorder, "save", path);
    if (!*path) {
        (void)rec_fail(&job, REC_E_ARGUMENT, REC_UNKNOWN, "no path was given");
    } else {
        (void)lr_save_file(&job, recorder, record, path);
    }
    return lr_job_end(&job);
}

rec_status rec_save_bytes(rec_recorder *recorder, const rec_record *record, void **data, uint64_t *size)
{
    rec_job job;
    const lr_plugin *plugin;
    if (data) {
        *data = NULL;
    }
    if (size) {
        *size = 0;
    }
    if (LR_NULL(recorder) || LR_NULL(record) || LR_NULL(data) || LR_NULL(size)) {
        return REC_E_ARGUMENT;
    }
    lr_recorder_job(&job, recorder, "save", "(memory)");
    plugin = lr_recorder_writer(&job, recorder, NULL);
    if (plugin) {
        (void)lr_save_sink(&job, recorder, plugin, record, lr_sink_memory(&job), data, size);
    }
    return lr_job_end(&job);
}

rec_status rec_save_to(rec_recorder *recorder, const rec_record *record, const rec_output *output, void *user)
{
    rec_job job;
    const lr_plugin *plugin;
    rec_sink *sink;
    if (LR_NULL(output)) {
        return REC_E_ARGUMENT;
    }
    if (LR_NULL(recorder) || LR_NULL(record)) {
        lr_output_give_back(output, user);
        return REC_E_ARGUMENT;
    }
    lr_recorder_job(&job, recorder, "save", NULL);
    sink = lr_sink_output(&job, output, user);
    plugin = sink ? lr_recorder_writer(&job, recorder, NULL) : NULL;
    if (plugin) {
        (void)lr_save_sink(&job, recorder, plugin, record, sink, NULL, NULL);
    } else if (sink) {
        (void)lr_sink_commit(sink); /* discards it: the job has failed */
    }
    return lr_job_end(&job);
}

rec_status rec_save_fd(rec_recorder *recorder, const rec_record *record, int fd, const char *name)
{
    rec_job job;
    const lr_plugin *plugin;
    if (LR_NULL(recorder) || LR_NULL(record) || LR_NULL(name)) {
        return REC_E_ARGUMENT;
    }
    lr_recorder_job(&job, recorder, "save", name);
    plugin = lr_recorder_writer(&job, recorder, NULL);
    if (plugin) {
        (void)lr_save_sink(&job, recorder, plugin, record, lr_sink_fd(&job, fd), NULL, NULL);
    }
    return lr_job_end(&job);
}
