/* SPDX-License-Identifier: MIT OR Apache-2.0
 * A model inside the program, for the library: no file is opened, and the tensors point into the program's constant.
 *
 *     record embed tiny.mpk --output tiny.c      makes tiny.h and tiny.c
 *     record embed tiny.mpk --output tiny.o      makes tiny.h and tiny.o, for large models
 *
 * Either is linked with this file. Prints each tensor's elements, with as many digits as an f32 needs. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <librecord.h>
#ifdef STATIC_LIBRECORD
#include <librecord/static.h>
#define PLUGINS(P) P(mpk)
REC_STATIC_PLUGINS(PLUGINS); /* of the static library this format alone */
#endif

#include "tiny.h"

static int print_tensor(const char *path, const rec_tensor *tensor)
{
    uint64_t size;
    const unsigned char *stored = rec_tensor_bytes(tensor, &size);
    const float *data = rec_tensor_f32(tensor);

    if (!stored || !data) {
        return -1;
    }
    if (stored < tiny_record || stored + size > tiny_record + tiny_record_size) {
        printf("%s was copied\n", path);
        return 0;
    }
    printf("%s lies in the program:", path);
    for (uint64_t i = 0; i < rec_tensor_count(tensor); i++) {
        printf(" %.9g", (double)data[i]);
    }
    printf("\n");
    return 0;
}

int main(void)
{
    rec_recorder *recorder = rec_open_recorder("NamedMpkBytes", FULL);
    rec_record *model = recorder ? rec_load_bytes(recorder, tiny_record, tiny_record_size) : NULL;
    rec_iterator *iterator = model ? rec_iterate(model) : NULL;
    const rec_tensor *tensor;
    const char *path;
    int failed = !iterator;

    printf("%zu bytes, aligned to 64: %s\n", tiny_record_size, (uintptr_t)tiny_record % 64 == 0 ? "yes" : "no");
    while (!failed && (tensor = rec_iterator_next_tensor(iterator, &path))) {
        failed = print_tensor(path, tensor) != 0;
    }
    if (failed) {
        fprintf(stderr, "embed_bytes: %s\n", rec_error_message());
    }
    rec_iterator_free(iterator);
    rec_record_free(model);
    rec_close_recorder(recorder);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
