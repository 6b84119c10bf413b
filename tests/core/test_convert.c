/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Floats: compares every conversion, and those without the vectors of some processors, with ones computed with real
 * numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <math.h>
#include <sys/mman.h>
#include <cmocka.h>

#include "core/record/convert_private.h"

/* --------------------------------------------------------------------------------------------------- reference -- */

/** A binary format: bits of its fraction and exponent of its least normal number. */
typedef struct format {
    rec_dtype dtype;
    int bits, fraction, least;
} format;

static const format formats[] = {
    {REC_DTYPE_F64, 64, 52, -1022},
    {REC_DTYPE_F32, 32, 23, -126},
    {REC_DTYPE_F16, 16, 10, -14},
    {REC_DTYPE_BF16, 16, 7, -126},
};
enum { FORMATS = sizeof formats / sizeof formats[0], F64 = 0, F32 = 1, F16 = 2, BF16 = 3 };

static uint64_t infinity_of(const format *f)
{
    return ((UINT64_C(1) << (f->bits - 1)) - 1) >> f->fraction << f->fraction;
}

/** What a magnitude without its sign stands for; not for NaN and infinity. */
static double decode(const format *f, uint64_t magnitude)
{
    int exponent = (int)(magnitude >> f->fraction);
    uint64_t digits = magnitude & ((UINT64_C(1) << f->fraction) - 1);
    if (exponent == 0)
        return ldexp((double)digits, f->least - f->fraction);
    return ldexp((double)(digits | UINT64_C(1) << f->fraction), exponent - 1 + f->least - f->fraction);
}

/** The nearest number of a format to a finite, positive one; of two the even one. */
static uint64_t encode(const format *f, double number)
{
    int exponent = 0;
    (void)frexp(number, &exponent);
    exponent = exponent - 1 < f->least ? f->least : exponent - 1;
    double digits = ldexp(number, f->fraction - exponent);
    if (f->fraction < 52)
        digits = digits + 0x1p52 - 0x1p52; /* to an integer: what is below 1 is rounded away here */
    uint64_t code = ((uint64_t)(exponent - f->least) << f->fraction) + (uint64_t)digits;
    return number == 0 ? 0 : code < infinity_of(f) ? code : infinity_of(f);
}

/** @param overflows (out) 1 if a finite number became infinite. */
static uint64_t expected(const format *from, const format *to, uint64_t x, uint64_t *overflows)
{
    uint64_t sign = x >> (from->bits - 1);
    uint64_t magnitude = x & ((UINT64_C(1) << (from->bits - 1)) - 1);
    uint64_t result;
    *overflows = 0;
    if (from == to)
        return x;
    if (magnitude > infinity_of(from)) {
        uint64_t payload = (magnitude - infinity_of(from)) << (52 - from->fraction);
        result = infinity_of(to) | (payload | UINT64_C(1) << 51) >> (52 - to->fraction);
    } else if (magnitude == infinity_of(from)) {
        result = infinity_of(to);
    } else {
        result = encode(to, decode(from, magnitude));
        *overflows = result == infinity_of(to);
    }
    return result | sign << (to->bits - 1);
}

/* ----------------------------------------------------------------------------------------------------- helpers -- */

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state * UINT64_C(0x2545f4914f6cdd1d);
}

static uint64_t load(const uint8_t *data, int bits)
{
    uint64_t x = 0;
    for (int i = 0; i < bits / 8; i++)
        x |= (uint64_t)data[i] << (8 * i);
    return x;
}

static void store(uint8_t *data, int bits, uint64_t x)
{
    for (int i = 0; i < bits / 8; i++)
        data[i] = (uint8_t)(x >> (8 * i));
}

/** An element in host byte order. */
static uint64_t load_host(const uint8_t *data, int bits)
{
    uint16_t x16;
    uint32_t x32;
    uint64_t x64;
    switch (bits) {
    case 16:
        memcpy(&x16, data, sizeof x16);
        return x16;
    case 32:
        memcpy(&x32, data, sizeof x32);
        return x32;
    default:
        memcpy(&x64, data, sizeof x64);
        return x64;
    }
}

