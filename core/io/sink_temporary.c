/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Temporary files of saves: their names, their locks, and those that a killed process left behind.
 *
 * A temporary file is locked for as long as it is written. A save that finds another one of the same target tries its
 * lock: it can be had if whoever wrote it was killed, and then the file is removed. The parts of a model in several
 * files have no lock of their own, or each of them would need a descriptor up to the end: they are named after the
 * temporary file of the save's own target, which is made before them and gets its name after them, and count as left
 * behind when that is gone or its lock can be had. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <unistd.h>

#include "core/io/sink_file_private.h"

enum { NAMES_TRIED = 100, RANDOM = 6, PART_DIGITS = 5 };

static const char suffix[] = ".librecord-tmp";

/* A file that is renamed by its plugin keeps to the name that the caller will use again. */
static const char *mark_of(const lr_file_sink *self)
{
    return self->mark ? self->mark : self->base;
}

/* --------------------------------------------------------------------------------------------------------- names -- */

/* `.NAME.XXXXXX.librecord-tmp`, and of a part `.NAME.XXXXXX-00001.librecord-tmp` with the NAME and the letters of the
 * file whose lock it shares. A long name is cut, at a character's boundary, to what the file system allows. */
static size_t name_kept(const char *base)
{
    size_t length = strlen(base);
    size_t most = NAME_MAX - (sizeof suffix - 1) - (1 + PART_DIGITS) - RANDOM - 2;
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
    return (c >= 'a' && c <= 'z') || lr_is_digit(c);
}

/* @return the length of what is in front of the suffix or of the part's number, 0 if it is no temporary file of `base`.
 * @param part (out) whether it is a part's. */
static size_t stem_length(const char *name, const char *base, bool *part)
{
    size_t kept = name_kept(base), stem = kept + 2 + RANDOM;
    const char *tail;
    if (strlen(name) < stem || name[0] != '.' || memcmp(name + 1, base, kept) != 0 || name[kept + 1] != '.') {
        return 0;
    }
    for (size_t i = 0; i < RANDOM; i++) {
        if (!is_random(name[kept + 2 + i])) {
            return 0;
        }
    }
    tail = name + stem;
    *part = tail[0] == '-';
    if (*part) {
        if (strspn(tail + 1, "0123456789") != PART_DIGITS) {
            return 0;
        }
        tail += 1 + PART_DIGITS;
    }
    return strcmp(tail, suffix) == 0 ? stem : 0;
}

static bool make_name(lr_file_sink *self)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz012345"; /* 32 of them, so that none is more likely */
    unsigned char random[RANDOM];
    size_t kept = name_kept(mark_of(self));
    char *at = self->temporary;
    if (self->lead) {
        size_t stem = strlen(self->lead->temporary) - (sizeof suffix - 1);
        memcpy(at, self->lead->temporary, stem);
        (void)snprintf(at + stem, sizeof self->temporary - stem, "-%0*u%s", PART_DIGITS, (unsigned)self->part, suffix);
        return true;
    }
    if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random) {
        return false;
    }
    *at++ = '.';
    memcpy(at, mark_of(self), kept);
    at += kept;
    *at++ = '.';
    for (size_t i = 0; i < RANDOM; i++) {
        *at++ = letters[random[i] % (sizeof letters - 1)];
    }
    memcpy(at, suffix, sizeof suffix);
    return true;
}

/* ------------------------------------------------------------------------------------------------------ sweeping -- */

static bool is_same(int folder, const char *name, const struct stat *info)
{
    struct stat there;
    return fstatat(folder, name, &there, AT_SYMLINK_NOFOLLOW) == 0 && there.st_dev == info->st_dev &&
           there.st_ino == info->st_ino;
}

/* Locks a temporary file that nobody is writing. With the lock held the name cannot come to mean another file: its
 * writer, who alone may rename it, is gone. @return a descriptor; -1 with ENOENT: it is not there, else: leave it. */
static int lock_stale(int folder, const char *name)
{
    enum { MODE = O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY };
    struct stat info;
    int fd = openat(folder, name, O_RDWR | MODE); /* locks of NFS want it open for writing */
    if (fd < 0 && errno == EACCES) {
        fd = openat(folder, name, O_RDONLY | MODE);
    }
    if (fd < 0) {
        return -1;
    }
    if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && flock(fd, LOCK_EX | LOCK_NB) == 0 &&
        is_same(folder, name, &info)) {
        return fd;
    }
    (void)close(fd);
    errno = EWOULDBLOCK;
    return -1;
}

static void sweep_one(int folder, const char *name, size_t stem, bool part)
{
    char locked[NAME_MAX + 1]; /* the file whose lock counts */
    int fd;
    memcpy(locked, name, stem);
    memcpy(locked + stem, suffix, sizeof suffix);
    fd = lock_stale(folder, locked);
    if (fd >= 0 || (part && errno == ENOENT)) {
        (void)unlinkat(folder, name, 0);
    }
    if (fd >= 0) {
        (void)close(fd);
    }
}

/* What cannot be swept stays for the next save: that is no reason to fail this one. */
void lr_temporary_sweep(const lr_file_sink *self)
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
        bool part;
        size_t stem = stem_length(entry->d_name, mark_of(self), &part);
        if (stem) {
            sweep_one(self->folder, entry->d_name, stem, part);
        }
    }
    (void)closedir(list);
}

/* ------------------------------------------------------------------------------------------------------ making it -- */

/* Locks the new file. Between its making and its locking a sweep may have found it: then it is gone, and another one
 * is made. A file system without locks has no sweeps either. */
static bool lock_own(const lr_file_sink *self, int fd)
{
    struct stat info;
    if (self->lead) {
        return true;
    }
    if (flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        return false;
    }
    return fstat(fd, &info) == 0 && info.st_nlink > 0 && is_same(self->folder, self->temporary, &info);
}

int32_t lr_temporary_create(lr_file_sink *self, int *fd)
{
    static const char hint[] = "A save replaces the file as a whole, and has to write to its folder for that.";
    /* Nobody may read what replaces a private file; a new file gets what the umask leaves. */
    mode_t mode = self->replaces ? 0600 : 0666;
    for (int tries = 0; tries < NAMES_TRIED; tries++) {
        if (!make_name(self)) {
            return lr_file_failed(self, "make up a name for a temporary file", NULL);
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
            return lr_file_failed(self, "make a temporary file in its folder", hint);
        }
    }
    return lr_file_failed(self, "make a temporary file in its folder", hint);
}
