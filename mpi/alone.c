/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Files that rank 0 writes by itself, as one process does: of a format that does not store tensors as plain bytes, or
 * compressed. The others wait. */
#include <sys/stat.h>

#include "mpi/saving.h"

static uint64_t size_of(const lr_mpi_saving *s)
{
    char *path = rec_recorder_path(s->recorder, s->path);
    struct stat is;
    uint64_t size = path && stat(path, &is) == 0 && S_ISREG(is.st_mode) ? (uint64_t)is.st_size : 0;
    rec_free(path);
    return size;
}

static rec_status save(lr_mpi_saving *s)
{
    static const rec_note alone = {.size = sizeof alone,
                                   .kind = REC_NOTE_LAYOUT,
                                   .count = 1,
                                   .path = "",
                                   .text = "written by rank 0 alone: only files whose tensors are plain bytes are "
                                           "written by all ranks"};
    rec_status status = s->options.check ? rec_recorder_set(s->recorder, "check", "yes") : REC_OK;
    if (status == REC_OK) {
        status = rec_save(s->recorder, s->record, s->path);
    }
    if (status == REC_OK || status == REC_E_SYNC) {
        lr_mpi_keep(&s->notes, &alone);
        for (uint64_t i = 0; rec_report_note(i); i++) {
            lr_mpi_keep(&s->notes, rec_report_note(i));
        }
    }
    return status;
}

rec_status lr_mpi_saving_alone(lr_mpi_saving *s)
{
    double begun = MPI_Wtime();
    rec_status status = s->rank == 0 ? save(s) : REC_OK;
    s->write = MPI_Wtime() - begun;
    status = lr_mpi_agree(s->group, status, NULL);
    if (s->rank == 0 && (status == REC_OK || status == REC_E_SYNC)) {
        s->files.total = size_of(s);
    }
    return status;
}
