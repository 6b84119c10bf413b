/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Saves that several processes do together: a window of a file, and a file whose bytes others write. */
#include <string.h>

#include "parallel/parallel.h"
#include "recorder/recorder.h"

/* What the struct is at least: its first version. */
#define WINDOW_LEAST sizeof(rec_window)
#define FILLING_LEAST sizeof(rec_filling)
#define LOSS_LEAST (offsetof(rec_conversion_loss, path) + sizeof(const char *))

/* They are put into names. */
static bool are_sane(const char *letters)
{
    return !letters ||
           (strlen(letters) < 32 && strspn(letters, "abcdefghijklmnopqrstuvwxyz0123456789") == strlen(letters));
}

static bool is_sane(const rec_window *w)
{
    return w->size >= WINDOW_LEAST && w->size <= LR_STRUCT_MOST && are_sane(w->letters) && w->from <= w->to;
}

rec_status rec_conversion_loss_text(const rec_conversion_loss *loss, char *text, uint64_t room)
{
    if (LR_NULL(loss) || LR_NULL(text)) {
        return REC_E_ARGUMENT;
    }
    if (loss->size < LOSS_LEAST || !room || (loss->kind != REC_NOTE_OVERFLOW && loss->kind != REC_NOTE_CLAMPED)) {
        return lr_publish(REC_E_ARGUMENT, "rec_conversion_loss_text: the loss is invalid, or `room` is too small");
    }
    lr_loss_text(loss->kind, loss->dtype, loss->count, text, (size_t)room);
    return REC_OK;
}

/* For lr_parallel: calls the program. */
static void tell_lost(const lr_parallel *self, rec_job *job, const lr_loss *loss)
{
    const rec_window *window = self->user;
    char place[512];
    const rec_conversion_loss told = {.size = sizeof told,
                                      .kind = loss->kind,
                                      .dtype = loss->dtype,
                                      .whole = !loss->part,
                                      .count = loss->count,
                                      .path = lr_place_text(place, sizeof place, loss->path)};
    lr_call call;
    lr_call_begin(&call, job, LR_CALL_PROGRAM, NULL);
    window->lost(window->user, &told);
    lr_call_end(&call);
}

static void tell_files(rec_job *job, const rec_window *window, const lr_window *made)
{
    for (uint64_t i = 0; window->file && i < made->count; i++) {
        lr_call call;
        lr_call_begin(&call, job, LR_CALL_PROGRAM, NULL);
        window->file(window->user, &made->files[i]);
        lr_call_end(&call);
    }
}

static rec_status save_window(rec_job *job, rec_recorder *r, const rec_record *record, const char *path,
                              rec_window *window, const rec_output *output, void *user)
{
    lr_window bounds = {0};
    lr_parallel parallel = {.user = window, .window = true};
    rec_sink *target = output ? lr_sink_output(job, output, user) : NULL, *sink;
    const lr_plugin *plugin = NULL;
    char *name = NULL;
    if (!lr_job_failed(job) && !is_sane(window)) {
        (void)rec_fail(job, REC_E_ARGUMENT, REC_UNKNOWN, "the window's size or bounds are invalid");
    }
    plugin = lr_job_failed(job) ? NULL : lr_recorder_writer(job, r, path);
    if (plugin && lr_recorder_path(job, plugin, path, &name) == REC_OK) {
        job->file = name;
        (void)lr_check_replaced(job, record, name);
    }
    if (lr_job_failed(job)) {
        if (target) {
            (void)lr_sink_commit(target); /* discards it: the job has failed */
        }
        job->file = NULL;
        lr_release(job->allocator, name);
        return job->error.status;
    }
    bounds.from = window->from;
    bounds.to = window->to;
    bounds.letters = window->letters;
    parallel.lost = window->lost ? tell_lost : NULL;
    job->parallel = &parallel;
    sink = lr_sink_window(job, name, target, &bounds);
    (void)lr_save_sink(job, r, plugin, record, sink, NULL, NULL);
    window->total = bounds.total;
    window->sum = bounds.sum;
    if (!lr_job_failed(job)) {
        tell_files(job, window, &bounds);
    }
    lr_window_end(job, &bounds);
    job->parallel = NULL;
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
    lr_recorder_job(&job, recorder, "save", NULL);
    (void)save_window(&job, recorder, record, path, window, output, user);
    return lr_job_end(&job);
}

static bool can_be_filled(const rec_filling *f)
{
    bool can = f->size >= FILLING_LEAST && f->size <= LR_STRUCT_MOST && f->files && f->count;
    for (uint64_t i = 0; can && i + 1 < f->count; i++) {
        can = f->files[i].stem ? f->files[i].tail != NULL : f->files[i].name != NULL;
    }
    return can;
}

rec_status rec_save_filled(rec_recorder *recorder, const char *path, const rec_filling *filling, rec_fill_fn fill,
                           void *user)
{
    rec_job job;
    const lr_plugin *plugin;
    char *name = NULL;
    if (LR_NULL(recorder) || LR_NULL(path) || LR_NULL(filling) || LR_NULL(fill)) {
        return REC_E_ARGUMENT;
    }
    lr_recorder_job(&job, recorder, "save", path);
    if (!*path) {
        (void)rec_fail(&job, REC_E_ARGUMENT, REC_UNKNOWN, "no path was given");
    } else if (!can_be_filled(filling)) {
        (void)rec_fail(&job, REC_E_ARGUMENT, REC_UNKNOWN, "no files were given that can be filled");
    }
    plugin = lr_job_failed(&job) ? NULL : lr_recorder_writer(&job, recorder, path);
    if (plugin && lr_recorder_path(&job, plugin, path, &name) == REC_OK) {
        job.file = name;
        (void)lr_save_filled(&job, name, recorder->sync, filling, fill, user);
    }
    job.file = NULL;
    lr_release(job.allocator, name);
    return lr_job_end(&job);
}
