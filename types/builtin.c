/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Burn's own types: a folder of INI files that comes with librecord. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/config/config.h"
#include "types/types.h"

#ifndef LR_DATA_DIR
#error "LR_DATA_DIR must be the folder of librecord's data, such as \"/usr/share/librecord\""
#endif

static void *take(rec_job *job, lr_arena *arena, uint64_t size)
{
    void *memory = lr_arena_alloc(arena, size, 8);
    if (!memory) {
        (void)lr_fail_memory(job, size);
    }
    return memory;
}

/** Paths of files, in an arena. */
typedef struct paths {
    const char **list;
    uint64_t count, room;
} paths;

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static const char *join(rec_job *job, lr_arena *arena, const char *folder, const char *name)
{
    size_t head = strlen(folder), tail = strlen(name);
    char *path = take(job, arena, head + tail + 2);
    if (path) {
        memcpy(path, folder, head);
        path[head] = '/';
        memcpy(path + head + 1, name, tail + 1);
    }
    return path;
}

static int32_t add_path(rec_job *job, lr_arena *arena, paths *all, const char *path)
{
    if (path && lr_config_judge_data(job, path) == REC_OK &&
        lr_job_arena_grow(job, arena, (void *)&all->list, all->count + 1, &all->room, sizeof path)) {
        all->list[all->count++] = path;
    }
    return job->error.status;
}

static int32_t folder_failed(rec_job *job, const char *folder, int error)
{
    char text[256];
    (void)lr_fail_line(job, REC_E_IO, folder, 0, "cannot read the folder of Burn's own types: %s",
                       lr_errno_words(error, text, sizeof text));
    (void)lr_job_errno(job, error);
    rec_fail_hint(job, "It comes with librecord. The environment variable LIBRECORD_DATA names the folder above it.");
    return job->error.status;
}

/* All *.ini of a folder, in the order of their names. */
static int32_t list_folder(rec_job *job, lr_arena *arena, const char *folder, paths *all)
{
    DIR *entries = opendir(folder);
    int32_t status = REC_OK;
    if (!entries) {
        return folder_failed(job, folder, errno);
    }
    while (status == REC_OK) {
        const struct dirent *entry;
        size_t length;
        errno = 0;
        entry = readdir(entries);
        if (!entry) {
            status = errno ? folder_failed(job, folder, errno) : REC_OK;
            break;
        }
        length = strlen(entry->d_name);
        if (entry->d_name[0] != '.' && length > 4 && strcmp(entry->d_name + length - 4, ".ini") == 0) {
            status = add_path(job, arena, all, join(job, arena, folder, entry->d_name));
        }
    }
    (void)closedir(entries);
    if (status == REC_OK && !all->count) {
        status = folder_failed(job, folder, ENOENT);
    }
    if (status == REC_OK) {
        qsort(all->list, (size_t)all->count, sizeof *all->list, by_text);
    }
    return status;
}

int32_t lr_types_add_builtin(rec_job *job, rec_types *types)
{
    const char *data = secure_getenv("LIBRECORD_DATA");
    const char *folder;
    paths all = {0};
    int32_t status;
    if (types->builtin) {
        return REC_OK;
    }
    folder = join(job, &types->arena, data && *data ? data : LR_DATA_DIR, "modules");
    status = folder ? list_folder(job, &types->arena, folder, &all) : job->error.status;
    status = status == REC_OK ? lr_types_add_inis(job, types, all.list, all.count) : status;
    types->builtin = status == REC_OK;
    return status;
}
