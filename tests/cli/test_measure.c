/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What measures tensors: blocks give what single numbers give, to the last bit, with each kind of vectors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tools/measure/kernels.c"

enum { MOST = 5000 };

static uint64_t random_state = 88172645463325252;
static uint64_t random_bits(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

/* Values of some kind: 0 like weights, 1 any bits at all, 2 with many zeros and subnormals, 3 all the same, 4 whole
 * numbers, 5 large ones, 6 weights with a NaN here and there. */
enum { KINDS = 7 };
static double value_of(int kind, bool single)
{
    double uniform = (double)(random_bits() >> 11) * 0x1p-52 - 1;
    uint64_t bits = random_bits();
    uint32_t narrow = (uint32_t)bits;
    double wide;
    float any;

    switch (kind) {
    case 0:
        return uniform;
    case 1:
        memcpy(&any, &narrow, sizeof any);
        memcpy(&wide, &bits, sizeof wide);
        return single ? (double)any : wide;
    case 2:
        return bits % 3 == 0 ? (bits % 2 ? 0.0 : -0.0)
                             : uniform * (bits % 5 == 0 ? (single ? 0x1p-130 : 0x1p-1030) : 0x1p-20);
    case 3:
        return -0.7125;
    case 4:
        return (double)(bits % 101) - 50;
    case 5:
        return uniform * (single ? 0x1p127 : 0x1p1023);
    default:
        return bits % 37 ? uniform : bits % 2 ? (double)NAN : (double)-INFINITY;
    }
}

static void same_counts(const char *name, int kind, size_t count, const measure_counts *a, const measure_counts *b)
{
    if (a->zeros != b->zeros || a->nan != b->nan || a->inf != b->inf || a->subnormal != b->subnormal ||
        a->half_over != b->half_over || a->half_zero != b->half_zero || memcmp(a->bins, b->bins, sizeof a->bins) != 0 ||
        a->min + 0.0 != b->min + 0.0 || a->max + 0.0 != b->max + 0.0) {
        fail_msg(
            "%s, kind %d, %zu values: zeros %lu %lu, nan %lu %lu, inf %lu %lu, subnormal %lu %lu, over %lu %lu, under "
            "%lu %lu, min %a %a, max %a %a, or the histogram",
            name, kind, count, (unsigned long)a->zeros, (unsigned long)b->zeros, (unsigned long)a->nan,
            (unsigned long)b->nan, (unsigned long)a->inf, (unsigned long)b->inf, (unsigned long)a->subnormal,
            (unsigned long)b->subnormal, (unsigned long)a->half_over, (unsigned long)b->half_over,
            (unsigned long)a->half_zero, (unsigned long)b->half_zero, a->min, b->min, a->max, b->max);
    }
}

/* Ways to measure: number by number, in blocks, and as the command does. */
enum { SINGLY, IN_BLOCKS, AS_FOUND, WAYS };
static const char *const ways[] = {"singly", "in blocks", "as found"};

static void measure_by(int way, const measure_terms *terms, const double *values, size_t count, bool single,
                       measure_sums *sums, measure_counts *counts)
{
    static float narrow[MOST + 1];
    float *at = narrow + count % 2; /* of any alignment that a float may have */

    memset(sums, 0, sizeof *sums);
    tool_measure_counts_begin(counts);
    for (size_t i = 0; i < count; i++) {
        at[i] = (float)values[i];
    }
    for (size_t i = 0; i < count && way == SINGLY; i++) {
        if (single) {
            float low = (float)terms->low, scale = (float)(MEASURE_BINS / ((double)(float)terms->high - (double)low));
            add_one_f32(terms, at[i], low, scale, i % MEASURE_LANES, sums, counts);
        } else {
            double low = terms->low * 0.5, scale = MEASURE_BINS / (terms->high * 0.5 - low);
            add_one_f64(terms, values[i], low, scale, i % MEASURE_LANES, sums, counts);
        }
    }
    if (way == IN_BLOCKS && single) {
        measure_f32(terms, at, count, sums, counts);
    } else if (way == IN_BLOCKS) {
        measure_f64(terms, values, count, sums, counts);
    } else if (way == AS_FOUND && single) {
        tool_measure_f32(terms, at, count, sums, counts);
    } else if (way == AS_FOUND) {
        tool_measure_f64(terms, values, count, sums, counts);
    }
}

/* Terms as a first look would find them. */
static measure_terms terms_for(const double *values, size_t count, bool single, int kind)
{
    measure_terms terms = {.unit = kind == 5 && !single ? 0x1p-600 : 1, .low = -0.9, .high = 0.8};

    terms.normal = single ? 0x00800000 : UINT64_C(0x0010000000000000);
    terms.half_over = single ? 0x477ff000 : UINT64_C(0x40effe0000000000);
    terms.half_zero = single ? 0x33000000 : UINT64_C(0x3e60000000000000);
    if (kind == 4) { /* integers: nothing is odd but zeros */
        terms.normal = terms.half_zero = 0;
        terms.half_over = UINT64_MAX;
        terms.low = -50;
        terms.high = 50;
    } else if (kind == 5) {
        terms.low = single ? -0x1p125 : -0x1p1022;
        terms.high = single ? 0x1p125 : 0x1p1021;
    }
    for (size_t i = 0; i < count && terms.shift == 0; i++) {
        double value = single ? (double)(float)values[i] : values[i];
        terms.shift = isfinite(value) ? value : 0;
    }
    return terms;
}

static void ways_agree(bool single)
{
    static const size_t counts[] = {0, 1, 15, 16, 17, 255, 256, 257, 600, 1024, 1025, 2048 + 511, MOST};
    static double values[MOST];
    static measure_counts plain, made;
    measure_sums plain_sums, made_sums;

    for (int kind = 0; kind < KINDS; kind++) {
        for (size_t i = 0; i < MOST; i++) {
            values[i] = value_of(kind, single);
        }
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
            measure_terms terms = terms_for(values, counts[c], single, kind);
            measure_by(SINGLY, &terms, values, counts[c], single, &plain_sums, &plain);
            for (int way = IN_BLOCKS; way < WAYS; way++) {
                measure_by(way, &terms, values, counts[c], single, &made_sums, &made);
                same_counts(ways[way], kind, counts[c], &plain, &made);
                if (memcmp(&plain_sums, &made_sums, sizeof plain_sums) != 0) {
                    fail_msg("%s, kind %d, %zu values: the sums differ, %a %a and %a %a", ways[way], kind, counts[c],
                             plain_sums.first[0], made_sums.first[0], plain_sums.second[1], made_sums.second[1]);
                }
            }
        }
    }
}

