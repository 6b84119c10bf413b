/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The atomic file sink: a temporary file beside the target is written, synced and renamed, so that whatever happens on
 * the way the old file stays whole.
 *
 * The temporary file is locked for as long as it is written. A save that finds another one of the same target tries
 * its lock: it can be had if whoever wrote it was killed, and then the file is removed. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io_private.h"

/* As many as the kernel follows. */
enum { LINKS_MOST = 40, NAMES_TRIED = 100, LOOKS = 100, RANDOM = 6 };

static const char suffix[] = ".librecord-tmp";

struct file_sink {
    lr_fd_sink out;
    bool sync;
    bool straight; /* a FIFO or a device: neither temporary file nor rename */
    bool replaces; /* there is an old file, and `old` says what it is */
    bool linked;   /* the temporary file is there and has to go */
    struct stat old;
    int folder;        /* everything is done relative to it: it may be renamed meanwhile */
    char *path;        /* the target behind all links */
    const char *base;  /* its last part */
    uint64_t reserved; /* bytes that the file was made long beforehand */
    char temporary[NAME_MAX + 1];
    char name[]; /* as the caller wrote it */
};

static int32_t failed(struct file_sink *self, const char *doing, const char *hint)
{
    return lr_io_errno(self->out.sink.job, self->out.sink.name, REC_UNKNOWN, hint, errno, doing);
}

static int32_t is_folder(struct file_sink *self)
{
    return lr_io_fail(self->out.sink.job, self->out.sink.name, REC_E_IO, REC_UNKNOWN, "Give the name of a file.",
                      "cannot save to a folder");
}

static int32_t has_changed(struct file_sink *self)
{
    return lr_io_fail(self->out.sink.job, self->out.sink.name, REC_E_IO, REC_UNKNOWN, "Try again.",
                      "the file was replaced by something else while it was opened");
}

/* ---------------------------------------------------------------------------------------------------- the target -- */

/* What a link at `path` says, as a path that can be opened from here. */
static char *link_target(rec_job *job, const char *path, const char *link, size_t length)
{
    const char *slash = strrchr(path, '/');
    size_t folder = *link == '/' || !slash ? 0 : (size_t)(slash - path) + 1;
    char *target = lr_alloc(job->allocator, folder + length + 1);
    if (!target) {
        (void)lr_fail_memory(job, folder + length + 1);
        return NULL;
    }
    memcpy(target, path, folder);
    memcpy(target + folder, link, length);
    target[folder + length] = '\0';
    return target;
}

/* Finds the file behind the path, which need not exist: a link to nothing is where it is to be made. */
static int32_t follow(struct file_sink *self)
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
            return failed(self, "follow the symbolic link", NULL);
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

static int32_t open_folder(struct file_sink *self)
{
    static const char hint[] = "Make the folder first; missing ones are not made.";
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
    return self->folder < 0 ? failed(self, "open its folder", error == ENOENT ? hint : NULL) : REC_OK;
}

/* Looks at what is in the target's place. That must be what the caller's path leads to: links of /proc/self/fd may say
 * something else. Other saves may replace it between the two looks, so they are taken more than once. */
