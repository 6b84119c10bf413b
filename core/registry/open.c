/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Folders of plugins: which files in them are to be opened, in the order of their names. */
#include "core/registry/open_private.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/names.h"

/* A folder with more shared objects is no folder of plugins (it may be /usr/lib): opening them runs their code. */
enum { FILES_MOST = 256 };

/* The charset that libltdl, C symbols and all file systems agree on. */
static bool file_name_valid(const char *name)
{
    size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_-");
    return length > 0 && strcmp(name + length, ".so") == 0;
}

/** A folder that is looked into. */
typedef struct place {
    const char *path; /**< without links */
    bool installed;
    char refused[LR_REASON]; /**< why its files are not opened, or "" */
} place;

bool lr_reason_is_memory(const char *reason)
{
    return strcasestr(reason, "cannot allocate memory") || strcasestr(reason, "not enough memory");
}

static int32_t refuse(rec_job *job, lr_opener *opener, const char *path, const char *reason)
{
    const lr_listed listed = {.path = path, .refused = reason};
    if (lr_reason_is_memory(reason)) {
        return rec_fail(job, REC_E_MEMORY, REC_UNKNOWN, "out of memory while listing the plugins of %s", path);
    }
    return opener->file(opener->user, job, &listed);
}

static int32_t tell_file(rec_job *job, lr_opener *opener, const place *folder, const char *name)
{
    char path[PATH_MAX];
    lr_listed listed = {.path = path, .name = name, .installed = folder->installed};
    if (snprintf(path, sizeof path, "%s/%s", strcmp(folder->path, "/") == 0 ? "" : folder->path, name) >=
        (int)sizeof path) {
        return refuse(job, opener, folder->path, "the path of a file in it is too long");
    }
    if (*folder->refused) {
        listed.refused = folder->refused;
    } else if (!file_name_valid(name)) {
        listed.refused = "its name may have a-z, 0-9, \"_\" and \"-\" before the .so";
    }
    return opener->file(opener->user, job, &listed);
}

/** The .so files of a folder. */
typedef struct listing {
    char *names[FILES_MOST];
    size_t count;
    bool too_many;
} listing;

static int32_t list(rec_job *job, lr_opener *opener, DIR *folder, listing *files)
{
    const struct dirent *entry;
    files->count = 0;
    files->too_many = false;
    while ((entry = readdir(folder))) {
        if (!lr_ends_in(entry->d_name, ".so")) {
            continue;
        }
        if (files->count == FILES_MOST) {
            files->too_many = true;
            break;
        }
        files->names[files->count] = lr_job_arena_text(job, opener->arena, entry->d_name, strlen(entry->d_name));
        if (!files->names[files->count]) {
            return job->error.status;
        }
        files->count++;
    }
    qsort(files->names, files->count, sizeof files->names[0], lr_by_text);
    return REC_OK;
}

/* @return whether it was there already. On failure of the job: true. */
static bool seen_before(rec_job *job, lr_opener *opener, const struct stat *state)
{
    for (uint64_t i = 0; i < opener->seen_count; i++) {
        if (opener->seen[i].device == state->st_dev && opener->seen[i].inode == state->st_ino) {
            return true;
        }
    }
    if (!lr_job_arena_grow(job, opener->arena, &opener->seen, opener->seen_count + 1, &opener->seen_room,
                           sizeof *opener->seen)) {
        return true;
    }
    opener->seen[opener->seen_count++] = (lr_seen){state->st_dev, state->st_ino};
    return false;
}

static int32_t tell_files(rec_job *job, lr_opener *opener, place *where, DIR *folder)
{
    char reason[LR_REASON];
    struct stat state;
    listing files;
    if (fstat(dirfd(folder), &state) != 0) {
        return refuse(job, opener, where->path, lr_reason_errno(errno, reason, "inspect the directory"));
    }
    if (seen_before(job, opener, &state) || list(job, opener, folder, &files) != REC_OK) {
        return job->error.status;
    }
    if (files.too_many) {
        (void)snprintf(reason, sizeof reason,
                       "the directory has more than %d shared objects: it is not a directory of plugins", FILES_MOST);
        return refuse(job, opener, where->path, reason);
    }
    if (*lr_trust_folder(where->path, &state, where->installed, where->refused) && files.count == 0) {
        return refuse(job, opener, where->path, where->refused);
    }
    for (size_t i = 0; i < files.count && !lr_job_failed(job); i++) {
        (void)tell_file(job, opener, where, files.names[i]);
    }
    return job->error.status;
}

int32_t lr_list_folder(rec_job *job, lr_opener *opener, const char *folder, bool installed)
{
    char real[PATH_MAX], reason[LR_REASON];
    place where = {.path = real, .installed = installed};
    int32_t status;
    DIR *entries;
    int fd;
    if (*folder != '/') {
        return refuse(job, opener, folder, "the directory's path is not absolute");
    }
    if (!realpath(folder, real)) {
        if (installed && errno == ENOENT) {
            return REC_OK;
        }
        return refuse(job, opener, folder,
                      errno == ENOENT ? "there is no such directory"
                                      : lr_reason_errno(errno, reason, "open the directory"));
    }
    /* By descriptor: what is checked and what is listed are one folder. */
    fd = open(real, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) {
        return refuse(job, opener, folder,
                      errno == ENOTDIR ? "it is not a directory"
                                       : lr_reason_errno(errno, reason, "open the directory"));
    }
    entries = fdopendir(fd);
    if (!entries) {
        status = refuse(job, opener, folder, lr_reason_errno(errno, reason, "read the directory"));
        (void)close(fd);
        return status;
    }
    status = tell_files(job, opener, &where, entries);
    (void)closedir(entries);
    return status;
}
