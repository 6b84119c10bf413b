/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Directories of an installation that was moved: they lie next to the library's file as they did before. */
#include "os/moved.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "os/system.h"

/* Returns the length of the path that two paths begin with, at the end of a component. */
static size_t common_length(const char *a, const char *b)
{
    size_t length = 0;
    for (size_t i = 0; a[i] == b[i] || !a[i] || !b[i]; i++) {
        if ((!a[i] || a[i] == '/') && (!b[i] || b[i] == '/')) {
            length = i;
        }
        if (!a[i] || !b[i]) {
            break;
        }
    }
    return length;
}

bool lr_moved_path(const char *at, const char *from, const char *to, char *path)
{
    size_t common = common_length(from, to);
    const char *end = from + common;
    size_t length = strlen(at), tail = strlen(end);
    int printed;
    if (*at != '/' || *from != '/' || *to != '/' || tail > length || strcmp(at + length - tail, end) != 0) {
        return false;
    }
    printed = snprintf(path, PATH_MAX, "%.*s%s", (int)(length - tail), at, to + common);
    return printed > 0 && printed < PATH_MAX;
}

/* Returns the path of the file that has this code, without links. */
static bool own_file(char *real)
{
#ifdef LR_IN_PROGRAM
    return realpath("/proc/self/exe", real) != NULL;
#else
    Dl_info info;
    return dladdr((const void *)&common_length, &info) && info.dli_fname && *info.dli_fname == '/' &&
           realpath(info.dli_fname, real);
#endif
}

bool lr_moved_find(const char *from, const char *to, lr_moved *moved)
{
    char own[PATH_MAX], path[PATH_MAX];
    struct stat file;
    if (lr_system_privileged() || !own_file(own) || stat(own, &file) != 0) {
        return false;
    }
    *strrchr(own, '/') = '\0';
    if (!lr_moved_path(own, from, to, path) || !realpath(path, moved->path) || stat(moved->path, &moved->state) != 0) {
        return false;
    }
    moved->same_owner = moved->state.st_uid == file.st_uid;
    return S_ISDIR(moved->state.st_mode);
}
