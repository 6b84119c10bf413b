/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Files whose bytes others write: temporary files are made for them, and when they are filled, synced and renamed as
 * those of any save. There may be a thousand: none but the first has a descriptor while they are filled. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/io/sink_file_private.h"

typedef struct filled {
    rec_job *job;
    rec_sink *sink;
    const rec_file *asked;
    rec_file *files; /* as they are told */
    uint64_t count;
} filled;

static rec_sink *sink_at(const filled *f, uint64_t i)
{
    return i + 1 < f->count ? f->sink->beside->sinks[i] : f->sink;
}

/* The lock of what is no part is in its descriptor. */
static void let_go(lr_file_sink *part)
{
    lr_fd_free(&part->out);
    if (part->lead) {
        (void)close(part->out.fd);
        part->out.fd = -1;
    }
}

static int32_t take_up(lr_file_sink *part)
{
    int fd = part->out.fd;
    while (fd < 0 && (fd = openat(part->folder, part->temporary, O_WRONLY | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY)) < 0) {
        if (errno != EINTR) {
            return lr_file_failed(part, "open the temporary file again", NULL);
        }
    }
    return lr_fd_init(&part->out, fd);
}

static int32_t make_part(const filled *f, const rec_file *file)
{
    rec_sink *part = NULL;
    int32_t status = file->stem ? rec_sink_part(f->job, f->sink, file->stem, file->tail, &part)
                                : rec_sink_beside(f->job, f->sink, file->name, &part);
    status = status == REC_OK ? lr_sink_reserve(part, file->size) : status;
    if (status == REC_OK) {
        let_go((lr_file_sink *)part);
    }
    return status;
}

/* Where each is to be written. */
static int32_t name_temporaries(filled *f)
{
    f->files = lr_zalloc(f->job->allocator, f->count * sizeof *f->files);
    if (!f->files) {
        return lr_fail_memory(f->job, f->count * sizeof *f->files);
    }
    for (uint64_t i = 0; i < f->count; i++) {
        const lr_file_sink *sink = (const lr_file_sink *)sink_at(f, i);
        f->files[i] = f->asked[i];
        f->files[i].name = rec_sink_name(&sink->out.sink);
        f->files[i].temporary = lr_path_sibling(f->job, sink->path, false, sink->temporary);
        if (!f->files[i].temporary) {
            break;
        }
    }
    return f->job->error.status;
}

static int32_t fill_files(const filled *f, uint64_t *last, rec_fill_fn fill, void *user)
{
    rec_filling told = {.size = sizeof told,
                        .files = f->files,
                        .count = f->count,
                        .letters = lr_set_own_letters((const lr_file_sink *)f->sink),
                        .last_size = *last,
                        .resume = f->job->resumes,
                        .keep = ((const lr_file_sink *)f->sink)->keeps};
    lr_call call;
    int32_t error;
    lr_call_begin(&call, f->job, LR_CALL_PROGRAM, NULL);
    error = fill(user, &told);
    lr_call_end(&call);
    *last = told.last_size;
    ((lr_file_sink *)f->sink)->keeps = f->job->resumes && told.keep != 0;
    return lr_io_program(f->job, f->sink->name, REC_UNKNOWN, error, "write", false);
}

static int32_t check(lr_file_sink *self, uint64_t size)
{
    struct stat is;
    if (fstat(self->out.fd, &is) != 0) {
        return lr_file_failed(self, "look at the temporary file", NULL);
    }
    if (is.st_nlink == 0 || (uint64_t)is.st_size != size) {
        char have[32], want[32];
        return lr_io_fail(self->out.sink.job, self->name, REC_E_IO, REC_UNKNOWN, NULL,
                          "the temporary file has %s bytes of %s%s",
                          lr_group_digits((uint64_t)is.st_size, have, sizeof have),
                          lr_group_digits(size, want, sizeof want), is.st_nlink ? "" : ", and was removed");
    }
    self->out.flushed = size;
    self->out.sink.written = self->out.sink.all = size;
    return REC_OK;
}

static int32_t end_file(filled *f, uint64_t i, uint64_t size)
{
    lr_file_sink *sink = (lr_file_sink *)sink_at(f, i);
    int32_t status = i + 1 < f->count ? take_up(sink) : REC_OK;
    status = status == REC_OK ? check(sink, size) : status;
    return status == REC_OK && i + 1 < f->count ? lr_sink_finish(&sink->out.sink) : status;
}

int32_t lr_save_filled(rec_job *job, const char *path, bool sync, const rec_filling *filling, rec_fill_fn fill,
                       void *user)
{
    filled f = {.job = job, .asked = filling->files, .count = filling->count};
    const rec_file *main = &f.asked[f.count - 1];
    const char *name = main->name ? main->name : lr_own_name(path);
    uint64_t last = main->size;
    struct stat there;
    int32_t status = REC_OK;
    /* Before it is opened, which of a FIFO waits for a reader. */
    if (stat(path, &there) == 0 && !S_ISREG(there.st_mode) && !S_ISDIR(there.st_mode)) {
        return rec_fail(job, REC_E_UNSUPPORTED, REC_UNKNOWN, "what is no regular file cannot be written by several");
    }
    if (main->name && lr_check_own_name(job, path, REC_E_ARGUMENT, name) != REC_OK) {
        return job->error.status;
    }
    job->resumes = filling->resume && f.count == 1;
    f.sink = lr_sink_file_as(job, path, name, sync);
    if (!f.sink) {
        return job->error.status;
    }
    if (((lr_file_sink *)f.sink)->straight) {
        status = lr_io_fail(job, f.sink->name, REC_E_UNSUPPORTED, REC_UNKNOWN, NULL,
                            "what is no regular file cannot be written by several");
    }
    for (uint64_t i = 0; i + 1 < f.count && status == REC_OK; i++) {
        status = make_part(&f, &f.asked[i]);
    }
    if (status == REC_OK && f.count == 1) {
        status = lr_sink_reserve(f.sink, last);
    }
    status = status == REC_OK ? name_temporaries(&f) : status;
    status = status == REC_OK ? fill_files(&f, &last, fill, user) : status;
    for (uint64_t i = 0; i < f.count && status == REC_OK; i++) {
        status = end_file(&f, i, i + 1 < f.count ? f.asked[i].size : last);
    }
    for (uint64_t i = 0; f.files && i < f.count; i++) {
        lr_release(job->allocator, (void *)(uintptr_t)f.files[i].temporary);
    }
    lr_release(job->allocator, f.files);
    return lr_sink_commit(f.sink);
}