static void *allocate(size_t size)
{
    void *memory = malloc(size ? size : 1);
    assert_non_null(memory);
    return memory;
}

/** A bit pattern that may be anything, but more often than not is near where something happens. */
static uint64_t odd_pattern(const format *f, uint64_t *state)
{
    uint64_t x = next_random(state);
    uint64_t sign = x >> 63 << (f->bits - 1);
    uint64_t mask = f->bits == 64 ? UINT64_MAX : (UINT64_C(1) << f->bits) - 1;
    uint64_t overflows, jitter = (x >> 8) % 5;
    const format *other = &formats[(x >> 16) % FORMATS];
    switch (x % 6) {
    case 0: /* NaNs, infinities and the largest numbers */
        return ((infinity_of(f) + (next_random(state) >> (x >> 24) % 64) - jitter) & (mask >> 1)) | sign;
    case 1: /* around the other format's largest number */
        return ((expected(other, f, infinity_of(other) - 1, &overflows) + (next_random(state) & 0x3fffffff) - jitter) &
                (mask >> 1)) |
               sign;
    case 2: /* subnormals of this format */
        return ((UINT64_C(1) << f->fraction) - 1) >> (x >> 24) % (unsigned)f->fraction | sign;
    case 3: /* half way between two numbers of the other one, about */
        x = next_random(state) & (((UINT64_C(1) << (other->bits - 1)) - 1));
        x = expected(other, f, x, &overflows) & (mask >> 1);
        if (f->fraction > other->fraction)
            x += UINT64_C(1) << (f->fraction - other->fraction - 1);
        return ((x + jitter - 2) & (mask >> 1)) | sign;
    default:
        return next_random(state) & mask;
    }
}

/** Converts without the vectors that only some processors have. */
static void convert_plain(const format *from, const uint8_t *data, const format *to, void *target, uint64_t count,
                          lr_converted *result)
{
    if (from == to)
        assert_int_equal(lr_convert(from->dtype, data, to->dtype, target, count, false, result), LR_CONVERT_OK);
    else
        result->overflowed += lr_convert_floats(from->dtype, data, to->dtype, target, count, true);
}

/** Converts by lr_convert and by convert_plain and compares both with the reference, counts and guards too. */
static void check(const format *from, const format *to, const uint8_t *data, size_t count)
{
    enum { GUARD = 64 };
    size_t each = (size_t)to->bits / 8, size = count * each;
    uint8_t *fast = allocate(size + GUARD), *plain = allocate(size + GUARD);
    lr_converted fast_result = {.overflowed = 7, .clamped = 3}, plain_result = fast_result;
    uint64_t overflows = 7, one;
    memset(fast, 0xa5, size + GUARD);
    memset(plain, 0xa5, size + GUARD);
    assert_int_equal(lr_convert(from->dtype, data, to->dtype, fast, count, false, &fast_result), LR_CONVERT_OK);
    convert_plain(from, data, to, plain, count, &plain_result);
    for (size_t i = 0; i < count; i++) {
        uint64_t x = load(data + i * (size_t)from->bits / 8, from->bits);
        uint64_t want = expected(from, to, x, &one);
        uint64_t got = load_host(plain + i * each, to->bits);
        overflows += one;
        if (got != want) {
            fail_msg("%s to %s, element %zu of %zu: %llx became %llx, not %llx", rec_dtype_name(from->dtype),
                     rec_dtype_name(to->dtype), i, count, (unsigned long long)x, (unsigned long long)got,
                     (unsigned long long)want);
        }
    }
    assert_memory_equal(fast, plain, size + GUARD);
    for (size_t i = 0; i < GUARD; i++)
        assert_int_equal(plain[size + i], 0xa5);
    assert_int_equal(plain_result.overflowed, overflows);
    assert_int_equal(fast_result.overflowed, overflows);
    assert_int_equal(fast_result.clamped, 3);
    free(fast);
    free(plain);
}

