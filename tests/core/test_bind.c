/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Binding records to C structs: every kind of field that librecord.h's macros make, and every mistake told at once. */
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

/* ------------------------------------------------------------------------------------------------------- types -- */

#define LINEAR_FIELDS(F, T) F(T, PARAM, weight, 2) F(T, OPTION_PARAM, bias, 1)
REC_DEFINE_STRUCT(LINEAR, LINEAR_FIELDS)

#define HEAD_VARIANTS(F, T) F(T, VARIANT, Dense, LINEAR) F(T, UNIT_VARIANT, Act) F(T, VARIANT, Other, LINEAR)
REC_DEFINE_ENUM(HEAD, HEAD_VARIANTS)

#define TENSORS_FIELDS(F, T)      \
    F(T, PARAM, a, 2, 2, 3)       \
    F(T, OPTION_PARAM, b, 1)      \
    F(T, TENSOR, c, 1, 0)         \
    F(T, OPTION_TENSOR, d, 3)     \
    F(T, INT_PARAM, e, 1)         \
    F(T, OPTION_INT_PARAM, f, 1)  \
    F(T, INT_TENSOR, g, 1)        \
    F(T, OPTION_INT_TENSOR, h, 1) \
    F(T, BOOL_PARAM, i, 1)        \
    F(T, OPTION_BOOL_PARAM, j, 1) \
    F(T, BOOL_TENSOR, k, 1)       \
    F(T, OPTION_BOOL_TENSOR, l, 1)
REC_DEFINE_STRUCT(TENSORS, TENSORS_FIELDS)

#define SCALARS_FIELDS(F, T) \
    F(T, BOOL, yes)          \
    F(T, U8, u8)             \
    F(T, U16, u16)           \
    F(T, U32, u32)           \
    F(T, U64, u64)           \
    F(T, USIZE, usize)       \
    F(T, I8, i8)             \
    F(T, I16, i16)           \
    F(T, I32, i32)           \
    F(T, I64, i64)           \
    F(T, F32, f32)           \
    F(T, F64, f64)           \
    F(T, STRING, text)       \
    F(T, VALUE, value)       \
    F(T, CONSTANT, constant)
REC_DEFINE_STRUCT(SCALARS, SCALARS_FIELDS)

#define MODEL_FIELDS(F, T)           \
    F(T, CHILD, fc, LINEAR)          \
    F(T, OPTION_CHILD, some, LINEAR) \
    F(T, OPTION_CHILD, none, LINEAR) \
    F(T, LIST, blocks, LINEAR)       \
    F(T, LIST, empty, LINEAR)        \
    F(T, ARRAY, pair, LINEAR, 2)     \
    F(T, CHILD, head, HEAD)          \
    F(T, LIST, heads, HEAD)          \
    F(T, CONSTANT, dropout)          \
    F(T, USIZE, steps)
REC_DEFINE_STRUCT(MODEL, MODEL_FIELDS)

/* ----------------------------------------------------------------------------------------------------- records -- */

/* @param data numbers of this processor. */
static void put(rec_record *record, const char *path, rec_dtype dtype, uint32_t rank, const uint64_t *shape,
                const void *data, size_t size)
{
    uint8_t stored[64];
    size_t width = rec_dtype_bits(dtype) / 8;
    rec_tensor_spec spec = {
        .size = sizeof spec, .dtype = dtype, .rank = rank, .shape = shape, .data = stored, .data_size = size};
    assert_true(size <= sizeof stored);
    memcpy(stored, data, size);
    little(stored, width, size / width);
    if (rec_set_tensor(record, path, &spec) != REC_OK) {
        fail_msg("%s", rec_error_message());
    }
}

static void put_linear(rec_record *record, const char *path, float first, int bias)
{
    float weight[6] = {first, 1, 2, 3, 4, 5};
    uint64_t shape[] = {2, 3}, three[] = {3};
    char name[128];
    (void)snprintf(name, sizeof name, "%s.weight", path);
    assert_int_equal(rec_set_f32(record, name, weight, 2, shape), REC_OK);
    (void)snprintf(name, sizeof name, "%s.bias", path);
    assert_int_equal(bias ? rec_set_f32(record, name, weight, 1, three) : rec_set_nil(record, name), REC_OK);
}

