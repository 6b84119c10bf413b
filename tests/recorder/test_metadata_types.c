/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Types of metadata: every kind of GGUF's, through each format and back, to the byte; types that are set and asked
 * for; what damaged types do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define REC_NO_SHORT_NAMES
#include <librecord.h>

#define B(text) text, sizeof(text) - 1

/* An entry, what it is in GGUF behind its key, and its type as a word. */
static const struct {
    const char *key, *bytes;
    size_t size;
    const char *type;
} entries[] = {
    {"general.architecture", B("\x08\0\0\0\2\0\0\0\0\0\0\0t5"), "str"},
    {"k.u8", B("\0\0\0\0\xc8"), "u8"},
    {"k.i8", B("\1\0\0\0\xff"), "i8"},
    {"k.u16", B("\2\0\0\0\xc8\0"), "u16"},
    {"k.i16", B("\3\0\0\0\xc8\0"), "i16"},
    {"k.u32", B("\4\0\0\0\xc8\0\0\0"), "u32"},
    {"k.i32", B("\5\0\0\0\1\0\0\0"), "i32"},
    {"k.f32", B("\6\0\0\0\xcd\xcc\xcc\x3d"), "f32"},
    {"k.f64", B("\x0c\0\0\0\0\0\0\0\0\0\xe0\x3f"), "f64"},
    {"k.nan", B("\6\0\0\0\1\0\xc0\x7f"), "f32:7fc00001"},
    {"k.inf", B("\x0c\0\0\0\0\0\0\0\0\0\xf0\xff"), "f64:fff0000000000000"},
    {"k.bool", B("\7\0\0\0\1"), "bool"},
    {"k.u64", B("\x0a\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff"), "u64"},
    {"k.i64", B("\x0b\0\0\0\5\0\0\0\0\0\0\0"), "i64"},
    {"k.text", B("\x08\0\0\0\3\0\0\0\0\0\0\0u\"\xc3"), "bytes"},
    {"k.like", B("\x08\0\0\0\5\0\0\0\0\0\0\0[1,2]"), "str"},
    {"a.u8", B("\x09\0\0\0\0\0\0\0\3\0\0\0\0\0\0\0\0\xb4\xff"), "[u8]"},
    {"a.i8", B("\x09\0\0\0\1\0\0\0\2\0\0\0\0\0\0\0\1\2"), "[i8]"},
    {"a.u16", B("\x09\0\0\0\2\0\0\0\1\0\0\0\0\0\0\0\1\0"), "[u16]"},
    {"a.i16", B("\x09\0\0\0\3\0\0\0\1\0\0\0\0\0\0\0\1\0"), "[i16]"},
    {"a.u32", B("\x09\0\0\0\4\0\0\0\1\0\0\0\0\0\0\0\1\0\0\0"), "[u32]"},
    {"a.i32", B("\x09\0\0\0\5\0\0\0\1\0\0\0\0\0\0\0\1\0\0\0"), "[i32]"},
    {"a.f32", B("\x09\0\0\0\6\0\0\0\1\0\0\0\0\0\0\0\xcd\xcc\xcc\x3d"), "[f32]"},
    {"a.f64", B("\x09\0\0\0\x0c\0\0\0\1\0\0\0\0\0\0\0\0\0\0\0\0\0\xe0\x3f"), "[f64]"},
    {"a.odd", B("\x09\0\0\0\6\0\0\0\3\0\0\0\0\0\0\0\0\0\x80\x3f\0\0\x80\x7f\1\0\xc0\x7f"),
     "{\"\":\"f32\",\"1\":\"f32:7f800000\",\"2\":\"f32:7fc00001\"}"},
    {"a.bool", B("\x09\0\0\0\7\0\0\0\2\0\0\0\0\0\0\0\0\1"), "[bool]"},
    {"a.u64", B("\x09\0\0\0\x0a\0\0\0\1\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0"), "[u64]"},
    {"a.i64", B("\x09\0\0\0\x0b\0\0\0\1\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0"), "[i64]"},
    {"a.text", B("\x09\0\0\0\x08\0\0\0\2\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0a\0\0\0\0\0\0\0\0"), "[str]"},
    {"a.bad", B("\x09\0\0\0\x08\0\0\0\2\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0a\1\0\0\0\0\0\0\0\xff"),
     "{\"\":\"str\",\"1\":\"bytes\"}"},
    {"a.lists", B("\x09\0\0\0\x09\0\0\0\2\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\1\1\0\0\0\0\0\0\0\0\0\0\0"),
     "{\"\":\"list\",\"0\":\"[u8]\",\"1\":\"[i8]\"}"},
    {"e.u8", B("\x09\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"), "[u8]"},
    {"e.f32", B("\x09\0\0\0\6\0\0\0\0\0\0\0\0\0\0\0"), "[f32]"},
    {"e.bool", B("\x09\0\0\0\7\0\0\0\0\0\0\0\0\0\0\0"), "[bool]"},
    {"e.text", B("\x09\0\0\0\x08\0\0\0\0\0\0\0\0\0\0\0"), "[str]"},
    {"e.lists", B("\x09\0\0\0\x09\0\0\0\0\0\0\0\0\0\0\0"), "[list]"},
};
enum { ENTRIES = sizeof entries / sizeof *entries };

