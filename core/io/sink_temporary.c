/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Temporary files of saves: names, locks, and removal after a killed process. A temporary file is locked while it is
 * written. A save that finds another one of the same target tries its lock; if that succeeds the writer is dead, and
 * the file is removed. Parts of a model have no lock, which would need a descriptor each until the end: their names
 * contain the name of the main temporary file, which is made before them and renamed after them. They are stale when
 * that file is missing or not locked. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <unistd.h>

#include "core/io/sink_file_private.h"

enum { NAMES_TRIED = 100, RANDOM = LR_LETTERS, PART_DIGITS = 5 };

/* Both have the same length. A stale set needs more than removal: the next save reads it first. */
static const char suffix[] = ".librecord-tmp", suffix_of_sets[] = ".librecord-set";
/* Of a save that can be resumed: `.NAME.librecord-resume`, one per target. */
static const char suffix_of_kept[] = ".librecord-resume";

/* ------------------------------------------------------------------------------------------------------- names -- */

bool lr_are_letters(const char *text)
{
    size_t i = 0;
    while (i < LR_LETTERS && ((text[i] >= 'a' && text[i] <= 'z') || lr_is_digit(text[i]))) {
        i++;
    }
    return i == LR_LETTERS;
}

/* `.NAME.XXXXXX.librecord-tmp`, and of a part `.NAME.XXXXXX-00001.librecord-tmp` with the NAME and the letters of the
 * file whose lock it shares. A long name is cut, at a character's boundary, to what the file system allows. */
static size_t name_kept(const char *base)
{
    size_t length = strlen(base);
    size_t most = NAME_MAX - (sizeof suffix - 1) - (1 + PART_DIGITS) - RANDOM - 2;
    if (length > most) {
        length = lr_character_begin(base, most);
    }
    return length;
}

/* Files that others add to a temporary file, with its name, a dash and more: lock files of an MPI, which remain when it
 * is killed. */
static bool is_beside(const char *behind)
{
    return *behind == '-';
}

/* @return the length before the suffix or the part's number, 0 if it is no temporary file of `base`. @param part (out)
 * whether it belongs to a part. @param set (out) whether it belongs to a set. @param beside (out) whether another
 * program added it. */
static size_t stem_length(const char *name, const char *base, bool *part, bool *set, bool *beside)
{
    size_t kept = name_kept(base), stem = kept + 2 + RANDOM;
    const char *tail;
    if (strlen(name) < stem || name[0] != '.' || memcmp(name + 1, base, kept) != 0 || name[kept + 1] != '.') {
        return 0;
    }
    if (!lr_are_letters(name + kept + 2)) {
        return 0;
    }
    tail = name + stem;
    *part = tail[0] == '-';
    if (*part) {
        if (strspn(tail + 1, "0123456789") != PART_DIGITS) {
            return 0;
        }
        tail += 1 + PART_DIGITS;
    }
    *set = strncmp(tail, suffix_of_sets, sizeof suffix_of_sets - 1) == 0;
    if (!*set && strncmp(tail, suffix, sizeof suffix - 1) != 0) {
        return 0;
    }
    tail += (*set ? sizeof suffix_of_sets : sizeof suffix) - 1;
    *beside = is_beside(tail);
    return *tail == '\0' || *beside ? stem : 0;
}

void lr_temporary_part_name(const lr_file_sink *lead, unsigned part, char name[NAME_MAX + 1])
{
    size_t stem = strlen(lead->temporary) - (sizeof suffix - 1);
    memcpy(name, lead->temporary, stem);
    (void)snprintf(name + stem, NAME_MAX + 1 - stem, "-%0*u%s", PART_DIGITS, part, lead->temporary + stem);
}

static void name_of_kept(const lr_file_sink *self, char name[NAME_MAX + 1])
{
    size_t kept = name_kept(lr_file_mark(self));
    name[0] = '.';
    memcpy(name + 1, lr_file_mark(self), kept);
    memcpy(name + 1 + kept, suffix_of_kept, sizeof suffix_of_kept);
}