static rec_record *new_model(void)
{
    rec_record *record = rec_record_new(NULL);
    assert_non_null(record);
    put_linear(record, "fc", 10, 1);
    put_linear(record, "some", 11, 0);
    assert_int_equal(rec_set_nil(record, "none"), REC_OK);
    put_linear(record, "blocks.0", 20, 1);
    put_linear(record, "blocks.1", 21, 0);
    put_linear(record, "blocks.2", 22, 1);
    assert_int_equal(rec_set_empty(record, "empty", REC_KIND_LIST), REC_OK);
    put_linear(record, "pair.0", 30, 1);
    put_linear(record, "pair.1", 31, 1);
    put_linear(record, "head.Other", 40, 1);
    assert_int_equal(rec_set_string(record, "heads.0", "Act"), REC_OK);
    put_linear(record, "heads.1.Dense", 41, 1);
    assert_int_equal(rec_set_nil(record, "dropout"), REC_OK);
    assert_int_equal(rec_set_uint(record, "steps", 7), REC_OK);
    assert_int_equal(rec_set_nil(record, "another_constant"), REC_OK); /* nil is never unexpected */
    return record;
}

static rec_record *new_scalars(void)
{
    rec_record *record = rec_record_new(NULL);
    assert_int_equal(rec_set_bool(record, "yes", 1), REC_OK);
    assert_int_equal(rec_set_uint(record, "u8", UINT8_MAX), REC_OK);
    assert_int_equal(rec_set_uint(record, "u16", UINT16_MAX), REC_OK);
    assert_int_equal(rec_set_uint(record, "u32", UINT32_MAX), REC_OK);
    assert_int_equal(rec_set_uint(record, "u64", UINT64_MAX), REC_OK);
    assert_int_equal(rec_set_int(record, "usize", 5), REC_OK); /* signed, and not negative */
    assert_int_equal(rec_set_int(record, "i8", INT8_MIN), REC_OK);
    assert_int_equal(rec_set_int(record, "i16", INT16_MIN), REC_OK);
    assert_int_equal(rec_set_int(record, "i32", INT32_MIN), REC_OK);
    assert_int_equal(rec_set_int(record, "i64", INT64_MIN), REC_OK);
    assert_int_equal(rec_set_float(record, "f32", 0.1), REC_OK);
    assert_int_equal(rec_set_uint(record, "f64", 3), REC_OK); /* a whole number is a number */
    assert_int_equal(rec_set_string(record, "text", "hello"), REC_OK);
    assert_int_equal(rec_set_uint(record, "value.0", 9), REC_OK);
    return record;
}

/* Binds what must not fit: the target stays as it was. */
static void misfit(const rec_record *record, const char *path, const rec_type *type, void *target, size_t size,
                   uint32_t flags, const char *message)
{
    memset(target, 0x5a, size);
    assert_null(rec_bind_at(record, path, type, target, flags));
    assert_int_equal(rec_error_status(), REC_E_MISMATCH);
    assert_string_equal(rec_error_message(), message);
    for (size_t i = 0; i < size; i++) {
        assert_int_equal(((uint8_t *)target)[i], 0x5a);
    }
}

static void assert_note(uint64_t index, int32_t kind, const char *path, const char *text)
{
    const rec_note *note = rec_report_note(index);
    assert_non_null(note);
    assert_int_equal(note->kind, kind);
    assert_string_equal(note->path, path);
    assert_string_equal(note->text, text);
    assert_int_equal(note->count, 1);
}

/* ------------------------------------------------------------------------------------------------------ filled -- */

static void structs_lists_options_and_enums_are_filled(void **state)
{
    rec_record *record = new_model();
    MODEL m;
    rec_binding *binding = rec_bind(record, &MODEL_type, &m);
    (void)state;
    if (!binding) {
        fail_msg("%s", rec_error_message());
    }
    assert_int_equal(rec_report_count(), 0);
    assert_true(m.fc.weight.data[0] == 10.0f && m.fc.weight.data[5] == 5.0f);
    assert_int_equal(m.fc.weight.count, 6);
    assert_true(m.fc.weight.shape[0] == 2 && m.fc.weight.shape[1] == 3);
    assert_ptr_equal(m.fc.weight.tensor, rec_tensor_at(record, "fc.weight"));
    assert_ptr_equal(m.fc.weight.data, rec_tensor_f32(rec_tensor_at(record, "fc.weight"))); /* no copy */
    assert_int_equal(m.fc.bias.count, 3);
    assert_non_null(m.some);
    assert_true(m.some->weight.data[0] == 11.0f);
    assert_null(m.some->bias.data);
    assert_null(m.some->bias.tensor);
    assert_null(m.none);
    assert_int_equal(m.blocks_count, 3);
    assert_true(m.blocks[0].weight.data[0] == 20.0f && m.blocks[2].weight.data[0] == 22.0f);
    assert_null(m.blocks[1].bias.data);
    assert_int_equal(m.empty_count, 0);
    assert_true(m.pair[0].weight.data[0] == 30.0f && m.pair[1].weight.data[0] == 31.0f);
    assert_int_equal(m.head.variant, 2);
    assert_null(m.head.Dense);
    assert_true(m.head.Other->weight.data[0] == 40.0f);
    assert_int_equal(m.heads_count, 2);
    assert_int_equal(m.heads[0].variant, 1);
    assert_null(m.heads[0].Dense);
    assert_int_equal(m.heads[1].variant, 0);
    assert_true(m.heads[1].Dense->weight.data[0] == 41.0f);
    assert_int_equal(m.steps, 7);
    rec_binding_free(binding);
    rec_binding_free(NULL);
    rec_record_free(record);
}

