/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Which element types become which; ints, bools, names and sizes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "core/record/convert_private.h"

enum { FIRST_INT = REC_DTYPE_I64, LAST_INT = REC_DTYPE_U8, DTYPES = REC_DTYPE_OPAQUE + 1 };

/** A whole number from INT64_MIN to UINT64_MAX: `value` is two's complement if `negative`. */
typedef struct whole {
    uint64_t value;
    int negative;
} whole;

static int less(whole a, whole b)
{
    return a.negative != b.negative ? a.negative : a.value < b.value; /* also right for two negative ones */
}

static int bytes_of(rec_dtype dtype)
{
    return (int)rec_dtype_bits(dtype) / 8;
}

static int is_signed(rec_dtype dtype)
{
    return dtype == REC_DTYPE_I64 || dtype == REC_DTYPE_I32 || dtype == REC_DTYPE_I16 || dtype == REC_DTYPE_I8;
}

static void limits(rec_dtype dtype, whole *minimum, whole *maximum)
{
    uint64_t half = UINT64_C(1) << (rec_dtype_bits(dtype) - 1);
    *minimum = is_signed(dtype) ? (whole){0 - half, 1} : (whole){0, 0};
    *maximum = (whole){is_signed(dtype) ? half - 1 : half - 1 + half, 0};
}

static int fits(whole x, rec_dtype dtype)
{
    whole minimum, maximum;
    limits(dtype, &minimum, &maximum);
    return !less(x, minimum) && !less(maximum, x);
}

static void store(uint8_t *data, rec_dtype dtype, uint64_t value)
{
    for (int i = 0; i < bytes_of(dtype); i++)
        data[i] = (uint8_t)(value >> (8 * i));
}

/** An element in host byte order. */
static whole load_host(const uint8_t *data, rec_dtype dtype)
{
    union {
        int64_t i64;
        int32_t i32;
        int16_t i16;
        int8_t i8;
        uint64_t u64;
        uint32_t u32;
        uint16_t u16;
        uint8_t u8;
    } x;
    int64_t s = 0;
    uint64_t u = 0;
    memcpy(&x, data, (size_t)bytes_of(dtype));
    switch (dtype) {
    case REC_DTYPE_I64:
        s = x.i64;
        break;
    case REC_DTYPE_I32:
        s = x.i32;
        break;
    case REC_DTYPE_I16:
        s = x.i16;
        break;
    case REC_DTYPE_I8:
        s = x.i8;
        break;
    case REC_DTYPE_U64:
        u = x.u64;
        break;
    case REC_DTYPE_U32:
        u = x.u32;
        break;
    case REC_DTYPE_U16:
        u = x.u16;
        break;
    default:
        u = x.u8;
        break;
    }
    return is_signed(dtype) ? (whole){(uint64_t)s, s < 0} : (whole){u, 0};
}

/** The numbers around every type's limits that a type can hold. @return how many. */
static size_t interesting(rec_dtype dtype, whole *list)
{
    size_t count = 0;
    for (rec_dtype other = FIRST_INT; other <= LAST_INT; other++) {
        whole ends[2];
        limits(other, &ends[0], &ends[1]);
        for (int k = 0; k < 10; k++) {
            uint64_t step = (uint64_t)(int64_t)(k % 5 - 2);
            whole x = {ends[k / 5].value + step, ends[k / 5].negative};
            if (!ends[k / 5].negative && k % 5 < 2 && ends[k / 5].value < 2)
                x.negative = 1; /* below 0 */
            else if (ends[k / 5].negative ? !(x.value >> 63) : k % 5 > 2 && x.value < 2)
                continue; /* beyond 64 bits */
            if (fits(x, dtype))
                list[count++] = x;
        }
    }
    return count;
}

