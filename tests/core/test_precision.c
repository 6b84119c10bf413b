/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Precision: what a tensor is when it is loaded, how its numbers are read, and what is saved. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/craft.h"
#include "librecord.h"
#include "tests/little.h"
#include "tests/scratch.h"

static const rec_precision precisions[] = {REC_PRECISION_KEEP, REC_PRECISION_DOUBLE, REC_PRECISION_FULL,
                                           REC_PRECISION_HALF};
enum { KEEP_AT, DOUBLE_AT, FULL_AT, HALF_AT, PRECISIONS };

static void assert_error(rec_status status, const char *message)
{
    assert_int_equal(rec_error_status(), status);
    assert_string_equal(rec_error_message(), message);
}

static rec_recorder *open_at(rec_precision precision)
{
    rec_recorder *recorder = rec_open_recorder("NamedMpk", precision);
    if (!recorder) {
        fail_msg("%s", rec_error_message());
    }
    assert_int_equal(rec_recorder_set(recorder, "sync", "no"), REC_OK);
    return recorder;
}

/* ------------------------------------------------------------------------------------------------- one of each -- */

/* The numbers 1, -2, 4 (unsigned: 1, 2, 4; bool: 1, 0, 1) in each type, as they are stored once store_types() was
 * called. */
static uint64_t f64s[] = {0x3ff0000000000000, 0xc000000000000000, 0x4010000000000000};
static uint32_t f32s[] = {0x3f800000, 0xc0000000, 0x40800000};
static uint16_t f16s[] = {0x3c00, 0xc000, 0x4400};
static uint16_t bf16s[] = {0x3f80, 0xc000, 0x4080};
static int64_t i64s[] = {1, -2, 4};
static int32_t i32s[] = {1, -2, 4};
static int16_t i16s[] = {1, -2, 4};
static const int8_t i8s[] = {1, -2, 4};
static uint64_t u64s[] = {1, 2, 4};
static uint32_t u32s[] = {1, 2, 4};
static uint16_t u16s[] = {1, 2, 4};
static const uint8_t u8s[] = {1, 2, 4};
static const uint8_t bools[] = {1, 0, 1};
static const uint16_t halves[] = {0x3c00, 0xc000, 0x4400}; /* f16s, as they are handed out */

static const struct stored {
    const char *name;
    rec_dtype dtype;
    const void *data;
    uint32_t width;
    char kind; /* f, i, u, b */
} types[] = {
    {"F64", REC_DTYPE_F64, f64s, 8, 'f'},       {"F32", REC_DTYPE_F32, f32s, 4, 'f'},
    {"Flex32", REC_DTYPE_FLEX32, f32s, 4, 'f'}, {"F16", REC_DTYPE_F16, f16s, 2, 'f'},
    {"BF16", REC_DTYPE_BF16, bf16s, 2, 'f'},    {"I64", REC_DTYPE_I64, i64s, 8, 'i'},
    {"I32", REC_DTYPE_I32, i32s, 4, 'i'},       {"I16", REC_DTYPE_I16, i16s, 2, 'i'},
    {"I8", REC_DTYPE_I8, i8s, 1, 'i'},          {"U64", REC_DTYPE_U64, u64s, 8, 'u'},
    {"U32", REC_DTYPE_U32, u32s, 4, 'u'},       {"U16", REC_DTYPE_U16, u16s, 2, 'u'},
    {"U8", REC_DTYPE_U8, u8s, 1, 'u'},          {"Bool", REC_DTYPE_BOOL, bools, 1, 'b'},
};
enum { TYPES = sizeof types / sizeof *types };

static int store_types(void **state)
{
    void *const all[] = {f64s, f32s, f16s, bf16s, i64s, i32s, i16s, u64s, u32s, u16s};
    static const size_t widths[] = {8, 4, 2, 2, 8, 4, 2, 8, 4, 2};
    (void)state;
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        little(all[i], widths[i], 3);
    }
    return 0;
}

static void craft_types(craft *c)
{
    craft_begin(c, "0.20.0", CRAFT_FULL);
    craft_map(c, TYPES);
    for (size_t i = 0; i < TYPES; i++) {
        craft_str(c, types[i].name);
        craft_v2(c, types[i].name, 3, types[i].data, 3 * (size_t)types[i].width);
    }
}