static void scalars_are_filled_to_their_limits(void **state)
{
    rec_record *record = new_scalars();
    SCALARS s;
    rec_binding *binding = rec_bind(record, &SCALARS_type, &s);
    (void)state;
    if (!binding) {
        fail_msg("%s", rec_error_message());
    }
    assert_int_equal(s.yes, 1);
    assert_true(s.u8 == UINT8_MAX && s.u16 == UINT16_MAX && s.u32 == UINT32_MAX && s.u64 == UINT64_MAX && s.usize == 5);
    assert_true(s.i8 == INT8_MIN && s.i16 == INT16_MIN && s.i32 == INT32_MIN && s.i64 == INT64_MIN);
    assert_true(s.f32 == 0.1f && s.f64 == 3.0);
    assert_string_equal(s.text, "hello");
    assert_ptr_equal(s.value, rec_value_at(record, "value"));
    rec_binding_free(binding);
    /* A VALUE takes nil as well, but must be there. */
    assert_int_equal(rec_clear(record, "value"), REC_OK);
    binding = rec_bind(record, &SCALARS_type, &s);
    assert_non_null(binding);
    assert_int_equal(rec_value_kind(s.value), REC_KIND_NIL);
    rec_binding_free(binding);
    /* An integer becomes a float in one rounding: by way of a double the first would be 2^53. */
    assert_int_equal(rec_set_uint(record, "f32", UINT64_C(9007199791611905)), REC_OK);
    assert_int_equal(rec_set_int(record, "f64", INT64_C(-9007199254740993)), REC_OK);
    binding = rec_bind(record, &SCALARS_type, &s);
    assert_non_null(binding);
    assert_true(s.f32 == 0x1.000002p53f && s.f64 == -0x1p53);
    rec_binding_free(binding);
    assert_int_equal(rec_remove(record, "value"), REC_OK);
    misfit(record, "", &SCALARS_type, &s, sizeof s, 0,
           "the record does not fit the type SCALARS: 1 mistake\n  value: is missing");
    rec_record_free(record);
}

static void every_kind_of_tensor_is_filled(void **state)
{
    static const float floats[] = {1, 2, 3, 4, 5, 6};
    static const int16_t ints[] = {-1, 2};
    static const uint8_t flags[] = {1, 0};
    uint64_t two_three[] = {2, 3}, two[] = {2}, cube[] = {1, 2, 3};
    rec_record *record = rec_record_new(NULL);
    TENSORS t;
    rec_binding *binding;
    (void)state;
    put(record, "a", REC_DTYPE_F32, 2, two_three, floats, sizeof floats);
    put(record, "b", REC_DTYPE_F32, 1, two, floats, 8);
    put(record, "c", REC_DTYPE_F32, 1, two, floats, 8);
    put(record, "d", REC_DTYPE_F32, 3, cube, floats, sizeof floats);
    put(record, "e", REC_DTYPE_I16, 1, two, ints, sizeof ints);
    put(record, "f", REC_DTYPE_I16, 1, two, ints, sizeof ints);
    put(record, "g", REC_DTYPE_I16, 1, two, ints, sizeof ints);
    put(record, "h", REC_DTYPE_U8, 1, two, flags, sizeof flags);
    put(record, "i", REC_DTYPE_BOOL, 1, two, flags, sizeof flags);
    put(record, "j", REC_DTYPE_BOOL, 1, two, flags, sizeof flags);
    put(record, "k", REC_DTYPE_BOOL8, 1, two, flags, sizeof flags);
    put(record, "l", REC_DTYPE_BOOL, 1, two, flags, sizeof flags);
    binding = rec_bind(record, &TENSORS_type, &t);
    if (!binding) {
        fail_msg("%s", rec_error_message());
    }
    assert_true(t.a.data[5] == 6.0f && t.b.data[1] == 2.0f && t.c.count == 2 && t.d.shape[2] == 3);
    assert_true(t.e.data[0] == -1 && t.f.data[1] == 2 && t.g.count == 2 && t.h.data[0] == 1);
    assert_true(t.i.data[0] == 1 && t.j.data[1] == 0 && t.k.data[0] == 1 && t.l.count == 2);
    rec_binding_free(binding);
    for (const char *c = "bdfhjl"; *c; c++) {
        char path[2] = {*c, '\0'};
        assert_int_equal(rec_remove(record, path), REC_OK);
    }
    binding = rec_bind(record, &TENSORS_type, &t);
    assert_non_null(binding);
    assert_true(!t.b.data && !t.d.data && !t.f.data && !t.h.data && !t.j.data && !t.l.data);
    assert_true(t.b.count == 0 && !t.b.tensor);
    rec_binding_free(binding);
    rec_record_free(record);
}