static void each_pair_of_types_is_convertible_or_refused(void **state)
{
    (void)state;
    for (rec_dtype from = -1; from <= DTYPES; from++) {
        for (rec_dtype to = -1; to <= DTYPES; to++) {
            static const char kinds[DTYPES] = "?fffffiiiiiiiibbbqo";
            char a = from > 0 && from < DTYPES ? kinds[from] : '?', b = to > 0 && to < DTYPES ? kinds[to] : '?';
            int want = a == b && (a == 'f' || a == 'i' || a == 'b');
            uint8_t data[8] = {0}, target[8];
            lr_converted result = {0};
            memset(target, 0x5a, sizeof target);
            assert_int_equal(lr_convertible(from, to), want);
            int status = lr_convert(from, data, to, target, 1, false, &result);
            assert_int_equal(status, want ? LR_CONVERT_OK : LR_CONVERT_REFUSED);
            assert_int_equal(lr_convert(from, NULL, to, NULL, 0, false, &result), status);
            size_t written = want ? (size_t)bytes_of(to) : 0;
            for (size_t i = 0; i < sizeof target; i++)
                assert_int_equal(target[i], i < written ? 0 : 0x5a);
        }
    }
}

static void ints_at_every_limit_fit_are_refused_or_clamped(void **state)
{
    (void)state;
    for (rec_dtype from = FIRST_INT; from <= LAST_INT; from++) {
        whole list[80];
        size_t count = interesting(from, list);
        assert_true(count > 15);
        for (rec_dtype to = FIRST_INT; to <= LAST_INT; to++) {
            for (size_t i = 0; i < count; i++) {
                uint8_t data[8], target[8];
                whole x = list[i], minimum, maximum, want = x;
                lr_converted result = {.clamped = 5, .overflowed = 6};
                limits(to, &minimum, &maximum);
                if (less(x, minimum))
                    want = minimum;
                if (less(maximum, x))
                    want = maximum;
                store(data, from, x.value);
                int status = lr_convert(from, data, to, target, 1, false, &result);
                assert_int_equal(status, fits(x, to) ? LR_CONVERT_OK : LR_CONVERT_RANGE);
                if (status) {
                    assert_int_equal(result.bad, 0);
                    assert_int_equal(result.value.kind, is_signed(from) ? REC_KIND_INT : REC_KIND_UINT);
                    assert_int_equal(result.value.bits, rec_dtype_bits(from));
                    assert_int_equal(result.value.v.u, x.value);
                } else {
                    assert_int_equal(load_host(target, to).value, x.value);
                }
                assert_int_equal(lr_convert(from, data, to, target, 1, true, &result), LR_CONVERT_OK);
                assert_int_equal(load_host(target, to).value, want.value);
                assert_int_equal(load_host(target, to).negative, want.negative);
                assert_int_equal(result.clamped, fits(x, to) ? 5 : 6);
                assert_int_equal(result.overflowed, 6);
            }
        }
    }
}

