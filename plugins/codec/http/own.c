/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Which directory and files the cache trusts: what it keeps becomes a model's weights, so nobody else may be able to
 * write it. The rules are those for directories of plugins (docs/reference/plugin-directories.md). */
#include "os/system.h"
#include "plugins/codec/http/own.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_stranger(uid_t user)
{
    return user != 0 && user != geteuid();
}

/* @return what is wrong with one directory above, `above`, of which `below` is an entry; NULL: nothing. */
static const char *judge_above(const struct stat *above, const struct stat *below)
{
    if (!(above->st_mode & S_IWOTH)) {
        return NULL;
    }
    if (!(above->st_mode & S_ISVTX)) {
        return "it is below a directory that others may write to";
    }
    return is_stranger(above->st_uid) || is_stranger(below->st_uid) ? "it is below a directory of another user" : NULL;
}

/* A user who can rename a parent directory can replace this one. @return as above. */
static const char *judge_all_above(int folder, struct stat below)
{
    const char *wrong = NULL;
    int at = folder;
    while (!wrong) {
        struct stat above;
        int next = openat(at, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (at != folder) {
            (void)close(at);
        }
        at = next;
        if (at < 0 || fstat(at, &above) != 0) {
            wrong = "the directories above it cannot be inspected";
        } else if (above.st_dev == below.st_dev && above.st_ino == below.st_ino) {
            break; /* the root */
        } else {
            wrong = judge_above(&above, &below);
            below = above;
        }
    }
    if (at >= 0 && at != folder) {
        (void)close(at);
    }
    return wrong;
}

static const char *judge(int folder)
{
    struct stat about;
    if (fstat(folder, &about) != 0) {
        return "it cannot be inspected";
    }
    if (is_stranger(about.st_uid)) {
        return "it belongs to another user";
    }
    return about.st_mode & (S_IWGRP | S_IWOTH) ? "others may write to it" : judge_all_above(folder, about);
}

int lr_http_own_folder(const char *path, char *why, size_t room)
{
    char words[128];
    const char *wrong;
    int folder = mkdir(path, 0700) == 0 || errno == EEXIST ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (folder < 0) {
        (void)snprintf(why, room, "%s", lr_system_words(errno, words, sizeof words));
        return -1;
    }
    wrong = judge(folder);
    if (wrong) {
        (void)snprintf(why, room, "%s", wrong);
        (void)close(folder);
        return -1;
    }
    return folder;
}

bool lr_http_own_file(int fd)
{
    struct stat about;
    return fstat(fd, &about) == 0 && S_ISREG(about.st_mode) && about.st_uid == geteuid() && about.st_nlink == 1 &&
           !(about.st_mode & (S_IWGRP | S_IWOTH)) && (!(about.st_mode & 077) || fchmod(fd, 0600) == 0);
}
