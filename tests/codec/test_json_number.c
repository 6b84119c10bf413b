/* SPDX-License-Identifier: MIT OR Apache-2.0
 * JSON's numbers: scanned, read, written, and bytes in bulk. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <inttypes.h>
#include <cmocka.h>

#include "common/crc32.h"
#include "plugins/codec/json/number.h"
#include "tests/shared.h"

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* Reads text as a number. @return the status of the read; 1: it is no number. */
static int32_t read_number(const char *text, lr_decimal *decimal, double *value)
{
    char padded[LR_NUMBER_MOST + 8];
    size_t length = strlen(text);
    lr_float_reader reader = {0};
    assert_true(length < sizeof padded - 2);
    memcpy(padded, text, length);
    padded[length] = ',';
    if (lr_decimal_scan((const uint8_t *)padded, (const uint8_t *)padded + length + 1, decimal) != LR_SCAN_DONE ||
        decimal->end != (const uint8_t *)padded + length) {
        return 1;
    }
    int32_t status = lr_float_read(&reader, decimal, (const uint8_t *)padded, length, value);
    lr_float_reader_free(&reader);
    return status;
}

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* ---------------------------------------------------------------------------------------------------- scanning -- */

static void the_grammar_of_numbers_is_kept(void **state)
{
    static const struct {
        const char *text;
        int result;
        int end; /* of the number, or where it breaks */
    } cases[] = {
        {"0,", LR_SCAN_DONE, 1},     {"-0]", LR_SCAN_DONE, 2}, {"10 ", LR_SCAN_DONE, 2}, {"1.5e-7}", LR_SCAN_DONE, 6},
        {"1E+2\n", LR_SCAN_DONE, 4}, {"01", LR_SCAN_DONE, 1},  {"1x", LR_SCAN_DONE, 1},  {"12", LR_SCAN_MORE, 2},
        {"1.2", LR_SCAN_MORE, 3},    {"1e5", LR_SCAN_MORE, 3}, {"-", LR_SCAN_MORE, 1},   {"1.", LR_SCAN_MORE, 2},
        {"1e", LR_SCAN_MORE, 2},     {"1e-", LR_SCAN_MORE, 3}, {"-x", LR_SCAN_BAD, 1},   {"--1", LR_SCAN_BAD, 1},
        {"1.e5", LR_SCAN_BAD, 2},    {"1.x", LR_SCAN_BAD, 2},  {"1e,", LR_SCAN_BAD, 2},  {"1e+-2", LR_SCAN_BAD, 3},
        {"-.5", LR_SCAN_BAD, 1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const uint8_t *text = (const uint8_t *)cases[i].text;
        lr_decimal decimal;
        if (lr_decimal_scan(text, text + strlen(cases[i].text), &decimal) != cases[i].result ||
            decimal.end - text != cases[i].end) {
            fail_msg("%s", cases[i].text);
        }
    }
}

static void integers_are_exact_up_to_64_bits_and_floats_beyond(void **state)
{
    static const struct {
        const char *text;
        int real, negative;
        uint64_t digits;
    } cases[] = {
        {"0", 0, 0, 0},
        {"-1", 0, 1, 1},
        {"9999999999999999999", 0, 0, UINT64_C(9999999999999999999)},
        {"18446744073709551615", 0, 0, UINT64_MAX},
        {"18446744073709551616", 1, 0, UINT64_C(1844674407370955161)},
        {"99999999999999999999", 1, 0, UINT64_C(9999999999999999999)},
        {"184467440737095516150", 1, 0, UINT64_C(1844674407370955161)},
        {"-9223372036854775808", 0, 1, (uint64_t)INT64_MAX + 1},
        {"-9223372036854775809", 1, 1, (uint64_t)INT64_MAX + 2},
        {"-0", 1, 1, 0},
        {"1.0", 1, 0, 10},
        {"1e0", 1, 0, 1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lr_decimal decimal;
        double value;
        assert_int_equal(read_number(cases[i].text, &decimal, &value), REC_OK);
        if (decimal.real != cases[i].real || decimal.negative != cases[i].negative ||
            decimal.digits != cases[i].digits || bits_of(value) != bits_of(strtod(cases[i].text, NULL))) {
            fail_msg("%s", cases[i].text);
        }
    }
}

/* ----------------------------------------------------------------------------------------------------- reading -- */

/* The sum is that of the table of all 667 powers computed with Python's integers. */
static void powers_of_ten_are_exact_or_rounded_up(void **state)
{
    enum { COUNT = LR_POWER_MOST - LR_POWER_LEAST + 1 };
    static const struct {
        int32_t exponent;
        lr_power power;
    } known[] = {
        {-342, {0xeef453d6923bd65a, 0x113faa2906a13b40}},
        {-1, {0xcccccccccccccccc, 0xcccccccccccccccd}},
        {0, {UINT64_C(1) << 63, 0}},
        {1, {UINT64_C(10) << 60, 0}},
        {27, {0xcecb8f27f4200f3a, 0}},
        {324, {0x9e19db92b4e31ba9, 0x6c07a2c26a8346d2}},
    };
    static uint8_t table[16 * COUNT];
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        lr_power power = lr_power_of_ten(known[i].exponent);
        assert_int_equal(power.high, known[i].power.high);
        assert_int_equal(power.low, known[i].power.low);
    }
    for (int32_t i = 0; i < COUNT; i++) {
        lr_power power = lr_power_of_ten(LR_POWER_LEAST + i);
        for (int byte = 0; byte < 8; byte++) {
            table[16 * i + byte] = (uint8_t)(power.high >> 8 * byte);
            table[16 * i + 8 + byte] = (uint8_t)(power.low >> 8 * byte);
        }
    }
    assert_int_equal(lr_crc32(0, table, sizeof table), 0x9c484049);
}

static void floats_of_the_test_tables_are_read_to_the_nearest(void **state)
{
    static const char *const tables[] = {"lemire-fast-float.txt", "more-test-cases.txt", "tencent-rapidjson.txt",
                                         "freetype-2-7.txt", "exhaustive-float16.txt"};
    int checked = 0;
    (void)state;
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        char below[128], path[4096], line[LR_NUMBER_MOST + 64], text[LR_NUMBER_MOST];
        uint64_t expected;
        (void)snprintf(below, sizeof below, "suites/float/%s", tables[i]);
        if (!shared_path(path, sizeof path, below)) {
            return;
        }
        FILE *file = fopen(path, "r");
        assert_non_null(file);
        while (fgets(line, sizeof line, file)) {
            lr_decimal decimal;
            double value;
            if (sscanf(line, "%*x %*x %" SCNx64 " %4000s", &expected, text) != 2 || text[0] == '+' || text[0] == '.') {
                continue;
            }
            int32_t status = read_number(text, &decimal, &value);
            if (status == 1) { /* not JSON's grammar */
                continue;
            }
            if (expected << 1 == UINT64_C(0x7ff) << 53 ? status != REC_E_RANGE
                                                       : status != REC_OK || bits_of(value) != expected) {
                fail_msg("%s", text);
            }
            checked++;
        }
        (void)fclose(file);
    }
    assert_true(checked > 30000);
}

