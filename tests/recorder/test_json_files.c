/* SPDX-License-Identifier: MIT OR Apache-2.0
 * PrettyJson and JsonGz as applications meet them: through librecord.h alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <glob.h>
#include <zlib.h>
#include <cmocka.h>
#include <librecord.h>

#include "tests/little.h"
#include "tests/scratch.h"
#include "tests/test_meter.h"

static int setup(void **state)
{
    *state = scratch_new();
    return 0;
}

static int teardown(void **state)
{
    scratch_free(*state);
    return 0;
}

/* A recorder that keeps everything as it is, and does not wait for the disk. */
static rec_recorder *open_keeping(const char *name)
{
    rec_recorder *r = rec_open_recorder(name, REC_PRECISION_KEEP);
    if (!r) {
        fail_msg("%s", rec_error_message());
    }
    assert_int_equal(rec_recorder_set(r, "layout", "keep"), REC_OK);
    assert_int_equal(rec_recorder_set(r, "sync", "no"), REC_OK);
    return r;
}

static uint8_t *read_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    uint8_t *data;
    if (!file || fseek(file, 0, SEEK_END) != 0) {
        fail_msg("%s cannot be read", path);
    }
    *size = (size_t)ftell(file);
    rewind(file);
    data = malloc(*size + 1);
    assert_non_null(data);
    assert_int_equal(fread(data, 1, *size, file), *size);
    (void)fclose(file);
    return data;
}

/* What a file holds when zlib has inflated it (plain files as they are), to be freed. */
static char *read_inflated(const char *path, size_t *size)
{
    enum { MOST = 1 << 20 };
    char *data = malloc(MOST);
    gzFile file = gzopen(path, "rb");
    int got = file && data ? gzread(file, data, MOST) : -1;
    assert_true(got >= 0 && got < MOST);
    (void)gzclose(file);
    *size = (size_t)got;
    return data;
}

/* A file among those that Burn wrote. */
static const char *golden(char *path, size_t room, const char *name)
{
    const char *srcdir = getenv("srcdir");
    (void)snprintf(path, room, "%s/tests/data/burn/%s", srcdir ? srcdir : ".", name);
    return path;
}

static void each_name_opens_its_recorder(void **state)
{
    static const char *const names[][3] = {
        {"PrettyJson", "PrettyJson", "json"}, {"pretty-json", "PrettyJson", "json"},
        {"json", "PrettyJson", "json"},       {"PrettyJsonFileRecorder", "PrettyJson", "json"},
        {"JsonGz", "JsonGz", "json.gz"},      {"json-gz", "JsonGz", "json.gz"},
        {"json.gz", "JsonGz", "json.gz"},     {"JsonGzFileRecorder", "JsonGz", "json.gz"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        rec_recorder *r = rec_open_recorder(names[i][0], REC_PRECISION_KEEP);
        if (!r) {
            fail_msg("%s", rec_error_message());
        }
        assert_string_equal(rec_recorder_name(r), names[i][1]);
        assert_string_equal(rec_recorder_extension(r), names[i][2]);
        rec_close_recorder(r);
    }
}

/* ------------------------------------------------------------------------------------------------- round trips -- */

static void copies_are_the_same(const scratch *s, const char *pattern, const char *recorder, const char *name)
{
    char path[4096];
    glob_t found;
    char *copy = scratch_path(s, name);
    rec_recorder *r = open_keeping(recorder), *automatic = open_keeping("Auto");
    assert_int_equal(glob(golden(path, sizeof path, pattern), 0, NULL, &found), 0);
    assert_true(found.gl_pathc >= 30);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        size_t before_size, after_size;
        rec_record *record = rec_load(automatic, found.gl_pathv[i]); /* recognised by what is in it */
        if (!record || rec_save(r, record, copy) != REC_OK) {
            fail_msg("%s", rec_error_message());
        }
        char *before = read_inflated(found.gl_pathv[i], &before_size), *after = read_inflated(copy, &after_size);
        if (before_size != after_size || memcmp(before, after, before_size) != 0) {
            fail_msg("%s came back otherwise", found.gl_pathv[i]);
        }
        free(before);
        free(after);
        rec_record_free(record);
    }
    globfree(&found);
    rec_close_recorder(automatic);
    rec_close_recorder(r);
    free(copy);
}

