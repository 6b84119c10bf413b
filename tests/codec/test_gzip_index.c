/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The index in a gzip file's header: what is put is read, what cannot be is none, and there is always room. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "plugins/codec/gzip/index.h"

enum { PIECE = 512 << 10, TRAILER = 8 };

/* Of `pieces` pieces, the last one with `last` bytes; piece n takes 1000 + n % 7 bytes. */
static void fill(lr_gzip_index *index, uint64_t pieces, uint64_t last)
{
    lr_gzip_index_begin(index, PIECE);
    for (uint64_t i = 0; i < pieces; i++) {
        assert_true(lr_gzip_index_add(index, i + 1 < pieces ? PIECE : last, 1000 + i % 7));
    }
}

static uint64_t total_of(const lr_gzip_index *index)
{
    return LR_GZIP_HEADER + index->stored + TRAILER;
}

static void what_is_put_is_read(void **state)
{
    static const uint64_t counts[] = {1, 2, 7, 499, 500, 501, 502, 1000, 1001, 100000};
    static const uint64_t lasts[] = {1, PIECE - 1, PIECE};
    lr_gzip_index made, read;
    uint8_t header[LR_GZIP_HEADER];
    (void)state;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        for (size_t j = 0; j < sizeof lasts / sizeof *lasts; j++) {
            uint64_t pieces = counts[i], each, stored = 0;
            fill(&made, pieces, lasts[j]);
            lr_gzip_index_put(&made, header);
            assert_true(lr_gzip_index_read(header, sizeof header, total_of(&made), &read));
            assert_int_equal(read.begin, LR_GZIP_HEADER);
            assert_int_equal(read.inflated, (pieces - 1) * PIECE + lasts[j]);
            assert_true(read.count > 0 && read.count <= LR_GZIP_STRETCHES);
            assert_true(pieces <= LR_GZIP_STRETCHES ? read.count == pieces : read.count > LR_GZIP_STRETCHES / 2);
            each = read.span / PIECE;
            assert_int_equal(read.span % PIECE, 0);
            /* each stretch has the sizes of its pieces */
            for (uint64_t s = 0; s < read.count; s++) {
                uint64_t sum = 0;
                for (uint64_t n = s * each; n < (s + 1) * each && n < pieces; n++) {
                    sum += 1000 + n % 7;
                }
                assert_int_equal(read.sizes[s], sum);
                stored += sum;
            }
            assert_int_equal(read.stored, stored);
        }
    }
}

static void the_header_is_gzip(void **state)
{
    static const uint8_t begin[] = {0x1f, 0x8b, 8,   4,   0,    0,    0, 0, 0, 0xff,
                                    0xf4, 0x07, 'L', 'R', 0xf0, 0x07, 1, 0, 0, 0};
    uint8_t header[LR_GZIP_HEADER];
    lr_gzip_index index;
    (void)state;
    lr_gzip_index_put(NULL, header);
    assert_memory_equal(header, begin, sizeof begin);
    for (size_t i = sizeof begin; i < sizeof header; i++) {
        assert_int_equal(header[i], 0);
    }
    assert_false(lr_gzip_index_read(header, sizeof header, 1 << 20, &index)); /* not filled in */
    fill(&index, 3, 5);
    lr_gzip_index_put(&index, header);
    assert_memory_equal(header, begin, sizeof begin);
}

static void numbers_that_do_not_agree_are_no_index(void **state)
{
    /* Where, and what is written there. */
    static const struct {
        size_t at;
        uint8_t byte;
    } lies[] = {
        {0, 0},  {3, 0},     {3, 12},    {10, 0xf3}, {12, 'X'},  {14, 0},    {16, 2}, {20, 0},   {20, 6},
        {20, 8}, {21, 0x10}, {23, 0xff}, {26, 0},    {26, 1},    {31, 0xff}, {34, 0}, {35, 1},   {39, 0xff},
        {40, 0}, {41, 0},    {47, 0xff}, {48, 0},    {49, 0xff}, {51, 0xff}, {72, 0}, {72, 255},
    };
    lr_gzip_index made, read;
    uint8_t good[LR_GZIP_HEADER], bad[LR_GZIP_HEADER];
    (void)state;
    fill(&made, 7, PIECE);
    lr_gzip_index_put(&made, good);
    assert_true(lr_gzip_index_read(good, sizeof good, total_of(&made), &read));
    assert_false(lr_gzip_index_read(good, sizeof good - 1, total_of(&made), &read));
    assert_false(lr_gzip_index_read(good, 0, total_of(&made), &read));
    assert_false(lr_gzip_index_read(good, sizeof good, total_of(&made) + 1, &read));
    assert_false(lr_gzip_index_read(good, sizeof good, total_of(&made) - 1, &read));
    assert_false(lr_gzip_index_read(good, sizeof good, 0, &read));
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        memcpy(bad, good, sizeof bad);
        bad[lies[i].at] = lies[i].byte;
        if (lr_gzip_index_read(bad, sizeof bad, total_of(&made), &read)) {
            fail_msg("byte %zu as 0x%02x was believed", lies[i].at, lies[i].byte);
        }
    }
    /* A stretch that would be too small for what it is said to hold. */
    lr_gzip_index_begin(&made, PIECE);
    assert_true(lr_gzip_index_add(&made, PIECE, PIECE / 1032 - 1));
    lr_gzip_index_put(&made, bad);
    assert_false(lr_gzip_index_read(bad, sizeof bad, total_of(&made), &read));
}

static void a_stretch_beyond_32_bits_gives_it_up(void **state)
{
    lr_gzip_index index;
    (void)state;
    lr_gzip_index_begin(&index, PIECE);
    assert_false(lr_gzip_index_add(&index, PIECE, UINT64_C(1) << 32));
    lr_gzip_index_begin(&index, PIECE);
    for (int i = 0; i < LR_GZIP_STRETCHES; i++) {
        assert_true(lr_gzip_index_add(&index, PIECE, UINT32_MAX / 2 + 1));
    }
    assert_false(lr_gzip_index_add(&index, PIECE, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_put_is_read),
        cmocka_unit_test(the_header_is_gzip),
        cmocka_unit_test(numbers_that_do_not_agree_are_no_index),
        cmocka_unit_test(a_stretch_beyond_32_bits_gives_it_up),
    };
    return cmocka_run_group_tests_name("gzip's index", tests, NULL, NULL);
}