static void numbers_with_a_long_tail_are_read_to_the_nearest(void **state)
{
    static const char half[] = "1.00000000000000011102230246251565404236316680908203125"; /* between 1 and the next */
    char text[LR_NUMBER_MOST];
    lr_decimal decimal;
    double value;
    (void)state;
    assert_int_equal(read_number(half, &decimal, &value), REC_OK);
    assert_true(value == 1.0);
    (void)snprintf(text, sizeof text, "%s%02000d", half, 1);
    assert_int_equal(read_number(text, &decimal, &value), REC_OK);
    assert_true(value == 0x1.0000000000001p0);
    (void)snprintf(text, sizeof text, "%02000d", 0);
    memcpy(text, "0.", 2);
    memcpy(text + 1990, "12345e1989", 11); /* 0.00…12345, scaled back */
    assert_int_equal(read_number(text, &decimal, &value), REC_OK);
    assert_true(value == strtod(text, NULL) && value > 1.0);
    assert_int_equal(read_number("1e309", &decimal, &value), REC_E_RANGE);
    assert_int_equal(read_number("-1e99999999999", &decimal, &value), REC_E_RANGE);
    assert_int_equal(read_number("0e99999999999", &decimal, &value), REC_OK);
    assert_true(value == 0);
    assert_int_equal(read_number("1e-99999999999", &decimal, &value), REC_OK);
    assert_true(value == 0);
    assert_int_equal(read_number("17976931348623158079372897140530342e274", &decimal, &value), REC_E_RANGE);
    assert_int_equal(read_number("17976931348623158079372897140530341e274", &decimal, &value), REC_OK);
}

/* ----------------------------------------------------------------------------------------------------- writing -- */