/* ------------------------------------------------------------------------------------------------------- tests -- */

static void every_half_and_bf16_becomes_every_other_type(void **state)
{
    (void)state;
    uint8_t *data = allocate(65536 * 2);
    for (unsigned x = 0; x < 65536; x++)
        store(data + 2 * x, 16, x);
    for (int f = F16; f <= BF16; f++) {
        for (int t = 0; t < FORMATS; t++)
            check(&formats[f], &formats[t], data, 65536);
    }
    free(data);
}

/** Lines of half, f32, f64 (bits in hexadecimal) and the number in decimal. The last number is 65536, as a half
 *  infinite. */
static void halves_agree_with_a_published_table(void **state)
{
    (void)state;
    char path[4096], line[256];
    const char *shared = getenv("LIBRECORD_SHARED"), *source = getenv("srcdir");
    (void)snprintf(path, sizeof path, "%s%s/data/suites/float/exhaustive-float16.txt",
                   shared   ? shared
                   : source ? source
                            : ".",
                   shared ? "" : "/../shared");
    FILE *file = fopen(path, "r");
    if (!file) {
        print_message("skipped: no %s\n", path);
        skip();
    }
    unsigned lines = 0, half, single;
    unsigned long long wide;
    while (fgets(line, sizeof line, file)) {
        assert_int_equal(sscanf(line, "%x %x %llx", &half, &single, &wide), 3);
        uint8_t data[2], out[8];
        lr_converted result = {0};
        lines++;
        if (half == 0x7c00) {
            store(out, 32, single);
            assert_int_equal(lr_convert(REC_DTYPE_F32, out, REC_DTYPE_F16, data, 1, false, &result), LR_CONVERT_OK);
            assert_int_equal(load_host(data, 16), half);
            assert_int_equal(result.overflowed, 1);
            continue;
        }
        store(data, 16, half);
        assert_int_equal(lr_convert(REC_DTYPE_F16, data, REC_DTYPE_F32, out, 1, false, &result), LR_CONVERT_OK);
        assert_int_equal(load_host(out, 32), single);
        assert_int_equal(lr_convert(REC_DTYPE_F16, data, REC_DTYPE_F64, out, 1, false, &result), LR_CONVERT_OK);
        assert_int_equal(load_host(out, 64), wide);
    }
    (void)fclose(file);
    assert_int_equal(lines, 31745);
}

/** Between each two neighbours of a narrow type the middle goes to the even one, what is beside it to the nearer. */
static void middles_round_to_even_and_their_neighbours_to_the_nearest(void **state)
{
    (void)state;
    for (int t = F16; t <= BF16; t++) {
        const format *narrow = &formats[t];
        unsigned infinity = (unsigned)infinity_of(narrow), shift = (unsigned)(23 - narrow->fraction);
        uint8_t *data = allocate(infinity * 8 * 4);
        uint16_t *want = allocate(infinity * 8 * sizeof *want), *got = allocate(infinity * 8 * sizeof *got);
        size_t count = 0;
        for (unsigned x = 0; x < infinity; x++) {
            /* The upper one may be infinity: then the middle is where numbers begin to overflow. */
            double low = decode(narrow, x), high = decode(narrow, x + 1);
            float middle = (float)((low + high) / 2);
            uint32_t bits = (uint32_t)load_host((uint8_t *)&middle, 32);
            float exact = (float)low;
            if (narrow->fraction == 7 && x == infinity - 1)
                bits = (x << shift) + 0x8000u; /* here `high` is 2^128, which `middle` can only reach as bits */
            for (unsigned sign = 0; sign < 2; sign++) {
                const uint32_t inputs[] = {(uint32_t)load_host((uint8_t *)&exact, 32), bits - 1, bits, bits + 1};
                const unsigned outputs[] = {x, x, x + (x & 1), x + 1};
                for (int k = 0; k < 4; k++, count++) {
                    store(data + 4 * count, 32, inputs[k] | sign << 31);
                    want[count] = (uint16_t)(outputs[k] | sign << 15);
                }
            }
        }
        lr_converted result = {0};
        assert_int_equal(lr_convert(REC_DTYPE_F32, data, narrow->dtype, got, count, false, &result), LR_CONVERT_OK);
        for (size_t i = 0; i < count; i++) {
            if (got[i] != want[i])
                fail_msg("%llx became %x, not %x", (unsigned long long)load(data + 4 * i, 32), got[i], want[i]);
        }
        assert_int_equal(result.overflowed, 4); /* the last middle and what follows, with both signs */
        check(&formats[F32], narrow, data, count);
        free(data);
        free(want);
        free(got);
    }
}

