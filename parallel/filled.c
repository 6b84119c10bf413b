/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Files whose bytes others write: temporary files are made for them, and when they are filled, synced and renamed as
 * those of any save. There may be a thousand: only the first has a descriptor while they are filled. */
#include <sys/stat.h>

#include "core/io/io.h"
#include "librecord/parallel.h"
#include "recorder/recorder.h"

/* What the struct is at least: its first version. */
#define FILLING_LEAST sizeof(rec_filling)

typedef struct filled {
    rec_job *job;
    const rec_file *asked;
    rec_sink **sinks; /* in the order of the files: the first sink is last */
    rec_file *files;  /* for rec_fill_fn */
    uint64_t count;
} filled;

static rec_sink *last_of(const filled *f)
{
    return f->sinks[f->count - 1];
}

static int32_t make_part(const filled *f, uint64_t i)
{
    const rec_file *file = &f->asked[i];
    int32_t status = file->stem ? rec_sink_part(f->job, last_of(f), file->stem, file->tail, &f->sinks[i])
                                : rec_sink_beside(f->job, last_of(f), file->name, &f->sinks[i]);
    status = status == REC_OK ? lr_sink_reserve(f->sinks[i], file->size) : status;
    if (status == REC_OK) {
        lr_sink_leave(f->sinks[i]);
    }
    return status;
}

/* Where each is to be written. */
static int32_t name_temporaries(const filled *f)
{
    for (uint64_t i = 0; i < f->count; i++) {
        f->files[i] = f->asked[i];
        f->files[i].name = rec_sink_name(f->sinks[i]);
        f->files[i].temporary = lr_sink_temporary(f->sinks[i]);
        if (!f->files[i].temporary) {
            break;
        }
    }
    return f->job->error.status;
}

static int32_t fill_files(const filled *f, const lr_parallel *parallel, uint64_t *last, rec_fill_fn fill, void *user)
{
    rec_filling told = {.size = sizeof told,
                        .files = f->files,
                        .count = f->count,
                        .letters = lr_sink_letters(last_of(f)),
                        .last_size = *last,
                        .resume = parallel->resumes,
                        .keep = lr_sink_keeps(last_of(f))};
    lr_call call;
    int32_t error;
    lr_call_begin(&call, f->job, LR_CALL_PROGRAM, NULL);
    error = fill(user, &told);
    lr_call_end(&call);
    *last = told.last_size;
    lr_sink_keep(last_of(f), parallel->resumes && told.keep != 0);
    return lr_io_program(f->job, f->job->file, REC_UNKNOWN, error, "write", false);
}

static int32_t end_file(const filled *f, uint64_t i, uint64_t size)
{
    int32_t status = lr_sink_resume(f->sinks[i], size);
    return status == REC_OK && i + 1 < f->count ? rec_sink_close(f->sinks[i]) : status;
}

static int32_t fill_all(filled *f, const lr_parallel *parallel, rec_fill_fn fill, void *user)
{
    uint64_t last = f->asked[f->count - 1].size;
    int32_t status = lr_sink_is_straight(last_of(f)) ? rec_fail(f->job, REC_E_UNSUPPORTED, REC_UNKNOWN,
                                                                "only regular files can be written in parallel")
                                                     : REC_OK;
    for (uint64_t i = 0; i + 1 < f->count && status == REC_OK; i++) {
        status = make_part(f, i);
    }
    if (status == REC_OK && f->count == 1) {
        status = lr_sink_reserve(last_of(f), last);
    }
    status = status == REC_OK ? name_temporaries(f) : status;
    status = status == REC_OK ? fill_files(f, parallel, &last, fill, user) : status;
    for (uint64_t i = 0; i < f->count && status == REC_OK; i++) {
        status = end_file(f, i, i + 1 < f->count ? f->asked[i].size : last);
    }
    return status;
}

/* Room for all of them, and the sink of the last. */
static int32_t begin(filled *f, const char *path, const char *name, bool sync)
{
    const lr_allocator *allocator = f->job->allocator;
    f->files = lr_zalloc(allocator, f->count * sizeof *f->files);
    f->sinks = lr_zalloc(allocator, f->count * sizeof *f->sinks);
    if (!f->files || !f->sinks) {
        return lr_fail_memory(f->job, f->count * (sizeof *f->files + sizeof *f->sinks));
    }
    f->sinks[f->count - 1] = lr_sink_file_as(f->job, path, name, sync);
    return f->job->error.status;
}

static int32_t save_filled(rec_job *job, const char *path, bool sync, const rec_filling *filling, rec_fill_fn fill,
                           void *user)
{
    filled f = {.job = job, .asked = filling->files, .count = filling->count};
    lr_parallel parallel = {.resumes = filling->resume && f.count == 1};
    const rec_file *main = &f.asked[f.count - 1];
    const char *name = main->name ? main->name : lr_own_name(path);
    struct stat there;
    /* Before it is opened, which of a FIFO waits for a reader. */
    if (stat(path, &there) == 0 && !S_ISREG(there.st_mode) && !S_ISDIR(there.st_mode)) {
        return rec_fail(job, REC_E_UNSUPPORTED, REC_UNKNOWN, "only regular files can be written in parallel");
    }
    if (main->name && lr_check_own_name(job, path, REC_E_ARGUMENT, name) != REC_OK) {
        return job->error.status;
    }
    job->parallel = &parallel;
    if (begin(&f, path, name, sync) == REC_OK) {
        (void)fill_all(&f, &parallel, fill, user);
        (void)lr_sink_commit(last_of(&f));
    }
    for (uint64_t i = 0; f.files && i < f.count; i++) {
        lr_release(job->allocator, (void *)(uintptr_t)f.files[i].temporary);
    }
    lr_release(job->allocator, f.files);
    lr_release(job->allocator, (void *)f.sinks);
    job->parallel = NULL;
    return job->error.status;
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
        (void)save_filled(&job, name, recorder->sync, filling, fill, user);
    }
    job.file = NULL;
    lr_release(job.allocator, name);
    return lr_job_end(&job);
}
