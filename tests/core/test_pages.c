/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Pages of payloads, and the pool that keeps freed ones warm: what it keeps, shares out, joins and gives back. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"

#define MIB (UINT64_C(1) << 20)

static lr_pool pool;
static lr_allocator allocator;

static int set_up(void **state)
{
    (void)state;
    allocator = lr_standard_allocator;
    allocator.pool = &pool;
    return lr_pool_init(&pool) ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    lr_pool_end(&pool, &allocator);
    return 0;
}

static lr_pages filled(uint64_t size, int byte)
{
    lr_pages pages = {.allocator = &allocator};
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
        lr_pages pages = {.allocator = &allocator};
        assert_true(lr_pages_grow(&pages, sizes[i]));
        assert_true(lr_pages_begin_page(&allocator, sizes[i]) && (uintptr_t)pages.data % 4096 == 0);
        assert_true(pages.size >= sizes[i] && pages.size < sizes[i] + MIB);
        assert_true(sizes[i] < 2 * MIB || (uintptr_t)pages.data % (2 * MIB) == 0);
        lr_pages_free(&pages);
    }
    assert_false(lr_pages_begin_page(&allocator, MIB - 1));
}

static void nothing_is_kept_unasked(void **state)
{
    lr_pages pages = filled(8 * MIB, 1);
    (void)state;
    lr_pages_free(&pages);
    assert_true(pool.held == 0 && !pool.newest);
}

static void what_was_freed_serves_again(void **state)
{
    lr_pages pages, again;
    const uint8_t *data;
    (void)state;
    lr_pool_limit(&pool, &allocator, 64 * MIB);
    pages = filled(8 * MIB, 1);
    lr_pages_trim(&pages, 7 * MIB + 5);
    data = pages.data;
    lr_pages_free(&pages);
    assert_true(pool.held == 7 * MIB + 4096);
    again = filled(7 * MIB + 5, 2);
    assert_ptr_equal(again.data, data);
    assert_true(pool.held == 0);
    lr_pages_free(&again);
    pages = filled(100, 1); /* malloc's, warm already */
    assert_true(pool.held == 7 * MIB + 4096);
    lr_pages_free(&pages);
    assert_true(pool.held == 7 * MIB + 4096);
    lr_pool_limit(&pool, &allocator, 0);
    assert_true(pool.held == 0 && !pool.newest && !pool.oldest);
}

static void the_limit_holds(void **state)
{
    lr_pages many[6];
    (void)state;
    lr_pool_limit(&pool, &allocator, 10 * MIB);
    for (int i = 0; i < 6; i++) {
        many[i] = filled(4 * MIB, i);
    }
    for (int i = 0; i < 6; i += 2) { /* not side by side */
        lr_pages_free(&many[i]);
        assert_true(pool.held <= 10 * MIB);
    }
    for (int i = 1; i < 6; i += 2) {
        lr_pages_free(&many[i]);
        assert_true(pool.held <= 10 * MIB);
    }
    assert_true(pool.held >= 4 * MIB);
    lr_pool_limit(&pool, &allocator, 5 * MIB);
    assert_true(pool.held <= 5 * MIB);
    many[0] = filled(4 * MIB, 7);
    lr_pages_free(&many[0]);
    assert_true(pool.held <= 5 * MIB);
}

/* The beginning of what is larger than the limit is kept, and made larger again. */
static void what_is_too_large_is_cut(void **state)
{
    lr_pages pages = filled(32 * MIB, 9);
    (void)state;
    lr_pool_limit(&pool, &allocator, 6 * MIB + 100);
    lr_pages_free(&pages);
    assert_true(pool.held == 6 * MIB);
    pages = filled(32 * MIB, 8);
    assert_true(pool.held == 0);
    lr_pages_free(&pages);
    assert_true(pool.held == 6 * MIB);
    lr_pool_limit(&pool, &allocator, 1000);
    assert_true(pool.held == 0);
    pages = filled(2 * MIB, 7);
    lr_pages_free(&pages);
    assert_true(pool.held == 0);
}

/* Parts of a whole become a whole again, whatever the order in which they come back. */
static void parts_are_shared_out_and_joined(void **state)
{
    static const int order[] = {3, 0, 7, 1, 2, 6, 4, 5};
    lr_pages whole, parts[8];
    const uint8_t *data;
    (void)state;
    lr_pool_limit(&pool, &allocator, 64 * MIB);
    whole = filled(32 * MIB, 1);
    data = whole.data;
    lr_pages_free(&whole);
    for (int i = 0; i < 8; i++) {
        parts[i] = filled(4 * MIB - 1, 16 + i);
        assert_true(parts[i].size == 4 * MIB);
        assert_true(parts[i].data >= data && parts[i].data < data + 32 * MIB);
    }
    assert_true(pool.held == 0);
    for (int i = 0; i < 8; i++) {
        assert_true(parts[i].data[0] == 16 + i && parts[i].data[4 * MIB - 2] == 16 + i);
    }
    for (int i = 0; i < 8; i++) {
        lr_pages_free(&parts[order[i]]);
    }
    assert_true(pool.held == 32 * MIB && pool.newest == pool.oldest);
    whole = filled(32 * MIB, 2);
    assert_ptr_equal(whole.data, data);
    lr_pages_free(&whole);
}

