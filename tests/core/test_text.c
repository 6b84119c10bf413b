/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What people type: numbers become the nearest double, whatever the locale; names and switches. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static void numbers_are_what_people_write(void **state)
{
    static const struct {
        const char *text;
        double value;
    } right[] = {{"0", 0},
                 {"32", 32},
                 {"0.4", 0.4},
                 {".5", 0.5},
                 {"5.", 5},
                 {"-2.5e2", -250},
                 {"+1", 1},
                 {"1e-5", 1e-5},
                 {"1.5E+3", 1500.0},
                 {"-0", -0.0},
                 {"4294967296", 4294967296.0},
                 {"0000000000000000000000000000000000000007", 7},
                 {"1e-400", 0},
                 {"-1e-99999999999999999999999", -0.0},
                 {"0e99999999999999999999999", 0},
                 {"4.9406564584124654e-324", 0x1p-1074},
                 {"1.7976931348623158e308", 0x1.fffffffffffffp1023},
                 {"9007199254740993", 9007199254740992.0},
                 {"9007199254740993.00000000000000000000000000000000000000000001", 9007199254740994.0}};
    static const char *const wrong[] = {
        "",    "-",   "+",  ".",  "-.",  "e5",    "1e",   "1e+",    "1,5", "1.2.3", "0x10",
        "inf", "nan", " 1", "1 ", "1 2", "1e999", "1e 5", "-1e400", "+-1", "1e5.0", "1e99999999999999999999"};
    (void)state;
    for (size_t i = 0; i < sizeof right / sizeof right[0]; i++) {
        double value = 77;
        assert_true(lr_number_read(right[i].text, strlen(right[i].text), &value));
        assert_true(bits_of(value) == bits_of(right[i].value));
    }
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        double value;
        if (lr_number_read(wrong[i], strlen(wrong[i]), &value)) {
            fail_msg("\"%s\" was read as %g", wrong[i], value);
        }
    }
}

static void a_number_ends_where_its_length_says(void **state)
{
    double value = 0;
    (void)state;
    assert_true(lr_number_read("12e3", 2, &value));
    assert_true(value == 12);
    assert_false(lr_number_read("12e3", 3, &value));
    assert_false(lr_number_read("12", 0, &value));
}

/* Half-way between two doubles, with as many digits as it takes, and a last digit behind them that decides. */
static void digits_that_decide_may_be_far_behind(void **state)
{
    enum { ZEROS = 5000 };
    static char text[ZEROS + 64];
    const char *half = "9007199254740993."; /* between ...992 and ...994 */
    double value = 0;
    size_t head = strlen(half);
    (void)state;
    memcpy(text, half, head);
    memset(text + head, '0', ZEROS);
    assert_true(lr_number_read(text, head + ZEROS, &value));
    assert_true(value == 9007199254740992.0);
    text[head + ZEROS - 1] = '1';
    assert_true(lr_number_read(text, head + ZEROS, &value));
    assert_true(value == 9007199254740994.0);
    /* 1 behind 5000 zeros, and taken back by the exponent */
    text[0] = '0';
    text[1] = '.';
    memset(text + 2, '0', ZEROS);
    memcpy(text + 2 + ZEROS, "1e5001", 7);
    assert_true(lr_number_read(text, strlen(text), &value));
    assert_true(value == 1);
}