/* Text is many times its tensors: of a file that is not mapped a window is in memory, never the whole. */
static void a_file_that_is_not_mapped_is_read_through_a_window(void **state)
{
    enum { COUNT = 1 << 18, BYTES = COUNT * 4, FIXED = 1 << 21 };
    const uint64_t shape[] = {COUNT};
    uint32_t *values = malloc(BYTES);
    char *path = scratch_path(*state, "large.json");
    struct stat info;
    assert_non_null(values);
    assert_int_equal(meter_set_up(NULL), 0);
    for (uint32_t i = 0; i < COUNT; i++) {
        values[i] = 0x3f000000u ^ i * 2654435761u >> 8;
    }
    little(values, sizeof *values, COUNT);
    rec_recorder *r = rec_open_recorder_in(meter_context, "PrettyJson", REC_PRECISION_KEEP);
    rec_record *record = rec_record_new(meter_context);
    assert_non_null(record);
    rec_tensor_spec spec = {.size = sizeof spec,
                            .dtype = REC_DTYPE_F32,
                            .rank = 1,
                            .ownership = REC_BORROW,
                            .shape = shape,
                            .data = values,
                            .data_size = BYTES};
    if (!r || rec_set_tensor(record, "weight", &spec) != REC_OK || rec_recorder_set(r, "sync", "no") != REC_OK ||
        rec_save(r, record, path) != REC_OK) {
        fail_msg("%s", rec_error_message());
    }
    rec_record_free(record);
    assert_int_equal(stat(path, &info), 0);
    assert_true(info.st_size > 10 * BYTES);
    for (int mapped = 0; mapped < 2; mapped++) {
        uint64_t before;
        assert_int_equal(rec_recorder_set(r, "map", mapped ? "yes" : "no"), REC_OK); /* the recorder keeps it */
        before = meter_counted.now;
        meter_counted.peak = before;
        record = rec_load(r, path);
        const rec_tensor *tensor = record ? rec_tensor_at(record, "weight") : NULL;
        uint64_t size;
        if (!tensor) {
            fail_msg("%s", rec_error_message());
        }
        assert_memory_equal(rec_tensor_bytes(tensor, &size), values, BYTES);
        if (meter_counted.peak - before > BYTES + FIXED) {
            fail_msg("%llu bytes of memory, mapped: %d", (unsigned long long)(meter_counted.peak - before), mapped);
        }
        rec_record_free(record);
        assert_int_equal(meter_counted.now, before);
    }
    rec_close_recorder(r);
    assert_int_equal(meter_tear_down(NULL), 0);
    free(values);
    free(path);
}

static void a_file_of_burn_comes_back_byte_by_byte(void **state)
{
    copies_are_the_same(*state, "*/*.json", "PrettyJson", "copy.json");
}

static void a_compressed_file_of_burn_comes_back_with_its_contents(void **state)
{
    static const uint8_t header[10] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff};
    size_t size;
    copies_are_the_same(*state, "*/*.json.gz", "JsonGz", "copy.json.gz");
    char *copy = scratch_path(*state, "copy.json.gz");
    uint8_t *data = read_file(copy, &size);
    assert_true(size > sizeof header);
    assert_memory_equal(data, header, sizeof header);
    free(data);
    free(copy);
}

