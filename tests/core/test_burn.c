/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Burn's layouts, version by version: what is read as a tensor and of which type, what is carried as it is, and what
 * is written. By hand-made MessagePack, and by files that Burn wrote. */
#include <glob.h>
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

static rec_record *loaded(const craft *c)
{
    rec_record *record = craft_load(c, REC_PRECISION_KEEP);
    if (!record) {
        fail_msg("%s", rec_error_message());
    }
    return record;
}

/* The only V1 tensor in it is refused, at its place. */
static void refused(craft *c, const char *words)
{
    const uint8_t *tensor = memmem(c->data, c->size, "\x82\xa5value", 7);
    char message[320];
    assert_non_null(tensor);
    assert_null(craft_load(c, REC_PRECISION_KEEP));
    assert_int_equal(rec_error_status(), REC_E_FORMAT);
    (void)snprintf(
        message, sizeof message,
        "(memory): byte %d: %s\n  It was read as NamedMpk: the file is damaged, or another program than Burn wrote it.",
        (int)(tensor - c->data), words);
    assert_string_equal(rec_error_message(), message);
    craft_free(c);
}

static void assert_tensor(const rec_record *record, const char *path, rec_dtype dtype, uint64_t count, const char *id,
                          int assumed)
{
    const rec_tensor *tensor = rec_tensor_at(record, path);
    if (!tensor) {
        fail_msg("%s", rec_error_message());
    }
    assert_int_equal(rec_tensor_stored_dtype(tensor), dtype);
    assert_int_equal(rec_tensor_dtype(tensor), dtype);
    assert_int_equal(rec_tensor_count(tensor), count);
    assert_int_equal(rec_tensor_assumed(tensor), assumed);
    if (id) {
        assert_string_equal(rec_tensor_id(tensor), id);
    } else {
        assert_null(rec_tensor_id(tensor));
    }
}

/* ------------------------------------------------------------------------------------------------------- V2 -- */

static const float two[] = {1, 2};

static void a_parameter_and_a_bare_tensor_are_recognised(void **state)
{
    craft c = {0};
    rec_record *record;
    (void)state;
    craft_begin(&c, "0.21.0", CRAFT_FULL);
    craft_map(&c, 2);
    craft_str(&c, "fc");
    craft_map(&c, 1);
    craft_str(&c, "weight");
    craft_param(&c, "0123456789abc");
    craft_v2(&c, "F32", 2, two, sizeof two);
    craft_str(&c, "bare");
    craft_v2(&c, "F32", 2, two, sizeof two);
    record = loaded(&c);
    assert_tensor(record, "fc.weight", REC_DTYPE_F32, 2, "0123456789abc", 0);
    assert_tensor(record, "bare", REC_DTYPE_F32, 2, NULL, 0);
    assert_int_equal(rec_record_origin(record)->layout, 2);
    assert_string_equal(rec_record_origin(record)->recorder, "NamedMpk");
    assert_int_equal(rec_record_origin(record)->inflated, c.size);
    assert_int_equal(rec_report_count(), 0);
    rec_record_free(record);
    craft_free(&c);
}

static void the_order_of_fields_does_not_matter(void **state)
{
    uint64_t shape[] = {2};
    craft c = {0};
    rec_record *record;
    (void)state;
    craft_begin(&c, "0.21.0", CRAFT_FULL);
    craft_map(&c, 2);
    craft_str(&c, "param");
    craft_map(&c, 3);
    craft_str(&c, "dtype");
    craft_str(&c, "F32");
    craft_shape(&c, 1, shape);
    craft_str(&c, "bytes");
    craft_bin(&c, two, sizeof two);
    craft_str(&c, "id");
    craft_str(&c, "x");
    record = loaded(&c);
    assert_tensor(record, "", REC_DTYPE_F32, 2, "x", 0);
    rec_record_free(record);
    craft_free(&c);
}

static void bytes_may_be_a_list_of_numbers(void **state)
{
    static const uint8_t values[] = {0, 0, 0x80, 0x3f, 0xff, 0, 1, 2};
    uint64_t shape[] = {2};
    craft c = {0};
    rec_record *record;
    uint64_t size;
    (void)state;
    craft_begin(&c, "0.21.0", CRAFT_FULL);
    craft_map(&c, 3);
    craft_str(&c, "bytes");
    craft_list(&c, 8);
    for (size_t i = 0; i < 8; i++) {
        craft_uint(&c, values[i]);
    }
    craft_shape(&c, 1, shape);
    craft_str(&c, "dtype");
    craft_str(&c, "F32");
    record = loaded(&c);
    assert_tensor(record, "", REC_DTYPE_F32, 2, NULL, 0);
    assert_memory_equal(rec_tensor_bytes(rec_tensor_at(record, ""), &size), values, 8);
    rec_record_free(record);
    craft_free(&c);
}

