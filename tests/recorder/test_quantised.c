/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Quantised tensors: their scheme comes along wherever the tensor goes, or the tensor does not go there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "burn/layout/layout.h"
#include "tests/craft.h"
#include "tests/shared.h"

/* The scheme as each version of Burn has it, and the versions that have it so. */
static const struct scheme {
    const char *words;
    int version, first, last;
} schemes[] = {
    {"{\"PerTensorSymmetricInt8\":{\"scale\":0.25,\"_q\":null,\"_a\":null}}", 14, 14, 15},
    {"{\"PerTensorAffineInt8\":{\"scale\":0.1,\"offset\":-3,\"_q\":null,\"_a\":null}}", 15, 14, 15},
    {"{\"PerTensorAffine\":\"QInt8\"}", 16, 16, 16},
    {"{\"PerTensorSymmetric\":\"QInt8\"}", 16, 16, 16},
    {"{\"PerTensor\":[\"Symmetric\",\"QInt8\"]}", 17, 17, 17},
    {"{\"level\":\"Tensor\",\"mode\":\"Symmetric\",\"q_type\":\"QInt8\",\"acc_precision\":\"Full\","
     "\"propagation\":\"Inhibit\"}",
     18, 18, 18},
    {"{\"value\":\"Q4S\",\"param\":\"F16\",\"store\":\"U32\",\"level\":\"Tensor\",\"mode\":\"Symmetric\"}", 19, 19, 19},
    {"{\"value\":\"Q8S\",\"param\":\"F32\",\"store\":\"Native\",\"level\":\"Tensor\",\"mode\":\"Symmetric\"}", 19, 19,
     19},
    {"{\"value\":\"Q8S\",\"param\":\"F32\",\"store\":\"Native\",\"level\":\"Tensor\",\"mode\":\"Symmetric\"}", 20, 20,
     21},
    {"{\"value\":\"Q2S\",\"param\":\"UE8M0\",\"store\":{\"PackedU32\":0},\"level\":{\"Block\":{\"storage\":[32,1,1,1,1]"
     ","
     "\"len\":1}},\"mode\":\"Symmetric\"}",
     21, 20, 21},
    {"{\"some\":\"new one\"}", 21, 21, 21},
};
enum { SCHEMES = sizeof schemes / sizeof *schemes };

static rec_recorder *open_keeping(const char *name)
{
    rec_recorder *recorder = rec_open_recorder(name, REC_PRECISION_KEEP);
    if (!recorder || rec_recorder_set(recorder, "layout", "keep") != REC_OK) {
        fail_msg("%s", rec_error_message());
    }
    return recorder;
}

static rec_record *load(const char *name, const void *data, size_t size)
{
    rec_recorder *recorder = open_keeping(name);
    rec_record *record = rec_load_bytes(recorder, data, size);
    if (!record) {
        fail_msg("%s", rec_error_message());
    }
    rec_close_recorder(recorder);
    return record;
}

static void *save(const char *name, const rec_record *record, uint64_t *size)
{
    rec_recorder *recorder = open_keeping(name);
    void *data = NULL;
    if (rec_save_bytes(recorder, record, &data, size) != REC_OK) {
        fail_msg("%s: %s", name, rec_error_message());
    }
    rec_close_recorder(recorder);
    return data;
}

/* A record by way of another format. @param data (out) what it borrows from, to be freed after it. */
static rec_record *by_way_of(const char *name, const rec_record *record, void **data)
{
    uint64_t size;
    *data = save(name, record, &size);
    return load(name, *data, (size_t)size);
}

static void assert_same_bytes(const rec_record *a, const rec_record *b)
{
    uint64_t size_a, size_b;
    void *bytes_a = save("NamedMpk", a, &size_a), *bytes_b = save("NamedMpk", b, &size_b);
    assert_int_equal(size_a, size_b);
    assert_memory_equal(bytes_a, bytes_b, (size_t)size_a);
    rec_free(bytes_a);
    rec_free(bytes_b);
}

