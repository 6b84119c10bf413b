/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The examples of the manual's section 3 for mpi.h. Run it with several
 * ranks: mpirun -n 2 mpi */
#include <stdio.h>
#include <string.h>

#include <librecord/mpi.h>

/* rec_mpi_agree, rec_mpi_error_message, rec_mpi_same_file, rec_mpi_show:
 * agree between ranks */
static rec_status agree_example(rec_recorder *recorder, const char *path)
{
    MPI_Comm all = MPI_COMM_WORLD;
    rec_status status = rec_mpi_same_file(all, path);
    if (status == REC_OK) /* rank 0 reads the headers for all */
        status = rec_mpi_show(all, recorder, path);
    if (status == REC_OK) /* REC_OK only if every rank passes it */
        status = rec_mpi_agree(all, REC_OK, NULL);
    if (status != REC_OK)
        fprintf(stderr, "%s\n", rec_mpi_error_message());
    return status;
}

/* rec_mpi_load, rec_mpi_save, rec_mpi_convert, rec_mpi_options,
 * rec_mpi_report: load, save and convert with all ranks */
static rec_status convert_example(rec_recorder *from, rec_recorder *to)
{
    MPI_Comm all = MPI_COMM_WORLD;
    rec_mpi_report report = {.size = sizeof report};
    rec_status status;
    rec_record *record = rec_mpi_load(all, from, "model.mpk", &status);
    if (!record)
        return status;
    status = rec_mpi_save(all, to, record, "saved", NULL, &report);
    rec_record_free(record);
    if (status != REC_OK)
        return status;
    return rec_mpi_convert(all, from, "model.mpk", to, "converted", NULL,
                           NULL);
}

/* rec_mpi_share, rec_mpi_load_share, rec_mpi_save_share, rec_mpi_part,
 * rec_mpi_place: distribute tensors over ranks */
static rec_status place(void *user, const char *path,
                        const rec_tensor *tensor, rec_mpi_place *where)
{
    (void)user, (void)tensor;
    if (strcmp(path, "linear.weight") == 0) {
        where->how = REC_MPI_SPLIT;
        where->dimension = 1; /* the outputs */
    }
    return REC_OK; /* every rank has the other tensors */
}

static rec_status share_example(rec_recorder *from, rec_recorder *to)
{
    MPI_Comm all = MPI_COMM_WORLD;
    rec_mpi_slices *slices;
    rec_status status;
    rec_record *share;
    share = rec_mpi_load_share(all, from, "model.mpk", place, NULL, NULL,
                               &slices, &status);
    if (!share)
        return status;
    /* Train the slices here. */
    status =
        rec_mpi_save_share(all, to, share, slices, "shared", NULL, NULL);
    rec_mpi_slices_free(slices);
    rec_record_free(share);
    return status;
}

/* rec_mpi_slices_new, rec_mpi_slices_add, rec_mpi_slices_free: describe the
 * slices of a rank */
static rec_mpi_slices *slices_example(int rank, int ranks)
{
    static const uint64_t shape[2] = {3, 4};
    rec_mpi_slices *slices = rec_mpi_slices_new();
    rec_mpi_slice slice = {.size = sizeof slice, .rank = 2, .held = 1};
    slice.path = "linear.weight";
    slice.shape = shape;
    slice.dimension = 1;
    slice.length = rec_mpi_part(4, ranks, rank, &slice.offset);
    if (rec_mpi_slices_add(slices, &slice) == REC_OK)
        return slices;
    rec_mpi_slices_free(slices);
    return NULL;
}

/* rec_mpi_slices_count, rec_mpi_slices_get, rec_mpi_slices_find,
 * rec_mpi_slice: list the slices of a rank */
static void list_slices_example(const rec_mpi_slices *slices)
{
    const rec_mpi_slice *weight =
        rec_mpi_slices_find(slices, "linear.weight");
    if (weight && weight->held)
        printf("from %d\n", (int)weight->offset);
    for (uint64_t i = 0; i < rec_mpi_slices_count(slices); i++)
        printf("%s\n", rec_mpi_slices_get(slices, i)->path);
}

/* ---------------------------------------------------------------------------------------------------------
 * main -- */

static rec_status make_model(rec_recorder *recorder)
{
    static const float weight[12] = {1, 2, 3};
    static const uint64_t shape[2] = {3, 4};
    rec_record *record = rec_record_new(NULL);
    rec_status status =
        rec_set_f32(record, "linear.weight", weight, 2, shape);
    status =
        status == REC_OK ? rec_save(recorder, record, "model.mpk") : status;
    rec_record_free(record);
    return status;
}

int main(int argc, char **argv)
{
    rec_recorder *recorder;
    rec_mpi_slices *slices;
    rec_record *record, *share = NULL;
    rec_status status = REC_OK;
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    recorder = rec_open_recorder("NamedMpk", REC_PRECISION_FULL);
    if (rank == 0)
        status = make_model(recorder);
    status = rec_mpi_agree(MPI_COMM_WORLD, status, NULL);
    status =
        status == REC_OK ? agree_example(recorder, "model.mpk") : status;
    status =
        status == REC_OK ? convert_example(recorder, recorder) : status;
    status = status == REC_OK ? share_example(recorder, recorder) : status;
    slices = slices_example(rank, ranks);
    list_slices_example(slices);
    rec_mpi_slices_free(slices);
    record = rec_mpi_load(MPI_COMM_WORLD, recorder, "model.mpk", NULL);
    if (record)
        share = rec_mpi_share(MPI_COMM_WORLD, record, place, NULL, NULL,
                              NULL, NULL);
    rec_record_free(record);
    rec_record_free(share);
    rec_close_recorder(recorder);
    if (status != REC_OK || !share)
        fprintf(stderr, "%s\n", rec_mpi_error_message());
    MPI_Finalize();
    return status == REC_OK && share ? 0 : 1;
}