/** Where the loops have their steps, blocks and rests. */
static void the_first_int_that_does_not_fit_is_found_wherever_it_is(void **state)
{
    (void)state;
    static const size_t places[] = {0, 1, 63, 64, 100, 2047, 2048, 4095, 4096, 4990, 4999};
    enum { COUNT = 5000, PLACES = sizeof places / sizeof places[0] };
    for (rec_dtype from = FIRST_INT; from <= LAST_INT; from++) {
        for (rec_dtype to = FIRST_INT; to <= LAST_INT; to++) {
            uint8_t *data = calloc(COUNT, 8), *target = calloc(COUNT, 8);
            whole list[80], bad = {0, 0};
            assert_non_null(data);
            assert_non_null(target);
            size_t size = (size_t)bytes_of(from), n = interesting(from, list);
            int any = 0;
            for (size_t i = 0; i < n; i++) {
                if (!fits(list[i], to)) {
                    bad = list[i];
                    any = 1;
                }
            }
            for (size_t i = 0; i < COUNT; i++)
                store(data + i * size, from, i % 100);
            for (size_t p = PLACES; any && p-- > 0;) { /* from the last on, each before those that are there */
                lr_converted result = {0};
                store(data + places[p] * size, from, bad.value);
                assert_int_equal(lr_convert(from, data, to, target, COUNT, false, &result), LR_CONVERT_RANGE);
                assert_int_equal(result.bad, places[p]);
                assert_int_equal(result.value.v.u, bad.value);
                assert_int_equal(lr_convert(from, data, to, target, COUNT, true, &result), LR_CONVERT_OK);
                assert_int_equal(result.clamped, PLACES - p);
            }
            lr_converted result = {0};
            assert_int_equal(lr_convert(from, data, to, target, COUNT, true, &result), LR_CONVERT_OK);
            assert_int_equal(result.clamped, any ? PLACES : 0);
            for (size_t i = 0, p = 0; i < COUNT; i++) {
                if (any && p < PLACES && places[p] == i)
                    p++;
                else
                    assert_int_equal(load_host(target + i * (size_t)bytes_of(to), to).value, i % 100);
            }
            free(data);
            free(target);
        }
    }
}

static void ints_and_bools_of_any_alignment_and_count_work(void **state)
{
    (void)state;
    enum { MOST = 140 };
    for (rec_dtype from = FIRST_INT; from <= REC_DTYPE_BOOL32; from++) {
        for (rec_dtype to = FIRST_INT; to <= REC_DTYPE_BOOL32; to++) {
            int bools = from > LAST_INT;
            size_t from_size = (size_t)bytes_of(from), to_size = (size_t)bytes_of(to);
            if (bools != (to > LAST_INT))
                continue;
            for (size_t offset = 0; offset < 16; offset++) {
                for (size_t count = 0; count <= MOST; count++) {
                    /* The source ends where its memory does, so that a sanitizer sees what is read beyond it. */
                    uint8_t *source = malloc(offset + count * from_size + !(offset + count)),
                            target[16 + MOST * 8 + 64];
                    size_t to_offset = (offset * 7 + count) % 16;
                    lr_converted result = {0};
                    assert_non_null(source);
                    for (size_t i = 0; i < count; i++) /* what every int can hold */
                        store(source + offset + i * from_size, from, bools ? i % 3 == 0 : (i * 37 + count) % 128);
                    memset(target, 0x5a, sizeof target);
                    assert_int_equal(lr_convert(from, source + offset, to, target + to_offset, count, false, &result),
                                     LR_CONVERT_OK);
                    for (size_t i = 0; i < count; i++) {
                        const uint8_t *at = target + to_offset + i * to_size;
                        rec_dtype as = !bools ? to : to_size == 4 ? REC_DTYPE_U32 : REC_DTYPE_U8;
                        assert_int_equal(load_host(at, as).value, bools ? i % 3 == 0 : (i * 37 + count) % 128);
                    }
                    for (size_t i = 0; i < sizeof target; i++) {
                        if (i < to_offset || i >= to_offset + count * to_size)
                            assert_int_equal(target[i], 0x5a);
                    }
                    free(source);
                }
            }
        }
    }
}