static rec_record *record_of(const struct scheme *s)
{
    static char text[1024];
    (void)snprintf(
        text, sizeof text,
        "{\"metadata\":{\"version\":\"0.%d.0\",\"float\":\"f32\",\"int\":\"i32\",\"format\":\"f\","
        "\"settings\":\"FullPrecisionSettings\"},\"item\":{\"q\":{\"id\":\"0123456789abc\",\"param\":{\"bytes\":"
        "[1,2,3,4,5,6,7],\"shape\":[3],\"dtype\":{\"QFloat\":%s}}}}}",
        s->version, s->words);
    return load("PrettyJson", text, strlen(text));
}

static void the_scheme_comes_along_in_every_version(void **state)
{
    (void)state;
    for (size_t i = 0; i < SCHEMES; i++) {
        rec_record *record = record_of(&schemes[i]), *json, *tensors;
        void *text, *bytes;
        assert_int_equal(rec_tensor_dtype(rec_tensor_at(record, "q")), REC_DTYPE_QFLOAT);
        json = by_way_of("PrettyJson", record, &text);
        tensors = by_way_of("Safetensors", record, &bytes);
        assert_int_equal(rec_tensor_dtype(rec_tensor_at(tensors, "q")), REC_DTYPE_QFLOAT);
        assert_string_equal(rec_tensor_dtype_name(rec_tensor_at(tensors, "q")), "qfloat");
        assert_same_bytes(record, json);
        assert_same_bytes(record, tensors);
        rec_record_free(record);
        rec_record_free(json);
        rec_record_free(tensors);
        rec_free(text);
        rec_free(bytes);
    }
}

/* Burnpack has the scheme in CBOR. */
static void a_scheme_by_blocks_comes_back_from_burnpack(void **state)
{
    const struct scheme *blocks = &schemes[SCHEMES - 2];
    rec_record *record = record_of(blocks), *back;
    void *data;
    (void)state;
    assert_non_null(strstr(blocks->words, "Block"));
    back = by_way_of("Burnpack", record, &data);
    assert_int_equal(rec_tensor_dtype(rec_tensor_at(back, "q")), REC_DTYPE_QFLOAT);
    assert_same_bytes(record, back);
    rec_record_free(back);
    rec_record_free(record);
    rec_free(data);
}

/* MessagePack tells f32 from f64, and i8 from u8 by their signs. */
static void numbers_of_a_scheme_keep_their_width(void **state)
{
    static const uint8_t data[] = {1, 2, 3};
    uint64_t shape[] = {3};
    craft c = {0};
    rec_record *record, *again;
    void *bytes;
    (void)state;
    craft_begin(&c, "0.14.0", CRAFT_FULL);
    craft_map(&c, 3);
    craft_str(&c, "bytes");
    craft_bin(&c, data, sizeof data);
    craft_shape(&c, 1, shape);
    craft_str(&c, "dtype");
    craft_map(&c, 1);
    craft_str(&c, "QFloat");
    craft_map(&c, 1);
    craft_str(&c, "PerTensorAffineInt8");
    craft_map(&c, 7);
    craft_str(&c, "scale");
    craft_f32(&c, 0.1f);
    craft_str(&c, "offset");
    craft_int(&c, -128);
    craft_str(&c, "wide");
    craft_f64(&c, 0.1);
    craft_str(&c, "least");
    craft_int(&c, INT64_MIN);
    craft_str(&c, "most");
    craft_uint(&c, UINT64_MAX);
    craft_str(&c, "odd \"\\\x01\xc3\xa9");
    craft_bool(&c, 1);
    craft_str(&c, "_q");
    craft_nil(&c);
    record = load("NamedMpk", c.data, c.size);
    again = by_way_of("Safetensors", record, &bytes);
    assert_same_bytes(record, again);
    rec_record_free(record);
    rec_record_free(again);
    rec_free(bytes);
    craft_free(&c);
}