static size_t put(uint8_t *file, size_t at, const void *data, size_t size)
{
    memcpy(file + at, data, size);
    return at + size;
}

static size_t put_key(uint8_t *file, size_t at, const char *key)
{
    uint64_t length = strlen(key);
    at = put(file, at, &length, 8);
    return put(file, at, key, (size_t)length);
}

/* A GGUF with one tensor and those entries. @return its size. */
static size_t make_gguf(uint8_t file[4096])
{
    static const uint64_t counts[] = {1, ENTRIES}, tensor[] = {1, 0};
    size_t at = put(file, 0, "GGUF\3\0\0\0", 8);
    at = put(file, at, counts, 16);
    for (size_t i = 0; i < ENTRIES; i++) {
        at = put_key(file, at, entries[i].key);
        at = put(file, at, entries[i].bytes, entries[i].size);
    }
    at = put_key(file, at, "w");
    at = put(file, at, "\1\0\0\0", 4);
    at = put(file, at, &tensor[0], 8);
    at = put(file, at, "\0\0\0\0", 4);
    at = put(file, at, &tensor[1], 8);
    while (at % 32) {
        file[at++] = 0;
    }
    at = put(file, at, "\0\0\x80\x3f", 4);
    return (at + 31) / 32 * 32;
}

static rec_recorder *open_as_is(const char *name)
{
    rec_recorder *r = rec_open_recorder(name, REC_PRECISION_KEEP);
    if (!r || (strcmp(name, "Gguf") == 0 && rec_recorder_set(r, "adapter", "none") != REC_OK) ||
        (strcmp(name, "Safetensors") == 0 && rec_recorder_set(r, "adapter", "none") != REC_OK)) {
        fail_msg("%s: %s", name, rec_error_message());
    }
    return r;
}

/* Files that records borrow from. */
static void *kept[64];
static size_t kept_count;

static void free_kept(void)
{
    while (kept_count) {
        rec_free(kept[--kept_count]);
    }
}

/* The record, written by a recorder and read again. */
static rec_record *through(const char *name, const rec_record *record)
{
    rec_recorder *r = open_as_is(name);
    void *data = NULL;
    uint64_t size;
    rec_record *again;
    if (rec_save_bytes(r, record, &data, &size) != REC_OK) {
        fail_msg("%s: %s", name, rec_error_message());
    }
    for (uint64_t i = 0; i < rec_report_count(); i++) {
        if (strstr(rec_report_note(i)->text, "metadata")) {
            fail_msg("%s: %s", name, rec_report_note(i)->text);
        }
    }
    again = rec_load_bytes(r, data, size);
    if (!again) {
        fail_msg("%s: %s", name, rec_error_message());
    }
    kept[kept_count++] = data;
    rec_close_recorder(r);
    return again;
}

static void check_types(const rec_record *record, const char *name)
{
    for (size_t i = 0; i < ENTRIES; i++) {
        char type[200];
        (void)rec_value_type(rec_metadata_value(record, entries[i].key), type, sizeof type);
        if (strcmp(type, entries[i].type) != 0) {
            fail_msg("%s: %s is %s, not %s", name, entries[i].key, type, entries[i].type);
        }
    }
    assert_null(rec_metadata(record, "librecord.types"));
}

static void check_gguf(const rec_record *record, const char *name)
{
    rec_recorder *r = open_as_is("Gguf");
    void *data = NULL;
    uint64_t size;
    if (rec_save_bytes(r, record, &data, &size) != REC_OK) {
        fail_msg("%s: %s", name, rec_error_message());
    }
    for (size_t i = 0; i < ENTRIES; i++) {
        uint8_t wanted[200];
        size_t length = put_key(wanted, 0, entries[i].key);
        length = put(wanted, length, entries[i].bytes, entries[i].size);
        if (!memmem(data, (size_t)size, wanted, length)) {
            fail_msg("%s: %s has other bytes", name, entries[i].key);
        }
    }
    rec_free(data);
    rec_close_recorder(r);
}

static rec_record *load_gguf(void)
{
    static uint8_t file[4096];
    size_t size = make_gguf(file);
    rec_recorder *r = open_as_is("Gguf");
    rec_record *record = rec_load_bytes(r, file, size);
    if (!record) {
        fail_msg("%s", rec_error_message());
    }
    rec_close_recorder(r);
    return record;
}

