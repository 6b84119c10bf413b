/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What a saved file takes the place of: the file behind all links, its folder, its owner and mode; how it fails; and
 * its temporary file, a new one or what an earlier save left to be resumed. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "core/io/sink_file_private.h"

/* As many as the kernel follows. */
enum { LINKS_MOST = 40, LOOKS = 100 };

int32_t lr_target_failed(lr_file_sink *self, int error, const char *doing, const char *hint)
{
    return lr_io_errno(self->out.sink.job, self->out.sink.name, REC_UNKNOWN, hint, error, doing);
}

int32_t lr_target_is_folder(lr_file_sink *self)
{
    return lr_io_fail(self->out.sink.job, self->out.sink.name, REC_E_IO, REC_UNKNOWN, "Give the name of a file.",
                      "cannot save to a directory");
}

int32_t lr_target_has_changed(lr_file_sink *self)
{
    return lr_io_fail(self->out.sink.job, self->out.sink.name, REC_E_IO, REC_UNKNOWN, "Try again.",
                      "the file was replaced by something else while it was opened");
}

/* Resolves the path to a file, which may not exist yet: a dangling link names the file to create. */
static int32_t follow(lr_file_sink *self)
{
    rec_job *job = self->out.sink.job;
    char link[PATH_MAX];
    struct stat info;
    self->path = lr_strdup(job->allocator, self->name);
    if (!self->path) {
        return lr_fail_memory(job, strlen(self->name));
    }
    for (int links = 0; lstat(self->path, &info) == 0 && S_ISLNK(info.st_mode); links++) {
        ssize_t length = readlink(self->path, link, sizeof link);
        char *target;
        if (length < 0 || length == (ssize_t)sizeof link || links == LINKS_MOST) {
            int error = length < 0 ? errno : links == LINKS_MOST ? ELOOP : ENAMETOOLONG;
            return lr_target_failed(self, error, "follow the symbolic link", NULL);
        }
        link[length] = '\0';
        target = *link == '/' ? lr_job_strdup(job, link) : lr_path_sibling(job, self->path, false, link);
        if (!target) {
            return job->error.status;
        }
        lr_release(job->allocator, self->path);
        self->path = target;
    }
    return REC_OK; /* whatever else is wrong with it shows when its folder is opened */
}

static int32_t open_folder(lr_file_sink *self)
{
    static const char hint[] = "Create the directory first.";
    char *slash = strrchr(self->path, '/');
    const char *folder = !slash ? "." : slash == self->path ? "/" : self->path;
    int error;
    if (slash && slash != self->path) {
        *slash = '\0'; /* for as long as the folder is opened */
    }
    self->folder = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (self->folder < 0 && errno == EACCES) {
        /* A folder that may be written but not listed: files can be replaced in it, but it can be neither swept nor
         * synced. */
        self->folder = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    }
    error = errno;
    if (slash && slash != self->path) {
        *slash = '/';
    }
    self->base = slash ? slash + 1 : self->path;
    return self->folder < 0 ? lr_target_failed(self, error, "open its directory", error == ENOENT ? hint : NULL)
                            : REC_OK;
}

/* Looks at what is in the target's place. That must be what the caller's path leads to: links of /proc/self/fd may say
 * something else. Other saves may replace it between the two looks, so they are taken more than once. */
static int32_t look_at_target(lr_file_sink *self)
{
    for (int tries = 0; tries < LOOKS; tries++) {
        struct stat behind;
        bool before = stat(self->name, &behind) == 0;
        bool there =
            (before || errno == ENOENT) && fstatat(self->folder, self->base, &self->old, AT_SYMLINK_NOFOLLOW) == 0;
        if (!there && errno != ENOENT) {
            return lr_target_failed(self, errno, "inspect the file", NULL);
        }
        if (there && S_ISDIR(self->old.st_mode)) {
            return lr_target_is_folder(self);
        }
        if (!there && !before) {
            return REC_OK;
        }
        if (there && before && S_ISREG(self->old.st_mode) && lr_file_same(&behind, &self->old)) {
            self->replaces = true;
            break;
        }
    }
    if (!self->replaces) {
        return lr_target_has_changed(self);
    }
    if (faccessat(self->folder, self->base, W_OK, AT_EACCESS) != 0 && errno != ENOENT) {
        return lr_target_failed(self, errno, "write to the file",
                                "A rename could replace it, but it is protected: make it writable first.");
    }
    return REC_OK;
}

