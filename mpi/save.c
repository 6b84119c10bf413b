/* SPDX-License-Identifier: MIT OR Apache-2.0
 * A save by all ranks: each does the same, keeps the bytes of its window and writes them to its place in one temporary file,
 * which rank 0 made and gives its name when all have written. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mpi/mpi_private.h"

/* Bytes that are written at once, and where windows begin if the file is large enough: stripes and pages are no larger. */
enum { PIECE = 4 << 20, ALIGNED = 1 << 20, ALIGNED_FROM = 16 };

typedef struct saving {
    MPI_Comm comm;
    int rank, ranks;
    rec_recorder *recorder;
    const rec_record *record;
    const char *path;
    rec_mpi_options options;
    rec_window window;
    lr_mpi_pieces pieces; /* of a file that a codec makes of pieces */
    lr_mpi_told losses, notes; /* on rank 0: all that are no losses */
    uint64_t size; /* of the file */
    char temporary[PATH_MAX];
    bool filled;       /* rank 0: the others were told */
    rec_status status; /* what all know of */
    double layout, write, commit;
    /* Writing. */
    MPI_File file;
    uint8_t *piece;
    uint64_t used, at; /* bytes in it, and where in the file it begins */
    char why[LR_MPI_MESSAGE];
} saving;

/* -------------------------------------------------------------------------------------------------------- writing -- */

static int32_t flush(saving *s)
{
    MPI_Status done;
    int written = 0, error;
    if (!s->used) {
        return 0;
    }
    error = MPI_File_write_at(s->file, (MPI_Offset)s->at, s->piece, (int)s->used, MPI_BYTE, &done);
    if (error == MPI_SUCCESS) {
        (void)MPI_Get_count(&done, MPI_BYTE, &written);
    }
    if (error != MPI_SUCCESS || (uint64_t)written != s->used) {
        char words[MPI_MAX_ERROR_STRING] = "";
        int length = 0;
        if (error != MPI_SUCCESS) {
            (void)MPI_Error_string(error, words, &length);
        }
        (void)snprintf(s->why, sizeof s->why, "%s: cannot write %" PRIu64 " bytes at byte %" PRIu64 " by MPI-IO: %s",
                       s->path, s->used, s->at, length ? words : "fewer were written (is the disk full?)");
        return EIO;
    }
    s->at += s->used;
    s->used = 0;
    return 0;
}

static int32_t write_some(void *user, const void *data, uint64_t size)
{
    saving *s = user;
    const uint8_t *from = data;
    int32_t error = 0;
    while (size && !error) {
        uint64_t some = PIECE - s->used < size ? PIECE - s->used : size;
        memcpy(s->piece + s->used, from, (size_t)some);
        s->used += some;
        from += some;
        size -= some;
        error = s->used == PIECE ? flush(s) : 0;
    }
    return error;
}

/* Over what may be in the piece or in the file already. */
static int32_t patch_some(void *user, uint64_t offset, const void *data, uint64_t size)
{
    saving *s = user;
    int32_t error = flush(s);
    uint64_t at = s->at;
    if (!error) {
        s->at = s->window.from + offset;
        error = write_some(s, data, size);
        error = error ? error : flush(s);
        s->at = at;
    }
    return error;
}

static uint64_t begin_of(const saving *s, int rank)
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
    lr_mpi_lost(&((saving *)user)->losses, loss);
}

/* What of the record lies in the window. */
static rec_status save_window(saving *s, const rec_output *output)
{
    uint64_t total = s->window.total, sum = s->window.sum;
    rec_status status;
    s->window.lost = lost;
    s->window.user = s;
    status = rec_save_window(s->recorder, s->record, s->path, &s->window, output, s);
    for (uint64_t i = 0; s->rank == 0 && rec_report_note(i); i++) {
        lr_mpi_keep(&s->notes, rec_report_note(i)); /* which all ranks have */
    }
    if (status == REC_OK && (s->window.total != total || s->window.sum != sum)) {
        (void)snprintf(s->why, sizeof s->why, "%s: what is saved changed meanwhile: was an input written to?", s->path);
        status = REC_E_MISMATCH;
    }
    return status;
}

