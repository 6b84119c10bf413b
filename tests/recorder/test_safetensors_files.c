/* SPDX-License-Identifier: MIT OR Apache-2.0
 * safetensors files that librecord writes: what is in them to the byte, records that come back whole, models in several
 * files both ways, and indexes and folders that mean no good. */
#include "tests/test_st.h"

#include <glob.h>
#include <math.h>

#include "tests/craft.h"
#include "tests/scratch.h"
#include "tests/shared.h"

static rec_recorder *open_keep(const char *name, rec_precision precision)
{
    rec_recorder *r = rec_open_recorder(name, precision);
    assert_non_null(r);
    assert_int_equal(rec_recorder_set(r, "layout", "keep"), REC_OK);
    return r;
}

static st_file save(rec_recorder *r, const rec_record *record)
{
    void *data = NULL;
    uint64_t size = 0;
    st_file f;
    if (rec_save_bytes(r, record, &data, &size) != REC_OK) {
        fail_msg("%s", rec_error_message());
    }
    f = (st_file){malloc(size ? (size_t)size : 1), (size_t)size};
    memcpy(f.data, data, (size_t)size);
    rec_free(data);
    return f;
}

static rec_record *load(rec_recorder *r, const st_file *f)
{
    rec_record *record = rec_load_bytes(r, f->data, f->size);
    if (!record) {
        fail_msg("%s", rec_error_message());
    }
    return record;
}

static void assert_same(const st_file *a, const st_file *b)
{
    assert_int_equal(a->size, b->size);
    assert_memory_equal(a->data, b->data, a->size);
}

/* The header of a file, to be freed. */
static char *header_of(const st_file *f)
{
    uint64_t length = 0;
    char *text;
    for (int i = 7; i >= 0; i--) {
        length = length << 8 | f->data[i];
    }
    assert_true(f->size >= 8 && length <= f->size - 8);
    assert_int_equal(length % 8, 0);
    text = strndup((const char *)f->data + 8, (size_t)length);
    assert_non_null(text);
    return text;
}

/* ------------------------------------------------------------------------------------------------------ what is
 * written */

/* A foreign record as its file has it: without an import, which would take the names apart. */
static char *save_foreign(const char *header, size_t data, const char *option, const char *value)
{
    st_file f = st_make(header, data), again;
    rec_context *context = rec_context_new(NULL);
    rec_recorder *from, *to;
    rec_plan *plan;
    rec_record *record;
    char *text;
    assert_non_null(context);
    from = rec_open_recorder_in(context, "Safetensors", REC_PRECISION_KEEP);
    to = rec_open_recorder_in(context, "Safetensors", REC_PRECISION_KEEP);
    assert_true(from && to);
    if (option) {
        assert_int_equal(rec_recorder_set(to, option, value), REC_OK);
    }
    /* By a plan that leads to a foreign file. */
    scratch *s = scratch_new();
    char *path = scratch_write(s, "in.safetensors", f.data, f.size);
    plan = rec_plan_new(context, to);
    assert_non_null(plan);
    assert_int_equal(rec_plan_add(plan, from, path), REC_OK);
    record = rec_plan_load(plan);
    if (!record) {
        fail_msg("%s", rec_error_message());
    }
    again = save(to, record);
    text = header_of(&again);
    rec_record_free(record);
    rec_plan_free(plan);
    rec_close_recorder(from);
    rec_close_recorder(to);
    rec_context_free(context);
    free(f.data);
    free(again.data);
    free(path);
    scratch_free(s);
    return text;
}

static void entries_are_in_the_order_of_the_reference_implementation(void **state)
{
    char *text = save_foreign("{\"__metadata__\":{\"format\":\"pt\"},\"b.w\":{\"dtype\":\"U8\",\"shape\":[1],\"data_"
                              "offsets\":[0,1]},\"a.w\":{\"dtype\":"
                              "\"U8\",\"shape\":[1],\"data_offsets\":[1,2]},\"z.w\":{\"dtype\":\"U64\",\"shape\":[1],"
                              "\"data_offsets\":[2,10]},\"a\\\"\":{"
                              "\"dtype\":\"F8_E4M3\",\"shape\":[2],\"data_offsets\":[10,12]},\"y\":{\"dtype\":\"BOOL\","
                              "\"shape\":[0],\"data_offsets\":"
                              "[12,12]},\"x\":{\"dtype\":\"C64\",\"shape\":[],\"data_offsets\":[12,20]}}",
                              20, NULL, NULL);
    (void)state;
    assert_string_equal(text, "{\"__metadata__\":{\"format\":\"pt\"},"
                              "\"z.w\":{\"dtype\":\"U64\",\"shape\":[1],\"data_offsets\":[0,8]},"
                              "\"x\":{\"dtype\":\"C64\",\"shape\":[],\"data_offsets\":[8,16]},"
                              "\"a\\\"\":{\"dtype\":\"F8_E4M3\",\"shape\":[2],\"data_offsets\":[16,18]},"
                              "\"a.w\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[18,19]},"
                              "\"b.w\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[19,20]},"
                              "\"y\":{\"dtype\":\"BOOL\",\"shape\":[0],\"data_offsets\":[20,20]}}       ");
    free(text);
}