static void a_part_of_a_record_is_bound_by_its_path(void **state)
{
    rec_record *record = new_model();
    LINEAR linear;
    HEAD head;
    rec_binding *binding = rec_bind_at(record, "blocks.2", &LINEAR_type, &linear, REC_BIND_STRICT);
    (void)state;
    assert_non_null(binding);
    assert_true(linear.weight.data[0] == 22.0f);
    rec_binding_free(binding);
    binding = rec_bind_at(record, "head", &HEAD_type, &head, REC_BIND_STRICT);
    assert_non_null(binding);
    assert_int_equal(head.variant, 2);
    rec_binding_free(binding);
    assert_null(rec_bind_at(record, "block.2", &LINEAR_type, &linear, REC_BIND_STRICT));
    assert_int_equal(rec_error_status(), REC_E_NOT_FOUND);
    assert_string_equal(rec_error_message(), "block.2: the record has no such key\n  Did you mean blocks?");
    misfit(record, "blocks", &LINEAR_type, &linear, sizeof linear, 0,
           "the record does not fit the type LINEAR: 1 mistake\n  blocks: expected a LINEAR, found a list");
    misfit(record, "steps", &HEAD_type, &head, sizeof head, 0,
           "the record does not fit the type HEAD: 1 mistake\n  steps: expected a variant of HEAD, found an unsigned "
           "integer");
    rec_record_free(record);
}

static void a_record_outlives_its_bindings(void **state)
{
    rec_record *record = new_model();
    MODEL a, b;
    rec_binding *first = rec_bind(record, &MODEL_type, &a), *second = rec_bind(record, &MODEL_type, &b);
    (void)state;
    assert_ptr_equal(a.fc.weight.data, b.fc.weight.data);
    assert_ptr_not_equal(a.blocks, b.blocks); /* each has its own */
    rec_binding_free(first);
    assert_true(b.blocks[1].weight.data[0] == 21.0f);
    rec_binding_free(second);
    rec_record_free(record);
}

/* ---------------------------------------------------------------------------------------------------- mistakes -- */

