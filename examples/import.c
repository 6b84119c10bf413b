/* SPDX-License-Identifier: MIT OR Apache-2.0
 * A PyTorch model at run time: the file as PyTorch saved it is loaded as a Burn record and computed with. linked.c is
 * the twin that has the model inside.
 *
 *     import weights.safetensors */

#include <stdlib.h>

#include "net.h"

int main(int argc, char **argv)
{
    rec_recorder *recorder = NULL;
    rec_record *record = NULL;
    int status = EXIT_FAILURE;

    if (argc != 2) {
        fprintf(stderr, "usage: import FILE\n");
        return EXIT_FAILURE;
    }
    /* The adapter for PyTorch's layouts is on by default; the type says which tensors it turns and renames. */
    if (!(recorder = rec_open_recorder("Safetensors", FULL)) || rec_recorder_set_type(recorder, &Net_type) != REC_OK ||
        rec_recorder_set(recorder, "rename", "^model\\. => ") != REC_OK || !(record = rec_load(recorder, argv[1]))) {
        fprintf(stderr, "%s\n", rec_error_message());
    } else if (print_forward(record) == 0) {
        status = EXIT_SUCCESS;
    }
    rec_record_free(record);
    rec_close_recorder(recorder);
    return status;
}