static void test_every_type_comes_back_from_every_format(void **state)
{
    static const char *const names[] = {"Gguf", "NamedMpk", "NamedMpkGz", "PrettyJson", "Safetensors", "Burnpack"};
    rec_record *record = load_gguf();
    (void)state;
    check_types(record, "read");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        rec_record *again = through(names[i], record), *copy, *twice;
        check_types(again, names[i]);
        check_gguf(again, names[i]);
        copy = rec_record_copy(again);
        twice = through(names[(i + 1) % (sizeof names / sizeof *names)], copy);
        check_gguf(twice, "the next after it");
        rec_record_free(twice);
        rec_record_free(copy);
        rec_record_free(again);
    }
    rec_record_free(record);
    free_kept();
}

/* What Burn's store says of its files: each format of recorders has a `format` and `version` of its own. */
static void test_what_the_store_says_comes_back(void **state)
{
    static const char *const names[] = {"NamedMpk", "PrettyJson", "Safetensors", "Gguf", "Burnpack"};
    rec_recorder *bpk = open_as_is("Burnpack");
    rec_record *record = rec_record_new(NULL);
    void *file = NULL, *again = NULL;
    uint64_t size, size_again;
    (void)state;
    assert_int_equal(rec_set_f32(record, "w", (const float[]){1}, 1, (const uint64_t[]){1}), REC_OK);
    assert_int_equal(rec_recorder_set(bpk, "store", "0.22.1"), REC_OK);
    assert_int_equal(rec_save_bytes(bpk, record, &file, &size), REC_OK);
    rec_record_free(record);
    rec_close_recorder(bpk);
    bpk = open_as_is("Burnpack");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        rec_record *read = rec_load_bytes(bpk, file, size), *there;
        assert_string_equal(rec_metadata(read, "version"), "0.22.1");
        there = through(names[i], read);
        assert_int_equal(rec_save_bytes(bpk, there, &again, &size_again), REC_OK);
        if (size != size_again || !memmem(again, (size_t)size, "burnpack", 8) ||
            !memmem(again, (size_t)size, "0.22.1", 6)) {
            fail_msg("%s loses what the store said", names[i]);
        }
        rec_free(again);
        rec_record_free(there);
        rec_record_free(read);
    }
    free_kept();
    rec_free(file);
    rec_close_recorder(bpk);
}

static void test_formats_without_metadata_count_them_once(void **state)
{
    static const char *const names[] = {"PyTorch", "Npz"};
    rec_record *record = load_gguf();
    char wanted[40];
    (void)state;
    (void)snprintf(wanted, sizeof wanted, "%d entries of", ENTRIES);
    for (size_t i = 0; i < 2; i++) {
        rec_recorder *r = rec_open_recorder(names[i], REC_PRECISION_KEEP);
        void *data = NULL;
        uint64_t size, found = 0;
        assert_int_equal(rec_save_bytes(r, record, &data, &size), REC_OK);
        for (uint64_t k = 0; k < rec_report_count(); k++) {
            found += strncmp(rec_report_note(k)->text, wanted, strlen(wanted)) == 0;
        }
        assert_int_equal(found, 1);
        rec_free(data);
        rec_close_recorder(r);
    }
    rec_record_free(record);
}

