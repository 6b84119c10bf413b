/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Damaged and hostile files: loading ends with a record or a status, whatever the bytes, within its memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "librecord.h"

#include "tests/test_meter.h"

/* ----------------------------------------------------------------------------------------------------- helpers -- */

static uint8_t *read_file(const char *name, size_t *size)
{
    char path[1024];
    const char *srcdir = getenv("srcdir");
    FILE *file;
    uint8_t *data;
    (void)snprintf(path, sizeof path, "%s/tests/data/burn/%s", srcdir ? srcdir : ".", name);
    file = fopen(path, "rb");
    if (!file) {
        fail_msg("cannot open %s", path);
    }
    (void)fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    data = malloc(*size ? *size : 1);
    assert_non_null(data);
    assert_int_equal(fread(data, 1, *size, file), *size);
    (void)fclose(file);
    return data;
}

/* Looks at everything a record has, as an application would. */
static volatile uint64_t touched; /* so that no read is left out */

static void touch(const rec_record *record)
{
    rec_iterator *iterator = rec_iterate(record);
    const rec_value *value;
    const char *path;
    uint64_t sum = 0;
    assert_non_null(iterator);
    while ((value = rec_iterator_next(iterator, &path)) != NULL) {
        const rec_tensor *tensor = rec_value_tensor(value);
        sum += strlen(path);
        if (tensor) {
            uint64_t size = 0;
            const uint8_t *bytes = rec_tensor_bytes(tensor, &size);
            for (uint64_t i = 0; bytes && i < size; i++) {
                sum += bytes[i];
            }
            (void)rec_tensor_f32(tensor);
            (void)rec_tensor_i64(tensor);
            (void)rec_tensor_bool(tensor);
        }
        for (uint64_t i = 0; i < rec_value_count(value); i++) {
            sum += rec_value_number(value, i).v.u;
        }
    }
    rec_iterator_free(iterator);
    touched = sum;
}

/* Loads bytes from memory of exactly their size, looks at what comes of it and saves that. @return whether it loaded.
 */
static int try_bytes(rec_recorder *recorder, const uint8_t *data, size_t size)
{
    uint8_t *exact = malloc(size ? size : 1);
    rec_record *record;
    int loaded;
    assert_non_null(exact);
    memcpy(exact, data, size);
    record = rec_load_bytes(recorder, exact, size);
    loaded = record != NULL;
    if (record) {
        void *saved = NULL;
        uint64_t saved_size = 0;
        assert_int_equal(rec_error_status(), REC_OK);
        touch(record);
        if (rec_save_bytes(recorder, record, &saved, &saved_size) == REC_OK) {
            assert_non_null(saved);
        }
        rec_free(saved);
        rec_record_free(record);
    } else {
        assert_int_not_equal(rec_error_status(), REC_OK);
        assert_true(strlen(rec_error_message()) > 10);
    }
    free(exact);
    return loaded;
}

static const struct {
    const char *file;
    const char *recorder;
} files[] = {
    {"0.13.2/tiny-full.mpk", "NamedMpk"},      {"0.13.2/plain-half.mpk", "NamedMpk"},
    {"0.21.0/tiny-full.mpk", "NamedMpk"},      {"0.21.0/zoo-full.mpk", "NamedMpk"},
    {"0.21.0/plain-full.mpk", "NamedMpk"},     {"0.21.0/adam-full.mpk", "NamedMpk"},
    {"0.21.0/tiny-full.mpk.gz", "NamedMpkGz"}, {"0.13.2/tiny-half.mpk.gz", "NamedMpkGz"},
    {"0.13.2/tiny-full.json", "PrettyJson"},   {"0.21.0/tiny-full.json", "PrettyJson"},
    {"0.21.0/plain-full.json", "PrettyJson"},  {"0.13.2/tiny-half.json.gz", "JsonGz"},
    {"0.21.0/tiny-half.json.gz", "JsonGz"},
};

