/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The files of a save: one, which all ranks open together, or several, of which a rank opens those that its part lies
 * in. Their bytes count as if they were one file, each beginning where the one before it ends. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mpi/mpi_private.h"

/* ---------------------------------------------------------------------------------------------- which they are -- */

static void free_names(lr_mpi_file *file)
{
    free(file->name);
    free(file->stem);
    free(file->tail);
    free(file->temporary);
}

void lr_mpi_files_clear(lr_mpi_files *f)
{
    if (f->read >= 0) {
        (void)close(f->read);
        f->read = -1;
    }
    for (uint64_t i = 0; i < f->count; i++) {
        free_names(&f->at[i]);
    }
    free(f->at);
    f->at = NULL;
    f->count = f->total = 0;
}

static char *copy_of(const char *text, bool *failed)
{
    char *copy = text ? strdup(text) : NULL;
    *failed = *failed || (text && !copy);
    return copy;
}

void lr_mpi_files_add(lr_mpi_files *f, const rec_file *file)
{
    lr_mpi_file one = {.size = file->size, .begin = f->total};
    lr_mpi_file *at = lr_mpi_grown(f->at, f->count, sizeof *at);
    if (!at) {
        f->failed = true;
        return;
    }
    f->at = at;
    one.name = copy_of(file->name, &f->failed);
    one.stem = copy_of(file->stem, &f->failed);
    one.tail = copy_of(file->tail, &f->failed);
    f->at[f->count++] = one;
    f->total += file->size;
}

rec_file *lr_mpi_files_list(const lr_mpi_files *f)
{
    rec_file *list = calloc((size_t)f->count + 1, sizeof *list);
    for (uint64_t i = 0; list && i < f->count; i++) {
        list[i] =
            (rec_file){.name = f->at[i].name, .stem = f->at[i].stem, .tail = f->at[i].tail, .size = f->at[i].size};
    }
    return list;
}

/* What messages call it. */
static const char *path_of(const lr_mpi_files *f, uint64_t i, char name[PATH_MAX])
{
    const char *slash = strrchr(f->path, '/');
    int folder = slash ? (int)(slash - f->path) + 1 : 0;
    if (f->count == 1) {
        return f->path;
    }
    (void)snprintf(name, PATH_MAX, "%.*s%s", folder, f->path, f->at[i].name);
    return name;
}

/* ---------------------------------------------------------------------------------------------- where they are -- */

/* All names, each with its NUL. NULL: out of memory. */
static char *pack(const rec_filling *told, int *size)
{
    size_t need = 1, at = 0;
    char *all;
    for (uint64_t i = 0; i < told->count; i++) {
        need += strlen(told->files[i].temporary) + 1;
    }
    all = need <= INT_MAX ? malloc(need) : NULL;
    for (uint64_t i = 0; all && i < told->count; i++) {
        size_t length = strlen(told->files[i].temporary) + 1;
        memcpy(all + at, told->files[i].temporary, length);
        at += length;
    }
    *size = (int)at;
    return all;
}

rec_status lr_mpi_files_tell(lr_mpi_files *f, const rec_filling *told)
{
    int size = 0;
    char *all = told ? pack(told, &size) : NULL;
    rec_status status;
    const char *at;
    (void)MPI_Bcast(&size, 1, MPI_INT, 0, f->group->comm);
    if (!told) {
        all = malloc((size_t)size + 1);
    }
    status = lr_mpi_agree(f->group, all ? REC_OK : REC_E_MEMORY, "out of memory for the names of the files");
    if (status == REC_OK) {
        bool failed = false;
        (void)MPI_Bcast(all, size, MPI_BYTE, 0, f->group->comm);
        at = all;
        for (uint64_t i = 0; i < f->count; i++) {
            free(f->at[i].temporary);
            f->at[i].temporary = copy_of(at, &failed);
            at += strlen(at) + 1;
        }
        status = lr_mpi_agree(f->group, failed ? REC_E_MEMORY : REC_OK, "out of memory for the names of the files");
    }
    free(all);
    return status;
}

