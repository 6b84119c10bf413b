/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Arrays that grow, by an allocator and in an arena: what they hold stays, and a refusal changes nothing. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"

/* Counts, and gives nothing once `left` is 0. */
typedef struct counted {
    uint64_t calls, left, live;
} counted;

static void *counted_alloc(void *user, size_t size)
{
    counted *c = user;
    void *memory;
    c->calls++;
    memory = c->left && c->left-- ? malloc(size) : NULL;
    c->live += memory != NULL;
    return memory;
}

static void *counted_resize(void *user, void *old, size_t size)
{
    counted *c = user;
    c->calls++;
    return c->left && c->left-- ? realloc(old, size) : NULL;
}

static void counted_release(void *user, void *memory)
{
    counted *c = user;
    c->live--;
    free(memory);
}

static lr_allocator counting(counted *c)
{
    return (lr_allocator){.alloc = counted_alloc, .resize = counted_resize, .release = counted_release, .user = c};
}

static void an_array_grows_and_keeps(void **state)
{
    counted c = {.left = UINT64_MAX};
    lr_allocator allocator = counting(&c);
    uint64_t *numbers = NULL, room = 0, before = 0;
    (void)state;
    for (uint64_t i = 0; i < 10000; i++) {
        assert_true(lr_grow(&allocator, &numbers, i + 1, &room, sizeof *numbers));
        assert_true(room > i);
        assert_true(room == before || room == (before ? before * 2 : 8));
        before = room;
        numbers[i] = i * i;
    }
    for (uint64_t i = 0; i < 10000; i++) {
        assert_true(numbers[i] == i * i);
    }
    assert_true(c.calls == 12); /* 8 to 16,384 */
    lr_release(&allocator, numbers);
}

static void the_first_room_is_by_the_size(void **state)
{
    static const struct {
        size_t each;
        uint64_t room;
    } first[] = {{1, 64}, {4, 16}, {16, 4}, {24, 4}, {1000, 4}};
    (void)state;
    for (size_t i = 0; i < sizeof first / sizeof first[0]; i++) {
        void *array = NULL;
        uint64_t room = 0;
        assert_true(lr_grow(&lr_standard_allocator, &array, 1, &room, first[i].each));
        assert_true(room == first[i].room);
        memset(array, 7, (size_t)room * first[i].each);
        lr_release(&lr_standard_allocator, array);
    }
}

static void as_many_as_are_needed(void **state)
{
    counted c = {.left = UINT64_MAX};
    lr_allocator allocator = counting(&c);
    char *text = NULL;
    uint64_t room = 0;
    (void)state;
    assert_true(lr_grow(&allocator, &text, 0, &room, 1));
    assert_null(text);
    assert_true(lr_grow(&allocator, &text, 1000, &room, 1));
    assert_true(room == 1000);
    memset(text, 'x', 1000);
    assert_true(lr_grow(&allocator, &text, 1000, &room, 1));
    assert_true(c.calls == 1);
    assert_true(lr_grow(&allocator, &text, 1001, &room, 1));
    assert_true(room == 2000);
    assert_true(text[0] == 'x' && text[999] == 'x');
    lr_release(&allocator, text);
}

static void what_no_memory_holds_is_refused(void **state)
{
    counted c = {.left = UINT64_MAX};
    lr_allocator allocator = counting(&c);
    char here, *array = &here;
    uint64_t room;
    (void)state;
    room = 10; /* more elements than there are bytes */
    assert_false(lr_grow(&allocator, &array, UINT64_MAX / 8 + 1, &room, 8));
    assert_true(room == 10);
    assert_false(lr_grow(&allocator, &array, UINT64_MAX, &room, 1));
    assert_true(room == 10);
    room = (UINT64_MAX >> 1) + 1; /* twice as many cannot be counted */
    assert_false(lr_grow(&allocator, &array, room + 1, &room, 1));
    assert_true(room == (UINT64_MAX >> 1) + 1);
    room = UINT64_MAX / 2; /* and here they can, but not held */
    assert_false(lr_grow(&allocator, &array, room + 1, &room, 1));
    assert_true(room == UINT64_MAX / 2);
    assert_ptr_equal(array, &here);
    assert_true(c.calls == 0);
}

static void a_refusal_leaves_the_array(void **state)
{
    counted c = {.left = 1};
    lr_allocator allocator = counting(&c);
    uint32_t *numbers = NULL, *held;
    uint64_t room = 0;
    (void)state;
    assert_true(lr_grow(&allocator, &numbers, 1, &room, sizeof *numbers));
    held = numbers;
    for (uint32_t i = 0; i < room; i++) {
        numbers[i] = i;
    }
    assert_false(lr_grow(&allocator, &numbers, room + 1, &room, sizeof *numbers));
    assert_ptr_equal(numbers, held);
    assert_true(room == 16);
    for (uint32_t i = 0; i < room; i++) {
        assert_true(numbers[i] == i);
    }
    lr_release(&allocator, numbers);
    numbers = NULL;
    room = 0;
    assert_false(lr_grow(&allocator, &numbers, 1, &room, sizeof *numbers));
    assert_null(numbers);
    assert_true(room == 0);
}

