/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Writing the index of a folder of plugins: all of its files are opened for it. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "core/base/base.h"
#include "core/config/config.h"
#include "core/registry/table_private.h"

/* Whether it can be used as a whole. What is wrong with a plugin may be this librecord, or what the file needs. */
static bool is_whole(const lr_file *file)
{
    bool whole = !file->refused;
    for (uint64_t i = 0; whole && i < file->count; i++) {
        whole = !file->finds[i]->refused;
    }
    return whole;
}

/* A file that changes while it is looked at, or of which something was refused, is left out: it will be opened whenever
 * it is asked for. */
static void write_file(rec_job *job, lr_table *t, lr_file *file, FILE *out)
{
    char reason[LR_REASON];
    struct stat before, after;
    if (*lr_trust_file(file->path, file->installed, &before, reason) || lr_table_see(job, t, file, true) != REC_OK ||
        *lr_trust_file(file->path, file->installed, &after, reason) || before.st_size != after.st_size ||
        before.st_mtim.tv_sec != after.st_mtim.tv_sec || before.st_mtim.tv_nsec != after.st_mtim.tv_nsec ||
        !is_whole(file)) {
        return;
    }
    lr_index_add_file(out, file->name, &before);
    for (uint64_t i = 0; i < file->count; i++) {
        lr_index_add_plugin(out, &file->finds[i]->plugin.d);
    }
}

/* Beside the one that there may be, which it replaces when it is whole. */
static int32_t replace_index(rec_job *job, const char *folder, const char *text, size_t size)
{
    char path[PATH_MAX], made[PATH_MAX] = "";
    bool written = false;
    int fd = -1, error = ENAMETOOLONG;
    if (snprintf(path, sizeof path, "%s/" LR_INDEX_NAME, folder) < (int)sizeof path &&
        snprintf(made, sizeof made, "%s/." LR_INDEX_NAME "-XXXXXX", folder) < (int)sizeof made) {
        fd = mkstemp(made);
        error = errno;
    }
    if (fd >= 0) {
        FILE *out = fdopen(fd, "w");
        written = out && fwrite(text, 1, size, out) == size && fflush(out) == 0 && fchmod(fd, 0644) == 0;
        written = (out ? fclose(out) : close(fd)) == 0 && written && rename(made, path) == 0;
        error = errno;
        if (!written) {
            (void)unlink(made);
        }
    }
    return written ? REC_OK : lr_fail_errno(job, error, "write the index of the folder");
}

static int32_t write_files(rec_job *job, lr_table *t, const char *folder)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out) {
        return lr_fail_memory(job, BUFSIZ);
    }
    lr_index_begin(out);
    for (uint64_t i = 0; i < t->file_count && !lr_job_failed(job); i++) {
        write_file(job, t, t->files[i], out);
    }
    if (fflush(out) == 0) {
        lr_index_end(out, text, size);
    }
    if (fclose(out) != 0) {
        (void)lr_fail_memory(job, size);
    }
    if (!lr_job_failed(job)) {
        (void)replace_index(job, folder, text, size);
    }
    free(text);
    return job->error.status;
}

/* Writing the index runs the code of the plugins. Any directory but the compiled-in one must therefore be safe for the
 * caller, and a set-user-ID program indexes the compiled-in one alone. */
static int32_t check_folder(rec_job *job, const char *real, bool installed)
{
    char reason[LR_REASON];
    struct stat state;
    if (stat(real, &state) != 0) {
        return lr_fail_errno(job, errno, "open the folder");
    }
    if (!installed && getauxval(AT_SECURE) != 0) {
        return rec_fail(job, REC_E_PLUGIN, REC_UNKNOWN,
                        "a set-user-ID program opens plugins of the installed folder alone, %s", LR_PLUGIN_DIR);
    }
    if (*lr_trust_folder(real, &state, installed, reason)) {
        (void)rec_fail(job, REC_E_PLUGIN, REC_UNKNOWN, "%s", reason);
        rec_fail_hint(job, "Writing the index runs the code of the plugins: run it as the owner of the folder.");
    }
    return job->error.status;
}

static bool is_installed(const char *real)
{
    char installed[PATH_MAX];
    return realpath(LR_PLUGIN_DIR, installed) && strcmp(real, installed) == 0;
}

static int32_t index_folder(rec_job *job, const char *folder)
{
    char real[PATH_MAX];
    bool installed;
    lr_table *t;
    if (lr_static_build()) {
        return rec_fail(job, REC_E_UNSUPPORTED, REC_UNKNOWN, "this librecord is a static one, which opens no plugins");
    }
    if (!realpath(folder, real)) {
        return lr_fail_errno(job, errno, "open the folder");
    }
    installed = is_installed(real);
    if (check_folder(job, real, installed) != REC_OK) {
        return job->error.status;
    }
    t = lr_table_of_folder(job, real, installed);
    for (uint64_t i = 0; t && i < t->file_count && !lr_job_failed(job); i++) {
        if (!t->files[i]->name && t->files[i]->refused) {
            (void)rec_fail(job, REC_E_PLUGIN, REC_UNKNOWN, "%s", t->files[i]->refused);
        }
    }
    if (t && !lr_job_failed(job)) {
        (void)write_files(job, t, real);
    }
    if (t) {
        lr_table_free(job->allocator, t);
    }
    return job->error.status;
}

rec_status rec_index_plugins(rec_context *context, const char *folder)
{
    rec_job job;
    if (LR_NULL(folder)) {
        return REC_E_ARGUMENT;
    }
    lr_job_open(&job, context, "index", folder);
    if (!lr_job_failed(&job)) {
        (void)index_folder(&job, folder);
    }
    return lr_job_end(&job);
}