static void every_mistake_is_told_at_once(void **state)
{
    static const int32_t ints[] = {1, 2};
    static const float floats[8] = {0};
    uint64_t two[] = {2}, shape[] = {2, 2, 2};
    rec_record *record = new_model();
    static const char *const cleared[] = {"head", "heads.0", "empty"};
    MODEL m;
    (void)state;
    assert_int_equal(rec_remove(record, "fc.weight"), REC_OK);           /* missing */
    assert_int_equal(rec_set_nil(record, "blocks.0.weight"), REC_OK);    /* nil where it is required */
    put(record, "blocks.1.weight", REC_DTYPE_I32, 1, two, ints, 8);      /* another kind of numbers */
    put(record, "blocks.2.weight", REC_DTYPE_F32, 3, shape, floats, 32); /* another rank */
    assert_int_equal(rec_set_uint(record, "blocks.2.bias", 5), REC_OK);  /* no tensor */
    assert_int_equal(rec_set_uint(record, "some.stray", 5), REC_OK);     /* unexpected */
    assert_int_equal(rec_remove(record, "pair.1"), REC_OK);              /* an array cut short */
    for (size_t i = 0; i < sizeof cleared / sizeof *cleared; i++) {
        assert_int_equal(rec_clear(record, cleared[i]), REC_OK);
    }
    assert_int_equal(rec_set_string(record, "head", "Sparse"), REC_OK);   /* no such variant */
    assert_int_equal(rec_set_string(record, "heads.0", "Dense"), REC_OK); /* a variant without its data */
    assert_int_equal(rec_set_string(record, "steps", "many"), REC_OK);    /* a scalar of another kind */
    assert_int_equal(rec_set_uint(record, "empty", 1), REC_OK);           /* no list */
    misfit(record, "", &MODEL_type, &m, sizeof m, 0,
           "the record does not fit the type MODEL: 11 mistakes\n"
           "  fc.weight: is missing\n"
           "  some.stray: LINEAR has no such field (found an unsigned integer)\n"
           "  blocks.0.weight: is nil, but the type requires it\n"
           "  blocks.1.weight: expected a tensor of floats, found one of i32\n"
           "  blocks.2.weight: expected shape [?, ?], found [2, 2, 2]\n"
           "  blocks.2.bias: expected a tensor of floats, found an unsigned integer\n"
           "  empty: expected a list of LINEAR, found an unsigned integer\n"
           "  pair: expected 2 items, found 1\n"
           "  head: HEAD has no variant `Sparse`\n"
           "  heads.0.Dense: the variant has no data\n"
           "  steps: expected an integer (u64), found a string");
    assert_int_equal(rec_report_count(), 11);
    assert_note(0, REC_NOTE_MISSING, "fc.weight", "is missing");
    assert_note(1, REC_NOTE_UNEXPECTED, "some.stray", "LINEAR has no such field (found an unsigned integer)");
    assert_note(2, REC_NOTE_MISSING, "blocks.0.weight", "is nil, but the type requires it");
    assert_note(3, REC_NOTE_KIND, "blocks.1.weight", "expected a tensor of floats, found one of i32");
    assert_note(4, REC_NOTE_SHAPE, "blocks.2.weight", "expected shape [?, ?], found [2, 2, 2]");
    assert_note(5, REC_NOTE_KIND, "blocks.2.bias", "expected a tensor of floats, found an unsigned integer");
    assert_note(6, REC_NOTE_KIND, "empty", "expected a list of LINEAR, found an unsigned integer");
    assert_note(7, REC_NOTE_SHAPE, "pair", "expected 2 items, found 1");
    assert_note(8, REC_NOTE_KIND, "head", "HEAD has no variant `Sparse`");
    assert_note(9, REC_NOTE_MISSING, "heads.0.Dense", "the variant has no data");
    assert_note(10, REC_NOTE_KIND, "steps", "expected an integer (u64), found a string");
    rec_record_free(record);
}

static void dimensions_that_are_given_must_match(void **state)
{
    static const float floats[6] = {0};
    static const uint8_t flags[2] = {0};
    uint64_t three_two[] = {3, 2}, two[] = {2};
    rec_record *record = rec_record_new(NULL);
    TENSORS t;
    (void)state;
    put(record, "a", REC_DTYPE_F32, 2, three_two, floats, sizeof floats);
    put(record, "c", REC_DTYPE_BOOL, 1, two, flags, 2);
    put(record, "e", REC_DTYPE_F32, 1, two, floats, 8);
    put(record, "g", REC_DTYPE_U8, 1, two, flags, 2);
    put(record, "i", REC_DTYPE_U8, 1, two, flags, 2);
    put(record, "k", REC_DTYPE_BOOL, 2, three_two, "abcdef", 6);
    misfit(record, "", &TENSORS_type, &t, sizeof t, 0,
           "the record does not fit the type TENSORS: 5 mistakes\n"
           "  a: expected shape [2, 3], found [3, 2]\n"
           "  c: expected a tensor of floats, found one of bool\n"
           "  e: expected a tensor of integers, found one of f32\n"
           "  i: expected a tensor of bools, found one of u8\n"
           "  k: expected shape [?], found [3, 2]");
    rec_record_free(record);
}