static rec_dtype expected_dtype(const struct stored *type, size_t at)
{
    static const rec_dtype floats[] = {0, REC_DTYPE_F64, REC_DTYPE_F32, REC_DTYPE_F16};
    static const rec_dtype ints[] = {0, REC_DTYPE_I64, REC_DTYPE_I32, REC_DTYPE_I16};
    return at == KEEP_AT || type->kind == 'b' ? type->dtype : type->kind == 'f' ? floats[at] : ints[at];
}

static void assert_values(const rec_tensor *tensor, const struct stored *type)
{
    static const double signed_values[] = {1, -2, 4}, unsigned_values[] = {1, 2, 4};
    const double *expected = type->kind == 'u' ? unsigned_values : signed_values;
    double read[3];
    int64_t ints[3];
    if (type->kind == 'f') {
        const float *f32 = rec_tensor_f32(tensor);
        const double *f64 = rec_tensor_f64(tensor);
        const uint16_t *f16 = rec_tensor_f16(tensor);
        assert_true(f32 && f64 && f16);
        assert_int_equal((uintptr_t)f32 % 4 + (uintptr_t)f64 % 8 + (uintptr_t)f16 % 2, 0);
        assert_int_equal(rec_tensor_read(tensor, REC_DTYPE_F64, 0, 3, read), REC_OK);
        for (size_t i = 0; i < 3; i++) {
            assert_true((double)f32[i] == expected[i] && f64[i] == expected[i] && read[i] == expected[i]);
            assert_int_equal(f16[i], halves[i]);
        }
    } else if (type->kind == 'b') {
        const uint8_t *flags = rec_tensor_bool(tensor);
        assert_non_null(flags);
        assert_memory_equal(flags, bools, 3);
    } else {
        const int64_t *i64 = rec_tensor_i64(tensor);
        const int32_t *i32 = rec_tensor_i32(tensor);
        assert_true(i64 && i32);
        assert_int_equal(rec_tensor_read(tensor, REC_DTYPE_I64, 1, 2, ints), REC_OK);
        for (size_t i = 0; i < 3; i++) {
            assert_true(i64[i] == (int64_t)expected[i] && i32[i] == (int32_t)expected[i]);
        }
        assert_true(ints[0] == i64[1] && ints[1] == i64[2]);
    }
}

static void a_loaded_tensor_is_what_the_precision_makes_it(void **state)
{
    craft c = {0};
    (void)state;
    craft_types(&c);
    for (size_t at = 0; at < PRECISIONS; at++) {
        rec_record *record = craft_load(&c, precisions[at]);
        assert_non_null(record);
        for (size_t i = 0; i < TYPES; i++) {
            const rec_tensor *tensor = rec_tensor_at(record, types[i].name);
            rec_dtype dtype = expected_dtype(&types[i], at);
            uint64_t size;
            assert_int_equal(rec_tensor_dtype(tensor), dtype);
            assert_string_equal(rec_tensor_dtype_name(tensor), rec_dtype_name(dtype));
            assert_int_equal(rec_tensor_stored_dtype(tensor), types[i].dtype);
            assert_int_equal(rec_tensor_nbytes(tensor), 3 * rec_dtype_bits(dtype) / 8);
            assert_memory_equal(rec_tensor_bytes(tensor, &size), types[i].data, 3 * (size_t)types[i].width);
            assert_int_equal(size, 3 * types[i].width);
            assert_memory_equal(c.data + rec_tensor_offset(tensor), types[i].data, 3 * (size_t)types[i].width);
            assert_int_equal(rec_tensor_assumed(tensor), 0);
            assert_values(tensor, &types[i]);
        }
        rec_record_free(record);
    }
    craft_free(&c);
}