static void all_element_types_are_sorted_as_the_reference_does(void **state)
{
    rec_record *record = rec_record_new(NULL);
    rec_recorder *r = open_keep("Safetensors", REC_PRECISION_KEEP);
    st_file f;
    char *text;
    const char *at;
    uint8_t data[64] = {0};
    (void)state;
    for (int i = 0; i < LR_ST_TYPES; i++) {
        const lr_st_type *type = &lr_st_types[i];
        uint64_t shape[] = {8};
        rec_tensor_spec spec = {.size = sizeof spec,
                                .dtype = type->dtype,
                                .rank = 1,
                                .shape = shape,
                                .data = data,
                                .data_size = type->bits};
        if (type->dtype != REC_DTYPE_OPAQUE) {
            assert_int_equal(rec_set_tensor(record, type->name, &spec), REC_OK);
        }
    }
    f = save(r, record);
    at = text = header_of(&f);
    for (int i = LR_ST_TYPES - 1; i >= 0; i--) {
        char entry[64];
        if (lr_st_types[i].dtype != REC_DTYPE_OPAQUE) {
            (void)snprintf(entry, sizeof entry, "\"dtype\":\"%s\"", lr_st_types[i].name);
            at = strstr(at, entry);
            assert_non_null(at);
        }
    }
    free(text);
    free(f.data);
    rec_close_recorder(r);
    rec_record_free(record);
}

static void without_record_data_only_tensors_are_written(void **state)
{
    rec_record *record = rec_record_new(NULL);
    rec_recorder *r = open_keep("Safetensors", REC_PRECISION_KEEP);
    uint64_t shape[] = {2};
    const float two[] = {1, 2};
    st_file f;
    char *text;
    (void)state;
    assert_int_equal(rec_set_f32(record, "fc.weight", two, 1, shape), REC_OK);
    assert_int_equal(rec_set_uint(record, "steps", 7), REC_OK);
    assert_int_equal(rec_metadata_set(record, "author", "me"), REC_OK);
    assert_int_equal(rec_metadata_set(record, "settings", "mine"), REC_E_ARGUMENT);
    assert_int_equal(rec_recorder_set(r, "record", "no"), REC_OK);
    f = save(r, record);
    assert_int_equal(rec_report_count(), 2);
    assert_string_equal(rec_report_note(0)->text, "1 value other than tensors: left out because of record = no");
    assert_string_equal(rec_report_note(1)->text, "the id of 1 tensor: left out, because of record = no");
    text = header_of(&f);
    assert_string_equal(text, "{\"__metadata__\":{\"author\":\"me\"},"
                              "\"fc.weight\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}   ");
    free(text);
    free(f.data);
    rec_close_recorder(r);
    rec_record_free(record);
}

static void names_that_meet_are_told_apart(void **state)
{
    rec_record *record = rec_record_new(NULL), *again;
    rec_recorder *r = open_keep("Safetensors", REC_PRECISION_KEEP);
    uint64_t shape[] = {1};
    const float one[] = {1}, two[] = {2}, three[] = {3};
    st_file f;
    char *text;
    (void)state;
    assert_int_equal(rec_set_f32(record, "a.b", one, 1, shape), REC_OK);
    assert_int_equal(rec_set_f32(record, "a\\.b", two, 1, shape), REC_OK);
    assert_int_equal(rec_set_f32(record, "__metadata__", three, 1, shape), REC_OK);
    f = save(r, record);
    text = header_of(&f);
    assert_non_null(strstr(text, "\"a.b\":{"));
    assert_non_null(strstr(text, "\"a.b#2\":{"));
    assert_non_null(strstr(text, "\"__metadata__#3\":{"));
    again = load(r, &f);
    assert_float_equal(*rec_tensor_f32(rec_tensor_at(again, "a.b")), 1, 0);
    assert_float_equal(*rec_tensor_f32(rec_tensor_at(again, "a\\.b")), 2, 0);
    assert_float_equal(*rec_tensor_f32(rec_tensor_at(again, "__metadata__")), 3, 0);
    rec_record_free(again);
    free(text);
    free(f.data);
    assert_int_equal(rec_recorder_set(r, "record", "no"), REC_OK);
    void *data;
    uint64_t size;
    assert_int_equal(rec_save_bytes(r, record, &data, &size), REC_E_UNSUPPORTED);
    assert_non_null(strstr(rec_error_message(), "the name `a.b` is that of two tensors"));
    rec_close_recorder(r);
    rec_record_free(record);
}

/* ------------------------------------------------------------------------------------------------- round trips -- */

/* Record → safetensors → record: MessagePack of both is the same. */
static void assert_comes_back(const rec_record *record, const char *what)
{
    rec_recorder *st = open_keep("Safetensors", REC_PRECISION_KEEP), *mpk = open_keep("NamedMpk", REC_PRECISION_KEEP);
    st_file written = save(st, record), twice, before = save(mpk, record), after;
    rec_record *again = load(st, &written);
    twice = save(st, again);
    after = save(mpk, again);
    if (before.size != after.size || memcmp(before.data, after.data, before.size) != 0) {
        fail_msg("%s: not what it was", what);
    }
    assert_same(&written, &twice);
    rec_record_free(again);
    free(written.data);
    free(twice.data);
    free(before.data);
    free(after.data);
    rec_close_recorder(st);
    rec_close_recorder(mpk);
}

static unsigned check_files(const char *pattern)
{
    rec_recorder *automatic = rec_open_recorder("Auto", REC_PRECISION_KEEP);
    unsigned count = 0;
    glob_t found;
    if (glob(pattern, 0, NULL, &found) == 0) {
        for (size_t i = 0; i < found.gl_pathc; i++) {
            rec_record *record = rec_load(automatic, found.gl_pathv[i]);
            if (!record) {
                fail_msg("%s", rec_error_message());
            }
            assert_comes_back(record, found.gl_pathv[i]);
            rec_record_free(record);
            count++;
        }
        globfree(&found);
    }
    rec_close_recorder(automatic);
    return count;
}