static void another_version_gets_it_only_in_its_own_form(void **state)
{
    static const char *const recorders[] = {"NamedMpk", "PrettyJson", "Safetensors"};
    (void)state;
    for (size_t i = 0; i < SCHEMES; i++) {
        rec_record *record = record_of(&schemes[i]);
        for (int minor = 11; minor <= 21; minor++) {
            rec_recorder *recorder = open_keeping(recorders[(i + (size_t)minor) % 3]);
            char layout[16];
            void *data = NULL;
            uint64_t size;
            bool right = minor >= schemes[i].first && minor <= schemes[i].last;
            (void)snprintf(layout, sizeof layout, "burn-0.%d", minor);
            assert_int_equal(rec_recorder_set(recorder, "layout", layout), REC_OK);
            if (rec_save_bytes(recorder, record, &data, &size) != (right ? REC_OK : REC_E_UNSUPPORTED)) {
                fail_msg("%s of 0.%d for 0.%d", schemes[i].words, schemes[i].version, minor);
            }
            if (!right) {
                assert_non_null(
                    strstr(rec_error_message(), minor < 14 ? "q: Burn 0.1" : "q: a quantised tensor whose scheme"));
            }
            rec_free(data);
            rec_close_recorder(recorder);
        }
        rec_record_free(record);
    }
}

static void data_without_names_have_no_place_for_it(void **state)
{
    static const char words[] = "q: a tensor of qfloat: its element type has attributes that this format cannot store";
    static const char type[] = "pub struct Model<B: Backend> { q: Param<Tensor<B, 1>> }";
    rec_record *record = record_of(&schemes[8]);
    rec_recorder *recorder = rec_open_recorder("BinBytes", REC_PRECISION_KEEP);
    rec_types *types = rec_types_new(NULL);
    void *data = NULL;
    uint64_t size;
    (void)state;
    assert_int_equal(rec_types_add_rust(types, type, "model.rs"), REC_OK);
    assert_int_equal(rec_recorder_set_type_name(recorder, types, "Model"), REC_OK);
    assert_int_equal(rec_save_bytes(recorder, record, &data, &size), REC_E_UNSUPPORTED);
    assert_non_null(strstr(rec_error_message(), words));
    rec_close_recorder(recorder);
    rec_types_free(types);
    rec_record_free(record);
}

/* bincode tells of the scheme neither where it begins nor where it ends. */
static void data_without_names_are_not_misread(void **state)
{
    static const char type[] = "pub struct Model<B: Backend> { q: Param<Tensor<B, 1>> }";
    static const float numbers[] = {1, 2, 3};
    static const uint64_t three[] = {3};
    rec_record *record = rec_record_new(NULL);
    rec_recorder *recorder = rec_open_recorder("BinBytes", REC_PRECISION_KEEP);
    rec_types *types = rec_types_new(NULL);
    void *data = NULL;
    uint64_t size;
    (void)state;
    assert_int_equal(rec_types_add_rust(types, type, "model.rs"), REC_OK);
    assert_int_equal(rec_recorder_set_type_name(recorder, types, "Model"), REC_OK);
    assert_int_equal(rec_set_f32(record, "q", numbers, 1, three), REC_OK);
    assert_int_equal(rec_save_bytes(recorder, record, &data, &size), REC_OK);
    assert_int_equal(((uint8_t *)data)[size - 1], 1); /* F32, the second of Burn's element types */
    ((uint8_t *)data)[size - 1] = 14;
    assert_null(rec_load_bytes(recorder, data, size));
    assert_int_equal(rec_error_status(), REC_E_UNSUPPORTED);
    assert_non_null(strstr(rec_error_message(), "a quantised tensor without its scheme"));
    rec_free(data);
    rec_close_recorder(recorder);
    rec_types_free(types);
    rec_record_free(record);
}