static bool make_name(lr_file_sink *self)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz012345"; /* 32 of them, so that none is more likely */
    unsigned char random[RANDOM];
    size_t kept = name_kept(lr_file_mark(self));
    char *at = self->temporary;
    if (self->lead) {
        lr_temporary_part_name(self->lead, self->part, at);
        return true;
    }
    if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random) {
        return false;
    }
    *at++ = '.';
    memcpy(at, lr_file_mark(self), kept);
    at += kept;
    *at++ = '.';
    for (size_t i = 0; i < RANDOM; i++) {
        *at++ = self->letters[i] = letters[random[i] % (sizeof letters - 1)];
    }
    memcpy(at, suffix, sizeof suffix);
    return true;
}

/* ---------------------------------------------------------------------------------------------------- sweeping -- */

static bool is_same(int folder, const char *name, const struct stat *info)
{
    struct stat there;
    return fstatat(folder, name, &there, AT_SYMLINK_NOFOLLOW) == 0 && there.st_dev == info->st_dev &&
           there.st_ino == info->st_ino;
}

/* Locks a temporary file without a writer. While the lock is held the name stays with the file: only the writer renames
 * it, and it is gone. @return a descriptor; -1 with ENOENT: missing; otherwise: skip it. */
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

/* Removes a file unless the locked one has a writer. @param depends it is useless without that one. */
static void sweep_if_stale(int folder, const char *name, const char *locked, bool depends)
{
    int fd = lock_stale(folder, locked);
    if (fd >= 0 || (depends && errno == ENOENT)) {
        (void)unlinkat(folder, name, 0);
    }
    if (fd >= 0) {
        (void)close(fd);
    }
}

static void sweep_one(int folder, const char *name, size_t stem, bool depends, bool set)
{
    char locked[NAME_MAX + 1];
    if (set && !depends) {
        return; /* lr_temporary_sweep_sets() */
    }
    memcpy(locked, name, stem);
    memcpy(locked + stem, set ? suffix_of_sets : suffix, sizeof suffix);
    sweep_if_stale(folder, name, locked, depends);
}

bool lr_folder_names(int folder, bool (*on)(void *user, const char *name), void *user)
{
    int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *list = fd >= 0 ? fdopendir(fd) : NULL;
    struct dirent *entry;
    if (!list) {
        if (fd >= 0) {
            (void)close(fd);
        }
        return false;
    }
    while ((entry = readdir(list)) && on(user, entry->d_name)) {
    }
    (void)closedir(list);
    return true;
}

static bool sweep_name(void *user, const char *name)
{
    const lr_file_sink *self = user;
    char kept[NAME_MAX + 1];
    bool part, set, beside;
    size_t stem = stem_length(name, lr_file_mark(self), &part, &set, &beside), length;
    if (stem) {
        sweep_one(self->folder, name, stem, part || beside, set);
        return true;
    }
    name_of_kept(self, kept);
    length = strlen(kept);
    if (strncmp(name, kept, length) == 0 && is_beside(name + length)) {
        sweep_if_stale(self->folder, name, kept, true);
    }
    return true;
}

/* What an earlier save left is to be taken up. */
static bool resumes(const lr_file_sink *self)
{
    const lr_parallel *parallel = self->out.sink.job->parallel;
    return parallel && parallel->resumes;
}

/* Files that cannot be removed stay for the next save: no failure. */
void lr_temporary_sweep(lr_file_sink *self)
{
    char kept[NAME_MAX + 1];
    (void)lr_folder_names(self->folder, sweep_name, self);
    if (!resumes(self)) {
        name_of_kept(self, kept);
        sweep_if_stale(self->folder, kept, kept, false);
    }
}

typedef struct sweep_of_sets {
    const lr_file_sink *self;
    void (*sweep)(void *user, const char *letters, const char *temporary);
    void *user;
} sweep_of_sets;

static bool sweep_set(void *user, const char *name)
{
    const sweep_of_sets *s = user;
    bool part, set, beside;
    size_t stem = stem_length(name, lr_file_mark(s->self), &part, &set, &beside);
    int fd = stem && set && !part && !beside ? lock_stale(s->self->folder, name) : -1;
    if (fd >= 0) {
        s->sweep(s->user, name + stem - RANDOM, name);
        (void)close(fd);
    }
    return true;
}

void lr_temporary_sweep_sets(const lr_file_sink *self,
                             void (*sweep)(void *user, const char *letters, const char *temporary), void *user)
{
    sweep_of_sets s = {self, sweep, user};
    (void)lr_folder_names(self->folder, sweep_set, &s);
}