static void numbers_of_one_kind_are_not_read_as_another(void **state)
{
    craft c = {0};
    rec_record *record;
    int64_t number;
    (void)state;
    craft_types(&c);
    record = craft_load(&c, REC_PRECISION_FULL);
    assert_null(rec_tensor_i64(rec_tensor_at(record, "F64")));
    assert_error(REC_E_MISMATCH, "F64: a tensor of f32 cannot be read as i64");
    assert_null(rec_tensor_f32(rec_tensor_at(record, "U8")));
    assert_error(REC_E_MISMATCH, "U8: a tensor of i32 cannot be read as f32");
    assert_null(rec_tensor_bool(rec_tensor_at(record, "I64")));
    assert_error(REC_E_MISMATCH, "I64: a tensor of i32 cannot be read as bool");
    assert_null(rec_tensor_f64(rec_tensor_at(record, "Bool")));
    assert_error(REC_E_MISMATCH, "Bool: a tensor of bool cannot be read as f64");
    assert_int_equal(rec_tensor_read(rec_tensor_at(record, "F32"), REC_DTYPE_I64, 0, 1, &number), REC_E_MISMATCH);
    assert_int_equal(rec_tensor_read(rec_tensor_at(record, "I32"), REC_DTYPE_QFLOAT, 0, 1, &number), REC_E_MISMATCH);
    assert_int_equal(rec_tensor_read(rec_tensor_at(record, "I32"), 99, 0, 1, &number), REC_E_MISMATCH);
    assert_int_equal(rec_tensor_read(rec_tensor_at(record, "I32"), REC_DTYPE_I64, 2, 2, &number), REC_E_ARGUMENT);
    assert_error(REC_E_ARGUMENT, "I32: 2 elements from 2 on were requested, but there are 3");
    assert_int_equal(rec_tensor_read(rec_tensor_at(record, "I32"), REC_DTYPE_I64, UINT64_MAX, 2, &number),
                     REC_E_ARGUMENT);
    assert_int_equal(rec_tensor_read(rec_tensor_at(record, "I32"), REC_DTYPE_I64, 3, 0, &number), REC_OK);
    rec_record_free(record);
    craft_free(&c);
}

static void values_pass_through_the_precision(void **state)
{
    /* 0.1 in each type; what was rounded away does not come back. */
    double tenth[] = {0.1};
    craft c = {0};
    (void)state;
    craft_begin(&c, "0.21.0", CRAFT_DOUBLE);
    craft_v2(&c, "F64", 1, little(tenth, sizeof *tenth, 1), sizeof tenth);
    for (size_t at = 0; at < PRECISIONS; at++) {
        rec_record *record = craft_load(&c, precisions[at]);
        const rec_tensor *tensor = rec_tensor_at(record, "");
        double expected = at == FULL_AT ? (double)0.1f : at == HALF_AT ? 0.0999755859375 : 0.1;
        double read;
        assert_true(rec_tensor_f64(tensor)[0] == expected);
        assert_true(rec_tensor_f32(tensor)[0] == (float)expected);
        assert_int_equal(rec_tensor_f16(tensor)[0], 0x2e66);
        assert_int_equal(rec_tensor_read(tensor, REC_DTYPE_F64, 0, 1, &read), REC_OK);
        assert_true(read == expected);
        rec_record_free(record);
    }
    craft_free(&c);
}

/* ---------------------------------------------------------------------------------------------- without a copy -- */

/* A file whose only tensor lies at a place that is a multiple of 8, plus `off`. */
static void craft_aligned(craft *c, const char *dtype, const void *data, size_t size, uint64_t count, size_t off)
{
    craft probe = {0};
    char padding[24] = "";
    for (size_t pad = 0;; pad++) {
        size_t before;
        memset(padding, 'x', pad);
        craft_begin(&probe, "0.21.0", CRAFT_FULL);
        craft_map(&probe, 2);
        craft_str(&probe, "pad");
        craft_str(&probe, padding);
        craft_str(&probe, "w");
        before = probe.size;
        craft_v2(&probe, dtype, count, data, size);
        if ((before + 1 + 6 + 5) % 8 == off) { /* map, "bytes", the header of the byte string */
            break;
        }
        probe.size = 0;
    }
    *c = probe;
}

static void aligned_bytes_are_lent_without_a_copy(void **state)
{
    craft c;
    rec_record *record;
    const rec_tensor *tensor;
    (void)state;
    craft_aligned(&c, "F32", f32s, sizeof f32s, 3, 0);
    record = craft_load(&c, REC_PRECISION_FULL);
    tensor = rec_tensor_at(record, "w");
    assert_int_equal(rec_tensor_offset(tensor) % 8, 0);
    assert_ptr_equal(rec_tensor_bytes(tensor, NULL), c.data + rec_tensor_offset(tensor));
    assert_true(!host_is_little() || rec_tensor_f32(tensor) == (const void *)(c.data + rec_tensor_offset(tensor)));
    assert_ptr_not_equal(rec_tensor_f64(tensor), c.data + rec_tensor_offset(tensor));
    rec_record_free(record);
    record = craft_load(&c, REC_PRECISION_HALF); /* the same bytes are not the tensor's values now */
    tensor = rec_tensor_at(record, "w");
    assert_ptr_not_equal(rec_tensor_f32(tensor), c.data + rec_tensor_offset(tensor));
    rec_record_free(record);
    craft_free(&c);
}

