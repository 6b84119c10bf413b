/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Loads and conversions by a type: a type without tensors does not fit a record with tensors, in any format, and values
 * that the type asks for and the file lacks are never zero in silence. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "librecord.h"
#include "tests/message.h"
#include "tests/scratch.h"

#define EMPTY_FIELDS(F, T) F(T, CONSTANT, act) F(T, OPTION_CHILD, inner, INNER)
#define INNER_FIELDS(F, T) F(T, CONSTANT, act) F(T, USIZE, steps)
REC_DEFINE_STRUCT(INNER, INNER_FIELDS)
REC_DEFINE_STRUCT(EMPTY, EMPTY_FIELDS)
#define OTHER_FIELDS(F, T) F(T, OPTION_PARAM, other, 1)
REC_DEFINE_STRUCT(OTHER, OTHER_FIELDS)

#define STATE_FIELDS(F, T) \
    F(T, PARAM, w, 1) F(T, USIZE, steps) F(T, F64, lr) F(T, BOOL, on) F(T, STRING, name) F(T, CONSTANT, act)
REC_DEFINE_STRUCT(STATE, STATE_FIELDS)

/* Formats that hold tensors under names. */
static const char *const formats[] = {"NamedMpk", "PrettyJson", "Burnpack", "Safetensors", "Npz", "Gguf", "PyTorch"};
enum { FORMATS = sizeof formats / sizeof *formats };

static void ok(rec_status status)
{
    if (status != REC_OK) {
        fail_msg("%s", rec_error_message());
    }
}

static rec_recorder *open_recorder(const char *name)
{
    rec_recorder *r = rec_open_recorder(name, REC_PRECISION_KEEP);
    if (!r) {
        fail_msg("%s: %s", name, rec_error_message());
    }
    return r;
}

/* Saves {w: [1, 2]} in a format, in memory. */
static void *saved(const char *format, uint64_t *size)
{
    static const uint64_t shape[] = {2};
    static const float numbers[] = {1, 2};
    rec_record *record = rec_record_new(NULL);
    rec_recorder *r = open_recorder(format);
    void *data = NULL;
    ok(rec_set_f32(record, "w", numbers, 1, shape));
    ok(rec_save_bytes(r, record, &data, size));
    rec_close_recorder(r);
    rec_record_free(record);
    return data;
}

static rec_record *load(const char *format, const rec_type *type, const void *data, uint64_t size)
{
    rec_recorder *r = open_recorder(format);
    rec_record *record;
    ok(rec_recorder_set_type(r, type));
    record = rec_load_bytes(r, data, size);
    rec_close_recorder(r);
    return record;
}

static void test_type_without_tensors_does_not_fit(void **state)
{
    (void)state;
    for (size_t i = 0; i < FORMATS; i++) {
        uint64_t size;
        void *data = saved(formats[i], &size);
        rec_record *record = load(formats[i], &EMPTY_type, data, size);
        if (record || rec_error_status() != REC_E_MISMATCH ||
            !strstr(rec_error_message(), "has no tensors, but the record has 1")) {
            fail_msg("%s: found %s", formats[i], record ? "a record" : rec_error_message());
        }
        rec_free(data);
    }
}

/* {w: [1, 2]} as another framework writes it. */
static const char foreign[] = "\x38\0\0\0\0\0\0\0{\"w\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}  "
                              "\0\0\x80\x3f\0\0\0\x40";

static const char *const flat[] = {"Burnpack", "Npz", "Gguf", "Safetensors"};
enum { FLAT = sizeof flat / sizeof *flat };

static void *saved_flat(size_t format, uint64_t *size)
{
    void *data;
    if (strcmp(flat[format], "Safetensors") != 0) {
        return saved(flat[format], size);
    }
    *size = sizeof foreign - 1;
    data = malloc(sizeof foreign);
    assert_non_null(data);
    memcpy(data, foreign, sizeof foreign);
    return data;
}

static void test_nothing_mapped_is_an_error(void **state)
{
    (void)state;
    for (size_t i = 0; i < FLAT; i++) {
        uint64_t size;
        void *data = saved_flat(i, &size);
        rec_record *record = load(flat[i], &OTHER_type, data, size);
        if (record || rec_error_status() != REC_E_MISMATCH ||
            !strstr(rec_error_message(), "none of 1 tensors is mapped")) {
            fail_msg("%s: found %s", flat[i], record ? "a record" : rec_error_message());
        }
        rec_free(data);
    }
}

static void expect_file(const char *path, const void *data, size_t size)
{
    FILE *file = fopen(path, "rb");
    char *found = malloc(size + 1);
    assert_true(file && found);
    assert_int_equal(fread(found, 1, size + 1, file), size);
    assert_memory_equal(found, data, size);
    (void)fclose(file);
    free(found);
}

/* Converts a Burnpack onto itself. @param partial whether the load is partial. */
static rec_status convert_in_place(const char *path, const rec_type *type, bool partial)
{
    rec_recorder *from = open_recorder("Burnpack"), *to = open_recorder("Burnpack");
    rec_status status;
    ok(rec_recorder_set(from, "partial", partial ? "yes" : "no"));
    ok(rec_recorder_set_type(to, type));
    status = rec_convert(from, path, to, path, NULL);
    rec_close_recorder(from);
    rec_close_recorder(to);
    return status;
}

