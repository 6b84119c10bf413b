/* SPDX-License-Identifier: MIT OR Apache-2.0
 * GGUF: the golden file of llama.cpp's own package as numbers and as bytes, what is refused and in which words, and
 * files cut short or changed at every byte. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "librecord.h"
#include "tests/scratch.h"

typedef struct bytes {
    uint8_t data[8192];
    size_t size;
} bytes;

static bytes golden;

static void put(bytes *b, const void *data, size_t size)
{
    assert_true(b->size + size <= sizeof b->data);
    memcpy(b->data + b->size, data, size);
    b->size += size;
}

static void put_uint(bytes *b, uint64_t number, size_t width)
{
    for (size_t i = 0; i < width; i++) {
        uint8_t byte = (uint8_t)(number >> 8 * i);
        put(b, &byte, 1);
    }
}

static void put_text(bytes *b, const char *text)
{
    put_uint(b, strlen(text), 8);
    put(b, text, strlen(text));
}

static void put_header(bytes *b, uint32_t version, uint64_t tensors, uint64_t entries)
{
    b->size = 0;
    put(b, "GGUF", 4);
    put_uint(b, version, 4);
    put_uint(b, tensors, 8);
    put_uint(b, entries, 8);
}

static void put_tensor(bytes *b, const char *name, uint32_t rank, const uint64_t *dims, uint32_t type, uint64_t offset)
{
    put_text(b, name);
    put_uint(b, rank, 4);
    for (uint32_t i = 0; i < rank; i++) {
        put_uint(b, dims[i], 8);
    }
    put_uint(b, type, 4);
    put_uint(b, offset, 8);
}

static void pad(bytes *b, size_t more)
{
    static const uint8_t zeros[512];
    put(b, zeros, (32 - b->size % 32) % 32);
    put(b, zeros, more);
}

static rec_record *load_at(const void *data, size_t size, rec_precision precision)
{
    rec_recorder *r = rec_open_recorder("Gguf", precision);
    rec_record *record;
    if (!r) {
        fail_msg("%s", rec_error_message());
    }
    assert_int_equal(rec_recorder_set(r, "adapter", "none"), REC_OK);
    record = rec_load_bytes(r, data, size);
    rec_close_recorder(r); /* leaves the last error be */
    return record;
}

/* -------------------------------------------------------------------------------------------------- read right -- */

static void test_what_is_there(void **state)
{
    rec_record *record = load_at(golden.data, golden.size, REC_PRECISION_KEEP);
    const rec_tensor *tensor;
    const rec_value *value;
    (void)state;
    if (!record) {
        fail_msg("%s", rec_error_message());
    }
    tensor = rec_tensor_at(record, "plain.i64");
    assert_non_null(tensor);
    assert_int_equal(rec_tensor_dtype(tensor), REC_DTYPE_I64);
    assert_int_equal(rec_tensor_rank(tensor), 3);
    assert_int_equal(rec_tensor_shape(tensor)[0], 2);
    assert_int_equal(rec_tensor_shape(tensor)[2], 3);
    tensor = rec_tensor_at(record, "blocks.Q6_K");
    assert_non_null(tensor);
    assert_string_equal(rec_tensor_dtype_name(tensor), "Q6_K");
    assert_int_equal(rec_tensor_nbytes(tensor), 420);
    assert_int_equal(rec_tensor_count(tensor), 512);
    value = rec_metadata_value(record, "an.i8");
    assert_non_null(value);
    assert_int_equal(rec_value_scalar(value).v.i, -100);
    assert_int_equal(rec_value_scalar(value).bits, 8);
    value = rec_metadata_value(record, "an.u64");
    assert_true(rec_value_scalar(value).v.u == UINT64_MAX);
    value = rec_metadata_value(record, "an.array.of.strings");
    assert_int_equal(rec_value_count(value), 3);
    assert_string_equal(rec_value_scalar(rec_value_item(value, 2)).text, "▁the");
    value = rec_metadata_value(record, "an.array.of.ints");
    assert_int_equal(rec_value_number(value, 1).v.i, -2);
    rec_record_free(record);
}