static void random_patterns_of_every_pair_are_rounded_once(void **state)
{
    (void)state;
    enum { PART = 1 << 16 };
    uint64_t random = 1;
    uint8_t *data = allocate(PART * 8);
    for (int f = 0; f < FORMATS; f++) {
        for (int t = 0; t < FORMATS; t++) {
            /* Ten million from f32 to f16, the pair that matters most. */
            int parts = f == F32 && t == F16 ? 153 : 4;
            for (int part = 0; part < parts; part++) {
                for (size_t i = 0; i < PART; i++)
                    store(data + i * (size_t)formats[f].bits / 8, formats[f].bits, odd_pattern(&formats[f], &random));
                check(&formats[f], &formats[t], data, PART);
            }
        }
    }
    free(data);
}

static void f64_becomes_f16_in_one_rounding(void **state)
{
    (void)state;
    static const struct {
        double from;
        uint16_t want;
        unsigned overflows;
    } cases[] = {
        {1 + 0x1p-11 + 0x1p-40, 0x3c01, 0}, /* by way of f32 it would be 0x3c00 */
        {1 + 0x1p-11 - 0x1p-40, 0x3c00, 0},
        {1 + 0x1p-11, 0x3c00, 0},
        {1 + 3 * 0x1p-11, 0x3c02, 0},
        {1 + 3 * 0x1p-11 - 0x1p-50, 0x3c01, 0},
        {65519.999999, 0x7bff, 0}, /* and this infinite */
        {65520, 0x7c00, 1},
        {65520 - 0x1p-37, 0x7bff, 0},
        {-0x1p128 + 0x1p75, 0xfc00, 1},
        {0x1p-25 + 0x1p-77, 0x0001, 0},
        {3 * 0x1p-25 - 0x1p-75, 0x0001, 0},
        {0x1p-14 - 0x1p-25 - 0x1p-66, 0x03ff, 0},
        {0x1p-14 - 0x1p-25, 0x0400, 0},
        {0x1p-1074, 0x0000, 0},
        {-1e300, 0xfc00, 1},
        {-HUGE_VAL, 0xfc00, 0},
        {0x1p-25, 0x0000, 0},
        {0x1.000002p-25, 0x0001, 0},
        {-1e-300, 0x8000, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint8_t data[8 * 70];
        uint16_t got[70];
        for (int k = 0; k < 70; k++)
            store(data + 8 * k, 64, load_host((const uint8_t *)&cases[i].from, 64));
        lr_converted result = {0};
        assert_int_equal(lr_convert(REC_DTYPE_F64, data, REC_DTYPE_F16, got, 70, false, &result), LR_CONVERT_OK);
        assert_int_equal(result.overflowed, 70 * cases[i].overflows);
        for (int k = 0; k < 70; k++)
            assert_int_equal(got[k], cases[i].want);
        check(&formats[F64], &formats[F16], data, 70);
    }
}

static void the_least_number_that_overflows_is_exact(void **state)
{
    (void)state;
    static const struct {
        int from, to;
        double least;
    } cases[] = {
        {F64, F32, 0x1.ffffffp127}, {F64, BF16, 0x1.ffp127}, {F64, F16, 65520},
        {F32, BF16, 0x1.ffp127},    {F32, F16, 65520},       {BF16, F16, 65536},
    };
    enum { COUNT = 70 };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const format *from = &formats[cases[i].from], *to = &formats[cases[i].to];
        uint64_t least = encode(from, cases[i].least), sign = UINT64_C(1) << (from->bits - 1);
        for (unsigned below = 0; below < 2; below++) {
            uint8_t data[COUNT * 8], target[COUNT * 4];
            lr_converted result = {0};
            for (unsigned k = 0; k < COUNT; k++)
                store(data + k * (size_t)from->bits / 8, from->bits, (least - below) | (k % 2 ? sign : 0));
            assert_int_equal(lr_convert(from->dtype, data, to->dtype, target, COUNT, false, &result), LR_CONVERT_OK);
            assert_int_equal(result.overflowed, below ? 0 : COUNT);
            assert_int_equal(load_host(target, to->bits) == infinity_of(to), !below);
            check(from, to, data, COUNT);
        }
    }
}

