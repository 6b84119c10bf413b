/* SPDX-License-Identifier: MIT OR Apache-2.0
 * A save by all ranks: each does the same, keeps the bytes of its window and writes them to their place in the temporary files
 * that rank 0 made and gives their names when all have written. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    lr_mpi_pieces pieces; /* of a file that a codec makes of pieces, or a format of text */
    lr_mpi_told losses, notes; /* on rank 0: all that are no losses */
    lr_mpi_files files;
    char letters[16]; /* in their names */
    bool whole_text;   /* text is made by bytes of the file, all of it by each rank */
    bool filled;       /* rank 0: the others were told */
    rec_status status; /* what all know of */
    double layout, write, commit;
    lr_mpi_resume resume; /* of one that can be gone on with */
    lr_mpi_files kept_in; /* of several files: the one that keeps the bytes of all until they are complete */
    bool staged;          /* which they are */
    uint64_t kept;        /* bytes that were there */
    bool noted;           /* `notes` has what each walk tells */
    /* Writing. */
    uint8_t *piece;
    uint64_t used, at; /* bytes in it, and where in the files it begins */
    bool compares;     /* it is not written: it is to be there */
    bool patched;      /* something was written over */
    char why[LR_MPI_MESSAGE];
} saving;

/* -------------------------------------------------------------------------------------------------------- writing -- */

