/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Sets: models of several files with an index, which replace older sets atomically. Without an older set the files get
 * the requested names, STEM-TAIL. Otherwise they are called STEM-LETTERS-TAIL, with the letters of the index's
 * temporary file, so that old and new files coexist until the new index is exchanged with the old one. The files of
 * the old index are removed afterwards. The temporary file of such an index ends in `.librecord-set` and stays locked
 * until the end. It identifies the files that a killed save left. If the save was killed before the exchange, these
 * have its letters and the valid index does not name them; if after it, the temporary file is the old index and names
 * them. So the next save, after it has the lock and has read the index, removes files that have those letters or are
 * named there, unless the valid index names them. An index names its files as plain text: writers of sets guarantee
 * this. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/io/sink_file_private.h"

/* A longer index is not looked into, and nothing of its set is removed. */
enum { INDEX_MOST = 256 << 20 };

struct lr_set {
    char *stem, *tail;
    char *folder;     /* in which they are */
    bool own;         /* its files have letters in their names */
    bool begun;       /* what was left behind is swept */
    bool has_like;    /* there are files of an older set, and… */
    struct stat like; /* …whose they are, and what all of them allow */
    lr_access access; /* …and what their access control lists do */
    bool exchanged;   /* the temporary file is the old index */
    bool looked;      /* that was read… */
    char *text;       /* …and this is it */
    size_t size;
};

/* A file in the folder whose name is one of the set's. */
typedef struct set_file {
    char *name;
    bool current, old; /* the index that counts names it, another one does */
} set_file;

typedef struct set_files {
    rec_job *job;
    const lr_set *set;
    int folder; /* -1: it may not be listed */
    set_file *files;
    uint64_t count, room;
    bool full; /* out of memory */
} set_files;

/* ------------------------------------------------------------------------------------------------------- names -- */

/* @return the length of the prefix that matches `-TAIL` up to its digits, 0 if none does. */
static size_t match_tail(const lr_set *set, const char *text, size_t left)
{
    size_t length = strlen(set->tail) + 1;
    if (left < length || text[0] != '-') {
        return 0;
    }
    for (size_t i = 1; i < length; i++) {
        if (lr_is_digit(set->tail[i - 1]) ? !lr_is_digit(text[i]) : text[i] != set->tail[i - 1]) {
            return 0;
        }
    }
    return length;
}

/* Parses the part after the stem. @param letters (out) NULL if it has none. @return its length, or 0. */
static size_t match(const lr_set *set, const char *text, size_t left, const char **letters)
{
    size_t length = left > LR_LETTERS + 1 && text[0] == '-' && lr_temporary_are_letters(text + 1)
                        ? match_tail(set, text + LR_LETTERS + 1, left - LR_LETTERS - 1)
                        : 0;
    *letters = length ? text + 1 : NULL;
    return length ? length + LR_LETTERS + 1 : match_tail(set, text, left);
}

/* Whether a whole name is one of the set's. @param letters (out) as above. */
static bool is_of_set(const lr_set *set, const char *name, const char **letters)
{
    size_t stem = strlen(set->stem), length = strlen(name);
    return length > stem && memcmp(name, set->stem, stem) == 0 &&
           match(set, name + stem, length - stem, letters) == length - stem;
}

/* ------------------------------------------------------------------------------------------------------- files -- */

static void close_files(set_files *all)
{
    for (uint64_t i = 0; i < all->count; i++) {
        lr_release(all->job->allocator, all->files[i].name);
    }
    lr_release(all->job->allocator, all->files);
    if (all->folder >= 0) {
        (void)close(all->folder);
    }
    *all = (set_files){.job = all->job, .folder = -1};
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const set_file *)a)->name, ((const set_file *)b)->name);
}

static bool add_file(set_files *all, const char *name)
{
    const lr_allocator *allocator = all->job->allocator;
    bool room = lr_grow(allocator, (void *)&all->files, all->count + 1, &all->room, sizeof *all->files);
    if (room) {
        all->files[all->count] = (set_file){.name = lr_strdup(allocator, name)};
        room = all->files[all->count].name != NULL;
        all->count += room;
    }
    return room;
}