static void arenas_do_the_same(void **state)
{
    counted c = {.left = UINT64_MAX};
    lr_allocator allocator = counting(&c);
    lr_arena arena;
    uint64_t *numbers = NULL, *held, room = 0, had;
    (void)state;
    lr_arena_init(&arena, &allocator);
    for (uint64_t i = 0; i < 10000; i++) {
        assert_true(lr_arena_grow(&arena, &numbers, i + 1, &room, sizeof *numbers));
        assert_true((uintptr_t)numbers % 8 == 0);
        assert_true(i || lr_arena_text(&arena, "between", 7));
        numbers[i] = ~i;
    }
    for (uint64_t i = 0; i < 10000; i++) {
        assert_true(numbers[i] == ~i);
    }
    c.left = 0;
    held = numbers;
    had = room;
    assert_false(lr_arena_grow(&arena, &numbers, room + 1, &room, sizeof *numbers));
    assert_false(lr_arena_grow(&arena, &numbers, UINT64_MAX / 4, &room, sizeof *numbers));
    assert_true(numbers == held && room == had && numbers[9999] == ~UINT64_C(9999));
    lr_arena_free(&arena);
}

/* Through all kinds of chunks: small ones, pages, pieces of their own on both sides of where pages begin. */
static void a_large_arena_keeps_all_pieces(void **state)
{
    enum { COUNT = 60000 };
    static unsigned char *pieces[COUNT];
    static size_t sizes[COUNT];
    lr_arena arena;
    uint64_t random = 1, all = 0;
    (void)state;
    lr_arena_init(&arena, &lr_standard_allocator);
    for (size_t i = 0; i < COUNT; i++) {
        random = random * UINT64_C(6364136223846793005) + 1442695040888963407U;
        sizes[i] = 1 + (size_t)(random >> 40) % 1000;
        if (i % 4000 == 3999) {
            sizes[i] = (size_t)(1 << 20) - 64 + i / 4000 * 8;
        }
        pieces[i] = lr_arena_alloc(&arena, sizes[i], 16);
        assert_non_null(pieces[i]);
        assert_int_equal((uintptr_t)pieces[i] % 16, 0);
        if (i % 3 == 0) { /* taken back, and given again */
            lr_arena_rewind(&arena, pieces[i], pieces[i] + sizes[i]);
            pieces[i] = lr_arena_alloc(&arena, sizes[i], 1);
        }
        memset(pieces[i], (int)(i % 251), sizes[i]);
        all += sizes[i];
    }
    assert_true(arena.taken >= all);
    assert_true(arena.taken < all + all / 4);
    lr_arena_trim(&arena);
    lr_arena_trim(&arena);
    for (size_t i = 0; i < 1000; i++) { /* and it goes on */
        unsigned char *more = lr_arena_alloc(&arena, 900, 8);
        assert_non_null(more);
        memset(more, 255, 900);
    }
    for (size_t i = 0; i < COUNT; i++) {
        assert_int_equal(pieces[i][0], i % 251);
        assert_int_equal(pieces[i][sizes[i] / 2], i % 251);
        assert_int_equal(pieces[i][sizes[i] - 1], i % 251);
    }
    lr_arena_free(&arena);
    assert_int_equal(arena.taken, 0);
}

static void an_arena_keeps_its_budget(void **state)
{
    lr_budget budget = {.limit = 4096};
    lr_arena arena;
    uint64_t *numbers = NULL, room = 0;
    (void)state;
    lr_arena_init(&arena, &lr_standard_allocator);
    arena.budget = &budget;
    assert_true(lr_arena_grow(&arena, &numbers, 100, &room, sizeof *numbers));
    assert_false(lr_arena_grow(&arena, &numbers, 1000, &room, sizeof *numbers));
    assert_true(room == 100 && budget.used <= 4096);
    lr_arena_free(&arena);
}