/* What a safetensors file of a stranger may say. */
static void words_that_are_none_are_refused(void **state)
{
    static const char *const wrong[] = {
        "",
        "qfloat",
        "QFloat",
        "\"QFloat\"",
        "{}",
        "{\"QFloat\"}",
        "{\"QFloat\":}",
        "{\"QFloat\":1",
        "{\"QFloat\":1}x",
        "{\"QFloat\":1,\"QFloat\":2}",
        "{\"QFloat\":1,\"b\":2}",
        "{\"F32\":null}",
        "{QFloat:1}",
        "{\"QFloat\":tru}",
        "{\"QFloat\":18446744073709551616}",
        "{\"QFloat\":-9223372036854775809}",
        "{\"QFloat\":1e999}",
        "{\"QFloat\":--1}",
        "{\"QFloat\":-}",
        "{\"QFloat\":1.5.5}",
        "{\"QFloat\":[1,]}",
        "{\"QFloat\":[1}",
        "{\"QFloat\":\"\\x\"}",
        "{\"QFloat\":\"\\u00\"}",
        "{\"QFloat\":\"\xff\"}",
        "{\"QFloat\":\"",
        "{\"QFloat\":\"\\",
        "{\"QFloat\":[[[[[[[[[[[[1]]]]]]]]]]]]}",
        "[1]",
    };
    static const char *const right[] = {"{\"QFloat\":1}", "{\"QFloat\":[]}",
                                        "{\"QFloat\":{\"a\":[{},-0.5f,1e-3,\"\\u0001\"]}}"};
    rec_context *context = rec_context_new(NULL);
    rec_job job;
    char buffer[LR_DTYPE_TEXT_ROOM], *huge = calloc(1, 5000);
    (void)state;
    memset(huge, '[', 4999);
    memcpy(huge, "{\"QFloat\":", 10);
    for (size_t i = 0; i <= sizeof wrong / sizeof *wrong; i++) {
        rec_record *record = lr_record_new(context);
        const char *text = i < sizeof wrong / sizeof *wrong ? wrong[i] : huge;
        rec_value value;
        lr_job_begin(&job, context, "test", NULL);
        if (lr_burn_dtype_read(&job, record, 7, REC_DTYPE_QFLOAT, text, &value) != REC_E_FORMAT) {
            fail_msg("%s is read", text);
        }
        assert_int_equal(lr_job_end(&job), REC_E_FORMAT);
        assert_non_null(strstr(rec_error_message(), "expected a quantised tensor with its scheme"));
        rec_record_free(record);
    }
    for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
        rec_record *record = lr_record_new(context);
        rec_value value, again;
        lr_job_begin(&job, context, "test", NULL);
        assert_int_equal(lr_burn_dtype_read(&job, record, 7, REC_DTYPE_QFLOAT, right[i], &value), REC_OK);
        assert_non_null(lr_burn_dtype_text(&job, &value, buffer));
        assert_int_equal(lr_burn_dtype_read(&job, record, 7, REC_DTYPE_QFLOAT, buffer, &again), REC_OK);
        assert_int_equal(lr_job_end(&job), REC_OK);
        rec_record_free(record);
    }
    free(huge);
    rec_context_free(context);
}

/* A hostile file may have a list of a thousand million numbers there: it is refused by its length. */
static void a_list_that_is_too_long_is_not_looked_at(void **state)
{
    static const uint8_t one = 1; /* of them, the first */
    lr_packed run = {.count = UINT64_C(1) << 40, .dtype = REC_DTYPE_U8, .data = {.data = &one, .size = 1}};
    const rec_value value = {.kind = REC_KIND_NUMBERS, .v = {.run = &run}};
    rec_context *context = rec_context_new(NULL);
    char buffer[LR_DTYPE_TEXT_ROOM];
    rec_job job;
    (void)state;
    lr_job_begin(&job, context, "test", NULL);
    assert_null(lr_burn_dtype_text(&job, &value, buffer));
    assert_int_equal(lr_job_end(&job), REC_E_UNSUPPORTED);
    assert_non_null(strstr(rec_error_message(), "cannot be written as text"));
    rec_context_free(context);
}

/* A scheme's name alone, as bincode and broken files have it. */
static void a_scheme_must_be_there(void **state)
{
    static const char text[] =
        "{\"metadata\":{\"version\":\"0.21.0\",\"float\":\"f32\",\"int\":\"i32\",\"format\":\"f\","
        "\"settings\":\"s\"},\"item\":{\"q\":{\"bytes\":[1,2,3,4],\"shape\":[1],\"dtype\":\"QFloat\"}}}";
    rec_recorder *recorder = open_keeping("PrettyJson");
    (void)state;
    assert_null(rec_load_bytes(recorder, text, strlen(text)));
    assert_int_equal(rec_error_status(), REC_E_UNSUPPORTED);
    assert_non_null(strstr(rec_error_message(), "a quantised tensor without its scheme"));
    rec_close_recorder(recorder);
}