static void bool_stores_of_0_21_are_told_apart(void **state)
{
    static const char *const stores[] = {"Native", "U8", "U32"};
    static const rec_dtype dtypes[] = {REC_DTYPE_BOOL, REC_DTYPE_BOOL8, REC_DTYPE_BOOL32};
    static const uint8_t ones[] = {1, 0, 0, 0};
    uint64_t shape[] = {1};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        craft c = {0};
        rec_record *record;
        craft_begin(&c, "0.21.0", CRAFT_FULL);
        craft_map(&c, 3);
        craft_str(&c, "bytes");
        craft_bin(&c, ones, i == 2 ? 4 : 1);
        craft_shape(&c, 1, shape);
        craft_str(&c, "dtype");
        craft_map(&c, 1);
        craft_str(&c, "Bool");
        craft_str(&c, stores[i]);
        record = loaded(&c);
        assert_tensor(record, "", dtypes[i], 1, NULL, 0);
        assert_int_equal(rec_tensor_bool(rec_tensor_at(record, ""))[0], 1);
        rec_record_free(record);
        craft_free(&c);
    }
}

/* At a precision, nobody can make numbers of it: no scheme claims it, or it has another size than it says. */
static void assert_rejected(const craft *c, const char *path, const char *dtype_name)
{
    rec_recorder *recorder = rec_open_recorder("NamedMpk", REC_PRECISION_HALF);
    char expected[128];
    (void)snprintf(expected, sizeof expected, "%s: stored as %s, which ", path,
                   strcmp(dtype_name, "qfloat") == 0 ? "Burn integers" : dtype_name);
    assert_null(rec_load_bytes(recorder, c->data, c->size));
    assert_int_equal(rec_error_status(), REC_E_UNSUPPORTED);
    assert_non_null(strstr(rec_error_message(), expected));
    rec_close_recorder(recorder);
}

/* Saved with the layout kept, the bytes of `item` must be in the file as they were. */
static void assert_carried(const craft *item, const char *path, const char *dtype_name, rec_dtype dtype)
{
    craft c = {0};
    rec_recorder *recorder = rec_open_recorder("NamedMpk", REC_PRECISION_KEEP);
    rec_record *record;
    void *bytes;
    uint64_t size;
    craft_begin(&c, "0.20.0", CRAFT_FULL);
    craft_raw(&c, item->data, item->size);
    assert_rejected(&c, path, dtype_name);
    record = rec_load_bytes(recorder, c.data, c.size);
    if (!record) {
        fail_msg("%s", rec_error_message());
    }
    assert_int_equal(rec_tensor_dtype(rec_tensor_at(record, path)), dtype);
    assert_string_equal(rec_tensor_dtype_name(rec_tensor_at(record, path)), dtype_name);
    assert_null(rec_tensor_f32(rec_tensor_at(record, path)));
    assert_int_equal(rec_error_status(), REC_E_MISMATCH);
    for (int keep = 0; keep < 2; keep++) {
        rec_record *copy = rec_record_copy(record);
        assert_int_equal(rec_recorder_set(recorder, "layout", keep ? "keep" : "burn-0.21"), REC_OK);
        if (rec_save_bytes(recorder, copy, &bytes, &size) != REC_OK) {
            fail_msg("%s", rec_error_message());
        }
        assert_non_null(memmem(bytes, (size_t)size, item->data, item->size));
        rec_free(bytes);
        rec_record_free(copy);
    }
    rec_record_free(record);
    rec_close_recorder(recorder);
    craft_free(&c);
}

static void an_unknown_element_type_is_carried_bit_for_bit(void **state)
{
    static const uint8_t data[] = {1, 2, 3, 4, 5};
    uint64_t shape[] = {3}; /* whose bytes nobody can count */
    craft item = {0};
    (void)state;
    craft_map(&item, 1);
    craft_str(&item, "w");
    craft_param(&item, "0123456789abc");
    craft_map(&item, 3);
    craft_str(&item, "bytes");
    craft_number(&item, 0xc4, sizeof data, 1); /* the shortest form, as it is written */
    craft_raw(&item, data, sizeof data);
    craft_shape(&item, 1, shape);
    craft_str(&item, "dtype");
    craft_str(&item, "F8E5M2");
    assert_carried(&item, "w", "F8E5M2", REC_DTYPE_OPAQUE);
    craft_free(&item);
}

static void a_quantised_tensor_is_carried_bit_for_bit(void **state)
{
    static const uint8_t data[] = {1, 2, 3, 4, 5, 6, 7};
    uint64_t shape[] = {2};
    craft item = {0};
    (void)state;
    craft_map(&item, 1);
    craft_str(&item, "w");
    craft_map(&item, 3);
    craft_str(&item, "bytes");
    craft_number(&item, 0xc4, sizeof data, 1);
    craft_raw(&item, data, sizeof data);
    craft_shape(&item, 1, shape);
    craft_str(&item, "dtype");
    craft_map(&item, 1);
    craft_str(&item, "QFloat");
    craft_map(&item, 5);
    craft_str(&item, "value");
    craft_str(&item, "Q8S");
    craft_str(&item, "param");
    craft_str(&item, "F32");
    craft_str(&item, "store");
    craft_str(&item, "Native");
    craft_str(&item, "level");
    craft_map(&item, 1);
    craft_str(&item, "Block");
    craft_uint(&item, 32);
    craft_str(&item, "scale");
    craft_f32(&item, 0.1f);
    assert_carried(&item, "w", "qfloat", REC_DTYPE_QFLOAT);
    craft_free(&item);
}

