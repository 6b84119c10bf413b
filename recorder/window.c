/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Saves that several processes do together: a window of a file, and a file whose bytes others write. */
#include <string.h>
#include <sys/stat.h>

#include "core/io/io.h"
#include "recorder/recorder.h"

/* What the struct is at least: its first version. */
#define WINDOW_LEAST (offsetof(rec_window, piece_count) + sizeof(((rec_window *)0)->piece_count))

static bool is_sane(const rec_window *w, const rec_output *output)
{
    if (w->size < WINDOW_LEAST || w->size > LR_STRUCT_MOST || w->part < REC_PART_FILE || w->part > REC_PART_TAIL) {
        return false;
    }
    return w->part >= REC_PART_HEAD ? output && w->total && (w->pieces || !w->piece_count) : w->from <= w->to;
}

static void fail_no_pieces(rec_job *job)
{
    (void)rec_fail(job, REC_E_ARGUMENT, REC_UNKNOWN, "a head or a tail of a file that is not made in pieces");
}

static rec_status save_window(rec_job *job, rec_recorder *r, const rec_record *record, const char *path,
                              rec_window *window, const rec_output *output, void *user)
{
    lr_window bounds = {0};
    lr_parts parts = {0};
    rec_sink *target = output ? lr_sink_output(job, output, user) : NULL, *sink;
    const lr_plugin *plugin = NULL;
    char *name = NULL;
    if (!lr_job_failed(job) && !is_sane(window, output)) {
        (void)rec_fail(job, REC_E_ARGUMENT, REC_UNKNOWN, "the window has no size or no bounds that it can have");
    }
    plugin = lr_job_failed(job) ? NULL : lr_recorder_writer(job, r, path);
    if (!plugin || lr_recorder_path(job, plugin, path, &name) != REC_OK) {
        if (target) {
            (void)lr_sink_commit(target); /* of a job that has failed: it is told so */
        }
        return job->error.status;
    }
    job->file = name;
    bounds.from = window->from;
    bounds.to = window->to;
    if (window->part != REC_PART_FILE && plugin->codec) {
        parts = (lr_parts){.part = window->part,
                           .window = {.from = window->from, .to = window->to, .total = window->total},
                           .file = &bounds,
                           .wanted = output != NULL,
                           .made = window->made,
                           .user = window->user,
                           .pieces = window->pieces,
                           .count = window->piece_count};
        job->parts = &parts;
    }
    if (window->part >= REC_PART_HEAD && !plugin->codec) {
        fail_no_pieces(job);
    }
    job->aside = window->lost;
    job->aside_user = window->user;
    sink = lr_sink_window(job, name, target, &bounds);
    (void)lr_save_sink(job, r, plugin, record, sink, NULL, NULL);
    job->parts = NULL;
    if (!lr_job_failed(job) && window->part >= REC_PART_HEAD && !parts.piece) {
        fail_no_pieces(job);
    }
    window->piece = parts.piece;
    if (window->part < REC_PART_HEAD) {
        window->total = parts.piece ? parts.window.total : bounds.total;
        window->sum = parts.piece ? parts.window.sum : bounds.sum;
    }
    job->file = NULL;
    lr_release(job->allocator, name);
    return job->error.status;
}

rec_status rec_save_window(rec_recorder *recorder, const rec_record *record, const char *path, rec_window *window,
                           const rec_output *output, void *user)
{
    rec_job job;
    if (LR_NULL(recorder) || LR_NULL(record) || LR_NULL(path) || LR_NULL(window)) {
        if (output) {
            lr_output_give_back(output, user);
        }
        return REC_E_ARGUMENT;
    }
    lr_job_begin(&job, recorder->context, "save", NULL);
    (void)save_window(&job, recorder, record, path, window, output, user);
    return lr_job_end(&job);
}

static void fill_file(rec_job *job, rec_recorder *r, const char *name, uint64_t size, rec_fill_fn fill, void *user)
{
    struct stat there;
    rec_sink *sink;
    char *temporary = NULL;
    /* Before it is opened, which of a FIFO waits for a reader. */
    if (stat(name, &there) == 0 && !S_ISREG(there.st_mode) && !S_ISDIR(there.st_mode)) {
        (void)rec_fail(job, REC_E_UNSUPPORTED, REC_UNKNOWN, "what is no regular file cannot be written by several");
        return;
    }
    sink = lr_sink_file(job, name, r->sync);
    if (!sink) {
        return;
    }
    if (lr_sink_reserve(sink, size) == REC_OK && lr_sink_temporary(sink, &temporary) == REC_OK) {
        lr_call call;
        int32_t error;
        lr_call_begin(&call, job, LR_CALL_PROGRAM, NULL);
        error = fill(user, temporary);
        lr_call_end(&call);
        (void)lr_sink_filled(sink, size, error);
    }
    lr_release(job->allocator, temporary);
    (void)lr_sink_commit(sink);
}

rec_status rec_save_filled(rec_recorder *recorder, const char *path, uint64_t size, rec_fill_fn fill, void *user)
{
    rec_job job;
    const lr_plugin *plugin;
    char *name = NULL;
    if (LR_NULL(recorder) || LR_NULL(path) || LR_NULL(fill)) {
        return REC_E_ARGUMENT;
    }
    lr_job_begin(&job, recorder->context, "save", path);
    if (!*path) {
        (void)rec_fail(&job, REC_E_ARGUMENT, REC_UNKNOWN, "no path was given");
    }
    plugin = lr_job_failed(&job) ? NULL : lr_recorder_writer(&job, recorder, path);
    if (plugin && lr_recorder_path(&job, plugin, path, &name) == REC_OK) {
        job.file = name;
        fill_file(&job, recorder, name, size, fill, user);
    }
    job.file = NULL;
    lr_release(job.allocator, name);
    return lr_job_end(&job);
}
