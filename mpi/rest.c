/* SPDX-License-Identifier: MIT OR Apache-2.0
 * A save by ranks that can be resumed: this rank's parts of the file, of which those that an earlier save wrote are
 * kept. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "mpi/saving.h"

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
    status = lr_mpi_saving_walk(s, output);
    status = status == REC_OK && lr_mpi_saving_flush(s) != 0 ? REC_E_IO : status;
    s->compares = false;
    if (status == REC_OK && s->at != s->window.to) {
        status = lr_mpi_saving_changed(s);
    }
    return end_piece(s, number, there, told, status);
}

/* This rank's parts that are not there. The first that is there is made as well: another conversion with the same
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
            status = make_piece(s, output, number, there);
        }
        s->kept += there ? lr_mpi_resume_size(r, number) : 0;
        looked = looked || there;
    }
    if (status == REC_OK && !s->noted) { /* rank 0 has the notes of all */
        s->window.from = s->window.to = 0;
        status = lr_mpi_saving_walk(s, output);
    }
    s->at = s->window.to;
    return status;
}

/* What an earlier save left. All ranks, when the temporary file is there. */
rec_status lr_mpi_saving_resume(lr_mpi_saving *s, rec_filling *told)
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