static uint64_t file_at(const lr_mpi_files *f, uint64_t at)
{
    uint64_t low = 0, high = f->count;
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (f->at[middle].begin <= at) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

/* ----------------------------------------------------------------------------------------------------- opening -- */

static bool can_open(const lr_mpi_files *f, uint64_t i, char *why, size_t room)
{
    char name[PATH_MAX];
    int fd = open(f->at[i].temporary, O_WRONLY | O_NOFOLLOW | O_CLOEXEC), error = errno;
    if (fd < 0) {
        (void)snprintf(why, room, "%.1500s: cannot open the temporary file %.1500s, which rank 0 made: %s",
                       path_of(f, i, name), f->at[i].temporary, strerror(error));
        return false;
    }
    (void)close(fd);
    return true;
}

static bool open_by(lr_mpi_files *f, uint64_t i, MPI_Comm comm, char *why, size_t room)
{
    char name[PATH_MAX];
    if (MPI_File_open(comm, f->at[i].temporary, MPI_MODE_WRONLY, f->hints, &f->file) != MPI_SUCCESS) {
        f->file = MPI_FILE_NULL;
        (void)snprintf(why, room, "%.1500s: MPI cannot open the temporary file %.1500s", path_of(f, i, name),
                       f->at[i].temporary);
        return false;
    }
    f->now = i;
    return true;
}

bool lr_mpi_files_close(lr_mpi_files *f, char *why, size_t room)
{
    char name[PATH_MAX];
    bool synced = f->file == MPI_FILE_NULL || MPI_File_sync(f->file) == MPI_SUCCESS;
    synced = (f->file == MPI_FILE_NULL || MPI_File_close(&f->file) == MPI_SUCCESS) && synced;
    f->file = MPI_FILE_NULL;
    if (!synced) {
        (void)snprintf(why, room, "%.1500s: MPI cannot sync and close the temporary file", path_of(f, f->now, name));
    }
    return synced;
}

rec_status lr_mpi_files_open(lr_mpi_files *f, uint64_t at, char *why, size_t room)
{
    bool opened = can_open(f, file_at(f, at), why, room);
    rec_status status = lr_mpi_agree(f->group, opened ? REC_OK : REC_E_IO, why);
    if (status == REC_OK && f->count == 1) {
        opened = open_by(f, 0, f->group->comm, why, room);
        status = lr_mpi_agree(f->group, opened ? REC_OK : REC_E_IO, why);
    }
    return status;
}

/* ----------------------------------------------------------------------------------------------------- writing -- */

static bool write_one(lr_mpi_files *f, uint64_t i, uint64_t at, const uint8_t *data, uint64_t size, char *why,
                      size_t room)
{
    char words[MPI_MAX_ERROR_STRING] = "", name[PATH_MAX];
    MPI_Status done;
    int written = 0, length = 0, error;
    if ((f->file == MPI_FILE_NULL || f->now != i) &&
        (!lr_mpi_files_close(f, why, room) || !open_by(f, i, MPI_COMM_SELF, why, room))) {
        return false;
    }
    error = MPI_File_write_at(f->file, (MPI_Offset)at, data, (int)size, MPI_BYTE, &done);
    if (error == MPI_SUCCESS) {
        (void)MPI_Get_count(&done, MPI_BYTE, &written);
    } else {
        (void)MPI_Error_string(error, words, &length);
    }
    if (error == MPI_SUCCESS && (uint64_t)written == size) {
        return true;
    }
    (void)snprintf(why, room, "%.2000s: cannot write %" PRIu64 " bytes at byte %" PRIu64 " by MPI-IO: %s",
                   path_of(f, i, name), size, at, length ? words : "fewer were written (is the disk full?)");
    return false;
}

static bool open_read(lr_mpi_files *f, uint64_t i, char *why, size_t room)
{
    char name[PATH_MAX];
    if (f->read >= 0 && f->read_now == i) {
        return true;
    }
    if (f->read >= 0) {
        (void)close(f->read);
    }
    f->read = open(f->at[i].temporary, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    f->read_now = i;
    if (f->read < 0) {
        (void)snprintf(why, room, "%.1500s: cannot open the temporary file %.1500s: %s", path_of(f, i, name),
                       f->at[i].temporary, strerror(errno));
    }
    return f->read >= 0;
}

static bool has_one(lr_mpi_files *f, uint64_t i, uint64_t at, const uint8_t *data, uint64_t size, char *why,
                    size_t room)
{
    uint8_t some[64 << 10];
    char name[PATH_MAX];
    if (!open_read(f, i, why, room)) {
        return false;
    }
    while (size) {
        size_t want = size < sizeof some ? (size_t)size : sizeof some;
        ssize_t n = pread(f->read, some, want, (off_t)at);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0 || memcmp(some, data, (size_t)n) != 0) {
            uint64_t same = 0;
            while (n > 0 && some[same] == data[same]) {
                same++;
            }
            (void)snprintf(why, room, "%.2000s: byte %" PRIu64 ": read back, %s", path_of(f, i, name), at + same,
                           n < 0    ? strerror(errno)
                           : n == 0 ? "the file ends here"
                                    : "it is not what was written");
            return false;
        }
        at += (uint64_t)n;
        data += n;
        size -= (uint64_t)n;
    }
    return true;
}

/* Handles the bytes of a range that lie in one file. */
typedef bool (*one_fn)(lr_mpi_files *f, uint64_t i, uint64_t at, const uint8_t *data, uint64_t size, char *why,
                       size_t room);

static bool each(lr_mpi_files *f, one_fn one, uint64_t at, const uint8_t *data, uint64_t size, char *why, size_t room)
{
    while (size) {
        uint64_t i = file_at(f, at), end = i + 1 < f->count ? f->at[i + 1].begin : UINT64_MAX;
        uint64_t some = end - at < size ? end - at : size;
        if (!one(f, i, at - f->at[i].begin, data, some, why, room)) {
            return false;
        }
        at += some;
        data += some;
        size -= some;
    }
    return true;
}

bool lr_mpi_files_write(lr_mpi_files *f, uint64_t at, const uint8_t *data, uint64_t size, char *why, size_t room)
{
    return each(f, write_one, at, data, size, why, room);
}

bool lr_mpi_files_have(lr_mpi_files *f, uint64_t at, const uint8_t *data, uint64_t size, char *why, size_t room)
{
    return each(f, has_one, at, data, size, why, room);
}