static void misaligned_bytes_are_converted_once(void **state)
{
    (void)state;
    for (size_t off = 1; off < 8; off++) {
        craft c;
        rec_record *record;
        const rec_tensor *tensor;
        const double *first;
        craft_aligned(&c, "F64", f64s, sizeof f64s, 3, off);
        record = craft_load(&c, REC_PRECISION_KEEP);
        tensor = rec_tensor_at(record, "w");
        assert_int_equal(rec_tensor_offset(tensor) % 8, off);
        assert_ptr_equal(rec_tensor_bytes(tensor, NULL), c.data + rec_tensor_offset(tensor));
        first = rec_tensor_f64(tensor);
        assert_int_equal((uintptr_t)first % 64, 0);
        assert_true(first[0] == 1.0 && first[1] == -2.0 && first[2] == 4.0);
        assert_ptr_equal(rec_tensor_f64(tensor), first);
        rec_record_free(record);
        craft_free(&c);
    }
}

static void a_mapped_file_is_read_in_place(void **state)
{
    scratch *s = scratch_new();
    craft c;
    char *path;
    (void)state;
    craft_aligned(&c, "F64", f64s, sizeof f64s, 3, 0);
    path = scratch_write(s, "model.mpk", c.data, c.size);
    for (int map = 0; map < 2; map++) {
        rec_recorder *recorder = open_at(REC_PRECISION_KEEP);
        rec_record *record;
        const rec_tensor *tensor;
        assert_int_equal(rec_recorder_set(recorder, "map", map ? "yes" : "no"), REC_OK);
        record = rec_load(recorder, path);
        tensor = rec_tensor_at(record, "w");
        assert_int_equal(rec_record_origin(record)->mapped, map);
        assert_true(!host_is_little() || rec_tensor_f64(tensor) == rec_tensor_bytes(tensor, NULL));
        assert_true(rec_tensor_f64(tensor)[1] == -2.0);
        rec_close_recorder(recorder);
        rec_record_free(record);
    }
    free(path);
    craft_free(&c);
    scratch_free(s);
}

/* ------------------------------------------------------------------------------------------- what does not fit -- */

static rec_record *of_ints(const int64_t *numbers, uint64_t count)
{
    int64_t *stored = malloc((size_t)count * sizeof *stored);
    rec_tensor_spec spec = {.size = sizeof spec,
                            .dtype = REC_DTYPE_I64,
                            .rank = 1,
                            .shape = &count,
                            .data = stored,
                            .data_size = count * 8};
    rec_record *record = rec_record_new(NULL);
    assert_true(record && stored);
    memcpy(stored, numbers, (size_t)count * sizeof *stored);
    little(stored, sizeof *stored, (size_t)count);
    assert_int_equal(rec_set_tensor(record, "net.ids", &spec), REC_OK);
    free(stored);
    return record;
}

static void an_integer_that_does_not_fit_is_named(void **state)
{
    static const int64_t numbers[] = {5, INT64_MIN, 3000000000};
    rec_record *record = of_ints(numbers, 3);
    const rec_tensor *tensor = rec_tensor_at(record, "net.ids");
    int32_t small[3];
    uint8_t bytes[3];
    (void)state;
    assert_null(rec_tensor_i32(tensor));
    assert_error(REC_E_RANGE,
                 "net.ids: element 1 is -9223372036854775808, which does not fit i32 (-2147483648 to 2147483647)\n"
                 "  Choose a larger precision, or allow clamping (option clamp).");
    assert_string_equal(rec_error_path(), "net.ids");
    assert_non_null(rec_tensor_i64(tensor)); /* the tensor is as good as before */
    assert_int_equal(rec_tensor_read(tensor, REC_DTYPE_I32, 2, 1, small), REC_E_RANGE);
    assert_non_null(strstr(rec_error_message(), "element 2 is 3000000000, which does not fit i32"));
    assert_int_equal(rec_tensor_read(tensor, REC_DTYPE_U8, 0, 2, bytes), REC_E_RANGE);
    assert_non_null(strstr(rec_error_message(), "does not fit u8 (0 to 255)"));
    assert_int_equal(rec_tensor_read(tensor, REC_DTYPE_U8, 0, 1, bytes), REC_OK);
    assert_int_equal(bytes[0], 5);
    rec_record_free(record);
}

