/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Options of a recorder read back, unset and copied; and `as` = file, which loads a file unchanged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "librecord.h"
#include "tests/scratch.h"

static rec_recorder *open_one(rec_context *context, const char *name, rec_precision precision)
{
    rec_recorder *recorder = rec_open_recorder_in(context, name, precision);
    if (!recorder) {
        fail_msg("%s", rec_error_message());
    }
    return recorder;
}

static void set(rec_recorder *recorder, const char *name, const char *value)
{
    if (rec_recorder_set(recorder, name, value) != REC_OK) {
        fail_msg("%s", rec_error_message());
    }
}

/* A model of PyTorch's: a Linear without a bias, whose weight an adapter would transpose or reject; halves; a gap. */
static char *foreign_file(const scratch *folder)
{
    static const char header[] = "{\"l.1.weight\":{\"dtype\":\"F16\",\"shape\":[2,3],\"data_offsets\":[0,12]},"
                                 "\"l.3.weight\":{\"dtype\":\"I64\",\"shape\":[1],\"data_offsets\":[12,20]}}";
    uint64_t size = sizeof header - 1;
    char *path = scratch_path(folder, "model.safetensors");
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    for (int i = 0; i < 8; i++) {
        (void)fputc((int)(size >> (8 * i) & 255), file);
    }
    assert_int_equal(fwrite(header, 1, sizeof header - 1, file), sizeof header - 1);
    for (int i = 0; i < 20; i++) {
        (void)fputc(i, file);
    }
    assert_int_equal(fclose(file), 0);
    return path;
}

static void assert_unchanged(rec_recorder *recorder, const char *path)
{
    rec_record *record = rec_load(recorder, path);
    const rec_tensor *tensor;
    uint64_t size;
    if (!record) {
        fail_msg("%s", rec_error_message());
    }
    tensor = rec_tensor_at(record, "l.1.weight");
    assert_non_null(tensor);
    assert_int_equal(rec_tensor_dtype(tensor), REC_DTYPE_F16);
    assert_int_equal(rec_tensor_shape(tensor)[0], 2);
    assert_int_equal(((const uint8_t *)rec_tensor_bytes(tensor, &size))[5], 5);
    assert_int_equal(rec_tensor_dtype(rec_tensor_at(record, "l.3.weight")), REC_DTYPE_I64);
    assert_int_equal(rec_report_count(), 0);
    rec_record_free(record);
}

#define LINEAR_FIELDS(F, T) F(T, PARAM, weight, 2)
REC_DEFINE_STRUCT(LINEAR, LINEAR_FIELDS)

static void test_as_file(void **state)
{
    scratch *folder = scratch_new();
    char *path = foreign_file(folder);
    rec_context *context = rec_context_new(NULL);
    rec_recorder *recorder = open_one(context, "Auto", FULL);
    rec_record *record = rec_load(recorder, path);
    (void)state;
    assert_true(!record || !rec_value_at(record, "l.3"));
    rec_record_free(record);
    set(recorder, "as", "file");
    assert_unchanged(recorder, path);
    assert_int_equal(rec_recorder_set_type(recorder, &LINEAR_type), REC_OK);
    assert_unchanged(recorder, path);
    assert_int_equal(rec_recorder_set(recorder, "adapter", "pytorch"), REC_E_ARGUMENT);
    assert_string_equal(rec_error_message(), "as = file loads a file unchanged: `adapter` cannot apply\n"
                                             "  Set `as` to burn, or unset `adapter`.");
    assert_unchanged(recorder, path);
    set(recorder, "as", "burn");
    set(recorder, "prefix", "model");
    assert_int_equal(rec_recorder_set(recorder, "as", "file"), REC_E_ARGUMENT);
    assert_string_equal(rec_recorder_get(recorder, "as"), "burn");
    assert_string_equal(rec_recorder_get(recorder, "prefix"), "model");
    assert_int_equal(rec_recorder_set(recorder, "as", "is"), REC_E_ARGUMENT);
    assert_string_equal(rec_error_expected(), "file or burn for the option as");
    rec_close_recorder(recorder);
    rec_context_free(context);
    free(path);
    scratch_free(folder);
}

/* What the user's INI file says of a recorder changes nothing. */
static void test_as_file_with_ini(void **state)
{
    scratch *folder = scratch_new();
    char *path = foreign_file(folder),
         *profile = scratch_text(folder, "librecord.ini",
                                 "[recorder mine]\nplugin = Safetensors\nprecision = full\n"
                                 "prefix = model\nadapter = pytorch\nrename = l => m\n");
    rec_context *context = rec_config_open(profile);
    rec_recorder *recorder, *copy;
    (void)state;
    assert_non_null(context);
    recorder = open_one(context, "mine", REC_PRECISION_DEFAULT);
    assert_string_equal(rec_recorder_get(recorder, "prefix"), "model");
    set(recorder, "as", "file");
    assert_unchanged(recorder, path);
    copy = rec_recorder_copy(recorder);
    assert_unchanged(copy, path);
    assert_int_equal(rec_recorder_unset(copy, "as"), REC_OK);
    assert_int_equal(rec_recorder_unset(copy, "adapter"), REC_OK);
    set(copy, "adapter", "none");
    {
        rec_record *record = rec_load(copy, path);
        assert_non_null(rec_tensor_at(record, "model.m.0.weight"));
        assert_int_equal(rec_tensor_dtype(rec_tensor_at(record, "model.m.0.weight")), REC_DTYPE_F32);
        rec_record_free(record);
    }
    rec_close_recorder(copy);
    rec_close_recorder(recorder);
    rec_context_free(context);
    free(profile);
    free(path);
    scratch_free(folder);
}

