/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Loads models of several files: the companion files of the main file. A job keeps a list of them: when it ends, a
 * record must not depend on the files. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/io/io_private.h"

/* Companion files that wait with an open descriptor for their views; other threads need descriptors too. */
enum { WAITING_MOST = 64 };

static int32_t keep(rec_job *job, rec_source *source)
{
    lr_kept *all = lr_kept_of(job);
    if (!all) {
        return job->error.status;
    }
    if (!lr_job_grow(job, (void *)&all->sources, all->count + 1, &all->room, sizeof(rec_source *))) {
        return job->error.status;
    }
    all->sources[all->count++] = lr_source_retain(source);
    all->waiting++;
    return REC_OK;
}

static bool is_shared(const rec_source *source)
{
    return atomic_load_explicit(&source->count, memory_order_acquire) > 1;
}

int32_t lr_siblings_settle(rec_job *job)
{
    lr_kept *all = job->kept;
    uint64_t kept = 0;
    int32_t status = REC_OK;
    if (!all) {
        return REC_OK;
    }
    for (uint64_t i = 0; i < all->count; i++) {
        rec_source *source = all->sources[i];
        if (status == REC_OK && !is_shared(source)) {
            lr_source_release(source);
        } else {
            status = status == REC_OK ? lr_source_settle(job, source) : status;
            all->sources[kept++] = source;
        }
    }
    all->count = kept;
    all->waiting = 0;
    return status;
}

bool lr_siblings_mapped(const rec_job *job, bool *any)
{
    const lr_kept *all = job->kept;
    bool mapped = true;
    *any = false;
    for (uint64_t i = 0; all && i < all->count; i++) {
        if (is_shared(all->sources[i])) {
            *any = true;
            mapped = mapped && lr_source_mapped(all->sources[i]);
        }
    }
    return mapped;
}

/* @param missing (out) set if it is not there; NULL: that is a failure as others are. */
static bool is_missing(int error, bool *missing)
{
    if (missing && (error == ENOENT || error == ENOTDIR)) {
        *missing = true;
        return true;
    }
    return false;
}

/* Checks the type of the file at the path: a FIFO or a device could block or never end. */
static int32_t check_regular(rec_job *job, const char *path, int fd, bool *missing)
{
    struct stat info;
    if ((fd < 0 ? stat(path, &info) : fstat(fd, &info)) != 0) {
        return is_missing(errno, missing) ? REC_OK : lr_path_refused(job, path, errno);
    }
    return S_ISREG(info.st_mode)
               ? REC_OK
               : lr_io_fail(job, path, REC_E_FORMAT, REC_UNKNOWN, NULL,
                            S_ISDIR(info.st_mode) ? "this is a directory, not a file" : "this is not a regular file");
}

static int32_t open_regular(rec_job *job, const char *path, int *fd, bool *missing)
{
    int error;
    int32_t status = lr_path_open(job, path, O_RDONLY, fd, &error);
    if (error == EMFILE || error == ENFILE) {
        status = lr_siblings_settle(job); /* they give their descriptors back */
        if (status == REC_OK) {
            status = lr_path_open(job, path, O_RDONLY, fd, &error);
        }
    }
    return error && status == REC_OK && !is_missing(error, missing) ? lr_path_refused(job, path, error) : status;
}