/* Rank 0 has what stands before them and behind. */
static rec_status write_pieces(saving *s)
{
    const lr_mpi_pieces *p = &s->pieces;
    rec_status status;
    s->at = p->total - p->tail_size;
    if (write_some(s, p->tail, p->tail_size) != 0 || flush(s) != 0) {
        return REC_E_IO;
    }
    s->at = p->at - p->head_size;
    status = write_some(s, p->head, p->head_size) == 0 ? REC_OK : REC_E_IO;
    return status == REC_OK ? lr_mpi_pieces_copy(p, write_some, s, s->path, s->why, sizeof s->why) : status;
}

/* This rank's part. */
static rec_status write_window(saving *s)
{
    const rec_output output = {.size = sizeof output, .name = s->path, .write = write_some, .patch = patch_some};
    rec_status status;
    s->piece = malloc(PIECE);
    if (!s->piece) {
        (void)snprintf(s->why, sizeof s->why, "%s: out of memory", s->path);
        return REC_E_MEMORY;
    }
    if (s->window.piece) {
        status = write_pieces(s);
    } else {
        s->at = s->window.from = begin_of(s, s->rank);
        s->window.to = begin_of(s, s->rank + 1);
        status = save_window(s, &output);
    }
    if (status == REC_OK && flush(s) != 0) {
        status = REC_E_IO;
    }
    if (status == REC_OK && s->at != (s->window.piece ? s->pieces.end : s->window.to)) {
        (void)snprintf(s->why, sizeof s->why, "%s: what is saved changed meanwhile: was an input written to?", s->path);
        status = REC_E_MISMATCH;
    }
    free(s->piece);
    s->piece = NULL;
    return status;
}

/* ---------------------------------------------------------------------------------------------------------- pieces -- */

static void made(void *user, const rec_piece *piece)
{
    lr_mpi_pieces_add(&((saving *)user)->pieces, piece);
}

static int32_t spool(void *user, const void *data, uint64_t size)
{
    return lr_mpi_pieces_write(&((saving *)user)->pieces, data, size);
}

/* Before it is known where in the file they will be. All ranks. */
static rec_status make_pieces(saving *s)
{
    const rec_output output = {.size = sizeof output, .name = s->path, .write = spool};
    uint64_t count = (s->window.total - 1) / s->window.piece + 1, n = (uint64_t)s->ranks, i = (uint64_t)s->rank;
    double begun = MPI_Wtime();
    rec_status status;
    s->window.from = (count / n * i + count % n * i / n) * s->window.piece;
    s->window.to = i + 1 < n ? (count / n * (i + 1) + count % n * (i + 1) / n) * s->window.piece : s->window.total;
    s->window.made = made;
    status = lr_mpi_pieces_begin(&s->pieces, s->path, s->why, sizeof s->why);
    if (status == REC_OK && (s->window.from < s->window.to || s->rank == 0)) { /* rank 0 has the notes of all */
        status = save_window(s, &output);
    }
    s->write = MPI_Wtime() - begun;
    status = status == REC_OK ? lr_mpi_pieces_check(&s->pieces, s->path, s->why, sizeof s->why) : status;
    status = rec_mpi_agree(s->comm, status, *s->why ? s->why : NULL);
    return status == REC_OK ? lr_mpi_pieces_place(&s->pieces, s->comm, s->recorder, s->record, s->path, &s->window) : status;
}

/* Rank 0 made the file; who cannot open it says so before all open it together. */
static rec_status open_file(saving *s)
{
    int fd = open(s->temporary, O_WRONLY | O_CLOEXEC), error = errno;
    rec_status status;
    if (fd >= 0) {
        (void)close(fd);
    } else {
        (void)snprintf(s->why, sizeof s->why, "%.1500s: cannot open the temporary file %.1500s, which rank 0 made: %s",
                       s->path, s->temporary, strerror(error));
    }
    status = rec_mpi_agree(s->comm, fd >= 0 ? REC_OK : REC_E_IO, s->why);
    if (status == REC_OK) {
        error = MPI_File_open(s->comm, s->temporary, MPI_MODE_WRONLY,
                              s->options.has_hints ? s->options.hints : MPI_INFO_NULL, &s->file);
        if (error != MPI_SUCCESS) {
            (void)snprintf(s->why, sizeof s->why, "%.1500s: MPI cannot open the temporary file %.1500s", s->path,
                           s->temporary);
        }
        status = rec_mpi_agree(s->comm, error == MPI_SUCCESS ? REC_OK : REC_E_IO, s->why);
    }
    return status;
}

