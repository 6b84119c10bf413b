/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The index of a folder of plugins. The sum in its last line is made right, so that the other lines count. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/registry/index_private.h"
#include "tests/fuzz/fuzz.h"

int fuzz_plugins(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size), *file = malloc(size + 64);
    uint64_t sum = UINT64_C(0xcbf29ce484222325);
    lr_arena arena;
    lr_index index;
    rec_job job;
    fuzz_must(file != NULL, "memory");
    memcpy(file, text, size);
    for (size_t i = 0; i < size; i++) {
        sum = (sum ^ data[i]) * UINT64_C(0x100000001b3);
    }
    (void)snprintf(file + size, 64, "z %016" PRIx64 "\n", sum);
    (void)fuzz_file(LR_INDEX_NAME, file, size + strlen(file + size));
    lr_job_begin(&job, fuzz_context(size), "plugins", NULL);
    lr_arena_init(&arena, job.allocator);
    fuzz_must(lr_index_read(&job, &arena, fuzz_folder(), false, &index) == REC_OK, "it is passed over, or read");
    for (uint64_t i = 0; i < index.count; i++) {
        fuzz_must(index.files[i].name != NULL, "a file has a name");
        for (uint64_t k = 0; k < index.files[i].count; k++) {
            fuzz_must(index.files[i].plugins[k].name && index.files[i].plugins[k].size == sizeof(rec_plugin),
                      "a plugin was checked");
        }
    }
    lr_arena_free(&arena);
    (void)lr_job_end(&job);
    free(file);
    free(text);
    return 1;
}