static void records_of_burn_come_back_to_the_byte(void **state)
{
    const char *srcdir = getenv("srcdir");
    char pattern[4096];
    (void)state;
    (void)snprintf(pattern, sizeof pattern, "%s/tests/data/burn/*/*.mpk", srcdir ? srcdir : ".");
    assert_true(check_files(pattern) > 50);
    (void)snprintf(pattern, sizeof pattern, "%s/tests/data/burn/*/*.json", srcdir ? srcdir : ".");
    assert_true(check_files(pattern) > 10);
}

static void shared_records_of_burn_come_back_to_the_byte(void **state)
{
    char pattern[4096];
    (void)state;
    if (!shared_path(pattern, sizeof pattern, "golden/records/*/*/*.mpk")) {
        skip();
    }
    assert_true(check_files(pattern) > 50);
}

/* All that a tree can hold and a flat map cannot. */
static void odd_values_come_back(void **state)
{
    craft c = {0};
    rec_recorder *mpk = open_keep("NamedMpk", REC_PRECISION_KEEP);
    rec_record *record;
    uint8_t bytes[200];
    st_file f;
    uint64_t nan_bits = UINT64_C(0x7ff8dead00000001);
    double nan_payload;
    (void)state;
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (uint8_t)i;
    }
    memcpy(&nan_payload, &nan_bits, sizeof nan_payload);
    craft_map(&c, 3);
    craft_str(&c, "metadata");
    craft_map(&c, 6);
    for (int i = 0; i < 5; i++) {
        static const char *const pairs[][2] = {{"float", "f32"},
                                               {"int", "i32"},
                                               {"format", "x"},
                                               {"version", "0.21.0"},
                                               {"settings", "FullPrecisionSettings"}};
        craft_str(&c, pairs[i][0]);
        craft_str(&c, pairs[i][1]);
    }
    craft_str(&c, "librecord");
    craft_str(&c, "\"\\\b\f\n\r\t\1\x7fä");
    craft_str(&c, "item");
    craft_map(&c, 12);
    craft_str(&c, "floats");
    craft_list(&c, 8);
    craft_f64(&c, nan_payload);
    craft_f64(&c, -INFINITY);
    craft_f64(&c, -0.0);
    craft_f64(&c, 5e-324);
    craft_f64(&c, 1.7976931348623157e308);
    craft_f64(&c, 0.1);
    craft_f64(&c, 1);
    craft_f64(&c, 1e23);
    craft_str(&c, "mixed");
    craft_list(&c, 9);
    craft_f32(&c, 0.1f);
    craft_f32(&c, NAN);
    craft_f32(&c, 1e-45f);
    craft_nil(&c);
    craft_bool(&c, 1);
    craft_int(&c, INT64_MIN);
    craft_uint(&c, UINT64_MAX);
    craft_str(&c, "");
    craft_list(&c, 0);
    craft_str(&c, "~tilde");
    craft_map(&c, 4);
    craft_uint(&c, 5);
    craft_bool(&c, 0);
    craft_int(&c, -5);
    craft_nil(&c);
    craft_bool(&c, 1);
    craft_str(&c, "false"); /* no other key of this text: true would be the same key */
    craft_str(&c, "05");
    craft_str(&c, "text");
    craft_str(&c, "numbers");
    craft_list(&c, 3);
    craft_int(&c, -1);
    craft_int(&c, 70000);
    craft_int(&c, 2);
    craft_str(&c, "empty");
    craft_map(&c, 0);
    craft_str(&c, "short");
    craft_bin(&c, bytes, 5);
    craft_str(&c, "long");
    craft_bin(&c, bytes, sizeof bytes);
    craft_str(&c, "none");
    craft_bin(&c, bytes, 0);
    craft_str(&c, "a.b");
    craft_bin(&c, bytes, 100);
    craft_str(&c, "a");
    craft_map(&c, 1);
    craft_str(&c, "b");
    craft_bin(&c, bytes, 101);
    craft_str(&c, "");
    craft_bin(&c, bytes, 102);
    craft_str(&c, "\"quoted\" ä\n");
    craft_uint(&c, 1);
    craft_str(&c, "_b");
    craft_list(&c, 0);
    f = (st_file){c.data, c.size};
    record = load(mpk, &f);
    assert_comes_back(record, "odd values");
    rec_record_free(record);
    free(c.data);
    rec_close_recorder(mpk);
}

static void a_record_that_is_one_tensor_comes_back(void **state)
{
    rec_record *record = rec_record_new(NULL);
    uint64_t shape[] = {2, 1};
    const float two[] = {1, 2};
    (void)state;
    assert_int_equal(rec_set_f32(record, "", two, 2, shape), REC_OK);
    assert_comes_back(record, "one tensor");
    rec_record_free(record);
}

static void marked_element_types_come_back(void **state)
{
    static const rec_dtype dtypes[] = {REC_DTYPE_BOOL, REC_DTYPE_BOOL8, REC_DTYPE_BOOL32, REC_DTYPE_FLEX32,
                                       REC_DTYPE_BF16, REC_DTYPE_U16,   REC_DTYPE_U64,    REC_DTYPE_I8};
    static const char *const stored[] = {"BOOL", "BOOL", "U32", "F32", "BF16", "U16", "U64", "I8"};
    static const uint8_t data[16] = {1};
    rec_recorder *r = open_keep("Safetensors", REC_PRECISION_KEEP);
    (void)state;
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++) {
        uint64_t shape[] = {2};
        rec_tensor_spec spec = {.size = sizeof spec,
                                .dtype = dtypes[i],
                                .rank = 1,
                                .shape = shape,
                                .data = data,
                                .data_size = rec_dtype_bits(dtypes[i]) / 4,
                                .id = ""};
        rec_record *record = rec_record_new(NULL), *again;
        char entry[64], *text;
        st_file f;
        assert_int_equal(rec_set_tensor(record, "x", &spec), REC_OK);
        f = save(r, record);
        text = header_of(&f);
        (void)snprintf(entry, sizeof entry, "\"x\":{\"dtype\":\"%s\"", stored[i]);
        assert_non_null(strstr(text, entry));
        again = load(r, &f);
        assert_int_equal(rec_tensor_dtype(rec_tensor_at(again, "x")), dtypes[i]);
        assert_string_equal(rec_tensor_id(rec_tensor_at(again, "x")), rec_tensor_id(rec_tensor_at(record, "x")));
        assert_comes_back(record, stored[i]);
        rec_record_free(record);
        rec_record_free(again);
        free(text);
        free(f.data);
    }
    rec_close_recorder(r);
}