static void what_only_looks_like_a_tensor_stays_what_it_is(void **state)
{
    uint64_t shape[] = {2};
    craft c = {0};
    rec_record *record;
    (void)state;
    craft_begin(&c, "0.21.0", CRAFT_FULL);
    craft_map(&c, 5);
    craft_str(&c, "own"); /* a user's own struct: since 0.14 no tensor looks like that */
    craft_v1(&c, 2);
    craft_f32(&c, 1);
    craft_f32(&c, 2);
    craft_shape(&c, 1, shape);
    craft_str(&c, "words"); /* shape is no list of numbers */
    craft_map(&c, 3);
    craft_str(&c, "bytes");
    craft_bin(&c, "ab", 2);
    craft_str(&c, "shape");
    craft_str(&c, "round");
    craft_str(&c, "dtype");
    craft_str(&c, "F32");
    craft_str(&c, "pair"); /* no tensor in it */
    craft_map(&c, 2);
    craft_str(&c, "id");
    craft_str(&c, "x");
    craft_str(&c, "param");
    craft_uint(&c, 7);
    craft_str(&c, "number"); /* an id is text */
    craft_map(&c, 2);
    craft_str(&c, "id");
    craft_uint(&c, 1);
    craft_str(&c, "param");
    craft_v2(&c, "F32", 2, two, sizeof two);
    craft_str(&c, "nested"); /* an id within an id */
    craft_param(&c, "outer");
    craft_param(&c, "inner");
    craft_v2(&c, "F32", 2, two, sizeof two);
    record = loaded(&c);
    assert_int_equal(rec_value_kind(rec_value_at(record, "own")), REC_KIND_MAP);
    assert_int_equal(rec_value_kind(rec_value_at(record, "own.value")), REC_KIND_NUMBERS);
    assert_int_equal(rec_value_kind(rec_value_at(record, "words")), REC_KIND_MAP);
    assert_int_equal(rec_value_kind(rec_value_at(record, "pair")), REC_KIND_MAP);
    assert_tensor(record, "number.param", REC_DTYPE_F32, 2, NULL, 0);
    assert_tensor(record, "nested.param", REC_DTYPE_F32, 2, "inner", 0);
    rec_record_free(record);
    craft_free(&c);
}

/* ------------------------------------------------------------------------------------------------------- V1 -- */

static const char *const uuid = "3d3a00bd-e37d-4435-9320-9cb301ab2ec9";

static void v1_types_follow_from_precision_and_numbers(void **state)
{
    static const rec_dtype floats[] = {REC_DTYPE_F64, REC_DTYPE_F32, REC_DTYPE_F16};
    static const rec_dtype ints[] = {REC_DTYPE_I64, REC_DTYPE_I32, REC_DTYPE_I16};
    uint64_t shape[] = {1, 2};
    (void)state;
    for (int precision = CRAFT_DOUBLE; precision <= CRAFT_FULL; precision++) {
        craft c = {0};
        rec_record *record;
        craft_begin(&c, "0.13.2", precision);
        craft_map(&c, 4);
        craft_str(&c, "f");
        craft_param(&c, uuid);
        craft_v1(&c, 2);
        for (int i = 0; i < 2; i++) {
            if (precision == CRAFT_DOUBLE) {
                craft_f64(&c, i + 1);
            } else {
                craft_f32(&c, (float)(i + 1));
            }
        }
        craft_shape(&c, 2, shape);
        craft_str(&c, "i");
        craft_param(&c, uuid);
        craft_v1(&c, 2);
        craft_uint(&c, 3);
        craft_int(&c, -70000);
        craft_shape(&c, 2, shape);
        craft_str(&c, "b");
        craft_param(&c, uuid);
        craft_v1(&c, 2);
        craft_bool(&c, 0);
        craft_bool(&c, 1);
        craft_shape(&c, 2, shape);
        craft_str(&c, "bare");
        craft_v1(&c, 1);
        craft_uint(&c, 3);
        craft_shape(&c, 0, shape);
        record = loaded(&c);
        assert_int_equal(rec_record_origin(record)->layout, 1);
        assert_tensor(record, "f", floats[precision], 2, uuid, 0);
        assert_tensor(record, "i", ints[precision], 2, uuid, 0);
        assert_tensor(record, "b", REC_DTYPE_BOOL, 2, uuid, 0);
        assert_tensor(record, "bare", ints[precision], 1, NULL, 0);
        assert_int_equal(rec_tensor_rank(rec_tensor_at(record, "bare")), 0);
        assert_int_equal(rec_tensor_i64(rec_tensor_at(record, "i"))[1], -70000);
        assert_true(rec_tensor_f32(rec_tensor_at(record, "f"))[1] == 2.0f);
        assert_int_equal(rec_tensor_bool(rec_tensor_at(record, "b"))[1], 1);
        {
            uint64_t size = 0;
            (void)rec_tensor_bytes(rec_tensor_at(record, "i"), &size); /* as wide as its type, however packed */
            assert_int_equal(size, 2 * rec_dtype_bits(ints[precision]) / 8);
        }
        rec_record_free(record);
        craft_free(&c);
    }
}

