/* SPDX-License-Identifier: MIT OR Apache-2.0
 * NamedMpk, NamedMpkGz and NamedMpkBytes as applications meet them: through librecord.h alone. */
#include <setjmp.h>
#include <stdbool.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <glob.h>
#include <cmocka.h>
#include <librecord.h>

#include "tests/scratch.h"

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
    fclose(file);
    return data;
}

/* A file among those that Burn wrote. */
static const char *golden(char *path, size_t room, const char *name)
{
    const char *srcdir = getenv("srcdir");
    snprintf(path, room, "%s/tests/data/burn/%s", srcdir ? srcdir : ".", name);
    return path;
}

static void each_name_opens_its_recorder(void **state)
{
    static const char *const names[][3] = {
        {"NamedMpk", "NamedMpk", "mpk"},
        {"mpk", "NamedMpk", "mpk"},
        {"named-mpk", "NamedMpk", "mpk"},
        {"NamedMpkFileRecorder", "NamedMpk", "mpk"},
        {"Default", "NamedMpk", "mpk"},
        {"DefaultFileRecorder", "NamedMpk", "mpk"},
        {"NamedMpkGz", "NamedMpkGz", "mpk.gz"},
        {"mpk-gz", "NamedMpkGz", "mpk.gz"},
        {"mpk.gz", "NamedMpkGz", "mpk.gz"},
        {"NamedMpkGzFileRecorder", "NamedMpkGz", "mpk.gz"},
        {"NamedMpkBytes", "NamedMpkBytes", ""},
        {"mpk-bytes", "NamedMpkBytes", ""},
        {"NamedMpkBytesRecorder", "NamedMpkBytes", ""},
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

/* Loads each file and saves it again; `again` compares. @return how many files there were. */
static size_t each_file(const scratch *s, const char *pattern, const char *recorder, const char *extension,
                        void (*compare)(rec_recorder *r, const char *original, const char *copy))
{
    char name[32];
    glob_t found;
    size_t files;
    snprintf(name, sizeof name, "copy.%s", extension);
    char *copy = scratch_path(s, name);
    rec_recorder *r = open_keeping(recorder);
    if (glob(pattern, 0, NULL, &found) != 0) {
        fail_msg("there is no %s", pattern);
    }
    files = found.gl_pathc;
    for (size_t i = 0; i < files; i++) {
        rec_record *record = rec_load(r, found.gl_pathv[i]);
        if (!record || rec_save(r, record, copy) != REC_OK) {
            fail_msg("%s", rec_error_message());
        }
        rec_record_free(record);
        compare(r, found.gl_pathv[i], copy);
    }
    globfree(&found);
    rec_close_recorder(r);
    free(copy);
    return files;
}

static void same_bytes(rec_recorder *r, const char *original, const char *copy)
{
    size_t size, made;
    uint8_t *before = read_file(original, &size), *after = read_file(copy, &made);
    (void)r;
    if (size != made || memcmp(before, after, size) != 0) {
        fail_msg("%s came back otherwise", original);
    }
    free(before);
    free(after);
}

static void a_file_of_burn_comes_back_byte_by_byte(void **state)
{
    char pattern[4096];
    assert_true(each_file(*state, golden(pattern, sizeof pattern, "*/*.mpk"), "NamedMpk", "mpk", same_bytes) > 50);
}

/* The compressed bytes are zlib's; what they hold must be the same. */
static void same_contents(rec_recorder *r, const char *original, const char *copy)
{
    static const uint8_t header[10] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff};
    const char *const paths[2] = {original, copy};
    rec_recorder *plain = open_keeping("NamedMpkBytes");
    void *data[2];
    uint64_t size[2];
    size_t length;
    for (int i = 0; i < 2; i++) {
        rec_record *record = rec_load(r, paths[i]);
        assert_non_null(record);
        assert_int_equal(rec_save_bytes(plain, record, &data[i], &size[i]), REC_OK);
        rec_record_free(record);
    }
    if (size[0] != size[1] || memcmp(data[0], data[1], (size_t)size[0]) != 0) {
        fail_msg("%s came back otherwise", original);
    }
    rec_free(data[0]);
    rec_free(data[1]);
    rec_close_recorder(plain);
    data[0] = read_file(copy, &length);
    assert_memory_equal(data[0], header, sizeof header);
    free(data[0]);
}

static void a_compressed_file_of_burn_comes_back_with_its_contents(void **state)
{
    char pattern[4096];
    assert_true(
        each_file(*state, golden(pattern, sizeof pattern, "*/*.mpk.gz"), "NamedMpkGz", "mpk.gz", same_contents) > 50);
}

static void tensors_are_not_copied_out_of_the_bytes_they_are_loaded_from(void **state)
{
    char path[4096];
    size_t size;
    uint64_t nbytes;
    uint8_t *data = read_file(golden(path, sizeof path, "0.18.0/tiny-full.mpk"), &size);
    rec_recorder *r = open_keeping("NamedMpkBytes");
    rec_record *record = rec_load_bytes(r, data, size);
    assert_non_null(record);
    rec_iterator *each = rec_iterate(record);
    const rec_tensor *tensor;
    int tensors = 0;
    (void)state;
    for (const char *key; (tensor = rec_iterator_next_tensor(each, &key)) != NULL; tensors++) {
        const uint8_t *bytes = rec_tensor_bytes(tensor, &nbytes);
        assert_true(bytes > data && bytes + nbytes < data + size);
        assert_int_equal(rec_tensor_offset(tensor), bytes - data);
    }
    assert_int_equal(tensors, 2);
    rec_iterator_free(each);
    rec_record_free(record);
    rec_close_recorder(r);
    free(data);
}

/* ----------------------------------------------------------------------------------------------------- options -- */

static void a_level_from_0_to_9_decides_the_size(void **state)
{
    char path[4096];
    uint64_t sizes[2];
    rec_recorder *r = open_keeping("NamedMpkGz"), *plain = open_keeping("NamedMpk");
    rec_record *record = rec_load(plain, golden(path, sizeof path, "0.18.0/zoo-full.mpk"));
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
    assert_int_equal(rec_recorder_set(r, "level", "-1"), REC_E_ARGUMENT);
    assert_int_equal(rec_recorder_set(r, "level", "best"), REC_E_ARGUMENT);
    assert_int_equal(rec_recorder_set(plain, "level", "6"), REC_E_ARGUMENT);
    rec_record_free(record);
    rec_close_recorder(r);
    rec_close_recorder(plain);
}

/* ------------------------------------------------------------------------------------------------ wrong inputs -- */

static void the_wrong_recorder_is_told_the_right_one(void **state)
{
    static const struct {
        const char *recorder, *file, *expected, *found, *right;
    } cases[] = {
        {"NamedMpk", "0.18.0/tiny-full.mpk.gz", "a MessagePack map", "0x1f 0x8b, which is how gzip begins",
         "NamedMpkGz"},
        {"NamedMpkGz", "0.18.0/tiny-full.mpk", "a gzip file (0x1f 0x8b)", "0x83 0xa8", "NamedMpk"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char path[4096], message[8192];
        rec_recorder *r = open_keeping(cases[i].recorder);
        assert_null(rec_load(r, golden(path, sizeof path, cases[i].file)));
        assert_int_equal(rec_error_status(), REC_E_FORMAT);
        snprintf(message, sizeof message,
                 "%s: byte 0: expected %s, found %s\n"
                 "  It looks like a %s record: open it with that recorder, or with Auto.",
                 path, cases[i].expected, cases[i].found, cases[i].right);
        assert_string_equal(rec_error_message(), message);
        rec_close_recorder(r);
    }
}

static void bytes_after_a_record_are_refused_or_noted_once(void **state)
{
    static const char *const files[] = {"0.18.0/tiny-full.mpk", "0.13.2/tiny-full.mpk", "0.13.2/tiny-half.mpk"};
    rec_recorder *strict = open_keeping("NamedMpkBytes"), *r = open_keeping("NamedMpkBytes");
    (void)state;
    assert_int_equal(rec_recorder_set(r, "trailing", "ignore"), REC_OK);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char path[4096];
        size_t size;
        uint64_t trailing = 0;
        uint8_t *data = read_file(golden(path, sizeof path, files[i]), &size);
        data = realloc(data, size + 5);
        memcpy(data + size, "extra", 5);
        assert_null(rec_load_bytes(strict, data, size + 5));
        assert_int_equal(rec_error_status(), REC_E_FORMAT);
        assert_int_equal(rec_error_offset(), size);
        rec_record *record = rec_load_bytes(r, data, size + 5);
        if (!record) {
            fail_msg("%s", rec_error_message());
        }
        for (uint64_t j = 0; j < rec_report_count(); j++) {
            trailing += rec_report_note(j)->kind == REC_NOTE_TRAILING;
        }
        assert_int_equal(trailing, 1);
        rec_record_free(record);
        free(data);
    }
    rec_close_recorder(strict);
    rec_close_recorder(r);
}

/* Loads an exact copy of the bytes, looks at everything, and saves it: whatever they are, that ends. @return whether
 * they were a record. */
static int survive(rec_recorder *r, const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size ? size : 1);
    assert_non_null(copy);
    memcpy(copy, data, size);
    rec_record *record = rec_load_bytes(r, copy, size);
    if (record) {
        rec_iterator *each = rec_iterate(record);
        const rec_tensor *tensor;
        void *saved;
        uint64_t length;
        for (const char *key; (tensor = rec_iterator_next_tensor(each, &key)) != NULL;) {
            (void)rec_tensor_f32(tensor);
            (void)rec_tensor_i64(tensor);
        }
        rec_iterator_free(each);
        if (rec_save_bytes(r, record, &saved, &length) == REC_OK) {
            rec_free(saved);
        } else {
            assert_true(strlen(rec_error_message()) > 20);
        }
        rec_record_free(record);
    } else {
        assert_int_not_equal(rec_error_status(), REC_OK);
        assert_int_not_equal(rec_error_status(), REC_E_PLUGIN);
        assert_true(strlen(rec_error_message()) > 20);
    }
    free(copy);
    return record != NULL;
}