/* Tensors are converted while they are written, in another order than that of the record: large ones, and many small
 * ones that do not fit the memory for them at once. */
static void conversion_keeps_each_tensor_in_its_place(void **state)
{
    enum { SMALL = 40, EACH = 200000, LARGE = 3 << 20 };
    rec_record *record = rec_record_new(NULL), *again;
    rec_recorder *half = open_keep("Safetensors", REC_PRECISION_HALF),
                 *keep = open_keep("Safetensors", REC_PRECISION_KEEP);
    float *data = malloc(LARGE * sizeof *data);
    st_file f;
    (void)state;
    assert_non_null(data);
    for (int i = SMALL + 1; i >= 0; i--) {
        uint64_t shape[] = {i % 20 == 0 ? LARGE : EACH};
        char name[16];
        for (uint64_t k = 0; k < shape[0]; k++) {
            data[k] = (float)(i + 1) + (float)(k % 2);
        }
        (void)snprintf(name, sizeof name, "m%d.w", i);
        assert_int_equal(rec_set_f32(record, name, data, 1, shape), REC_OK);
        if (i % 7 == 0) {
            (void)snprintf(name, sizeof name, "m%d.n", i);
            assert_int_equal(rec_set_uint(record, name, 1), REC_OK);
        }
    }
    f = save(half, record);
    again = load(keep, &f);
    for (int i = 0; i <= SMALL + 1; i++) {
        char name[16];
        const rec_tensor *tensor;
        const uint16_t *found;
        (void)snprintf(name, sizeof name, "m%d.w", i);
        tensor = rec_tensor_at(again, name);
        assert_int_equal(rec_tensor_dtype(tensor), REC_DTYPE_F16);
        found = rec_tensor_f16(tensor);
        for (uint64_t k = 0; k < rec_tensor_count(tensor); k += 999) {
            float one;
            assert_int_equal(rec_tensor_read(tensor, REC_DTYPE_F32, k, 1, &one), REC_OK);
            assert_float_equal(one, (float)(i + 1) + (float)(k % 2), 0);
        }
        assert_non_null(found);
    }
    rec_record_free(again);
    rec_record_free(record);
    free(f.data);
    free(data);
    rec_close_recorder(half);
    rec_close_recorder(keep);
}

static void metadata_can_be_edited(void **state)
{
    st_file f = st_make("{\"__metadata__\":{\"format\":\"pt\",\"old\":\"1\"},\"x\":{\"dtype\":\"U8\",\"shape\":[1],"
                        "\"data_offsets\":"
                        "[0,1]}}",
                        1),
            again;
    rec_recorder *r = open_keep("Safetensors", REC_PRECISION_KEEP);
    rec_record *record, *twice;
    (void)state;
    assert_int_equal(rec_recorder_set(r, "adapter", "none"), REC_OK);
    record = load(r, &f);
    assert_int_equal(rec_metadata_set(record, "new", "2"), REC_OK);
    assert_int_equal(rec_metadata_set(record, "old", NULL), REC_OK);
    again = save(r, record);
    twice = load(r, &again);
    assert_string_equal(rec_metadata(twice, "new"), "2");
    assert_null(rec_metadata(twice, "old"));
    rec_record_free(record);
    rec_record_free(twice);
    free(f.data);
    free(again.data);
    rec_close_recorder(r);
}

/* A key so deep that no tree is made of it. One with a NUL is rejected for that, whatever goes on behind it. */
static void a_key_too_deep_or_with_nul_is_refused(void **state)
{
    static const struct {
        const char *begin;
        int dots;
        rec_status status;
        const char *words;
    } cases[] = {{"a", 400, REC_E_LIMIT, "has more than 200 parts"},
                 {"a\\u0000", 0, REC_E_UNSUPPORTED, "a key has a NUL byte after \"a\""},
                 {"a\\u0000", 400, REC_E_UNSUPPORTED, "a key has a NUL byte after \"a\""}};
    rec_recorder *r = open_keep("Safetensors", REC_PRECISION_KEEP);
    char header[700], dots[401];
    (void)state;
    memset(dots, '.', sizeof dots - 1);
    dots[sizeof dots - 1] = '\0';
    for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
        bool planned = i % 2;
        st_file f;
        (void)snprintf(header, sizeof header, "{\"%s%.*s\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}",
                       cases[i / 2].begin, cases[i / 2].dots, dots);
        f = st_make(header, 1);
        assert_int_equal(rec_recorder_set(r, "adapter", planned ? "pytorch" : "none"), REC_OK);
        assert_int_equal(rec_recorder_set(r, "gaps", planned ? "close" : "keep"), REC_OK);
        assert_null(rec_load_bytes(r, f.data, f.size));
        assert_int_equal(rec_error_status(), cases[i / 2].status);
        assert_non_null(strstr(rec_error_message(), cases[i / 2].words));
        free(f.data);
    }
    rec_close_recorder(r);
}