/* ------------------------------------------------------------------------------------------------------- tests -- */

static void every_prefix_ends_with_a_status(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        rec_recorder *recorder = rec_open_recorder_in(meter_context, files[i].recorder, REC_PRECISION_KEEP);
        size_t size;
        uint8_t *data = read_file(files[i].file, &size);
        assert_non_null(recorder);
        for (size_t length = 0; length < size; length++) {
            if (try_bytes(recorder, data, length)) {
                fail_msg("%s: its first %zu of %zu bytes loaded", files[i].file, length, size);
            }
        }
        assert_true(try_bytes(recorder, data, size));
        free(data);
        rec_close_recorder(recorder);
    }
}

static void every_changed_byte_ends_with_a_record_or_a_status(void **state)
{
    static const uint8_t changes[] = {0x01, 0x80, 0xff, 0x55};
    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        rec_recorder *recorder = rec_open_recorder_in(meter_context, files[i].recorder, REC_PRECISION_FULL);
        size_t size;
        uint8_t *data = read_file(files[i].file, &size);
        assert_non_null(recorder);
        for (size_t at = 0; at < size; at++) {
            for (size_t c = 0; c < sizeof changes; c++) {
                data[at] ^= changes[c];
                (void)try_bytes(recorder, data, size);
                data[at] ^= changes[c];
            }
        }
        free(data);
        rec_close_recorder(recorder);
    }
}

/* The figure that docs/reference/formats.md states: factor × input + slack, and what the caller's own calls take. */
static void assert_within_limit(uint64_t before, uint64_t input)
{
    rec_limits limits = rec_limits_default();
    uint64_t most = limits.memory_factor * input + limits.memory_slack;
    uint64_t fixed = 256 * 1024; /* the reader's own state, the same for every input */
    if (meter_counted.peak - before > most + fixed) {
        fail_msg("%llu bytes of memory for an input of %llu", (unsigned long long)(meter_counted.peak - before),
                 (unsigned long long)input);
    }
}

static void load_by_within_limit(const char *name, const uint8_t *data, size_t size)
{
    rec_recorder *recorder = rec_open_recorder_in(meter_context, name, REC_PRECISION_KEEP);
    uint64_t before;
    rec_record *record;
    assert_non_null(recorder);
    before = meter_counted.now;
    meter_counted.peak = before;
    record = rec_load_bytes(recorder, data, size);
    assert_within_limit(before, size);
    rec_record_free(record);
    assert_int_equal(meter_counted.now, before);
    rec_close_recorder(recorder);
}

static void load_within_limit(const uint8_t *data, size_t size)
{
    load_by_within_limit("NamedMpk", data, size);
}

static const uint8_t frame_head[] = "\x82\xa8metadata\x81\xa7version\xa6"
                                    "0.21.0\xa4item";

static void large_inputs_of_small_values_stay_in_proportion(void **state)
{
    static const uint8_t fillers[] = {0xc0, 0x00, 0xc2, 0x90, 0x80, 0xa0, 0x7f, 0xff};
    enum { SIZE = 3000000 };
    uint8_t *data = malloc(SIZE + 64);
    (void)state;
    assert_non_null(data);
    for (size_t f = 0; f < sizeof fillers; f++) {
        size_t head = sizeof frame_head - 1;
        memcpy(data, frame_head, head);
        memcpy(data + head, "\xdd\x00\x2d\xc6\xc0", 5); /* a list of 3,000,000 */
        memset(data + head + 5, fillers[f], SIZE);
        load_within_limit(data, head + 5 + SIZE);
    }
    /* Alternating kinds, so that nothing can be packed. */
    memcpy(data, frame_head, sizeof frame_head - 1);
    for (size_t i = 0; i < SIZE; i++) {
        data[sizeof frame_head - 1 + 5 + i] = i % 2 ? 0xc0 : 0x01;
    }
    load_within_limit(data, sizeof frame_head - 1 + 5 + SIZE);
    free(data);
}

