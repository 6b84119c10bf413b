/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What the entries do with a record that was loaded: look at all of it, save it, load that again. */
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"

static uint64_t look_at_tensor(const rec_tensor *tensor)
{
    uint64_t length = 0, sum = 0;
    const uint8_t *bytes = rec_tensor_bytes(tensor, &length);
    if (!bytes) { /* of an archive or a file beside it, what is wrong may show only now */
        fuzz_must_say();
        return 1;
    }
    for (uint64_t i = 0; i < length; i++) {
        sum = sum * 31 + bytes[i];
    }
    return sum + (rec_tensor_f32(tensor) != NULL) + (rec_tensor_i64(tensor) != NULL) +
           (rec_tensor_bool(tensor) != NULL);
}

uint64_t fuzz_look(const rec_record *record)
{
    rec_iterator *iterator = rec_iterate(record);
    const rec_value *value;
    const char *path;
    uint64_t sum = 0;
    fuzz_must(iterator != NULL, "an iterator");
    while ((value = rec_iterator_next(iterator, &path)) != NULL) {
        const rec_tensor *tensor = rec_value_tensor(value);
        uint64_t count = rec_value_count(value);
        sum = sum * 31 + strlen(path) + (uint64_t)rec_value_kind(value);
        for (uint64_t i = 0; i < count && i < 1000; i++) {
            sum += rec_value_number(value, i).v.u;
        }
        sum += tensor ? look_at_tensor(tensor) : 0;
    }
    rec_iterator_free(iterator);
    return sum;
}

void fuzz_save_and_load(rec_context *context, const rec_record *record, const char *name, const char *layout,
                        bool exact)
{
    rec_recorder *recorder = rec_open_recorder_in(context, name, REC_PRECISION_KEEP);
    void *saved = NULL, *twice = NULL;
    uint64_t size = 0, twice_size = 0;
    fuzz_must(recorder && (!layout || rec_recorder_set(recorder, "layout", layout) == REC_OK), "a recorder");
    if (rec_save_bytes(recorder, record, &saved, &size) == REC_OK) {
        rec_record *again = rec_load_bytes(recorder, saved, size);
        fuzz_must(again != NULL, "what was saved loads");
        if (exact) {
            fuzz_must(rec_save_bytes(recorder, again, &twice, &twice_size) == REC_OK, "and saves");
            fuzz_must(twice_size == size && memcmp(saved, twice, (size_t)size) == 0, "as the same bytes");
        }
        rec_free(twice);
        rec_record_free(again);
    } else {
        fuzz_must_say();
    }
    rec_free(saved);
    rec_close_recorder(recorder);
}