static void integers_outside_their_type_are_refused(void **state)
{
    static const struct {
        const char *name;
        int64_t low; /* just too small; 0: cannot be */
        uint64_t high;
    } limits[] = {
        {"u8", -1, 256},   {"u16", -1, 65536},     {"u32", -1, 4294967296},          {"u64", -1, 0},
        {"i8", -129, 128}, {"i16", -32769, 32768}, {"i32", -2147483649, 2147483648}, {"i64", 0, 9223372036854775808u},
    };
    (void)state;
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        for (int high = 0; high < 2; high++) {
            rec_record *record = new_scalars();
            char message[200];
            SCALARS s;
            if (high ? limits[i].high : (uint64_t)limits[i].low) {
                if (high) {
                    assert_int_equal(rec_set_uint(record, limits[i].name, limits[i].high), REC_OK);
                    (void)snprintf(message, sizeof message,
                                   "the record does not fit the type SCALARS: 1 mistake\n"
                                   "  %s: %llu does not fit %s",
                                   limits[i].name, (unsigned long long)limits[i].high, limits[i].name);
                } else {
                    assert_int_equal(rec_set_int(record, limits[i].name, limits[i].low), REC_OK);
                    (void)snprintf(message, sizeof message,
                                   "the record does not fit the type SCALARS: 1 mistake\n"
                                   "  %s: %lld does not fit %s",
                                   limits[i].name, (long long)limits[i].low, limits[i].name);
                }
                misfit(record, "", &SCALARS_type, &s, sizeof s, 0, message);
            }
            rec_record_free(record);
        }
    }
}

static void scalars_of_another_kind_are_refused(void **state)
{
    rec_record *record = new_scalars();
    SCALARS s;
    (void)state;
    assert_int_equal(rec_set_uint(record, "yes", 1), REC_OK);
    assert_int_equal(rec_set_float(record, "u8", 1), REC_OK);
    assert_int_equal(rec_set_string(record, "f32", "1"), REC_OK);
    assert_int_equal(rec_set_empty(record, "text", REC_KIND_MAP), REC_OK);
    misfit(record, "", &SCALARS_type, &s, sizeof s, 0,
           "the record does not fit the type SCALARS: 4 mistakes\n"
           "  yes: expected a bool, found an unsigned integer\n"
           "  u8: expected an integer (u8), found a float\n"
           "  f32: expected a number, found a string\n"
           "  text: expected a string, found a map");
    rec_record_free(record);
}

static void a_message_names_twenty_mistakes_and_counts_the_rest(void **state)
{
    rec_record *record = rec_record_new(NULL);
    const char *message;
    unsigned lines = 0;
    MODEL m;
    (void)state;
    for (unsigned i = 0; i < 45; i++) {
        char path[32];
        (void)snprintf(path, sizeof path, "blocks.%u.stray", i);
        assert_int_equal(rec_set_uint(record, path, 1), REC_OK);
    }
    assert_null(rec_bind_at(record, "", &MODEL_type, &m, REC_BIND_ALLOW_MISSING));
    message = rec_error_message();
    assert_non_null(strstr(message, "MODEL: 45 mistakes\n  blocks.0.stray: LINEAR has no such field"));
    assert_non_null(strstr(message, "\n  and 25 more"));
    for (const char *c = message; (c = strchr(c, '\n')) != NULL; c++) {
        lines++;
    }
    assert_int_equal(lines, 21);
    assert_int_equal(rec_report_count(), 45);
    rec_record_free(record);
}

static void a_number_that_does_not_fit_the_precision_leaves_the_target(void **state)
{
    static const int64_t ints[] = {1, 100000};
    static const float floats[6] = {0};
    static const uint8_t flags[2] = {0};
    uint64_t two[] = {2}, two_three[] = {2, 3};
    rec_record *record = rec_record_new(NULL), *half;
    rec_recorder *keep = rec_open_recorder("NamedMpk", REC_PRECISION_KEEP);
    rec_recorder *recorder = rec_open_recorder("NamedMpk", REC_PRECISION_HALF);
    TENSORS t, before;
    void *bytes;
    uint64_t size;
    (void)state;
    put(record, "a", REC_DTYPE_F32, 2, two_three, floats, sizeof floats);
    put(record, "c", REC_DTYPE_F32, 1, two, floats, 8);
    put(record, "e", REC_DTYPE_I64, 1, two, ints, 16);
    put(record, "g", REC_DTYPE_I64, 1, two, ints, 16);
    put(record, "i", REC_DTYPE_BOOL, 1, two, flags, 2);
    put(record, "k", REC_DTYPE_BOOL, 1, two, flags, 2);
    assert_int_equal(rec_save_bytes(keep, record, &bytes, &size), REC_OK);
    half = rec_load_bytes(recorder, bytes, size);
    memset(&t, 0x5a, sizeof t);
    before = t;
    assert_null(rec_bind(half, &TENSORS_type, &t));
    assert_int_equal(rec_error_status(), REC_E_RANGE);
    assert_non_null(strstr(rec_error_message(), "e: element 1 is 100000, which does not fit i16"));
    assert_memory_equal(&t, &before, sizeof t);
    rec_record_free(half);
    rec_free(bytes);
    rec_record_free(record);
    rec_close_recorder(recorder);
    rec_close_recorder(keep);
}

