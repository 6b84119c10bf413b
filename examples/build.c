/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Make a record from C arrays and save it: Burn 0.21 loads it as the record of
 *
 *     #[derive(Module, Debug)] struct Tiny<B: Backend> { linear: nn::Linear<B> }
 *
 *     build out/tiny       (writes out/tiny.mpk) */

#include <stdio.h>
#include <stdlib.h>

#include <librecord.h>

static const float weight[3][2] = {{0.5f, -1.0f}, {0.25f, 2.0f}, {-0.125f, 0.0f}};
static const float bias[2] = {0.1f, -0.2f};

int main(int argc, char **argv)
{
    const uint64_t weight_shape[] = {3, 2}, bias_shape[] = {2};
    rec_tensor_spec spec = {0};
    rec_recorder *recorder = NULL;
    rec_record *model = NULL, *again = NULL;
    const rec_tensor *back;
    const float *data;
    int status = EXIT_FAILURE;

    if (argc != 2) {
        fprintf(stderr, "usage: build OUT\n");
        return EXIT_FAILURE;
    }
    if (!(recorder = rec_open_recorder("NamedMpk", FULL)) || !(model = rec_record_new(NULL))) {
        goto done;
    }

    /* The short way: an f32 parameter with a new id. The map `linear` is made on the way. */
    if (rec_set_f32(model, "linear.weight", &weight[0][0], 2, weight_shape) != REC_OK) {
        goto done;
    }
    /* The long way: any type, any owner, any id. The bytes of a REC_BORROW stay where they are: no copy. Tensor bytes
     * are little-endian, so this line is for little-endian machines; rec_set_f32 is for all. */
    spec.size = sizeof spec;
    spec.dtype = REC_DTYPE_F32;
    spec.rank = 1;
    spec.shape = bias_shape;
    spec.ownership = REC_BORROW;
    spec.data = bias;
    spec.data_size = sizeof bias;
    spec.id = "";
    if (rec_set_tensor(model, "linear.bias", &spec) != REC_OK || rec_save(recorder, model, argv[1]) != REC_OK) {
        goto done;
    }

    /* What was saved is what is loaded. */
    if (!(again = rec_load(recorder, argv[1])) || !(back = rec_tensor_at(again, "linear.weight")) ||
        !(data = rec_tensor_f32(back))) {
        goto done;
    }
    printf("linear.weight[1, 1] = %g, id %s\n", (double)data[3], rec_tensor_id(back));
    printf("linear.bias has %llu elements\n",
           (unsigned long long)rec_tensor_count(rec_tensor_at(again, "linear.bias")));
    status = EXIT_SUCCESS;

done:
    if (status != EXIT_SUCCESS) {
        fprintf(stderr, "build: %s\n", rec_error_message());
    }
    rec_record_free(again);
    rec_record_free(model);
    rec_close_recorder(recorder);
    return status;
}
