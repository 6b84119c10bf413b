/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The temporary files of a save by ranks, filled by all of them: each writes a window of their bytes, or compares it
 * with them. Of a save that can be resumed it writes its parts of the file, and keeps those that an earlier save wrote.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/saving.h"

/* ----------------------------------------------------------------------------------------------------- writing -- */

static int32_t flush(lr_mpi_saving *s)
{
    bool well = !s->used || (s->compares ? lr_mpi_files_have : lr_mpi_files_write)(&s->files, s->at, s->piece, s->used,
                                                                                   s->why, sizeof s->why);
    if (!well) {
        return EIO;
    }
    if (s->used && s->resume.fd >= 0) {
        lr_mpi_resume_sum(&s->resume, s->piece, s->used);
    }
    s->at += s->used;
    s->used = 0;
    return 0;
}

static int32_t put(void *saving, const void *data, uint64_t size)
{
    lr_mpi_saving *s = saving;
    const uint8_t *from = data;
    int32_t error = 0;
    while (size && !error) {
        uint64_t some = LR_MPI_WRITTEN - s->used < size ? LR_MPI_WRITTEN - s->used : size;
        memcpy(s->piece + s->used, from, (size_t)some);
        s->used += some;
        from += some;
        size -= some;
        error = s->used == LR_MPI_WRITTEN ? flush(s) : 0;
    }
    return error;
}

/* Over what may be in the buffer or in the file already. */
static int32_t patch(void *saving, uint64_t offset, const void *data, uint64_t size)
{
    lr_mpi_saving *s = saving;
    int32_t error = flush(s);
    uint64_t at = s->at;
    s->patched = true;
    if (!error) {
        s->at = s->window.from + offset;
        error = put(s, data, size);
        error = error ? error : flush(s);
        s->at = at;
    }
    return error;
}

static void lost(void *user, const rec_conversion_loss *loss)
{
    lr_mpi_lost(&((lr_mpi_saving *)user)->losses, loss);
}

static rec_status fail_changed(lr_mpi_saving *s)
{
    (void)snprintf(s->why, sizeof s->why, "%s: the saved data changed meanwhile: was an input written to?", s->path);
    return REC_E_MISMATCH;
}

/* What of the record lies in the window. */
static rec_status walk(lr_mpi_saving *s, const rec_output *output)
{
    uint64_t total = s->window.total, sum = s->window.sum;
    rec_status status;
    s->window.lost = lost;
    s->window.user = s;
    status = rec_save_window(s->recorder, s->record, s->path, &s->window, output, s);
    for (uint64_t i = 0; s->rank == 0 && !s->noted && rec_report_note(i); i++) {
        lr_mpi_keep(&s->notes, rec_report_note(i)); /* which all ranks have, each time */
    }
    s->noted = true;
    if (status == REC_OK && (s->window.total != total || s->window.sum != sum)) {
        status = fail_changed(s);
    }
    return status;
}

/* ---------------------------------------------------------------------------------------------------- resuming -- */

/* The first part of the file that is this rank's. */
static uint64_t first_of(const lr_mpi_saving *s, int rank)
{
    uint64_t n = (uint64_t)s->ranks, i = (uint64_t)rank, count = s->resume.count;
    return count / n * i + count % n * i / n;
}

/* @param told bytes of losses before it. */
static rec_status end_piece(lr_mpi_saving *s, uint64_t number, bool there, size_t told, rec_status status)
{
    if (status == REC_OK && there) {
        s->losses.size = told; /* they were kept before */
    } else if (status != REC_OK && there && *s->why) {
        size_t used = strlen(s->why);
        (void)snprintf(s->why + used, sizeof s->why - used,
                       ": the partial output (%.1000s) is of another save; save it without resuming",
                       s->resume.temporary);
        status = REC_E_MISMATCH;
    } else if (status == REC_OK && !s->patched &&
               !lr_mpi_resume_made(&s->resume, number, s->losses.at + told, s->losses.size - told)) {
        (void)snprintf(s->why, sizeof s->why, "%.1500s: cannot write to the temporary file %.1500s: %s", s->path,
                       s->resume.temporary, strerror(errno));
        status = REC_E_IO;
    }
    return status;
}

/* @param there an earlier save wrote it: the bytes are compared. */
static rec_status make_piece(lr_mpi_saving *s, const rec_output *output, uint64_t number, bool there)
{
    size_t told = s->losses.size;
    rec_status status;
    s->at = s->window.from = number * s->resume.piece;
    s->window.to = s->window.total - s->at < s->resume.piece ? s->window.total : s->at + s->resume.piece;
    s->compares = there;
    s->patched = false;
    lr_mpi_resume_start(&s->resume);
    status = walk(s, output);
    status = status == REC_OK && flush(s) != 0 ? REC_E_IO : status;
    s->compares = false;
    if (status == REC_OK && s->at != s->window.to) {
        status = fail_changed(s);
    }
    return end_piece(s, number, there, told, status);
}

/* This rank's parts that are not there. The first that is there is made as well: another conversion with the same
 * layout would make other bytes. */
static rec_status write_rest(lr_mpi_saving *s, const rec_output *output)
{
    const lr_mpi_resume *r = &s->resume;
    uint64_t last = first_of(s, s->rank + 1);
    rec_status status = REC_OK;
    bool looked = false;
    for (uint64_t number = first_of(s, s->rank); number < last && status == REC_OK; number++) {
        bool there = lr_mpi_resume_has(r, number, &s->losses);
        if (!there || !looked) {
            status = make_piece(s, output, number, there);
        }
        s->kept += there ? lr_mpi_resume_size(r, number) : 0;
        looked = looked || there;
    }
    if (status == REC_OK && !s->noted) { /* rank 0 has the notes of all */
        s->window.from = s->window.to = 0;
        status = walk(s, output);
    }
    s->at = s->window.to;
    return status;
}

/* What an earlier save left. All ranks, when the temporary file is there. */
static rec_status find_left(lr_mpi_saving *s, rec_filling *told)
{
    rec_status status = REC_OK;
    if (s->options.resume) {
        status = lr_mpi_resume_begin(&s->resume, &s->files, &s->window, s->options.identity, s->layout, s->why,
                                     sizeof s->why);
        if (told && status == REC_OK) {
            told->keep = 1;
        }
    }
    return status;
}

/* ------------------------------------------------------------------------------------------------ the windows -- */

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
    const rec_output output = {.size = sizeof output, .name = s->path, .write = put, .patch = patch};
    rec_status status;
    s->piece = malloc(LR_MPI_WRITTEN);
    if (!s->piece) {
        (void)snprintf(s->why, sizeof s->why, "%s: out of memory", s->path);
        return REC_E_MEMORY;
    }
    if (s->resume.fd >= 0 && !s->compares) {
        status = write_rest(s, &output);
    } else {
        s->at = s->window.from;
        status = walk(s, &output);
    }
    if (status == REC_OK && flush(s) != 0) {
        status = REC_E_IO;
    }
    if (status == REC_OK && s->at != s->window.to) {
        status = fail_changed(s);
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
    status = find_left(s, told);
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
        bool closed = lr_mpi_files_close(&s->files, s->why, sizeof s->why);
        status = lr_mpi_agree(s->group, closed ? REC_OK : REC_E_IO, s->why);
    } else {
        (void)lr_mpi_files_close(&s->files, s->why, sizeof s->why);
    }
    s->write += s->files.count > 1 ? MPI_Wtime() - begun : 0;
    return status;
}