static void the_element_is_counted_across_blocks(void **state)
{
    enum { COUNT = 10000, BAD = 8765 };
    int64_t *numbers = calloc(COUNT, 8);
    rec_recorder *recorder = open_at(REC_PRECISION_HALF);
    rec_record *record, *loaded;
    void *bytes;
    uint64_t size;
    (void)state;
    assert_non_null(numbers);
    numbers[BAD] = 40000;
    record = of_ints(numbers, COUNT);
    {
        rec_recorder *keep = open_at(REC_PRECISION_KEEP);
        assert_int_equal(rec_save_bytes(keep, record, &bytes, &size), REC_OK);
        rec_close_recorder(keep);
    }
    loaded = rec_load_bytes(recorder, bytes, size);
    assert_null(rec_tensor_i32(rec_tensor_at(loaded, "net.ids"))); /* in two steps: through i16 */
    assert_error(REC_E_RANGE, "net.ids: element 8765 is 40000, which does not fit i16 (-32768 to 32767)\n"
                              "  Choose a larger precision, or allow clamping (option clamp).");
    rec_record_free(loaded);
    assert_int_equal(rec_recorder_set(recorder, "clamp", "yes"), REC_OK);
    loaded = rec_load_bytes(recorder, bytes, size);
    assert_int_equal(rec_tensor_i32(rec_tensor_at(loaded, "net.ids"))[BAD], 32767);
    assert_int_equal(rec_report_count(), 1);
    assert_int_equal(rec_report_note(0)->kind, REC_NOTE_CLAMPED);
    assert_int_equal(rec_report_note(0)->count, 1);
    assert_string_equal(rec_report_note(0)->path, "net.ids");
    rec_record_free(loaded);
    rec_free(bytes);
    rec_close_recorder(recorder);
    rec_record_free(record);
    free(numbers);
}

static void a_file_is_named_where_the_record_has_one(void **state)
{
    static const int64_t numbers[] = {70000};
    rec_record *record = of_ints(numbers, 1), *loaded;
    rec_recorder *keep = open_at(REC_PRECISION_KEEP), *half = open_at(REC_PRECISION_HALF);
    scratch *s = scratch_new();
    char *path = scratch_path(s, "model.mpk");
    char expected[700];
    (void)state;
    assert_int_equal(rec_save(keep, record, path), REC_OK);
    loaded = rec_load(half, path);
    assert_null(rec_tensor_i64(rec_tensor_at(loaded, "net.ids")));
    (void)snprintf(expected, sizeof expected,
                   "%s: net.ids: element 0 is 70000, which does not fit i16 (-32768 to 32767)\n"
                   "  Choose a larger precision, or allow clamping (option clamp).",
                   path);
    assert_error(REC_E_RANGE, expected);
    assert_string_equal(rec_error_file(), path);
    rec_record_free(loaded);
    rec_record_free(record);
    rec_close_recorder(keep);
    rec_close_recorder(half);
    free(path);
    scratch_free(s);
}

static uint64_t heard;
static void listen(void *user, const rec_note *note)
{
    (void)user;
    heard += note->count;
}

static void a_float_that_becomes_infinite_is_counted(void **state)
{
    float numbers[] = {1e6f, -1e6f, INFINITY, NAN, 1, 65504};
    uint64_t shape[] = {6};
    rec_context *context = rec_context_new(NULL);
    rec_record *record = rec_record_new(context);
    const rec_tensor *tensor;
    const uint16_t *half;
    uint16_t read[6];
    (void)state;
    rec_context_set_notes(context, listen, NULL);
    assert_int_equal(rec_set_f32(record, "a.w", numbers, 1, shape), REC_OK);
    tensor = rec_tensor_at(record, "a.w");
    heard = 0;
    half = rec_tensor_f16(tensor);
    assert_true(half[0] == 0x7c00 && half[1] == 0xfc00 && half[2] == 0x7c00 && half[4] == 0x3c00 && half[5] == 0x7bff);
    assert_int_equal(rec_report_count(), 1);
    assert_int_equal(rec_report_note(0)->kind, REC_NOTE_OVERFLOW);
    assert_int_equal(rec_report_note(0)->count, 2);
    assert_string_equal(rec_report_note(0)->path, "a.w");
    assert_string_equal(rec_report_note(0)->text, "2 values were too large for f16 and became infinite");
    assert_int_equal(heard, 2);
    assert_int_equal(rec_tensor_read(tensor, REC_DTYPE_F16, 0, 1, read), REC_OK);
    assert_int_equal(rec_report_count(), 1);
    assert_string_equal(rec_report_note(0)->text, "1 value was too large for f16 and became infinite");
    assert_int_equal(rec_tensor_read(tensor, REC_DTYPE_F16, 2, 4, read), REC_OK);
    assert_int_equal(rec_report_count(), 0);
    rec_record_free(record);
    rec_context_free(context);
}

