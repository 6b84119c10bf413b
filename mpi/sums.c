/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The sums of tensors' data that a format has: each rank sums up its part of the data, and what they have together is
 * the sum of each tensor. */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "mpi/saving.h"

/* Of bytes that stand behind one another, ranks in their order. */
static void join(void *before, void *behind, int *count, MPI_Datatype *type)
{
    const rec_piece *a = before;
    rec_piece *b = behind;
    (void)type;
    for (int i = 0; i < *count; i++) {
        b[i].sum = crc32_combine((uLong)a[i].sum, (uLong)b[i].sum, (z_off_t)b[i].size);
        b[i].size += a[i].size;
    }
}

/* This rank's part of each, of as many on all ranks, becomes the whole. */
static void join_all(rec_piece *pieces, int count, MPI_Comm comm)
{
    MPI_Datatype type;
    MPI_Op op;
    (void)MPI_Type_contiguous((int)sizeof *pieces, MPI_BYTE, &type);
    (void)MPI_Type_commit(&type);
    (void)MPI_Op_create(join, 0, &op);
    (void)MPI_Allreduce(MPI_IN_PLACE, pieces, count, type, op, comm);
    (void)MPI_Op_free(&op);
    (void)MPI_Type_free(&type);
}

rec_status lr_mpi_saving_sums(lr_mpi_saving *s)
{
    uint64_t summed = s->window.summed, n = (uint64_t)s->ranks, i = (uint64_t)s->rank;
    char words[LR_MPI_WORDS];
    double begun = MPI_Wtime();
    rec_status status;
    s->window.part = REC_PART_SUMS;
    s->window.from = summed / n * i + summed % n * i / n;
    s->window.to = summed / n * (i + 1) + summed % n * (i + 1) / n;
    status = lr_mpi_saving_walk(s, NULL);
    s->losses.size = 0; /* which tell themselves when it is written */
    s->write = MPI_Wtime() - begun;
    if (status == REC_OK && (s->pieces.failed || s->pieces.count > INT_MAX)) {
        (void)snprintf(s->why, sizeof s->why, "%.2000s: out of memory for its sums", s->path);
        status = REC_E_MEMORY;
    }
    status = rec_mpi_agree(s->comm, status, *s->why ? s->why : NULL);
    if (status == REC_OK) {
        (void)snprintf(words, sizeof words, "%" PRIu64 " sums", s->pieces.count);
        status = lr_mpi_same(s->comm, s->path, words);
    }
    if (status == REC_OK) {
        join_all(s->pieces.at_hand, (int)s->pieces.count, s->comm);
        s->window.pieces = s->pieces.at_hand;
        s->window.piece_count = s->pieces.count;
    }
    return status;
}