static void craft_half(craft *c, const char *name, uint64_t count, const int64_t *numbers)
{
    craft_str(c, name);
    craft_param(c, uuid);
    craft_v1(c, count);
    for (uint64_t i = 0; i < count; i++) {
        craft_int(c, numbers[i]);
    }
    craft_shape(c, 1, &count);
}

static void v1_half_tells_floats_from_integers_where_it_can(void **state)
{
    static const int64_t negative[] = {-1, 5}, high[] = {0xbc00, 0x3c00}, unclear[] = {0x3c00, 0x4000},
                         bytes[] = {1, 0};
    craft c = {0};
    rec_record *record;
    (void)state;
    craft_begin(&c, "0.13.2", CRAFT_HALF);
    craft_map(&c, 5);
    craft_half(&c, "negative", 2, negative);
    craft_half(&c, "high", 2, high);
    craft_half(&c, "unclear", 2, unclear);
    craft_half(&c, "bytes", 2, bytes);
    craft_half(&c, "empty", 0, bytes);
    record = loaded(&c);
    assert_int_equal(rec_report_count(), 1);
    assert_int_equal(rec_report_note(0)->kind, REC_NOTE_ASSUMED);
    assert_int_equal(rec_report_note(0)->count, 3);
    assert_string_equal(rec_report_note(0)->text, "the file does not record whether 3 of its tensors hold floats or "
                                                  "integers: floats are assumed");
    assert_tensor(record, "negative", REC_DTYPE_I16, 2, uuid, 0);
    assert_tensor(record, "high", REC_DTYPE_F16, 2, uuid, 0);
    assert_tensor(record, "unclear", REC_DTYPE_F16, 2, uuid, 1);
    assert_tensor(record, "bytes", REC_DTYPE_F16, 2, uuid, 1);
    assert_tensor(record, "empty", REC_DTYPE_F16, 0, uuid, 1);
    assert_int_equal(rec_tensor_i32(rec_tensor_at(record, "negative"))[0], -1);
    assert_true(rec_tensor_f32(rec_tensor_at(record, "high"))[0] == -1.0f);
    assert_true(rec_tensor_f32(rec_tensor_at(record, "unclear"))[1] == 2.0f);
    assert_int_equal(rec_tensor_f16(rec_tensor_at(record, "bytes"))[0], 1);
    rec_record_free(record);
    craft_free(&c);
}

static void v1_numbers_that_no_type_holds_are_refused(void **state)
{
    static const int64_t both[] = {-1, 40000}, high[] = {65536, 0}, low[] = {-40000, 0};
    static const int64_t wide[] = {3000000000, 0};
    uint64_t shape[] = {2};
    craft c = {0};
    (void)state;
    craft_begin(&c, "0.13.2", CRAFT_HALF);
    craft_map(&c, 1);
    craft_half(&c, "w", 2, both);
    refused(&c, "w: expected i16, or the bits of f16 (the file is of half precision), "
                "found -1 and 40000 in one tensor");
    craft_begin(&c, "0.13.2", CRAFT_HALF);
    craft_map(&c, 1);
    craft_half(&c, "w", 2, high);
    refused(&c, "w: expected i16, or the bits of f16 (the file is of half precision), "
                "found 65536");
    craft_begin(&c, "0.13.2", CRAFT_HALF);
    craft_map(&c, 1);
    craft_half(&c, "w", 2, low);
    refused(&c, "w: expected i16, or the bits of f16 (the file is of half precision), "
                "found -40000");
    craft_begin(&c, "0.13.2", CRAFT_FULL);
    craft_map(&c, 1);
    craft_half(&c, "w", 2, wide);
    refused(&c, "w: expected i32 (the file is of full precision), found 3000000000");
    craft_begin(&c, "0.13.2", CRAFT_DOUBLE);
    craft_v1(&c, 2);
    craft_uint(&c, UINT64_MAX);
    craft_uint(&c, 0);
    craft_shape(&c, 1, shape);
    refused(&c, "expected i64, found 18446744073709551615");
    craft_begin(&c, "0.13.2", CRAFT_DOUBLE);
    craft_v1(&c, 2);
    craft_uint(&c, UINT64_MAX);
    craft_int(&c, -1);
    craft_shape(&c, 1, shape);
    refused(&c, "expected i64, found 18446744073709551615");
}

