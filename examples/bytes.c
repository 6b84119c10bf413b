/* SPDX-License-Identifier: MIT OR Apache-2.0
 * A model inside the program: no file is opened, and the tensors point into the array.
 *
 * tiny_mpk.h was made by embed.c (`embed tiny_mpk < tiny.mpk > tiny_mpk.h`); `record embed` does the same from the
 * command line. */

#include <stdio.h>
#include <stdlib.h>

#include <librecord.h>

#include "tiny_mpk.h"

int main(void)
{
    rec_recorder *recorder = NULL;
    rec_record *model = NULL;
    const rec_tensor *weight;
    const unsigned char *bytes;
    const float *data;
    int status = EXIT_FAILURE;

    /* NamedMpkBytes reads and writes memory and has no extension. */
    if (!(recorder = rec_open_recorder("NamedMpkBytes", FULL)) ||
        !(model = rec_load_bytes(recorder, tiny_mpk, sizeof tiny_mpk)) ||
        !(weight = rec_tensor_at(model, "linear.weight"))) {
        goto done;
    }

    /* The stored bytes are the program's own constants… */
    if (!(bytes = rec_tensor_bytes(weight, NULL))) {
        goto done;
    }
    if (bytes < tiny_mpk || bytes >= tiny_mpk + sizeof tiny_mpk) {
        fprintf(stderr, "bytes: the weights were copied\n");
        goto close;
    }
    printf("linear.weight lies in the array, at byte %td of %zu\n", bytes - tiny_mpk, sizeof tiny_mpk);

    /* …of whatever alignment they happen to have; typed access is always aligned and in host byte order. */
    if (!(data = rec_tensor_f32(weight))) {
        goto done;
    }
    printf("linear.weight[0, 0] = %.6f\n", (double)data[0]);
    status = EXIT_SUCCESS;

done:
    if (status != EXIT_SUCCESS) {
        fprintf(stderr, "bytes: %s\n", rec_error_message());
    }
close:
    rec_record_free(model);
    rec_close_recorder(recorder);
    return status;
}
