/* SPDX-License-Identifier: MIT OR Apache-2.0
 * A file that a codec makes of pieces which know nothing of each other: each rank makes its own into a file without a
 * name, and when all know how many bytes they came to, copies them to where they go. Rank 0 writes what stands before
 * them, and behind. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mpi/mpi_private.h"

/* Pieces that one message may tell of. */
enum { COUNT_MOST = INT32_MAX / 2 };

/* In the folder of the target, where there must be room for as much anyway. @return -1: errno says why. */
static int open_nameless(const char *path)
{
    const char *slash = strrchr(path, '/');
    size_t length = slash ? (size_t)(slash - path) + 1 : 0;
    char *name = malloc(length + sizeof "./.librecord-tmp-XXXXXX");
    int fd = -1, error;
    if (!name) {
        errno = ENOMEM;
        return -1;
    }
    memcpy(name, length ? path : "./", length ? length : 2);
    name[length ? length : 2] = '\0';
#ifdef O_TMPFILE
    fd = open(name, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
#endif
    if (fd < 0) {
        (void)strcat(name, ".librecord-tmp-XXXXXX");
        fd = mkostemp(name, O_CLOEXEC);
        error = errno;
        if (fd >= 0) {
            (void)unlink(name);
        }
        errno = error;
    }
    free(name);
    return fd;
}

rec_status lr_mpi_pieces_begin(lr_mpi_pieces *p, const char *path, char *why, size_t room)
{
    p->fd = open_nameless(path);
    if (p->fd < 0) {
        (void)snprintf(why, room, "%.2000s: cannot make a temporary file in its folder: %s", path, strerror(errno));
        return REC_E_IO;
    }
    return REC_OK;
}

void lr_mpi_pieces_add(lr_mpi_pieces *p, const rec_piece *piece)
{
    if (p->count == p->room) {
        uint64_t more = p->room ? p->room * 2 : 64;
        rec_piece *at = realloc(p->at_hand, (size_t)more * sizeof *at);
        if (!at) {
            p->failed = true;
            return;
        }
        p->at_hand = at;
        p->room = more;
    }
    p->at_hand[p->count++] = *piece;
}

int32_t lr_mpi_pieces_write(lr_mpi_pieces *p, const void *data, uint64_t size)
{
    int32_t error = lr_mpi_write_all(p->fd, data, size, p->stored) ? 0 : errno;
    p->stored += error ? 0 : size;
    return error;
}

rec_status lr_mpi_pieces_check(const lr_mpi_pieces *p, const char *path, char *why, size_t room)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < p->count; i++) {
        sum += p->at_hand[i].size;
    }
    if (p->failed || p->count > COUNT_MOST) {
        (void)snprintf(why, room, "%.2000s: out of memory for its pieces", path);
        return REC_E_MEMORY;
    }
    if (sum != p->stored) {
        (void)snprintf(why, room, "%.2000s: its codec wrote %llu bytes and spoke of %llu", path,
                       (unsigned long long)p->stored, (unsigned long long)sum);
        return REC_E_PLUGIN;
    }
    return REC_OK;
}

/* ----------------------------------------------------------------------------------------------- head and tail -- */

typedef struct ends {
    uint8_t *at;
    uint64_t size;
} ends;

static int32_t take(void *user, const void *data, uint64_t size)
{
    ends *e = user;
    uint8_t *at = realloc(e->at, (size_t)(e->size + size));
    if (!at) {
        return ENOMEM;
    }
    memcpy(at + e->size, data, (size_t)size);
    e->at = at;
    e->size += size;
    return 0;
}

/* What is written is as for a file: so it may be written over. */
static int32_t patch(void *user, uint64_t offset, const void *data, uint64_t size)
{
    ends *e = user;
    if (offset > e->size || size > e->size - offset) {
        return EINVAL;
    }
    memcpy(e->at + offset, data, (size_t)size);
    return 0;
}

static rec_status make_end(const lr_mpi_pieces *p, rec_recorder *recorder, const rec_record *record, const char *path,
                           rec_window window, int32_t part, ends *e)
{
    const rec_output output = {.size = sizeof output, .name = path, .write = take, .patch = patch};
    window.part = part;
    window.pieces = p->at_hand;
    window.piece_count = p->count;
    window.lost = NULL;
    return rec_save_window(recorder, record, path, &window, &output, e);
}