static void v1_floats_may_be_mixed_with_integers(void **state)
{
    uint64_t shape[] = {3};
    craft c = {0};
    rec_record *record;
    const double *values;
    (void)state;
    craft_begin(&c, "0.13.2", CRAFT_DOUBLE);
    craft_v1(&c, 3);
    craft_uint(&c, 1);
    craft_f64(&c, 2.5);
    craft_nil(&c);
    craft_shape(&c, 1, shape);
    record = loaded(&c);
    assert_tensor(record, "", REC_DTYPE_F64, 3, NULL, 0);
    values = rec_tensor_f64(rec_tensor_at(record, ""));
    assert_true(values[0] == 1.0 && values[1] == 2.5 && values[2] != values[2]);
    rec_record_free(record);
    craft_free(&c);
}

static void up_to_0_11_whole_numbers_may_be_integers(void **state)
{
    uint64_t shape[] = {2};
    (void)state;
    for (int version = 10; version < 13; version++) {
        craft c = {0};
        rec_record *record;
        char text[16];
        (void)snprintf(text, sizeof text, "0.%d.0", version);
        craft_begin(&c, text, CRAFT_FULL);
        craft_map(&c, 2);
        craft_str(&c, "whole");
        craft_param(&c, uuid);
        craft_v1(&c, 2);
        craft_f32(&c, 1);
        craft_f32(&c, -3);
        craft_shape(&c, 1, shape);
        craft_str(&c, "bare");
        craft_v1(&c, 2);
        craft_f32(&c, 1);
        craft_f32(&c, 0.5);
        craft_shape(&c, 1, shape);
        record = loaded(&c);
        assert_tensor(record, "whole", REC_DTYPE_F32, 2, uuid, version == 11); /* integer parameters came with 0.11 */
        assert_tensor(record, "bare", REC_DTYPE_F32, 2, NULL, 0);
        rec_record_free(record);
        craft_free(&c);
    }
}

/* --------------------------------------------------------------------------------------------------- the frame -- */

static void metadata_may_come_after_the_item(void **state)
{
    static const int64_t high[] = {0xbc00, 0x3c00};
    craft c = {0};
    rec_recorder *recorder;
    rec_record *record;
    (void)state;
    craft_map(&c, 3);
    craft_str(&c, "item");
    craft_map(&c, 1);
    craft_half(&c, "w", 2, high);
    craft_str(&c, "_b");
    craft_list(&c, 0);
    craft_str(&c, "metadata");
    craft_metadata(&c, "0.13.2", CRAFT_HALF);
    craft_raw(&c, "tail", 4);
    recorder = rec_open_recorder("NamedMpk", REC_PRECISION_KEEP);
    assert_int_equal(rec_recorder_set(recorder, "trailing", "ignore"), REC_OK);
    record = rec_load_bytes(recorder, c.data, c.size);
    rec_close_recorder(recorder);
    assert_non_null(record);
    assert_int_equal(rec_report_count(), 1); /* what both passes saw is said once */
    assert_int_equal(rec_report_note(0)->kind, REC_NOTE_TRAILING);
    assert_tensor(record, "w", REC_DTYPE_F16, 2, uuid, 0); /* not i64: it was read again */
    assert_string_equal(rec_metadata(record, "version"), "0.13.2");
    rec_record_free(record);
    craft_free(&c);
}

static void a_user_struct_may_come_before_the_metadata(void **state)
{
    uint64_t shape[] = {7}; /* which would not fit a tensor of 0.13 */
    craft c = {0};
    rec_record *record;
    (void)state;
    craft_map(&c, 2);
    craft_str(&c, "item");
    craft_v1(&c, 1);
    craft_uint(&c, 1);
    craft_shape(&c, 1, shape);
    craft_str(&c, "metadata");
    craft_metadata(&c, "0.21.0", CRAFT_FULL);
    record = loaded(&c);
    assert_int_equal(rec_value_kind(rec_root(record)), REC_KIND_MAP);
    rec_record_free(record);
    craft_free(&c);
}

static void unknown_entries_of_the_frame_are_left_out_with_a_word(void **state)
{
    craft c = {0};
    rec_record *record;
    (void)state;
    craft_map(&c, 4);
    craft_str(&c, "metadata");
    craft_metadata(&c, "0.21.0", CRAFT_FULL);
    craft_str(&c, "item");
    craft_uint(&c, 5);
    craft_str(&c, "extra");
    craft_uint(&c, 1);
    craft_str(&c, "_b");
    craft_nil(&c); /* whatever it is */
    record = loaded(&c);
    assert_int_equal(rec_value_scalar(rec_root(record)).v.u, 5);
    assert_int_equal(rec_report_count(), 1);
    assert_int_equal(rec_report_note(0)->kind, REC_NOTE_DROPPED);
    assert_string_equal(rec_report_note(0)->path, "extra");
    rec_record_free(record);
    craft_free(&c);
}