static const struct {
    const char *recorder, *file;
} small[] = {
    {"NamedMpkBytes", "0.13.2/tiny-full.mpk"}, {"NamedMpkBytes", "0.13.2/tiny-half.mpk"},
    {"NamedMpkBytes", "0.18.0/tiny-half.mpk"}, {"NamedMpkBytes", "0.18.0/plain-full.mpk"},
    {"NamedMpkGz", "0.18.0/tiny-full.mpk.gz"},
};

static void no_prefix_of_a_record_is_a_record(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof small / sizeof *small; i++) {
        char path[4096];
        size_t size;
        uint8_t *data = read_file(golden(path, sizeof path, small[i].file), &size);
        rec_recorder *r = open_keeping(small[i].recorder);
        assert_true(survive(r, data, size));
        for (size_t j = 0; j < size; j++) {
            assert_false(survive(r, data, j));
        }
        rec_close_recorder(r);
        free(data);
    }
}

static void every_changed_byte_ends_with_a_record_or_a_message(void **state)
{
    static const uint8_t values[] = {0x00, 0x01, 0x7f, 0x80, 0x8f, 0x90, 0xa1, 0xc0, 0xc1, 0xc4, 0xc6,
                                     0xca, 0xcf, 0xd9, 0xdb, 0xdc, 0xdd, 0xde, 0xdf, 0xe0, 0xff};
    (void)state;
    for (size_t i = 0; i < sizeof small / sizeof *small; i++) {
        char path[4096];
        size_t size;
        int refused = 0;
        uint8_t *data = read_file(golden(path, sizeof path, small[i].file), &size);
        rec_recorder *r = open_keeping(small[i].recorder);
        for (size_t j = 0; j < size; j++) {
            uint8_t good = data[j];
            for (size_t k = 0; k < sizeof values; k++) {
                data[j] = values[k];
                refused += !survive(r, data, size);
            }
            data[j] = good;
        }
        assert_true(refused > (int)size);
        rec_close_recorder(r);
        free(data);
    }
}

