/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The bytes of a save by ranks: this rank's part of each file, the pieces that a codec makes, and text, which is made
 * twice. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/saving.h"

/* Where windows begin if the file is large enough: stripes and pages are no larger. */
enum { ALIGNED = 1 << 20, ALIGNED_FROM = 16 };

int32_t lr_mpi_saving_flush(lr_mpi_saving *s)
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

int32_t lr_mpi_saving_write(void *saving, const void *data, uint64_t size)
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
        error = s->used == LR_MPI_WRITTEN ? lr_mpi_saving_flush(s) : 0;
    }
    return error;
}

/* Over what may be in the piece or in the file already. */
static int32_t patch_some(void *user, uint64_t offset, const void *data, uint64_t size)
{
    lr_mpi_saving *s = user;
    int32_t error = lr_mpi_saving_flush(s);
    uint64_t at = s->at;
    s->patched = true;
    if (!error) {
        s->at = s->window.from + offset;
        error = lr_mpi_saving_write(s, data, size);
        error = error ? error : lr_mpi_saving_flush(s);
        s->at = at;
    }
    return error;
}

static uint64_t begin_of(const lr_mpi_saving *s, int rank)
{
    uint64_t total = s->window.total, n = (uint64_t)s->ranks, i = (uint64_t)rank;
    uint64_t at = total / n * i + total % n * i / n;
    if (i == n) {
        return total;
    }
    return total / n >= (uint64_t)ALIGNED * ALIGNED_FROM ? at / ALIGNED * ALIGNED : at;
}

static void lost(void *user, const rec_loss *loss)
{
    lr_mpi_lost(&((lr_mpi_saving *)user)->losses, loss);
}

static void made(void *user, const rec_piece *piece)
{
    lr_mpi_pieces_add(&((lr_mpi_saving *)user)->pieces, piece);
}

rec_status lr_mpi_saving_changed(lr_mpi_saving *s)
{
    (void)snprintf(s->why, sizeof s->why, "%s: what is saved changed meanwhile: was an input written to?", s->path);
    return REC_E_MISMATCH;
}

/* What of the record lies in the window. */
rec_status lr_mpi_saving_walk(lr_mpi_saving *s, const rec_output *output)
{
    uint64_t total = s->window.total, sum = s->window.sum;
    rec_status status;
    s->window.lost = lost;
    s->window.made = made;
    s->window.user = s;
    status = rec_save_window(s->recorder, s->record, s->path, &s->window, output, s);
    for (uint64_t i = 0; s->rank == 0 && !s->noted && rec_report_note(i); i++) {
        lr_mpi_keep(&s->notes, rec_report_note(i)); /* which all ranks have, each time */
    }
    s->noted = true;
    if (status == REC_OK && (s->window.total != total || s->window.sum != sum)) {
        status = lr_mpi_saving_changed(s);
    }
    return status;
}

/* Numbers become text, whose size shows when it is made. */
bool lr_mpi_saving_is_text(const lr_mpi_saving *s)
{
    return s->window.piece == 1;
}

/* Text is made once more, now that it is known where it goes. */
static rec_status write_text(lr_mpi_saving *s, const rec_output *output)
{
    rec_status status = REC_OK;
    s->at = s->pieces.at;
    s->window.from = s->pieces.from;
    s->window.to = s->pieces.to;
    if (s->window.from < s->window.to) {
        status = lr_mpi_saving_walk(s, output);
    }
    return status == REC_OK && s->at + s->used != s->pieces.end ? lr_mpi_saving_changed(s) : status;
}

/* Rank 0 has what stands before them and behind. */
static rec_status write_pieces(lr_mpi_saving *s)
{
    const lr_mpi_pieces *p = &s->pieces;
    bool copied;
    s->at = p->total - p->tail_size;
    if (lr_mpi_saving_write(s, p->tail, p->tail_size) != 0 || lr_mpi_saving_flush(s) != 0) {
        return REC_E_IO;
    }
    s->at = p->at - p->head_size;
    if (lr_mpi_saving_write(s, p->head, p->head_size) != 0) {
        return REC_E_IO;
    }
    copied = s->resume.fd >= 0 ? lr_mpi_saving_copy_slots(s) : lr_mpi_copy(p->fd, 0, p->stored, lr_mpi_saving_write, s);
    if (!copied && !*s->why) {
        (void)snprintf(s->why, sizeof s->why, "%.2000s: cannot read its pieces back: %s", s->path, strerror(errno));
    }
    return copied ? REC_OK : REC_E_IO;
}

/* Of several files that are gone on with all bytes are kept in one, but for those of the index, which may have other
 * letters now. */
static rec_status copy_kept(lr_mpi_saving *s, const rec_output *output)
{
    uint64_t to = s->window.to, index = s->files.at[s->files.count - 1].begin;
    rec_status status = REC_OK;
    s->at = s->window.from;
    if (s->at < index &&
        !lr_mpi_resume_copy_file(&s->resume, s->at, (to < index ? to : index) - s->at, lr_mpi_saving_write, s)) {
        if (!*s->why) {
            (void)snprintf(s->why, sizeof s->why, "%.1500s: cannot read %.1500s: %s", s->path, s->resume.temporary,
                           strerror(errno));
        }
        status = REC_E_IO;
    }
    if (status == REC_OK && to > index) {
        size_t told = s->losses.size;
        s->window.from = s->window.from > index ? s->window.from : index;
        status = lr_mpi_saving_walk(s, output);
        s->losses.size = told; /* they were kept before */
    }
    return status;
}

