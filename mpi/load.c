/* SPDX-License-Identifier: MIT OR Apache-2.0
 * A file on every rank, and a conversion by all of them. */
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