/* Where nothing is in the metadata, before the record or after it, tensors are what they are all the same. Before, they
 * were maps, and a file of such maps did not load again. */
static void empty_metadata_hide_no_tensors(void **state)
{
#define ITEM                          \
    "\xa4item\x81\xa1w\x82\xa2id\xa1" \
    "a\xa5param\x83\xa5"              \
    "bytes\xc4\x04\0\0\x80?\xa5shape\x91"
#define REST    \
    "\xa5"      \
    "dtype\xa3" \
    "F32"
    static const char before[] = "\x82\xa8metadata\x80" ITEM "\x01" REST;
    static const char after[] = "\x82" ITEM "\x01" REST "\xa8metadata\x80";
    static const char nested[] = "\x82" ITEM "\x91\x01" REST "\xa8metadata\x80";
    const struct {
        const char *bytes;
        uint64_t size;
    } files[] = {{before, sizeof before - 1}, {after, sizeof after - 1}};
    rec_recorder *r = open_keeping("NamedMpk");
    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        rec_record *record = rec_load_bytes(r, files[i].bytes, files[i].size);
        assert_non_null(record);
        assert_non_null(rec_tensor_at(record, "w"));
        assert_string_equal(rec_tensor_id(rec_tensor_at(record, "w")), "a");
        rec_record_free(record);
    }
    assert_null(rec_load_bytes(r, nested, sizeof nested - 1));
    assert_non_null(strstr(rec_error_message(), "w: expected a list of unsigned integers as the tensor's `shape`"));
    rec_close_recorder(r);
