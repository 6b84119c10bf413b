/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Pages of payloads: growth, trimming and alignment. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "core/base/base.h"

#define MIB (UINT64_C(1) << 20)

static lr_pages filled(uint64_t size, int byte)
{
    lr_pages pages = {.allocator = &lr_standard_allocator};
    assert_true(lr_pages_grow(&pages, size));
    assert_true(pages.size >= size);
    memset(pages.data, byte, (size_t)size);
    return pages;
}

static void pages_grow_and_are_cut(void **state)
{
    lr_pages pages = filled(100, 1);
    (void)state;
    assert_true(lr_pages_grow(&pages, 3 * MIB + 1));
    assert_true(pages.mapped && pages.data[0] == 1 && pages.data[99] == 1);
    memset(pages.data, 2, 3 * MIB + 1);
    assert_true(lr_pages_grow(&pages, 40 * MIB));
    assert_true(pages.data[3 * MIB] == 2);
    pages.data[40 * MIB - 1] = 3;
    lr_pages_trim(&pages, 5 * MIB + 1);
    assert_true(pages.size > 5 * MIB && pages.size < 6 * MIB && pages.data[3 * MIB] == 2);
    assert_false(lr_pages_grow(&pages, UINT64_MAX));
    assert_false(lr_pages_grow(&pages, (uint64_t)PTRDIFF_MAX + 1));
    assert_true(pages.data[3 * MIB] == 2);
    lr_pages_free(&pages);
    assert_null(pages.data);
}

/* What is a little larger than some huge pages does not take another one. */
static void little_is_wasted(void **state)
{
    static const uint64_t sizes[] = {MIB,     2 * MIB,     4 * MIB,     4 * MIB + 64,
                                     5 * MIB, 5 * MIB + 1, 6 * MIB - 1, 256 * MIB + 4097};
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        lr_pages pages = {.allocator = &lr_standard_allocator};
        assert_true(lr_pages_grow(&pages, sizes[i]));
        assert_true(lr_pages_begin_page(&lr_standard_allocator, sizes[i]) && (uintptr_t)pages.data % 4096 == 0);
        assert_true(pages.size >= sizes[i] && pages.size < sizes[i] + MIB);
        assert_true(sizes[i] < 2 * MIB || (uintptr_t)pages.data % (2 * MIB) == 0);
        lr_pages_free(&pages);
    }
    assert_false(lr_pages_begin_page(&lr_standard_allocator, MIB - 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pages_grow_and_are_cut),
        cmocka_unit_test(little_is_wasted),
    };
    return cmocka_run_group_tests_name("pages", tests, NULL, NULL);
}
