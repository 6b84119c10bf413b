/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Where the configuration file is looked for. docs/reference/configuration.md says the same. */
#include "core/config/config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "os/trust.h"

#ifndef LR_SYSCONF_DIR
#error "LR_SYSCONF_DIR must be the system's configuration directory, such as \"/etc\""
#endif

/* `folder` + `rest`, allocated. NULL: the job has failed. */
static char *join(rec_job *job, const char *folder, const char *rest)
{
    size_t head = strlen(folder), tail = strlen(rest) + 1;
    char *path = lr_job_alloc(job, head + tail);
    if (!path) {
        return NULL;
    }
    memcpy(path, folder, head);
    memcpy(path + head, rest, tail);
    return path;
}

/* The variable of a program that gave this process the rights of another user than the one who started it; NULL: none
 * did. */
static const char *lender(void)
{
    static const char *const variables[] = {"SUDO_UID", "DOAS_USER", "PKEXEC_UID"};
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++) {
        if (getenv(variables[i])) {
            return variables[i];
        }
    }
    return lr_system_privileged() ? "AT_SECURE" : NULL;
}

/* LIBRECORD_CONFIG=/dev/null turns the configuration off. */
static bool is_null(const char *path)
{
    struct stat state, null;
    return stat(path, &state) == 0 && S_ISCHR(state.st_mode) && stat("/dev/null", &null) == 0 &&
           state.st_rdev == null.st_rdev;
}

/* Judges a file that the environment leads to. */
static int32_t judge(rec_job *job, const char *path)
{
    const char *by = lender();
    char reason[LR_REASON];
    if (by && !is_null(path) && *lr_trust_path(path, reason)) {
        (void)lr_fail_line(job, REC_E_CONFIG, path, 0, "not read with the rights of another user (%s is set): %s", by,
                           reason);
        rec_fail_hint(job, "Name the file itself (record: --config FILE), or give it to the user who runs this.");
    }
    return job->error.status;
}

/* The folder that the environment names, where it counts; or NULL. */
static const char *data_named(const rec_context *context)
{
    const char *data = context && context->data ? NULL : secure_getenv("LIBRECORD_DATA");
    return data && *data ? data : NULL;
}

const char *lr_config_data(const rec_context *context)
{
    return context && context->data ? context->data : data_named(context);
}

int32_t lr_config_judge_data(rec_job *job, const char *path)
{
    return data_named(job->context) ? judge(job, path) : job->error.status;
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
            const char *words = lr_system_words(error, text, sizeof text);
            (void)lr_fail_line(job, REC_E_IO, named, 0, "cannot open: %s", words);
            (void)lr_job_errno(job, error);
            return LR_HINT(job, "The environment variable LIBRECORD_CONFIG names it.");
        }
        *path = join(job, named, "");
        return *path ? judge(job, *path) : job->error.status;
    }
    /* A relative path in XDG_CONFIG_HOME is to be ignored (XDG Base Directory Specification). */
    if (user && *user == '/') {
        status = find_in(job, user, tail, path);
    } else if (home && *home == '/') {
        status = find_in(job, home, "/.config/librecord/librecord.ini", path);
    }
    if (status == REC_OK && *path) {
        status = judge(job, *path);
    } else if (status == REC_OK) {
        status = find_in(job, LR_SYSCONF_DIR, tail, path);
    }
    return status;
}
