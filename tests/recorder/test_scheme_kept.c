/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Records that keep encoded tensors: a later save or plan at a precision gives the numbers that a load at this
 * precision gives. It depends neither on config.json, which may be gone by then, nor on the tensors' places. */
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

static scratch *folder;
static rec_context *context;
static void *file_saved;

static int enter(void **state)
{
    (void)state;
    folder = scratch_new();
    context = rec_context_new(NULL);
    return context ? 0 : -1;
}

static int leave(void **state)
{
    (void)state;
    rec_context_free(context);
    rec_free(file_saved);
    file_saved = NULL;
    scratch_free(folder);
    return 0;
}

/* ------------------------------------------------------------------------------------------------------- files -- */

/* Writes m.safetensors: header, then codes of E4M3 between 1 and 2, then four scales 1, 2, 3, 4 where they are needed.
 */
static void write_model(const char *header, size_t codes, bool scales)
{
    static const float numbers[] = {1, 2, 3, 4};
    size_t length = strlen(header), at = 8 + length;
    uint8_t *data = calloc(1, at + codes + sizeof numbers);
    assert_non_null(data);
    data[0] = (uint8_t)length;
    data[1] = (uint8_t)(length >> 8);
    memcpy(data + 8, header, length);
    for (size_t i = 0; i < codes; i++) {
        data[at + i] = (uint8_t)(0x38 + i % 8);
    }
    memcpy(data + at + codes, numbers, sizeof numbers);
    free(scratch_write(folder, "m.safetensors", data, at + codes + (scales ? sizeof numbers : 0)));
    free(data);
}

static void write_config(const char *text)
{
    free(scratch_text(folder, "config.json", text));
}

static void remove_config(void)
{
    char *path = scratch_path(folder, "config.json");
    assert_int_equal(remove(path), 0);
    free(path);
}

/* Blocks of 48x48 in a matrix of 64x64: without config.json they would be taken for 32x32. */
static void write_blocks(void)
{
    write_model("{\"a.weight\":{\"dtype\":\"F8_E4M3\",\"shape\":[64,64],\"data_offsets\":[0,4096]},"
                "\"a.weight_scale_inv\":{\"dtype\":\"F32\",\"shape\":[2,2],\"data_offsets\":[4096,4112]}}",
                4096, true);
    write_config("{\"quantization_config\":{\"quant_method\":\"fp8\",\"weight_block_size\":[48,48]}}");
}

static void write_lost_scale(void)
{
    write_model("{\"a.weight\":{\"dtype\":\"F8_E4M3\",\"shape\":[8,8],\"data_offsets\":[0,64]}}", 64, false);
    write_config("{\"quantization_config\":{\"quant_method\":\"fp8\"}}");
}

static rec_recorder *recorder_at(rec_precision precision)
{
    rec_recorder *recorder = rec_open_recorder_in(context, "Safetensors", precision);
    assert_non_null(recorder);
    assert_int_equal(rec_recorder_set(recorder, "adapter", "none"), REC_OK);
    return recorder;
}

static rec_record *load(rec_precision precision)
{
    rec_recorder *recorder = recorder_at(precision);
    char *path = scratch_path(folder, "m.safetensors");
    rec_record *record = rec_load(recorder, path);
    free(path);
    rec_close_recorder(recorder);
    return record;
}

static rec_record *load_kept(void)
{
    rec_record *record = load(REC_PRECISION_KEEP);
    assert_non_null(record);
    return record;
}

/* ----------------------------------------------------------------------------------------------------- results -- */

/* What a save of the record at full gives, loaded again. Borrows from `file_saved`. NULL: it failed. */
static rec_record *saved(const rec_record *record)
{
    rec_recorder *full = recorder_at(REC_PRECISION_FULL);
    rec_record *result = NULL;
    uint64_t size;
    rec_free(file_saved);
    file_saved = NULL;
    if (rec_save_bytes(full, record, &file_saved, &size) == REC_OK) {
        result = rec_load_bytes(full, file_saved, size);
        assert_non_null(result);
    }
    rec_close_recorder(full);
    return result;
}

/* The record that a plan at a precision makes of a record. NULL: it failed. */
static rec_record *planned(const rec_record *record, rec_precision precision, const char *rule)
{
    rec_recorder *to = recorder_at(precision), *arguments = recorder_at(REC_PRECISION_KEEP);
    rec_plan *plan = rec_plan_new(context, to);
    rec_record *result = NULL;
    if (rule) {
        assert_int_equal(rec_recorder_set(arguments, "rename", rule), REC_OK);
    }
    assert_non_null(plan);
    if (rec_plan_add_record(plan, arguments, record, "m") == REC_OK) {
        result = rec_plan_load(plan);
    }
    rec_plan_free(plan);
    rec_close_recorder(to);
    rec_close_recorder(arguments);
    return result;
}

/* The number at row and column of the blocks. */
static float expected(uint64_t row, uint64_t column, const float *scales)
{
    uint64_t scale = row / 48 * 2 + column / 48;
    return (1 + (float)((row * 64 + column) % 8) / 8) * scales[scale];
}

static void assert_blocks(const rec_record *record, const char *path, const float *scales)
{
    const rec_tensor *tensor = record ? rec_tensor_at(record, path) : NULL;
    const float *numbers;
    if (!tensor) {
        fail_msg("%s: %s", path, rec_error_message());
    }
    assert_int_equal(rec_tensor_dtype(tensor), REC_DTYPE_F32);
    numbers = rec_tensor_f32(tensor);
    assert_non_null(numbers);
    for (uint64_t i = 0; i < 64 * 64; i++) {
        assert_true(numbers[i] == expected(i / 64, i % 64, scales));
    }
}