static void data_that_are_not_aligned_are_read(void **state)
{
    /* The header has 63 bytes: its data lie at byte 71. */
    st_file f = st_make("{ \"x\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}       ", 8);
    rec_recorder *r = open_keep("Safetensors", REC_PRECISION_KEEP);
    rec_record *record;
    const float *values;
    float expected[2];
    (void)state;
    assert_int_not_equal((f.size - 8) % 4, 0);
    memcpy(expected, f.data + f.size - 8, 8);
    little(expected, sizeof *expected, 2);
    record = load(r, &f);
    values = rec_tensor_f32(rec_tensor_at(record, "x"));
    assert_non_null(values);
    assert_int_equal((uintptr_t)values % 4, 0);
    assert_memory_equal(values, expected, 8);
    rec_record_free(record);
    free(f.data);
    rec_close_recorder(r);
}

/* ----------------------------------------------------------------------------------------------- several files -- */

static const uint8_t numbers[64] = {1, 2, 3, 4, 5, 6, 7, 8, 9};

/* Tensors of 8, 24, 4, 16 and 0 bytes, and a number. */
static rec_record *make_model(void)
{
    static const uint64_t sizes[] = {8, 24, 4, 16, 0};
    rec_record *record = rec_record_new(NULL);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char name[16];
        rec_tensor_spec spec = {.size = sizeof spec,
                                .dtype = REC_DTYPE_U8,
                                .rank = 1,
                                .shape = &sizes[i],
                                .data = numbers + i,
                                .data_size = sizes[i],
                                .id = ""};
        (void)snprintf(name, sizeof name, "t%zu", i);
        assert_int_equal(rec_set_tensor(record, name, &spec), REC_OK);
    }
    assert_int_equal(rec_set_uint(record, "steps", 9), REC_OK);
    return record;
}

static char *read_text(const scratch *s, const char *name)
{
    char *path = scratch_path(s, name), *text = calloc(1, 65536);
    FILE *file = fopen(path, "rb");
    assert_non_null(text);
    if (!file) {
        fail_msg("%s is not there", path);
    }
    (void)!fread(text, 1, 65535, file);
    (void)fclose(file);
    free(path);
    return text;
}

static bool is_there(const scratch *s, const char *name)
{
    char *path = scratch_path(s, name);
    bool there = access(path, F_OK) == 0;
    free(path);
    return there;
}

static void a_model_goes_into_several_files_and_comes_back(void **state)
{
    static const char *const sources[] = {"m.safetensors.index.json", "."};
    scratch *s = scratch_new();
    rec_record *record = make_model();
    rec_recorder *r = open_keep("Safetensors", REC_PRECISION_KEEP), *mpk = open_keep("NamedMpk", REC_PRECISION_KEEP);
    char *path = scratch_path(s, "m"), *text, *first;
    st_file before = save(mpk, record);
    (void)state;
    assert_int_equal(rec_recorder_set(r, "max-shard-size", "20B"), REC_OK);
    if (rec_save(r, record, path) != REC_OK) {
        fail_msg("%s", rec_error_message());
    }
    assert_string_equal(rec_report_note(0)->text, "1 tensor is larger than max-shard-size: a file of its own for each");
    /* As Hugging Face's tools: 24 bytes are complete at once, then 8 + 4, then 16 + 0. */
    text = read_text(s, "m.safetensors.index.json");
    first = strstr(text, "\"total_size\"");
    assert_non_null(first);
    assert_string_equal(first, "\"total_size\": 52\n  },\n  \"weight_map\": {\n"
                               "    \"t0\": \"m-00002-of-00003.safetensors\",\n"
                               "    \"t1\": \"m-00001-of-00003.safetensors\",\n"
                               "    \"t2\": \"m-00002-of-00003.safetensors\",\n"
                               "    \"t3\": \"m-00003-of-00003.safetensors\",\n"
                               "    \"t4\": \"m-00003-of-00003.safetensors\"\n  }\n}\n");
    free(text);
    assert_false(is_there(s, "m.safetensors"));
    for (size_t i = 0; i < 2; i++) {
        char *in = scratch_path(s, sources[i]);
        rec_recorder *automatic = rec_open_recorder("Auto", REC_PRECISION_KEEP);
        rec_record *again = rec_load(automatic, in);
        st_file after;
        if (!again) {
            fail_msg("%s", rec_error_message());
        }
        after = save(mpk, again);
        assert_int_equal(after.size, before.size);
        assert_memory_equal(after.data, before.data, before.size);
        free(after.data);
        rec_record_free(again);
        rec_close_recorder(automatic);
        free(in);
    }
    /* Where all fits one file there is no index. */
    free(path);
    path = scratch_path(s, "one");
    assert_int_equal(rec_recorder_set(r, "max-shard-size", "1KiB"), REC_OK);
    assert_int_equal(rec_save(r, record, path), REC_OK);
    assert_true(is_there(s, "one.safetensors"));
    assert_false(is_there(s, "one.safetensors.index.json"));
    free(path);
    free(before.data);
    rec_close_recorder(r);
    rec_close_recorder(mpk);
    rec_record_free(record);
    scratch_free(s);
}