static void large_json_of_small_values_stays_in_proportion(void **state)
{
    static const char *const fillers[] = {
        "0,",     "256,",  "-1,",     "0.0,",  "1e9,",           "null,",
        "true,",  "[],",   "{},",     "\"\",", "\"a\",",         "0,null,",
        "0,0.0,", "1,-1,", "[0],[],", "[[]],", "{\"value\":0},", "18446744073709551615,0,-1,"};
    /* A list in the item; the values of an old tensor; the bytes of a new one. */
    static const char *const frames[][2] = {
        {"{\"metadata\":{\"version\":\"0.21.0\"},\"item\":[", "0]}"},
        {"{\"metadata\":{\"version\":\"0.13.2\",\"float\":\"f32\"},\"item\":{\"value\":[", "0],\"shape\":[9]}}"},
        {"{\"metadata\":{\"version\":\"0.21.0\"},\"item\":{\"bytes\":[", "0],\"shape\":[9],\"dtype\":\"F32\"}}"},
    };
    enum { SIZE = 3000000 };
    char *text = malloc(SIZE + 256);
    (void)state;
    assert_non_null(text);
    for (size_t i = 0; i < sizeof frames / sizeof *frames; i++) {
        for (size_t f = 0; f < sizeof fillers / sizeof *fillers; f++) {
            size_t used = strlen(frames[i][0]), length = strlen(fillers[f]);
            memcpy(text, frames[i][0], used);
            for (; used < SIZE; used += length) {
                memcpy(text + used, fillers[f], length);
            }
            memcpy(text + used, frames[i][1], strlen(frames[i][1]));
            used += strlen(frames[i][1]);
            load_by_within_limit("PrettyJson", (const uint8_t *)text, used);
        }
    }
    free(text);
}

static void announced_counts_cost_nothing(void **state)
{
    static const char *const heads[] = {"\xdd\xff\xff\xff\xff", "\xdf\xff\xff\xff\xff", "\xdc\xff\xff",
                                        "\xc6\xff\xff\xff\xff", "\xdb\xff\xff\xff\xff"};
    static const size_t lengths[] = {5, 5, 3, 5, 5};
    uint8_t data[128];
    (void)state;
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        size_t size = sizeof frame_head - 1;
        memcpy(data, frame_head, size);
        memcpy(data + size, heads[i], lengths[i]);
        load_within_limit(data, size + lengths[i]);
        load_within_limit((const uint8_t *)heads[i], lengths[i]);
    }
}

static void nesting_is_limited(void **state)
{
    enum { DEEP = 100000 };
    uint8_t *data = malloc(DEEP + 64);
    size_t head = sizeof frame_head - 1;
    rec_recorder *recorder = rec_open_recorder_in(meter_context, "NamedMpk", REC_PRECISION_KEEP);
    (void)state;
    assert_non_null(data);
    assert_non_null(recorder);
    memcpy(data, frame_head, head);
    memset(data + head, 0x91, DEEP);
    assert_null(rec_load_bytes(recorder, data, head + DEEP));
    assert_int_equal(rec_error_status(), REC_E_LIMIT);
    load_within_limit(data, head + DEEP);
    for (size_t i = 0; i < DEEP / 2; i++) {
        memcpy(data + head + i * 2, "\x81\xa0", 2);
    }
    assert_null(rec_load_bytes(recorder, data, head + DEEP));
    rec_close_recorder(recorder);
    free(data);
}