static uint64_t next(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

/* The C library's strtod gives the nearest double; a test runs in the C locale. */
static void numbers_are_the_nearest_double(void **state)
{
    uint64_t seed = UINT64_C(0x9e3779b97f4a7c15);
    char text[160];
    (void)state;
    for (int i = 0; i < 300000; i++) {
        size_t used = 0;
        double value = 77, expected;
        if (i % 3 == 0) { /* any double, written with 1 to 25 digits */
            uint64_t bits = next(&seed);
            bits &= (bits >> 52 & 0x7ff) == 0x7ff ? ~(UINT64_C(1) << 62) : UINT64_MAX;
            memcpy(&expected, &bits, sizeof bits);
            used = (size_t)snprintf(text, sizeof text, "%.*e", (int)(next(&seed) % 25), expected);
        } else { /* any digits, a point anywhere, any exponent */
            uint64_t count = next(&seed) % 60 + 1, point = next(&seed) % 70;
            for (uint64_t k = 0; k < count; k++) {
                if (k == point) {
                    text[used++] = '.';
                }
                text[used++] = (char)('0' + next(&seed) % 10);
            }
            used += (size_t)(next(&seed) % 2
                                 ? snprintf(text + used, sizeof text - used, "e%d", (int)(next(&seed) % 720) - 360)
                                 : 0);
        }
        text[used] = '\0';
        expected = strtod(text, NULL);
        if (lr_number_read(text, used, &value) != (expected - expected == 0)) {
            fail_msg("%s: %s", text, expected - expected == 0 ? "is a number" : "is beyond all doubles");
        }
        if (expected - expected == 0 && bits_of(value) != bits_of(expected)) {
            fail_msg("%s: %016" PRIx64 " instead of %016" PRIx64, text, bits_of(value), bits_of(expected));
        }
    }
}

static void names_of_numbers_end_where_they_must(void **state)
{
    static const struct {
        const char *text;
        size_t length;
    } cases[] = {{"", 0}, {"heads", 5}, {"_a.b2*c", 5}, {"2a", 0}, {".a", 0}, {"a-b", 1}, {"a b", 1}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(lr_number_name(cases[i].text, strlen(cases[i].text)), cases[i].length);
    }
    assert_int_equal(lr_number_name("heads", 3), 3);
}

/* As Python's hash() of bytes with PYTHONHASHSEED=0, which is SipHash-1-3 with the key 0. */
static void hashes_are_siphash(void **state)
{
    static const struct {
        const char *text;
        uint64_t hash;
    } known[] = {{"a", UINT64_C(0x407448d2b89b1813)},
                 {"abc", UINT64_C(0xc03bc3a0042630f2)},
                 {"abcdefgh", UINT64_C(0x3f7b849c0b8e35ea)},
                 {"layers.0.attention.wq.weight", UINT64_C(0x6a9955a8dc09b89d)}};
    static const uint64_t zero[2] = {0}, other[2] = {1, 0};
    uint8_t bytes[64];
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        assert_int_equal(lr_key_hash_with(zero, known[i].text, strlen(known[i].text)), known[i].hash);
        assert_int_not_equal(lr_key_hash_with(other, known[i].text, strlen(known[i].text)), known[i].hash);
        assert_int_not_equal(lr_key_hash(known[i].text, strlen(known[i].text)), known[i].hash);
        assert_int_equal(lr_key_hash(known[i].text, 1), lr_key_hash(known[i].text, 1));
    }
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (uint8_t)i;
    }
    assert_int_equal(lr_key_hash_with(zero, bytes, sizeof bytes), UINT64_C(0x75e05fd5bbc870c6));
}

static void letters_that_changed_places_are_one_change(void **state)
{
    static const struct {
        const char *asked, *meant;
    } cases[] = {{"wieght", "weight"}, {"weigth", "weight"}, {"wegiht", "weight"}, {"fbias", "fibas"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lr_suggestion near;
        lr_suggestion_begin(&near, cases[i].asked);
        lr_suggestion_try(&near, cases[i].meant);
        assert_int_equal(near.distance, 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hashes_are_siphash),
        cmocka_unit_test(numbers_are_what_people_write),
        cmocka_unit_test(a_number_ends_where_its_length_says),
        cmocka_unit_test(digits_that_decide_may_be_far_behind),
        cmocka_unit_test(numbers_are_the_nearest_double),
        cmocka_unit_test(names_of_numbers_end_where_they_must),
        cmocka_unit_test(letters_that_changed_places_are_one_change),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
