/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Transposes with vectors of 16 bytes, which every x86-64 and every aarch64 has, in the C of GCC and Clang. Wider
 * vectors were measured: memory, not the weaving, is what a transpose waits for.
 *
 * A square as wide as a vector is turned in registers: its first half of rows is woven with the second, element by
 * element, as often as a row has halves. A block is four such squares, one below the other, so that each of its output
 * rows is one whole line. */
#include "remap/ops/ops_private.h"

#ifdef LR_TRANSPOSE_HAS_VECTORS

#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum { LINE = LR_TRANSPOSE_LINE, VECTOR = 16, SQUARES = LINE / VECTOR };

/* Rows that are fetched ahead when the output is read again soon: 16 to 128 were tried. */
enum { AHEAD = 64 };

#define UNROLL _Pragma("GCC unroll 16") /* or the squares leave the registers */
#define INLINE static inline __attribute__((always_inline))

typedef uint8_t vector __attribute__((vector_size(VECTOR)));

INLINE vector get(const uint8_t *from)
{
    vector value;
    memcpy(&value, from, sizeof value);
    return value;
}

INLINE void put(uint8_t *to, vector value, bool stream)
{
#ifdef __SSE2__
    if (stream) {
        _mm_stream_si128((void *)to, (__m128i)value);
        return;
    }
#endif
    (void)stream;
    memcpy(to, &value, sizeof value);
}

/* Streaming stores become visible before stores after the return. */
static void fence(void)
{
#ifdef __SSE2__
    _mm_sfence();
#endif
}

/* Whole lines bypass the caches; partial lines are copied plainly. */
static void copy(uint8_t *to, const uint8_t *from, uint64_t count)
{
    uint64_t head = -(uintptr_t)to % LINE, i;
    head = head < count ? head : count;
    memcpy(to, from, (size_t)head);
    for (i = head; count - i >= LINE; i += LINE) {
        for (unsigned j = 0; j < LINE; j += VECTOR) {
            put(to + i + j, get(from + i + j), true);
        }
    }
    memcpy(to + i, from + i, (size_t)(count - i));
}

/* The elements of two vectors that weave into one, from element k of each on. */
#define WOVEN_64(k) k, 2 + k
#define WOVEN_32(k) k, 4 + k, 1 + k, 5 + k
#define WOVEN_16(k) k, 8 + k, 1 + k, 9 + k, 2 + k, 10 + k, 3 + k, 11 + k
#define WOVEN_8(k) \
    k, 16 + k, 1 + k, 17 + k, 2 + k, 18 + k, 3 + k, 19 + k, 4 + k, 20 + k, 5 + k, 21 + k, 6 + k, 22 + k, 7 + k, 23 + k

/* Makes a kernel for elements of N bits. With streaming it walks along the input's rows: the processor prefetches, and
 * the output bypasses the caches. Otherwise it writes a few rows of output at a time, so that their lines stay in a
 * cache, and prefetches the input, which lies in many pages. */
#define KERNEL(N)                                                                                                  \
    typedef uint##N##_t vector_##N __attribute__((vector_size(VECTOR)));                                           \
    enum { SIDE_##N = 8 * VECTOR / N };                                                                            \
    INLINE void turn_##N(vector a[SIDE_##N])                                                                       \
    {                                                                                                              \
        UNROLL for (unsigned woven = 1; woven < SIDE_##N; woven *= 2)                                              \
        {                                                                                                          \
            vector b[SIDE_##N];                                                                                    \
            UNROLL for (unsigned i = 0; i < SIDE_##N / 2; i++)                                                     \
            {                                                                                                      \
                vector_##N x = (vector_##N)a[i], y = (vector_##N)a[i + SIDE_##N / 2];                              \
                b[2 * i] = (vector)__builtin_shufflevector(x, y, WOVEN_##N(0));                                    \
                b[2 * i + 1] = (vector)__builtin_shufflevector(x, y, WOVEN_##N(SIDE_##N / 2));                     \
            }                                                                                                      \
            memcpy(a, b, sizeof b);                                                                                \
        }                                                                                                          \
    }                                                                                                              \
    INLINE void block_##N(const uint8_t *from, uint64_t from_stride, uint8_t *to, uint64_t to_stride, bool stream) \
    {                                                                                                              \
        vector squares[SQUARES][SIDE_##N];                                                                         \
        UNROLL for (unsigned s = 0; s < SQUARES; s++)                                                              \
        {                                                                                                          \
            UNROLL for (unsigned k = 0; k < SIDE_##N; k++)                                                         \
            {                                                                                                      \
                squares[s][k] = get(from + (s * SIDE_##N + k) * from_stride);                                      \
            }                                                                                                      \
            turn_##N(squares[s]);                                                                                  \
        }                                                                                                          \
        UNROLL for (unsigned k = 0; k < SIDE_##N; k++)                                                             \
        {                                                                                                          \
            UNROLL for (unsigned s = 0; s < SQUARES; s++)                                                          \
            {                                                                                                      \
                put(to + k * to_stride + s * VECTOR, squares[s][k], stream);                                       \
            }                                                                                                      \
        }                                                                                                          \
    }                                                                                                              \
    static void run_##N(const uint8_t *from, uint64_t from_stride, uint8_t *to, uint64_t to_stride, uint64_t rows, \
                        uint64_t columns, bool stream)                                                             \
    {                                                                                                              \
        uint64_t height = SQUARES * SIDE_##N, breadth = stream ? columns : SQUARES * SIDE_##N;                     \
        for (uint64_t strip = 0; strip < columns; strip += breadth) {                                              \
            uint64_t end = columns - strip < breadth ? columns : strip + breadth;                                  \
            for (uint64_t i = 0; i < rows; i += height) {                                                          \
                for (uint64_t j = strip; j < end; j += SIDE_##N) {                                                 \
                    const uint8_t *at = from + i * from_stride + j * (N / 8);                                      \
                    uint8_t *line = to + j * to_stride + i * (N / 8);                                              \
                    if (stream) {                                                                                  \
                        block_##N(at, from_stride, line, to_stride, true);                                         \
                        continue;                                                                                  \
                    }                                                                                              \
                    for (unsigned k = 0; k < height; k++) { /* past the end, the processor does nothing */         \
                        __builtin_prefetch((const void *)((uintptr_t)at + (AHEAD + k) * from_stride));             \
                    }                                                                                              \
                    block_##N(at, from_stride, line, to_stride, false);                                            \
                }                                                                                                  \
            }                                                                                                      \
        }                                                                                                          \
        fence();                                                                                                   \
    }
KERNEL(8)
KERNEL(16)
KERNEL(32)
KERNEL(64)

const lr_transpose_kernel *lr_transpose_fast(uint32_t width)
{
    static const lr_transpose_kernel kernels[] = {{4 * SIDE_8, SIDE_8, run_8, copy, fence},
                                                  {4 * SIDE_16, SIDE_16, run_16, copy, fence},
                                                  {4 * SIDE_32, SIDE_32, run_32, copy, fence},
                                                  {4 * SIDE_64, SIDE_64, run_64, copy, fence}};
    return &kernels[width == 8 ? 3 : width / 2];
}

#endif
