/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Temporary files next to the file that they will replace. */
#include "os/temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "common/utf8.h"
#include "os/file.h"
#include "os/system.h"

enum { NAMES_TRIED = 100, PART_DIGITS = 5 };

/* Both have the same length. A stale set needs more than removal: the next save reads it first. */
static const char suffix[] = ".librecord-tmp", suffix_of_sets[] = ".librecord-set";
static const char suffix_of_kept[] = ".librecord-resume";

/* ------------------------------------------------------------------------------------------------------- names -- */

bool lr_temporary_are_letters(const char *text)
{
    size_t i = 0;
    while (i < LR_LETTERS && ((text[i] >= 'a' && text[i] <= 'z') || (text[i] >= '0' && text[i] <= '9'))) {
        i++;
    }
    return i == LR_LETTERS;
}

/* How much of a name its temporary files have: as much as leaves room for the rest, and whole characters. */
static size_t name_kept(const char *base)
{
    size_t length = strlen(base);
    size_t most = NAME_MAX - (sizeof suffix - 1) - (1 + PART_DIGITS) - LR_LETTERS - 2;
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
    size_t kept = name_kept(base), stem = kept + 2 + LR_LETTERS;
    const char *tail;
    if (strlen(name) < stem || name[0] != '.' || memcmp(name + 1, base, kept) != 0 || name[kept + 1] != '.') {
        return 0;
    }
    if (!lr_temporary_are_letters(name + kept + 2)) {
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

void lr_temporary_part_name(const lr_temporary *of, unsigned part, char name[NAME_MAX + 1])
{
    size_t stem = strlen(of->name) - (sizeof suffix - 1);
    memcpy(name, of->name, stem);
    (void)snprintf(name + stem, NAME_MAX + 1 - stem, "-%0*u%s", PART_DIGITS, part, of->name + stem);
}

static void name_of_kept(const char *base, char name[NAME_MAX + 1])
{
    size_t kept = name_kept(base);
    name[0] = '.';
    memcpy(name + 1, base, kept);
    memcpy(name + 1 + kept, suffix_of_kept, sizeof suffix_of_kept);
}

static bool make_name(const char *base, lr_temporary *made)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz012345"; /* 32 of them, so that none is more likely */
    unsigned char random[LR_LETTERS];
    size_t kept = name_kept(base);
    char *at = made->name;
    if (!lr_system_random(random, sizeof random, true)) {
        return false;
    }
    *at++ = '.';
    memcpy(at, base, kept);
    at += kept;
    *at++ = '.';
    for (size_t i = 0; i < LR_LETTERS; i++) {
        *at++ = made->letters[i] = letters[random[i] % (sizeof letters - 1)];
    }
    memcpy(at, suffix, sizeof suffix);
    return true;
}

/* ---------------------------------------------------------------------------------------------------- sweeping -- */

/* Locks a temporary file without a writer. While the lock is held the name stays with the file: only the writer renames
 * it, and it is gone. @return a descriptor; -1 with ENOENT: missing; otherwise: skip it. */
static int lock_stale(int folder, const char *name)
{
    struct stat info;
    int fd =
        lr_file_open(folder, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK, 0); /* locks of NFS want it open for writing */
    if (fd < 0 && errno == EACCES) {
        fd = lr_file_open(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
    }
    if (fd < 0) {
        return -1;
    }
    if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && flock(fd, LOCK_EX | LOCK_NB) == 0 &&
        lr_file_is(folder, name, &info)) {
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

/** The target that a directory is searched for. */
typedef struct search {
    int folder;
    const char *base;
    const char *own; /**< is_no_other() */
    bool alone;
    void (*sweep)(void *user, const char *letters, const char *temporary); /**< sweep_set() */
    void *user;
} search;

static bool sweep_name(void *user, const char *name)
{
    const search *s = user;
    char kept[NAME_MAX + 1];
    bool part, set, beside;
    size_t stem = stem_length(name, s->base, &part, &set, &beside), length;
    if (stem) {
        sweep_one(s->folder, name, stem, part || beside, set);
        return true;
    }
    name_of_kept(s->base, kept);
    length = strlen(kept);
    if (strncmp(name, kept, length) == 0 && is_beside(name + length)) {
        sweep_if_stale(s->folder, name, kept, true);
    }
    return true;
}

void lr_temporary_sweep(int folder, const char *base, bool kept)
{
    search s = {.folder = folder, .base = base};
    char name[NAME_MAX + 1];
    (void)lr_file_names(folder, sweep_name, &s);
    if (kept) {
        name_of_kept(base, name);
        sweep_if_stale(folder, name, name, false);
    }
}

static bool sweep_set(void *user, const char *name)
{
    const search *s = user;
    bool part, set, beside;
    size_t stem = stem_length(name, s->base, &part, &set, &beside);
    int fd = stem && set && !part && !beside ? lock_stale(s->folder, name) : -1;
    if (fd >= 0) {
        s->sweep(s->user, name + stem - LR_LETTERS, name);
        (void)close(fd);
    }
    return true;
}

void lr_temporary_sweep_sets(int folder, const char *base,
                             void (*sweep)(void *user, const char *letters, const char *temporary), void *user)
{
    search s = {.folder = folder, .base = base, .sweep = sweep, .user = user};
    (void)lr_file_names(folder, sweep_set, &s);
}

static bool is_no_other(void *user, const char *name)
{
    search *s = user;
    bool part, set, beside;
    s->alone = !stem_length(name, s->base, &part, &set, &beside) || part || beside || strcmp(name, s->own) == 0;
    return s->alone;
}

bool lr_temporary_is_alone(int folder, const char *base, const lr_temporary *made)
{
    search s = {.folder = folder, .base = base, .own = made->name, .alone = true};
    return lr_file_names(folder, is_no_other, &s) && s.alone;
}

/* ------------------------------------------------------------------------------------------------------ making -- */

bool lr_temporary_lock(int folder, const char *name, int fd)
{
    struct stat info;
    if (flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        return false;
    }
    return fstat(fd, &info) == 0 && info.st_nlink > 0 && lr_file_is(folder, name, &info);
}

static int make(int folder, const char *name, mode_t mode)
{
    return lr_file_open(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
}

int lr_temporary_create(int folder, const char *base, mode_t mode, lr_temporary *made, int *fd)
{
    *fd = -1;
    for (int tries = 0; tries < NAMES_TRIED; tries++) {
        if (!make_name(base, made)) {
            return errno;
        }
        *fd = make(folder, made->name, mode);
        if (*fd >= 0 && lr_temporary_lock(folder, made->name, *fd)) {
            return 0;
        }
        if (*fd < 0 && errno != EEXIST) {
            return errno;
        }
        if (*fd >= 0) {
            (void)unlinkat(folder, made->name, 0);
            (void)close(*fd);
            *fd = -1;
        }
    }
    return EEXIST;
}

int lr_temporary_create_part(int folder, const lr_temporary *of, unsigned part, mode_t mode, lr_temporary *made,
                             int *fd)
{
    made->letters[0] = '\0';
    lr_temporary_part_name(of, part, made->name);
    *fd = make(folder, made->name, mode);
    return *fd < 0 ? errno : 0;
}

int lr_temporary_create_kept(int folder, const char *base, mode_t mode, lr_temporary *made, int *fd)
{
    made->letters[0] = '\0';
    name_of_kept(base, made->name);
    *fd = lr_file_open(folder, made->name, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK, mode);
    return *fd < 0 ? errno : 0;
}

int lr_temporary_becomes_set(int folder, lr_temporary *made)
{
    char name[NAME_MAX + 1];
    size_t stem = strlen(made->name) - (sizeof suffix - 1);
    int error;
    memcpy(name, made->name, stem);
    memcpy(name + stem, suffix_of_sets, sizeof suffix_of_sets);
    error = lr_file_rename_new(folder, made->name, name);
    if (!error) {
        memcpy(made->name, name, stem + sizeof suffix_of_sets);
    }
    return error;
}
