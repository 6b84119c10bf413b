/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What record diff finds of two rows of numbers: each kind of vectors gives the same, and that is what one place after
 * the other gives. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tools/diff/numbers.c"

double tool_root(double x)
{
    return x; /* sums are looked at, not their roots */
}

static uint64_t state;

static uint32_t next(void)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(state >> 32);
}

/* Numbers of all sizes, some the same on both sides, some not finite. */
static void fill(float *a, float *b, size_t count, unsigned odd)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t bits = next(), other = next() % 3 ? bits : bits ^ (1u << next() % 24);
        bits = odd && next() % odd == 0 ? 0x7f800000 | (next() % 2 ? 0x400000 : 0) | (bits & 0x80000000)
                                        : bits & 0xbfffffff;
        other = odd && next() % odd == 0 ? 0x7fc00000 : other & 0xbfffffff;
        memcpy(&a[i], &bits, sizeof bits);
        memcpy(&b[i], &other, sizeof other);
    }
}

static void same_counts(const figures *x, const figures *y)
{
    assert_int_equal(x->count, y->count);
    assert_int_equal(x->differing, y->differing);
    assert_int_equal(x->beyond, y->beyond);
    assert_int_equal(x->odd, y->odd);
    assert_int_equal(x->odd_at, y->odd_at);
    assert_memory_equal(x->nan, y->nan, sizeof x->nan);
    assert_memory_equal(x->inf, y->inf, sizeof x->inf);
    assert_true(x->max_abs == y->max_abs && x->max_abs_at == y->max_abs_at);
    assert_true(x->max_rel == y->max_rel && x->max_rel_at == y->max_rel_at);
}

enum { MOST = 1000 };

static void test_vectors_are_the_same(void **unused)
{
    static float a[MOST], b[MOST];
    static double wide_a[MOST], wide_b[MOST];
    const tolerance tolerances[] = {{0}, {1e-3, 0, false}, {0, 1e-3, true}, {1e-30, 1e-7, false}};

    (void)unused;
    for (unsigned round = 0; round < 400; round++) {
        size_t count = next() % MOST;
        const tolerance *t = &tolerances[round % 4];
        figures fast = {.scale = 1}, plain = fast, slow = fast, wide = {.scale = round % 2 ? 1 : 0x1p-600},
                wide_slow = wide;
        fill(a, b, count, round % 3 ? 0 : 20);
        for (size_t i = 0; i < count; i++) {
            wide_a[i] = (double)a[i];
            wide_b[i] = (double)b[i];
            add_place(&slow, wide_a[i], wide_b[i], 7 + i, t);
            add_place(&wide_slow, wide_a[i], wide_b[i], 7 + i, t);
        }
        slow.count = wide_slow.count = count;
        tool_diff_f32(&fast, a, b, 7, count, t);
        tool_diff_f32_plain(&plain, a, b, 7, count, t);
        tool_diff_f64(&wide, wide_a, wide_b, 7, count, t);
        assert_memory_equal(&fast, &plain, sizeof fast);
        same_counts(&fast, &slow);
        same_counts(&wide, &wide_slow);
        if (wide.scale == 1) {
            assert_memory_equal(&fast, &wide, sizeof fast);
        }
        /* Sums differ by the order of what is added alone. */
        assert_true(__builtin_fabs(fast.aa - slow.aa) <= 1e-12 * slow.aa &&
                    __builtin_fabs(fast.dd - slow.dd) <= 1e-12 * slow.dd);
    }
}