int32_t lr_target_open(lr_file_sink *self)
{
    int32_t status = follow(self);
    if (status == REC_OK) {
        status = open_folder(self);
    }
    if (status == REC_OK && fstat(self->folder, &self->where) != 0) {
        status = lr_target_failed(self, errno, "inspect its directory", NULL);
    }
    if (status == REC_OK && !*self->base) {
        status = lr_target_is_folder(self);
    }
    if (status == REC_OK) {
        status = look_at_target(self);
    }
    return status;
}

/* ----------------------------------------------------------------------------------------------- access rights -- */

static int32_t note_attributes(const lr_file_sink *self, const lr_attribute_loss *lost)
{
    char text[64];
    const char *words = lr_system_words(lost->error, text, sizeof text);
    if (lost->error && !lost->count) {
        lr_note(self->out.sink.job, REC_NOTE_DROPPED, 1, "",
                "%s: lost the extended attributes of the file it replaces (%s)", self->name, words);
    } else if (lost->count) {
        lr_note(self->out.sink.job, REC_NOTE_DROPPED, lost->count, "",
                "%s: lost %llu extended attribute%s of the file it replaces, %s%s (%s)", self->name,
                (unsigned long long)lost->count, lost->count == 1 ? "" : "s", lost->name,
                lost->count == 1 ? "" : " first", words);
    }
    return self->out.sink.job->error.status;
}

int32_t lr_target_keep_access(lr_file_sink *self, int fd, const lr_access *of_set)
{
    lr_attribute_loss lost = {.count = 0};
    int error = of_set ? lr_access_give(fd, of_set, &self->access)
                       : lr_access_copy(self->folder, self->base, fd, &self->old, &self->access, &lost);
    return error ? lr_target_failed(self, error, "keep the access rights of the file it replaces", NULL)
                 : note_attributes(self, &lost);
}

static void note_access(const lr_file_sink *self, mode_t mode)
{
    static const char *const lost[] = {
        [LR_ACCESS_LOST] = "lost the access control list of the file it replaces",
        [LR_ACCESS_DIFFERS] = "lost the access control list of the files it replaces",
        [LR_ACCESS_GROUP] = "lost the access control list of the file it replaces",
        [LR_ACCESS_DEFAULT] = "cannot remove the access control list that its directory gave it",
    };
    char text[64];
    const char *why = self->access.loss == LR_ACCESS_DIFFERS ? "theirs differ"
                      : self->access.loss == LR_ACCESS_GROUP ? "the file has another group"
                                                             : lr_system_words(self->access.error, text, sizeof text);
    lr_note(self->out.sink.job, REC_NOTE_DROPPED, 1, "",
            "%s: %s (%s): its mode, %03o, grants nobody more than the old one", self->name, lost[self->access.loss],
            why, (unsigned)mode & 0777);
}

int32_t lr_target_keep_attributes(lr_file_sink *self)
{
    struct stat info;
    mode_t mode;
    int error;
    if (fstat(self->out.fd, &info) != 0) {
        return lr_target_failed(self, errno, "inspect the temporary file", NULL);
    }
    error = lr_access_settle(self->out.fd, &info, &self->old, &self->access, &mode);
    if (error) {
        return lr_target_failed(self, error, "give the new file the old one's mode", NULL);
    }
    if (self->access.loss) {
        note_access(self, mode);
    }
    return REC_OK;
}

/* ------------------------------------------------------------------------------------------------ temporary files --
 */

/* What an earlier save left is to be taken up. */
static bool resumes(const lr_file_sink *self)
{
    const lr_parallel *parallel = self->out.sink.job->parallel;
    return parallel && parallel->resumes;
}

static const char writable[] = "Make its directory writable: a save creates the new file there.";

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
        return lr_target_failed(self, error, "open the partial output of an earlier save", writable);
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
    return error ? lr_target_failed(self, error, "make a temporary file in its directory", writable) : REC_OK;
}

void lr_target_sweep(const lr_file_sink *self)
{
    lr_temporary_sweep(self->folder, lr_target_mark(self), !resumes(self));
}