/* A number of a kept tensor, and the same where the record was loaded at a precision. */
static void test_numbers(void **state)
{
    rec_record *kept = load_at(golden.data, golden.size, REC_PRECISION_KEEP);
    rec_record *full = load_at(golden.data, golden.size, REC_PRECISION_FULL);
    static const char *const names[] = {"Q4_0",   "Q4_1",    "Q5_0",    "Q5_1",   "Q8_0",  "Q2_K",  "Q3_K",
                                        "Q4_K",   "Q5_K",    "Q6_K",    "Q8_K",   "TQ1_0", "TQ2_0", "IQ1_S",
                                        "IQ1_M",  "IQ2_S",   "Q1_0",    "Q2_0",   "IQ3_S", "MXFP4", "NVFP4",
                                        "IQ2_XS", "IQ2_XXS", "IQ3_XXS", "IQ4_NL", "IQ4_XS"};
    (void)state;
    assert_non_null(kept);
    assert_non_null(full);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char path[64];
        const rec_tensor *a, *b;
        const float *x, *y;
        float part[7];
        (void)snprintf(path, sizeof path, "blocks.%s", names[i]);
        a = rec_tensor_at(kept, path);
        b = rec_tensor_at(full, path);
        assert_non_null(a);
        assert_non_null(b);
        assert_int_equal(rec_tensor_dtype(a), REC_DTYPE_OPAQUE);
        assert_int_equal(rec_tensor_dtype(b), REC_DTYPE_F32);
        assert_int_equal(rec_tensor_nbytes(b), rec_tensor_count(b) * 4);
        x = rec_tensor_f32(a);
        y = rec_tensor_f32(b);
        assert_non_null(x);
        assert_non_null(y);
        assert_memory_equal(x, y, (size_t)(rec_tensor_count(b) * 4));
        assert_int_equal(rec_tensor_read(a, REC_DTYPE_F32, 13, 7, part), REC_OK);
        assert_memory_equal(part, x + 13, sizeof part);
        assert_non_null(rec_tensor_f64(a));
        assert_true(rec_tensor_f64(a)[5] == (double)x[5]);
        assert_null(rec_tensor_i32(a));
    }
    rec_record_free(kept);
    rec_record_free(full);
}

/* Tensors of many blocks: a type by ggml's number, elements and bytes of a block, elements of a row, rows. */
typedef struct many {
    uint32_t type, block, size;
    uint64_t row, rows;
} many;

/* Returns a file of one tensor `w` with random blocks. */
static uint8_t *many_blocks(const many *m, uint64_t *size)
{
    uint64_t random = 1;
    uint8_t *file;
    bytes b;
    put_header(&b, 3, 1, 0);
    put_tensor(&b, "w", 2, (const uint64_t[]){m->row, m->rows}, m->type, 0);
    pad(&b, 0);
    *size = b.size + m->row * m->rows / m->block * m->size;
    file = malloc((size_t)*size);
    assert_non_null(file);
    memcpy(file, b.data, b.size);
    for (uint64_t i = b.size; i < *size; i++) {
        random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
        file[i] = (uint8_t)(random >> 56 & 0x3F); /* no scale is infinite */
    }
    return file;
}

/* Reads 200 numbers at a time, never a whole block of 256. */
static void read_in_parts(const rec_tensor *tensor, uint64_t count, float *numbers)
{
    for (uint64_t i = 0; i < count; i += 200) {
        assert_int_equal(rec_tensor_read(tensor, REC_DTYPE_F32, i, i + 200 < count ? 200 : count - i, numbers + i),
                         REC_OK);
    }
}