static int32_t look_at_target(struct file_sink *self)
{
    for (int tries = 0; tries < LOOKS; tries++) {
        struct stat behind;
        bool before = stat(self->name, &behind) == 0;
        bool there =
            (before || errno == ENOENT) && fstatat(self->folder, self->base, &self->old, AT_SYMLINK_NOFOLLOW) == 0;
        if (!there && errno != ENOENT) {
            return failed(self, "look at the file", NULL);
        }
        if (there && S_ISDIR(self->old.st_mode)) {
            return is_folder(self);
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
        return has_changed(self);
    }
    if (faccessat(self->folder, self->base, W_OK, AT_EACCESS) != 0 && errno != ENOENT) {
        return failed(self, "write to the file",
                      "A rename could replace it, but it is protected: make it writable first.");
    }
    return REC_OK;
}

/* ----------------------------------------------------------------------------------------------- temporary files -- */

/* `.NAME.XXXXXX.librecord-tmp`. A long name is cut, at a character's boundary, to what the file system allows. */
static size_t name_kept(const char *base)
{
    size_t length = strlen(base);
    size_t most = NAME_MAX - (sizeof suffix - 1) - RANDOM - 2;
    if (length > most) {
        length = most;
        while (length > 0 && ((unsigned char)base[length] & 0xC0) == 0x80) {
            length--;
        }
    }
    return length;
}

static bool is_random(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

static bool is_temporary_of(const char *name, const char *base)
{
    size_t kept = name_kept(base);
    if (strlen(name) != kept + RANDOM + 2 + sizeof suffix - 1 || name[0] != '.' || memcmp(name + 1, base, kept) != 0 ||
        name[kept + 1] != '.' || strcmp(name + kept + 2 + RANDOM, suffix) != 0) {
        return false;
    }
    for (size_t i = 0; i < RANDOM; i++) {
        if (!is_random(name[kept + 2 + i])) {
            return false;
        }
    }
    return true;
}

static bool is_same(int folder, const char *name, const struct stat *info)
{
    struct stat there;
    return fstatat(folder, name, &there, AT_SYMLINK_NOFOLLOW) == 0 && there.st_dev == info->st_dev &&
           there.st_ino == info->st_ino;
}

/* Removes a temporary file that nobody is writing. With the lock held the name cannot come to mean another file: its
 * writer, who alone may rename it, is gone. */
static void sweep_one(int folder, const char *name)
{
    enum { MODE = O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY };
    struct stat info;
    int fd = openat(folder, name, O_RDWR | MODE); /* locks of NFS want it open for writing */
    if (fd < 0 && errno == EACCES) {
        fd = openat(folder, name, O_RDONLY | MODE);
    }
    if (fd < 0) {
        return;
    }
    if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && flock(fd, LOCK_EX | LOCK_NB) == 0 &&
        is_same(folder, name, &info)) {
        (void)unlinkat(folder, name, 0);
    }
    (void)close(fd);
}

/* What cannot be swept stays for the next save: that is no reason to fail this one. */
static void sweep(const struct file_sink *self)
{
    int fd = openat(self->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *list = fd >= 0 ? fdopendir(fd) : NULL;
    struct dirent *entry;
    if (!list) {
        if (fd >= 0) {
            (void)close(fd);
        }
        return;
    }
    while ((entry = readdir(list))) {
        if (is_temporary_of(entry->d_name, self->base)) {
            sweep_one(self->folder, entry->d_name);
        }
    }
    (void)closedir(list);
}

static bool make_name(struct file_sink *self)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz012345"; /* 32 of them, so that none is more likely */
    unsigned char random[RANDOM];
    size_t kept = name_kept(self->base);
    char *at = self->temporary;
    if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random) {
        return false;
    }
    *at++ = '.';
    memcpy(at, self->base, kept);
    at += kept;
    *at++ = '.';
    for (size_t i = 0; i < RANDOM; i++) {
        *at++ = letters[random[i] % (sizeof letters - 1)];
    }
    memcpy(at, suffix, sizeof suffix);
    return true;
}

/* Locks the new file. Between its making and its locking a sweep may have found it: then it is gone, and another one
 * is made. A file system without locks has no sweeps either. */
static bool lock_own(const struct file_sink *self, int fd)
{
    struct stat info;
    if (flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        return false;
    }
    return fstat(fd, &info) == 0 && info.st_nlink > 0 && is_same(self->folder, self->temporary, &info);
}

