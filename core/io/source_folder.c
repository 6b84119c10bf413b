/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Folders as sources: they have the names of their files, and no bytes. */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/names.h"
#include "core/io/io_private.h"

/* Names of a folder that are listed. */
enum { NAMES_MOST = 100000 };

struct names {
    lr_arena text;
    const char **names; /* sorted */
    uint64_t count, room;
};

/* Whether an entry may be a file. A link that leads nowhere counts: whoever opens it says what is missing. Hidden ones
 * do not: they are what other programs leave behind. */
static bool is_file(int folder, const struct dirent *entry)
{
    struct stat info;
    if (entry->d_name[0] == '.' || strlen(entry->d_name) > NAME_MAX) {
        return false;
    }
    if (entry->d_type == DT_LNK || entry->d_type == DT_UNKNOWN) {
        if (fstatat(folder, entry->d_name, &info, 0) != 0) {
            return errno == ENOENT;
        }
        return S_ISREG(info.st_mode);
    }
    return entry->d_type == DT_REG;
}

static int32_t add_entry(rec_job *job, const rec_source *source, struct names *entries, const char *name)
{
    const char *kept;
    if (entries->count == NAMES_MOST) {
        char most[32];
        return lr_io_fail(job, source->name, REC_E_LIMIT, REC_UNKNOWN, "Give the name of a file in it.",
                          "the directory holds more than %s files", lr_group_digits(NAMES_MOST, most, sizeof most));
    }
    if (!lr_job_grow(job, (void *)&entries->names, entries->count + 1, &entries->room, sizeof(char *))) {
        return job->error.status;
    }
    kept = lr_arena_text(&entries->text, name, strlen(name));
    if (!kept) {
        return lr_fail_memory(job, strlen(name) + 1);
    }
    entries->names[entries->count++] = kept;
    return REC_OK;
}

/* Rejects a read of the bytes of a directory. */
static int32_t folder_view(rec_job *job, rec_source *source)
{
    return lr_io_fail(job, source->name, REC_E_UNSUPPORTED, REC_UNKNOWN, "Give the name of a file.",
                      "this is a directory, not a file");
}

static int32_t folder_next(rec_job *job, rec_source *source, void *target, uint64_t room, uint64_t *got)
{
    (void)target, (void)room;
    *got = 0;
    return folder_view(job, source);
}

static uint64_t folder_size(const rec_source *source)
{
    (void)source;
    return 0;
}

static const char *const *folder_names(const rec_source *source, uint64_t *count)
{
    const struct names *entries = source->self;
    *count = entries->count;
    return entries->names;
}

static void folder_release(rec_source *source)
{
    struct names *entries = source->self;
    lr_release(source->allocator, (void *)entries->names);
    lr_arena_free(&entries->text);
    lr_release(source->allocator, entries);
}

static const lr_source_ops folder_ops = {
    .stored = true,
    .size = folder_size,
    .view = folder_view,
    .next = folder_next,
    .names = folder_names,
    .release = folder_release,
};

int32_t lr_source_list(rec_job *job, rec_source *source, int fd)
{
    DIR *folder = fdopendir(fd);
    struct names *entries = NULL;
    int32_t status = REC_OK;
    for (size_t end = strlen(source->name); end > 1 && source->name[end - 1] == '/'; end--) {
        source->name[end - 1] = '\0'; /* so that it ends in the folder's own name */
    }
    if (!folder) {
        status = lr_io_errno(job, source->name, REC_UNKNOWN, NULL, errno, "list the directory");
        (void)close(fd);
        return status;
    }
    entries = lr_zalloc(source->allocator, sizeof *entries);
    if (!entries) {
        status = lr_fail_memory(job, sizeof *entries);
        goto done;
    }
    lr_arena_init(&entries->text, source->allocator);
    source->ops = &folder_ops;
    source->self = entries; /* released with the source, also after a failure */
    if (!lr_job_grow(job, (void *)&entries->names, 1, &entries->room, sizeof(char *))) {
        status = job->error.status; /* never NULL: that is how a plugin tells a folder from a file */
        goto done;
    }
    while (status == REC_OK) {
        const struct dirent *entry;
        errno = 0;
        entry = readdir(folder);
        if (!entry) {
            if (errno) {
                status = lr_io_errno(job, source->name, REC_UNKNOWN, NULL, errno, "list the directory");
            }
            break;
        }
        if (is_file(dirfd(folder), entry)) {
            status = add_entry(job, source, entries, entry->d_name);
        }
    }
    if (status == REC_OK) {
        qsort((void *)entries->names, (size_t)entries->count, sizeof *entries->names, lr_by_text);
    }
done:
    (void)closedir(folder);
    return status;
}
