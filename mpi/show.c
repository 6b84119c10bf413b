/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Rank 0 looks at a model's files for all ranks. */
#include <stdlib.h>

#include "mpi/mpi_private.h"

/* Bytes of one message. */
enum { MESSAGE_MOST = 1 << 30 };

rec_status rec_mpi_show(MPI_Comm comm, rec_recorder *recorder, const char *path)
{
    void *files = NULL;
    uint64_t size = 0;
    int rank = 0, ranks = 1, can = recorder && path, all = 0;
    rec_status status = rec_mpi_agree(comm, REC_OK, NULL);
    (void)MPI_Comm_rank(comm, &rank);
    (void)MPI_Comm_size(comm, &ranks);
    if (status != REC_OK || ranks == 1) {
        return status;
    }
    (void)MPI_Allreduce(&can, &all, 1, MPI_INT, MPI_MIN, comm);
    if (!all) {
        return REC_OK;
    }
    if (rank == 0) {
        status = rec_files_look(recorder, path, &files, &size);
    }
    status = rec_mpi_agree(comm, status, NULL);
    if (status != REC_OK) {
        rec_free(files);
        return status;
    }
    (void)MPI_Bcast(&size, 1, MPI_UINT64_T, 0, comm);
    files = rank == 0 ? files : malloc((size_t)size);
    status = rec_mpi_agree(comm, files ? REC_OK : REC_E_MEMORY, "out of memory for the headers of the model");
    if (status == REC_OK) {
        for (uint64_t at = 0; at < size; at += MESSAGE_MOST) {
            uint64_t some = size - at < MESSAGE_MOST ? size - at : MESSAGE_MOST;
            (void)MPI_Bcast((uint8_t *)files + at, (int)some, MPI_BYTE, 0, comm);
        }
        status = rec_mpi_agree(comm, rec_files_show(recorder, files, size), NULL);
    }
    rec_free(files);
    return status;
}