/* What real Burn wrote. */
static void burns_own_file_comes_back_byte_for_byte(void **state)
{
    char path[4096];
    rec_recorder *recorder = open_keeping("NamedMpk");
    rec_record *record, *again;
    void *bytes;
    (void)state;
    if (!shared_path(path, sizeof path, "golden/store/0.21.0/quant_q8/full.mpk")) {
        rec_close_recorder(recorder);
        skip();
    }
    record = rec_load(recorder, path);
    if (!record) {
        fail_msg("%s", rec_error_message());
    }
    again = by_way_of("Safetensors", record, &bytes);
    assert_same_bytes(record, again);
    rec_record_free(record);
    rec_record_free(again);
    rec_free(bytes);
    rec_close_recorder(recorder);
}

#define OLD(level, param, store) \
    "{\"value\":\"Q8S\",\"param\":\"" param "\",\"store\":" store ",\"level\":" level ",\"mode\":\"Symmetric\"}"
#define BLOCK(storage, length) "{\"Block\":{\"storage\":[" storage "],\"len\":" length "}}"
#define NEW(value, store, tensor, block) \
    "{\"value\":\"" value "\",\"store\":" store ",\"mode\":\"Symmetric\",\"tensor\":" tensor ",\"block\":" block "}"
#define SIZE(storage, length, dtype) "{\"size\":{\"storage\":[" storage "],\"len\":" length "},\"dtype\":\"" dtype "\"}"
#define HALF_F32 "0,0,0,63"
#define TWO_F32 "0,0,0,64"

/* Forms of each version, of 2 rows. Golden files of Burn 0.22 are in tests/data/schemes, of others in the interop
 * tests.
 * @param numbers what there is, or a part of the message. */
static const struct {
    const char *scheme, *bytes, *message;
    int columns;
    float numbers[8];
} decoded[] = {
    {"{\"PerTensorSymmetricInt8\":{\"scale\":0.25,\"_q\":null,\"_a\":null}}",
     "1,254,127,128",
     NULL,
     2,
     {0.25f, -0.5f, 31.75f, -32}},
    {"{\"PerTensorAffineInt8\":{\"scale\":0.5,\"offset\":-3,\"_q\":null,\"_a\":null}}", "1,253", NULL, 1, {2, 0}},
    {"{\"PerTensorAffine\":\"QInt8\"}", "1,253,0,0,253,255,255,255," HALF_F32, NULL, 1, {2, 0}},
    {"{\"PerTensorSymmetric\":\"QInt8\"}", "1,253,0,0," HALF_F32, NULL, 1, {0.5f, -1.5f}},
    {"{\"PerTensor\":[\"Symmetric\",\"QInt8\"]}", "1,253,0,0," TWO_F32, NULL, 1, {2, -6}},
    {"{\"level\":\"Tensor\",\"mode\":\"Symmetric\",\"q_type\":\"QInt8\",\"acc_precision\":\"Full\"}",
     "1,253,0,0," HALF_F32,
     NULL,
     1,
     {0.5f, -1.5f}},
    {OLD("\"Tensor\"", "F32", "\"Native\""), "1,253," HALF_F32, NULL, 1, {0.5f, -1.5f}},
    {OLD("\"Tensor\"", "F16", "\"Native\""), "1,253," HALF_F32, NULL, 1, {0.5f, -1.5f}},
    {OLD("\"Tensor\"", "F16", "\"Native\""), "1,253,0,64", NULL, 1, {2, -6}},
    {OLD(BLOCK("2,1,1,1,1", "1"), "F32", "\"Native\""), "1,2,3,4," HALF_F32 "," TWO_F32, NULL, 2, {0.5f, 1, 6, 8}},
    {OLD(BLOCK("2,1,1,1,1", "1"), "F32", "\"Native\""),
     "1,2,3,4,5,6," HALF_F32 "," TWO_F32 "," HALF_F32,
     NULL,
     3,
     {0.5f, 1, 6, 8, 2.5f, 3}},
    {OLD(BLOCK("2,2,1,1,1", "2"), "F32", "\"Native\""),
     "1,2,3,4," HALF_F32,
     "do not agree where its blocks lie",
     2,
     {0}},
    {NEW("Q4S", "{\"PackedU32\":0}", "\"F32\"", "null"),
     "16,50,84,118,152,186,220,254," HALF_F32,
     NULL,
     8,
     {0, 0.5f, 1, 1.5f, 2, 2.5f, 3, 3.5f}},
    {NEW("Q4S", "{\"PackedU32\":0}", "\"F32\"", "null"), "1,0,0,0," HALF_F32, "rows that do not fill", 4, {0}},
    {NEW("Q4S", "{\"PackedU32\":1}", "\"F32\"", "null"), "1,0,0,0," HALF_F32, "another dimension", 4, {0}},
    {NEW("Q8S", "\"Native\"", "\"F32\"", SIZE("2,1,1,1,1", "2", "UE8M0")),
     "1,2,3,4,128,127," HALF_F32,
     NULL,
     2,
     {1, 1, 3, 2}},
    {NEW("E4M3", "\"Native\"", "null", "null"), "56,184," TWO_F32, NULL, 1, {2, -2}},
    {NEW("E2M1", "\"Native\"", "null", "null"), "2,15," TWO_F32, NULL, 1, {2, -12}},
    {NEW("Q8S", "\"Native\"", "null", SIZE("2,2,2,1,1", "3", "F32")),
     "1,2,3,4," HALF_F32,
     "more than two dimensions",
     2,
     {0}},
    {NEW("Q8S", "\"Native\"", "null", SIZE("0,1,1,1,1", "1", "F32")),
     "1,2," HALF_F32,
     "more than two dimensions",
     1,
     {0}},
    {NEW("Q8S", "\"Native\"", "null", "null"), "1,2,3," HALF_F32, "do not have the size", 1, {0}},
    {NEW("Q8S", "\"Native\"", "null", "null"), "1", "do not have the size", 1, {0}},
    {"{\"PerTensorSymmetricInt8\":{\"scale\":null}}", "1,2", "do not have the size", 1, {0}},
    {"{\"some\":\"new one\"}", "1,2," HALF_F32, "does not know its scheme", 1, {0}},
};

