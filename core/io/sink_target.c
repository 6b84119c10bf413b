/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What a saved file takes the place of: the file behind all links, its folder, its owner and mode; and how it fails. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "core/io/sink_file_private.h"

/* As many as the kernel follows. */
enum { LINKS_MOST = 40, LOOKS = 100 };

int32_t lr_file_failed(lr_file_sink *self, const char *doing, const char *hint)
{
    return lr_io_errno(self->out.sink.job, self->out.sink.name, REC_UNKNOWN, hint, errno, doing);
}

int32_t lr_file_is_folder(lr_file_sink *self)
{
    return lr_io_fail(self->out.sink.job, self->out.sink.name, REC_E_IO, REC_UNKNOWN, "Give the name of a file.",
                      "cannot save to a directory");
}

int32_t lr_file_has_changed(lr_file_sink *self)
{
    return lr_io_fail(self->out.sink.job, self->out.sink.name, REC_E_IO, REC_UNKNOWN, "Try again.",
                      "the file was replaced by something else while it was opened");
}

/* What a link at `path` says, as a path that can be opened from here. */
static char *link_target(rec_job *job, const char *path, const char *link, size_t length)
{
    const char *slash = strrchr(path, '/');
    size_t folder = *link == '/' || !slash ? 0 : (size_t)(slash - path) + 1;
    char *target = lr_job_alloc(job, folder + length + 1);
    if (!target) {
        return NULL;
    }
    memcpy(target, path, folder);
    memcpy(target + folder, link, length);
    target[folder + length] = '\0';
    return target;
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
            errno = length < 0 ? errno : links == LINKS_MOST ? ELOOP : ENAMETOOLONG;
            return lr_file_failed(self, "follow the symbolic link", NULL);
        }
        target = link_target(job, self->path, link, (size_t)length);
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
    errno = error;
    return self->folder < 0 ? lr_file_failed(self, "open its directory", error == ENOENT ? hint : NULL) : REC_OK;
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
            return lr_file_failed(self, "inspect the file", NULL);
        }
        if (there && S_ISDIR(self->old.st_mode)) {
            return lr_file_is_folder(self);
        }
        if (!there && !before) {
            return REC_OK;
        }
        if (there && before && S_ISREG(self->old.st_mode) && behind.st_dev == self->old.st_dev &&
            behind.st_ino == self->old.st_ino) {
            self->replaces = true;
            break;
        }
    }
    if (!self->replaces) {
        return lr_file_has_changed(self);
    }
    if (faccessat(self->folder, self->base, W_OK, AT_EACCESS) != 0 && errno != ENOENT) {
        return lr_file_failed(self, "write to the file",
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
        status = lr_file_failed(self, "inspect its directory", NULL);
    }
    if (status == REC_OK && !*self->base) {
        status = lr_file_is_folder(self);
    }
    if (status == REC_OK) {
        status = look_at_target(self);
    }
    return status;
}

/* Keeps owner and mode of the old file. Without permission to change the owner, the caller becomes the owner, and the
 * group must not gain rights of the old group, nor the members of the old group those of the others. Set-ID bits vouch
 * for the old bytes and are cleared, as the system clears them on writes. */
int32_t lr_target_keep_attributes(lr_file_sink *self)
{
    mode_t mode = self->old.st_mode & 01777;
    bool another_group;
    struct stat info;
    if (fstat(self->out.fd, &info) != 0) {
        return lr_file_failed(self, "inspect the temporary file", NULL);
    }
    another_group = info.st_gid != self->old.st_gid && fchown(self->out.fd, (uid_t)-1, self->old.st_gid) != 0;
    if (another_group) {
        lr_access_drop(self, self->out.fd);
    }
    if (!self->listed) {
        mode &= self->access.plain | S_ISVTX;
    }
    if (another_group) {
        mode_t everyone = mode >> 3 & mode & S_IRWXO;
        mode = (mode & ~(mode_t)(S_IRWXG | S_IRWXO)) | everyone << 3 | everyone;
    }
    if (info.st_uid != self->old.st_uid) {
        (void)!fchown(self->out.fd, self->old.st_uid, (gid_t)-1);
    }
    if (fchmod(self->out.fd, mode) != 0) {
        return lr_file_failed(self, "give the new file the old one's mode", NULL);
    }
    if (*self->access.lost) {
        lr_note(self->out.sink.job, REC_NOTE_DROPPED, 1, "",
                "%s: %s: its mode, %03o, grants nobody more than the old one", self->name, self->access.lost,
                (unsigned)mode & 0777);
    }
    return REC_OK;
}