static void files_of_both_formats_hold_the_same_record(void **state)
{
    char pattern[4096];
    glob_t found;
    rec_recorder *automatic = open_keeping("Auto"), *mpk = open_keeping("NamedMpkBytes");
    int compared = 0;
    (void)state;
    assert_int_equal(glob(golden(pattern, sizeof pattern, "*/*.json*"), 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        void *data[2];
        uint64_t size[2];
        char twin[4096];
        const char *name = strrchr(found.gl_pathv[i], '/') + 1;
        /* Adam's maps are in random order; `plain` has an f32 outside of tensors, which looks like an f64 in JSON. */
        if (strncmp(name, "adam", 4) == 0 || strncmp(name, "plain", 5) == 0) {
            continue;
        }
        (void)snprintf(twin, sizeof twin, "%s", found.gl_pathv[i]);
        memcpy(strstr(twin, ".json"), ".mpk", 5);
        for (int j = 0; j < 2; j++) {
            rec_record *record = rec_load(automatic, j ? twin : found.gl_pathv[i]);
            if (!record || rec_save_bytes(mpk, record, &data[j], &size[j]) != REC_OK) {
                fail_msg("%s", rec_error_message());
            }
            rec_record_free(record);
        }
        if (size[0] != size[1] || memcmp(data[0], data[1], (size_t)size[0]) != 0) {
            fail_msg("%s is not what %s is", found.gl_pathv[i], twin);
        }
        rec_free(data[0]);
        rec_free(data[1]);
        compared++;
    }
    assert_true(compared > 40);
    globfree(&found);
    rec_close_recorder(automatic);
    rec_close_recorder(mpk);
}

static void null_is_nan_in_a_tensor_of_old_and_nil_elsewhere(void **state)
{
    static const char text[] =
        "{\"item\":{\"a\":{\"id\":\"x\",\"param\":{\"value\":[null,1.5,0.1,7.038531e-26,9007199791611905],\"shape\":[5]"
        "}},"
        "\"value\":[null,2.5],\"list\":[null,3.5],\"b\":{\"value\":[null],\"shape\":[1]},"
        "\"c\":{\"value\":[1.5,null,\"x\"]}},"
        "\"metadata\":{\"version\":\"0.13.2\",\"float\":\"f%s\",\"int\":\"i%s\",\"format\":\"f\",\"settings\":\"s\"}}";
    rec_recorder *r = open_keeping("PrettyJson");
    (void)state;
    for (int wide = 0; wide < 2; wide++) {
        char filled[sizeof text + 8];
        (void)snprintf(filled, sizeof filled, text, wide ? "64" : "32", wide ? "64" : "32");
        rec_record *record = rec_load_bytes(r, filled, strlen(filled));
        if (!record) {
            fail_msg("%s", rec_error_message());
        }
        const rec_tensor *tensor = rec_tensor_at(record, "a");
        assert_non_null(tensor);
        assert_int_equal(rec_tensor_stored_dtype(tensor), wide ? REC_DTYPE_F64 : REC_DTYPE_F32);
        uint64_t size;
        const uint8_t *bytes = rec_tensor_bytes(tensor, &size);
        if (wide) {
            uint64_t expected[] = {0x7ff8000000000000u, 0x3ff8000000000000u, 0x3fb999999999999au, 0x3ab5c87fb0000000u,
                                   0x4340000010000000u};
            assert_int_equal(size, sizeof expected);
            little(expected, sizeof *expected, sizeof expected / sizeof *expected);
            assert_memory_equal(bytes, expected, sizeof expected);
        } else {
            uint32_t expected[] = {0x7fc00000u, 0x3fc00000u, 0x3dcccccdu, 0x15ae43fdu,
                                   /* by way of f64 it would be 5a000000 */ 0x5a000001u};
            assert_int_equal(size, sizeof expected);
            little(expected, sizeof *expected, sizeof expected / sizeof *expected);
            assert_memory_equal(bytes, expected, sizeof expected);
        }
        assert_non_null(rec_tensor_at(record, "b"));
        static const char *const lists[] = {"value", "list"};
        for (int i = 0; i < 2; i++) {
            const rec_value *list = rec_value_at(record, lists[i]);
            assert_int_equal(rec_value_kind(list), REC_KIND_LIST);
            assert_int_equal(rec_value_kind(rec_value_item(list, 0)), REC_KIND_NIL);
            assert_int_equal(rec_value_kind(rec_value_item(list, 1)), REC_KIND_FLOAT);
        }
        assert_int_equal(rec_value_kind(rec_value_at(record, "c.value.1")), REC_KIND_NIL);
        rec_record_free(record);
    }
    rec_close_recorder(r);
}

static void metadata_may_come_last(void **state)
{
    static const char text[] =
        "{\"item\":{\"w\":{\"id\":\"x\",\"param\":{\"bytes\":[0,0,128,63],\"shape\":[1],"
        "\"dtype\":\"F32\"}}},\"_b\":null,\"metadata\":{\"version\":\"0.21.0\",\"float\":\"f32\","
        "\"int\":\"i32\",\"format\":\"f\",\"settings\":\"s\"}}";
    rec_recorder *plain = open_keeping("PrettyJson"), *gz = open_keeping("JsonGz");
    void *data;
    uint64_t size;
    (void)state;
    rec_record *record = rec_load_bytes(plain, text, strlen(text));
    assert_non_null(record);
    assert_true(rec_tensor_f32(rec_tensor_at(record, "w"))[0] == 1.0f);
    assert_int_equal(rec_save_bytes(gz, record, &data, &size), REC_OK);
    rec_record_free(record);
    rec_free(data);
    rec_close_recorder(plain);
    rec_close_recorder(gz);
}

/* ------------------------------------------------------------------------------------------------- compression -- */

static void pretty_json_reads_what_somebody_compressed(void **state)
{
    char path[4096];
    size_t size;
    const scratch *s = *state;
    rec_recorder *r = open_keeping("PrettyJson");
    uint8_t *text = read_file(golden(path, sizeof path, "0.18.0/tiny-full.json"), &size);
    char *packed = scratch_path(s, "packed.json");
    gzFile file = gzopen(packed, "wb");
    assert_int_equal(gzwrite(file, text, (unsigned)size), size);
    assert_int_equal(gzclose(file), Z_OK);
    rec_record *record = rec_load(r, packed);
    if (!record) {
        fail_msg("%s", rec_error_message());
    }
    void *data;
    uint64_t made;
    assert_int_equal(rec_save_bytes(r, record, &data, &made), REC_OK);
    assert_int_equal(made, size);
    assert_memory_equal(data, text, size);
    rec_free(data);
    rec_record_free(record);
    rec_close_recorder(r);
    free(packed);
    free(text);
}

static void a_level_from_0_to_9_decides_the_size(void **state)
{
    char path[4096];
    uint64_t sizes[2];
    rec_recorder *r = open_keeping("JsonGz"), *plain = open_keeping("PrettyJson");
    rec_record *record = rec_load(plain, golden(path, sizeof path, "0.18.0/zoo-full.json"));
    assert_non_null(record);
    (void)state;
    for (int i = 0; i < 2; i++) {
        void *data;
        assert_int_equal(rec_recorder_set(r, "level", i ? "9" : "0"), REC_OK);
        assert_int_equal(rec_save_bytes(r, record, &data, &sizes[i]), REC_OK);
        rec_free(data);
    }
    assert_true(sizes[1] < sizes[0]);
    assert_int_equal(rec_recorder_set(r, "level", "10"), REC_E_ARGUMENT);
    assert_int_equal(rec_recorder_set(plain, "level", "6"), REC_E_ARGUMENT);
    rec_record_free(record);
    rec_close_recorder(r);
    rec_close_recorder(plain);
}

/* ------------------------------------------------------------------------------------------------ wrong inputs -- */

static void the_wrong_recorder_is_told_the_right_one(void **state)
{
    static const struct {
        const char *recorder, *file, *message;
    } cases[] = {
        {"PrettyJson", "0.18.0/tiny-full.mpk",
         "byte 0: expected a value, found 0x83\n"
         "  It looks like a NamedMpk record: open it with that recorder, or with Auto."},
        {"JsonGz", "0.18.0/tiny-full.json",
         "byte 0: expected a gzip file (0x1f 0x8b), found 0x7b 0x0a\n"
         "  It looks like a PrettyJson record: open it with that recorder, or with Auto."},
        {"NamedMpk", "0.18.0/tiny-half.json.gz",
         "byte 0: expected a MessagePack map, found 0x1f 0x8b, which is how gzip begins\n"
         "  It looks like a JsonGz record: open it with that recorder, or with Auto."},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char path[4096], message[8192];
        rec_recorder *r = open_keeping(cases[i].recorder);
        assert_null(rec_load(r, golden(path, sizeof path, cases[i].file)));
        assert_int_equal(rec_error_status(), REC_E_FORMAT);
        (void)snprintf(message, sizeof message, "%s: %s", path, cases[i].message);
        assert_string_equal(rec_error_message(), message);
        rec_close_recorder(r);
    }
}

static void text_after_a_record_is_refused_as_by_burn(void **state)
{
    static const char *const tails[] = {" \n\t", "x", "{}", ",", "\x01"};
    char path[4096];
    size_t size;
    uint8_t *text = read_file(golden(path, sizeof path, "0.18.0/tiny-full.json"), &size);
    rec_recorder *r = open_keeping("PrettyJson");
    (void)state;
    for (size_t i = 0; i < sizeof tails / sizeof *tails; i++) {
        size_t length = strlen(tails[i]);
        uint8_t *longer = malloc(size + length);
        assert_non_null(longer);
        memcpy(longer, text, size);
        memcpy(longer + size, tails[i], length);
        rec_record *record = rec_load_bytes(r, longer, size + length);
        assert_int_equal(record != NULL, i == 0);
        if (i > 0) {
            assert_int_equal(rec_error_status(), REC_E_FORMAT);
            assert_non_null(strstr(rec_error_message(), "expected the end of the text"));
        }
        rec_record_free(record);
        free(longer);
    }
    free(text);
    rec_close_recorder(r);
}

static void a_key_twice_in_a_map_is_refused(void **state)
{
    static const char text[] = "{\"metadata\":{\"version\":\"0.21.0\"},\"item\":{\"k\":1,\"\\u006b\":2},\"_b\":null}";
    rec_recorder *r = open_keeping("PrettyJson");
    (void)state;
    assert_null(rec_load_bytes(r, text, strlen(text)));
    assert_int_equal(rec_error_status(), REC_E_FORMAT);
    assert_non_null(strstr(rec_error_message(), "the key `k` occurs twice"));
    rec_close_recorder(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_name_opens_its_recorder),
        cmocka_unit_test_setup_teardown(a_file_of_burn_comes_back_byte_by_byte, setup, teardown),
        cmocka_unit_test_setup_teardown(a_file_that_is_not_mapped_is_read_through_a_window, setup, teardown),
        cmocka_unit_test_setup_teardown(a_compressed_file_of_burn_comes_back_with_its_contents, setup, teardown),
        cmocka_unit_test(files_of_both_formats_hold_the_same_record),
        cmocka_unit_test(null_is_nan_in_a_tensor_of_old_and_nil_elsewhere),
        cmocka_unit_test(metadata_may_come_last),
        cmocka_unit_test_setup_teardown(pretty_json_reads_what_somebody_compressed, setup, teardown),
        cmocka_unit_test(a_level_from_0_to_9_decides_the_size),
        cmocka_unit_test(the_wrong_recorder_is_told_the_right_one),
        cmocka_unit_test(text_after_a_record_is_refused_as_by_burn),
        cmocka_unit_test(a_key_twice_in_a_map_is_refused),
    };
    return cmocka_run_group_tests_name("JSON files", tests, NULL, NULL);
}
