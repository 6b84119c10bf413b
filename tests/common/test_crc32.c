/* SPDX-License-Identifier: MIT OR Apache-2.0
 * CRC-32 against zlib's, for every length and place where anything could differ. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <zlib.h>

#include "common/crc32.h"

static void it_is_zlibs(void **state)
{
    enum { MOST = 700, LARGE = 1000003 };
    uint8_t *data = malloc(LARGE);
    uint64_t random = 1;
    uint32_t crc = 0, whole = 0;
    (void)state;
    assert_non_null(data);
    for (size_t i = 0; i < LARGE; i++) {
        random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
        data[i] = (uint8_t)(random >> 56);
    }
    for (size_t size = 0; size <= MOST; size++) {
        for (size_t place = 0; place < 17; place++) {
            uint32_t before = (uint32_t)crc32_z(0, data + 5, size % 7);
            /* of its own size, so that a sanitizer sees what is read beyond it */
            uint8_t *copy = malloc(size + place + 1);
            assert_non_null(copy);
            for (size_t i = 0; i < size; i++) {
                copy[place + i] = data[size + i];
            }
            assert_int_equal(lr_crc32(before, copy + place, size), (uint32_t)crc32_z(before, copy + place, size));
            free(copy);
        }
    }
    assert_int_equal(lr_crc32(0, data, LARGE), (uint32_t)crc32_z(0, data, LARGE));
    for (size_t at = 0, n = 1; at < LARGE; at += n, n = n * 3 % 4099 + 1) { /* in pieces */
        n = n < LARGE - at ? n : LARGE - at;
        crc = lr_crc32(crc, data + at, n);
    }
    whole = lr_crc32(0, data, LARGE);
    assert_int_equal(crc, whole);
    free(data);
}

static void known_sums_are_right(void **state)
{
    uint8_t zeros[256] = {0};
    (void)state;
    assert_int_equal(lr_crc32(0, "123456789", 9), 0xCBF43926);
    assert_int_equal(lr_crc32(0, zeros, 0), 0);
    assert_int_equal(lr_crc32(0, zeros, 256), 0x0D968558);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(it_is_zlibs), cmocka_unit_test(known_sums_are_right)};
    return cmocka_run_group_tests_name("crc32", tests, NULL, NULL);
}