/* ------------------------------------------------------------------------------------------------------ saving -- */

static void every_type_is_saved_at_every_precision_from_every_precision(void **state)
{
    static const char *const float_names[] = {NULL, "f64", "f32", "half::binary16::f16"};
    static const char *const int_names[] = {NULL, "i64", "i32", "i16"};
    static const char *const settings[] = {NULL, "DoublePrecisionSettings", "FullPrecisionSettings",
                                           "HalfPrecisionSettings"};
    craft c = {0};
    rec_recorder *keep = open_at(REC_PRECISION_KEEP);
    (void)state;
    craft_types(&c);
    for (size_t from = 0; from < PRECISIONS; from++) {
        rec_record *record = craft_load(&c, precisions[from]);
        for (size_t to = 0; to < PRECISIONS; to++) {
            rec_recorder *recorder = open_at(precisions[to]);
            rec_record *saved;
            void *bytes;
            uint64_t size;
            if (rec_save_bytes(recorder, record, &bytes, &size) != REC_OK) {
                fail_msg("%s", rec_error_message());
            }
            assert_int_equal(rec_report_count(), 0);
            saved = rec_load_bytes(keep, bytes, size);
            assert_non_null(saved);
            for (size_t i = 0; i < TYPES; i++) {
                const rec_tensor *tensor = rec_tensor_at(saved, types[i].name);
                rec_dtype dtype = expected_dtype(&types[i], to == KEEP_AT ? from : to);
                assert_int_equal(rec_tensor_stored_dtype(tensor), dtype);
                assert_int_equal(rec_tensor_dtype(tensor), dtype);
                assert_values(tensor, &types[i]);
            }
            if (to != KEEP_AT) {
                assert_string_equal(rec_metadata(saved, "float"), float_names[to]);
                assert_string_equal(rec_metadata(saved, "int"), int_names[to]);
                assert_string_equal(rec_metadata(saved, "settings"), settings[to]);
            }
            rec_record_free(saved);
            rec_free(bytes);
            rec_close_recorder(recorder);
        }
        rec_record_free(record);
    }
    rec_close_recorder(keep);
    craft_free(&c);
}

static void a_save_rounds_once_for_what_was_loaded(void **state)
{
    /* Loaded at Half and saved at Double: the value is the half one, in a wider type. */
    double tenth[] = {0.1};
    craft c = {0};
    rec_record *record;
    rec_recorder *recorder = open_at(REC_PRECISION_DOUBLE);
    void *bytes;
    uint64_t size;
    (void)state;
    craft_begin(&c, "0.21.0", CRAFT_DOUBLE);
    craft_v2(&c, "F64", 1, little(tenth, sizeof *tenth, 1), sizeof tenth);
    record = craft_load(&c, REC_PRECISION_HALF);
    assert_int_equal(rec_save_bytes(recorder, record, &bytes, &size), REC_OK);
    rec_record_free(record);
    record = rec_load_bytes(recorder, bytes, size);
    assert_true(rec_tensor_f64(rec_tensor_at(record, ""))[0] == 0.0999755859375);
    rec_record_free(record);
    rec_free(bytes);
    rec_close_recorder(recorder);
    craft_free(&c);
}

