/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The same PyTorch model converted while the program is built, and linked into it: import.c's twin.
 *
 *     record convert --type net.rs:Net --remap '^model\. => ' weights.safetensors weights.mpk
 *     record embed weights.mpk --output weights.o
 *
 * docs/guide/embedding.md has it as a rule for make. */

#include <stdlib.h>

#include "net.h"
#include "weights.h"

int main(void)
{
    rec_recorder *recorder = rec_open_recorder("NamedMpkBytes", FULL);
    rec_record *record = recorder ? rec_load_bytes(recorder, weights_record, weights_record_size) : NULL;
    int status = EXIT_FAILURE;

    if (!record) {
        fprintf(stderr, "%s\n", rec_error_message());
    } else if (print_forward(record) == 0) {
        status = EXIT_SUCCESS;
    }
    rec_record_free(record);
    rec_close_recorder(recorder);
    return status;
}