/* Reads all but `first` numbers at both ends, to places that are aligned and to others, and expects nothing beyond. */
static void check_window(const rec_tensor *tensor, uint64_t count, uint64_t first, const float *expected)
{
    uint8_t *target = malloc((size_t)((count + 2) * sizeof(float)));
    assert_non_null(target);
    for (uint64_t place = 0; place <= 4; place += 2) {
        uint64_t n = (count - 2 * first) * sizeof(float);
        memset(target, 0x5A, (size_t)((count + 2) * sizeof(float)));
        assert_int_equal(rec_tensor_read(tensor, REC_DTYPE_F32, first, count - 2 * first, target + place), REC_OK);
        assert_int_equal(memcmp(target + place, expected + first, (size_t)n), 0);
        assert_int_equal(target[place + n], 0x5A);
    }
    free(target);
}

typedef struct content {
    const uint8_t *data;
    uint64_t size;
} content;

static int32_t read_content(void *user, uint64_t offset, void *target, uint64_t size)
{
    const content *c = user;
    memcpy(target, c->data + offset, (size_t)size);
    return 0;
}

/* Loads from memory, from a file that is copied into memory, or by functions, which read what is asked for. */
static rec_record *load_way(rec_recorder *r, unsigned way, content *c, const char *path)
{
    rec_input input = {.size = sizeof input, .total = c->size, .read_at = read_content};
    return way == 0 ? rec_load_bytes(r, c->data, c->size) : way == 1 ? rec_load(r, path) : rec_load_from(r, &input, c);
}

/* By one thread and by several, in each way, whole and from within a block, to places that are aligned and to others.
 */
static void check_many(const many *m)
{
    uint64_t size, count = m->row * m->rows;
    uint8_t *file = many_blocks(m, &size);
    float *expected = malloc((size_t)(count * sizeof(float)));
    scratch *s = scratch_new();
    char *path = scratch_write(s, "many.gguf", file, (size_t)size);
    content c = {.data = file, .size = size};
    assert_non_null(expected);
    for (unsigned round = 0; round < 9; round++) {
        static const uint32_t threads[] = {1, 2, 5};
        rec_context *context = rec_context_new(NULL);
        rec_recorder *r = rec_open_recorder_in(context, "Gguf", REC_PRECISION_KEEP);
        rec_record *record;
        const rec_tensor *tensor;
        const float *whole;
        assert_non_null(r);
        assert_int_equal(rec_context_set_threads(context, threads[round / 3]), REC_OK);
        assert_int_equal(rec_recorder_set(r, "adapter", "none"), REC_OK);
        assert_int_equal(rec_recorder_set(r, "map", "no"), REC_OK);
        record = load_way(r, round % 3, &c, path);
        tensor = record ? rec_tensor_at(record, "w") : NULL;
        assert_non_null(tensor);
        if (round == 0) {
            read_in_parts(tensor, count, expected);
        }
        check_window(tensor, count, 0, expected);
        check_window(tensor, count, 299, expected);
        check_window(tensor, count, 598, expected);
        whole = rec_tensor_f32(tensor);
        assert_non_null(whole);
        assert_int_equal(memcmp(whole, expected, (size_t)(count * sizeof(float))), 0);
        rec_record_free(record);
        rec_close_recorder(r);
        rec_context_free(context);
    }
    free(path);
    scratch_free(s);
    free(file);
    free(expected);
}

static void test_many_numbers(void **state)
{
    /* Q6_K for several threads; then the largest blocks for their numbers, the smallest, and those of 64 and 128. */
    static const many tensors[] = {
        {14, 256, 210, 256 * 47, 251}, {15, 256, 292, 256 * 40, 5}, {19, 256, 50, 256 * 40, 5},
        {40, 64, 36, 64 * 47, 31},     {41, 128, 18, 128 * 47, 31}, {42, 64, 18, 64 * 47, 31},
    };
    (void)state;
    for (size_t i = 0; i < sizeof tensors / sizeof tensors[0]; i++) {
        check_many(&tensors[i]);
    }
}

