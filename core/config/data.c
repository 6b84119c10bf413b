/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The INI files that come with librecord: those of a directory, or those built into the library. */
#include "core/config/config.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/names.h"
#include "os/moved.h"
#include "os/trust.h"

#ifndef LR_DATA_DIR
#error "LR_DATA_DIR must be the directory of librecord's data, such as \"/usr/share/librecord\", or \"\": none"
#endif
#ifndef LR_OWN_DIR
#error "LR_OWN_DIR must be the directory of the library's file, or of the program if the library is static"
#endif

/* A directory with more files holds no data of librecord. */
enum { FILES_MOST = 1000 };

/** A list in progress. */
typedef struct lister {
    rec_job *job;
    lr_arena *arena;
    lr_ini_files *data;
} lister;

const lr_builtin_file *lr_builtin_find(const char *path)
{
    const lr_builtin_file *file = lr_builtin_files;
    while (file->path && strcmp(file->path, path) != 0) {
        file++;
    }
    return file->path ? file : NULL;
}

static int32_t add(lister *l, const char *path)
{
    lr_ini_files *data = l->data;
    if (data->count == FILES_MOST) {
        return lr_fail_line(l->job, REC_E_LIMIT, data->folder, 0, "more than %d INI files", FILES_MOST);
    }
    if (path) {
        data->files[data->count++] = path;
    }
    return l->job->error.status;
}

static int32_t folder_failed(lister *l, int error)
{
    char text[256];
    (void)lr_fail_line(l->job, REC_E_IO, l->data->folder, 0, "cannot read this directory of librecord's data: %s",
                       lr_system_words(error, text, sizeof text));
    return lr_job_errno(l->job, error);
}

/* Lists data->folder. A directory that does not exist has no files. */
static int32_t list_folder(lister *l)
{
    DIR *entries = opendir(l->data->folder);
    const struct dirent *entry;
    if (!entries) {
        return errno == ENOENT ? REC_OK : folder_failed(l, errno);
    }
    while (!lr_job_failed(l->job)) {
        const char *path;
        errno = 0;
        entry = readdir(entries);
        if (!entry) {
            (void)(errno ? folder_failed(l, errno) : REC_OK);
            break;
        }
        path = entry->d_name[0] != '.' && lr_ends_in(entry->d_name, ".ini")
                   ? lr_job_arena_format(l->job, l->arena, "%s/%s", l->data->folder, entry->d_name)
                   : NULL;
        if (path && lr_config_judge_data(l->job, path) == REC_OK) {
            (void)add(l, path);
        }
    }
    (void)closedir(entries);
    return l->job->error.status;
}

/* Lists the directory that was moved with the library, if nobody but root, this user and the owner of the library can
 * change it. */
static int32_t list_moved(lister *l)
{
    char reason[LR_REASON];
    lr_moved moved;
    if (lr_moved_find(LR_OWN_DIR, l->data->folder, &moved) &&
        !*lr_trust_folder(moved.path, &moved.state, moved.same_owner, reason)) {
        l->data->folder = lr_job_arena_text(l->job, l->arena, moved.path, strlen(moved.path));
        return l->data->folder ? list_folder(l) : l->job->error.status;
    }
    return REC_OK;
}

/* Lists the files of a kind in the library. */
static int32_t list_builtin(lister *l, const char *kind)
{
    size_t length;
    l->data->folder = lr_job_arena_format(l->job, l->arena, LR_BUILTIN "%s", kind);
    length = l->data->folder ? strlen(l->data->folder) : 0;
    for (const lr_builtin_file *file = lr_builtin_files; file->path && !lr_job_failed(l->job); file++) {
        if (strncmp(file->path, l->data->folder, length) == 0 && file->path[length] == '/') {
            (void)add(l, file->path);
        }
    }
    return l->job->error.status;
}

int32_t lr_ini_files_find(rec_job *job, lr_arena *arena, const char *kind, lr_ini_files *data)
{
    const char *given = lr_config_data(job->context);
    lister l = {.job = job, .arena = arena, .data = data};
    *data = (lr_ini_files){.folder = lr_job_arena_format(job, arena, "%s/%s", given ? given : LR_DATA_DIR, kind)};
    data->files = lr_job_arena_alloc(job, arena, FILES_MOST * sizeof *data->files, sizeof *data->files);
    if (!lr_job_failed(job) && (given || LR_DATA_DIR[0] != '\0')) {
        (void)list_folder(&l);
    }
    if (!lr_job_failed(job) && !data->count && !given && LR_DATA_DIR[0] != '\0') {
        (void)list_moved(&l);
    }
    if (!lr_job_failed(job) && !data->count && !given) {
        (void)list_builtin(&l, kind);
    }
    if (data->count) {
        qsort(data->files, (size_t)data->count, sizeof *data->files, lr_by_text);
    }
    return job->error.status;
}