static void keys_that_collide_do_not_take_long(void **state)
{
    /* 200,000 different keys in one map: found and checked for doubles in linear time. */
    enum { KEYS = 200000 };
    size_t head = sizeof frame_head - 1, at;
    uint8_t *data = malloc(KEYS * 8 + 64);
    rec_recorder *recorder = rec_open_recorder_in(meter_context, "NamedMpk", REC_PRECISION_KEEP);
    rec_limits limits = rec_limits_default();
    rec_record *record;
    (void)state;
    assert_non_null(data);
    assert_non_null(recorder);
    limits.memory_factor = 100;
    assert_int_equal(rec_context_set_limits(meter_context, &limits), REC_OK);
    memcpy(data, frame_head, head);
    memcpy(data + head, "\xdf\x00\x03\x0d\x40", 5);
    at = head + 5;
    for (unsigned i = 0; i < KEYS; i++) {
        char key[16];
        (void)snprintf(key, sizeof key, "\xa5%05x", i);
        memcpy(data + at, key, 6);
        data[at + 6] = 0xc3;
        at += 7;
    }
    record = rec_load_bytes(recorder, data, at);
    assert_non_null(record);
    assert_non_null(rec_value_at(record, "0abcd"));
    rec_record_free(record);
    memcpy(data + head + 5 + 7 * 150000,
           "\xa5"
           "00001",
           6);
    assert_null(rec_load_bytes(recorder, data, at));
    assert_int_equal(rec_error_status(), REC_E_FORMAT);
    assert_non_null(strstr(rec_error_message(), "00001"));
    limits = rec_limits_default();
    assert_int_equal(rec_context_set_limits(meter_context, &limits), REC_OK);
    rec_close_recorder(recorder);
    free(data);
}

static void a_gzip_bomb_meets_its_limit(void **state)
{
    rec_recorder *plain = rec_open_recorder_in(meter_context, "NamedMpk", REC_PRECISION_KEEP);
    rec_recorder *gz = rec_open_recorder_in(meter_context, "NamedMpkGz", REC_PRECISION_KEEP);
    rec_limits limits = rec_limits_default();
    rec_record *record = rec_record_new(meter_context);
    uint64_t shape[] = {8u << 20};
    rec_tensor_spec spec = {
        .size = sizeof spec, .dtype = REC_DTYPE_U8, .rank = 1, .ownership = REC_TAKE, .shape = shape};
    void *saved;
    uint64_t size;
    (void)state;
    assert_non_null(plain);
    assert_non_null(gz);
    spec.data = calloc(1, (size_t)shape[0]);
    spec.data_size = shape[0];
    assert_int_equal(rec_set_tensor(record, "zeros", &spec), REC_OK);
    assert_int_equal(rec_save_bytes(gz, record, &saved, &size), REC_OK);
    rec_record_free(record);
    assert_true(size < 20000);
    record = rec_load_bytes(gz, saved, size);
    assert_non_null(record);
    rec_record_free(record);
    limits.inflated_factor = 2;
    limits.inflated_slack = 1 << 20;
    assert_int_equal(rec_context_set_limits(meter_context, &limits), REC_OK);
    assert_null(rec_load_bytes(gz, saved, size));
    assert_int_equal(rec_error_status(), REC_E_LIMIT);
    assert_non_null(strstr(rec_error_hint(), "inflated_factor"));
    limits = rec_limits_default();
    assert_int_equal(rec_context_set_limits(meter_context, &limits), REC_OK);
    rec_free(saved);
    rec_close_recorder(plain);
    rec_close_recorder(gz);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_prefix_ends_with_a_status),
        cmocka_unit_test(every_changed_byte_ends_with_a_record_or_a_status),
        cmocka_unit_test(large_inputs_of_small_values_stay_in_proportion),
        cmocka_unit_test(large_json_of_small_values_stays_in_proportion),
        cmocka_unit_test(announced_counts_cost_nothing),
        cmocka_unit_test(nesting_is_limited),
        cmocka_unit_test(keys_that_collide_do_not_take_long),
        cmocka_unit_test(a_gzip_bomb_meets_its_limit),
    };
    return cmocka_run_group_tests_name("hostile files", tests, meter_set_up, meter_tear_down);
}
