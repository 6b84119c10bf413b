/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Recorders from an INI file: the program names them, the file says what they are.
 *
 *     config config.ini tiny.mpk out/checkpoint */

#include <stdio.h>
#include <stdlib.h>

#include <librecord.h>

int main(int argc, char **argv)
{
    rec_context *app = NULL;
    rec_recorder *careful = NULL, *checkpoint = NULL;
    rec_record *model = NULL, *again = NULL;
    rec_iterator *leaves = NULL;
    const rec_tensor *tensor;
    const char *path;
    int status = EXIT_FAILURE;

    if (argc != 4) {
        fprintf(stderr, "usage: config CONFIG.ini FILE OUT\n");
        return EXIT_FAILURE;
    }

    /* Mistakes in the file are errors with its line. */
    if (!(app = rec_config_open(argv[1]))) {
        goto done;
    }
    /* DEFAULT: the precision that the file gives each recorder. Any other precision given here would win. */
    if (!(careful = rec_open_recorder_in(app, "careful", REC_PRECISION_DEFAULT)) ||
        !(checkpoint = rec_open_recorder_in(app, "checkpoint", REC_PRECISION_DEFAULT))) {
        goto done;
    }
    printf("careful is %s, checkpoint is %s\n", rec_recorder_name(careful), rec_recorder_name(checkpoint));

    if (!(model = rec_load(careful, argv[2])) || rec_save(checkpoint, model, argv[3]) != REC_OK ||
        !(again = rec_load(checkpoint, argv[3])) || !(leaves = rec_iterate(again))) {
        goto done;
    }
    while ((tensor = rec_iterator_next_tensor(leaves, &path)) != NULL) {
        printf("%s was %s, is %s\n", path, rec_tensor_dtype_name(rec_tensor_at(model, path)),
               rec_tensor_dtype_name(tensor));
    }
    status = EXIT_SUCCESS;

done:
    if (status != EXIT_SUCCESS) {
        fprintf(stderr, "config: %s\n", rec_error_message());
    }
    rec_iterator_free(leaves);
    rec_record_free(again);
    rec_record_free(model);
    rec_close_recorder(checkpoint);
    rec_close_recorder(careful);
    rec_context_free(app);
    return status;
}