static void an_integer_that_cannot_be_saved_leaves_the_old_file(void **state)
{
    static const int64_t numbers[] = {1, 70000};
    rec_record *record = of_ints(numbers, 2), *again;
    rec_recorder *half = open_at(REC_PRECISION_HALF);
    scratch *s = scratch_new();
    char *path = scratch_text(s, "model.mpk", "the old file");
    char expected[700], text[32] = "";
    FILE *file;
    (void)state;
    assert_int_equal(rec_save(half, record, path), REC_E_RANGE);
    (void)snprintf(expected, sizeof expected,
                   "%s: net.ids: element 1 is 70000, which does not fit i16 (-32768 to 32767)\n"
                   "  Choose a larger precision, or allow clamping (option clamp).",
                   path);
    assert_error(REC_E_RANGE, expected);
    file = fopen(path, "rb");
    assert_int_equal(fread(text, 1, sizeof text - 1, file), 12);
    (void)fclose(file);
    assert_string_equal(text, "the old file");
    assert_int_equal(rec_recorder_set(half, "clamp", "yes"), REC_OK);
    assert_int_equal(rec_save(half, record, path), REC_OK);
    assert_int_equal(rec_report_count(), 1);
    assert_int_equal(rec_report_note(0)->kind, REC_NOTE_CLAMPED);
    assert_string_equal(rec_report_note(0)->path, "net.ids");
    assert_string_equal(rec_report_note(0)->text, "1 integer did not fit i16 and took its nearest limit");
    again = rec_load(half, path);
    assert_int_equal(rec_tensor_i64(rec_tensor_at(again, "net.ids"))[1], 32767);
    rec_record_free(again);
    rec_record_free(record);
    rec_close_recorder(half);
    free(path);
    scratch_free(s);
}

static void floats_that_a_save_makes_infinite_are_counted_by_tensor(void **state)
{
    float large[] = {1e6f, 1, 1e7f}, small[] = {1};
    uint64_t shape[] = {3}, one[] = {1};
    rec_record *record = rec_record_new(NULL);
    rec_recorder *half = open_at(REC_PRECISION_HALF);
    void *bytes;
    uint64_t size;
    (void)state;
    assert_int_equal(rec_set_f32(record, "a", large, 1, shape), REC_OK);
    assert_int_equal(rec_set_f32(record, "b", small, 1, one), REC_OK);
    assert_int_equal(rec_set_f32(record, "c.0", large, 1, one), REC_OK);
    assert_int_equal(rec_save_bytes(half, record, &bytes, &size), REC_OK);
    assert_int_equal(rec_report_count(), 2);
    assert_string_equal(rec_report_note(0)->path, "a");
    assert_int_equal(rec_report_note(0)->count, 2);
    assert_string_equal(rec_report_note(1)->path, "c.0");
    assert_int_equal(rec_report_note(1)->count, 1);
    assert_null(rec_report_note(2));
    rec_free(bytes);
    rec_record_free(record);
    rec_close_recorder(half);
}

static void scalars_keep_their_types_at_every_precision(void **state)
{
    rec_record *record = rec_record_new(NULL), *again;
    rec_recorder *half = open_at(REC_PRECISION_HALF);
    void *bytes;
    uint64_t size;
    (void)state;
    assert_int_equal(rec_set_float(record, "rate", 1e-300), REC_OK);
    assert_int_equal(rec_set_uint(record, "steps", UINT64_MAX), REC_OK);
    assert_int_equal(rec_set_int(record, "low", INT64_MIN), REC_OK);
    assert_int_equal(rec_save_bytes(half, record, &bytes, &size), REC_OK);
    again = rec_load_bytes(half, bytes, size);
    assert_true(rec_value_scalar(rec_value_at(again, "rate")).v.f == 1e-300);
    assert_true(rec_value_scalar(rec_value_at(again, "steps")).v.u == UINT64_MAX);
    assert_true(rec_value_scalar(rec_value_at(again, "low")).v.i == INT64_MIN);
    rec_record_free(again);
    rec_free(bytes);
    rec_record_free(record);
    rec_close_recorder(half);
}

static void keep_writes_the_precision_of_what_is_there(void **state)
{
    static const rec_dtype dtypes[] = {REC_DTYPE_F64, REC_DTYPE_F32, REC_DTYPE_F16};
    static const char *const names[] = {"f64", "f32", "half::binary16::f16"};
    uint64_t data[1] = {0}, shape[] = {1};
    rec_recorder *keep = open_at(REC_PRECISION_KEEP);
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        rec_tensor_spec spec = {.size = sizeof spec,
                                .dtype = dtypes[i],
                                .rank = 1,
                                .shape = shape,
                                .data = data,
                                .data_size = rec_dtype_bits(dtypes[i]) / 8,
                                .id = ""};
        rec_record *record = rec_record_new(NULL), *again;
        void *bytes;
        uint64_t size;
        assert_int_equal(rec_set_tensor(record, "a.0.w", &spec), REC_OK);
        assert_int_equal(rec_save_bytes(keep, record, &bytes, &size), REC_OK);
        again = rec_load_bytes(keep, bytes, size);
        assert_string_equal(rec_metadata(again, "float"), names[i]);
        assert_string_equal(rec_metadata(again, "version"), "0.21.0");
        assert_int_equal(rec_tensor_dtype(rec_tensor_at(again, "a.0.w")), dtypes[i]);
        rec_record_free(again);
        rec_free(bytes);
        rec_record_free(record);
    }
    rec_close_recorder(keep);
}