/* All pieces are on rank 0 then. @param counts,places of all ranks, on rank 0. */
static rec_status gather(lr_mpi_pieces *p, MPI_Comm comm, int rank, int ranks, int *counts, int *places)
{
    MPI_Datatype type;
    rec_piece *all = NULL;
    int mine = (int)p->count;
    long long sum = 0;
    rec_status status;
    (void)MPI_Gather(&mine, 1, MPI_INT, counts, 1, MPI_INT, 0, comm);
    for (int i = 0; rank == 0 && i < ranks; i++) {
        places[i] = sum <= COUNT_MOST ? (int)sum : 0;
        sum += counts[i];
    }
    all = rank == 0 && sum <= COUNT_MOST ? malloc((size_t)sum * sizeof *all + 1) : NULL;
    status = rec_mpi_agree(comm, rank == 0 && !all ? REC_E_MEMORY : REC_OK, "out of memory for the pieces of the file");
    if (status == REC_OK) {
        (void)MPI_Type_contiguous((int)sizeof(rec_piece), MPI_BYTE, &type);
        (void)MPI_Type_commit(&type);
        (void)MPI_Gatherv(p->at_hand, mine, type, all, counts, places, type, 0, comm);
        (void)MPI_Type_free(&type);
    }
    if (status == REC_OK && rank == 0) {
        free(p->at_hand);
        p->at_hand = all;
        p->count = p->room = (uint64_t)sum;
    } else {
        free(all);
    }
    return status;
}

void lr_mpi_pieces_scan(lr_mpi_pieces *p, MPI_Comm comm)
{
    uint64_t before = 0;
    int rank = 0;
    (void)MPI_Comm_rank(comm, &rank);
    (void)MPI_Exscan(&p->stored, &before, 1, MPI_UINT64_T, MPI_SUM, comm);
    (void)MPI_Allreduce(&p->stored, &p->total, 1, MPI_UINT64_T, MPI_SUM, comm);
    p->at = rank == 0 ? 0 : before; /* of which Exscan says nothing */
    p->end = p->at + p->stored;
}

rec_status lr_mpi_pieces_place(lr_mpi_pieces *p, MPI_Comm comm, rec_recorder *recorder, const rec_record *record,
                               const char *path, const rec_window *window)
{
    int rank = 0, ranks = 1, *counts = NULL;
    uint64_t sizes[2] = {0};
    ends head = {0}, tail = {0};
    rec_status status;
    (void)MPI_Comm_rank(comm, &rank);
    (void)MPI_Comm_size(comm, &ranks);
    counts = rank == 0 ? calloc((size_t)ranks * 2, sizeof *counts) : NULL;
    status =
        rec_mpi_agree(comm, rank == 0 && !counts ? REC_E_MEMORY : REC_OK, "out of memory for the pieces of the file");
    if (status == REC_OK) {
        status = gather(p, comm, rank, ranks, counts, counts ? counts + ranks : NULL);
    }
    free(counts);
    if (status != REC_OK) {
        return status;
    }
    if (rank == 0) {
        status = make_end(p, recorder, record, path, *window, REC_PART_HEAD, &head);
        status = status == REC_OK ? make_end(p, recorder, record, path, *window, REC_PART_TAIL, &tail) : status;
    }
    p->head = head.at;
    p->tail = tail.at;
    p->head_size = sizes[0] = head.size;
    p->tail_size = sizes[1] = tail.size;
    status = rec_mpi_agree(comm, status, NULL);
    if (status != REC_OK) {
        return status;
    }
    (void)MPI_Bcast(sizes, 2, MPI_UINT64_T, 0, comm);
    lr_mpi_pieces_scan(p, comm);
    p->total += sizes[0] + sizes[1];
    p->at += sizes[0];
    p->end += sizes[0];
    return REC_OK;
}

void lr_mpi_pieces_end(lr_mpi_pieces *p)
{
    if (p->fd >= 0) {
        (void)close(p->fd);
    }
    free(p->at_hand);
    free(p->head);
    free(p->tail);
}