static int32_t flush(saving *s)
{
    bool well = !s->used || (s->compares ? lr_mpi_files_have : lr_mpi_files_write)(&s->files, s->at, s->piece, s->used, s->why, sizeof s->why);
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
    s->patched = true;
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

static rec_status fail_changed(saving *s)
{
    (void)snprintf(s->why, sizeof s->why, "%s: what is saved changed meanwhile: was an input written to?", s->path);
    return REC_E_MISMATCH;
}

/* What of the record lies in the window. */
static rec_status save_window(saving *s, const rec_output *output)
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

/* Numbers become text, whose size shows when it is made. */
static bool is_text(const saving *s)
{
    return s->window.piece == 1;
}

/* Text is made once more, now that it is known where it goes. */
static rec_status write_text(saving *s, const rec_output *output)
{
    rec_status status = REC_OK;
    s->at = s->pieces.at;
    s->window.from = s->pieces.from;
    s->window.to = s->pieces.to;
    if (s->window.from < s->window.to) {
        status = save_window(s, output);
    }
    return status == REC_OK && s->at + s->used != s->pieces.end ? fail_changed(s) : status;
}

/* This rank's part of the pieces of a file that is gone on with. */
static uint64_t first_of(const saving *s, int rank)
{
    uint64_t n = (uint64_t)s->ranks, i = (uint64_t)rank, count = s->resume.count;
    return count / n * i + count % n * i / n;
}

static rec_status copy_slots(saving *s)
{
    uint64_t last = first_of(s, s->rank + 1);
    for (uint64_t number = first_of(s, s->rank); number < last; number++) {
        if (!lr_mpi_resume_copy(&s->resume, number, write_some, s)) {
            if (!*s->why) {
                (void)snprintf(s->why, sizeof s->why, "%.2000s: cannot read its pieces back: %s", s->path, strerror(errno));
            }
            return REC_E_IO;
        }
    }
    return REC_OK;
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
    if (status == REC_OK) {
        status = s->resume.fd >= 0 ? copy_slots(s) : lr_mpi_pieces_copy(p, write_some, s, s->path, s->why, sizeof s->why);
    }
    return status;
}

/* @param told bytes of losses before it. */
static rec_status end_piece(saving *s, uint64_t number, bool there, size_t told, rec_status status)
{
    if (status == REC_OK && there) {
        s->losses.size = told; /* they were kept before */
    } else if (status != REC_OK && there && *s->why) {
        size_t used = strlen(s->why);
        (void)snprintf(s->why + used, sizeof s->why - used, ": what an earlier save left (%.1000s) is another's; save it without resuming",
                       s->resume.temporary);
        status = REC_E_MISMATCH;
    } else if (status == REC_OK && !s->patched &&
               !lr_mpi_resume_made(&s->resume, number, s->losses.at + told, s->losses.size - told)) {
        (void)snprintf(s->why, sizeof s->why, "%.1500s: cannot write to the temporary file %.1500s: %s", s->path, s->resume.temporary,
                       strerror(errno));
        status = REC_E_IO;
    }
    return status;
}

/* One piece of a file that is gone on with. @param there it is to be there already, which is looked at. */
static rec_status make_piece(saving *s, const rec_output *output, uint64_t number, bool there)
{
    size_t told = s->losses.size;
    rec_status status;
    s->at = s->window.from = number * s->resume.piece;
    s->window.to = s->window.total - s->at < s->resume.piece ? s->window.total : s->at + s->resume.piece;
    s->compares = there;
    s->patched = false;
    lr_mpi_resume_start(&s->resume, number);
    status = save_window(s, output);
    status = status == REC_OK && flush(s) != 0 ? REC_E_IO : status;
    s->compares = false;
    if (status == REC_OK && s->at != s->window.to) {
        status = fail_changed(s);
    }
    return end_piece(s, number, there, told, status);
}

static void made(void *user, const rec_piece *piece)
{
    lr_mpi_pieces_add(&((saving *)user)->pieces, piece);
}

static int32_t put_slot(void *user, const void *data, uint64_t size)
{
    saving *s = user;
    int32_t error = lr_mpi_resume_put(&s->resume, data, size, s->compares);
    if (error) {
        (void)snprintf(s->why, sizeof s->why, "%.2000s: %s%s", s->path,
                       error == EILSEQ ? "it is not what was written"
                                       : "cannot keep what was made of it for a save that goes on with this one: ",
                       error == EILSEQ ? "" : error == EFBIG ? "its codec makes more bytes than it is given" : strerror(error));
    }
    return error;
}

/* One piece of a file that a codec makes, until it is known where it goes. @param there as of make_piece(). */
static rec_status fill_slot(saving *s, uint64_t number, bool there)
{
    const rec_output output = {.size = sizeof output, .name = s->path, .write = put_slot};
    const lr_mpi_resume *r = &s->resume;
    size_t told = s->losses.size;
    uint64_t before = s->pieces.count;
    rec_status status;
    s->window.from = number * r->piece;
    s->window.to = s->window.from + lr_mpi_resume_size(r, number);
    s->window.made = made;
    s->compares = there;
    lr_mpi_resume_start(&s->resume, number);
    status = save_window(s, &output);
    if (status == REC_OK && (s->pieces.failed || s->pieces.count - before != (lr_mpi_resume_size(r, number) - 1) / r->codec + 1)) {
        (void)snprintf(s->why, sizeof s->why, "%.2000s: out of memory for its pieces", s->path);
        status = REC_E_MEMORY;
    }
    if (status == REC_OK) {
        int32_t error = lr_mpi_resume_list(&s->resume, number, s->pieces.at_hand + before, there);
        if (error) {
            (void)snprintf(s->why, sizeof s->why, "%.2000s: %s", s->path, error == EILSEQ ? "it is not what was written" : strerror(error));
            status = REC_E_IO;
        }
    }
    s->compares = false;
    s->pieces.count = before; /* add_slot() */
    return end_piece(s, number, there, told, status);
}

/* What is in a slot now. */
static rec_status add_slot(saving *s, uint64_t number, bool there)
{
    uint64_t before = s->pieces.stored;
    if (!lr_mpi_resume_pieces(&s->resume, number, &s->pieces)) {
        (void)snprintf(s->why, sizeof s->why, "%.2000s: cannot read its pieces back: %s", s->path, strerror(errno));
        return REC_E_IO;
    }
    s->kept += there ? s->pieces.stored - before : 0;
    return REC_OK;
}

/* This rank's pieces that are not there. The first that is there is made all the same: another conversion with the same layout would
 * make other bytes. */
static rec_status write_rest(saving *s, const rec_output *output)
{
    const lr_mpi_resume *r = &s->resume;
    uint64_t last = first_of(s, s->rank + 1);
    rec_status status = REC_OK;
    bool looked = false;
    for (uint64_t number = first_of(s, s->rank); number < last && status == REC_OK; number++) {
        bool there = lr_mpi_resume_has(r, number, &s->losses);
        if (!there || !looked) {
            status = r->slot ? fill_slot(s, number, there) : make_piece(s, output, number, there);
        }
        if (status == REC_OK && r->slot) {
            status = add_slot(s, number, there);
        } else if (there) {
            s->kept += lr_mpi_resume_size(r, number);
        }
        looked = looked || there;
    }
    if (status == REC_OK && !s->noted) { /* rank 0 has the notes of all */
        s->window.from = s->window.to = 0;
        status = save_window(s, output);
    }
    s->at = s->window.to;
    return status;
}

/* Of several files that are gone on with all bytes are kept in one, but for those of the index, which may have other letters now. */
static rec_status copy_kept(saving *s, const rec_output *output)
{
    uint64_t to = s->window.to, index = s->files.at[s->files.count - 1].begin;
    rec_status status = REC_OK;
    s->at = s->window.from;
    if (s->at < index && !lr_mpi_resume_copy_file(&s->resume, s->at, (to < index ? to : index) - s->at, write_some, s)) {
        if (!*s->why) {
            (void)snprintf(s->why, sizeof s->why, "%.1500s: cannot read %.1500s: %s", s->path, s->resume.temporary, strerror(errno));
        }
        status = REC_E_IO;
    }
    if (status == REC_OK && to > index) {
        size_t told = s->losses.size;
        s->window.from = s->window.from > index ? s->window.from : index;
        status = save_window(s, output);
        s->losses.size = told; /* they were kept before */
    }
    return status;
}

/* This rank's part. */
static rec_status write_window(saving *s)
{
    const rec_output output = {.size = sizeof output, .name = s->path, .write = write_some, .patch = patch_some};
    rec_status status;
    bool in_pieces = s->window.piece != 0;
    s->piece = malloc(PIECE);
    if (!s->piece) {
        (void)snprintf(s->why, sizeof s->why, "%s: out of memory", s->path);
        return REC_E_MEMORY;
    }
    if (is_text(s)) {
        status = write_text(s, &output);
    } else if (in_pieces) {
        status = write_pieces(s);
    } else if (s->staged && !s->compares) {
        status = copy_kept(s, &output);
    } else if (s->resume.fd >= 0 && !s->compares) {
        status = write_rest(s, &output);
    } else {
        s->at = s->window.from;
        status = save_window(s, &output);
    }
    if (status == REC_OK && flush(s) != 0) {
        status = REC_E_IO;
    }
    if (status == REC_OK && s->at != (in_pieces ? s->pieces.end : s->window.to)) {
        status = fail_changed(s);
    }
    free(s->piece);
    s->piece = NULL;
    return status;
}

/* ---------------------------------------------------------------------------------------------------------- pieces -- */

static int32_t spool(void *user, const void *data, uint64_t size)
{
    return lr_mpi_pieces_write(&((saving *)user)->pieces, data, size);
}

static int32_t measure(void *user, const void *data, uint64_t size)
{
    (void)data;
    ((saving *)user)->pieces.stored += size;
    return 0;
}

/* Before it is known where in the file they will be. All ranks. */
static rec_status make_pieces(saving *s)
{
    const rec_output output = {.size = sizeof output, .name = s->path, .write = is_text(s) ? measure : spool};
    uint64_t count = (s->window.total - 1) / s->window.piece + 1, n = (uint64_t)s->ranks, i = (uint64_t)s->rank;
    double begun = MPI_Wtime();
    rec_status status;
    s->window.from = (count / n * i + count % n * i / n) * s->window.piece;
    s->window.to = i + 1 < n ? (count / n * (i + 1) + count % n * (i + 1) / n) * s->window.piece : s->window.total;
    s->window.made = made;
    s->pieces.from = s->window.from;
    s->pieces.to = s->window.to;
    status = is_text(s) ? REC_OK : lr_mpi_pieces_begin(&s->pieces, s->path, s->why, sizeof s->why);
    if (status == REC_OK && (s->window.from < s->window.to || s->rank == 0)) { /* rank 0 has the notes of all */
        status = save_window(s, &output);
    }
    s->write = MPI_Wtime() - begun;
    if (is_text(s)) {
        s->losses.size = 0; /* which tell themselves when it is written */
        status = rec_mpi_agree(s->comm, status, *s->why ? s->why : NULL);
        if (status == REC_OK) {
            lr_mpi_pieces_scan(&s->pieces, s->comm);
        }
        return status;
    }
    status = status == REC_OK ? lr_mpi_pieces_check(&s->pieces, s->path, s->why, sizeof s->why) : status;
    status = rec_mpi_agree(s->comm, status, *s->why ? s->why : NULL);
    return status == REC_OK ? lr_mpi_pieces_place(&s->pieces, s->comm, s->recorder, s->record, s->path, &s->window) : status;
}

static rec_status find_layout(saving *s);

/* What was written is read back, and compared with what is made once more. */
static rec_status compare(saving *s)
{
    size_t told = s->losses.size;
    rec_status status = REC_E_UNSUPPORTED;
    if (s->patched) {
        (void)snprintf(s->why, sizeof s->why, "%s: its codec writes over what it has written, so that it cannot be checked by ranks", s->path);
    } else {
        s->compares = true;
        s->window.from = begin_of(s, s->rank);
        s->window.to = begin_of(s, s->rank + 1);
        status = write_window(s);
        s->losses.size = told;
    }
    return rec_mpi_agree(s->comm, status, *s->why ? s->why : NULL);
}

/* Fills the slots that are not filled yet. All ranks; then it is known where they go. */
static rec_status place_slots(saving *s, rec_filling *told)
{
    const rec_output none = {.size = sizeof none, .name = s->path, .write = put_slot};
    rec_status status = write_rest(s, &none);
    status = rec_mpi_agree(s->comm, status, *s->why ? s->why : NULL);
    status = status == REC_OK ? lr_mpi_pieces_place(&s->pieces, s->comm, s->recorder, s->record, s->path, &s->window) : status;
    if (status == REC_OK) {
        s->files.at[0].size = s->files.total = s->pieces.total;
        if (s->pieces.total > s->resume.total) {
            (void)snprintf(s->why, sizeof s->why, "%.2000s: its codec makes more bytes than it is given: it cannot be gone on with", s->path);
            status = REC_E_UNSUPPORTED;
        }
        status = rec_mpi_agree(s->comm, status, *s->why ? s->why : NULL);
    }
    if (told) {
        told->last_size = s->files.total;
    }
    return status;
}

/* What an earlier save left. All ranks, when the temporary file is there. */
static rec_status begin_resume(saving *s, rec_filling *told)
{
    rec_status status = REC_OK;
    if (s->options.resume && !s->staged) {
        status = lr_mpi_resume_begin(&s->resume, &s->files, &s->window, s->options.identity, s->layout, s->why, sizeof s->why);
        if (told && status == REC_OK) {
            told->keep = 1;
        }
    }
    return status;
}

/* Opens the temporary files, writes this rank's part and closes them. All ranks. */
static rec_status fill_files(saving *s, rec_filling *told)
{
    double begun;
    rec_status status = lr_mpi_files_tell(&s->files, told);
    s->window.from = begin_of(s, s->rank);
    s->window.to = begin_of(s, s->rank + 1);
    status = status == REC_OK ? lr_mpi_files_open(&s->files, s->window.from, s->why, sizeof s->why) : status;
    if (status != REC_OK) {
        return status;
    }
    status = begin_resume(s, told);
    if (status != REC_OK) {
        (void)lr_mpi_files_close(&s->files, s->why, sizeof s->why);
        return status;
    }
    begun = MPI_Wtime();
    status = s->resume.slot ? place_slots(s, told) : REC_OK;
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

/* All ranks. What fails on one is what it comes to on all. @param told on rank 0. */
static rec_status write_files(saving *s, rec_filling *told)
{
    rec_status status;
    if (told) {
        (void)snprintf(s->letters, sizeof s->letters, "%s", told->letters);
    }
    (void)MPI_Bcast(s->letters, (int)sizeof s->letters, MPI_BYTE, 0, s->comm);
    if (*s->letters) { /* which are in the index, too */
        status = find_layout(s);
        if (status != REC_OK) {
            return status;
        }
    }
    if (told && !s->window.piece) {
        told->last_size = s->files.at[s->files.count - 1].size;
    }
    status = fill_files(s, told);
    status = status == REC_OK && s->options.check ? compare(s) : status;
    if (status == REC_OK && s->options.resume && !s->staged) {
        bool cut = !told || lr_mpi_resume_cut(&s->resume, s->files.total);
        if (!cut) {
            (void)snprintf(s->why, sizeof s->why, "%.1500s: cannot cut the temporary file to its size: %s", s->path, strerror(errno));
        }
        status = rec_mpi_agree(s->comm, cut ? REC_OK : REC_E_IO, s->why);
    }
    return status;
}

/* ---------------------------------------------------------------------------------------------------- before that -- */

static const char *version_of(const char *name)
{
    const rec_plugin_info *info = *name ? rec_plugin_find(NULL, name) : NULL;
    return info && *info->version ? info->version : "without a version";
}

static void take_file(void *user, const rec_file *file)
{
    lr_mpi_files_add(&((saving *)user)->files, file);
}

/* The layout on every rank: without tensors' data where the format lets that be. */
static rec_status find_layout(saving *s)
{
    const char *to = rec_recorder_name(s->recorder), *from = rec_record_origin(s->record)->recorder;
    char words[LR_MPI_WORDS];
    double begun = MPI_Wtime();
    rec_status status, all;
    s->window.part = s->whole_text ? REC_PART_FILE : REC_PART_PIECES; /* if there are any */
    s->window.letters = s->letters;
    s->window.user = s;
    s->window.file = take_file;
    lr_mpi_files_clear(&s->files);
    status = rec_save_window(s->recorder, s->record, s->path, &s->window, NULL, NULL);
    /* What is gone on with is cut by bytes of the file; and where there is next to nothing to be shared it is made once. */
    if (status == REC_OK && is_text(s) && (s->options.resume || s->window.total <= (uint64_t)s->ranks)) {
        s->whole_text = true;
        s->window.part = REC_PART_FILE;
        lr_mpi_files_clear(&s->files);
        status = rec_save_window(s->recorder, s->record, s->path, &s->window, NULL, NULL);
    }
    s->window.file = NULL;
    s->layout += MPI_Wtime() - begun;
    all = rec_mpi_agree(s->comm, status, NULL);
    if (all == REC_OK) {
        all = rec_mpi_agree(s->comm, s->files.failed || !s->files.count ? REC_E_MEMORY : REC_OK, "out of memory for the names of the files");
    }
    if (all != REC_OK) {
        return all;
    }
    (void)snprintf(words, sizeof words, "librecord %s, %s %s, %s %s", rec_version_string(), *from ? from : "no reader",
                   version_of(from), to, version_of(to));
    all = lr_mpi_same(s->comm, s->path, words);
    if (all == REC_OK) {
        (void)snprintf(words, sizeof words, "%s would have %" PRIu64 " bytes%s, with the layout %016" PRIx64,
                       s->files.count > 1 ? "its files" : "the file", s->window.total, is_text(s) ? " of numbers" : s->window.piece ? " before it is compressed" : "", s->window.sum);
        all = lr_mpi_same(s->comm, s->path, words);
    }
    return all;
}

static rec_status make_report(saving *s, rec_mpi_report *report)
{
    struct {
        double layout, write;
        uint64_t kept;
        char host[64];
    } mine = {.layout = s->layout, .write = s->write, .kept = s->kept}, *all = NULL;
    char host[MPI_MAX_PROCESSOR_NAME];
    uint32_t size = report && report->size < sizeof *report ? report->size : (uint32_t)sizeof *report;
    rec_mpi_report r = {.size = sizeof r, .ranks = s->ranks, .bytes = s->files.total, .commit = s->commit,
                        .resumed = !s->resume.left ? s->resume.other ? 2 : 0 : 1};
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
        r.kept += all[i].kept;
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
static int32_t look_at(void *user, rec_filling *told)
{
    (void)told;
    *(bool *)user = true;
    return ECANCELED;
}

/* Whether there can be a file of that name shows before anything is compressed or looked for. */
static rec_status check_target(saving *s)
{
    const rec_file file = {.size = 0};
    const rec_filling filling = {.size = sizeof filling, .files = &file, .count = 1};
    bool can = false;
    rec_status own = s->rank == 0 ? rec_save_filled(s->recorder, s->path, &filling, look_at, &can) : REC_OK;
    return rec_mpi_agree(s->comm, can ? REC_OK : own, NULL);
}

/* ---------------------------------------------------------------------------------------------------------- files -- */

/* Rank 0, while rec_save_filled() waits. */
static int32_t fill(void *user, rec_filling *told)
{
    saving *s = user;
    s->filled = true;
    s->status = rec_mpi_agree(s->comm, REC_OK, NULL);
    if (s->status == REC_OK) {
        s->status = write_files(s, told);
    }
    s->commit = MPI_Wtime();
    return s->status == REC_OK ? 0 : ECANCELED;
}

/* Rank 0. */
static rec_status save_files(saving *s)
{
    rec_file *list = lr_mpi_files_list(&s->files);
    const rec_filling filling = {
        .size = sizeof filling, .files = list, .count = s->files.count, .resume = s->options.resume && !s->staged};
    rec_status own = REC_E_MEMORY;
    if (list) {
        own = rec_save_filled(s->recorder, s->path, &filling, fill, s);
    }
    free(list);
    return own;
}

/* All ranks. */
static rec_status save_together(saving *s)
{
    rec_status status, own = REC_OK;
    s->filled = false;
    if (s->rank == 0) {
        own = save_files(s);
        s->commit = MPI_Wtime() - s->commit;
        status = s->status;
    } else {
        status = rec_mpi_agree(s->comm, REC_OK, NULL);
        if (status == REC_OK) {
            status = write_files(s, NULL);
        }
    }
    /* Rank 0 is the only one that can have failed without the others' knowing: before all wrote, or after that. */
    if (s->rank == 0 && !s->filled) {
        status = rec_mpi_agree(s->comm, own == REC_OK ? REC_E_IO : own, NULL);
    } else if (status == REC_OK) {
        status = rec_mpi_agree(s->comm, own, NULL);
    }
    return status;
}

/* All ranks: what is not there yet of the bytes of several files goes into the one that keeps them. */
static rec_status keep_bytes(saving *s, rec_filling *told)
{
    lr_mpi_files files = s->files;
    rec_status status;
    s->files = s->kept_in;
    lr_mpi_files_add(&s->files, &(rec_file){.size = files.total});
    status = rec_mpi_agree(s->comm, s->files.failed ? REC_E_MEMORY : REC_OK, "out of memory for the names of the files");
    status = status == REC_OK ? fill_files(s, told) : status;
    s->kept_in = s->files;
    s->files = files;
    s->staged = status == REC_OK;
    return status;
}

/* Rank 0, while rec_save_filled() waits. All that is made goes out from here; what kept it is not needed any more then. */
static int32_t keep_and_save(void *user, rec_filling *told)
{
    saving *s = user;
    s->filled = true;
    s->status = rec_mpi_agree(s->comm, REC_OK, NULL);
    s->status = s->status == REC_OK ? keep_bytes(s, told) : s->status;
    if (s->staged) {
        s->status = save_together(s);
        s->filled = true;
        told->keep = s->status != REC_OK && s->status != REC_E_SYNC;
    }
    return ECANCELED;
}

/* Several files that are gone on with. All ranks. */
static rec_status save_kept(saving *s)
{
    rec_status status;
    s->kept_in = (lr_mpi_files){.comm = s->comm, .path = s->path, .hints = s->files.hints, .file = MPI_FILE_NULL, .read = -1};
    if (s->rank == 0) {
        const rec_file one = {.size = s->window.total};
        const rec_filling filling = {.size = sizeof filling, .files = &one, .count = 1, .resume = 1};
        rec_status own = rec_save_filled(s->recorder, s->path, &filling, keep_and_save, s);
        return s->filled ? s->status : rec_mpi_agree(s->comm, own == REC_OK ? REC_E_IO : own, NULL);
    }
    status = rec_mpi_agree(s->comm, REC_OK, NULL);
    status = status == REC_OK ? keep_bytes(s, NULL) : status;
    return status == REC_OK ? save_together(s) : status;
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
    if (status != REC_OK) {
        free(s);
        return status;
    }
    s->comm = comm;
    s->recorder = recorder;
    s->record = record;
    s->path = path;
    s->window.size = sizeof s->window;
    s->pieces.fd = s->resume.fd = s->kept_in.read = -1;
    if (options) {
        memcpy(&s->options, options, options->size < sizeof s->options ? options->size : sizeof s->options);
    }
    s->files = (lr_mpi_files){.comm = comm,
                              .path = path,
                              .hints = s->options.has_hints ? s->options.hints : MPI_INFO_NULL,
                              .file = MPI_FILE_NULL,
                              .read = -1};
    (void)MPI_Comm_rank(comm, &s->rank);
    (void)MPI_Comm_size(comm, &s->ranks);
    status = s->options.resume ? REC_OK : check_target(s); /* which would remove what was left */
    status = status == REC_OK ? find_layout(s) : status;
    if (status == REC_OK && s->window.piece && !s->options.resume) {
        status = make_pieces(s);
    }
    if (status != REC_OK) {
        goto done;
    }
    if (s->window.piece) { /* of what is gone on with it is not known yet */
        s->files.at[0].size = s->files.total = s->pieces.total;
    }
    status = s->options.resume && s->files.count > 1 ? save_kept(s) : save_together(s);
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
    lr_mpi_resume_end(&s->resume);
    lr_mpi_files_clear(&s->files);
    lr_mpi_files_clear(&s->kept_in);
    lr_mpi_pieces_end(&s->pieces);
    free(s->losses.at);
    free(s->notes.at);
    free(s);
    return status;
}