/* This rank's part. */
static rec_status write_window(lr_mpi_saving *s)
{
    const rec_output output = {
        .size = sizeof output, .name = s->path, .write = lr_mpi_saving_write, .patch = patch_some};
    rec_status status;
    bool in_pieces = s->window.piece != 0;
    s->piece = malloc(LR_MPI_WRITTEN);
    if (!s->piece) {
        (void)snprintf(s->why, sizeof s->why, "%s: out of memory", s->path);
        return REC_E_MEMORY;
    }
    if (lr_mpi_saving_is_text(s)) {
        status = write_text(s, &output);
    } else if (in_pieces) {
        status = write_pieces(s);
    } else if (s->staged && !s->compares) {
        status = copy_kept(s, &output);
    } else if (s->resume.fd >= 0 && !s->compares) {
        status = lr_mpi_saving_rest(s, &output);
    } else {
        s->at = s->window.from;
        status = lr_mpi_saving_walk(s, &output);
    }
    if (status == REC_OK && lr_mpi_saving_flush(s) != 0) {
        status = REC_E_IO;
    }
    if (status == REC_OK && s->at != (in_pieces ? s->pieces.end : s->window.to)) {
        status = lr_mpi_saving_changed(s);
    }
    free(s->piece);
    s->piece = NULL;
    return status;
}

static int32_t spool(void *user, const void *data, uint64_t size)
{
    return lr_mpi_pieces_write(&((lr_mpi_saving *)user)->pieces, data, size);
}

static int32_t measure(void *user, const void *data, uint64_t size)
{
    (void)data;
    ((lr_mpi_saving *)user)->pieces.stored += size;
    return 0;
}

/* Before it is known where in the file they will be. All ranks. */
rec_status lr_mpi_saving_pieces(lr_mpi_saving *s)
{
    const rec_output output = {
        .size = sizeof output, .name = s->path, .write = lr_mpi_saving_is_text(s) ? measure : spool};
    uint64_t count = (s->window.total - 1) / s->window.piece + 1, n = (uint64_t)s->ranks, i = (uint64_t)s->rank;
    double begun = MPI_Wtime();
    rec_status status;
    s->window.from = (count / n * i + count % n * i / n) * s->window.piece;
    s->window.to = i + 1 < n ? (count / n * (i + 1) + count % n * (i + 1) / n) * s->window.piece : s->window.total;
    s->pieces.from = s->window.from;
    s->pieces.to = s->window.to;
    status = lr_mpi_saving_is_text(s) ? REC_OK : lr_mpi_pieces_begin(&s->pieces, s->path, s->why, sizeof s->why);
    if (status == REC_OK && (s->window.from < s->window.to || s->rank == 0)) { /* rank 0 has the notes of all */
        status = lr_mpi_saving_walk(s, &output);
    }
    s->write = MPI_Wtime() - begun;
    if (lr_mpi_saving_is_text(s)) {
        s->losses.size = 0; /* which tell themselves when it is written */
        status = rec_mpi_agree(s->comm, status, *s->why ? s->why : NULL);
        if (status == REC_OK) {
            lr_mpi_pieces_scan(&s->pieces, s->comm);
        }
        return status;
    }
    status = status == REC_OK ? lr_mpi_pieces_check(&s->pieces, s->path, s->why, sizeof s->why) : status;
    status = rec_mpi_agree(s->comm, status, *s->why ? s->why : NULL);
    return status == REC_OK ? lr_mpi_pieces_place(&s->pieces, s->comm, s->recorder, s->record, s->path, &s->window)
                            : status;
}

/* What was written is read back, and compared with what is made once more. */
rec_status lr_mpi_saving_compare(lr_mpi_saving *s)
{
    size_t told = s->losses.size;
    rec_status status = REC_E_UNSUPPORTED;
    if (s->patched) {
        (void)snprintf(s->why, sizeof s->why,
                       "%s: its codec writes over what it has written, so that it cannot be checked by ranks", s->path);
    } else {
        s->compares = true;
        s->window.from = begin_of(s, s->rank);
        s->window.to = begin_of(s, s->rank + 1);
        status = write_window(s);
        s->losses.size = told;
    }
    return rec_mpi_agree(s->comm, status, *s->why ? s->why : NULL);
}

/* Opens the temporary files, writes this rank's part and closes them. All ranks. */
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
    status = s->resume.slot ? lr_mpi_saving_slots(s, told) : REC_OK;
    if (status != REC_OK) {
        (void)lr_mpi_files_close(&s->files, s->why, sizeof s->why);
        return status;
    }
    status = write_window(s);
    s->write += MPI_Wtime() - begun;
    /* Before the others are waited for: what is asked for here may be another's error, and needs none of its bytes. */
    status = rec_mpi_agree(s->comm, status, *s->why ? s->why : NULL);
    begun = MPI_Wtime();
    if (status == REC_OK) {
        status = rec_mpi_agree(s->comm, lr_mpi_files_close(&s->files, s->why, sizeof s->why), s->why);
    } else {
        (void)lr_mpi_files_close(&s->files, s->why, sizeof s->why);
    }
    s->write += s->files.count > 1 ? MPI_Wtime() - begun : 0;
    return status;
}