static void floats_are_written_in_the_form_of_serde_json(void **state)
{
    static const struct {
        double value;
        const char *f64, *f32;
    } cases[] = {
        {0.0, "0.0", "0.0"},
        {-0.0, "-0.0", "-0.0"},
        {1.0, "1.0", "1.0"},
        {-1.5, "-1.5", "-1.5"},
        {0.1, "0.1", "0.1"},
        {100.0, "100.0", "100.0"},
        {123456.75, "123456.75", "123456.75"},
        {1e12, "1000000000000.0", "1000000000000.0"},
        {1e13, "10000000000000.0", "1e+13"},
        {1e15, "1000000000000000.0", "1e+15"},
        {9007199254740993.0, "9007199254740992.0", "9.007199e+15"},
        {1e16, "1e+16", "1e+16"},
        {1.5e300, "1.5e+300", "null"},
        {0.00012, "0.00012", "0.00012"},
        {1e-5, "0.00001", "0.00001"},
        {1.25e-6, "1.25e-6", "0.00000125"},
        {1e-7, "1e-7", "1e-7"},
        {3.4028234663852886e38, "3.4028234663852886e+38", "3.4028235e+38"},
        {1.401298464324817e-45, "1.401298464324817e-45", "1e-45"},
        {5e-324, "5e-324", "0.0"},
        {2.2250738585072014e-308, "2.2250738585072014e-308", "0.0"},
        {1.7976931348623157e308, "1.7976931348623157e+308", "null"},
        {9007199254740991.0, "9007199254740991.0", "9.007199e+15"},
        {8.41e21, "8.41e+21", "8.41e+21"},                         /* the interval's end belongs to it */
        {9.5367431640625e-7, "9.5367431640625e-7", "9.536743e-7"}, /* 2^-20: the number below is nearer */
        {__builtin_inf(), "null", "null"},
        {-__builtin_inf(), "null", "null"},
        {__builtin_nan(""), "null", "null"},
    };
    char text[LR_NUMBER_ROOM + 1];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        text[lr_float_write(text, cases[i].value)] = '\0';
        assert_string_equal(text, cases[i].f64);
        text[lr_float32_write(text, (float)cases[i].value)] = '\0';
        assert_string_equal(text, cases[i].f32);
    }
}

/* The shortest: with a digit less nothing reads back. */
static void check_shortest(const char *text, double value, bool single)
{
    for (int digits = 1; digits < 18; digits++) {
        char shorter[64];
        (void)snprintf(shorter, sizeof shorter, "%.*e", digits - 1, value);
        if (single ? strtof(shorter, NULL) == (float)value : strtod(shorter, NULL) == value) {
            int written = 0, trailing = 0;
            bool leading = true;
            for (const char *c = text; *c && *c != 'e'; c++) {
                if (*c >= '0' && *c <= '9' && (*c != '0' || !leading)) {
                    leading = false;
                    trailing = *c == '0' ? trailing + 1 : 0;
                    written++;
                }
            }
            if (written - trailing > digits) {
                fail_msg("%s is not the shortest for %.17g", text, value);
            }
            return;
        }
    }
}

static void floats_that_are_written_read_back(void **state)
{
    uint64_t random = 88172645463325252u;
    (void)state;
    for (int i = 0; i < 200000; i++) {
        char text[LR_NUMBER_ROOM + 1];
        lr_decimal decimal;
        uint64_t bits = next_random(&random);
        uint32_t low = (uint32_t)(bits >> 16);
        double value, back;
        float single;
        if (i % 4 == 0) {
            bits &= UINT64_C(0xfff0000000000000); /* powers of two, where the interval is lopsided */
            low &= 0xff800000u;
        }
        memcpy(&value, &bits, sizeof value);
        memcpy(&single, &low, sizeof single);
        text[lr_float_write(text, value)] = '\0';
        if (text[0] != 'n') {
            assert_int_equal(read_number(text, &decimal, &back), REC_OK);
            assert_true(decimal.real);
            assert_true(bits_of(back) == bits);
            if (i % 8 == 0) {
                check_shortest(text, value, false);
            }
        }
        text[lr_float32_write(text, single)] = '\0';
        if (text[0] != 'n') {
            assert_true(strtof(text, NULL) == single);
            if (i % 8 == 0) {
                check_shortest(text, single, true);
            }
        }
    }
}

static void integers_are_written_in_full(void **state)
{
    static const uint64_t values[] = {0, 9, 10, 99, 100, 12345, UINT32_MAX, (uint64_t)INT64_MAX, UINT64_MAX};
    char text[LR_NUMBER_ROOM + 1], expected[32];
    (void)state;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        int64_t negative = (int64_t)(0 - values[i]);
        text[lr_uint_write(text, values[i])] = '\0';
        (void)snprintf(expected, sizeof expected, "%llu", (unsigned long long)values[i]);
        assert_string_equal(text, expected);
        text[lr_int_write(text, negative)] = '\0';
        (void)snprintf(expected, sizeof expected, "%lld", (long long)negative);
        assert_string_equal(text, expected);
    }
    text[lr_int_write(text, INT64_MIN)] = '\0';
    assert_string_equal(text, "-9223372036854775808");
}

/* ----------------------------------------------------------------------------------------------- bytes in bulk -- */