/* A file in the folder. @return NULL: the job has failed, or (`optional`) it is not there, be it since a moment ago. */
static rec_source *open_beside(rec_job *job, const rec_source *source, const char *path, bool optional)
{
    rec_source *beside = lr_source_new(job, path);
    const void *data;
    uint64_t size;
    int32_t status;
    bool missing = false, seen;
    int fd = -1;
    if (!beside) {
        return NULL;
    }
    status = lr_parallel_open(job, beside, source->may_map || source->may_map_late, optional ? &missing : NULL, &seen);
    /* Checked before it is opened: opening a FIFO could block. */
    if (status == REC_OK && !seen) {
        status = check_regular(job, path, -1, optional ? &missing : NULL);
    }
    if (status == REC_OK && !seen && !missing) {
        status = open_regular(job, path, &fd, optional ? &missing : NULL);
    }
    if (status == REC_OK && !seen && !missing) {
        status = check_regular(job, path, fd, NULL); /* it may have been replaced */
        if (status == REC_OK) {
            status = lr_path_begin(job, beside, fd, source->may_map || source->may_map_late);
            if (status == REC_OK && beside->may_map) {
                status = rec_source_view(job, beside, &data, &size); /* more files than may be open at once */
            }
        } else {
            (void)close(fd);
        }
    }
    if (status == REC_OK && !missing) {
        lr_job_sibling(job, rec_source_size(beside));
    } else {
        lr_source_release(beside);
        beside = NULL;
    }
    return beside;
}

/* In the folder of a file that was opened by its path. */
static int32_t file_beside(rec_job *job, const rec_source *source, const char *name, bool optional, rec_source **out)
{
    const lr_kept *all = job->kept;
    char *path = lr_path_sibling(job, source->name, lr_source_is_folder(source), name);
    int32_t status = path ? REC_OK : job->error.status;
    if (status == REC_OK && all && all->waiting >= WAITING_MOST) {
        status = lr_siblings_settle(job);
    }
    if (status == REC_OK) {
        *out = open_beside(job, source, path, optional);
        status = job->error.status;
        if (status != REC_OK) {
            rec_fail_hint(job, "It belongs to %s.", source->name);
        }
    }
    lr_release(job->allocator, path);
    return status;
}

/* @param optional that it is not there, or can be nowhere, is no failure: *out is NULL then. */
static int32_t find_beside(rec_job *job, rec_source *source, const char *name, bool optional, rec_source **out)
{
    bool any;
    int32_t status;
    const char *what = !job ? "job" : !source ? "source" : !name ? "name" : !out ? "out" : NULL;
    const char *function = optional ? "rec_source_beside_maybe" : "rec_source_beside";
    if (what) {
        lr_breach_null(job, function, what);
        return lr_breach_status(job);
    }
    any = source->located || source->ops->beside;
    *out = NULL;
    if (lr_call_is(LR_CALL_SAVE)) {
        return lr_breach(job, REC_UNKNOWN, "called %s() while it saves", function);
    }
    if (lr_job_failed(job)) {
        return job->error.status;
    }
    if (!any && !optional) {
        lr_excerpt brief;
        return lr_io_fail(job, source->name, REC_E_UNSUPPORTED, REC_UNKNOWN,
                          "Load it by the path of its file: memory, decompressed data and streams have no directory.",
                          "the model continues in another file, \"%s\", which is missing",
                          lr_excerpt_text(&brief, name));
    }
    status = source->written ? lr_check_own_name(job, source->name, REC_E_FORMAT, name)
                             : lr_check_own_path(job, source->name, REC_E_FORMAT, name);
    if (status != REC_OK || !any) {
        return status;
    }
    if (source->written) {
        *out = lr_sink_reopen_beside(source->written, name, optional);
        status = job->error.status;
    } else if (source->located) {
        status = file_beside(job, source, name, optional, out);
    } else {
        status = source->ops->beside(job, source, name, optional, out);
    }
    if (status == REC_OK && *out) {
        status = keep(job, *out);
    }
    if (status != REC_OK) {
        lr_source_release(*out);
        *out = NULL;
    } else if (*out) {
        lr_source_hand(*out, false);
    }
    return status;
}

int32_t rec_source_beside(rec_job *job, rec_source *source, const char *name, rec_source **out)
{
    return find_beside(job, source, name, false, out);
}

int32_t rec_source_beside_maybe(rec_job *job, rec_source *source, const char *name, rec_source **out)
{
    return find_beside(job, source, name, true, out);
}
