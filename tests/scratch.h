/* SPDX-License-Identifier: MIT OR Apache-2.0
 * A temporary folder of a test's own, with files in it, that goes away with everything below it. */
#ifndef SCRATCH_H
#define SCRATCH_H

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/** A folder. `path` holds no link, so that messages can be compared with it. */
typedef struct scratch {
    char path[512];
} scratch;

static inline void scratch_die(const char *what)
{
    perror(what);
    exit(99);
}

static inline scratch *scratch_new(void)
{
    const char *base = getenv("TMPDIR");
    char *real = realpath(base && *base ? base : "/tmp", NULL);
    scratch *s = calloc(1, sizeof *s);
    (void)umask(022);
    if (!s || !real || snprintf(s->path, sizeof s->path, "%s/librecord-XXXXXX", real) >= (int)sizeof s->path ||
        !mkdtemp(s->path)) {
        scratch_die("temporary folder");
    }
    free(real);
    return s;
}

static inline int scratch_remove(const char *path, const struct stat *state, int kind, struct FTW *where)
{
    (void)state;
    (void)kind;
    (void)where;
    return remove(path);
}

static inline void scratch_free(scratch *s)
{
    if (nftw(s->path, scratch_remove, 16, FTW_DEPTH | FTW_PHYS) != 0) {
        scratch_die(s->path);
    }
    free(s);
}

/** @return `folder`/`name`, to be freed. */
static inline char *scratch_path(const scratch *s, const char *name)
{
    char *path = NULL;
    if (asprintf(&path, "%s/%s", s->path, name) < 0) {
        scratch_die("asprintf");
    }
    return path;
}

/** Makes a folder, and those above it. @return its path, to be freed. */
static inline char *scratch_folder(const scratch *s, const char *name)
{
    char *path = scratch_path(s, name);
    for (char *c = path + strlen(s->path) + 1;; c++) {
        char end = *c;
        if (end == '/' || end == '\0') {
            *c = '\0';
            if (mkdir(path, 0755) != 0 && errno != EEXIST) {
                scratch_die(path);
            }
            *c = end;
        }
        if (end == '\0') {
            return path;
        }
    }
}

/** Writes a file. @return its path, to be freed. */
static inline char *scratch_write(const scratch *s, const char *name, const void *data, size_t size)
{
    char *path = scratch_path(s, name);
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(data, 1, size, file) != size || fclose(file) != 0) {
        scratch_die(path);
    }
    return path;
}

static inline char *scratch_text(const scratch *s, const char *name, const char *text)
{
    return scratch_write(s, name, text, strlen(text));
}

#endif