static void test_get_and_unset(void **state)
{
    static const char *const options[][3] = {
        {"map", "yes", "no"},   {"data", "read", "skip"},         {"sync", "yes", "no"},   {"check", "auto", "yes"},
        {"clamp", "no", "yes"}, {"modules", "no", "yes"},         {"decode", "no", "yes"}, {"layout", "", "burn-0.14"},
        {"as", "burn", "file"}, {"trailing", "refuse", "ignore"}, {"gaps", "", "close"},   {"rename", "", "a => b"}};
    rec_recorder *recorder = open_one(NULL, "NamedMpk", FULL);
    (void)state;
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        const char *name = options[i][0];
        assert_string_equal(rec_recorder_get(recorder, name), options[i][1]);
        assert_int_equal(rec_recorder_unset(recorder, name), REC_OK);
        set(recorder, name, options[i][2]);
        assert_string_equal(rec_recorder_get(recorder, name), options[i][2]);
        assert_int_equal(rec_recorder_unset(recorder, name), REC_OK);
        assert_string_equal(rec_recorder_get(recorder, name), options[i][1]);
    }
    assert_null(rec_recorder_get(recorder, "nothing"));
    assert_int_equal(rec_error_status(), REC_E_ARGUMENT);
    assert_int_equal(rec_recorder_unset(recorder, "nothing"), REC_E_ARGUMENT);
    assert_non_null(strstr(rec_error_message(), "NamedMpk has no option `nothing`"));
    assert_int_equal(rec_recorder_set(recorder, "map", "perhaps"), REC_E_ARGUMENT);
    assert_string_equal(rec_recorder_get(recorder, "map"), "yes");
    rec_close_recorder(recorder);
}

/* An option of Auto that turns out to be wrong can be taken back. */
static void test_wrong_option_of_auto(void **state)
{
    scratch *folder = scratch_new();
    char *path = foreign_file(folder);
    rec_recorder *recorder = open_one(NULL, "Auto", REC_PRECISION_KEEP);
    (void)state;
    assert_null(rec_recorder_get(recorder, "no-such"));
    set(recorder, "as", "file");
    set(recorder, "no-such", "yes");
    assert_string_equal(rec_recorder_get(recorder, "no-such"), "yes");
    assert_null(rec_load(recorder, path));
    assert_int_equal(rec_recorder_unset(recorder, "no-such"), REC_OK);
    assert_unchanged(recorder, path);
    rec_close_recorder(recorder);
    free(path);
    scratch_free(folder);
}

/* A copy has all of it, and both are independent. */
static void test_copy(void **state)
{
    rec_types *types = rec_types_new(NULL);
    rec_recorder *recorder = open_one(NULL, "BinFile", REC_PRECISION_HALF), *copy;
    const float numbers[] = {1, 2};
    const uint64_t shape[] = {1, 2};
    rec_record *record = rec_record_new(NULL), *loaded;
    void *data;
    uint64_t size;
    (void)state;
    assert_int_equal(rec_types_add_rust(types, "struct M<B> { weight: Param<Tensor<B, 2>> }", "m.rs"), REC_OK);
    assert_int_equal(rec_recorder_set_type_name(recorder, types, "M<B>"), REC_OK);
    set(recorder, "clamp", "yes");
    set(recorder, "layout", "burn-0.14");
    copy = rec_recorder_copy(recorder);
    assert_non_null(copy);
    rec_close_recorder(recorder);
    rec_types_free(types);
    assert_string_equal(rec_recorder_name(copy), "BinFile");
    assert_string_equal(rec_recorder_get(copy, "clamp"), "yes");
    assert_int_equal(rec_set_f32(record, "weight", numbers, 2, shape), REC_OK);
    assert_int_equal(rec_save_bytes(copy, record, &data, &size), REC_OK);
    loaded = rec_load_bytes(copy, data, size);
    if (!loaded) {
        fail_msg("%s", rec_error_message());
    }
    assert_int_equal(rec_tensor_dtype(rec_tensor_at(loaded, "weight")), REC_DTYPE_F16);
    rec_record_free(loaded);
    rec_free(data);
    assert_int_equal(rec_recorder_set_type(copy, &LINEAR_type), REC_OK);
    recorder = rec_recorder_copy(copy);
    assert_int_equal(rec_save_bytes(recorder, record, &data, &size), REC_OK);
    loaded = rec_load_bytes(recorder, data, size);
    assert_non_null(loaded);
    rec_record_free(loaded);
    rec_free(data);
    rec_record_free(record);
    rec_close_recorder(copy);
    rec_close_recorder(recorder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_as_file),       cmocka_unit_test(test_as_file_with_ini),
        cmocka_unit_test(test_get_and_unset), cmocka_unit_test(test_wrong_option_of_auto),
        cmocka_unit_test(test_copy),
    };
    return cmocka_run_group_tests_name("options", tests, NULL, NULL);
}