static void test_existing_file_is_not_replaced_by_nothing(void **state)
{
    uint64_t size;
    void *data = saved("Burnpack", &size);
    scratch *s = scratch_new();
    char *path = scratch_write(s, "model.bpk", data, (size_t)size);
    (void)state;
    assert_int_equal(convert_in_place(path, &EMPTY_type, false), REC_E_MISMATCH);
    expect_file(path, data, (size_t)size);
    assert_int_equal(convert_in_place(path, &EMPTY_type, true), REC_E_MISMATCH);
    expect_file(path, data, (size_t)size);
    assert_int_equal(convert_in_place(path, &OTHER_type, false), REC_E_MISMATCH);
    expect_file(path, data, (size_t)size);
    assert_int_equal(convert_in_place(path, &OTHER_type, true), REC_E_MISMATCH);
    assert_non_null(strstr(rec_error_message(), "no tensor was mapped: the existing file is not replaced"));
    expect_file(path, data, (size_t)size);
    rec_free(data);
    free(path);
    scratch_free(s);
}

/* -------------------------------------------------------------------------------------------- values that lack -- */

static const struct {
    const char *path, *words;
} assumed[] = {{"steps", "0"}, {"lr", "0.0"}, {"on", "false"}, {"name", "\"\""}};
enum { ASSUMED = sizeof assumed / sizeof *assumed };

static void expect_note(const char *format, int32_t kind, const char *path, const char *words)
{
    for (uint64_t i = 0; i < rec_report_count(); i++) {
        const rec_note *note = rec_report_note(i);
        if (note->kind == kind && strcmp(note->path, path) == 0 && strstr(note->text, words)) {
            return;
        }
    }
    fail_msg("%s: no note of %s with %s", format, path, words);
}

static void test_assumed_values_are_notes(void **state)
{
    (void)state;
    for (size_t i = 0; i < FLAT; i++) {
        uint64_t size;
        void *data = saved_flat(i, &size);
        rec_record *record = load(flat[i], &STATE_type, data, size);
        if (!record) {
            fail_msg("%s: %s", flat[i], rec_error_message());
        }
        for (size_t k = 0; k < ASSUMED; k++) {
            char words[64];
            (void)snprintf(words, sizeof words, "%s is assumed", assumed[k].words);
            expect_note(flat[i], REC_NOTE_ASSUMED, assumed[k].path, words);
            assert_non_null(rec_value_at(record, assumed[k].path));
        }
        rec_record_free(record);
        rec_free(data);
    }
}

static void test_strict_bind_misses_assumed_values(void **state)
{
    (void)state;
    for (size_t i = 0; i < FLAT; i++) {
        uint64_t size;
        void *data = saved_flat(i, &size);
        rec_record *record = load(flat[i], &STATE_type, data, size), *copy = rec_record_copy(record);
        STATE target = {.steps = 7, .lr = 0.5};
        rec_binding *binding;
        assert_true(record && copy);
        for (int c = 0; c < 2; c++) {
            assert_null(rec_bind(c ? copy : record, &STATE_type, &target));
            assert_int_equal(rec_error_status(), REC_E_MISMATCH);
            assert_int_equal(rec_report_count(), ASSUMED);
            for (size_t k = 0; k < ASSUMED; k++) {
                expect_note(flat[i], REC_NOTE_MISSING, assumed[k].path, "is missing");
            }
        }
        binding = rec_bind_at(record, "", &STATE_type, &target, REC_BIND_ALLOW_MISSING);
        assert_non_null(binding);
        assert_int_equal(target.steps, 7); /* the caller's */
        assert_float_equal(target.lr, 0.5, 0);
        rec_binding_free(binding);
        ok(rec_set_uint(record, "steps", 42)); /* what is set is there */
        assert_null(rec_bind(record, &STATE_type, &target));
        assert_int_equal(rec_report_count(), ASSUMED - 1);
        rec_record_free(copy);
        rec_record_free(record);
        rec_free(data);
    }
}

static void test_strict_load_misses_values(void **state)
{
    (void)state;
    for (size_t i = 0; i < FLAT; i++) {
        uint64_t size;
        void *data = saved_flat(i, &size);
        rec_recorder *r = open_recorder(flat[i]);
        ok(rec_recorder_set(r, "strict", "yes"));
        ok(rec_recorder_set_type(r, &STATE_type));
        assert_null(rec_load_bytes(r, data, size));
        assert_int_equal(rec_error_status(), REC_E_MISMATCH);
        for (size_t k = 0; k < ASSUMED; k++) {
            char words[64];
            (void)snprintf(words, sizeof words, "%s is missing: ", assumed[k].path);
            if (!strstr(rec_error_message(), words)) {
                fail_msg("%s: %s", flat[i], rec_error_message());
            }
        }
        rec_close_recorder(r);
        rec_free(data);
    }
}

static void test_partial_load_leaves_values_out(void **state)
{
    uint64_t size;
    void *data = saved("Burnpack", &size);
    rec_recorder *r = open_recorder("Burnpack");
    rec_record *record;
    (void)state;
    ok(rec_recorder_set(r, "partial", "yes"));
    ok(rec_recorder_set_type(r, &STATE_type));
    record = rec_load_bytes(r, data, size);
    assert_non_null(record);
    assert_null(rec_value_at(record, "steps"));
    assert_non_null(rec_tensor_at(record, "w"));
    rec_record_free(record);
    rec_close_recorder(r);
    rec_free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_type_without_tensors_does_not_fit),
        cmocka_unit_test(test_nothing_mapped_is_an_error),
        cmocka_unit_test(test_existing_file_is_not_replaced_by_nothing),
        cmocka_unit_test(test_assumed_values_are_notes),
        cmocka_unit_test(test_strict_bind_misses_assumed_values),
        cmocka_unit_test(test_strict_load_misses_values),
        cmocka_unit_test(test_partial_load_leaves_values_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
