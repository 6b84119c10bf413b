/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Decides which directories and files are safe to open, by the rules of sudo and ssh: nothing that others may change.
 * A directory depends on all its parents, since a user who may rename a parent can replace it. A world-writable parent
 * is acceptable if it is sticky, as /tmp is, and the next directory on the way belongs to a trusted user. The
 * directory that this librecord was installed with is trusted like the library's own file: its owner and group could
 * change the library anyway. */
#include "os/trust.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "os/file.h"
#include "os/system.h"

const char *lr_reason_errno(int error, char *reason, const char *doing)
{
    char text[128];
    (void)snprintf(reason, LR_REASON, "cannot %s: %s", doing, lr_system_words(error, text, sizeof text));
    return reason;
}

static bool is_stranger(uid_t user)
{
    return user != 0 && user != geteuid();
}

static const char *refuse_owner(const struct stat *state, char *reason, const char *what)
{
    (void)snprintf(reason, LR_REASON, "%.300s belongs to user %lu, neither root nor the one who runs this program",
                   what, (unsigned long)state->st_uid);
    return reason;
}

/* @return "" or the reason. */
static const char *check_state(const struct stat *state, bool installed, char *reason, const char *what)
{
    reason[0] = '\0';
    if (!installed && is_stranger(state->st_uid)) {
        return refuse_owner(state, reason, what);
    }
    if (state->st_mode & S_IWOTH) {
        (void)snprintf(reason, LR_REASON, "%s is writable by others", what);
    } else if (!installed && (state->st_mode & S_IWGRP)) {
        (void)snprintf(reason, LR_REASON, "%s is writable by its group", what);
    }
    return reason;
}

/* One directory of a path, which has the next one as an entry. @return "" or the reason. */
static const char *check_step(const char *path, const struct stat *above, const struct stat *below, char *reason,
                              const char *what)
{
    bool entry = is_stranger(below->st_uid);
    if (!(above->st_mode & S_IWOTH)) {
        return reason;
    }
    if (!(above->st_mode & S_ISVTX)) {
        (void)snprintf(reason, LR_REASON, "%s lies in %.300s, which is writable by others", what, path);
    } else if (entry || is_stranger(above->st_uid)) {
        (void)refuse_owner(entry ? below : above, reason, entry ? what : path);
    }
    return reason;
}

/* The folders above one. @param state of that one. */
static const char *check_above(const char *real, const struct stat *state, char *reason, const char *what)
{
    char path[PATH_MAX];
    struct stat above = *state;
    if (snprintf(path, sizeof path, "%s", real) >= (int)sizeof path) {
        (void)snprintf(reason, LR_REASON, "the path of %s is too long", what);
        return reason;
    }
    for (char *slash; !*reason && path[1] && (slash = strrchr(path, '/'));) {
        struct stat below = above;
        slash[slash == path] = '\0';
        if (stat(path, &above) != 0) {
            return lr_reason_errno(errno, reason, "inspect the directories above it");
        }
        (void)check_step(path, &above, &below, reason, what);
    }
    return reason;
}

/* The directories of a path before its links are followed. A user with write access to one of them can point a link in
 * it to another file after the check. */
static const char *check_way(const char *path, char *reason)
{
    char entry[PATH_MAX];
    struct stat above, below;
    bool seen = stat(*path == '/' ? "/" : ".", &above) == 0;
    reason[0] = '\0';
    for (size_t end = 0; seen && !*reason && path[end];) {
        end += strspn(path + end, "/");
        end += strcspn(path + end, "/");
        if (snprintf(entry, sizeof entry, "%.*s", (int)end, path) >= (int)sizeof entry || lstat(entry, &below) != 0) {
            seen = false;
        } else if (is_stranger(above.st_uid)) {
            (void)refuse_owner(&above, reason, "a directory of its path");
        } else {
            (void)check_step("a directory", &above, &below, reason, entry);
            seen = stat(entry, &above) == 0;
        }
    }
    return seen ? reason : lr_reason_errno(errno, reason, "inspect the directories of its path");
}

const char *lr_trust_folder(const char *real, const struct stat *state, bool installed, char *reason)
{
    if (!*check_state(state, installed, reason, "the directory")) {
        (void)check_above(real, state, reason, "the directory");
    }
    return reason;
}

/* A link may lead to another folder, which must be safe as well. */
static const char *check_link(const char *path, bool installed, char *reason)
{
    static const char what[] = "the directory that the link leads to";
    char real[PATH_MAX];
    struct stat state;
    char *slash;
    if (!realpath(path, real)) {
        return lr_reason_errno(errno, reason, "follow the link");
    }
    slash = strrchr(real, '/');
    slash[slash == real] = '\0';
    if (stat(real, &state) != 0) {
        return lr_reason_errno(errno, reason, "inspect the directory that the link leads to");
    }
    return *check_state(&state, installed, reason, what) ? reason : check_above(real, &state, reason, what);
}

const char *lr_trust_file(const char *path, bool installed, struct stat *state, char *reason)
{
    reason[0] = '\0';
    if (lstat(path, state) != 0) {
        return lr_reason_errno(errno, reason, "inspect the file");
    }
    if (S_ISLNK(state->st_mode)) {
        if (*check_link(path, installed, reason)) {
            return reason;
        }
        if (stat(path, state) != 0) {
            return lr_reason_errno(errno, reason, "inspect the file");
        }
    }
    if (!S_ISREG(state->st_mode)) {
        (void)snprintf(reason, LR_REASON, "it is not a regular file");
        return reason;
    }
    return check_state(state, installed, reason, "the file");
}

const char *lr_trust_path(const char *path, char *reason)
{
    char real[PATH_MAX], folder[PATH_MAX];
    struct stat state;
    size_t length;
    if (!realpath(path, real)) {
        return lr_reason_errno(errno, reason, "inspect the file");
    }
    length = (size_t)(strrchr(real, '/') - real);
    memcpy(folder, real, length ? length : 1);
    folder[length ? length : 1] = '\0';
    if (stat(folder, &state) != 0) {
        return lr_reason_errno(errno, reason, "inspect its directory");
    }
    if (*lr_trust_folder(folder, &state, false, reason) || *lr_trust_file(real, false, &state, reason)) {
        return reason;
    }
    return check_way(path, reason);
}

int lr_trust_open(const char *path, char *reason)
{
    char real[PATH_MAX];
    struct stat state;
    int fd = realpath(path, real) ? lr_file_open(AT_FDCWD, real, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0) : -1;
    reason[0] = '\0';
    if (fd < 0 || fstat(fd, &state) != 0) {
        (void)lr_reason_errno(errno, reason, "open the directory");
    } else {
        (void)lr_trust_folder(real, &state, false, reason);
    }
    if (fd >= 0 && *reason) {
        (void)close(fd);
        fd = -1;
    }
    return fd;
}

bool lr_trust_private(int fd)
{
    struct stat state;
    return fstat(fd, &state) == 0 && S_ISREG(state.st_mode) && state.st_uid == geteuid() && state.st_nlink == 1 &&
           !(state.st_mode & (S_IWGRP | S_IWOTH)) && (!(state.st_mode & 077) || fchmod(fd, 0600) == 0);
}