static void all_ways_agree_on_f32(void **state)
{
    (void)state;
    ways_agree(true);
}

static void all_ways_agree_on_f64(void **state)
{
    (void)state;
    ways_agree(false);
}

static void numbers_are_counted(void **state)
{
    const double values[] = {1,     -2,    0,       -0.0,      (double)NAN, (double)INFINITY,
                             65519, 65520, 0x1p-25, 0x1.8p-25, 0x1p-140,    0.5};
    measure_terms terms = terms_for(values, 12, true, 0);
    measure_counts counts;
    measure_sums sums;
    double sum = 0;

    (void)state;
    measure_by(SINGLY, &terms, values, 12, true, &sums, &counts);
    assert_int_equal(counts.zeros, 2);
    assert_int_equal(counts.nan, 1);
    assert_int_equal(counts.inf, 1);
    assert_int_equal(counts.half_over, 1);
    assert_int_equal(counts.half_zero, 2);
    assert_int_equal(counts.subnormal, 1);
    assert_true(counts.min == -2 && counts.max == 65520);
    /* -0.9 to 0.8 in 32 bins: 1 and what is larger are in the last one, -2 in the first, nothing and 0.5 between. */
    assert_int_equal(counts.bins[0], 1);
    assert_int_equal(counts.bins[31], 3);
    assert_int_equal(counts.bins[16], 5);
    assert_int_equal(counts.bins[26], 1);
    for (size_t i = 0; i < MEASURE_LANES; i++) {
        sum += sums.first[i];
    }
    assert_true(sum + 10 * terms.shift > 131038.49 && sum + 10 * terms.shift < 131038.51);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_counted),
        cmocka_unit_test(all_ways_agree_on_f32),
        cmocka_unit_test(all_ways_agree_on_f64),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
