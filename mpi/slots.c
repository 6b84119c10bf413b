/* SPDX-License-Identifier: MIT OR Apache-2.0
 * A save by ranks that can be gone on with: this rank's pieces, of which those that an earlier save made are left as
 * they are. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/saving.h"

/* This rank's part of the pieces of a file that is gone on with. */
static uint64_t first_of(const lr_mpi_saving *s, int rank)
{
    uint64_t n = (uint64_t)s->ranks, i = (uint64_t)rank, count = s->resume.count;
    return count / n * i + count % n * i / n;
}

bool lr_mpi_saving_copy_slots(lr_mpi_saving *s)
{
    uint64_t last = first_of(s, s->rank + 1);
    bool well = true;
    for (uint64_t number = first_of(s, s->rank); number < last && well; number++) {
        well = lr_mpi_resume_copy(&s->resume, number, lr_mpi_saving_write, s);
    }
    return well;
}

/* @param told bytes of losses before it. */
static rec_status end_piece(lr_mpi_saving *s, uint64_t number, bool there, size_t told, rec_status status)
{
    if (status == REC_OK && there) {
        s->losses.size = told; /* they were kept before */
    } else if (status != REC_OK && there && *s->why) {
        size_t used = strlen(s->why);
        (void)snprintf(s->why + used, sizeof s->why - used,
                       ": what an earlier save left (%.1000s) is another's; save it without resuming",
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

/* One piece of a file that is gone on with. @param there it is to be there already, which is looked at. */
static rec_status make_piece(lr_mpi_saving *s, const rec_output *output, uint64_t number, bool there)
{
    size_t told = s->losses.size;
    rec_status status;
    s->at = s->window.from = number * s->resume.piece;
    s->window.to = s->window.total - s->at < s->resume.piece ? s->window.total : s->at + s->resume.piece;
    s->compares = there;
    s->patched = false;
    lr_mpi_resume_start(&s->resume, number);
    status = lr_mpi_saving_walk(s, output);
    status = status == REC_OK && lr_mpi_saving_flush(s) != 0 ? REC_E_IO : status;
    s->compares = false;
    if (status == REC_OK && s->at != s->window.to) {
        status = lr_mpi_saving_changed(s);
    }
    return end_piece(s, number, there, told, status);
}

static int32_t put_slot(void *user, const void *data, uint64_t size)
{
    lr_mpi_saving *s = user;
    int32_t error = lr_mpi_resume_put(&s->resume, data, size, s->compares);
    if (error) {
        (void)snprintf(s->why, sizeof s->why, "%.2000s: %s%s", s->path,
                       error == EILSEQ ? "it is not what was written"
                                       : "cannot keep what was made of it for a save that goes on with this one: ",
                       error == EILSEQ  ? ""
                       : error == EFBIG ? "its codec makes more bytes than it is given"
                                        : strerror(error));
    }
    return error;
}

/* One piece of a file that a codec makes, until it is known where it goes. @param there as of make_piece(). */
static rec_status fill_slot(lr_mpi_saving *s, uint64_t number, bool there)
{
    const rec_output output = {.size = sizeof output, .name = s->path, .write = put_slot};
    const lr_mpi_resume *r = &s->resume;
    size_t told = s->losses.size;
    uint64_t before = s->pieces.count;
    rec_status status;
    s->window.from = number * r->piece;
    s->window.to = s->window.from + lr_mpi_resume_size(r, number);
    s->compares = there;
    lr_mpi_resume_start(&s->resume, number);
    status = lr_mpi_saving_walk(s, &output);
    if (status == REC_OK &&
        (s->pieces.failed || s->pieces.count - before != (lr_mpi_resume_size(r, number) - 1) / r->codec + 1)) {
        (void)snprintf(s->why, sizeof s->why, "%.2000s: out of memory for its pieces", s->path);
        status = REC_E_MEMORY;
    }
    if (status == REC_OK) {
        int32_t error = lr_mpi_resume_list(&s->resume, number, s->pieces.at_hand + before, there);
        if (error) {
            (void)snprintf(s->why, sizeof s->why, "%.2000s: %s", s->path,
                           error == EILSEQ ? "it is not what was written" : strerror(error));
            status = REC_E_IO;
        }
    }
    s->compares = false;
    s->pieces.count = before; /* add_slot() */
    return end_piece(s, number, there, told, status);
}

/* What is in a slot now. */
static rec_status add_slot(lr_mpi_saving *s, uint64_t number, bool there)
{
    uint64_t before = s->pieces.stored;
    if (!lr_mpi_resume_pieces(&s->resume, number, &s->pieces)) {
        (void)snprintf(s->why, sizeof s->why, "%.2000s: cannot read its pieces back: %s", s->path, strerror(errno));
        return REC_E_IO;
    }
    s->kept += there ? s->pieces.stored - before : 0;
    return REC_OK;
}

/* This rank's pieces that are not there. The first that is there is made all the same: another conversion with the same
 * layout would make other bytes. */
rec_status lr_mpi_saving_rest(lr_mpi_saving *s, const rec_output *output)
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
        status = lr_mpi_saving_walk(s, output);
    }
    s->at = s->window.to;
    return status;
}

/* Fills the slots that are not filled yet. All ranks; then it is known where they go. */
rec_status lr_mpi_saving_slots(lr_mpi_saving *s, rec_filling *told)
{
    const rec_output none = {.size = sizeof none, .name = s->path, .write = put_slot};
    rec_status status = lr_mpi_saving_rest(s, &none);
    status = rec_mpi_agree(s->comm, status, *s->why ? s->why : NULL);
    status = status == REC_OK ? lr_mpi_pieces_place(&s->pieces, s->comm, s->recorder, s->record, s->path, &s->window)
                              : status;
    if (status == REC_OK) {
        s->files.at[0].size = s->files.total = s->pieces.total;
        if (s->pieces.total > s->resume.total) {
            (void)snprintf(s->why, sizeof s->why,
                           "%.2000s: its codec makes more bytes than it is given: it cannot be gone on with", s->path);
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
rec_status lr_mpi_saving_resume(lr_mpi_saving *s, rec_filling *told)
{
    rec_status status = REC_OK;
    if (s->options.resume && !s->staged) {
        status = lr_mpi_resume_begin(&s->resume, &s->files, &s->window, s->options.identity, s->layout, s->why,
                                     sizeof s->why);
        if (told && status == REC_OK) {
            told->keep = 1;
        }
    }
    return status;
}