static void a_bool_is_what_is_not_zero(void **state)
{
    (void)state;
    static const uint32_t words[] = {0, 1, 2, 0x100, 0x80000000, 0xffffffff, 0};
    static const uint8_t bytes[] = {0, 1, 2, 128, 255, 0, 7};
    uint8_t data[28], got8[7];
    uint32_t got32[7];
    lr_converted result = {0};
    for (size_t i = 0; i < 7; i++)
        store(data + 4 * i, REC_DTYPE_BOOL32, words[i]);
    for (rec_dtype narrow = REC_DTYPE_BOOL; narrow <= REC_DTYPE_BOOL8; narrow++) {
        rec_dtype other = narrow == REC_DTYPE_BOOL ? REC_DTYPE_BOOL8 : REC_DTYPE_BOOL;
        assert_int_equal(lr_convert(REC_DTYPE_BOOL32, data, narrow, got8, 7, false, &result), LR_CONVERT_OK);
        for (size_t i = 0; i < 7; i++)
            assert_int_equal(got8[i], words[i] != 0);
        assert_int_equal(lr_convert(narrow, bytes, REC_DTYPE_BOOL32, got32, 7, false, &result), LR_CONVERT_OK);
        for (size_t i = 0; i < 7; i++)
            assert_int_equal(got32[i], bytes[i] != 0);
        assert_int_equal(lr_convert(narrow, bytes, other, got8, 7, false, &result), LR_CONVERT_OK);
        for (size_t i = 0; i < 7; i++)
            assert_int_equal(got8[i], bytes[i] != 0);
        assert_int_equal(lr_convert(narrow, bytes, narrow, got8, 7, false, &result), LR_CONVERT_OK);
        assert_memory_equal(got8, bytes, 7);
    }
}

