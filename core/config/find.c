/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Where the configuration file is looked for. docs/reference/configuration.md says the same. */
#include "core/config/config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#ifndef LR_SYSCONF_DIR
#error "LR_SYSCONF_DIR must be the system's configuration folder, such as \"/etc\""
#endif

/* `folder` + `rest`, allocated. NULL: the job has failed. */
static char *join(rec_job *job, const char *folder, const char *rest)
{
    size_t head = strlen(folder), tail = strlen(rest) + 1;
    char *path = lr_alloc(job->allocator, head + tail);
    if (!path) {
        (void)lr_fail_memory(job, head + tail);
        return NULL;
    }
    memcpy(path, folder, head);
    memcpy(path + head, rest, tail);
    return path;
}

/* @param path (out) NULL if there is no such file. A home that this user may not search counts as one without: it is no
 * reason to stop a service. */
static int32_t find_in(rec_job *job, const char *folder, const char *rest, char **path)
{
    struct stat state;
    *path = join(job, folder, rest);
    if (*path && stat(*path, &state) != 0) {
        lr_release(job->allocator, *path);
        *path = NULL;
    }
    return job->error.status;
}

int32_t lr_config_find(rec_job *job, char **path)
{
    static const char tail[] = "/librecord/librecord.ini";
    const char *named = secure_getenv("LIBRECORD_CONFIG");
    const char *user = secure_getenv("XDG_CONFIG_HOME");
    const char *home = secure_getenv("HOME");
    int32_t status = REC_OK;
    *path = NULL;
    if (named && *named) {
        struct stat state;
        if (stat(named, &state) != 0) {
            char text[256];
            int error = errno;
            const char *words = lr_errno_words(error, text, sizeof text);
            (void)lr_fail_line(job, REC_E_IO, named, 0, "cannot open: %s", words);
            (void)lr_job_errno(job, error);
            rec_fail_hint(job, "The environment variable LIBRECORD_CONFIG names it.");
            return job->error.status;
        }
        *path = join(job, named, "");
        return job->error.status;
    }
    /* A relative path in XDG_CONFIG_HOME is to be ignored (XDG Base Directory Specification). */
    if (user && *user == '/') {
        status = find_in(job, user, tail, path);
    } else if (home && *home == '/') {
        status = find_in(job, home, "/.config/librecord/librecord.ini", path);
    }
    if (status == REC_OK && !*path) {
        status = find_in(job, LR_SYSCONF_DIR, tail, path);
    }
    return status;
}