typedef struct look_for_others {
    const lr_file_sink *self;
    bool alone;
} look_for_others;

static bool is_no_other(void *user, const char *name)
{
    look_for_others *look = user;
    bool part, set, beside;
    look->alone = !stem_length(name, lr_file_mark(look->self), &part, &set, &beside) || part || beside ||
                  strcmp(name, look->self->temporary) == 0;
    return look->alone;
}

bool lr_temporary_is_alone(const lr_file_sink *self)
{
    look_for_others look = {self, true};
    return lr_folder_names(self->folder, is_no_other, &look) && look.alone;
}

int32_t lr_temporary_becomes_set(lr_file_sink *self)
{
    char name[NAME_MAX + 1];
    size_t stem = strlen(self->temporary) - (sizeof suffix - 1);
    memcpy(name, self->temporary, stem);
    memcpy(name + stem, suffix_of_sets, sizeof suffix_of_sets);
    if (lr_rename_new(self->folder, self->temporary, name) != 0) {
        return lr_file_failed(self, "rename its temporary file", NULL);
    }
    memcpy(self->temporary, name, stem + sizeof suffix_of_sets);
    return REC_OK;
}

/* --------------------------------------------------------------------------------------------------- making it -- */

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

static const char hint[] = "Make its directory writable: a save creates the new file there.";

/* Rejects a file that another user made, or that has another name too: its owner could change the model later, and
 * whoever chose the other name has the save write over that file. */
static int32_t judge_kept(lr_file_sink *self, const struct stat *info)
{
    static const char remove_it[] = "Remove it if you do not know it, and try again.";
    if (!S_ISREG(info->st_mode)) {
        return lr_io_fail(self->out.sink.job, self->name, REC_E_IO, REC_UNKNOWN, NULL,
                          "the partial output of an earlier save, %s, is not a regular file", self->temporary);
    }
    if (info->st_uid != geteuid()) {
        return lr_io_fail(self->out.sink.job, self->name, REC_E_IO, REC_UNKNOWN, remove_it,
                          "cannot resume with %s: it belongs to another user (%lu)", self->temporary,
                          (unsigned long)info->st_uid);
    }
    if (info->st_nlink != 1) {
        return lr_io_fail(self->out.sink.job, self->name, REC_E_IO, REC_UNKNOWN, remove_it,
                          "cannot resume with %s: it is a hard link to another file", self->temporary);
    }
    return REC_OK;
}

/* The one that a save before this one left, or a new one. */
static int32_t take_up(lr_file_sink *self, int *fd)
{
    enum { MODE = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY };
    struct stat info;
    int32_t status;
    name_of_kept(self, self->temporary);
    do {
        *fd = openat(self->folder, self->temporary, MODE, self->replaces ? 0600 : 0666);
    } while (*fd < 0 && errno == EINTR);
    if (*fd < 0) {
        return lr_file_failed(self, "open the partial output of an earlier save", hint);
    }
    if (fstat(*fd, &info) != 0) {
        return lr_file_failed(self, "inspect the partial output of an earlier save", NULL);
    }
    status = judge_kept(self, &info);
    if (status != REC_OK) {
        return status;
    }
    if (!lock_own(self, *fd)) {
        return lr_io_fail(self->out.sink.job, self->name, REC_E_IO, REC_UNKNOWN, NULL,
                          "another process resumes the partial output of an earlier save,  %s", self->temporary);
    }
    self->linked = true;
    self->keeps = info.st_size > 0;
    return REC_OK;
}

int32_t lr_temporary_create(lr_file_sink *self, int *fd)
{
    /* Nobody may read what replaces a private file; a new file gets what the umask leaves. */
    mode_t mode = self->replaces ? 0600 : 0666;
    if (resumes(self) && !self->lead) {
        return take_up(self, fd);
    }
    for (int tries = 0; tries < NAMES_TRIED; tries++) {
        if (!make_name(self)) {
            return lr_file_failed(self, "create a name for a temporary file", NULL);
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
            return lr_file_failed(self, "make a temporary file in its directory", hint);
        }
    }
    return lr_file_failed(self, "make a temporary file in its directory", hint);
}
