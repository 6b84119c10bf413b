/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Transposes in portable C, which define the result, and the choice of a faster version for the processor that runs. */
#include <string.h>

#include "remap/ops/ops_private.h"

/* Elements on a side of a block: its lines of input and of output stay in the nearest cache. */
enum { SIDE = 16 };

#define PLAIN(N)                                                                                                     \
    static void plain_##N(const uint8_t *from, uint64_t from_stride, uint8_t *to, uint64_t to_stride, uint64_t rows, \
                          uint64_t columns)                                                                          \
    {                                                                                                                \
        for (uint64_t i = 0; i < rows; i++) {                                                                        \
            for (uint64_t j = 0; j < columns; j++) {                                                                 \
                uint##N##_t x;                                                                                       \
                memcpy(&x, from + i * from_stride + j * sizeof x, sizeof x);                                         \
                memcpy(to + j * to_stride + i * sizeof x, &x, sizeof x);                                             \
            }                                                                                                        \
        }                                                                                                            \
    }
PLAIN(8)
PLAIN(16)
PLAIN(32)
PLAIN(64)

void lr_transpose_plain(const void *from, uint64_t from_stride, void *to, uint64_t to_stride, uint64_t rows,
                        uint64_t columns, uint32_t width)
{
    void (*turn)(const uint8_t *, uint64_t, uint8_t *, uint64_t, uint64_t, uint64_t) = width == 1   ? plain_8
                                                                                       : width == 2 ? plain_16
                                                                                       : width == 4 ? plain_32
                                                                                                    : plain_64;
    for (uint64_t i = 0; i < rows; i += SIDE) {
        uint64_t n = rows - i < SIDE ? rows - i : SIDE;
        for (uint64_t j = 0; j < columns; j += SIDE) {
            uint64_t m = columns - j < SIDE ? columns - j : SIDE;
            const uint8_t *block = (const uint8_t *)from + i * from_stride + j * width;
            uint8_t *turned = (uint8_t *)to + j * to_stride + i * width;
            turn(block, from_stride, turned, to_stride, n, m);
        }
    }
}

/* Smaller outputs stay in the caches, where they are probably read soon. */
#define STREAM_FROM (UINT64_C(1) << 20)
/* Fewer bytes of each input row: the memory is not read in order enough for whole lines of output to pay. */
enum { STREAM_COLUMN_BYTES = 1024 };
/* A tile has as many columns as a line of input has elements. Its rows are no power of two apart, or their lines would
 * push each other out of the cache. */
enum { TILE_ROW = 2048 - LR_TRANSPOSE_LINE, TILE_BYTES = TILE_ROW * LR_TRANSPOSE_LINE };

/* Output that is large and whose rows begin anywhere in a line: each line would be read before it is written, and many
 * output rows are written at once. So a piece of a few of them is made in the cache and copied from there. */
static void by_tiles(const lr_transpose_kernel *kernel, const uint8_t *from, uint64_t from_stride, uint8_t *to,
                     uint64_t to_stride, uint64_t rows, uint64_t columns, uint32_t width)
{
    _Alignas(LR_TRANSPOSE_LINE) uint8_t tile[TILE_BYTES];
    uint64_t breadth = LR_TRANSPOSE_LINE / width;
    uint64_t height = TILE_BYTES / LR_TRANSPOSE_LINE / width / kernel->rows * kernel->rows;
    for (uint64_t j = 0; j < columns; j += breadth) {
        uint64_t m = columns - j < breadth ? columns - j : breadth;
        for (uint64_t i = 0; i < rows; i += height) {
            uint64_t n = rows - i < height ? rows - i : height;
            kernel->run(from + i * from_stride + j * width, from_stride, tile, TILE_ROW, n, m, false);
            for (uint64_t k = 0; k < m; k++) {
                kernel->copy(to + (j + k) * to_stride + i * width, tile + k * TILE_ROW, n * width);
            }
        }
    }
    kernel->fence();
}

/* Past the caches goes what is large and lies on whole lines: a line of output is one store then, and nothing is read
 * before it is written. Unlike a conversion's, this output is scattered, so it pays on fresh pages too. */
static void by_kernel(const lr_transpose_kernel *kernel, const uint8_t *from, uint64_t from_stride, uint8_t *to,
                      uint64_t to_stride, uint64_t rows, uint64_t columns, uint32_t width)
{
    bool large = rows * width >= STREAM_FROM / columns;
    bool lines = (uintptr_t)to % LR_TRANSPOSE_LINE == 0 && to_stride % LR_TRANSPOSE_LINE == 0;
    if (large && lines && columns * width >= STREAM_COLUMN_BYTES) {
        kernel->run(from, from_stride, to, to_stride, rows, columns, true);
    } else if (large) {
        by_tiles(kernel, from, from_stride, to, to_stride, rows, columns, width);
    } else {
        kernel->run(from, from_stride, to, to_stride, rows, columns, false);
    }
}

#ifndef LR_TRANSPOSE_HAS_VECTORS

const lr_transpose_kernel *lr_transpose_fast(uint32_t width)
{
    (void)width;
    return NULL;
}

#endif

void lr_transpose(const void *from, uint64_t from_stride, void *to, uint64_t to_stride, uint64_t rows, uint64_t columns,
                  uint32_t width)
{
    const lr_transpose_kernel *kernel = lr_transpose_fast(width);
    uint64_t n = 0, m = 0;
    if (kernel && rows >= kernel->rows && columns >= kernel->columns) {
        n = rows - rows % kernel->rows;
        m = columns - columns % kernel->columns;
        by_kernel(kernel, from, from_stride, to, to_stride, n, m, width);
    }
    /* The remainder: below the blocks, and to their right. */
    if (n < rows) {
        lr_transpose_plain((const uint8_t *)from + n * from_stride, from_stride, (uint8_t *)to + n * width, to_stride,
                           rows - n, columns, width);
    }
    if (n && m < columns) {
        lr_transpose_plain((const uint8_t *)from + m * width, from_stride, (uint8_t *)to + m * to_stride, to_stride, n,
                           columns - m, width);
    }
}