static void the_default_precision_is_full(void **state)
{
    craft c = {0};
    rec_record *record;
    (void)state;
    craft_types(&c);
    record = craft_load(&c, REC_PRECISION_DEFAULT);
    assert_int_equal(rec_tensor_dtype(rec_tensor_at(record, "F64")), REC_DTYPE_F32);
    rec_record_free(record);
    craft_free(&c);
    assert_null(rec_open_recorder("NamedMpk", REC_PRECISION_CONFIGURED + 1));
    assert_int_equal(rec_error_status(), REC_E_ARGUMENT);
    assert_null(rec_open_recorder("NamedMpk", -1));
}

/* Up to 0.11 Burn keeps the integers of a full precision file as f32: what f32 has not is refused, not rounded. */
static void integers_that_an_old_version_rounds_are_refused(void **state)
{
    int32_t fits[] = {16777216, -16777216, 16777218}, none[] = {1, 16777217, 2};
    static const uint64_t three[] = {3};
    rec_recorder *recorder = open_at(REC_PRECISION_FULL);
    (void)state;
    little(fits, sizeof *fits, 3);
    little(none, sizeof *none, 3);
    for (int old = 0; old < 2; old++) {
        rec_tensor_spec spec = {.size = sizeof spec,
                                .dtype = REC_DTYPE_I32,
                                .rank = 1,
                                .shape = three,
                                .data = fits,
                                .data_size = sizeof fits};
        rec_record *record = rec_record_new(NULL);
        void *data = NULL;
        uint64_t size;
        assert_int_equal(rec_recorder_set(recorder, "layout", old ? "burn-0.11" : "burn-0.12"), REC_OK);
        assert_int_equal(rec_set_tensor(record, "a", &spec), REC_OK);
        assert_int_equal(rec_save_bytes(recorder, record, &data, &size), REC_OK);
        free(data);
        spec.data = none;
        assert_int_equal(rec_set_tensor(record, "a", &spec), REC_OK);
        data = NULL;
        assert_int_equal(rec_save_bytes(recorder, record, &data, &size), old ? REC_E_RANGE : REC_OK);
        if (old) {
            assert_non_null(
                strstr(rec_error_message(),
                       "a: element 1 is 16777217, but Burn 0.11 stores the integers of full precision as f32, which "
                       "cannot represent it\n  Save it at double precision, or for Burn 0.12 or later."));
        }
        free(data);
        rec_record_free(record);
    }
    rec_close_recorder(recorder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_loaded_tensor_is_what_the_precision_makes_it),
        cmocka_unit_test(numbers_of_one_kind_are_not_read_as_another),
        cmocka_unit_test(values_pass_through_the_precision),
        cmocka_unit_test(aligned_bytes_are_lent_without_a_copy),
        cmocka_unit_test(misaligned_bytes_are_converted_once),
        cmocka_unit_test(a_mapped_file_is_read_in_place),
        cmocka_unit_test(an_integer_that_does_not_fit_is_named),
        cmocka_unit_test(the_element_is_counted_across_blocks),
        cmocka_unit_test(a_file_is_named_where_the_record_has_one),
        cmocka_unit_test(a_float_that_becomes_infinite_is_counted),
        cmocka_unit_test(every_type_is_saved_at_every_precision_from_every_precision),
        cmocka_unit_test(a_save_rounds_once_for_what_was_loaded),
        cmocka_unit_test(an_integer_that_cannot_be_saved_leaves_the_old_file),
        cmocka_unit_test(floats_that_a_save_makes_infinite_are_counted_by_tensor),
        cmocka_unit_test(scalars_keep_their_types_at_every_precision),
        cmocka_unit_test(keep_writes_the_precision_of_what_is_there),
        cmocka_unit_test(the_default_precision_is_full),
        cmocka_unit_test(integers_that_an_old_version_rounds_are_refused),
    };
    return cmocka_run_group_tests_name("precision", tests, store_types, NULL);
}
