/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The temporary files of a save by ranks, filled by all of them: each writes a window of their bytes. */
#include <stdio.h>
#include <stdlib.h>

#include "mpi/saving.h"

/* Where windows begin if the file is large enough: stripes and pages are no larger. */
enum { ALIGNED = 1 << 20, ALIGNED_FROM = 16 };

static uint64_t begin_of(const lr_mpi_saving *s, int rank)
{
    uint64_t total = s->window.total, n = (uint64_t)s->ranks, i = (uint64_t)rank;
    uint64_t at = total / n * i + total % n * i / n;
    if (i == n) {
        return total;
    }
    return total / n >= (uint64_t)ALIGNED * ALIGNED_FROM ? at / ALIGNED * ALIGNED : at;
}

/* This rank's window. */
static rec_status write_window(lr_mpi_saving *s)
{
    const rec_output output = {
        .size = sizeof output, .name = s->path, .write = lr_mpi_saving_write, .patch = lr_mpi_saving_patch};
    rec_status status;
    s->piece = malloc(LR_MPI_WRITTEN);
    if (!s->piece) {
        (void)snprintf(s->why, sizeof s->why, "%s: out of memory", s->path);
        return REC_E_MEMORY;
    }
    if (s->resume.fd >= 0 && !s->compares) {
        status = lr_mpi_saving_rest(s, &output);
    } else {
        s->at = s->window.from;
        status = lr_mpi_saving_walk(s, &output);
    }
    if (status == REC_OK && lr_mpi_saving_flush(s) != 0) {
        status = REC_E_IO;
    }
    if (status == REC_OK && s->at != s->window.to) {
        status = lr_mpi_saving_changed(s);
    }
    free(s->piece);
    s->piece = NULL;
    return status;
}

/* Reads the written files back and compares them with a second walk of the record. */
rec_status lr_mpi_saving_compare(lr_mpi_saving *s)
{
    size_t told = s->losses.size;
    rec_status status = REC_E_UNSUPPORTED;
    if (s->patched) {
        (void)snprintf(s->why, sizeof s->why, "%s: its format overwrites earlier bytes, so the ranks cannot check it",
                       s->path);
    } else {
        s->compares = true;
        s->window.from = begin_of(s, s->rank);
        s->window.to = begin_of(s, s->rank + 1);
        status = write_window(s);
        s->losses.size = told;
    }
    return lr_mpi_agree(s->group, status, *s->why ? s->why : NULL);
}

/* Opens the temporary files, writes this rank's window and closes them. All ranks. */
rec_status lr_mpi_saving_fill(lr_mpi_saving *s, rec_filling *told)
{
    double begun;
    rec_status status = lr_mpi_files_tell(&s->files, told);
    s->window.from = begin_of(s, s->rank);
    s->window.to = begin_of(s, s->rank + 1);
    status = status == REC_OK ? lr_mpi_files_open(&s->files, s->window.from, s->why, sizeof s->why) : status;
    if (status != REC_OK) {
        return status;
    }
    status = lr_mpi_saving_resume(s, told);
    if (status != REC_OK) {
        (void)lr_mpi_files_close(&s->files, s->why, sizeof s->why);
        return status;
    }
    begun = MPI_Wtime();
    status = write_window(s);
    s->write += MPI_Wtime() - begun;
    /* The ranks agree before any of them fetches tensor data: a rank that failed fetches none. */
    status = lr_mpi_agree(s->group, status, *s->why ? s->why : NULL);
    begun = MPI_Wtime();
    if (status == REC_OK) {
        status = lr_mpi_agree(s->group, lr_mpi_files_close(&s->files, s->why, sizeof s->why), s->why);
    } else {
        (void)lr_mpi_files_close(&s->files, s->why, sizeof s->why);
    }
    s->write += s->files.count > 1 ? MPI_Wtime() - begun : 0;
    return status;
}
