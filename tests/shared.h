/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Files of others that the tests read where they are there, and that are not part of this project. */
#ifndef SHARED_H
#define SHARED_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** Writes a path below the folder of shared test data. @return false, with a message, if there is none. */
static inline int shared_path(char *path, size_t room, const char *below)
{
    const char *root = getenv("LIBRECORD_SHARED"), *srcdir = getenv("srcdir");
    FILE *file;
    if (root) {
        (void)snprintf(path, room, "%s/data/MANIFEST.md", root);
    } else {
        (void)snprintf(path, room, "%s/../shared/data/MANIFEST.md", srcdir ? srcdir : ".");
    }
    file = fopen(path, "rb");
    if (!file) {
        print_message("the shared test data are not there: set LIBRECORD_SHARED\n");
        return 0;
    }
    (void)fclose(file);
    (void)snprintf(strrchr(path, '/') + 1, room - (size_t)(strrchr(path, '/') + 1 - path), "%s", below);
    return 1;
}

#endif