#undef ITEM
#undef REST
}

/* ----------------------------------------------------------------------------------------- large files, mapped -- */

/* A file in the making. */
typedef struct large {
    uint8_t *data;
    size_t size, room;
    size_t begins[256]; /* where entries begin */
    size_t count;
} large;

static void add(large *file, const void *bytes, size_t size)
{
    if (file->size + size > file->room) {
        file->room = 2 * (file->size + size);
        file->data = realloc(file->data, file->room);
        assert_non_null(file->data);
    }
    if (size) {
        memcpy(file->data + file->size, bytes, size);
    }
    file->size += size;
}

/* The head of a value with a length of `width` bytes. */
static void add_head(large *file, uint8_t first, size_t length, unsigned width)
{
    uint8_t head[5] = {first};
    for (unsigned i = 0; i < width; i++) {
        head[1 + i] = (uint8_t)(length >> (8 * (width - 1 - i)));
    }
    add(file, head, 1 + width);
}

static void add_key(large *file)
{
    char key[8];
    file->begins[file->count] = file->size;
    add_head(file, 0xa4, 0, 0);
    (void)snprintf(key, sizeof key, "k%03zu", file->count++ % 1000);
    add(file, key, 4);
}

/* A byte string or a text: no two pages of it are alike. */
static void add_bytes(large *file, uint8_t first, unsigned width, size_t size)
{
    uint8_t *bytes = malloc(size + 1);
    assert_non_null(bytes);
    for (size_t i = 0; i < size; i++) {
        bytes[i] = (uint8_t)('a' + (i * 7 + i / 4096 + file->count) % 26);
    }
    add_head(file, first, size, width);
    add(file, bytes, size);
    free(bytes);
}

/* Byte strings that end before, in and behind what is read at once, after 8 MiB of them; between them, if that is
 * wanted, a long text and a list of numbers. */
static void fill_large(large *file, bool others)
{
    static const size_t sizes[] = {0,    1,    40,   3900, 4000,  4080,  4090,  4095,  4096,   4097,
                                   4200, 5000, 8191, 8192, 12000, 65535, 65536, 70000, 300000, 17};
    enum { SIZES = sizeof sizes / sizeof *sizes, FIRST = 9 };
    *file = (large){0};
    add(file,
        "\x82\xa8metadata\x81\xa7version\xa6"
        "0.21.0"
        "\xa4item",
        31);
    add_head(file, 0xde, FIRST + 2 * SIZES + (others ? 2 : 0), 2);
    for (size_t i = 0; i < FIRST; i++) {
        add_key(file);
        add_bytes(file, 0xc6, 4, (1u << 20) + i * 1001);
    }
    for (size_t i = 0; i < SIZES; i++) {
        add_key(file);
        add_bytes(file,
                  sizes[i] < 256     ? 0xc4
                  : sizes[i] < 65536 ? 0xc5
                                     : 0xc6,
                  sizes[i] < 256     ? 1
                  : sizes[i] < 65536 ? 2
                                     : 4,
                  sizes[i]);
    }
    if (others) {
        add_key(file);
        add_bytes(file, 0xdb, 4, 600000);
        add_key(file);
        add_head(file, 0xdd, 100000, 4);
        for (uint32_t i = 0; i < 100000; i++) {
            add_head(file, 0xce, i * 40503u, 4);
        }
    }
    for (size_t i = 0; i < SIZES; i++) {
        add_key(file);
        add_bytes(file, 0xc6, 4, sizes[SIZES - 1 - i] + 1);
    }
}