static void a_nan_stays_a_quiet_one_with_sign_and_upper_payload(void **state)
{
    (void)state;
    uint8_t data[4];
    uint16_t half = 0;
    lr_converted result = {0};
    store(data, 32, 0xffa56789); /* signalling */
    assert_int_equal(lr_convert(REC_DTYPE_F32, data, REC_DTYPE_F16, &half, 1, false, &result), LR_CONVERT_OK);
    assert_int_equal(half, 0xff2b);
    assert_int_equal(lr_convert(REC_DTYPE_F32, data, REC_DTYPE_BF16, &half, 1, false, &result), LR_CONVERT_OK);
    assert_int_equal(half, 0xffe5);
    store(data, 32, 0x7f800001); /* its payload is cut off */
    assert_int_equal(lr_convert(REC_DTYPE_F32, data, REC_DTYPE_F16, &half, 1, false, &result), LR_CONVERT_OK);
    assert_int_equal(half, 0x7e00);
    assert_int_equal(result.overflowed, 0);
}

static void a_type_to_itself_and_flex32_are_copied_bit_for_bit(void **state)
{
    (void)state;
    static const uint32_t patterns[] = {0x7f800001, 0xffbfffff, 0x00000001, 0x80000000, 0x7f7fffff, 0x3f800000};
    static const rec_dtype types[] = {REC_DTYPE_F32, REC_DTYPE_FLEX32};
    uint8_t data[sizeof patterns];
    uint32_t got[6];
    lr_converted result = {0};
    for (size_t i = 0; i < 6; i++)
        store(data + 4 * i, 32, patterns[i]);
    for (size_t pair = 0; pair < 4; pair++) {
        memset(got, 0, sizeof got);
        assert_int_equal(lr_convert(types[pair / 2], data, types[pair % 2], got, 6, false, &result), LR_CONVERT_OK);
        assert_memory_equal(got, patterns, sizeof got);
    }
    assert_int_equal(lr_convert(REC_DTYPE_FLEX32, data, REC_DTYPE_F16, got, 6, false, &result), LR_CONVERT_OK);
    assert_int_equal(result.overflowed, 1);
}