static bool list_name(void *user, const char *name)
{
    set_files *all = user;
    const char *letters;
    all->full = is_of_set(all->set, name, &letters) && !add_file(all, name);
    return !all->full;
}

/* Opens the directory that the caller named, without following links of the file: an index names files next to its own
 * name. An unreadable directory is empty. The caller closes it, also after a failure. @return false: out of memory, not
 * reported. */
static bool list_files(const lr_file_sink *first, set_files *all)
{
    *all = (set_files){.job = first->out.sink.job, .set = first->set, .folder = -1};
    all->folder = open(first->set->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (all->folder >= 0) {
        (void)lr_file_names(all->folder, list_name, all);
    }
    if (all->count) {
        qsort(all->files, (size_t)all->count, sizeof *all->files, by_name);
    }
    return !all->full;
}

/* ----------------------------------------------------------------------------------------- what an index names -- */

/* Characters that continue a name. */
static bool is_inner(char c)
{
    unsigned char byte = (unsigned char)c;
    return lr_is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_' || c == '.' ||
           c == '/' || byte >= 0x80;
}

/* The files whose names the text has: with letters nobody else's name ends so, and the stem need not be read, which may
 * stand there with escapes. */
static void mark_named(set_files *all, const char *text, size_t size, bool current)
{
    const lr_set *set = all->set;
    size_t stem = strlen(set->stem);
    const char *end = text + size, *at = text, *letters;
    while (at < end && (at = memchr(at, '-', (size_t)(end - at)))) {
        size_t length = match(set, at, (size_t)(end - at), &letters);
        bool whole = length && (at + length == end || !is_inner(at[length]));
        if (whole && !letters) {
            whole = (size_t)(at - text) >= stem && memcmp(at - stem, set->stem, stem) == 0 &&
                    (at - stem == text || !is_inner(at[-(ptrdiff_t)stem - 1]));
        }
        for (uint64_t low = 0, high = all->count; whole && low < high;) {
            uint64_t middle = low + (high - low) / 2;
            const char *name = all->files[middle].name;
            int order = strncmp(at, name + stem, length);
            order = order ? order : -(name[stem + length] != '\0');
            if (order == 0) {
                *(current ? &all->files[middle].current : &all->files[middle].old) = true;
                break;
            }
            low = order > 0 ? middle + 1 : low;
            high = order > 0 ? high : middle;
        }
        at += length ? length : 1;
    }
}

typedef enum looked { LOOKED_NOT, LOOKED_NOTHING, LOOKED } looked;

/* Reads an index; failures are not reported. @return LOOKED: the caller frees it; LOOKED_NOTHING: no such file. */
static looked read_index(const lr_file_sink *first, const char *name, char **text, size_t *size)
{
    const lr_allocator *allocator = first->out.sink.job->allocator;
    int fd = lr_file_open(first->folder, name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW, 0);
    struct stat info;
    *text = NULL;
    *size = 0;
    if (fd < 0) {
        return errno == ENOENT ? LOOKED_NOTHING : LOOKED_NOT;
    }
    if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_size <= INDEX_MOST) {
        *size = (size_t)info.st_size;
        *text = lr_alloc(allocator, *size + 1);
    }
    if (*text && lr_file_read_at(fd, *text, *size, 0) != 0) {
        lr_release(allocator, *text);
        *text = NULL;
    }
    *size = *text ? *size : 0;
    (void)close(fd);
    return *text ? LOOKED : LOOKED_NOT;
}

/* ---------------------------------------------------------------------------------------------------- sweeping -- */

/* @return whether it is gone. */
static bool removed(int folder, const char *name)
{
    return unlinkat(folder, name, 0) == 0 || errno == ENOENT;
}

static bool has_letters(const set_files *all, const set_file *f, const char *letters)
{
    const char *own;
    return is_of_set(all->set, f->name, &own) && own && memcmp(own, letters, LR_LETTERS) == 0;
}