static rec_recorder *open_mapping(const char *map)
{
    rec_recorder *r = open_keeping("NamedMpk");
    assert_int_equal(rec_recorder_set(r, "map", map), REC_OK);
    return r;
}

/* The headers of a large mapped file are read through a window: what is loaded is what the whole of it in memory gives.
 */
static void a_large_file_is_the_same_mapped(void **state)
{
    for (int others = 0; others < 2; others++) {
        static const char *const maps[] = {"no", "yes"};
        uint8_t *saved[2] = {NULL, NULL};
        uint64_t sizes[2] = {0, 0};
        large file;
        char *path;
        fill_large(&file, others);
        path = scratch_write(*state, "large.mpk", file.data, file.size);
        for (int i = 0; i < 2; i++) {
            rec_recorder *r = open_mapping(maps[i]);
            rec_record *record = rec_load(r, path);
            if (!record || rec_save_bytes(r, record, (void *)&saved[i], &sizes[i]) != REC_OK) {
                fail_msg("%s", rec_error_message());
            }
            assert_int_equal(rec_value_count(rec_value_at(record, "")), file.count);
            rec_record_free(record);
            rec_close_recorder(r);
        }
        assert_int_equal(sizes[0], sizes[1]);
        assert_memory_equal(saved[0], saved[1], (size_t)sizes[0]);
        rec_free(saved[0]);
        rec_free(saved[1]);
        free(file.data);
        free(path);
    }
}

/* And so is what is said of one that was cut, wherever that was. */
static void a_large_file_that_was_cut_is_refused_alike(void **state)
{
    char *path, message[2048];
    rec_recorder *mapping = open_mapping("yes"), *reading = open_mapping("no");
    large file;
    size_t cuts = 0;
    fill_large(&file, false);
    path = scratch_write(*state, "cut.mpk", file.data, file.size);
    for (size_t k = file.count; k-- > 0 && file.begins[k] > 8u << 20;) {
        static const size_t behind[] = {3000, 12, 11, 9, 8, 7, 6, 5, 1, 0};
        for (size_t i = 0; i < sizeof behind / sizeof *behind; i++) {
            size_t cut = file.begins[k] + behind[i];
            if (cut >= file.size || (k + 1 < file.count && cut >= file.begins[k + 1])) {
                continue;
            }
            assert_int_equal(truncate(path, (off_t)cut), 0);
            assert_null(rec_load(reading, path));
            (void)snprintf(message, sizeof message, "%s", rec_error_message());
            assert_null(rec_load(mapping, path));
            assert_string_equal(rec_error_message(), message);
            cuts++;
        }
    }
    assert_true(cuts > 100);
    rec_close_recorder(mapping);
    rec_close_recorder(reading);
    free(file.data);
    free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_name_opens_its_recorder),
        cmocka_unit_test_setup_teardown(a_file_of_burn_comes_back_byte_by_byte, setup, teardown),
        cmocka_unit_test_setup_teardown(a_compressed_file_of_burn_comes_back_with_its_contents, setup, teardown),
        cmocka_unit_test(tensors_are_not_copied_out_of_the_bytes_they_are_loaded_from),
        cmocka_unit_test(a_level_from_0_to_9_decides_the_size),
        cmocka_unit_test(the_wrong_recorder_is_told_the_right_one),
        cmocka_unit_test(bytes_after_a_record_are_refused_or_noted_once),
        cmocka_unit_test(empty_metadata_hide_no_tensors),
        cmocka_unit_test(no_prefix_of_a_record_is_a_record),
        cmocka_unit_test(every_changed_byte_ends_with_a_record_or_a_message),
        cmocka_unit_test_setup_teardown(a_large_file_is_the_same_mapped, setup, teardown),
        cmocka_unit_test_setup_teardown(a_large_file_that_was_cut_is_refused_alike, setup, teardown),
    };
    return cmocka_run_group_tests_name("mpk", tests, NULL, NULL);
}