/* All ranks. What fails on one is what it comes to on all. */
static rec_status write_file(saving *s)
{
    rec_status status;
    double begun;
    bool synced;
    (void)MPI_Bcast(s->temporary, (int)sizeof s->temporary, MPI_BYTE, 0, s->comm);
    status = open_file(s);
    if (status != REC_OK) {
        return status;
    }
    begun = MPI_Wtime();
    status = write_window(s);
    s->write += MPI_Wtime() - begun;
    /* Before the others are waited for: what is asked for here may be another's error, and needs none of its bytes. */
    status = rec_mpi_agree(s->comm, status, *s->why ? s->why : NULL);
    synced = MPI_File_sync(s->file) == MPI_SUCCESS;
    synced = MPI_File_close(&s->file) == MPI_SUCCESS && synced;
    if (status == REC_OK && !synced) {
        (void)snprintf(s->why, sizeof s->why, "%s: MPI cannot sync and close the temporary file", s->path);
    }
    return status == REC_OK ? rec_mpi_agree(s->comm, synced ? REC_OK : REC_E_IO, s->why) : status;
}

/* Rank 0, while rec_save_filled() waits. */
static int32_t fill(void *user, const char *temporary)
{
    saving *s = user;
    int length = snprintf(s->temporary, sizeof s->temporary, "%s", temporary);
    if (length < 0 || (size_t)length >= sizeof s->temporary) {
        return ENAMETOOLONG;
    }
    s->filled = true;
    s->status = rec_mpi_agree(s->comm, REC_OK, NULL);
    if (s->status == REC_OK) {
        s->status = write_file(s);
    }
    s->commit = MPI_Wtime();
    return s->status == REC_OK ? 0 : ECANCELED;
}

/* ---------------------------------------------------------------------------------------------------- before that -- */

static const char *version_of(const char *name)
{
    const rec_plugin_info *info = *name ? rec_plugin_find(NULL, name) : NULL;
    return info && *info->version ? info->version : "without a version";
}

/* The layout on every rank: without tensors' data where the format lets that be. */
static rec_status find_layout(saving *s)
{
    const char *to = rec_recorder_name(s->recorder), *from = rec_record_origin(s->record)->recorder;
    char words[LR_MPI_WORDS];
    double begun = MPI_Wtime();
    rec_status status, all;
    s->window.part = REC_PART_PIECES; /* if there are any */
    status = rec_save_window(s->recorder, s->record, s->path, &s->window, NULL, NULL);
    s->layout = MPI_Wtime() - begun;
    all = rec_mpi_agree(s->comm, status, NULL);
    if (all != REC_OK) {
        return all;
    }
    (void)snprintf(words, sizeof words, "librecord %s, %s %s, %s %s", rec_version_string(), *from ? from : "no reader",
                   version_of(from), to, version_of(to));
    all = lr_mpi_same(s->comm, s->path, words);
    if (all == REC_OK) {
        (void)snprintf(words, sizeof words, "the file would have %" PRIu64 " bytes%s, with the layout %016" PRIx64,
                       s->window.total, s->window.piece ? " before it is compressed" : "", s->window.sum);
        all = lr_mpi_same(s->comm, s->path, words);
    }
    return all;
}

