/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Transposes: the plain version against the definition, the faster ones against the plain one, at every size and at odd
 * places. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "remap/ops/ops_private.h"

enum { MOST = 70, PLACE = 8, ROOM = 160 * 160 * 8 + 4096 };

static const uint32_t widths[] = {1, 2, 4, 8};

typedef struct buffers {
    uint8_t *from, *to, *other;
} buffers;

static int set_up(void **state)
{
    buffers *b = calloc(1, sizeof *b);
    b->from = malloc(ROOM);
    b->to = malloc(ROOM);
    b->other = malloc(ROOM);
    assert_true(b->from && b->to && b->other);
    for (size_t i = 0; i < ROOM; i++) {
        b->from[i] = (uint8_t)((i * UINT64_C(0x9E3779B97F4A7C15)) >> 56);
    }
    *state = b;
    return 0;
}

static int tear_down(void **state)
{
    buffers *b = *state;
    free(b->from);
    free(b->to);
    free(b->other);
    free(b);
    return 0;
}

static void by_definition(const uint8_t *from, uint64_t from_stride, uint8_t *to, uint64_t to_stride, uint64_t rows,
                          uint64_t columns, uint32_t width)
{
    for (uint64_t i = 0; i < rows; i++) {
        for (uint64_t j = 0; j < columns; j++) {
            for (uint32_t k = 0; k < width; k++) {
                to[j * to_stride + i * width + k] = from[i * from_stride + j * width + k];
            }
        }
    }
}

/* Both, with what is around the output watched. */
static void check(const buffers *b, uint64_t rows, uint64_t columns, uint32_t width, uint64_t more_from,
                  uint64_t more_to, uint64_t place)
{
    uint64_t from_stride = columns * width + more_from, to_stride = rows * width + more_to;
    uint64_t size = place + columns * to_stride + 64;
    assert_true(size <= ROOM && rows * from_stride + place <= ROOM);
    memset(b->other, 0xA5, (size_t)size);
    by_definition(b->from + place, from_stride, b->other + place, to_stride, rows, columns, width);
    for (int plain = 0; plain < 2; plain++) {
        memset(b->to, 0xA5, (size_t)size);
        (plain ? lr_transpose_plain : lr_transpose)(b->from + place, from_stride, b->to + place, to_stride, rows,
                                                    columns, width);
        if (memcmp(b->to, b->other, (size_t)size) != 0) {
            fail_msg("%s, %u x %u elements of %u bytes, %u and %u more a row, from byte %u on",
                     plain ? "plain" : "chosen", (unsigned)rows, (unsigned)columns, (unsigned)width,
                     (unsigned)more_from, (unsigned)more_to, (unsigned)place);
        }
    }
}

static void every_size_equals_the_definition(void **state)
{
    for (size_t w = 0; w < 4; w++) {
        for (uint64_t rows = 0; rows <= MOST; rows++) {
            for (uint64_t columns = 0; columns <= MOST; columns++) {
                check(*state, rows, columns, widths[w], 0, 0, 0);
            }
        }
    }
}

static void odd_strides_and_places_make_no_difference(void **state)
{
    static const uint64_t sizes[] = {1, 7, 16, 33, 64, 70, 129};
    for (size_t w = 0; w < 4; w++) {
        for (size_t i = 0; i < 7; i++) {
            for (size_t j = 0; j < 7; j++) {
                for (uint64_t odd = 1; odd < PLACE; odd += 2) {
                    check(*state, sizes[i], sizes[j], widths[w], odd, 0, odd);
                    check(*state, sizes[i], sizes[j], widths[w], 0, odd, 0);
                    check(*state, sizes[i], sizes[j], widths[w], 3 * odd, odd, odd);
                }
            }
        }
    }
}

/* The vectors, streaming or not, over whole blocks. */
static void vectors_equal_the_plain_version(void **state)
{
    const buffers *b = *state;
    for (size_t w = 0; w < 4; w++) {
        const lr_transpose_kernel *kernel = lr_transpose_fast(widths[w]);
        uint64_t rows, columns, stride;
        uint8_t *to;
        if (!kernel) {
            print_message("this processor has no vectors of 16 bytes\n");
            skip();
            return;
        }
        for (uint64_t n = 1; n <= 5; n++) {
            for (int stream = 0; stream < 2; stream++) {
                rows = n > 2 ? kernel->rows : n * kernel->rows;
                columns = n * kernel->columns;
                stride = (rows * widths[w] + 63) / 64 * 64;
                if (columns * stride + 64 > ROOM || rows * (columns * widths[w] + 5) > ROOM) {
                    continue;
                }
                to = b->to + (64 - (uintptr_t)b->to % 64) % 64;
                memset(b->other, 0, (size_t)(columns * stride));
                memset(to, 0, (size_t)(columns * stride));
                by_definition(b->from, columns * widths[w] + 5, b->other, stride, rows, columns, widths[w]);
                kernel->run(b->from, columns * widths[w] + 5, to, stride, rows, columns, stream != 0);
                assert_memory_equal(to, b->other, (size_t)(columns * stride));
            }
        }
    }
}

/* Large enough to be streamed, or to be made in tiles where the rows of the output begin anywhere. */
static void large_ones_equal_the_plain_version(void **state)
{
    static const uint64_t shapes[][2] = {{1024, 1024}, {1111, 1024}, {1024, 1111}, {3001, 259}, {40000, 33}};
    (void)state;
    for (size_t w = 0; w < 4; w++) {
        for (size_t s = 0; s < 5; s++) {
            uint64_t rows = shapes[s][0], columns = shapes[s][1], size = rows * columns * widths[w];
            uint8_t *from = malloc((size_t)size), *to, *other = malloc((size_t)size);
            assert_int_equal(posix_memalign((void **)&to, 64, (size_t)size + 64), 0);
            assert_true(from && other);
            for (uint64_t i = 0; i < size; i++) {
                from[i] = (uint8_t)((i * UINT64_C(0x9E3779B97F4A7C15)) >> 56);
            }
            lr_transpose_plain(from, columns * widths[w], other, rows * widths[w], rows, columns, widths[w]);
            for (uint64_t place = 0; place <= widths[w]; place += widths[w]) {
                memset(to, 0, (size_t)(size + 64));
                lr_transpose(from, columns * widths[w], to + place, rows * widths[w], rows, columns, widths[w]);
                assert_memory_equal(to + place, other, (size_t)size);
                assert_int_equal(to[place + size], 0);
            }
            free(from);
            free(to);
            free(other);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_size_equals_the_definition, set_up, tear_down),
        cmocka_unit_test_setup_teardown(odd_strides_and_places_make_no_difference, set_up, tear_down),
        cmocka_unit_test_setup_teardown(vectors_equal_the_plain_version, set_up, tear_down),
        cmocka_unit_test(large_ones_equal_the_plain_version),
    };
    return cmocka_run_group_tests_name("transposes", tests, NULL, NULL);
}