static void sizes_of_files_are_read_or_refused(void **state)
{
    static const char *const good[] = {"5GB", "300 MB", "1GiB", "52", "52B", "1kb", "2TiB"};
    static const char *const bad[] = {
        "0", "GB", "-1", "5XB", "5GBs", "99999999999999999999", "18446744073709551615TB", "1.5GB"};
    rec_record *record = make_model();
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good + sizeof bad / sizeof *bad; i++) {
        bool fits = i < sizeof good / sizeof *good;
        rec_recorder *r = open_keep("Safetensors", REC_PRECISION_KEEP);
        void *data = NULL;
        uint64_t size;
        assert_int_equal(rec_recorder_set(r, "max-shard-size", fits ? good[i] : bad[i - sizeof good / sizeof *good]),
                         REC_OK);
        assert_int_equal(rec_save_bytes(r, record, &data, &size), fits ? REC_OK : REC_E_ARGUMENT);
        if (!fits) {
            assert_non_null(strstr(rec_error_message(), "expected a number of bytes as max-shard-size"));
        }
        rec_free(data);
        rec_close_recorder(r);
    }
    /* In memory there is room for one file only. */
    rec_recorder *r = open_keep("Safetensors", REC_PRECISION_KEEP);
    void *data = NULL;
    uint64_t size;
    assert_int_equal(rec_recorder_set(r, "max-shard-size", "20"), REC_OK);
    assert_int_equal(rec_save_bytes(r, record, &data, &size), REC_E_UNSUPPORTED);
    assert_non_null(
        strstr(rec_error_message(), "max-shard-size would make 3 files, and what is saved to is not a file"));
    rec_close_recorder(r);
    rec_record_free(record);
}

/* As many as a load takes, no more: 0.1 wrote up to 99,999. */
static void more_files_than_are_read_are_not_written(void **state)
{
    scratch *s = scratch_new();
    char *path = scratch_path(s, "many");
    rec_record *record = rec_record_new(NULL);
    rec_recorder *r = open_keep("Safetensors", REC_PRECISION_KEEP);
    (void)state;
    for (unsigned i = 0; i <= 10000; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "t%u", i);
        assert_int_equal(rec_set_f32(record, name, (const float[]){1}, 1, (const uint64_t[]){1}), REC_OK);
    }
    assert_int_equal(rec_recorder_set(r, "max-shard-size", "1"), REC_OK);
    assert_int_equal(rec_save(r, record, path), REC_E_LIMIT);
    assert_non_null(
        strstr(rec_error_message(), "10001 files would be needed; at most 10,000 are written, as many as are read"));
    assert_non_null(strstr(rec_error_message(), "Raise max-shard-size."));
    assert_false(is_there(s, "many.safetensors"));
    assert_false(is_there(s, "many.safetensors.index.json"));
    rec_close_recorder(r);
    rec_record_free(record);
    free(path);
    scratch_free(s);
}

/* A file of one or two tensors of a byte each. */
static void write_part(const scratch *s, const char *name, const char *a, const char *b, const char *metadata)
{
    char header[512];
    st_file f;
    char *path;
    int n = snprintf(header, sizeof header, "{%s%s%s", metadata ? "\"__metadata__\":{" : "", metadata ? metadata : "",
                     metadata ? "}," : "");
    n += snprintf(header + n, sizeof header - (size_t)n,
                  "\"%s\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}", a);
    if (b) {
        n += snprintf(header + n, sizeof header - (size_t)n,
                      ",\"%s\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[1,2]}", b);
    }
    (void)snprintf(header + n, sizeof header - (size_t)n, "}");
    f = st_make(header, b ? 2 : 1);
    path = scratch_write(s, name, f.data, f.size);
    free(path);
    free(f.data);
}

/* What reading a file of the folder says, with the folder's own name taken out. To be freed. */
static char *tell(const scratch *s, const char *name)
{
    char *path = *name ? scratch_path(s, name) : strdup(s->path), *text = st_tell_path(path), *at;
    while ((at = strstr(text, s->path)) != NULL) {
        size_t length = strlen(s->path) + (at[strlen(s->path)] == '/');
        memmove(at, at + length, strlen(at + length) + 1);
    }
    free(path);
    return text;
}

static void assert_tells(const scratch *s, const char *name, const char *expected)
{
    char *found = tell(s, name);
    assert_string_equal(found, expected);
    free(found);
}

#define INDEX "m.safetensors.index.json"
#define HINT "\n  The index and the files are not of one model, or not all were copied."

static void the_index_says_which_tensors_count(void **state)
{
    scratch *s = scratch_new();
    (void)state;
    write_part(s, "a.safetensors", "x", "stray", "\"format\":\"pt\"");
    write_part(s, "b.safetensors", "y", NULL, "\"format\":\"pt\",\"k\":\"v\"");
    write_part(s, "c.safetensors", "x", NULL, NULL);
    free(scratch_text(
        s, INDEX,
        "{\"metadata\":{\"total_size\":2,\"note\":\"n\",\"odd\":[1]},\"weight_map\":{\"y\":\"b.safetensors\","
        "\"x\":\"a.safetensors\"}}"));
    assert_tells(s, INDEX,
                 "28:'note' = 'n' 25:'format' = 'pt' 39:'k' = 'v' map10*2{ 40:'x' u8[1]1(00) 48:'y' u8[1]1(00) } \n"
                 "1 tensor of the files that the index does not name: left out; the first is `stray`\n"
                 "1 entry of the index's metadata other than text: left out");
    scratch_free(s);
}

