/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Models in several files: folders as sources, which have names and no bytes, and the files beside the one that is
 * loaded. A job keeps count of those, since at its end what a record keeps of them must not depend on the files. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/io/io_private.h"
#include "core/base/text.h"

/* Names of a folder that are listed. */
enum { NAMES_MOST = 100000 };
/* Files beside that may wait with a descriptor each before their views are made; other threads want some too. */
enum { WAITING_MOST = 64 };

/* ------------------------------------------------------------------------------------------------------- folders -- */

struct lr_entries {
    lr_arena text;
    const char **names; /* sorted */
    uint64_t count, room;
};

void lr_entries_free(rec_source *source)
{
    lr_entries *entries = source->entries;
    if (entries) {
        lr_release(source->allocator, (void *)entries->names);
        lr_arena_free(&entries->text);
        lr_release(source->allocator, entries);
        source->entries = NULL;
    }
}

int32_t lr_entries_fail(rec_job *job, const rec_source *source)
{
    return lr_io_fail(job, source->name, REC_E_UNSUPPORTED, REC_UNKNOWN, "Give the name of a file.",
                      "this is a folder, not a file");
}

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

static int32_t add_entry(rec_job *job, const rec_source *source, lr_entries *entries, const char *name)
{
    const char *kept;
    if (entries->count == NAMES_MOST) {
        char most[32];
        return lr_io_fail(job, source->name, REC_E_LIMIT, REC_UNKNOWN, "Give the name of a file in it.",
                          "the folder holds more than %s files", lr_group_digits(NAMES_MOST, most, sizeof most));
    }
    if (entries->count == entries->room) {
        uint64_t room = entries->room ? entries->room * 2 : 16;
        const char **names = lr_resize(source->allocator, (void *)entries->names, room * sizeof *names);
        if (!names) {
            return lr_fail_memory(job, room * sizeof *names);
        }
        entries->names = names;
        entries->room = room;
    }
    kept = lr_arena_text(&entries->text, name, strlen(name));
    if (!kept) {
        return lr_fail_memory(job, strlen(name) + 1);
    }
    entries->names[entries->count++] = kept;
    return REC_OK;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

int32_t lr_entries_begin(rec_job *job, rec_source *source, int fd)
{
    DIR *folder = fdopendir(fd);
    lr_entries *entries = NULL;
    int32_t status = REC_OK;
    for (size_t end = strlen(source->name); end > 1 && source->name[end - 1] == '/'; end--) {
        source->name[end - 1] = '\0'; /* so that it ends in the folder's own name */
    }
    if (!folder) {
        status = lr_io_errno(job, source->name, REC_UNKNOWN, NULL, errno, "list the folder");
        (void)close(fd);
        return status;
    }
    entries = lr_zalloc(source->allocator, sizeof *entries);
    if (!entries) {
        status = lr_fail_memory(job, sizeof *entries);
        goto done;
    }
    lr_arena_init(&entries->text, source->allocator);
    source->entries = entries; /* released with the source, also after a failure */
    entries->names = lr_zalloc(source->allocator, sizeof *entries->names);
    if (!entries->names) { /* never NULL: that is how a folder is told from a file */
        status = lr_fail_memory(job, sizeof *entries->names);
        goto done;
    }
    entries->room = 1;
    while (status == REC_OK) {
        const struct dirent *entry;
        errno = 0;
        entry = readdir(folder);
        if (!entry) {
            if (errno) {
                status = lr_io_errno(job, source->name, REC_UNKNOWN, NULL, errno, "list the folder");
            }
            break;
        }
        if (is_file(dirfd(folder), entry)) {
            status = add_entry(job, source, entries, entry->d_name);
        }
    }
    if (status == REC_OK) {
        qsort((void *)entries->names, entries->count, sizeof *entries->names, by_name);
    }
done:
    (void)closedir(folder);
    return status;
}

bool lr_source_is_folder(const rec_source *source)
{
    return source->entries != NULL;
}

int32_t rec_source_names(rec_job *job, rec_source *source, const char *const **names, uint64_t *count)
{
    *names = source->entries ? source->entries->names : NULL;
    *count = source->entries ? source->entries->count : 0;
    return job->error.status;
}

/* --------------------------------------------------------------------------------------------------- files beside -- */

/* What the job keeps. */
typedef struct besides {
    rec_source **sources;
    uint64_t count, room;
    uint64_t waiting; /* opened since they were last settled */
} besides;

static int32_t keep(rec_job *job, rec_source *source)
{
    besides *all = job->kept;
    if (!all) {
        all = job->kept = lr_zalloc(job->allocator, sizeof *all);
        if (!all) {
            return lr_fail_memory(job, sizeof *all);
        }
        job->at_end = lr_besides_drop;
    }
    if (all->count == all->room) {
        uint64_t room = all->room ? all->room * 2 : 8;
        rec_source **sources = lr_resize(job->allocator, (void *)all->sources, room * sizeof *sources);
        if (!sources) {
            return lr_fail_memory(job, room * sizeof *sources);
        }
        all->sources = sources;
        all->room = room;
    }
    all->sources[all->count++] = lr_source_retain(source);
    all->waiting++;
    return REC_OK;
}

static bool is_shared(const rec_source *source)
{
    return atomic_load_explicit(&source->count, memory_order_acquire) > 1;
}

int32_t lr_besides_settle(rec_job *job)
{
    besides *all = job->kept;
    uint64_t kept = 0;
    int32_t status = REC_OK;
    if (!all) {
        return REC_OK;
    }
    for (uint64_t i = 0; i < all->count; i++) {
        rec_source *source = all->sources[i];
        if (status == REC_OK && !is_shared(source)) {
            rec_source_release(source);
        } else {
            status = status == REC_OK ? lr_source_settle(job, source) : status;
            all->sources[kept++] = source;
        }
    }
    all->count = kept;
    all->waiting = 0;
    return status;
}

bool lr_besides_mapped(const rec_job *job, bool *any)
{
    const besides *all = job->kept;
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

void lr_besides_drop(rec_job *job)
{
    besides *all = job->kept;
    if (all) {
        for (uint64_t i = 0; i < all->count; i++) {
            rec_source_release(all->sources[i]);
        }
        lr_release(job->allocator, (void *)all->sources);
        lr_release(job->allocator, all);
        job->kept = NULL;
        job->at_end = NULL;
    }
    job->beside = 0;
}

int32_t rec_source_beside(rec_job *job, rec_source *source, const char *name, rec_source **out)
{
    const besides *all = job->kept;
    char *path = NULL;
    rec_source *beside = NULL;
    int32_t status;
    *out = NULL;
    if (lr_job_failed(job)) {
        return job->error.status;
    }
    if (!source->located) {
        lr_brief brief;
        return lr_io_fail(job, source->name, REC_E_UNSUPPORTED, REC_UNKNOWN,
                          "Load it by the path of its file: what is in memory, inflated or a stream has no folder.",
                          "the model goes on in another file, \"%s\", and there is none beside this one",
                          lr_brief_text(&brief, name));
    }
    status = lr_check_own_name(job, source->name, REC_E_FORMAT, name);
    if (status == REC_OK) {
        path = lr_path_beside(job, source->name, source->entries != NULL, name);
        status = path ? REC_OK : job->error.status;
    }
    if (status == REC_OK && all && all->waiting >= WAITING_MOST) {
        status = lr_besides_settle(job);
    }
    if (status == REC_OK) {
        beside = lr_source_open_beside(job, source, path);
        if (!beside) {
            status = job->error.status;
            rec_fail_hint(job, "It belongs to %s.", source->name);
        }
    }
    if (status == REC_OK) {
        status = keep(job, beside);
    }
    if (status == REC_OK) {
        *out = beside;
        beside = NULL;
    }
    rec_source_release(beside);
    lr_release(job->allocator, path);
    return status;
}
