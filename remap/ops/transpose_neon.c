/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Transposes with the vector instructions that every aarch64 has.
 *
 * A square as wide as a vector, 16 bytes, is turned in registers: rows are woven with each other again and again, pairs
 * of elements that belong together becoming elements of twice the width. A block is as many squares one below the other
 * as a line of output has room for. */
#include "remap/ops/ops_private.h"

#ifdef LR_TRANSPOSE_HAS_NEON

#include <arm_neon.h>
#include <string.h>

enum { LINE = LR_TRANSPOSE_LINE, VECTOR = 16 };

/* Rows that are fetched ahead: the input is in many pages. */
enum { AHEAD = 64 };

#define INLINE static inline __attribute__((always_inline))

/* Weaves rows `i` and `i + distance` of `count`, elements of N bits: the even ones of both, the odd ones of both. */
#define WEAVE(N, type)                                                      \
    INLINE void weave_##N(uint8x16_t *a, unsigned count, unsigned distance) \
    {                                                                       \
        for (unsigned i = 0; i < count; i++) {                              \
            if ((i & distance) == 0) {                                      \
                type x = vreinterpretq_u##N##_u8(a[i]);                     \
                type y = vreinterpretq_u##N##_u8(a[i + distance]);          \
                a[i] = vreinterpretq_u8_u##N(vtrn1q_u##N(x, y));            \
                a[i + distance] = vreinterpretq_u8_u##N(vtrn2q_u##N(x, y)); \
            }                                                               \
        }                                                                   \
    }
#define vreinterpretq_u8_u8(x) (x)
WEAVE(8, uint8x16_t)
WEAVE(16, uint16x8_t)
WEAVE(32, uint32x4_t)
WEAVE(64, uint64x2_t)

INLINE void turn_8(uint8x16_t a[2])
{
    weave_64(a, 2, 1);
}

INLINE void turn_4(uint8x16_t a[4])
{
    weave_32(a, 4, 1);
    weave_64(a, 4, 2);
}

INLINE void turn_2(uint8x16_t a[8])
{
    weave_16(a, 8, 1);
    weave_32(a, 8, 2);
    weave_64(a, 8, 4);
}

INLINE void turn_1(uint8x16_t a[16])
{
    weave_8(a, 16, 1);
    weave_16(a, 16, 2);
    weave_32(a, 16, 4);
    weave_64(a, 16, 8);
}

/** Makes a kernel for elements of `width` bytes. A few rows of output at a time are written from their beginning to
 *  their end, so that their lines are in a cache, and each line of a block is written at once. */
#define KERNEL(name, width)                                                                                     \
    static void name(const uint8_t *from, uint64_t from_stride, uint8_t *to, uint64_t to_stride, uint64_t rows, \
                     uint64_t columns, bool stream)                                                             \
    {                                                                                                           \
        enum { SIDE = VECTOR / (width) };                                                                       \
        (void)stream;                                                                                           \
        for (uint64_t strip = 0; strip < columns; strip += 4 * SIDE) {                                          \
            uint64_t end = columns - strip < 4 * SIDE ? columns : strip + 4 * SIDE;                             \
            for (uint64_t i = 0; i < rows; i += SIDE)                                                           \
                for (uint64_t j = strip; j < end; j += SIDE) {                                                  \
                    const uint8_t *at = from + i * from_stride + j * (width);                                   \
                    uint8x16_t a[SIDE];                                                                         \
                    for (unsigned k = 0; k < SIDE; k++) {                                                       \
                        /* May point past the end: the processor then does nothing. */                          \
                        __builtin_prefetch((const void *)((uintptr_t)at + (AHEAD + k) * from_stride));          \
                        a[k] = vld1q_u8(at + k * from_stride);                                                  \
                    }                                                                                           \
                    turn_##width(a);                                                                            \
                    for (unsigned k = 0; k < SIDE; k++)                                                         \
                        vst1q_u8(to + (j + k) * to_stride + i * (width), a[k]);                                 \
                }                                                                                               \
        }                                                                                                       \
    }
KERNEL(run_1, 1)
KERNEL(run_2, 2)
KERNEL(run_4, 4)
KERNEL(run_8, 8)

static void copy(uint8_t *to, const uint8_t *from, uint64_t count)
{
    memcpy(to, from, (size_t)count);
}

static void fence(void)
{
    /* All is stored through the caches: nothing can be seen late. */
}

const lr_transpose_kernel *lr_transpose_level(int level, uint32_t width)
{
    static const lr_transpose_kernel kernels[] = {{LINE, VECTOR, run_1, copy, fence},
                                                  {LINE / 2, VECTOR / 2, run_2, copy, fence},
                                                  {LINE / 4, VECTOR / 4, run_4, copy, fence},
                                                  {LINE / 8, VECTOR / 8, run_8, copy, fence}};
    return level == LR_TRANSPOSE_NEON ? &kernels[width == 8 ? 3 : width / 2] : NULL;
}

const lr_transpose_kernel *lr_transpose_fast(uint32_t width)
{
    return lr_transpose_level(LR_TRANSPOSE_NEON, width);
}

#endif
