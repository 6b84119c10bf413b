/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Temporary files of saves: new ones, or what an earlier save left to be resumed. */
#include <errno.h>
#include <unistd.h>

#include "core/io/sink_file_private.h"

/* What an earlier save left is to be taken up. */
static bool resumes(const lr_file_sink *self)
{
    const lr_parallel *parallel = self->out.sink.job->parallel;
    return parallel && parallel->resumes;
}

static const char hint[] = "Make its directory writable: a save creates the new file there.";

/* Rejects a file that another user made, or that has another name too: its owner could change the model later, and
 * whoever chose the other name has the save write over that file. */
static int32_t judge_kept(lr_file_sink *self, const struct stat *info)
{
    static const char remove_it[] = "Remove it if you do not know it, and try again.";
    if (!S_ISREG(info->st_mode)) {
        return lr_io_fail(self->out.sink.job, self->name, REC_E_IO, REC_UNKNOWN, NULL,
                          "the partial output of an earlier save, %s, is not a regular file", self->made.name);
    }
    if (info->st_uid != geteuid()) {
        return lr_io_fail(self->out.sink.job, self->name, REC_E_IO, REC_UNKNOWN, remove_it,
                          "cannot resume with %s: it belongs to another user (%lu)", self->made.name,
                          (unsigned long)info->st_uid);
    }
    if (info->st_nlink != 1) {
        return lr_io_fail(self->out.sink.job, self->name, REC_E_IO, REC_UNKNOWN, remove_it,
                          "cannot resume with %s: it is a hard link to another file", self->made.name);
    }
    return REC_OK;
}

/* The one that a save before this one left, or a new one. */
static int32_t take_up(lr_file_sink *self, mode_t mode, int *fd)
{
    int error = lr_temporary_create_kept(self->folder, lr_target_mark(self), mode, &self->made, fd);
    struct stat info;
    int32_t status;
    if (error) {
        return lr_target_failed(self, error, "open the partial output of an earlier save", hint);
    }
    if (fstat(*fd, &info) != 0) {
        return lr_target_failed(self, errno, "inspect the partial output of an earlier save", NULL);
    }
    status = judge_kept(self, &info);
    if (status != REC_OK) {
        return status;
    }
    if (!lr_temporary_lock(self->folder, self->made.name, *fd)) {
        return lr_io_fail(self->out.sink.job, self->name, REC_E_IO, REC_UNKNOWN, NULL,
                          "another process resumes the partial output of an earlier save,  %s", self->made.name);
    }
    self->linked = true;
    self->keeps = info.st_size > 0;
    return REC_OK;
}

int32_t lr_target_begin(lr_file_sink *self, int *fd)
{
    /* Nobody may read what replaces a private file; a new file gets what the umask leaves. */
    mode_t mode = self->replaces ? 0600 : 0666;
    int error;
    if (resumes(self) && !self->lead) {
        return take_up(self, mode, fd);
    }
    error = self->lead ? lr_temporary_create_part(self->folder, &self->lead->made, self->part, mode, &self->made, fd)
                       : lr_temporary_create(self->folder, lr_target_mark(self), mode, &self->made, fd);
    self->linked = !error;
    return error ? lr_target_failed(self, error, "make a temporary file in its directory", hint) : REC_OK;
}

void lr_target_sweep(const lr_file_sink *self)
{
    lr_temporary_sweep(self->folder, lr_target_mark(self), !resumes(self));
}