static void a_job_tells_what_was_needed(void **state)
{
    counted c = {.left = 1};
    rec_context context = {.allocator = counting(&c)};
    lr_arena arena;
    uint64_t *numbers = NULL, *others = NULL, room = 0, other_room = 0;
    rec_job job;
    (void)state;
    lr_job_begin(&job, &context, "test", NULL);
    lr_arena_init(&arena, job.allocator);
    assert_true(lr_job_grow(&job, &numbers, 1, &room, sizeof *numbers));
    assert_true(lr_job_grow(&job, &numbers, room, &room, sizeof *numbers));
    assert_false(lr_job_failed(&job));
    assert_false(lr_job_grow(&job, &numbers, 1000, &room, sizeof *numbers));
    assert_true(job.error.status == REC_E_MEMORY);
    assert_non_null(strstr(job.error.what, "8,000 bytes"));
    lr_job_again(&job);
    assert_false(lr_job_arena_grow(&job, &arena, &others, 2000, &other_room, sizeof *others));
    assert_true(job.error.status == REC_E_MEMORY);
    assert_non_null(strstr(job.error.what, "16,000 bytes"));
    assert_null(others);
    lr_release(job.allocator, numbers);
    lr_arena_free(&arena);
    lr_job_drop(&job);
}

static void what_counts_is_held_to_the_budget(void **state)
{
    counted c = {.left = UINT64_MAX};
    rec_context context = {.allocator = counting(&c), .limits = {.memory_factor = 1, .memory_slack = 4096}};
    uint64_t *numbers = NULL, room = 0;
    rec_job job;
    (void)state;
    lr_job_begin(&job, &context, "test", NULL);
    assert_true(lr_job_grow_counted(&job, &numbers, 1, &room, sizeof *numbers));
    assert_true(room == 8);
    numbers[7] = 7;
    assert_true(lr_job_grow_counted(&job, &numbers, 100, &room, sizeof *numbers));
    assert_true(room == 100 && numbers[7] == 7);
    assert_false(lr_job_grow_counted(&job, &numbers, 1000, &room, sizeof *numbers));
    assert_true(job.error.status == REC_E_LIMIT && room == 100 && numbers[7] == 7);
    lr_job_forgive(&job);
    assert_false(lr_job_grow_counted(&job, &numbers, UINT64_MAX / 8 + 1, &room, sizeof *numbers));
    assert_true(job.error.status == REC_E_MEMORY && room == 100 && numbers[7] == 7);
    rec_job_free(&job, numbers);
    assert_true(job.budget.used == 0);
    lr_job_drop(&job);
}

/* As plugins allocate: many pieces, freed in any order, some of them never. */
static void a_job_knows_its_memory(void **state)
{
    enum { PIECES = 1000 };
    counted c = {.left = UINT64_MAX};
    rec_context context = {.allocator = counting(&c), .limits = {.memory_factor = 1, .memory_slack = 1 << 20}};
    uint8_t *pieces[PIECES], foreign[64];
    rec_job job;
    (void)state;
    lr_job_begin(&job, &context, "test", NULL);
    for (int i = 0; i < PIECES; i++) {
        pieces[i] = rec_job_alloc(&job, (uint64_t)(i % 50));
        assert_non_null(pieces[i]);
        memset(pieces[i], i, (size_t)(i % 50));
    }
    for (int i = 0; i < PIECES; i++) {
        int j = i * 7 % PIECES; /* all of them, in another order */
        if (j % 3 == 0) {
            rec_job_free(&job, pieces[j]);
        } else if (j % 3 == 1) {
            pieces[j] = rec_job_resize(&job, pieces[j], 100);
            assert_non_null(pieces[j]);
            assert_true(j % 50 == 0 || pieces[j][j % 50 - 1] == (uint8_t)j);
        }
    }
    assert_false(lr_job_failed(&job));
    for (int i = 0; i < 3; i++) {
        void *wrong = i == 0 ? (void *)pieces[0] : i == 1 ? (void *)(pieces[1] + 1) : foreign;
        rec_job_free(&job, wrong);
        assert_true(job.error.status == REC_E_PLUGIN && strstr(job.error.what, "freed memory"));
        lr_job_forgive(&job);
        assert_null(rec_job_resize(&job, wrong, 10));
        assert_true(job.error.status == REC_E_PLUGIN && strstr(job.error.what, "resized memory"));
        lr_job_forgive(&job);
    }
    lr_job_drop(&job);
    assert_true(c.live == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_array_grows_and_keeps),       cmocka_unit_test(the_first_room_is_by_the_size),
        cmocka_unit_test(as_many_as_are_needed),          cmocka_unit_test(what_no_memory_holds_is_refused),
        cmocka_unit_test(a_refusal_leaves_the_array),     cmocka_unit_test(arenas_do_the_same),
        cmocka_unit_test(a_large_arena_keeps_all_pieces), cmocka_unit_test(an_arena_keeps_its_budget),
        cmocka_unit_test(a_job_tells_what_was_needed),    cmocka_unit_test(what_counts_is_held_to_the_budget),
        cmocka_unit_test(a_job_knows_its_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