static void unknown_metadata_is_kept(void **state)
{
    craft c = {0};
    rec_record *record, *again;
    rec_recorder *recorder = rec_open_recorder("NamedMpk", REC_PRECISION_DOUBLE);
    void *bytes;
    uint64_t size;
    (void)state;
    craft_map(&c, 2);
    craft_str(&c, "metadata");
    craft_map(&c, 3);
    craft_str(&c, "author");
    craft_str(&c, "me");
    craft_str(&c, "version");
    craft_str(&c, "0.18.0");
    craft_str(&c, "licence");
    craft_str(&c, "MIT");
    craft_str(&c, "item");
    craft_nil(&c);
    record = loaded(&c);
    assert_int_equal(rec_metadata_count(record), 3);
    assert_int_equal(rec_save_bytes(recorder, record, &bytes, &size), REC_OK);
    again = rec_load_bytes(recorder, bytes, size);
    assert_int_equal(rec_metadata_count(again), 7);
    assert_string_equal(rec_metadata(again, "author"), "me");
    assert_string_equal(rec_metadata(again, "licence"), "MIT");
    assert_string_equal(rec_metadata(again, "version"), "0.21.0");
    assert_string_equal(rec_metadata(again, "float"), "f64");
    assert_string_equal(rec_metadata(again, "format"),
                        "burn_core::record::file::NamedMpkFileRecorder<burn_core::record::settings::"
                        "DoublePrecisionSettings>");
    rec_record_free(again);
    rec_record_free(record);
    rec_free(bytes);
    rec_close_recorder(recorder);
    craft_free(&c);
}

static void a_version_that_is_no_burn_version_is_taken_as_unknown(void **state)
{
    static const char *const versions[] = {"1.2.3", "", "0.", "0.x", "0.99999999999"};
    (void)state;
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
        craft c = {0};
        rec_record *record;
        craft_begin(&c, versions[i], CRAFT_FULL);
        craft_v2(&c, "F32", 2, two, sizeof two);
        record = loaded(&c);
        assert_tensor(record, "", REC_DTYPE_F32, 2, NULL, 0);
        assert_int_equal(rec_record_origin(record)->layout, 0);
        rec_record_free(record);
        craft_free(&c);
    }
}

/* ----------------------------------------------------------------------------------------------- files of Burn -- */

static const char *const versions[] = {"0.13.2", "0.14.0", "0.16.1", "0.18.0", "0.21.0"};
static const char *const cases[] = {"tiny", "zoo", "plain", "adam", "constant", "noam"};
static const char *const words[] = {"double", "full", "half"};

static const char *golden(char *path, size_t room, const char *version, const char *name, const char *word)
{
    const char *srcdir = getenv("srcdir");
    (void)snprintf(path, room, "%s/tests/data/burn/%s/%s-%s.mpk", srcdir ? srcdir : ".", version, name, word);
    return path;
}

/* Types and ids of all tensors of a file as it is stored. */
static void check_golden(const rec_record *record, size_t version, size_t precision, const char *path)
{
    static const rec_dtype floats[] = {REC_DTYPE_F64, REC_DTYPE_F32, REC_DTYPE_F16};
    static const rec_dtype ints[] = {REC_DTYPE_I64, REC_DTYPE_I32, REC_DTYPE_I16};
    size_t id_length = version == 0 ? 36 : version == 1 ? 10 : 13;
    rec_iterator *iterator = rec_iterate(record);
    const rec_tensor *tensor;
    const char *at;
    while ((tensor = rec_iterator_next_tensor(iterator, &at)) != NULL) {
        rec_dtype dtype = rec_tensor_stored_dtype(tensor);
        if (dtype != REC_DTYPE_BOOL && dtype != floats[precision] && dtype != ints[precision]) {
            fail_msg("%s: %s is of %s", path, at, rec_dtype_name(dtype));
        }
        if (rec_tensor_id(tensor) && strlen(rec_tensor_id(tensor)) != id_length) {
            fail_msg("%s: %s has the id %s", path, at, rec_tensor_id(tensor));
        }
        if (rec_tensor_assumed(tensor) && version > 0) {
            fail_msg("%s: %s was assumed", path, at);
        }
    }
    rec_iterator_free(iterator);
}

static char kind_at(const rec_record *record, const char *path)
{
    rec_dtype dtype = rec_tensor_dtype(rec_tensor_at(record, path));
    return dtype == REC_DTYPE_BOOL ? 'b' : dtype <= REC_DTYPE_BF16 ? 'f' : 'i';
}

