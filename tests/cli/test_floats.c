/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Floats as the command prints them: what is counted is what trying gives, for all halves and many others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tools/print/floats.c"

static uint64_t counted;

static void compare(double value, rec_dtype dtype)
{
    const float_form *form = form_of(dtype);
    decimal fast, slow;

    if (value == 0 || !digits_counted(value, form, &fast)) {
        return;
    }
    counted++;
    digits_tried(value, form, &slow);
    while (slow.count > 1 && slow.digits[slow.count - 1] == '0') {
        slow.count--;
    }
    while (fast.count > 1 && fast.digits[fast.count - 1] == '0') {
        fast.count--;
    }
    if (fast.count != slow.count || fast.exponent != slow.exponent ||
        memcmp(fast.digits, slow.digits, (size_t)fast.count) != 0) {
        fail_msg("%.17g: %.*s e%d, but %.*s e%d", value, fast.count, fast.digits, fast.exponent, slow.count,
                 slow.digits, slow.exponent);
    }
}

static void all_halves_have_the_digits_that_trying_finds(void **state)
{
    (void)state;
    counted = 0;
    for (uint32_t i = 0; i < 0x10000; i++) {
        uint32_t bits = i << 16;
        int exponent = (int)(i >> 10 & 31);
        double half = exponent ? ldexp(1024 + (i & 1023), exponent - 25) : ldexp(i & 1023, -24);
        float brain;
        memcpy(&brain, &bits, sizeof brain);
        if (isfinite(brain)) {
            compare((double)brain, REC_DTYPE_BF16);
        }
        if (exponent < 31) {
            compare(i >> 15 ? -half : half, REC_DTYPE_F16);
        }
    }
    assert_true(counted > 40000);
}

static void floats_have_the_digits_that_trying_finds(void **state)
{
    uint64_t random = 1;
    (void)state;
    for (uint32_t i = 0; i < 200000; i++) {
        uint32_t bits;
        float single;
        double number;
        random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
        /* From far below what is counted to far above; every fifth with few bits, so that there are ties and powers of
         * two. */
        bits = (uint32_t)(random >> 32 & 0x807fffff) | (uint32_t)(1 + (random >> 8) % 169) << 23;
        bits = i % 5 ? bits : bits & ~((UINT32_C(1) << (random >> 16) % 24) - 1);
        memcpy(&single, &bits, sizeof single);
        compare((double)single, REC_DTYPE_F32);
        bits = (uint32_t)(random >> 13);
        random = (random & UINT64_C(0x800fffffffffffff)) | (uint64_t)(970 + bits % 100) << 52;
        random = i % 5 ? random : random & ~((UINT64_C(1) << bits % 53) - 1);
        memcpy(&number, &random, sizeof number);
        compare(number, REC_DTYPE_F64);
        compare((double)(int32_t)bits / 1000, REC_DTYPE_F64);
        compare((double)((float)(int32_t)(bits >> 8) / 1000), REC_DTYPE_F32);
    }
}

static void floats_are_written_as_they_always_were(void **state)
{
    static const struct {
        double value;
        rec_dtype dtype;
        const char *text;
    } cases[] = {
        {0, REC_DTYPE_F32, "0.0"},
        {-0.0, REC_DTYPE_F32, "-0.0"},
        {1, REC_DTYPE_F64, "1.0"},
        {-2.5, REC_DTYPE_F16, "-2.5"},
        {(double)0.1f, REC_DTYPE_F32, "0.1"},
        {(double)0.1f, REC_DTYPE_F64, "0.10000000149011612"},
        {(double)9999999.5f, REC_DTYPE_F32, "10000000.0"},
        {0.0001, REC_DTYPE_F64, "0.0001"},
        {0.00001234, REC_DTYPE_F64, "1.234e-5"},
        {123456789, REC_DTYPE_F64, "123456789.0"},
        {1e15, REC_DTYPE_F64, "1000000000000000.0"},
        {1e16, REC_DTYPE_F64, "1e16"},
        {5e-324, REC_DTYPE_F64, "5e-324"},
        {65504, REC_DTYPE_F16, "65500.0"},
        {INFINITY, REC_DTYPE_F32, "Infinity"},
        {-INFINITY, REC_DTYPE_F32, "-Infinity"},
        {NAN, REC_DTYPE_F32, "NaN"},
    };
    char buffer[NUMBER_ROOM];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_string_equal(tool_float_text(cases[i].value, cases[i].dtype, buffer), cases[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_halves_have_the_digits_that_trying_finds),
        cmocka_unit_test(floats_have_the_digits_that_trying_finds),
        cmocka_unit_test(floats_are_written_as_they_always_were),
    };
    return cmocka_run_group_tests_name("floats", tests, NULL, NULL);
}