static void what_makes_no_sense_is_refused(void **state)
{
    rec_record *record = new_model();
    rec_type small = MODEL_type;
    MODEL m;
    (void)state;
    small.size = 8;
    assert_null(rec_bind(record, NULL, &m));
    assert_int_equal(rec_error_status(), REC_E_ARGUMENT);
    assert_null(rec_bind(record, &MODEL_type, NULL));
    assert_int_equal(rec_error_status(), REC_E_ARGUMENT);
    assert_string_equal(rec_error_message(), "rec_bind: `type` is NULL");
    assert_null(rec_bind(record, &small, &m));
    assert_int_equal(rec_error_status(), REC_E_ARGUMENT);
    assert_string_equal(rec_error_message(), "the type is not one that REC_DEFINE_STRUCT or REC_DEFINE_ENUM made");
    rec_record_free(record);
}

/* ----------------------------------------------------------------------------------------------------- partial -- */

static void what_is_missing_may_keep_the_caller_s_values(void **state)
{
    rec_record *record = new_model();
    LINEAR own = {0};
    MODEL m = {.steps = 99, .some = &own};
    rec_binding *binding;
    (void)state;
    assert_int_equal(rec_remove(record, "steps"), REC_OK);
    assert_int_equal(rec_remove(record, "some"), REC_OK);
    assert_int_equal(rec_remove(record, "fc"), REC_OK);
    m.fc.weight.count = 123;
    assert_null(rec_bind(record, &MODEL_type, &m));
    binding = rec_bind_at(record, "", &MODEL_type, &m, REC_BIND_ALLOW_MISSING);
    if (!binding) {
        fail_msg("%s", rec_error_message());
    }
    assert_int_equal(rec_report_count(), 0);
    assert_int_equal(m.steps, 99);
    assert_ptr_equal(m.some, &own);
    assert_int_equal(m.fc.weight.count, 123);
    assert_int_equal(m.blocks_count, 3); /* what is there is filled in */
    rec_binding_free(binding);
    /* A value of another kind is a mistake all the same. */
    assert_int_equal(rec_set_string(record, "steps", "x"), REC_OK);
    assert_null(rec_bind_at(record, "", &MODEL_type, &m, REC_BIND_ALLOW_MISSING));
    assert_int_equal(m.steps, 99);
    rec_record_free(record);
}

static void what_is_unexpected_may_be_left_alone(void **state)
{
    rec_record *record = new_model();
    MODEL m;
    rec_binding *binding;
    (void)state;
    assert_int_equal(rec_set_uint(record, "more.of.it", 1), REC_OK);
    assert_int_equal(rec_set_uint(record, "blocks.1.more", 1), REC_OK);
    misfit(record, "", &MODEL_type, &m, sizeof m, REC_BIND_ALLOW_MISSING,
           "the record does not fit the type MODEL: 2 mistakes\n"
           "  blocks.1.more: LINEAR has no such field (found an unsigned integer)\n"
           "  more: MODEL has no such field (found a map)");
    binding = rec_bind_at(record, "", &MODEL_type, &m, REC_BIND_ALLOW_UNEXPECTED);
    assert_non_null(binding);
    assert_int_equal(m.steps, 7);
    rec_binding_free(binding);
    assert_int_equal(rec_remove(record, "steps"), REC_OK);
    misfit(record, "", &MODEL_type, &m, sizeof m, REC_BIND_ALLOW_UNEXPECTED,
           "the record does not fit the type MODEL: 1 mistake\n  steps: is missing");
    rec_record_free(record);
}

/* --------------------------------------------------------------------------------------------- a model of Burn -- */