static const float as_stored[] = {1, 2, 3, 4};

/* Saves and plans of a record have the numbers of the blocks. */
static void assert_numbers(const rec_record *record, const char *path, const float *scales)
{
    rec_record *result = saved(record);
    assert_blocks(result, path, scales);
    rec_record_free(result);
    result = planned(record, REC_PRECISION_FULL, NULL);
    assert_blocks(result, path, scales);
    rec_record_free(result);
}

static void assert_rejected(const rec_record *record, const char *words)
{
    for (int i = 0; i < 2; i++) {
        assert_null(i ? planned(record, REC_PRECISION_FULL, NULL) : saved(record));
        assert_int_equal(rec_error_status(), REC_E_UNSUPPORTED);
        if (!strstr(rec_error_message(), words)) {
            fail_msg("%s", rec_error_message());
        }
    }
}

/* ------------------------------------------------------------------------------------------------------- tests -- */

static void test_record_remembers_the_configuration(void **state)
{
    rec_record *record, *copy, *direct;
    (void)state;
    write_blocks();
    direct = load(REC_PRECISION_FULL);
    assert_blocks(direct, "a.weight", as_stored);
    record = load_kept();
    remove_config();
    copy = rec_record_copy(record);
    assert_numbers(record, "a.weight", as_stored);
    rec_record_free(record);
    assert_numbers(copy, "a.weight", as_stored);
    rec_record_free(copy);
    rec_record_free(direct);
}

static void test_lost_scale_is_rejected_later(void **state)
{
    rec_record *record, *copy, *result;
    (void)state;
    write_lost_scale();
    assert_null(load(REC_PRECISION_FULL));
    assert_non_null(strstr(rec_error_message(), "its scale is missing"));
    record = load_kept();
    remove_config();
    copy = rec_record_copy(record);
    assert_rejected(record, "its scale is missing");
    assert_rejected(copy, "its scale is missing");
    rec_record_free(copy);
    copy = rec_record_new(context);
    assert_int_equal(rec_set_value(copy, "alone", rec_value_at(record, "a.weight")), REC_OK);
    assert_rejected(copy, "its scale is missing");
    rec_record_free(copy);
    result = planned(record, REC_PRECISION_KEEP, "^a => b");
    assert_non_null(result);
    assert_rejected(result, "its scale is missing");
    rec_record_free(result);
    rec_record_free(record);
}

/* A tensor that leaves its scale behind keeps its numbers. */
static void test_numbers_come_along(void **state)
{
    rec_record *record, *other = rec_record_new(context), *result;
    (void)state;
    write_blocks();
    record = load_kept();
    remove_config();
    assert_int_equal(rec_set_value(other, "alone", rec_value_at(record, "a.weight")), REC_OK);
    assert_numbers(other, "alone", as_stored);
    assert_int_equal(rec_set_value(other, "alone_scale_inv", rec_value_at(record, "a.weight_scale_inv")), REC_OK);
    assert_numbers(other, "alone", as_stored);
    result = saved(other);
    assert_null(rec_tensor_at(result, "alone_scale_inv"));
    rec_record_free(result);
    assert_int_equal(rec_remove(record, "a.weight_scale_inv"), REC_OK);
    assert_numbers(record, "a.weight", as_stored);
    rec_record_free(record);
    rec_record_free(other);
}

static void test_another_scale_counts(void **state)
{
    static const float scales[] = {8, 0.5f, 16, 32};
    static const uint64_t shape[] = {2, 2};
    rec_record *record;
    (void)state;
    write_blocks();
    record = load_kept();
    remove_config();
    assert_int_equal(rec_set_f32(record, "a.weight_scale_inv", scales, 2, shape), REC_OK);
    assert_numbers(record, "a.weight", scales);
    rec_record_free(record);
}

static void assert_described(const rec_record *record, const char *codes, const char *scale)
{
    assert_string_equal(rec_tensor_scheme(rec_tensor_at(record, codes)), "FP8 E4M3, 48x48 blocks");
    assert_int_equal(rec_tensor_numbers_dtype(rec_tensor_at(record, codes)), REC_DTYPE_F32);
    assert_int_equal(rec_tensor_is_part(rec_tensor_at(record, codes)), 0);
    assert_int_equal(rec_tensor_is_part(rec_tensor_at(record, scale)), 1);
}

static void test_copies_and_plans_keep_the_description(void **state)
{
    rec_record *record, *copy, *kept, *renamed;
    (void)state;
    write_blocks();
    record = load_kept();
    assert_described(record, "a.weight", "a.weight_scale_inv");
    copy = rec_record_copy(record);
    kept = planned(record, REC_PRECISION_KEEP, NULL);
    renamed = planned(record, REC_PRECISION_KEEP, "^a.weight$ => b.codes");
    rec_record_free(record);
    assert_described(copy, "a.weight", "a.weight_scale_inv");
    assert_described(kept, "a.weight", "a.weight_scale_inv");
    assert_described(renamed, "b.codes", "a.weight_scale_inv");
    assert_numbers(kept, "a.weight", as_stored);
    assert_numbers(renamed, "b.codes", as_stored);
    rec_record_free(copy);
    rec_record_free(kept);
    rec_record_free(renamed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_record_remembers_the_configuration, enter, leave),
        cmocka_unit_test_setup_teardown(test_lost_scale_is_rejected_later, enter, leave),
        cmocka_unit_test_setup_teardown(test_numbers_come_along, enter, leave),
        cmocka_unit_test_setup_teardown(test_another_scale_counts, enter, leave),
        cmocka_unit_test_setup_teardown(test_copies_and_plans_keep_the_description, enter, leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