static void test_values_are_set_with_their_type(void **state)
{
    static const struct {
        const char *key, *type, *text, *becomes; /* NULL: it is rejected */
    } sets[] = {
        {"k.u32", NULL, "4096", "u32"},
        {"k.u32", NULL, "-1", NULL},
        {"k.u32", NULL, "4294967296", NULL},
        {"k.u32", NULL, "abc", NULL},
        {"k.u32", NULL, "1.5", NULL},
        {"k.u8", NULL, "256", NULL},
        {"k.i8", NULL, "-128", "i8"},
        {"k.i8", NULL, "128", NULL},
        {"k.f32", NULL, "1", "f32"},
        {"k.f32", NULL, "1e-5", "f32"},
        {"k.f32", NULL, "1e39", NULL},
        {"k.nan", NULL, "0.5", "f32"},
        {"k.bool", NULL, "false", "bool"},
        {"k.bool", NULL, "1", NULL},
        {"k.like", NULL, "7", "str"},
        {"a.u8", NULL, "[1,2]", "[u8]"},
        {"a.u8", NULL, "[1,256]", NULL},
        {"a.u8", NULL, "[]", "[u8]"},
        {"a.u8", NULL, "7", NULL},
        {"a.odd", NULL, "[1,2,3]", "[f32]"},
        {"a.text", NULL, "[\"\\u00e9\"]", "[str]"},
        {"a.text", NULL, "[1]", NULL},
        {"e.text", NULL, "[]", "[str]"},
        {"new", NULL, "7", "str"},
        {"new", "u32", "4096", "u32"},
        {"new", "[str]", "[\"a\"]", "[str]"},
        {"new", "[[u8]]", "[[1],[]]", "{\"\":\"list\",\"0\":\"[u8]\",\"1\":\"[u8]\"}"},
        {"new", "u32", "\"7\"", NULL},
        {"new", "word", "7", NULL},
        {"new", "[u8", "[7]", NULL},
        {"new", "map", "{\"a\":1}", "map"},
        {"new", "nil", "null", "nil"},
        {"new", "u32", "7 8", NULL},
        {"new", "[str]", "[\"a\"", NULL},
        {"new", "[str]", "[\"\\ud800\"]", NULL},
        {"new", "str", "u32 7", "str"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        rec_record *record = load_gguf();
        char before[200], type[200];
        const rec_value *old = rec_metadata_value(record, sets[i].key);
        rec_status status;
        (void)rec_value_type(old, before, sizeof before);
        status = rec_metadata_set_as(record, sets[i].key, sets[i].type, sets[i].text);
        (void)rec_value_type(rec_metadata_value(record, sets[i].key), type, sizeof type);
        if (status != (sets[i].becomes ? REC_OK : REC_E_ARGUMENT) ||
            strcmp(type, sets[i].becomes ? sets[i].becomes : before) != 0) {
            fail_msg("%s %s = %s: %s (%d)", sets[i].key, sets[i].type ? sets[i].type : "", sets[i].text, type,
                     (int)status);
        }
        rec_record_free(record);
    }
}

static void test_types_that_do_not_fit_are_noted(void **state)
{
    static const char *const types[] = {"7",
                                        "[",
                                        "{\"a\":",
                                        "{\"a\":\"u9\"}",
                                        "{\"a\":\"u8\"}",
                                        "{\"a\":7}",
                                        "{\"a\":\"[\"}",
                                        "{\"a\":\"[]\"}",
                                        "{\"a\":\"u32:1\"}",
                                        "{\"a\":\"f32:1\"}",
                                        "{\"a\":\"f32:gggggggg\"}",
                                        "{\"a\":{}}",
                                        "{\"a\":{\"\":\"u8\"}}",
                                        "{\"a\":{\"b\":\"u8\"}}",
                                        "{\"a\":\"list\"}",
                                        "{\"a\":\"\"}",
                                        "{\"a\":{\"\":7}}",
                                        "{\"a\":\"nil\"}"};
    (void)state;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        rec_record *record = rec_record_new(NULL), *again;
        rec_recorder *r = open_as_is("NamedMpk");
        void *data = NULL;
        uint64_t size, notes = 0;
        assert_int_equal(rec_set_f32(record, "w", (const float[]){1}, 1, (const uint64_t[]){1}), REC_OK);
        assert_int_equal(rec_metadata_set(record, "a", "x"), REC_OK);
        assert_int_equal(rec_metadata_set(record, "librecord.types", types[i]), REC_OK);
        assert_int_equal(rec_save_bytes(r, record, &data, &size), REC_OK);
        again = rec_load_bytes(r, data, size);
        for (uint64_t k = 0; k < rec_report_count(); k++) {
            notes += strstr(rec_report_note(k)->text, "librecord.types says") != NULL;
        }
        if (!again || notes != 1 || strcmp(rec_metadata(again, "a"), "x") != 0) {
            fail_msg("%s: %d notes, %s", types[i], (int)notes, again ? rec_metadata(again, "a") : rec_error_message());
        }
        assert_null(rec_metadata(again, "librecord.types"));
        rec_record_free(again);
        rec_free(data);
        rec_close_recorder(r);
        rec_record_free(record);
    }
}

static void test_types_fit_any_room(void **state)
{
    rec_record *record = load_gguf();
    const rec_value *value = rec_metadata_value(record, "a.u8");
    char text[8];
    (void)state;
    assert_int_equal(rec_value_type(value, NULL, 0), 6); /* with its quotes */
    assert_int_equal(rec_value_type(value, text, 7), 4);
    assert_string_equal(text, "[u8]");
    assert_int_equal(rec_value_type(NULL, text, sizeof text), 0);
    assert_string_equal(text, "");
    assert_int_equal(rec_value_type(rec_root(record), NULL, 0) > 0, 1);
    rec_record_free(record);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_type_comes_back_from_every_format),
        cmocka_unit_test(test_what_the_store_says_comes_back),
        cmocka_unit_test(test_formats_without_metadata_count_them_once),
        cmocka_unit_test(test_values_are_set_with_their_type),
        cmocka_unit_test(test_types_that_do_not_fit_are_noted),
        cmocka_unit_test(test_types_fit_any_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