static void an_index_that_means_no_good_is_refused(void **state)
{
    static const struct {
        const char *index, *message;
    } cases[] = {
        {"{\"weight_map\":{\"x\":\"../a.safetensors\"}}",
         "REC_E_FORMAT\n" INDEX
         ": it names the file \"../a.safetensors\", which is not a path below its own directory\n  The files of a "
         "model must be in one directory: names that lead out of it are rejected."},
        {"{\"weight_map\":{\"x\":\"/etc/passwd\"}}",
         "REC_E_FORMAT\n" INDEX
         ": it names the file \"/etc/passwd\", which is not a path below its own directory\n  The files of a model "
         "must be in one directory: names that lead out of it are rejected."},
        {"{\"weight_map\":{\"x\":\"..\"}}",
         "REC_E_FORMAT\n" INDEX ": it names the file \"..\", which is not a plain file name\n  The files of a model "
         "must be in one directory: names that lead out of it are rejected."},
        {"{\"weight_map\":{\"x\":\"\"}}", "REC_E_FORMAT\n" INDEX ": the name of another file is empty"},
        {"{\"weight_map\":{\"x\":\"a.safetensors\\u0000\"}}",
         "REC_E_FORMAT\n" INDEX ": byte 15: it names the file \"a.safetensors?\", with a NUL"},
        {"{\"weight_map\":{\"x\":\"none.safetensors\"}}",
         "REC_E_NOT_FOUND\nnone.safetensors: cannot open the file: No such file or directory\n  It belongs to " INDEX
         "."},
        {"{\"weight_map\":{\"x\":\"a.safetensors\",\"x\":\"a.safetensors\"}}",
         "REC_E_FORMAT\n" INDEX ": byte 35: the tensor `x` is in the index twice" HINT},
        {"{\"weight_map\":{\"x\":\"a.safetensors\",\"z\":\"a.safetensors\"}}",
         "REC_E_FORMAT\n" INDEX ": byte 35: the tensor `z` is not in a.safetensors" HINT},
        {"{\"weight_map\":{\"x\":\"a.safetensors\",\"y\":\"twin.safetensors\"}}",
         "REC_E_FORMAT\n" INDEX ": byte 15: the tensor `x` is, against the index, also in twin.safetensors" HINT},
        {"{\"weight_map\":{\"x\":\"bad.safetensors\"}}",
         "REC_E_FORMAT\n"
         "bad.safetensors: byte 0: the header has 9 bytes, but only 2 follow\n"
         "  The file is truncated, or it is not a safetensors file."},
        {"{\"weight_map\":[]}",
         "REC_E_FORMAT\n" INDEX ": byte 14: expected `weight_map`, a map from tensors to files, found `[`\n"
         "  The file is damaged, or its writer is wrong: get it again, or write it again."},
        {"{\"weight_map\":{\"x\":1}}",
         "REC_E_FORMAT\n" INDEX ": byte 19: expected the name of a file in quotes, found `1`\n"
         "  The file is damaged, or its writer is wrong: get it again, or write it again."},
        {"{\"metadata\":{},\"other\":1}",
         "REC_E_FORMAT\n" INDEX ": this JSON has no `weight_map`: it is not an index of safetensors files\n"
         "  Load the .safetensors file itself, or open this one with another recorder."},
        {"{\"weight_map\":{},\"weight_map\":{}}",
         "REC_E_FORMAT\n" INDEX ": byte 17: `weight_map` occurs twice\n  The file is damaged, or its writer is wrong: "
         "get it again, or write it again."},
        {"{\"metadata\":{},\"metadata\":{},\"weight_map\":{}}",
         "REC_E_FORMAT\n" INDEX ": byte 15: `metadata` occurs twice\n  The file is damaged, or its writer is wrong: "
         "get it again, or write it again."},
        {"{\"weight_map\":{\"x\":\"a.safetensors\"}",
         "REC_E_FORMAT\n" INDEX ": byte 35: expected `,` or `}`, found the end of the index\n"
         "  The file is damaged, or its writer is wrong: get it again, or write it again."},
    };
    scratch *s = scratch_new();
    (void)state;
    write_part(s, "a.safetensors", "x", NULL, NULL);
    write_part(s, "twin.safetensors", "y", "x", NULL);
    free(scratch_write(s, "bad.safetensors", "\11\0\0\0\0\0\0\0{}", 10));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        free(scratch_text(s, INDEX, cases[i].index));
        assert_tells(s, INDEX, cases[i].message);
    }
    scratch_free(s);
}

/* What stands beside another is no deeper for it. */
static void depth_is_that_of_what_is_within_another(void **state)
{
    rec_limits limits = rec_limits_default();
    rec_context *context = rec_context_new(NULL);
    rec_record *record = rec_record_new(context), *back;
    rec_recorder *r = rec_open_recorder_in(context, "Safetensors", REC_PRECISION_KEEP);
    char path[32];
    void *data = NULL;
    uint64_t size = 0;
    (void)state;
    assert_true(context && record && r);
    for (int i = 0; i < 40; i++) {
        (void)snprintf(path, sizeof path, "map%d.a.b", i);
        assert_int_equal(rec_set_uint(record, path, 1), REC_OK);
    }
    assert_int_equal(rec_save_bytes(r, record, &data, &size), REC_OK);
    limits.depth = 16;
    assert_int_equal(rec_context_set_limits(context, &limits), REC_OK);
    back = rec_load_bytes(r, data, size);
    if (!back) {
        fail_msg("%s", rec_error_message());
    }
    assert_int_equal(rec_value_scalar(rec_value_at(back, "map19.a.b")).v.u, 1);
    rec_record_free(back);
    rec_free(data);
    rec_close_recorder(r);
    rec_record_free(record);
    rec_context_free(context);
}

