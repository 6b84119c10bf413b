/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Two linear layers by many processes, each of which has a part of both weights: the first is cut along its outputs,
 * the second along its inputs, so that they need to meet once, for a sum. What the ranks have is then saved as one
 * file, the one that was loaded.
 *
 *     mpirun -n N parallel IN OUT    (IN has up.weight [d_model, d_hidden] and down.weight [d_hidden, d_model], as Burn
 * has them) */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <librecord/mpi.h>

/* Burn's weights are [inputs, outputs]: the outputs of the first are dimension 1, the inputs of the second dimension 0.
 * What this says of nothing is on every rank. */
static rec_status place(void *user, const char *path, const rec_tensor *tensor, rec_mpi_place *where)
{
    (void)user;
    (void)tensor;
    if (strcmp(path, "up.weight") == 0) {
        where->how = REC_MPI_SPLIT;
        where->dimension = 1;
    } else if (strcmp(path, "down.weight") == 0) {
        where->how = REC_MPI_SPLIT;
        where->dimension = 0;
    }
    return REC_OK;
}

/* to [columns] = from [rows] × weight [rows, columns] */
static void multiply(const float *from, const float *weight, uint64_t rows, uint64_t columns, float *to)
{
    memset(to, 0, columns * sizeof *to);
    for (uint64_t i = 0; i < rows; i++) {
        for (uint64_t k = 0; k < columns; k++) {
            to[k] += from[i] * weight[i * columns + k];
        }
    }
}

int main(int argc, char **argv)
{
    rec_recorder *recorder;
    rec_record *share;
    rec_mpi_slices *slices;
    rec_status status;
    int rank, failed = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc != 3) {
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    recorder = rec_open_recorder("Auto", REC_PRECISION_FULL);
    share = rec_mpi_load_share(MPI_COMM_WORLD, recorder, argv[1], place, NULL, NULL, &slices, &status);
    if (!share) { /* on all ranks, in the same words */
        failed = 1;
    } else {
        const rec_tensor *up = rec_tensor_at(share, "up.weight"), *down = rec_tensor_at(share, "down.weight");
        const rec_mpi_slice *cut = rec_mpi_slices_find(slices, "up.weight");
        uint64_t model = rec_tensor_shape(up)[0], hidden = rec_tensor_shape(up)[1];
        float *from = malloc(model * sizeof *from), *between = malloc((hidden + 1) * sizeof *between);
        float *part = malloc(model * sizeof *part), *to = malloc(model * sizeof *to);

        for (uint64_t i = 0; i < model; i++) {
            from[i] = (float)i;
        }
        multiply(from, rec_tensor_f32(up), model, hidden, between);
        for (uint64_t i = 0; i < hidden; i++) {
            between[i] = between[i] > 0 ? between[i] : 0;
        }
        multiply(between, rec_tensor_f32(down), hidden, model, part);
        MPI_Allreduce(part, to, (int)model, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
        if (rank == 0) {
            printf("%g %g\n", (double)to[0], (double)to[model - 1]);
            fprintf(stderr, "rank 0 has columns 0 to %llu of %llu\n", (unsigned long long)cut->length,
                    (unsigned long long)cut->shape[1]);
        }
        failed = rec_mpi_save_share(MPI_COMM_WORLD, recorder, share, slices, argv[2], NULL, NULL) != REC_OK;
        free(from);
        free(between);
        free(part);
        free(to);
    }
    if (failed && rank == 0) {
        fprintf(stderr, "%s\n", rec_mpi_error_message());
    }
    rec_mpi_slices_free(slices);
    rec_record_free(share);
    rec_close_recorder(recorder);
    MPI_Finalize();
    return failed;
}