static void files_of_burn_are_what_they_say(void **state)
{
    (void)state;
    for (size_t v = 0; v < 5; v++) {
        for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
            for (size_t p = 0; p < 3; p++) {
                char path[600];
                rec_recorder *recorder = rec_open_recorder("NamedMpk", REC_PRECISION_KEEP);
                rec_record *record = rec_load(recorder, golden(path, sizeof path, versions[v], cases[n], words[p]));
                if (!record) {
                    fail_msg("%s", rec_error_message());
                }
                assert_int_equal(rec_record_origin(record)->layout, v == 0 ? 1 : 2);
                assert_int_equal(strncmp(rec_metadata(record, "version"), versions[v], 4), 0);
                check_golden(record, v, p, path);
                if (strcmp(cases[n], "zoo") == 0) {
                    assert_int_equal(kind_at(record, "ids"), 'i');
                    assert_int_equal(kind_at(record, "mask"), 'b');
                    assert_int_equal(kind_at(record, "head_a.Dense.weight"), 'f');
                    assert_int_equal(rec_value_kind(rec_value_at(record, "none")), REC_KIND_NIL);
                    assert_int_equal(rec_value_count(rec_value_at(record, "empty")), 0);
                }
                rec_record_free(record);
                rec_close_recorder(recorder);
            }
        }
    }
}

static void assert_same_tensors(const rec_record *a, const rec_record *b, const char *name)
{
    rec_iterator *iterator = rec_iterate(a);
    const rec_tensor *tensor;
    const char *at;
    uint64_t count = 0;
    while ((tensor = rec_iterator_next_tensor(iterator, &at)) != NULL) {
        const rec_tensor *other = rec_tensor_at(b, at);
        uint64_t size, other_size;
        const void *bytes = rec_tensor_bytes(tensor, &size), *other_bytes;
        if (!other || rec_tensor_dtype(tensor) != rec_tensor_dtype(other)) {
            fail_msg("%s: %s is missing or of another type", name, at);
        }
        other_bytes = rec_tensor_bytes(other, &other_size);
        assert_int_equal(size, other_size);
        assert_memory_equal(bytes, other_bytes, (size_t)size);
        assert_int_equal(rec_tensor_id(tensor) == NULL, rec_tensor_id(other) == NULL);
        if (rec_tensor_id(tensor)) {
            assert_string_equal(rec_tensor_id(tensor), rec_tensor_id(other));
        }
        count++;
    }
    rec_iterator_free(iterator);
    assert_true(count > 0);
}

static void the_default_layout_is_that_of_0_21(void **state)
{
    static const char *const names[] = {"tiny", "zoo", "plain", "adam"};
    (void)state;
    for (size_t v = 0; v < 5; v++) {
        for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
            for (size_t p = 0; p < 3; p++) {
                char path[600];
                rec_recorder *recorder = rec_open_recorder("NamedMpk", REC_PRECISION_KEEP);
                rec_record *record = rec_load(recorder, golden(path, sizeof path, versions[v], names[n], words[p]));
                rec_record *again;
                uint8_t *bytes;
                void *saved;
                uint64_t size;
                assert_non_null(record);
                if (rec_save_bytes(recorder, record, &saved, &size) != REC_OK) {
                    fail_msg("%s: %s", path, rec_error_message());
                }
                bytes = saved;
                assert_int_equal(bytes[0], 0x83); /* metadata, item, _b */
                assert_memory_equal(bytes + size - 4, "\xa2_b\x90", 4);
                again = rec_load_bytes(recorder, saved, size);
                assert_int_equal(rec_record_origin(again)->layout, 2);
                assert_string_equal(rec_metadata(again, "version"), "0.21.0");
                assert_same_tensors(record, again, path);
                rec_record_free(again);
                rec_record_free(record);
                rec_free(saved);
                rec_close_recorder(recorder);
            }
        }
    }
}

static void a_record_loaded_at_a_precision_is_kept_at_that(void **state)
{
    static const rec_precision precisions[] = {REC_PRECISION_DOUBLE, REC_PRECISION_FULL, REC_PRECISION_HALF};
    static const char *const floats[] = {"f64", "f32", "half::binary16::f16"};
    rec_recorder *keep = rec_open_recorder("NamedMpk", REC_PRECISION_KEEP);
    (void)state;
    assert_int_equal(rec_recorder_set(keep, "layout", "keep"), REC_OK);
    for (size_t v = 0; v < 5; v += 4) { /* in both layouts */
        for (size_t p = 0; p < 3; p++) {
            char path[600];
            rec_recorder *recorder = rec_open_recorder("NamedMpk", precisions[p]);
            rec_record *record = rec_load(recorder, golden(path, sizeof path, versions[v], "tiny", "full")), *again;
            void *saved;
            uint64_t size;
            const rec_tensor *tensor;
            float first = rec_tensor_f32(rec_tensor_at(record, "linear.weight"))[0];
            assert_string_equal(rec_metadata(record, "float"), "f32"); /* what the file said */
            assert_int_equal(rec_save_bytes(keep, record, &saved, &size), REC_OK);
            again = rec_load_bytes(keep, saved, size);
            assert_string_equal(rec_metadata(again, "float"), floats[p]);
            tensor = rec_tensor_at(again, "linear.weight");
            assert_int_equal(rec_tensor_stored_dtype(tensor), rec_tensor_dtype(rec_tensor_at(record, "linear.weight")));
            assert_true(rec_tensor_f32(tensor)[0] == first);
            rec_record_free(again);
            rec_record_free(record);
            rec_free(saved);
            rec_close_recorder(recorder);
        }
    }
    rec_close_recorder(keep);
}