/* A block of Q8_0 whose numbers are known without any package: 0.5 times an integer. */
static void test_known_numbers(void **state)
{
    static const uint64_t dims[] = {32, 2};
    rec_record *record;
    const float *numbers;
    bytes b;
    (void)state;
    put_header(&b, 3, 1, 0);
    put_tensor(&b, "w", 2, dims, 8, 0);
    pad(&b, 0);
    for (int block = 0; block < 2; block++) {
        put_uint(&b, block ? 0xC000 : 0x3800, 2); /* -2 and 0.5 */
        for (int i = 0; i < 32; i++) {
            put_uint(&b, (uint8_t)(i - 16), 1);
        }
    }
    record = load_at(b.data, b.size, REC_PRECISION_FULL);
    if (!record) {
        fail_msg("%s", rec_error_message());
    }
    numbers = rec_tensor_f32(rec_tensor_at(record, "w"));
    assert_non_null(numbers);
    for (int i = 0; i < 32; i++) {
        assert_true(numbers[i] == 0.5f * (float)(i - 16));
        assert_true(numbers[32 + i] == -2.0f * (float)(i - 16));
    }
    rec_record_free(record);
}

/* ----------------------------------------------------------------------------------------------------- refused -- */

static void refused(const bytes *b, const char *words)
{
    rec_record *record = load_at(b->data, b->size, REC_PRECISION_KEEP);
    if (record || !strstr(rec_error_message(), words)) {
        fail_msg("expected `%s`, found `%s`", words, record ? "a record" : rec_error_message());
    }
}