static void the_smallest_that_serves_is_taken(void **state)
{
    lr_pages large, small, again;
    const uint8_t *data;
    (void)state;
    lr_pool_limit(&pool, &allocator, 64 * MIB);
    large = filled(16 * MIB, 1);
    again = filled(2 * MIB, 1); /* between them */
    small = filled(4 * MIB, 1);
    data = small.data;
    lr_pages_free(&small);
    lr_pages_free(&large);
    if (pool.newest != pool.oldest) { /* unless they lie side by side after all */
        small = filled(3 * MIB + 1, 1);
        assert_ptr_equal(small.data, data);
        lr_pages_free(&small);
    }
    lr_pages_free(&again);
}

/* ---------------------------------------------------------------------------------------- the program's memory -- */

static int64_t live, calls;

static void *own_alloc(void *user, size_t size)
{
    (void)user;
    live++, calls++;
    return malloc(size);
}

static void *own_resize(void *user, void *old, size_t size)
{
    (void)user;
    return realloc(old, size);
}

static void own_release(void *user, void *memory)
{
    (void)user;
    live--;
    free(memory);
}

static void memory_of_the_program_is_kept_and_given_back(void **state)
{
    lr_pages pages;
    (void)state;
    allocator = (lr_allocator){.alloc = own_alloc, .resize = own_resize, .release = own_release, .pool = &pool};
    lr_pool_limit(&pool, &allocator, 64 * MIB);
    live = calls = 0;
    pages = filled(8 * MIB, 1);
    lr_pages_free(&pages);
    assert_true(pool.held == 8 * MIB && live == 1);
    pages = filled(5 * MIB, 2);
    assert_true(calls == 1 && pages.size == 8 * MIB && !pages.mapped);
    lr_pages_free(&pages);
    pages = filled(2 * MIB, 3); /* far too small for it, which cannot be shared out */
    assert_true(calls == 2 && pool.held == 8 * MIB);
    lr_pages_free(&pages);
    pages = filled(9 * MIB, 4);
    assert_true(calls == 3 && pool.held == 10 * MIB);
    lr_pages_free(&pages);
    assert_true(live == 3);
    lr_pool_limit(&pool, &allocator, 9 * MIB);
    assert_true(live == 1 && pool.held == 9 * MIB);
    lr_pool_limit(&pool, &allocator, 0);
    assert_true(live == 0);
}

/* ----------------------------------------------------------------------------------------------------- threads -- */

enum { THREADS = 4, ROUNDS = 200 };

static void *take_and_free(void *user)
{
    uint64_t state = (uintptr_t)user;
    lr_pages held[3] = {{.allocator = &allocator}, {.allocator = &allocator}, {.allocator = &allocator}};
    for (int i = 0; i < ROUNDS; i++) {
        lr_pages *pages = &held[i % 3];
        uint64_t size;
        state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
        size = MIB + (state >> 40) % (3 * MIB);
        lr_pages_free(pages);
        if (!lr_pages_grow(pages, size)) {
            return NULL;
        }
        for (uint64_t at = 0; at < pages->size; at += 4096) {
            memcpy(pages->data + at, &state, sizeof state);
        }
        if (i % 50 == 7) {
            lr_pool_limit(&pool, &allocator, (state >> 33) % (32 * MIB));
        }
        for (uint64_t at = 0; at < pages->size; at += 4096) {
            if (memcmp(pages->data + at, &state, sizeof state) != 0) {
                return NULL;
            }
        }
    }
    for (int i = 0; i < 3; i++) {
        lr_pages_free(&held[i]);
    }
    return user;
}

static void threads_share_it(void **state)
{
    pthread_t threads[THREADS];
    (void)state;
    lr_pool_limit(&pool, &allocator, 32 * MIB);
    for (uintptr_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, take_and_free, (void *)(i + 1)), 0);
    }
    for (uintptr_t i = 0; i < THREADS; i++) {
        void *result = NULL;
        assert_int_equal(pthread_join(threads[i], &result), 0);
        assert_ptr_equal(result, (void *)(i + 1));
    }
}

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>

static void what_is_kept_is_nobodys(void **state)
{
    lr_pages pages;
    const uint8_t *data;
    (void)state;
    lr_pool_limit(&pool, &allocator, 64 * MIB);
    pages = filled(8 * MIB, 1);
    data = pages.data;
    lr_pages_free(&pages);
    assert_true(__asan_address_is_poisoned(data + 4096) && __asan_address_is_poisoned(data + 8 * MIB - 1));
    pages = filled(2 * MIB, 1);
    assert_ptr_equal(pages.data, data);
    assert_null(__asan_region_is_poisoned(pages.data, pages.size));
    assert_true(__asan_address_is_poisoned(data + 4 * MIB));
    lr_pages_free(&pages);
    lr_pool_limit(&pool, &allocator, 0);
    assert_false(__asan_address_is_poisoned(data + 4096));
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(pages_grow_and_are_cut, set_up, tear_down),
        cmocka_unit_test_setup_teardown(little_is_wasted, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nothing_is_kept_unasked, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_was_freed_serves_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_limit_holds, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_too_large_is_cut, set_up, tear_down),
        cmocka_unit_test_setup_teardown(parts_are_shared_out_and_joined, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_smallest_that_serves_is_taken, set_up, tear_down),
        cmocka_unit_test_setup_teardown(memory_of_the_program_is_kept_and_given_back, set_up, tear_down),
        cmocka_unit_test_setup_teardown(threads_share_it, set_up, tear_down),
#if defined(__SANITIZE_ADDRESS__)
        cmocka_unit_test_setup_teardown(what_is_kept_is_nobodys, set_up, tear_down),
#endif
    };
    return cmocka_run_group_tests_name("pages", tests, NULL, NULL);
}
