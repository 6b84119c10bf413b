/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Load, look, save: prints every tensor of a record and saves the record compressed.
 *
 *     load tiny.mpk out/tiny        (writes out/tiny.mpk.gz) */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <librecord.h>

/** One line: key, type, shape and the first element. */
static int print_tensor(const char *path, const rec_tensor *tensor)
{
    const uint64_t *shape = rec_tensor_shape(tensor);
    double first = 0;

    printf("%-24s %-5s [", path, rec_tensor_dtype_name(tensor));
    for (uint32_t i = 0; i < rec_tensor_rank(tensor); i++) {
        printf("%s%" PRIu64, i > 0 ? ", " : "", shape[i]);
    }
    printf("]");
    if (rec_tensor_dtype(tensor) == REC_DTYPE_F32 && rec_tensor_count(tensor) > 0) {
        if (rec_tensor_read(tensor, REC_DTYPE_F64, 0, 1, &first) != REC_OK) {
            return -1;
        }
        printf("  starts with %g", first);
    }
    printf("\n");
    return 0;
}

int main(int argc, char **argv)
{
    rec_recorder *mpk = NULL, *gz = NULL;
    rec_record *model = NULL;
    rec_iterator *leaves = NULL;
    const rec_tensor *tensor;
    const char *path;
    uint64_t tensors = 0, elements = 0;
    int status = EXIT_FAILURE;

    if (argc != 3) {
        fprintf(stderr, "usage: load FILE OUT\n");
        return EXIT_FAILURE;
    }

    /* A recorder is a format at a precision. At FULL floats are f32 and ints i32, whatever the file holds. */
    if (!(mpk = rec_open_recorder("NamedMpk", FULL)) || !(gz = rec_open_recorder("NamedMpkGz", FULL))) {
        goto done;
    }
    if (!(model = rec_load(mpk, argv[1]))) {
        goto done;
    }
    printf("written by Burn %s\n", rec_metadata(model, "version") ? rec_metadata(model, "version") : "(unknown)");

    if (!(leaves = rec_iterate(model))) {
        goto done;
    }
    while ((tensor = rec_iterator_next_tensor(leaves, &path)) != NULL) {
        if (print_tensor(path, tensor) != 0) {
            goto done;
        }
        tensors++;
        elements += rec_tensor_count(tensor);
    }
    printf("%" PRIu64 " tensors, %" PRIu64 " elements\n", tensors, elements);

    /* The extension is appended. The file appears whole or not at all. */
    if (rec_save(gz, model, argv[2]) != REC_OK) {
        goto done;
    }
    printf("saved as %s.%s\n", argv[2], rec_recorder_extension(gz));
    status = EXIT_SUCCESS;

done:
    if (status != EXIT_SUCCESS) {
        fprintf(stderr, "load: %s\n", rec_error_message());
    }
    rec_iterator_free(leaves);
    rec_record_free(model);
    rec_close_recorder(gz);
    rec_close_recorder(mpk);
    return status;
}