static rec_status make_report(saving *s, rec_mpi_report *report)
{
    struct {
        double layout, write;
        char host[64];
    } mine = {.layout = s->layout, .write = s->write}, *all = NULL;
    char host[MPI_MAX_PROCESSOR_NAME];
    uint32_t size = report && report->size < sizeof *report ? report->size : (uint32_t)sizeof *report;
    rec_mpi_report r = {.size = sizeof r, .ranks = s->ranks, .bytes = s->size, .commit = s->commit};
    rec_status status;
    (void)snprintf(mine.host, sizeof mine.host, "%.63s", lr_mpi_host(host));
    all = s->rank == 0 ? calloc((size_t)s->ranks, sizeof *all) : NULL;
    status = rec_mpi_agree(s->comm, s->rank == 0 && !all ? REC_E_MEMORY : REC_OK, "out of memory for the report");
    if (status == REC_OK) {
        (void)MPI_Gather(&mine, (int)sizeof mine, MPI_BYTE, all, (int)sizeof mine, MPI_BYTE, 0, s->comm);
    }
    for (int i = 0; all && status == REC_OK && i < s->ranks; i++) {
        r.layout = all[i].layout > r.layout ? all[i].layout : r.layout;
        r.write_mean += all[i].write / s->ranks;
        if (all[i].write >= r.write) {
            r.write = all[i].write;
            r.slowest = i;
            memcpy(r.slowest_host, all[i].host, sizeof r.slowest_host);
        }
    }
    if (report && s->rank == 0) {
        memcpy(report, &r, size);
        report->size = size;
    } else if (report) {
        memset(report, 0, size);
        report->size = size;
    }
    free(all);
    return status;
}

/* Rank 0: there is a temporary file. It is not needed yet. */
static int32_t look_at(void *user, const char *temporary)
{
    (void)temporary;
    *(bool *)user = true;
    return ECANCELED;
}

/* Whether there can be a file of that name shows before anything is compressed or looked for. */
static rec_status check_target(saving *s)
{
    bool can = false;
    rec_status own = s->rank == 0 ? rec_save_filled(s->recorder, s->path, 0, look_at, &can) : REC_OK;
    return rec_mpi_agree(s->comm, can ? REC_OK : own, NULL);
}

rec_status rec_mpi_save(MPI_Comm comm, rec_recorder *recorder, const rec_record *record, const char *path,
                        const rec_mpi_options *options, rec_mpi_report *report)
{
    saving *s = calloc(1, sizeof *s);
    bool sane = recorder && record && path && strlen(path) < PATH_MAX && (!options || options->size >= 8) &&
                (!report || report->size >= 8);
    rec_status status = rec_mpi_agree(comm,
                                      !s     ? REC_E_MEMORY
                                      : sane ? REC_OK
                                             : REC_E_ARGUMENT,
                                      s ? "rec_mpi_save: an argument makes no sense" : "out of memory");
    rec_status own;
    if (status != REC_OK) {
        free(s);
        return status;
    }
    s->comm = comm;
    s->recorder = recorder;
    s->record = record;
    s->path = path;
    s->window.size = sizeof s->window;
    s->file = MPI_FILE_NULL;
    s->pieces.fd = -1;
    if (options) {
        memcpy(&s->options, options, options->size < sizeof s->options ? options->size : sizeof s->options);
    }
    (void)MPI_Comm_rank(comm, &s->rank);
    (void)MPI_Comm_size(comm, &s->ranks);
    status = check_target(s);
    status = status == REC_OK ? find_layout(s) : status;
    if (status == REC_OK && s->window.piece) {
        status = make_pieces(s);
    }
    if (status != REC_OK) {
        goto done;
    }
    s->size = s->window.piece ? s->pieces.total : s->window.total;
    if (s->rank == 0) {
        own = rec_save_filled(recorder, path, s->size, fill, s);
        s->commit = MPI_Wtime() - s->commit;
        status = s->status;
    } else {
        own = REC_OK;
        status = rec_mpi_agree(comm, REC_OK, NULL);
        if (status == REC_OK) {
            status = write_file(s);
        }
    }
    /* Rank 0 is the only one that can have failed without the others' knowing: before all wrote, or after that. */
    if (s->rank == 0 && !s->filled) {
        status = rec_mpi_agree(comm, own == REC_OK ? REC_E_IO : own, NULL);
    } else if (status == REC_OK) {
        status = rec_mpi_agree(comm, own, NULL);
    }
    if (status == REC_OK || status == REC_E_SYNC) {
        rec_status told;
        if (s->options.note) {
            lr_mpi_tell(&s->notes, s->options.note, s->options.user);
        }
        told = lr_mpi_tell_losses(comm, &s->losses, s->options.note, s->options.user);
        told = told == REC_OK ? make_report(s, report) : told;
        status = status == REC_OK ? told : status;
    }
done:
    lr_mpi_pieces_end(&s->pieces);
    free(s->losses.at);
    free(s->notes.at);
    free(s);
    return status;
}
