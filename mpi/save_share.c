/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Saves a distributed record: like a save of the whole record by all ranks, where each tensor is fetched from the rank
 * that has it. */
#include "mpi/mpi_private.h"

rec_status rec_mpi_save_share(MPI_Comm comm, rec_recorder *recorder, const rec_record *record,
                              const rec_mpi_slices *slices, const char *path, const rec_mpi_options *options,
                              rec_mpi_report *report)
{
    lr_mpi_union u = {0};
    lr_mpi_group group = {.comm = comm};
    lr_mpi_server *server = NULL;
    rec_record *whole = NULL;
    char why[LR_MPI_MESSAGE] = "";
    rec_status status = rec_mpi_agree(comm, recorder && record && path ? REC_OK : REC_E_ARGUMENT,
                                      "rec_mpi_save_share: an argument is invalid"),
               own;
    if (status == REC_OK) {
        status = lr_mpi_union_make(&u, comm, record, slices);
    }
    status = status == REC_OK ? lr_mpi_serve_begin(comm, record, &u, &server) : status;
    if (status == REC_OK) {
        group.meet = lr_mpi_serve_meet;
        group.user = server;
        whole = lr_mpi_whole(&u, record, lr_mpi_fetch, &own, why, sizeof why);
        status = lr_mpi_agree(&group, own, why);
        if (status == REC_OK) {
            status = lr_mpi_save(&group, recorder, whole, path, options, report);
        }
        rec_record_free(whole);
    }
    lr_mpi_serve_end(server);
    lr_mpi_union_free(&u);
    return status;
}
