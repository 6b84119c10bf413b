/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Fill one's own structs from a record, as Burn's load_record does: one definition makes the C struct and the type.
 *
 *     bind tiny.mpk        (a record of Burn's `struct Tiny { linear: Linear }`) */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <librecord.h>

/* The mirror of Burn's Linear: `weight` has rank 2, `bias` rank 1 and may be absent. Makes LINEAR and LINEAR_type. */
#define LINEAR_FIELDS(F, T) F(T, PARAM, weight, 2) F(T, OPTION_PARAM, bias, 1)
REC_DEFINE_STRUCT(LINEAR, LINEAR_FIELDS)

#define TINY_FIELDS(F, T) F(T, CHILD, linear, LINEAR)
REC_DEFINE_STRUCT(TINY, TINY_FIELDS)

/* A type that does not fit the record: `weight` is no integer tensor, `bias` has not 7 elements, there is no `norm`,
 * and it knows nothing of the `steps` that main() adds. */
#define OTHER_LINEAR_FIELDS(F, T) F(T, INT_PARAM, weight, 2) F(T, PARAM, bias, 1, 7)
REC_DEFINE_STRUCT(OTHER_LINEAR, OTHER_LINEAR_FIELDS)
#define OTHER_FIELDS(F, T) F(T, CHILD, linear, OTHER_LINEAR) F(T, PARAM, norm, 1)
REC_DEFINE_STRUCT(OTHER, OTHER_FIELDS)

/** y = x W + b, straight on what was loaded. */
static void forward(const LINEAR *layer, const float *x, float *y)
{
    uint64_t inputs = layer->weight.shape[0], outputs = layer->weight.shape[1];

    for (uint64_t o = 0; o < outputs; o++) {
        y[o] = layer->bias.data ? layer->bias.data[o] : 0.0f;
        for (uint64_t i = 0; i < inputs; i++) {
            y[o] += x[i] * layer->weight.data[i * outputs + o];
        }
    }
}

int main(int argc, char **argv)
{
    const float x[3] = {1.0f, 2.0f, 3.0f};
    float y[2];
    TINY model;
    OTHER other;
    rec_binding *binding = NULL, *wrong = NULL;
    rec_recorder *recorder = NULL;
    rec_record *record = NULL;
    int status = EXIT_FAILURE;

    if (argc != 2) {
        fprintf(stderr, "usage: bind FILE\n");
        return EXIT_FAILURE;
    }
    if (!(recorder = rec_open_recorder("NamedMpk", FULL)) || !(record = rec_load(recorder, argv[1])) ||
        !(binding = rec_bind(record, &TINY_type, &model))) {
        fprintf(stderr, "bind: %s\n", rec_error_message());
        goto done;
    }
    if (model.linear.weight.shape[0] != 3 || model.linear.weight.shape[1] != 2) {
        fprintf(stderr, "bind: this program knows a Linear of 3 to 2 only\n");
        goto done;
    }
    forward(&model.linear, x, y);
    printf("linear(1, 2, 3) = %.4f, %.4f\n", (double)y[0], (double)y[1]);

    /* Every mistake is found in one go; each is a note of the report, and all are in the message. */
    if (rec_set_uint(record, "steps", 1000) != REC_OK) {
        fprintf(stderr, "bind: %s\n", rec_error_message());
        goto done;
    }
    if ((wrong = rec_bind(record, &OTHER_type, &other)) != NULL || rec_error_status() != REC_E_MISMATCH) {
        fprintf(stderr, "bind: a wrong type was accepted\n");
        goto done;
    }
    printf("a type that does not fit: %" PRIu64 " mistakes\n", rec_report_count());
    for (uint64_t i = 0; i < rec_report_count(); i++) {
        printf("  %s: %s\n", rec_report_note(i)->path, rec_report_note(i)->text);
    }
    status = EXIT_SUCCESS;

done:
    rec_binding_free(wrong);
    rec_binding_free(binding);
    rec_record_free(record);
    rec_close_recorder(recorder);
    return status;
}