#define NORM_FIELDS(F, T) F(T, PARAM, gamma, 1) F(T, PARAM, beta, 1) F(T, CONSTANT, epsilon)
REC_DEFINE_STRUCT(NORM, NORM_FIELDS)
#define CONV2D_FIELDS(F, T) F(T, PARAM, weight, 4) F(T, OPTION_PARAM, bias, 1)
REC_DEFINE_STRUCT(CONV2D, CONV2D_FIELDS)
#define BLOCK_FIELDS(F, T) F(T, CHILD, fc, LINEAR) F(T, CHILD, norm, NORM) F(T, CONSTANT, act) F(T, CONSTANT, scale)
REC_DEFINE_STRUCT(BLOCK, BLOCK_FIELDS)
#define CHOICE_VARIANTS(F, T) F(T, VARIANT, Dense, LINEAR) F(T, VARIANT, Conv, CONV2D)
REC_DEFINE_ENUM(CHOICE, CHOICE_VARIANTS)
#define ZOO_FIELDS(F, T)             \
    F(T, CHILD, conv2, CONV2D)       \
    F(T, CHILD, gn, NORM)            \
    F(T, LIST, blocks, BLOCK)        \
    F(T, LIST, empty, LINEAR)        \
    F(T, OPTION_CHILD, some, LINEAR) \
    F(T, OPTION_CHILD, none, LINEAR) \
    F(T, CHILD, head_a, CHOICE)      \
    F(T, CHILD, head_b, CHOICE)      \
    F(T, ARRAY, array, LINEAR, 2)    \
    F(T, PARAM, free, 3, 2, 3, 2)    \
    F(T, INT_PARAM, ids, 2, 3, 2)    \
    F(T, BOOL_PARAM, mask, 1)        \
    F(T, CONSTANT, ratio)
REC_DEFINE_STRUCT(ZOO, ZOO_FIELDS)

static void a_model_of_burn_is_bound_whatever_wrote_it(void **state)
{
    static const char *const versions[] = {"0.13.2", "0.14.0", "0.16.1", "0.18.0", "0.21.0"};
    static const char *const precisions[] = {"double", "full", "half"};
    const char *srcdir = getenv("srcdir");
    (void)state;
    for (size_t i = 0; i < 15; i++) {
        rec_recorder *recorder = rec_open_recorder("NamedMpk", REC_PRECISION_FULL);
        char path[600];
        rec_record *record;
        rec_binding *binding;
        ZOO zoo;
        (void)snprintf(path, sizeof path, "%s/tests/data/burn/%s/zoo-%s.mpk", srcdir ? srcdir : ".", versions[i / 3],
                       precisions[i % 3]);
        record = rec_load(recorder, path);
        assert_non_null(record);
        binding = rec_bind_at(record, "", &ZOO_type, &zoo, REC_BIND_ALLOW_UNEXPECTED);
        if (!binding) {
            fail_msg("%s", rec_error_message());
        }
        assert_int_equal(zoo.blocks_count, 3);
        assert_int_equal(zoo.blocks[2].norm.gamma.count, 3);
        assert_true(zoo.head_a.variant == 0 && zoo.head_b.variant == 1 && zoo.head_b.Conv && !zoo.head_b.Dense);
        assert_true(zoo.some && !zoo.none && zoo.empty_count == 0);
        assert_true(zoo.ids.count == 6 && zoo.mask.count == 5 && zoo.mask.data[0] <= 1);
        assert_null(rec_bind(record, &ZOO_type, &zoo));
        assert_int_equal(strncmp(rec_error_message(), path, strlen(path)), 0);
        assert_non_null(strstr(rec_error_message(), "conv1: ZOO has no such field (found a map)"));
        rec_binding_free(binding);
        rec_record_free(record);
        rec_close_recorder(recorder);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(structs_lists_options_and_enums_are_filled),
        cmocka_unit_test(scalars_are_filled_to_their_limits),
        cmocka_unit_test(every_kind_of_tensor_is_filled),
        cmocka_unit_test(a_part_of_a_record_is_bound_by_its_path),
        cmocka_unit_test(a_record_outlives_its_bindings),
        cmocka_unit_test(every_mistake_is_told_at_once),
        cmocka_unit_test(dimensions_that_are_given_must_match),
        cmocka_unit_test(integers_outside_their_type_are_refused),
        cmocka_unit_test(scalars_of_another_kind_are_refused),
        cmocka_unit_test(a_message_names_twenty_mistakes_and_counts_the_rest),
        cmocka_unit_test(a_number_that_does_not_fit_the_precision_leaves_the_target),
        cmocka_unit_test(what_makes_no_sense_is_refused),
        cmocka_unit_test(what_is_missing_may_keep_the_caller_s_values),
        cmocka_unit_test(what_is_unexpected_may_be_left_alone),
        cmocka_unit_test(a_model_of_burn_is_bound_whatever_wrote_it),
    };
    return cmocka_run_group_tests_name("binding", tests, NULL, NULL);
}