#ifdef HAS_X86
static void test_each_processor(void **unused)
{
    static float a[MOST], b[MOST];
    static double wide_a[MOST], wide_b[MOST];
    const tolerance t = {1e-3, 1e-6, false};

    (void)unused;
    for (unsigned round = 0; round < 100; round++) {
        size_t count = next() % MOST;
        figures two = {.scale = 1}, more = two, wide = {.scale = round % 2 ? 1 : 0x1p-600}, wider = wide;
        fill(a, b, count, 50);
        for (size_t i = 0; i < count; i++) {
            wide_a[i] = (double)a[i];
            wide_b[i] = (double)b[i];
        }
        (void)blocks_f32(&two, a, b, 0, count, &t);
        (void)blocks_f64(&wide, wide_a, wide_b, 0, count, &t);
        if (LR_CPU_HAS(AVX2, "avx2")) {
            (void)blocks_f32_avx2(&more, a, b, 0, count, &t);
            assert_memory_equal(&two, &more, sizeof two);
            (void)blocks_f64_avx2(&wider, wide_a, wide_b, 0, count, &t);
            assert_memory_equal(&wide, &wider, sizeof wide);
        }
        if (LR_CPU_HAS(AVX512F, "avx512f") && LR_CPU_HAS(AVX512DQ, "avx512dq")) {
            more = (figures){.scale = 1};
            (void)blocks_f32_avx512(&more, a, b, 0, count, &t);
            assert_memory_equal(&two, &more, sizeof two);
            wider = (figures){.scale = wide.scale};
            (void)blocks_f64_avx512(&wider, wide_a, wide_b, 0, count, &t);
            assert_memory_equal(&wide, &wider, sizeof wide);
        }
    }
}
#endif

static void test_numbers_of_any_kind(void **unused)
{
    static const struct {
        rec_scalar a, b;
        bool same;
    } cases[] = {
        {{.kind = REC_KIND_INT, .v.i = -1}, {.kind = REC_KIND_UINT, .v.u = UINT64_MAX}, false},
        {{.kind = REC_KIND_INT, .v.i = INT64_MAX}, {.kind = REC_KIND_UINT, .v.u = INT64_MAX}, true},
        {{.kind = REC_KIND_INT, .v.i = INT64_MAX}, {.kind = REC_KIND_FLOAT, .v.f = 0x1p63}, false},
        {{.kind = REC_KIND_UINT, .v.u = UINT64_C(1) << 63}, {.kind = REC_KIND_FLOAT, .v.f = 0x1p63}, true},
        {{.kind = REC_KIND_UINT, .v.u = UINT64_MAX}, {.kind = REC_KIND_FLOAT, .v.f = 0x1p64}, false},
        {{.kind = REC_KIND_INT, .v.i = INT64_MIN}, {.kind = REC_KIND_FLOAT, .v.f = -0x1p63}, true},
        {{.kind = REC_KIND_FLOAT, .v.f = 0.5}, {.kind = REC_KIND_INT, .v.i = 0}, false},
        {{.kind = REC_KIND_FLOAT, .v.f = -0.0}, {.kind = REC_KIND_UINT, .v.u = 0}, true},
        {{.kind = REC_KIND_BOOL, .v.i = 1}, {.kind = REC_KIND_FLOAT, .v.f = 1}, true},
    };

    (void)unused;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(tool_diff_same_number(&cases[i].a, &cases[i].b), cases[i].same);
        assert_int_equal(tool_diff_same_number(&cases[i].b, &cases[i].a), cases[i].same);
    }
}

static void test_whole_numbers_at_the_ends(void **unused)
{
    const int64_t a[] = {INT64_MIN, 5, 0}, b[] = {INT64_MAX, 5, 1};
    const tolerance t = {0};
    figures f = {.scale = 1};

    (void)unused;
    tool_diff_i64(&f, a, b, 0, 3, &t);
    assert_int_equal(f.differing, 2);
    assert_int_equal(f.max_abs_at, 0);
    assert_true(f.max_abs == 18446744073709551615.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vectors_are_the_same),
#ifdef HAS_X86
        cmocka_unit_test(test_each_processor),
#endif
        cmocka_unit_test(test_numbers_of_any_kind),
        cmocka_unit_test(test_whole_numbers_at_the_ends),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
