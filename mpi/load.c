/* SPDX-License-Identifier: MIT OR Apache-2.0
 * A file on every rank, and a conversion by all of them. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mpi/mpi_private.h"

/* Checks on all ranks that the path names the same file on every host. Paths with a scheme are left out. */
static rec_status same_file(MPI_Comm comm, rec_recorder *recorder, const char *path)
{
    char *with = strstr(path, "://") ? NULL : rec_recorder_path(recorder, path);
    bool there = with && access(with, F_OK) == 0;
    rec_status status = strstr(path, "://") ? REC_OK : rec_mpi_same_file(comm, there ? with : path);
    rec_free(with);
    return status;
}

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

rec_record *rec_mpi_load(MPI_Comm comm, rec_recorder *recorder, const char *path, rec_status *status)
{
    rec_record *record = NULL;
    rec_status all = rec_mpi_agree(comm, recorder && path && *path ? REC_OK : REC_E_ARGUMENT,
                                   "rec_mpi_load: an argument is invalid");
    if (all == REC_OK) {
        all = same_file(comm, recorder, path);
    }
    all = all == REC_OK ? rec_mpi_show(comm, recorder, path) : all;
    if (all == REC_OK) {
        record = rec_load(recorder, path);
        all = rec_mpi_agree(comm, record ? REC_OK : rec_error_status(), NULL);
        (void)rec_files_show(recorder, NULL, 0); /* it was for this load: the next may be of a newer file */
    }
    if (all != REC_OK) {
        rec_record_free(record);
        record = NULL;
    }
    if (status) {
        *status = all;
    }
    return record;
}

rec_status rec_mpi_convert(MPI_Comm comm, rec_recorder *from, const char *in, rec_recorder *to, const char *out,
                           const rec_mpi_options *options, rec_mpi_report *report)
{
    rec_status status = rec_mpi_agree(comm, from && to && in && out && *in && *out ? REC_OK : REC_E_ARGUMENT,
                                      "rec_mpi_convert: an argument is invalid");
    rec_record *record;
    status = status == REC_OK ? same_file(comm, from, in) : status;
    if (status != REC_OK) {
        return status;
    }
    status = rec_mpi_show(comm, from, in);
    if (status != REC_OK) {
        return status;
    }
    record = rec_load_for(from, in, to, out);
    status = rec_mpi_agree(comm, record ? REC_OK : rec_error_status(), NULL);
    (void)rec_files_show(from, NULL, 0);
    if (status == REC_OK) {
        status = rec_mpi_save(comm, to, record, out, options, report);
    }
    rec_record_free(record);
    return status;
}