/* What a save with these letters left, whose lock is ours. */
static void sweep_set(lr_file_sink *first, const char *letters, const char *temporary, set_files *all)
{
    const lr_allocator *allocator = first->out.sink.job->allocator;
    char *current, *old, mark[LR_LETTERS + 2];
    size_t current_size, old_size;
    looked there = read_index(first, first->base, &current, &current_size);
    looked left = read_index(first, temporary, &old, &old_size);
    bool counts, done;
    mark[0] = mark[LR_LETTERS + 1] = '-';
    memcpy(mark + 1, letters, LR_LETTERS);
    counts = there == LOOKED && memmem(current, current_size, mark, sizeof mark);
    for (uint64_t i = 0; i < all->count; i++) {
        all->files[i].current = all->files[i].old = false;
    }
    mark_named(all, current ? current : "", current_size, true);
    mark_named(all, old ? old : "", old_size, false);
    done = there != LOOKED_NOT && left != LOOKED_NOT && all->folder >= 0;
    for (uint64_t i = 0; there != LOOKED_NOT && i < all->count; i++) {
        const set_file *f = &all->files[i];
        bool own = has_letters(all, f, letters);
        if (!f->current && (own ? !counts : f->old && there == LOOKED)) {
            done = removed(all->folder, f->name) && done;
        }
    }
    if (done) {
        (void)unlinkat(first->folder, temporary, 0);
    }
    lr_release(allocator, current);
    lr_release(allocator, old);
}

typedef struct sweep {
    lr_file_sink *first;
    set_files *all;
} sweep;

static void sweep_stale(void *self, const char *letters, const char *temporary)
{
    const sweep *s = self;
    sweep_set(s->first, letters, temporary, s->all);
}

/* New files allow what this one does, too. */
static int32_t join_like(lr_file_sink *first, int folder, const char *name, const struct stat *info)
{
    rec_job *job = first->out.sink.job;
    lr_set *set = first->set;
    lr_access access;
    struct stat like = *info;
    int error = lr_access_read(folder, name, info, &access);
    if (set->has_like) {
        like.st_mode &= set->like.st_mode;
        lr_access_join(&set->access, &access);
    } else {
        set->access = access;
    }
    set->like = like;
    set->has_like = true;
    return error ? lr_fail_memory(job, 0) : REC_OK;
}

/* What the index names that is there: its owner and the least that all of them allow are the new files', and none may
 * be protected. */
static int32_t look_at_old(lr_file_sink *first, const set_files *all)
{
    lr_set *set = first->set;
    int32_t status = REC_OK;
    for (uint64_t i = 0; i < all->count && status == REC_OK; i++) {
        const char *letters;
        struct stat info;
        (void)is_of_set(set, all->files[i].name, &letters);
        if ((letters && !all->files[i].current) || fstatat(all->folder, all->files[i].name, &info, 0) != 0 ||
            !S_ISREG(info.st_mode)) {
            continue;
        }
        if (all->files[i].current && faccessat(all->folder, all->files[i].name, W_OK, AT_EACCESS) != 0 &&
            errno != ENOENT) {
            char doing[NAME_MAX + 64];
            int error = errno;
            (void)snprintf(doing, sizeof doing, "replace its old file %s", all->files[i].name);
            status = lr_io_errno(first->out.sink.job, first->name, REC_UNKNOWN,
                                 "Make it writable first: it is protected.", error, doing);
        }
        status = status == REC_OK ? join_like(first, all->folder, all->files[i].name, &info) : status;
    }
    if (status == REC_OK && !set->has_like && first->replaces) {
        status = join_like(first, first->folder, first->base, &first->old);
    }
    return status;
}

static int32_t begin(lr_file_sink *first)
{
    set_files all;
    sweep s = {first, &all};
    int32_t status = list_files(first, &all) ? REC_OK : lr_fail_memory(first->out.sink.job, sizeof *all.files);
    char *text = NULL;
    size_t size;
    int error;
    if (status == REC_OK) {
        lr_temporary_sweep_sets(first->folder, lr_target_mark(first), sweep_stale, &s);
        if (read_index(first, first->base, &text, &size) == LOOKED) {
            mark_named(&all, text, size, true);
        }
        status = look_at_old(first, &all);
    }
    lr_release(first->out.sink.job->allocator, text);
    close_files(&all);
    error = status == REC_OK ? lr_temporary_becomes_set(first->folder, &first->made) : 0;
    return error ? lr_target_failed(first, error, "rename its temporary file", NULL) : status;
}

/* ---------------------------------------------------------------------------------------------------- deciding -- */