static int32_t create_temporary(struct file_sink *self, int *fd)
{
    static const char hint[] = "A save replaces the file as a whole, and has to write to its folder for that.";
    /* Nobody may read what replaces a private file; a new file gets what the umask leaves. */
    mode_t mode = self->replaces ? 0600 : 0666;
    for (int tries = 0; tries < NAMES_TRIED; tries++) {
        if (!make_name(self)) {
            return failed(self, "make up a name for a temporary file", NULL);
        }
        *fd = openat(self->folder, self->temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
        if (*fd >= 0 && lock_own(self, *fd)) {
            self->linked = true;
            return REC_OK;
        }
        if (*fd >= 0) {
            (void)unlinkat(self->folder, self->temporary, 0);
            (void)close(*fd);
            *fd = -1;
            errno = EAGAIN;
        } else if (errno != EEXIST && errno != EINTR) {
            return failed(self, "make a temporary file in its folder", hint);
        }
    }
    return failed(self, "make a temporary file in its folder", hint);
}

/* ----------------------------------------------------------------------------------------------- the sink itself -- */

static int32_t file_reserve(rec_sink *sink, uint64_t size)
{
    struct file_sink *self = (struct file_sink *)sink;
    int32_t status = REC_OK;
    if (self->straight) {
        return REC_OK;
    }
    if (size > INT64_MAX) {
        return lr_fd_errno(&self->out, REC_UNKNOWN, EFBIG, "reserve space for the file");
    }
    while (status == REC_OK) {
        if (fallocate(self->out.fd, 0, 0, (off_t)size) == 0) {
            self->reserved = size;
            return REC_OK;
        }
        if (errno == EINTR) {
            status = lr_io_interrupted(sink->job);
        } else if (errno == ENOSPC || errno == EDQUOT || errno == EFBIG) {
            status = lr_fd_errno(&self->out, REC_UNKNOWN, errno, "reserve space for the file");
        } else {
            return REC_OK; /* a file system that cannot: writing will tell */
        }
    }
    return status;
}

/* The old file's owner and mode. Who may not give files away keeps the file; its group must then not get rights that
 * were the old group's, nor may it run with another's rights. */
static int32_t keep_attributes(struct file_sink *self)
{
    mode_t mode = self->old.st_mode & 07777;
    struct stat info;
    if (fstat(self->out.fd, &info) != 0) {
        return failed(self, "look at the temporary file", NULL);
    }
    if (info.st_gid != self->old.st_gid && fchown(self->out.fd, (uid_t)-1, self->old.st_gid) != 0) {
        mode = (mode & ~(mode_t)(S_ISGID | S_IRWXG)) | ((mode & S_IRWXO) << 3);
    }
    if (info.st_uid != self->old.st_uid && fchown(self->out.fd, self->old.st_uid, (gid_t)-1) != 0) {
        mode &= ~(mode_t)(S_ISUID | S_ISGID);
    }
    return fchmod(self->out.fd, mode) != 0 ? failed(self, "give the new file the old one's mode", NULL) : REC_OK;
}

static int sync_fd(int fd)
{
    int result;
    do {
        result = fsync(fd);
    } while (result != 0 && errno == EINTR);
    return result;
}

/* Some file systems tell of a failed write when the file is closed. The file itself must stay open, as closing it
 * gives up the lock; a copy of the descriptor does as well. */
static int close_copy(int fd)
{
    int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    return copy < 0 ? sync_fd(fd) : close(copy);
}

static int32_t replace_target(struct file_sink *self)
{
    if (renameat(self->folder, self->temporary, self->folder, self->base) != 0) {
        return failed(self, "rename the temporary file to the file's name", NULL);
    }
    self->linked = false;
    /* EINVAL and EBADF: a folder that cannot be synced, by its file system or because it may not be listed. */
    if (self->sync && sync_fd(self->folder) != 0 && errno != EINVAL && errno != EBADF) {
        return failed(self, "sync its folder", "The file itself is written; a crash of the system may still undo it.");
    }
    return REC_OK;
}

static int32_t file_commit(rec_sink *sink)
{
    struct file_sink *self = (struct file_sink *)sink;
    int fd = self->out.fd;
    int32_t status = lr_fd_flush(&self->out);
    if (status != REC_OK) {
        return status;
    }
    if (self->straight) {
        self->out.fd = -1;
        return close(fd) != 0 && errno != EINTR ? failed(self, "close", NULL) : REC_OK;
    }
    if (self->reserved > self->out.flushed && ftruncate(fd, (off_t)self->out.flushed) != 0) {
        return failed(self, "cut the file to its size", NULL);
    }
    if (self->replaces) {
        status = keep_attributes(self);
    }
    if (status == REC_OK && (self->sync ? sync_fd(fd) : close_copy(fd)) != 0) {
        status = lr_fd_errno(&self->out, REC_UNKNOWN, errno, self->sync ? "sync the file" : "write");
    }
    return status == REC_OK ? replace_target(self) : status;
}

static void file_release(rec_sink *sink)
{
    struct file_sink *self = (struct file_sink *)sink;
    lr_fd_free(&self->out);
    if (self->linked) {
        (void)unlinkat(self->folder, self->temporary, 0);
    }
    if (self->out.fd >= 0) {
        (void)close(self->out.fd);
    }
    if (self->folder >= 0) {
        (void)close(self->folder);
    }
    lr_release(sink->job->allocator, self->path);
}

static const lr_sink_ops file_ops = {
    .write = lr_fd_write,
    .view = lr_fd_view,
    .space = lr_fd_space,
    .filled = lr_fd_filled,
    .reserve = file_reserve,
    .commit = file_commit,
    .release = file_release,
};

static int32_t open_straight(struct file_sink *self, int *fd)
{
    struct stat info;
    int32_t status = REC_OK;
    self->straight = true;
    while (*fd < 0 && status == REC_OK) {
        *fd = open(self->name, O_WRONLY | O_CLOEXEC | O_NOCTTY); /* of a FIFO: waits for a reader */
        if (*fd < 0 && errno == EINTR) {
            status = lr_io_interrupted(self->out.sink.job);
        } else if (*fd < 0) {
            status = failed(self, "open the file", NULL);
        }
    }
    if (status == REC_OK && (fstat(*fd, &info) != 0 || S_ISREG(info.st_mode))) {
        status = has_changed(self);
    }
    return status;
}

static int32_t open_atomic(struct file_sink *self, int *fd)
{
    int32_t status = follow(self);
    if (status == REC_OK) {
        status = open_folder(self);
    }
    if (status == REC_OK && !*self->base) {
        status = is_folder(self);
    }
    if (status == REC_OK) {
        status = look_at_target(self);
    }
    if (status == REC_OK) {
        sweep(self); /* first, so that the space of what is stale can be used */
        status = create_temporary(self, fd);
        self->out.temporary = true;
    }
    return status;
}

rec_sink *lr_sink_file(rec_job *job, const char *path, bool sync)
{
    size_t length = strlen(path) + 1;
    struct file_sink *self = lr_sink_new(job, &file_ops, sizeof *self + length);
    struct stat there;
    bool exists;
    int fd = -1;
    int32_t status;
    if (!self) {
        return NULL;
    }
    memcpy(self->name, path, length);
    self->out.sink.name = self->name;
    self->out.fd = -1;
    self->folder = -1;
    self->sync = sync;
    exists = stat(path, &there) == 0;
    if (!exists && errno != ENOENT) {
        status = failed(self, "look at the file", NULL);
    } else if (exists && S_ISDIR(there.st_mode)) {
        status = is_folder(self);
    } else if (exists && !S_ISREG(there.st_mode)) {
        status = open_straight(self, &fd);
    } else {
        status = open_atomic(self, &fd);
    }
    self->out.fd = fd;
    if (status == REC_OK) {
        status = lr_fd_init(&self->out, fd);
    }
    if (status != REC_OK) {
        (void)lr_sink_commit(&self->out.sink); /* the job has failed: this only undoes and frees */
        self = NULL;
    }
    return self ? &self->out.sink : NULL;
}