static void a_v1_file_has_one_precision(void **state)
{
    double number[] = {1};
    uint64_t one[] = {1};
    char path[600];
    rec_tensor_spec spec = {.size = sizeof spec,
                            .dtype = REC_DTYPE_F64,
                            .rank = 1,
                            .shape = one,
                            .data = little(number, sizeof *number, 1),
                            .data_size = 8};
    rec_recorder *recorder = rec_open_recorder("NamedMpk", REC_PRECISION_KEEP);
    rec_record *record = rec_load(recorder, golden(path, sizeof path, "0.13.2", "tiny", "full"));
    void *saved;
    uint64_t size;
    (void)state;
    assert_int_equal(rec_recorder_set(recorder, "layout", "keep"), REC_OK);
    assert_int_equal(rec_set_tensor(record, "more", &spec), REC_OK);
    assert_int_equal(rec_save_bytes(recorder, record, &saved, &size), REC_E_UNSUPPORTED);
    assert_string_equal(rec_error_message(),
                        "(memory): more: a tensor of f64 in a record of full precision: a file of Burn 0.13 has one "
                        "precision\n  Save it at half, full or double precision instead of keeping it.");
    rec_record_free(record);
    rec_close_recorder(recorder);
}

static void every_file_of_burn_is_written_as_it_was(void **state)
{
    const char *srcdir = getenv("srcdir");
    char pattern[600];
    glob_t found;
    rec_recorder *recorder = rec_open_recorder("NamedMpk", REC_PRECISION_KEEP);
    (void)state;
    assert_int_equal(rec_recorder_set(recorder, "layout", "keep"), REC_OK);
    (void)snprintf(pattern, sizeof pattern, "%s/tests/data/burn/*/*.mpk", srcdir ? srcdir : ".");
    assert_int_equal(glob(pattern, 0, NULL, &found), 0);
    assert_true(found.gl_pathc >= 90);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        rec_record *record = rec_load(recorder, found.gl_pathv[i]);
        FILE *file = fopen(found.gl_pathv[i], "rb");
        void *saved = NULL;
        uint8_t *original;
        uint64_t size = 0;
        if (!record || !file || rec_save_bytes(recorder, record, &saved, &size) != REC_OK) {
            fail_msg("%s", rec_error_message());
        }
        original = malloc((size_t)(size + 1));
        assert_non_null(original);
        if (fread(original, 1, (size_t)(size + 1), file) != size || memcmp(original, saved, (size_t)size) != 0) {
            fail_msg("%s comes back otherwise", found.gl_pathv[i]);
        }
        (void)fclose(file);
        free(original);
        rec_free(saved);
        rec_record_free(record);
    }
    globfree(&found);
    rec_close_recorder(recorder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_parameter_and_a_bare_tensor_are_recognised),
        cmocka_unit_test(the_order_of_fields_does_not_matter),
        cmocka_unit_test(bytes_may_be_a_list_of_numbers),
        cmocka_unit_test(bool_stores_of_0_21_are_told_apart),
        cmocka_unit_test(an_unknown_element_type_is_carried_bit_for_bit),
        cmocka_unit_test(a_quantised_tensor_is_carried_bit_for_bit),
        cmocka_unit_test(what_only_looks_like_a_tensor_stays_what_it_is),
        cmocka_unit_test(v1_types_follow_from_precision_and_numbers),
        cmocka_unit_test(v1_half_tells_floats_from_integers_where_it_can),
        cmocka_unit_test(v1_numbers_that_no_type_holds_are_refused),
        cmocka_unit_test(v1_floats_may_be_mixed_with_integers),
        cmocka_unit_test(up_to_0_11_whole_numbers_may_be_integers),
        cmocka_unit_test(metadata_may_come_after_the_item),
        cmocka_unit_test(a_user_struct_may_come_before_the_metadata),
        cmocka_unit_test(unknown_entries_of_the_frame_are_left_out_with_a_word),
        cmocka_unit_test(unknown_metadata_is_kept),
        cmocka_unit_test(a_version_that_is_no_burn_version_is_taken_as_unknown),
        cmocka_unit_test(files_of_burn_are_what_they_say),
        cmocka_unit_test(the_default_layout_is_that_of_0_21),
        cmocka_unit_test(a_record_loaded_at_a_precision_is_kept_at_that),
        cmocka_unit_test(a_v1_file_has_one_precision),
        cmocka_unit_test(every_file_of_burn_is_written_as_it_was),
    };
    return cmocka_run_group_tests_name("Burn's layouts", tests, NULL, NULL);
}