/* Whether no such set exists and no save makes one. A save makes its temporary file first, so of two concurrent saves
 * one sees the other. */
static int32_t decide(lr_file_sink *first, const char *index)
{
    rec_job *job = first->out.sink.job;
    char *path = lr_path_sibling(job, first->name, false, index);
    int32_t status = path ? REC_OK : job->error.status;
    set_files all;
    struct stat info;
    if (status != REC_OK) {
        return status;
    }
    status = list_files(first, &all) ? REC_OK : lr_fail_memory(job, sizeof *all.files);
    first->set->own = all.folder < 0 || !lr_temporary_is_alone(first->folder, lr_target_mark(first), &first->made) ||
                      lstat(path, &info) == 0;
    for (uint64_t i = 0; i < all.count; i++) {
        const char *letters;
        first->set->own = first->set->own || (is_of_set(first->set, all.files[i].name, &letters) && !letters);
    }
    close_files(&all);
    lr_release(job->allocator, path);
    return status;
}

static bool same_names(const lr_set *set, const char *stem, const char *tail)
{
    bool same = strcmp(set->stem, stem) == 0 && strlen(set->tail) == strlen(tail);
    for (size_t i = 0; same && tail[i]; i++) {
        same = lr_is_digit(tail[i]) ? lr_is_digit(set->tail[i]) : tail[i] == set->tail[i];
    }
    return same;
}

int32_t lr_set_letters(rec_sink *sink, const char *index, const char *stem, const char *tail, bool writes,
                       const char **letters)
{
    lr_file_sink *first = (lr_file_sink *)sink;
    const lr_allocator *allocator = sink->job->allocator;
    int32_t status = REC_OK;
    *letters = "";
    if (!first->set) {
        lr_set *set = first->set = lr_zalloc(allocator, sizeof *set);
        if (set) {
            set->stem = lr_strdup(allocator, stem);
            set->tail = lr_strdup(allocator, tail);
            set->folder = lr_path_sibling(sink->job, first->name, false, ".");
        }
        if (!set || !set->stem || !set->tail || !set->folder) {
            lr_set_free(first);
            return lr_fail_memory(sink->job, strlen(stem) + strlen(tail) + sizeof *set);
        }
        status = decide(first, index);
    } else if (!same_names(first->set, stem, tail)) {
        return lr_breach(sink->job, REC_UNKNOWN, "gave files of one set names that differ in more than digits");
    }
    if (status == REC_OK && first->set->own && writes && !first->set->begun) {
        first->set->begun = true;
        status = begin(first);
    }
    *letters = status == REC_OK ? lr_set_own_letters(first) : "";
    return status;
}

const char *lr_set_own_letters(const lr_file_sink *first)
{
    return first->set && first->set->own ? first->made.letters : "";
}

const struct stat *lr_set_like(const lr_file_sink *first)
{
    return first->set && first->set->has_like ? &first->set->like : NULL;
}

const lr_access *lr_set_access(const lr_file_sink *first)
{
    return &first->set->access;
}

void lr_set_free(lr_file_sink *first)
{
    const lr_allocator *allocator = first->out.sink.job->allocator;
    if (first->set) {
        lr_release(allocator, first->set->stem);
        lr_release(allocator, first->set->tail);
        lr_release(allocator, first->set->folder);
        lr_release(allocator, first->set->text);
        lr_access_free(&first->set->access);
        lr_release(allocator, first->set);
        first->set = NULL;
    }
}

/* ----------------------------------------------------------------------------------------------------- placing -- */

int32_t lr_set_place_part(lr_file_sink *part)
{
    static const char hint[] = "Save again: another program has created it since the save began.";
    int error = fstatat(part->folder, part->made.name, &part->old, AT_SYMLINK_NOFOLLOW) != 0
                    ? errno
                    : lr_file_rename_new(part->folder, part->made.name, part->base);
    if (error) {
        return lr_target_failed(part, error, "rename the temporary file to the file's name",
                                error == EEXIST ? hint : NULL);
    }
    part->linked = false;
    part->placed = true;
    return REC_OK;
}

void lr_set_take_back(lr_file_sink *part)
{
    if (part->placed && !((lr_file_sink *)part->out.sink.first)->placed &&
        lr_file_is(part->folder, part->base, &part->old)) {
        (void)unlinkat(part->folder, part->base, 0);
    }
    part->placed = false;
}

