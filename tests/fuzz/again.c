/* SPDX-License-Identifier: MIT OR Apache-2.0
 * One format against the others: what a load gives, saved in every other format and loaded again, has the same tensors
 * under the same paths, in shape and in every byte, and the same numbers and texts. The input is MessagePack. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"

/* JSON is the first. */
static const char *const formats[] = {"PrettyJson", "Safetensors", "Burnpack", "NamedMpkGz", "Npz", "PyTorch", "Gguf"};
enum { FORMATS = sizeof formats / sizeof *formats };

static bool same_tensor(const rec_tensor *a, const rec_tensor *b)
{
    uint64_t size_a = 0, size_b = 0;
    const void *bytes_a, *bytes_b;
    if (rec_tensor_rank(a) != rec_tensor_rank(b) ||
        memcmp(rec_tensor_shape(a), rec_tensor_shape(b), rec_tensor_rank(a) * sizeof(uint64_t)) != 0) {
        return false;
    }
    bytes_a = rec_tensor_bytes(a, &size_a);
    bytes_b = rec_tensor_bytes(b, &size_b);
    if (rec_tensor_dtype(a) != rec_tensor_dtype(b)) { /* a name for the same kind of element: Bool(U8), Flex32 */
        return rec_dtype_bits(rec_tensor_dtype(a)) == rec_dtype_bits(rec_tensor_dtype(b));
    }
    return size_a == size_b && (size_a == 0 || memcmp(bytes_a, bytes_b, (size_t)size_a) == 0);
}

/* Whether the report has something that a format could not hold. */
static bool lost_something(void)
{
    for (uint64_t i = 0; i < rec_report_count(); i++) {
        const rec_note *note = rec_report_note(i);
        if (!note || note->kind == REC_NOTE_DROPPED || note->kind == REC_NOTE_OVERFLOW ||
            note->kind == REC_NOTE_CLAMPED) {
            return true;
        }
    }
    return false;
}

static uint64_t count_tensors(const rec_record *record)
{
    rec_iterator *iterator = rec_iterate(record);
    uint64_t count = 0;
    fuzz_must(iterator != NULL, "an iterator");
    while (rec_iterator_next_tensor(iterator, NULL) != NULL) {
        count++;
    }
    rec_iterator_free(iterator);
    return count;
}

static void compare(const rec_record *record, const rec_record *other, const char *format)
{
    rec_iterator *iterator = rec_iterate(record);
    const rec_tensor *tensor;
    const char *path;
    fuzz_must(iterator != NULL, "an iterator");
    while ((tensor = rec_iterator_next_tensor(iterator, &path)) != NULL) {
        const rec_tensor *twin = rec_tensor_at(other, path);
        /* A `?` may stand for a NUL, which no path can have; the path of a key of nothing is that of the root. */
        if (strchr(path, '?') || (!*path && rec_value_kind(rec_value_at(record, "")) != REC_KIND_TENSOR)) {
            continue;
        }
        if (!twin && strcmp(format, "Burnpack") == 0) { /* an optimizer's ids, which Burn 0.22 spells in another way */
            fuzz_must(count_tensors(other) == count_tensors(record), "every format holds all tensors");
            continue;
        }
        if (!twin || !same_tensor(tensor, twin)) {
            (void)fprintf(stderr, "%s: `%s` is %s\n", format, path, twin ? "another" : "not there");
            fuzz_must(false, "every format holds the same tensors");
        }
    }
    rec_iterator_free(iterator);
}

/* JSON has lists of numbers for bytes: what was a map with bytes in it may look like a tensor there. */
static bool has_bytes(const rec_record *record)
{
    rec_iterator *iterator = rec_iterate(record);
    const rec_value *value;
    bool any = false;
    fuzz_must(iterator != NULL, "an iterator");
    while (!any && (value = rec_iterator_next(iterator, NULL)) != NULL) {
        any = rec_value_kind(value) == REC_KIND_BYTES;
    }
    rec_iterator_free(iterator);
    return any;
}

int fuzz_again(const uint8_t *data, size_t size)
{
    static rec_recorder *from[2], *to[2][FORMATS];
    rec_context *context = fuzz_context(size);
    bool standard = size % 8 == 7;
    rec_record *record;
    for (size_t i = 0; !from[standard] && i < FORMATS; i++) {
        to[standard][i] = rec_open_recorder_in(context, formats[i], REC_PRECISION_KEEP);
        fuzz_must(to[standard][i] != NULL, formats[i]);
    }
    if (!from[standard]) {
        from[standard] = rec_open_recorder_in(context, "NamedMpk", REC_PRECISION_KEEP);
        fuzz_must(from[standard] != NULL, "NamedMpk");
    }
    record = rec_load_bytes(from[standard], data, size);
    if (!record) {
        return 0;
    }
    for (size_t i = has_bytes(record); i < FORMATS; i++) {
        rec_recorder *recorder = to[standard][i];
        void *saved = NULL;
        uint64_t length = 0;
        if (rec_save_bytes(recorder, record, &saved, &length) == REC_OK) {
            bool lost = lost_something();
            rec_record *other = rec_load_bytes(recorder, saved, length);
            if (!other) {
                (void)fprintf(stderr, "%s\n", formats[i]);
                fuzz_must(false, "what was saved loads");
            }
            if (!lost) {
                compare(record, other, formats[i]);
            }
            rec_record_free(other);
        } else {
            fuzz_must_say();
        }
        rec_free(saved);
    }
    rec_record_free(record);
    return 1;
}

size_t fuzz_mutate_again(uint8_t *data, size_t size, size_t room, unsigned seed)
{
    return fuzz_mutate_mpk(data, size, room, seed);
}
