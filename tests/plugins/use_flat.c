/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Uses the tutorial's plugin by name and content: a program knows nothing else of it.
 *
 *     use_flat made      (writes made.flat) */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <librecord.h>

int main(int argc, char **argv)
{
    static const char *const names[] = {"Flat", "flat", "Auto"};
    const float data[2][3] = {{1.0f, 2.5f, -3.0f}, {4.0f, 5.0f, 0.1f}};
    const uint64_t shape[2] = {2, 3};
    rec_recorder *recorder = rec_open_recorder("Flat", FULL);
    rec_record *record = rec_record_new(NULL);
    int status = EXIT_FAILURE;

    if (argc != 2 || !recorder || !record || rec_set_f32(record, "a.weight", &data[0][0], 2, shape) != REC_OK ||
        rec_save(recorder, record, argv[1]) != REC_OK) {
        goto done;
    }
    rec_record_free(record);
    record = NULL;
    for (int i = 0; i < 3; i++) {
        const rec_tensor *tensor;
        const float *back;
        char path[4096];

        rec_close_recorder(recorder);
        (void)snprintf(path, sizeof path, "%s.flat", argv[1]);
        if (!(recorder = rec_open_recorder(names[i], FULL)) || !(record = rec_load(recorder, path)) ||
            !(tensor = rec_tensor_at(record, "a.weight")) || !(back = rec_tensor_f32(tensor))) {
            goto done;
        }
        if (rec_tensor_rank(tensor) != 2 || memcmp(rec_tensor_shape(tensor), shape, sizeof shape) != 0 ||
            memcmp(back, data, sizeof data) != 0) {
            fprintf(stderr, "%s: other values came back\n", names[i]);
            goto done;
        }
        rec_record_free(record);
        record = NULL;
    }
    status = EXIT_SUCCESS;

done:
    if (status != EXIT_SUCCESS) {
        fprintf(stderr, "use_flat: %s\n", rec_error_message());
    }
    rec_record_free(record);
    rec_close_recorder(recorder);
    return status;
}