static void test_refused(void **state)
{
    static const uint64_t six[] = {6}, blocks[] = {33}, huge[] = {UINT64_MAX / 2, 4}, two[] = {2};
    static const struct {
        const char *name;
        uint32_t type, block, size;
        uint64_t row; /* that is no multiple of the block */
    } newer[] = {
        {"IQ2_XXS", 16, 256, 66, 128}, {"IQ2_XS", 17, 256, 74, 255}, {"IQ3_XXS", 18, 256, 98, 257},
        {"IQ1_S", 19, 256, 50, 32},    {"IQ3_S", 21, 256, 110, 64},  {"IQ2_S", 22, 256, 82, 1},
        {"IQ1_M", 29, 256, 56, 128},   {"TQ1_0", 34, 256, 54, 16},   {"NVFP4", 40, 64, 36, 16},
        {"Q1_0", 41, 128, 18, 64},     {"Q2_0", 42, 64, 18, 32},
    };
    bytes b;
    (void)state;
    put_header(&b, 1, 0, 0);
    refused(&b, "expected GGUF of version 2 or 3, found version 1");
    put_header(&b, 0x03000000, 0, 0);
    refused(&b, "a big-endian GGUF file");
    put_header(&b, 3, UINT64_MAX, 0);
    refused(&b, "byte 8");
    put_header(&b, 3, 0, UINT64_C(1) << 60);
    refused(&b, "byte 16");
    put_header(&b, 3, 0, 1);
    put_text(&b, "k");
    put_uint(&b, 13, 4);
    refused(&b, "expected a type of metadata (0 to 12), found 13");
    put_header(&b, 3, 0, 1);
    put_text(&b, "k");
    put_uint(&b, 7, 4);
    put_uint(&b, 2, 1);
    refused(&b, "expected a bool (0 or 1), found byte 0x02");
    put_header(&b, 3, 0, 1);
    put_text(&b, "general.alignment");
    put_uint(&b, 4, 4);
    put_uint(&b, 48, 4);
    refused(&b, "expected an alignment that is a power of two from 8 on, found 48");
    put_header(&b, 3, 0, 2);
    for (int i = 0; i < 2; i++) {
        put_text(&b, "k");
        put_uint(&b, 0, 4);
        put_uint(&b, 1, 1);
    }
    refused(&b, "the metadata key `k` occurs twice");
    put_header(&b, 3, 1, 0);
    put_tensor(&b, "t", 5, (const uint64_t[]){1, 1, 1, 1, 1}, 0, 0);
    refused(&b, "expected a rank of at most 4, found 5");
    put_header(&b, 3, 1, 0);
    put_tensor(&b, "t", 1, six, 4, 0);
    refused(&b, "expected an element type of ggml's that is known, found 4");
    put_header(&b, 3, 1, 0);
    put_tensor(&b, "t", 1, blocks, 2, 0);
    refused(&b, "the tensor t of Q4_0 in rows of 33 elements, which come in blocks of 32");
    for (size_t i = 0; i < sizeof newer / sizeof newer[0]; i++) {
        char words[96];
        put_header(&b, 3, 1, 0);
        put_tensor(&b, "t", 1, &newer[i].row, newer[i].type, 0);
        (void)snprintf(words, sizeof words, "the tensor t of %s in rows of %u elements, which come in blocks of %u",
                       newer[i].name, (unsigned)newer[i].row, newer[i].block);
        refused(&b, words);
        put_header(&b, 3, 1, 0);
        put_tensor(&b, "t", 1, (const uint64_t[]){newer[i].block}, newer[i].type, 0);
        pad(&b, newer[i].size - 1);
        refused(&b, "which extends beyond the end of the file");
        put_header(&b, 3, 1, 0);
        put_tensor(&b, "t", 1, (const uint64_t[]){UINT64_C(1) << 60}, newer[i].type, 0);
        pad(&b, newer[i].size);
        refused(&b, "which extends beyond the end of the file");
    }
    put_header(&b, 3, 1, 0);
    put_tensor(&b, "t", 2, huge, 0, 0);
    refused(&b, "the tensor t has more elements than can be counted");
    put_header(&b, 3, 1, 0);
    put_tensor(&b, "t", 1, six, 0, 32);
    pad(&b, 64);
    refused(&b, "t at 32 of the data, where 0 comes next");
    put_header(&b, 3, 2, 0);
    put_tensor(&b, "t", 1, two, 0, 0);
    put_tensor(&b, "u", 1, two, 0, 0);
    pad(&b, 64);
    refused(&b, "u at 0 of the data, where 32 comes next");
    put_header(&b, 3, 1, 0);
    put_tensor(&b, "t", 1, six, 0, 0);
    pad(&b, 23);
    refused(&b, "t of 24 bytes, which extends beyond the end of the file");
    put_header(&b, 3, 2, 0);
    put_tensor(&b, "t", 1, two, 0, 0);
    put_tensor(&b, "t", 1, two, 0, 32);
    pad(&b, 64);
    refused(&b, "2 sources for t");
}

/* A tensor without a name that is all there is, is the record, both ways; with another it is one of a map. A map of it
 * alone, which would come back as the tensor, is refused. */
static void test_nameless(void **state)
{
    static const uint64_t two[] = {2};
    rec_recorder *recorder = rec_open_recorder("Gguf", REC_PRECISION_KEEP);
    (void)state;
    assert_non_null(recorder);
    for (unsigned count = 1; count <= 2; count++) {
        rec_record *record;
        void *saved = NULL;
        uint64_t size = 0;
        bytes b;
        put_header(&b, 3, count, 0);
        put_tensor(&b, "", 1, two, 0, 0);
        if (count > 1) {
            put_tensor(&b, "a", 1, two, 0, 32);
        }
        pad(&b, 32 * count);
        record = rec_load_bytes(recorder, b.data, b.size);
        assert_non_null(record);
        assert_int_equal(rec_value_kind(rec_root(record)), count > 1 ? REC_KIND_MAP : REC_KIND_TENSOR);
        assert_int_equal(rec_save_bytes(recorder, record, &saved, &size), REC_OK);
        rec_free(saved);
        rec_record_free(record);
    }
    {
        static const char map[] =
            "\x40\0\0\0\0\0\0\0{\"\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}           1234";
        rec_recorder *other = rec_open_recorder("Safetensors", REC_PRECISION_KEEP);
        rec_record *record = rec_load_bytes(other, map, sizeof map - 1);
        void *saved = NULL;
        uint64_t size = 0;
        if (!record) {
            fail_msg("%s", rec_error_message());
        }
        assert_int_equal(rec_save_bytes(recorder, record, &saved, &size), REC_E_UNSUPPORTED);
        assert_non_null(strstr(rec_error_message(), "found a tensor alone whose name is empty"));
        rec_record_free(record);
        rec_close_recorder(other);
    }
    rec_close_recorder(recorder);
}

