/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Coverage-guided fuzzing of loading: any bytes give a record or a status. What gives a record is looked at, bound,
 * edited, saved, and must load again as what was saved. README.md says how to build and run it. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "librecord.h"

#define LINEAR_FIELDS(F, T) F(T, PARAM, weight, 2) F(T, OPTION_PARAM, bias, 1)
REC_DEFINE_STRUCT(LINEAR, LINEAR_FIELDS)
#define TINY_FIELDS(F, T) F(T, CHILD, linear, LINEAR)
REC_DEFINE_STRUCT(TINY, TINY_FIELDS)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int holds, const char *what)
{
    if (!holds) {
        (void)fprintf(stderr, "%s: %s\n", what, rec_error_message());
        abort();
    }
}

static rec_context *new_context(void)
{
    rec_limits limits = rec_limits_default();
    rec_context *context = rec_context_new(NULL);
    limits.inflated_slack = 1 << 20; /* a bomb costs time only */
    if (!context || rec_context_set_limits(context, &limits) != REC_OK ||
        rec_context_set_threads(context, 1) != REC_OK) {
        abort();
    }
    return context;
}

/* The recorder that recognises it; what nobody does is tried as MessagePack. */
static rec_record *load(rec_context *context, rec_precision precision, const uint8_t *data, size_t size, char name[64])
{
    static const char *const names[] = {"Auto", "NamedMpk"};
    rec_record *record = NULL;
    for (size_t i = 0; i < 2 && !record; i++) {
        rec_recorder *recorder = rec_open_recorder_in(context, names[i], precision);
        must(recorder != NULL, "a recorder");
        record = rec_load_bytes(recorder, data, size);
        must(record || (rec_error_status() != REC_OK && rec_error_message()[0]), "a failure without words");
        must(record || rec_error_status() != REC_E_PLUGIN, "a plugin broke its contract");
        rec_close_recorder(recorder);
    }
    if (record) {
        (void)snprintf(name, 64, "%s", rec_record_origin(record)->recorder);
    }
    return record;
}

/* @return a number that depends on everything that can be read. */
static uint64_t look(const rec_record *record)
{
    rec_iterator *iterator = rec_iterate(record);
    const rec_value *value;
    const char *path;
    uint64_t sum = 0;
    must(iterator != NULL, "an iterator");
    while ((value = rec_iterator_next(iterator, &path)) != NULL) {
        const rec_tensor *tensor = rec_value_tensor(value);
        uint64_t count = rec_value_count(value);
        sum = sum * 31 + strlen(path) + (uint64_t)rec_value_kind(value);
        for (uint64_t i = 0; i < count && i < 1000; i++) {
            sum += rec_value_number(value, i).v.u;
        }
        if (tensor) {
            uint64_t length = 0;
            const uint8_t *bytes = rec_tensor_bytes(tensor, &length);
            must(bytes != NULL, "a tensor's bytes");
            for (uint64_t i = 0; i < length; i++) {
                sum = sum * 31 + bytes[i];
            }
            sum +=
                (rec_tensor_f32(tensor) != NULL) + (rec_tensor_i64(tensor) != NULL) + (rec_tensor_bool(tensor) != NULL);
        }
    }
    rec_iterator_free(iterator);
    return sum;
}

static void save_and_load_again(rec_context *context, const rec_record *record, const char *name, const char *layout)
{
    rec_recorder *recorder = rec_open_recorder_in(context, name, REC_PRECISION_KEEP);
    void *saved = NULL;
    size_t size = 0;
    must(recorder && rec_recorder_set(recorder, "layout", layout) == REC_OK, "a recorder");
    if (rec_save_bytes(recorder, record, &saved, &size) == REC_OK) {
        rec_record *again = rec_load_bytes(recorder, saved, size);
        must(again != NULL, "what was saved must load");
        if (strcmp(layout, "keep") == 0) {
            void *twice;
            size_t twice_size;
            must(rec_save_bytes(recorder, again, &twice, &twice_size) == REC_OK, "and save");
            must(twice_size == size && memcmp(saved, twice, size) == 0, "as the same bytes");
            rec_free(twice);
        }
        rec_record_free(again);
    }
    rec_free(saved);
    rec_close_recorder(recorder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static rec_context *context;
    char name[64];
    rec_record *record, *copy;
    rec_binding *binding;
    TINY tiny;
    if (!context) {
        context = new_context();
    }
    record = load(context, (rec_precision)(1 + size % 4), data, size, name);
    if (!record) {
        return 0;
    }
    copy = rec_record_copy(record);
    must(copy && look(record) == look(copy), "a copy is the same");
    binding = rec_bind_at(record, "", &TINY_type, &tiny, REC_BIND_ALLOW_UNEXPECTED);
    rec_binding_free(binding);
    save_and_load_again(context, record, name, "keep");
    rec_record_free(record);
    (void)rec_set_uint(copy, "fuzz.0.added", 1);
    (void)rec_remove(copy, "fuzz.0");
    save_and_load_again(context, copy, "NamedMpk", "burn-0.21");
    rec_record_free(copy);
    return 0;
}