static void an_element_comes_as_a_scalar_of_its_width(void **state)
{
    (void)state;
    static const struct {
        rec_dtype dtype;
        uint64_t stored;
        rec_scalar want;
    } cases[] = {
        {REC_DTYPE_F64, 0xc000000000000000, {REC_KIND_FLOAT, 64, 0, {.f = -2}, NULL}},
        {REC_DTYPE_F32, 0x3fc00000, {REC_KIND_FLOAT, 32, 0, {.f = 1.5}, NULL}},
        {REC_DTYPE_FLEX32, 0x00000001, {REC_KIND_FLOAT, 32, 0, {.f = 0x1p-149}, NULL}},
        {REC_DTYPE_F16, 0x0001, {REC_KIND_FLOAT, 16, 0, {.f = 0x1p-24}, NULL}},
        {REC_DTYPE_BF16, 0xc040, {REC_KIND_FLOAT, 16, 0, {.f = -3}, NULL}},
        {REC_DTYPE_I64, UINT64_C(1) << 63, {REC_KIND_INT, 64, 0, {.i = INT64_MIN}, NULL}},
        {REC_DTYPE_I32, 0xfffffffe, {REC_KIND_INT, 32, 0, {.i = -2}, NULL}},
        {REC_DTYPE_I16, 0x8000, {REC_KIND_INT, 16, 0, {.i = -32768}, NULL}},
        {REC_DTYPE_I8, 0x7f, {REC_KIND_INT, 8, 0, {.i = 127}, NULL}},
        {REC_DTYPE_U64, UINT64_MAX, {REC_KIND_UINT, 64, 0, {.u = UINT64_MAX}, NULL}},
        {REC_DTYPE_U32, 0xfffffffe, {REC_KIND_UINT, 32, 0, {.u = 0xfffffffe}, NULL}},
        {REC_DTYPE_U16, 0x8000, {REC_KIND_UINT, 16, 0, {.u = 32768}, NULL}},
        {REC_DTYPE_U8, 0xff, {REC_KIND_UINT, 8, 0, {.u = 255}, NULL}},
        {REC_DTYPE_BOOL, 2, {REC_KIND_BOOL, 0, 0, {.i = 1}, NULL}},
        {REC_DTYPE_BOOL8, 0, {REC_KIND_BOOL, 0, 0, {.i = 0}, NULL}},
        {REC_DTYPE_BOOL32, 0x01000000, {REC_KIND_BOOL, 0, 0, {.i = 1}, NULL}},
        {REC_DTYPE_QFLOAT, 1, {REC_KIND_NIL, 0, 0, {.i = 0}, NULL}},
        {REC_DTYPE_OPAQUE, 1, {REC_KIND_NIL, 0, 0, {.i = 0}, NULL}},
        {REC_DTYPE_NONE, 1, {REC_KIND_NIL, 0, 0, {.i = 0}, NULL}},
        {77, 1, {REC_KIND_NIL, 0, 0, {.i = 0}, NULL}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint8_t data[9];
        store(data + 1, cases[i].dtype, cases[i].stored);
        rec_scalar got = lr_element(cases[i].dtype, data + 1);
        assert_int_equal(got.kind, cases[i].want.kind);
        assert_int_equal(got.bits, cases[i].want.bits);
        assert_int_equal(got.form, 0);
        assert_int_equal(got.v.u, cases[i].want.v.u);
        assert_null(got.text);
    }
}

static void int_types_have_limits_and_others_have_none(void **state)
{
    (void)state;
    for (rec_dtype dtype = -1; dtype <= DTYPES; dtype++) {
        int64_t minimum = 77;
        uint64_t maximum = 78;
        if (dtype < FIRST_INT || dtype > LAST_INT) {
            assert_false(lr_int_limits(dtype, &minimum, &maximum));
            continue;
        }
        whole low, high;
        limits(dtype, &low, &high);
        assert_true(lr_int_limits(dtype, &minimum, &maximum));
        assert_int_equal((uint64_t)minimum, low.value);
        assert_int_equal(maximum, high.value);
    }
}

static void types_have_names_sizes_and_kinds(void **state)
{
    (void)state;
    static const struct {
        rec_dtype dtype;
        const char *name;
        unsigned bits;
        char kind;
        rec_dtype as_double, as_full, as_half;
    } types[] = {
        {REC_DTYPE_F64, "f64", 64, 'f', REC_DTYPE_F64, REC_DTYPE_F32, REC_DTYPE_F16},
        {REC_DTYPE_F32, "f32", 32, 'f', REC_DTYPE_F64, REC_DTYPE_F32, REC_DTYPE_F16},
        {REC_DTYPE_FLEX32, "flex32", 32, 'f', REC_DTYPE_F64, REC_DTYPE_F32, REC_DTYPE_F16},
        {REC_DTYPE_F16, "f16", 16, 'f', REC_DTYPE_F64, REC_DTYPE_F32, REC_DTYPE_F16},
        {REC_DTYPE_BF16, "bf16", 16, 'f', REC_DTYPE_F64, REC_DTYPE_F32, REC_DTYPE_F16},
        {REC_DTYPE_I64, "i64", 64, 'i', REC_DTYPE_I64, REC_DTYPE_I32, REC_DTYPE_I16},
        {REC_DTYPE_I32, "i32", 32, 'i', REC_DTYPE_I64, REC_DTYPE_I32, REC_DTYPE_I16},
        {REC_DTYPE_I16, "i16", 16, 'i', REC_DTYPE_I64, REC_DTYPE_I32, REC_DTYPE_I16},
        {REC_DTYPE_I8, "i8", 8, 'i', REC_DTYPE_I64, REC_DTYPE_I32, REC_DTYPE_I16},
        {REC_DTYPE_U64, "u64", 64, 'i', REC_DTYPE_I64, REC_DTYPE_I32, REC_DTYPE_I16},
        {REC_DTYPE_U32, "u32", 32, 'i', REC_DTYPE_I64, REC_DTYPE_I32, REC_DTYPE_I16},
        {REC_DTYPE_U16, "u16", 16, 'i', REC_DTYPE_I64, REC_DTYPE_I32, REC_DTYPE_I16},
        {REC_DTYPE_U8, "u8", 8, 'i', REC_DTYPE_I64, REC_DTYPE_I32, REC_DTYPE_I16},
        {REC_DTYPE_BOOL, "bool", 8, 'b', REC_DTYPE_BOOL, REC_DTYPE_BOOL, REC_DTYPE_BOOL},
        {REC_DTYPE_BOOL8, "bool8", 8, 'b', REC_DTYPE_BOOL8, REC_DTYPE_BOOL8, REC_DTYPE_BOOL8},
        {REC_DTYPE_BOOL32, "bool32", 32, 'b', REC_DTYPE_BOOL32, REC_DTYPE_BOOL32, REC_DTYPE_BOOL32},
        {REC_DTYPE_QFLOAT, "qfloat", 0, 'q', REC_DTYPE_QFLOAT, REC_DTYPE_QFLOAT, REC_DTYPE_QFLOAT},
        {REC_DTYPE_OPAQUE, "opaque", 0, 'o', REC_DTYPE_OPAQUE, REC_DTYPE_OPAQUE, REC_DTYPE_OPAQUE},
        {REC_DTYPE_NONE, "unknown", 0, '?', REC_DTYPE_NONE, REC_DTYPE_NONE, REC_DTYPE_NONE},
        {DTYPES, "unknown", 0, '?', DTYPES, DTYPES, DTYPES},
        {-1, "unknown", 0, '?', -1, -1, -1},
    };
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        rec_dtype dtype = types[i].dtype;
        assert_string_equal(rec_dtype_name(dtype), types[i].name);
        assert_int_equal(rec_dtype_bits(dtype), types[i].bits);
        assert_int_equal(lr_dtype_is_float(dtype), types[i].kind == 'f');
        assert_int_equal(lr_dtype_is_int(dtype), types[i].kind == 'i');
        assert_int_equal(lr_dtype_is_bool(dtype), types[i].kind == 'b');
        assert_int_equal(rec_dtype_from_name(types[i].name), types[i].kind == '?' ? REC_DTYPE_NONE : dtype);
        assert_int_equal(lr_dtype_at(dtype, REC_PRECISION_KEEP), dtype);
        assert_int_equal(lr_dtype_at(dtype, REC_PRECISION_DOUBLE), types[i].as_double);
        assert_int_equal(lr_dtype_at(dtype, REC_PRECISION_FULL), types[i].as_full);
        assert_int_equal(lr_dtype_at(dtype, REC_PRECISION_HALF), types[i].as_half);
    }
    assert_int_equal(rec_dtype_from_name("F32"), REC_DTYPE_NONE);
    assert_int_equal(rec_dtype_from_name("f3"), REC_DTYPE_NONE);
    assert_int_equal(rec_dtype_from_name(""), REC_DTYPE_NONE);
    assert_int_equal(rec_dtype_from_name(NULL), REC_DTYPE_NONE);
}