/* Ids are lost, which is told with their number. */
static void test_ids(void **state)
{
    static const float one[] = {1};
    static const uint64_t shape[] = {1};
    rec_recorder *recorder = rec_open_recorder("Gguf", REC_PRECISION_KEEP);
    rec_record *record = rec_record_new(NULL);
    rec_tensor_spec spec = {.size = sizeof spec,
                            .dtype = REC_DTYPE_F32,
                            .rank = 1,
                            .shape = shape,
                            .data = one,
                            .data_size = sizeof one,
                            .id = "0123456789abc"};
    (void)state;
    assert_true(recorder && record);
    for (int i = 0; i < 2; i++) {
        void *saved = NULL;
        uint64_t size = 0;
        assert_int_equal(rec_set_tensor(record, i ? "b" : "a", &spec), REC_OK);
        assert_int_equal(rec_save_bytes(recorder, record, &saved, &size), REC_OK);
        assert_int_equal(rec_report_count(), 2);
        assert_non_null(strstr(rec_report_note(1)->text, "for a model that llama.cpp loads, use reverse"));
        assert_string_equal(rec_report_note(0)->text,
                            i ? "the ids of 2 parameters: GGUF has none" : "the ids of 1 parameter: GGUF has none");
        rec_free(saved);
        spec.id = "0123456789abd";
    }
    rec_record_free(record);
    rec_close_recorder(recorder);
}

/* Every prefix is refused; every changed byte is refused or read, and never more than that. */
static void test_damage(void **state)
{
    (void)state;
    for (size_t size = 0; size < golden.size - 32; size++) {
        rec_record *record = load_at(golden.data, size, REC_PRECISION_FULL);
        if (record) {
            fail_msg("%zu of %zu bytes were taken for the whole", size, golden.size);
        }
    }
    for (size_t i = 0; i < 2400; i++) { /* the header; behind it all bytes are numbers */
        static const uint8_t flips[] = {0x01, 0x80, 0xFF};
        for (size_t j = 0; j < sizeof flips; j++) {
            rec_record *record;
            golden.data[i] ^= flips[j];
            record = load_at(golden.data, golden.size, REC_PRECISION_FULL);
            if (record && i < 4) {
                fail_msg("byte %zu was changed, and nobody saw it", i);
            }
            rec_record_free(record);
            golden.data[i] ^= flips[j];
        }
    }
}

static int setup(void **state)
{
    const char *srcdir = getenv("srcdir");
    char path[1024];
    FILE *file;
    (void)state;
    (void)snprintf(path, sizeof path, "%s/tests/data/gguf/types.gguf", srcdir ? srcdir : ".");
    file = fopen(path, "rb");
    if (!file) {
        return -1;
    }
    golden.size = fread(golden.data, 1, sizeof golden.data, file);
    return fclose(file) == 0 && golden.size > 4096 && golden.size < sizeof golden.data ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_there), cmocka_unit_test(test_numbers), cmocka_unit_test(test_known_numbers),
        cmocka_unit_test(test_many_numbers),  cmocka_unit_test(test_refused), cmocka_unit_test(test_nameless),
        cmocka_unit_test(test_ids),           cmocka_unit_test(test_damage),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