static void every_form_is_decoded_or_rejected(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof decoded / sizeof *decoded; i++) {
        rec_recorder *recorder = rec_open_recorder("PrettyJson", REC_PRECISION_FULL);
        char text[1024];
        rec_record *record;
        const float *found;
        (void)snprintf(text, sizeof text,
                       "{\"metadata\":{\"version\":\"0.21.0\",\"float\":\"f32\",\"int\":\"i32\",\"format\":\"f\","
                       "\"settings\":\"FullPrecisionSettings\"},\"item\":{\"q\":{\"id\":\"0123456789abc\",\"param\":{"
                       "\"bytes\":[%s],\"shape\":[2,%d],\"dtype\":{\"QFloat\":%s}}}}}",
                       decoded[i].bytes, decoded[i].columns, decoded[i].scheme);
        record = rec_load_bytes(recorder, text, strlen(text));
        if (!record != (decoded[i].message != NULL)) {
            fail_msg("%s: %s", decoded[i].scheme, record ? "decoded" : rec_error_message());
        }
        if (decoded[i].message && !strstr(rec_error_message(), decoded[i].message)) {
            fail_msg("%s: %s", decoded[i].scheme, rec_error_message());
        }
        found = record ? rec_tensor_f32(rec_tensor_at(record, "q")) : NULL;
        for (int j = 0; record && j < (decoded[i].columns < 4 ? 2 * decoded[i].columns : 8); j++) {
            assert_non_null(found);
            if (found[j] != decoded[i].numbers[j]) {
                fail_msg("%s: number %d is %g", decoded[i].scheme, j, (double)found[j]);
            }
        }
        rec_record_free(record);
        rec_close_recorder(recorder);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_scheme_comes_along_in_every_version),
        cmocka_unit_test(a_scheme_by_blocks_comes_back_from_burnpack),
        cmocka_unit_test(numbers_of_a_scheme_keep_their_width),
        cmocka_unit_test(another_version_gets_it_only_in_its_own_form),
        cmocka_unit_test(data_without_names_have_no_place_for_it),
        cmocka_unit_test(data_without_names_are_not_misread),
        cmocka_unit_test(words_that_are_none_are_refused),
        cmocka_unit_test(a_list_that_is_too_long_is_not_looked_at),
        cmocka_unit_test(a_scheme_must_be_there),
        cmocka_unit_test(every_form_is_decoded_or_rejected),
        cmocka_unit_test(burns_own_file_comes_back_byte_for_byte),
    };
    return cmocka_run_group_tests_name("quantised tensors", tests, NULL, NULL);
}
