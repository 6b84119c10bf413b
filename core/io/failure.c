/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The system's failures put into words, waiting that can be cancelled, and names that stay in their folder. */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <string.h>

#include "core/io/io_private.h"

/* Messages name the file that the trouble is in; a job that converts works on two. */
int32_t lr_io_fail(rec_job *job, const char *file, int32_t status, uint64_t at, const char *hint, const char *format,
                   ...)
{
    const char *whole = job->file;
    va_list args;
    if (lr_job_failed(job)) {
        return job->error.status; /* the first failure counts, and so does its hint */
    }
    job->file = file;
    va_start(args, format);
    status = lr_vfail(job, status, at, format, args);
    va_end(args);
    job->file = whole;
    job->named = true;
    if (hint) {
        rec_fail_hint(job, "%s", hint);
    }
    return status;
}

static int32_t fail_errno(rec_job *job, const char *file, uint64_t at, const char *hint, int error, const char *doing,
                          int32_t missing)
{
    char text[64];
    int32_t status = error == ENOENT || error == ENOTDIR ? missing : error == ENOMEM ? REC_E_MEMORY : REC_E_IO;
    bool first = !lr_job_failed(job);
    status = lr_io_fail(job, file, status, at, hint, "cannot %s: %s", doing, lr_system_words(error, text, sizeof text));
    return first ? lr_job_errno(job, error) : status;
}

int32_t lr_io_errno(rec_job *job, const char *file, uint64_t at, const char *hint, int error, const char *doing)
{
    return fail_errno(job, file, at, hint, error, doing, REC_E_NOT_FOUND);
}

int32_t lr_io_program(rec_job *job, const char *file, uint64_t at, int32_t error, const char *doing, bool opens)
{
    file = file ? file : job->file ? job->file : "";
    if (error == 0 || lr_job_failed(job)) {
        return job->error.status;
    }
    if (error == ECANCELED) {
        return lr_io_fail(job, file, REC_E_CANCELLED, REC_UNKNOWN, NULL, "cancelled by the caller");
    }
    if (error < 0) {
        return lr_io_fail(job, file, REC_E_IO, at, NULL,
                          "cannot %s: the program's function returned %d, which is not an errno", doing, (int)error);
    }
    return fail_errno(job, file, at, NULL, error, doing, opens ? REC_E_NOT_FOUND : REC_E_IO);
}

int32_t lr_io_interrupted(rec_job *job)
{
    return rec_job_progress(job, job->progress.done, job->progress.total);
}

int32_t lr_io_moved(rec_job *job, uint64_t size)
{
    bool counts = strcmp(job->operation, "read") == 0 && size <= job->progress.total - job->progress.done;
    return rec_job_progress(job, job->progress.done + (counts ? size : 0), job->progress.total);
}

int32_t lr_io_shrank(rec_job *job, const char *file, uint64_t at, uint64_t size)
{
    char had[32];
    return lr_io_fail(job, file, REC_E_IO, at, "Load it again when no other program writes to it.",
                      "the file shrank while it was read: it had %s bytes", lr_group_digits(size, had, sizeof had));
}

int32_t lr_io_wait(rec_job *job, int fd, short events)
{
    enum { LOOK_EVERY_MS = 200 };
    struct pollfd one = {.fd = fd, .events = events};
    for (;;) {
        int n = poll(&one, 1, LOOK_EVERY_MS);
        int32_t status;
        if (n > 0 || (n < 0 && errno != EINTR && errno != EAGAIN)) {
            return REC_OK; /* ready, or the next read or write says what is wrong */
        }
        status = lr_io_interrupted(job);
        if (status != REC_OK) {
            return status;
        }
    }
}

int32_t lr_said_why(rec_job *job, int32_t status, const char *whose)
{
    if (status != REC_OK && !lr_job_failed(job)) {
        return lr_breach(job, REC_UNKNOWN, "has %s that failed with status %d and gave no reason", whose, (int)status);
    }
    return status;
}

/* ------------------------------------------------------------------------------------------------------- names -- */

const char *lr_own_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static const char hint[] = "The files of a model must be in one directory: names that lead out of it are rejected.";

/* A name in a file may be an address. */
static const char *quoted(lr_excerpt *brief, const char *name)
{
    char shown[LR_NAME_MOST + 2];
    (void)lr_display(name, shown, sizeof shown);
    return lr_excerpt_text(brief, shown);
}

int32_t lr_check_own_name(rec_job *job, const char *file, int32_t status, const char *name)
{
    lr_excerpt brief;
    size_t length = strnlen(name, NAME_MAX + 1);
    if (length == 0) {
        return lr_io_fail(job, file, status, REC_UNKNOWN, NULL, "the name of another file is empty");
    }
    if (length > NAME_MAX) {
        return lr_io_fail(job, file, status, REC_UNKNOWN, NULL,
                          "the name of another file, \"%s\", is longer than %d bytes", quoted(&brief, name), NAME_MAX);
    }
    if (strchr(name, '/') || strcmp(name, ".") == 0 || strcmp(name, "..") == 0) {
        return lr_io_fail(job, file, status, REC_UNKNOWN, hint,
                          "it names the file \"%s\", which is not a plain file name", quoted(&brief, name));
    }
    return REC_OK;
}

/* One name of a relative path. */
static bool is_plain(const char *name, size_t length)
{
    return length && length <= NAME_MAX && !(length <= 2 && memcmp(name, "..", length) == 0);
}

int32_t lr_check_own_path(rec_job *job, const char *file, int32_t status, const char *path)
{
    lr_excerpt brief;
    const char *slash = strchr(path, '/');
    if (!slash) {
        return lr_check_own_name(job, file, status, path);
    }
    if (strnlen(path, PATH_MAX) == PATH_MAX) {
        return lr_io_fail(job, file, status, REC_UNKNOWN, NULL,
                          "the path of another file, \"%s\", is longer than %d bytes", quoted(&brief, path),
                          PATH_MAX - 1);
    }
    for (const char *at = path; at; at = slash ? slash + 1 : NULL) {
        slash = strchr(at, '/');
        if (!is_plain(at, slash ? (size_t)(slash - at) : strlen(at))) {
            return lr_io_fail(job, file, status, REC_UNKNOWN, hint,
                              "it names the file \"%s\", which is not a path below its own directory",
                              quoted(&brief, path));
        }
    }
    return REC_OK;
}

char *lr_path_sibling(rec_job *job, const char *path, bool inside, const char *name)
{
    const char *slash = strrchr(path, '/');
    size_t folder = inside ? strlen(path) : slash ? (size_t)(slash - path) + 1 : 0;
    size_t length = strlen(name) + 1;
    bool bare = folder && path[folder - 1] != '/';
    char *beside = lr_job_alloc(job, folder + bare + length);
    if (!beside) {
        return NULL;
    }
    memcpy(beside, path, folder);
    if (bare) {
        beside[folder] = '/';
    }
    memcpy(beside + folder + bare, name, length);
    return beside;
}

char *lr_display_name(rec_job *job, const char *path)
{
    uint64_t room = lr_display(path, NULL, 0) + 1;
    char *name = lr_job_alloc(job, room);
    if (name) {
        (void)lr_display(path, name, room);
    }
    return name;
}