static void a_folder_is_what_is_in_it(void **state)
{
    scratch *s = scratch_new();
    char *text;
    (void)state;
    assert_tells(s, "", "REC_E_NOT_FOUND\n: the directory holds no safetensors file\n  Give the name of a file.");
    write_part(s, "one.safetensors", "x", NULL, NULL);
    assert_tells(s, "", "map10*1{ 9:'x' u8[1]1(00) } ");
    write_part(s, "two.safetensors", "x", NULL, NULL);
    assert_tells(s, "",
                 "REC_E_NOT_FOUND\n: the directory holds several safetensors files, and no index\n  Load one by its "
                 "name.\n  Known: one.safetensors, two.safetensors");
    scratch_free(s);

    s = scratch_new();
    write_part(s, "m-00001-of-00003.safetensors", "x", NULL, "\"format\":\"pt\"");
    write_part(s, "m-00003-of-00003.safetensors", "z", NULL, "\"format\":\"tf\"");
    assert_tells(s, "",
                 "REC_E_NOT_FOUND\n: part 2 of the 3 parts of the model is not in the directory\n  Get the missing "
                 "parts.\n  Known: m-00001-of-00003.safetensors, m-00003-of-00003.safetensors");
    write_part(s, "m-00002-of-00003.safetensors", "y", NULL, NULL);
    assert_tells(s, "",
                 "25:'format' = 'pt' map10*3{ 40:'x' u8[1]1(00) 9:'y' u8[1]1(00) 40:'z' u8[1]1(00) } \nthe files of "
                 "the model differ in the metadata entry `format`: that of the first is used");
    /* One part alone is a file, and says that it is a part. */
    assert_tells(s, "m-00002-of-00003.safetensors",
                 "map10*1{ 9:'y' u8[1]1(00) } \nthis is part 2 of a model in 3 parts: its index, or the directory, "
                 "loads the whole");
    write_part(s, "m-00002-of-00003.safetensors", "x", NULL, NULL);
    text = tell(s, "");
    assert_string_equal(text,
                        "REC_E_FORMAT\n"
                        "m-00002-of-00003.safetensors: byte 9: the tensor `x` is in m-00001-of-00003.safetensors, too\n"
                        "  The file is damaged, or its writer is wrong: get it again, or write it again.");
    free(text);
    write_part(s, "n-00001-of-00001.safetensors", "x", NULL, NULL);
    text = tell(s, "");
    assert_non_null(strstr(text, "the directory holds the parts of several models, and no index"));
    free(text);
    free(scratch_text(s, "a.safetensors.index.json", "{\"weight_map\":{\"x\":\"n-00001-of-00001.safetensors\"}}"));
    assert_tells(s, "", "map10*1{ 9:'x' u8[1]1(00) } ");
    free(scratch_text(s, "b.safetensors.index.json", "{}"));
    assert_tells(s, "",
                 "REC_E_NOT_FOUND\n: the directory holds several models\n  Load one by its index.\n  Known: "
                 "a.safetensors.index.json, b.safetensors.index.json");
    scratch_free(s);
}

static void no_changed_byte_of_an_index_breaks_the_reader(void **state)
{
    static const char index[] = "{\"metadata\":{\"k\":\"v\",\"n\":1},\"weight_map\":{\"x\":\"a.safetensors\"}}";
    scratch *s = scratch_new();
    (void)state;
    write_part(s, "a.safetensors", "x", NULL, NULL);
    for (size_t at = 0; at < sizeof index - 1; at++) {
        char changed[sizeof index];
        free(scratch_write(s, INDEX, index, at));
        free(tell(s, INDEX));
        for (int bit = 0; bit < 8; bit++) {
            memcpy(changed, index, sizeof index);
            changed[at] = (char)(changed[at] ^ 1 << bit);
            free(scratch_write(s, INDEX, changed, sizeof index - 1));
            free(tell(s, INDEX));
        }
    }
    scratch_free(s);
}

/* A set that others wrote: by the index, and all in one file. */
static void a_foreign_set_is_the_same_as_its_single_file(void **state)
{
    static const char *const names[] = {"model.safetensors", "model.safetensors.index.json", ""};
    char path[4096];
    uint64_t tensors = 0, bytes = 0;
    (void)state;
    if (!shared_path(path, sizeof path, "safetensors/SafeTensors.jl/")) {
        skip();
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        st_listener l = {.quiet = true};
        rec_job job;
        rec_source *source;
        char file[8192];
        (void)snprintf(file, sizeof file, "%s%s", path, names[i]);
        lr_job_open(&job, NULL, "load", file);
        source = lr_source_open(&job, file, true);
        (void)st_tell_source(&job, source, &l);
        rec_source_release(source);
        assert_int_equal(l.tensors, 36);
        assert_true(i == 0 || (l.tensors == tensors && l.bytes == bytes));
        tensors = l.tensors;
        bytes = l.bytes;
        free(l.text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entries_are_in_the_order_of_the_reference_implementation),
        cmocka_unit_test(all_element_types_are_sorted_as_the_reference_does),
        cmocka_unit_test(without_record_data_only_tensors_are_written),
        cmocka_unit_test(names_that_meet_are_told_apart),
        cmocka_unit_test(records_of_burn_come_back_to_the_byte),
        cmocka_unit_test(shared_records_of_burn_come_back_to_the_byte),
        cmocka_unit_test(odd_values_come_back),
        cmocka_unit_test(a_record_that_is_one_tensor_comes_back),
        cmocka_unit_test(marked_element_types_come_back),
        cmocka_unit_test(conversion_keeps_each_tensor_in_its_place),
        cmocka_unit_test(metadata_can_be_edited),
        cmocka_unit_test(a_key_too_deep_or_with_nul_is_refused),
        cmocka_unit_test(data_that_are_not_aligned_are_read),
        cmocka_unit_test(a_model_goes_into_several_files_and_comes_back),
        cmocka_unit_test(sizes_of_files_are_read_or_refused),
        cmocka_unit_test(more_files_than_are_read_are_not_written),
        cmocka_unit_test(the_index_says_which_tensors_count),
        cmocka_unit_test(an_index_that_means_no_good_is_refused),
        cmocka_unit_test(depth_is_that_of_what_is_within_another),
        cmocka_unit_test(a_folder_is_what_is_in_it),
        cmocka_unit_test(no_changed_byte_of_an_index_breaks_the_reader),
        cmocka_unit_test(a_foreign_set_is_the_same_as_its_single_file),
    };
    return cmocka_run_group_tests_name("safetensors files", tests, NULL, NULL);
}
