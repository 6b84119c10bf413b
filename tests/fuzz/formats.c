/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The formats: any bytes give a record or a failure with words, for no more memory than was promised. */
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"

#define LINEAR_FIELDS(F, T) F(T, PARAM, weight, 2) F(T, OPTION_PARAM, bias, 1)
REC_DEFINE_STRUCT(LINEAR, LINEAR_FIELDS)
#define TINY_FIELDS(F, T) F(T, CHILD, linear, LINEAR)
REC_DEFINE_STRUCT(TINY, TINY_FIELDS)

/* What every load may take beside what was promised: the record itself, the job's own, tables of inflation. */
enum { BESIDE = 512 << 10 };

/* The recorders of a format, by precision: they are opened once. */
typedef struct recorders {
    const char *name;
    const char *option, *value;  /* one option, or NULL */
    rec_recorder *open[2][5][2]; /* by context, precision, and whether data are skipped */
} recorders;

static rec_recorder *recorder_of(recorders *r, size_t size)
{
    rec_context *context = fuzz_context(size);
    size_t precision = 1 + size % 4, skip = size / 4 % 8 == 3;
    rec_recorder **recorder = &r->open[size % 8 == 7][precision][skip];
    if (!*recorder) {
        *recorder = rec_open_recorder_in(context, r->name, (rec_precision)precision);
        fuzz_must(*recorder && (!r->option || rec_recorder_set(*recorder, r->option, r->value) == REC_OK) &&
                      (!skip || rec_recorder_set(*recorder, "data", "skip") == REC_OK),
                  r->name);
    }
    return *recorder;
}

/* Held against what the limits promise. */
static void weigh(const rec_record *record, size_t size, uint64_t before)
{
    rec_limits limits = rec_limits_default();
    uint64_t inflated = record ? rec_record_origin(record)->inflated : size;
    inflated = inflated == REC_UNKNOWN ? size : inflated;
    if (record) { /* of what fails it is not known how far it was inflated */
        fuzz_must(fuzz_most() - before <= limits.memory_factor * inflated + limits.memory_slack + inflated + BESIDE,
                  "no more memory than was promised");
    }
}

static bool skips(size_t size)
{
    return size / 4 % 8 == 3;
}

static void use(rec_context *context, rec_record *record, size_t size, const char *name, const char *layout)
{
    rec_record *copy = rec_record_copy(record);
    rec_binding *binding;
    TINY tiny;
    (void)size;
    fuzz_must(copy && fuzz_look(record) == fuzz_look(copy), "a copy is the same");
    binding = rec_bind_at(record, "", &TINY_type, &tiny, REC_BIND_ALLOW_UNEXPECTED);
    rec_binding_free(binding);
    if (name) {
        fuzz_save_and_load(context, record, name, layout, layout != NULL);
    }
    rec_record_free(copy);
}

/* @param name what it is saved as; NULL: not at all. @param layout "keep": the same bytes come again. */
static int load(recorders *r, const uint8_t *data, size_t size, const char *name, const char *layout)
{
    rec_recorder *recorder = recorder_of(r, size);
    uint64_t before = fuzz_used();
    rec_record *record = rec_load_bytes(recorder, data, size);
    weigh(record, size, before);
    if (!record) {
        fuzz_must_say();
        return 0;
    }
    if (!skips(size)) {
        use(fuzz_context(size), record, size, name, layout);
    }
    rec_record_free(record);
    return 1;
}

int fuzz_mpk(const uint8_t *data, size_t size)
{
    static recorders r = {.name = "NamedMpk"};
    return load(&r, data, size, "NamedMpk", "keep");
}

int fuzz_json(const uint8_t *data, size_t size)
{
    static recorders r = {.name = "PrettyJson"};
    return load(&r, data, size, "PrettyJson", "keep");
}

int fuzz_safetensors(const uint8_t *data, size_t size)
{
    static recorders r = {.name = "Safetensors"};
    return load(&r, data, size, "Safetensors", NULL);
}

int fuzz_bpk(const uint8_t *data, size_t size)
{
    static recorders r = {.name = "Burnpack"};
    return load(&r, data, size, "Burnpack", NULL);
}

int fuzz_pt(const uint8_t *data, size_t size)
{
    static recorders r = {.name = "PyTorch"};
    return load(&r, data, size, NULL, NULL);
}

int fuzz_npz(const uint8_t *data, size_t size)
{
    static recorders r = {.name = "Npz"};
    return load(&r, data, size, NULL, NULL);
}

int fuzz_gguf(const uint8_t *data, size_t size)
{
    static recorders r = {.name = "Gguf"};
    return load(&r, data, size, NULL, NULL);
}

/* Recognised, as a user's file is, and edited; saved as Burn's default. */
int fuzz_load(const uint8_t *data, size_t size)
{
    static recorders r = {.name = "Auto"};
    rec_recorder *recorder = recorder_of(&r, size);
    rec_record *record = rec_load_bytes(recorder, data, size), *copy;
    if (!record) {
        fuzz_must_say();
        return 0;
    }
    copy = rec_record_copy(record);
    fuzz_must(copy != NULL, "a copy");
    (void)rec_set_uint(copy, "fuzz.0.added", 1);
    (void)rec_remove(copy, "fuzz.0");
    if (!skips(size)) {
        fuzz_save_and_load(fuzz_context(size), copy, "NamedMpk", "burn-0.21", false);
    }
    rec_record_free(copy);
    rec_record_free(record);
    return 1;
}