/* The names of the files before the index that names them. */
static int32_t sync_parts(lr_file_sink *first)
{
    uint64_t count = lr_sink_sibling_count(&first->out.sink);
    bool done = false;
    int error;
    for (uint64_t i = 0; first->sync && i < count; i++) {
        lr_file_sink *part = (lr_file_sink *)first->out.sink.beside->sinks[i];
        if (part->lead && done) {
            continue;
        }
        done = done || part->lead;
        error = lr_file_sync(part->folder);
        if (error && error != EINVAL && error != EBADF) {
            return lr_target_failed(first, error, "sync its directory", NULL);
        }
    }
    return REC_OK;
}

/* @return 0: the temporary file is the old index now (`*exchanged`), or is gone; else the errno. */
static int exchange(lr_file_sink *first, bool *exchanged)
{
    enum { TRIES = 100 };
    int error = EEXIST;
    *exchanged = false;
    for (int tries = 0; tries < TRIES && error == EEXIST; tries++) {
        error = lr_file_exchange(first->folder, first->made.name, first->base);
        *exchanged = error == 0;
        if (error == ENOENT) {
            error = lr_file_rename_new(first->folder, first->made.name, first->base);
        }
    }
    return error;
}

int32_t lr_set_place_index(lr_file_sink *first)
{
    lr_set *set = first->set;
    int32_t status = sync_parts(first);
    int error;
    if (status != REC_OK) {
        return status;
    }
    error = exchange(first, &set->exchanged);
    if (lr_file_cannot_exchange(error)) {
        set->looked = read_index(first, first->base, &set->text, &set->size) == LOOKED;
        error = renameat(first->folder, first->made.name, first->folder, first->base) == 0 ? 0 : errno;
    }
    if (error) {
        return lr_target_failed(first, error, "rename the temporary file to the file's name", NULL);
    }
    first->linked = set->exchanged;
    first->placed = true;
    return REC_OK;
}

void lr_set_remove_old(lr_file_sink *first)
{
    lr_set *set = first->set;
    set_files all = {.job = first->out.sink.job, .folder = -1};
    bool done = true;
    if (set->exchanged) {
        set->looked = read_index(first, first->made.name, &set->text, &set->size) == LOOKED;
    }
    if (set->looked) {
        done = list_files(first, &all);
        mark_named(&all, set->text, set->size, false);
    }
    for (uint64_t i = 0; i < all.count; i++) {
        const char *letters;
        (void)is_of_set(set, all.files[i].name, &letters);
        if (all.files[i].old &&
            (set->own ? !letters || memcmp(letters, first->made.letters, LR_LETTERS) != 0 : letters != NULL)) {
            done = removed(all.folder, all.files[i].name) && done;
        }
    }
    close_files(&all);
    first->linked = set->exchanged && set->looked && done; /* else the next save has a look at it */
}

/* --------------------------------------------------------------------------------------- files that keep names -- */

/* Replaces the index by an empty one, which no reader accepts: a save killed between the renames must leave no mixture
 * that loads. If this fails nothing is lost. */
void lr_set_park(lr_file_sink *first)
{
    int fd;
    lr_temporary_part_name(&first->made, 0, first->parked);
    fd = openat(first->folder, first->parked, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (fd < 0) {
        first->parked[0] = '\0';
        return;
    }
    (void)fchmod(fd, first->old.st_mode & 0777);
    (void)close(fd);
    if (lr_file_exchange(first->folder, first->parked, first->base) != 0) {
        (void)unlinkat(first->folder, first->parked, 0);
        first->parked[0] = '\0';
    } else if (first->sync) {
        (void)lr_file_sync(first->folder);
    }
}

void lr_set_unpark(lr_file_sink *first)
{
    if (first->parked[0]) {
        if (first->mixed && !first->placed) {
            rec_fail_hint(first->out.sink.job, "Until then %s is empty, so that they are not read as a model.",
                          first->name);
        }
        if (first->mixed) {
            (void)unlinkat(first->folder, first->parked, 0);
        } else {
            (void)renameat(first->folder, first->parked, first->folder, first->base);
        }
        first->parked[0] = '\0';
    }
}
