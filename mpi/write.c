/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Writes this rank's window of a save into the files, or compares it with their bytes. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "mpi/saving.h"

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

/* Over what may be in the buffer or in the file already. */
int32_t lr_mpi_saving_patch(void *saving, uint64_t offset, const void *data, uint64_t size)
{
    lr_mpi_saving *s = saving;
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

static void lost(void *user, const rec_conversion_loss *loss)
{
    lr_mpi_lost(&((lr_mpi_saving *)user)->losses, loss);
}

rec_status lr_mpi_saving_changed(lr_mpi_saving *s)
{
    (void)snprintf(s->why, sizeof s->why, "%s: the saved data changed meanwhile: was an input written to?", s->path);
    return REC_E_MISMATCH;
}

/* What of the record lies in the window. */
rec_status lr_mpi_saving_walk(lr_mpi_saving *s, const rec_output *output)
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
        status = lr_mpi_saving_changed(s);
    }
    return status;
}
