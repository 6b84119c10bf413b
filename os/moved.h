/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Directories of an installation that was moved. */
#ifndef LR_OS_MOVED_H
#define LR_OS_MOVED_H

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

/** A directory next to the library. */
typedef struct lr_moved {
    char path[PATH_MAX]; /**< without links */
    struct stat state;   /**< of the directory */
    bool same_owner;     /**< it belongs to the owner of the library's file */
} lr_moved;

/** Finds the directory that lies in relation to this library as `to` to `from`. @param from the configured directory of
 * the library's file, or of the program if the library is static. @param to a configured directory. @return false if it
 * does not exist, if the place of the library is unknown, and in a program with more privileges than its user. */
bool lr_moved_find(const char *from, const char *to, lr_moved *moved);
/** Computes its path. @param at the directory of the library's file. @param path PATH_MAX bytes. @return false if the
 * end of `at` differs from that of `from`, or the path is too long. */
bool lr_moved_path(const char *at, const char *from, const char *to, char *path);

#endif