static void precisions_have_names(void **state)
{
    (void)state;
    static const char *const names[] = {"default", "keep", "double", "full", "half"};
    for (rec_precision precision = REC_PRECISION_DEFAULT; precision <= REC_PRECISION_HALF; precision++) {
        assert_string_equal(rec_precision_name(precision), names[precision]);
        assert_int_equal(rec_precision_from_name(names[precision]), precision);
    }
    assert_string_equal(rec_precision_name(-1), "unknown");
    assert_string_equal(rec_precision_name(REC_PRECISION_HALF + 1), "unknown");
    assert_int_equal(rec_precision_from_name("unknown"), -1);
    assert_int_equal(rec_precision_from_name("Half"), -1);
    assert_int_equal(rec_precision_from_name(NULL), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_pair_of_types_is_convertible_or_refused),
        cmocka_unit_test(ints_at_every_limit_fit_are_refused_or_clamped),
        cmocka_unit_test(the_first_int_that_does_not_fit_is_found_wherever_it_is),
        cmocka_unit_test(ints_and_bools_of_any_alignment_and_count_work),
        cmocka_unit_test(a_bool_is_what_is_not_zero),
        cmocka_unit_test(an_element_comes_as_a_scalar_of_its_width),
        cmocka_unit_test(int_types_have_limits_and_others_have_none),
        cmocka_unit_test(types_have_names_sizes_and_kinds),
        cmocka_unit_test(precisions_have_names),
    };
    return cmocka_run_group_tests_name("convert_int", tests, NULL, NULL);
}
