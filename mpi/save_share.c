/* SPDX-License-Identifier: MIT OR Apache-2.0
 * A save of what the ranks have together: as a save of the whole that all have, whose tensors are fetched from who has
 * them. */
#include "mpi/mpi_private.h"

rec_status rec_mpi_save_share(MPI_Comm comm, rec_recorder *recorder, const rec_record *record,
                              const rec_mpi_slices *slices, const char *path, const rec_mpi_options *options,
                              rec_mpi_report *report)
{
    lr_mpi_union u = {0};
    rec_record *whole = NULL;
    char why[LR_MPI_MESSAGE] = "";
    rec_status status = rec_mpi_agree(comm, recorder && record && path ? REC_OK : REC_E_ARGUMENT,
                                      "rec_mpi_save_share: an argument makes no sense"),
               own;
    if (status == REC_OK) {
        status = lr_mpi_union_make(&u, comm, record, slices);
    }
    status = status == REC_OK ? lr_mpi_serve_begin(comm, record, &u) : status;
    if (status == REC_OK) {
        whole = lr_mpi_whole(&u, record, lr_mpi_fetch, &own, why, sizeof why);
        status = rec_mpi_agree(comm, own, why);
        if (status == REC_OK) {
            status = rec_mpi_save(comm, recorder, whole, path, options, report);
        }
        rec_record_free(whole);
        lr_mpi_serve_end();
    }
    lr_mpi_union_free(&u);
    return status;
}