static void any_alignment_and_any_count_work(void **state)
{
    (void)state;
    enum { MOST = 140, ROOM = 16 + MOST * 8 };
    uint64_t random = 2;
    for (int f = 0; f < FORMATS; f++) {
        for (int t = 0; t < FORMATS; t++) {
            uint8_t data[MOST * 8], want[MOST * 8];
            size_t from_size = (size_t)formats[f].bits / 8, to_size = (size_t)formats[t].bits / 8;
            lr_converted ignored = {0};
            for (size_t i = 0; i < MOST; i++)
                store(data + i * from_size, formats[f].bits, odd_pattern(&formats[f], &random));
            convert_plain(&formats[f], data, &formats[t], want, MOST, &ignored);
            check(&formats[f], &formats[t], data, MOST);
            for (size_t offset = 0; offset < 16; offset++) {
                for (size_t count = 0; count <= MOST; count++) {
                    /* The source ends where its memory does, so that a sanitizer sees what is read beyond it. */
                    uint8_t *source = allocate(offset + count * from_size);
                    uint8_t target[16 + ROOM + 64];
                    size_t to_offset = (offset * 7 + count) % 16;
                    lr_converted result = {0};
                    memcpy(source + offset, data, count * from_size);
                    memset(target, 0x5a, sizeof target);
                    assert_int_equal(lr_convert(formats[f].dtype, source + offset, formats[t].dtype, target + to_offset,
                                                count, false, &result),
                                     LR_CONVERT_OK);
                    assert_memory_equal(target + to_offset, want, count * to_size);
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

/** Large enough for stores past the caches, at alignments that allow them and at others. */
static void large_destinations_equal_the_plain_ones(void **state)
{
    (void)state;
    static const int pairs[][2] = {{F32, F16}, {F16, F32}};
    static const size_t offsets[] = {0, 16, 4, 1};
    enum { COUNT = (17 << 20) + 77 };
    size_t size = (size_t)COUNT * 4 + 64;
    uint64_t random = 4;
    uint8_t *data = allocate(size), *plain = allocate(size), *fast = allocate(size);
    for (size_t i = 0; i + 8 <= size; i += 8)
        store(data + i, 64, next_random(&random));
    for (size_t p = 0; p < 2; p++) {
        const format *from = &formats[pairs[p][0]], *to = &formats[pairs[p][1]];
        lr_converted want = {0};
        convert_plain(from, data, to, plain, COUNT, &want);
        for (size_t k = 0; k < sizeof offsets / sizeof offsets[0]; k++) {
            lr_converted result = {0};
            memset(fast, 0x5a, size);
            assert_int_equal(lr_convert(from->dtype, data, to->dtype, fast + offsets[k], COUNT, false, &result), 0);
            assert_int_equal(memcmp(fast + offsets[k], plain, (size_t)COUNT * (size_t)to->bits / 8), 0);
            assert_int_equal(result.overflowed, want.overflowed);
            if (offsets[k])
                assert_int_equal(fast[offsets[k] - 1], 0x5a);
            assert_int_equal(fast[offsets[k] + (size_t)COUNT * (size_t)to->bits / 8], 0x5a);
        }
    }
    free(data);
    free(plain);
    free(fast);
}

static void fresh_memory_is_not_written_past_the_caches(void **state)
{
    (void)state;
    size_t size = 64 << 20;
    uint8_t *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(memory, MAP_FAILED);
    assert_false(lr_convert_streams(memory, size));
    memset(memory, 1, size);
#ifdef __x86_64__
    assert_true(lr_convert_streams(memory, size));
#endif
    assert_false(lr_convert_streams(memory, 1 << 20));
    assert_int_equal(munmap(memory, size), 0);
}

/** The last magnitude of an f32 that becomes `code` in a narrow type. */
static uint64_t last_that_becomes(const format *narrow, uint64_t code)
{
    if (code == infinity_of(narrow))
        return infinity_of(&formats[F32]);
    double low = decode(narrow, code), high = decode(narrow, code + 1);
    float middle = (float)(low + (high - low) / 2); /* one digit more than `low`: exact */
    return load_host((const uint8_t *)&middle, 32) - (code & 1);
}

/** Compares what the magnitudes from `first` on became: `code` and `last` know where the walk upwards is. */
static void check_narrow(const format *narrow, const uint16_t *got, uint64_t first, size_t count, uint64_t *code,
                         uint64_t *last)
{
    uint64_t magnitude = first & 0x7fffffff, sign = first >> 31 << 15, overflows;
    for (size_t i = 0; i < count; i++, magnitude++) {
        uint64_t want;
        if (magnitude <= infinity_of(&formats[F32])) {
            while (magnitude > *last)
                *last = last_that_becomes(narrow, ++*code);
            want = *code | sign;
        } else {
            want = expected(&formats[F32], narrow, first + i, &overflows);
        }
        if (got[i] != want) {
            fail_msg("%llx to %s: %x, not %llx", (unsigned long long)(first + i), rec_dtype_name(narrow->dtype), got[i],
                     (unsigned long long)want);
        }
    }
}

static void check_f64(const uint64_t *got, uint64_t first, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t x = first + i, magnitude = x & 0x7fffffff, overflows;
        uint64_t want;
        if (magnitude < infinity_of(&formats[F32])) {
            double number = decode(&formats[F32], magnitude);
            want = load_host((const uint8_t *)&number, 64) | x >> 31 << 63;
        } else {
            want = expected(&formats[F32], &formats[F64], x, &overflows);
        }
        if (got[i] != want)
            fail_msg("%llx to f64: %llx", (unsigned long long)x, (unsigned long long)got[i]);
    }
}

/** All 2^32 of f32. A minute or two. */
static void every_f32_pattern_becomes_every_other_type(void **state)
{
    (void)state;
    static const int targets[] = {F16, BF16, F64};
    enum { PART = 1 << 16 };
    const char *wanted = getenv("LIBRECORD_LONG_TESTS");
    if (!wanted || strcmp(wanted, "1") != 0) {
        print_message("skipped: LIBRECORD_LONG_TESTS is not 1\n");
        skip();
    }
    uint8_t *data = allocate(PART * 4);
    uint64_t *plain = allocate(PART * 8), *fast = allocate(PART * 8);
    for (int t = 0; t < 3; t++) {
        const format *to = &formats[targets[t]];
        uint64_t code = 0, last = 0;
        for (uint64_t first = 0; first < UINT64_C(1) << 32; first += PART) {
            lr_converted result = {0};
            if ((first & 0x7fffffff) == 0) {
                code = 0;
                last = to->bits == 16 ? last_that_becomes(to, 0) : 0;
            }
            for (uint64_t i = 0; i < PART; i++)
                store(data + 4 * i, 32, first + i);
            convert_plain(&formats[F32], data, to, plain, PART, &result);
            if (to->bits == 16)
                check_narrow(to, (const uint16_t *)plain, first, PART, &code, &last);
            else
                check_f64(plain, first, PART);
            lr_converted fast_result = {0};
            assert_int_equal(lr_convert(REC_DTYPE_F32, data, to->dtype, fast, PART, false, &fast_result), 0);
            assert_int_equal(memcmp(fast, plain, PART * (size_t)to->bits / 8), 0);
            assert_int_equal(fast_result.overflowed, result.overflowed);
        }
    }
    free(data);
    free(plain);
    free(fast);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_half_and_bf16_becomes_every_other_type),
        cmocka_unit_test(halves_agree_with_a_published_table),
        cmocka_unit_test(middles_round_to_even_and_their_neighbours_to_the_nearest),
        cmocka_unit_test(random_patterns_of_every_pair_are_rounded_once),
        cmocka_unit_test(f64_becomes_f16_in_one_rounding),
        cmocka_unit_test(the_least_number_that_overflows_is_exact),
        cmocka_unit_test(a_nan_stays_a_quiet_one_with_sign_and_upper_payload),
        cmocka_unit_test(a_type_to_itself_and_flex32_are_copied_bit_for_bit),
        cmocka_unit_test(any_alignment_and_any_count_work),
        cmocka_unit_test(large_destinations_equal_the_plain_ones),
        cmocka_unit_test(fresh_memory_is_not_written_past_the_caches),
        cmocka_unit_test(every_f32_pattern_becomes_every_other_type),
    };
    return cmocka_run_group_tests_name("convert", tests, NULL, NULL);
}
