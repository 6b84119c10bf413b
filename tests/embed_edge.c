/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Numbers at the edges of their types, for tests/embed.sh. With -DMAKE it writes them into a record with the library;
 * else it compares what `record embed --structs` made of that (edge.h) bit by bit, and needs no library. C99 and
 * C++17. */

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* Quiet and signalling NaNs of both signs, infinities, -0, the least and the greatest subnormal, the greatest, 1+ulp.
 */
static const uint32_t f32s[] = {0x7fc00000, 0xffc00000, 0x7f800001, 0xff812345, 0x7fffffff, 0x7f800000,
                                0xff800000, 0x80000000, 0x00000001, 0x807fffff, 0x7f7fffff, 0x3f800001};
static const uint64_t f64s[] = {0x7ff8000000000000, 0xfff8000000000001, 0x7ff0000000000001, 0xfff7ffffffffffff,
                                0x7ff0000000000000, 0xfff0000000000000, 0x8000000000000000, 0x0000000000000001,
                                0x800fffffffffffff, 0x7fefffffffffffff, 0x3ff0000000000001};
static const uint16_t halves[] = {0x7e01, 0xfc00, 0x0001, 0x8000, 0x7bff};
static const int64_t i64s[] = {INT64_MIN, INT64_MAX, -1, 0, INT32_MIN};
static const int32_t i32s[] = {INT32_MIN, INT32_MAX, -1};
static const int8_t i8s[] = {INT8_MIN, INT8_MAX, -1};
static const uint64_t u64s[] = {UINT64_MAX, 0, 1};

#ifdef MAKE
#include <librecord.h>

static rec_record *record;

static int put(const char *path, rec_dtype dtype, const void *data, uint64_t size)
{
    uint64_t count = size / (rec_dtype_bits(dtype) / 8);
    rec_tensor_spec spec;

    memset(&spec, 0, sizeof spec);
    spec.size = sizeof spec;
    spec.dtype = dtype;
    spec.rank = 1;
    spec.shape = &count;
    spec.data = data;
    spec.data_size = size;
    return rec_set_tensor(record, path, &spec) != REC_OK;
}

int main(int argc, char **argv)
{
    static char text[9000];
    rec_recorder *recorder = rec_open_recorder("NamedMpk", REC_PRECISION_KEEP);
    int failed = 0;

    record = rec_record_new(NULL);
    memset(text, 'x', sizeof text - 1);
    failed |= put("f32", REC_DTYPE_F32, f32s, sizeof f32s) || put("f64", REC_DTYPE_F64, f64s, sizeof f64s);
    failed |= put("f16", REC_DTYPE_F16, halves, sizeof halves) || put("bf16", REC_DTYPE_BF16, halves, sizeof halves);
    failed |= put("i64", REC_DTYPE_I64, i64s, sizeof i64s) || put("i32", REC_DTYPE_I32, i32s, sizeof i32s);
    failed |= put("i8", REC_DTYPE_I8, i8s, sizeof i8s) || put("u64", REC_DTYPE_U64, u64s, sizeof u64s);
    failed |= put("none", REC_DTYPE_F32, "", 0);
    /* Names that are none in C, or that become the same one. */
    failed |= rec_set_uint(record, "int", 1) || rec_set_uint(record, "a b", 2) || rec_set_uint(record, "a_b", 3);
    failed |= rec_set_uint(record, "9\\.5", 4) || rec_set_uint(record, "\xc3\xa9", 5);
    failed |= rec_set_string(record, "text",
                             "\"?"
                             "?/\\\n\x7f"
                             "1\xc3\xa9") ||
              rec_set_string(record, "long", text);
    /* Items of one type, some of them absent; variants as maps; items of different types. */
    failed |= rec_set_int(record, "some.0", 5) || rec_set_nil(record, "some.1") || rec_set_int(record, "some.2", -3);
    failed |=
        rec_set_uint(record, "rows.0.0", 7) || rec_set_uint(record, "rows.0.1", 8) || rec_set_nil(record, "rows.1");
    failed |= rec_set_uint(record, "kinds.0.Dense.n", 1) || rec_set_uint(record, "kinds.1.Conv.m", 2);
    failed |= rec_set_uint(record, "pair.0", 6) || rec_set_string(record, "pair.1", "six");
    failed |= rec_set_empty(record, "hollow.inside", REC_KIND_LIST);
    if (failed || !recorder || rec_save(recorder, record, argv[argc - 1]) != REC_OK) {
        fprintf(stderr, "embed_edge: %s\n", rec_error_message());
        return 1;
    }
    rec_record_free(record);
    rec_close_recorder(recorder);
    return 0;
}

#else
#include "edge.h"

static int wrong;

static void same(const char *what, const void *expected, size_t size, const void *found, size_t found_size)
{
    if (size != found_size || memcmp(expected, found, size) != 0) {
        printf("%s differs\n", what);
        wrong = 1;
    }
}

static void holds(const char *what, int yes)
{
    if (!yes) {
        printf("%s: no\n", what);
        wrong = 1;
    }
}

int main(void)
{
    same("f32", f32s, sizeof f32s, edge.f32.data, sizeof edge.f32.data);
    same("f64", f64s, sizeof f64s, edge.f64.data, sizeof edge.f64.data);
    same("f16", halves, sizeof halves, edge.f16.data, sizeof edge.f16.data);
    same("bf16", halves, sizeof halves, edge.bf16.data, sizeof edge.bf16.data);
    same("i64", i64s, sizeof i64s, edge.i64.data, sizeof edge.i64.data);
    same("i32", i32s, sizeof i32s, edge.i32.data, sizeof edge.i32.data);
    same("i8", i8s, sizeof i8s, edge.i8.data, sizeof edge.i8.data);
    same("u64", u64s, sizeof u64s, edge.u64.data, sizeof edge.u64.data);
    holds("shapes are constants", EDGE_F32_RANK == 1 && EDGE_F32_DIM_0 == COUNT(f32s) && EDGE_F32_COUNT == COUNT(f32s));
    holds("a tensor without elements", EDGE_NONE_COUNT == 0);
    holds("a keyword", edge.int_ == 1);
    holds("two names that become one", edge.a_b == 2 && edge.a_b_2 == 3);
    holds("a name that begins with a digit", edge.n9_5 == 4);
    holds("a name without a letter of C", edge.other == 5);
    holds("a string", strcmp(edge.text, "\"?"
                                        "?/\\\n\x7f"
                                        "1\xc3\xa9") == 0 &&
                          EDGE_TEXT_LENGTH == 10);
    holds("a long string", strlen(edge.long_) == 8999 && EDGE_LONG__LENGTH == 8999 && edge.long_[8998] == 'x');
    holds("options", *edge.some[0] == 5 && !edge.some[1] && *edge.some[2] == -3 && EDGE_SOME_COUNT == 3);
    holds("optional lists", (*edge.rows[0])[1] == 8 && !edge.rows[1]);
    holds("variants", edge.kinds[0].Dense->n == 1 && !edge.kinds[0].Conv && edge.kinds[1].Conv->m == 2);
    holds("a tuple", edge.pair.item0 == 6 && strcmp(edge.pair.item1, "six") == 0);
    holds("an empty list", EDGE_HOLLOW_INSIDE_COUNT == 0);
    return wrong;
}
#endif