/* What a scan must give at most: elements up to the first that is no byte and comma. @return how many; `at[i]` is
 * behind the comma of element i. */
static size_t expected_bytes(const char *text, size_t size, uint8_t *values, size_t *at)
{
    size_t count = 0;
    for (size_t p = 0; p < size;) {
        unsigned value = 0, digits = 0;
        size_t first;
        while (p < size && strchr(" \n\r\t", text[p]) && text[p]) {
            p++;
        }
        first = p;
        for (; p < size && text[p] >= '0' && text[p] <= '9' && digits < 4; p++, digits++) {
            value = value * 10 + (unsigned)(text[p] - '0');
        }
        if (p >= size || text[p] != ',' || digits == 0 || value > 255 || (digits > 1 && text[first] == '0')) {
            break;
        }
        values[count] = (uint8_t)value;
        at[count++] = ++p;
    }
    return count;
}

static void check_scans(const char *text, size_t size)
{
    enum { MOST = 4096 };
    static uint8_t values[MOST], out[MOST];
    static size_t at[MOST];
    assert_true(size <= MOST);
    uint8_t *copy = malloc(size ? size : 1); /* exact: a sanitizer sees what is read beyond it */
    size_t expected = expected_bytes(text, size, values, at);
    lr_bytes_scan *scan;
    assert_non_null(copy);
    memcpy(copy, text, size);
    for (unsigned i = 0; (scan = lr_bytes_scan_choice(i)) != NULL; i++) {
        for (size_t room = MOST; room > 60; room = room > 300 ? room / 2 : room - 60) {
            const uint8_t *p = copy;
            uint64_t count = scan(&p, copy + size, out, room);
            if (count > expected || count > room || memcmp(out, values, (size_t)count) != 0) {
                fail_msg("version %u gives other numbers for %.*s", i, (int)size, text);
            }
            while ((size_t)(p - copy) > (count ? at[count - 1] : 0)) { /* white space may be taken or left */
                assert_non_null(strchr(" \n\r\t", *--p));
            }
            assert_true((size_t)(p - copy) == (count ? at[count - 1] : 0));
            /* All that is not near an end. */
            if (room == MOST && expected && at[expected - 1] + 192 < size && count != expected) {
                fail_msg("version %u stops after %d of %d numbers in %.*s", i, (int)count, (int)expected, (int)size,
                         text);
            }
        }
    }
    free(copy);
}

static void every_version_reads_the_same_bytes(void **state)
{
    char long_gap[100];
    const char *const gaps[] = {"", " ", "\n            ", "\n", "\r\n\t", long_gap};
    static const char *const odd[] = {"256", "300", "999", "1000", "00", "01",    "012",  "-1",
                                      "1.5", "1e2", "",    "null", "1 ", "\"1\"", "[1]",  "1]",
                                      "0x1", "1\n", "\v1", "1;",   "/",  ":",     "25 5", "99999"};
    uint64_t random = 1;
    char text[4096];
    (void)state;
    memset(long_gap, ' ', sizeof long_gap); /* longer than a block */
    long_gap[0] = '\n';
    long_gap[sizeof long_gap - 1] = '\0';
    for (int round = 0; round < 4000; round++) {
        const char *gap = gaps[round % 6];
        size_t used = 0, most = (size_t)(200 + next_random(&random) % 3000);
        int strange = round % 3 ? (int)(next_random(&random) % 300) : -1;
        for (int i = 0; used + 200 < most; i++) {
            uint64_t value = next_random(&random) % (round % 2 ? 256 : 12);
            if (i == strange) {
                used += (size_t)snprintf(text + used, sizeof text - used, "%s%s,", gap,
                                         odd[next_random(&random) % (sizeof odd / sizeof *odd)]);
            } else {
                used += (size_t)snprintf(text + used, sizeof text - used, "%s%d,", gap, (int)value);
            }
        }
        check_scans(text, used);
        /* and with one byte changed */
        if (used > 0) {
            text[next_random(&random) % used] = (char)next_random(&random);
            check_scans(text, used);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_grammar_of_numbers_is_kept),
        cmocka_unit_test(integers_are_exact_up_to_64_bits_and_floats_beyond),
        cmocka_unit_test(powers_of_ten_are_exact_or_rounded_up),
        cmocka_unit_test(floats_of_the_test_tables_are_read_to_the_nearest),
        cmocka_unit_test(numbers_with_a_long_tail_are_read_to_the_nearest),
        cmocka_unit_test(floats_are_written_in_the_form_of_serde_json),
        cmocka_unit_test(floats_that_are_written_read_back),
        cmocka_unit_test(integers_are_written_in_full),
        cmocka_unit_test(every_version_reads_the_same_bytes),
    };
    return cmocka_run_group_tests_name("JSON's numbers", tests, NULL, NULL);
}
