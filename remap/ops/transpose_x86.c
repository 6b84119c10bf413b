/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Transposes with the vector instructions of x86-64, where the processor has them.
 *
 * Four-byte elements are turned 16 by 16 (8 by 8) in registers. Narrower ones are packed first: two rows of 2-byte
 * elements become one of pairs, four of 1-byte elements one of quads, which then turn like four-byte elements. A block
 * has as many rows as a line of output holds elements, so each of its output rows is one whole line. */
#include "common/cpu.h"
#include "remap/ops/ops_private.h"

#ifdef LR_TRANSPOSE_HAS_X86

#include <immintrin.h>
#include <string.h>

enum { LINE = LR_TRANSPOSE_LINE };

/* Rows that are fetched ahead when the output is read again soon: 16 to 128 were tried. */
enum { AHEAD = 64 };

/** Makes a kernel of `block`, which transposes `row_count` x `column_count` elements of `width` bytes. With streaming
 * it walks along the input's rows: the processor prefetches, and the output bypasses the caches. Otherwise it writes a
 * few rows of output at a time, so that their lines stay in a cache, and prefetches the input, which lies in many
 * pages. */
#define KERNEL(target, name, block, width, row_count, column_count)                                                    \
    target static void name(const uint8_t *from, uint64_t from_stride, uint8_t *to, uint64_t to_stride, uint64_t rows, \
                            uint64_t columns, bool stream)                                                             \
    {                                                                                                                  \
        if (stream) {                                                                                                  \
            for (uint64_t i = 0; i < rows; i += (row_count))                                                           \
                for (uint64_t j = 0; j < columns; j += (column_count))                                                 \
                    block(from + i * from_stride + j * (width), from_stride, to + j * to_stride + i * (width),         \
                          to_stride, true);                                                                            \
            _mm_sfence(); /* streaming stores become visible before stores after the return */                         \
            return;                                                                                                    \
        }                                                                                                              \
        for (uint64_t strip = 0; strip < columns; strip += 4 * (column_count)) {                                       \
            uint64_t end = columns - strip < 4 * (column_count) ? columns : strip + 4 * (column_count);                \
            for (uint64_t i = 0; i < rows; i += (row_count))                                                           \
                for (uint64_t j = strip; j < end; j += (column_count)) {                                               \
                    const uint8_t *at = from + i * from_stride + j * (width);                                          \
                    /* May point past the end: the processor then does nothing. */                                     \
                    for (unsigned k = 0; k < (row_count); k++)                                                         \
                        _mm_prefetch((const void *)((uintptr_t)at + (AHEAD + k) * from_stride), _MM_HINT_T0);          \
                    block(at, from_stride, to + j * to_stride + i * (width), to_stride, false);                        \
                }                                                                                                      \
        }                                                                                                              \
    }

/** The column that vector `k` of a turned group belongs to. Unpacking works within lanes of 16 bytes, so group `group`
 *  of `groups` has four neighbouring columns of each lane. */
#define COLUMN(k, group, groups) ((k) / 4 * 4 * (groups) + (group) * 4 + (k) % 4)

/* ----------------------------------------------------------------------------------------------------- AVX-512 -- */

/** Makes a copy function whose full lines bypass the caches; partial lines are copied plainly. */
#define COPY(target, name, put, get, size)                                    \
    target static void name(uint8_t *to, const uint8_t *from, uint64_t count) \
    {                                                                         \
        uint64_t head = -(uintptr_t)to % LINE, i;                             \
        head = head < count ? head : count;                                   \
        memcpy(to, from, (size_t)head);                                       \
        for (i = head; count - i >= LINE; i += LINE)                          \
            for (unsigned j = 0; j < LINE; j += (size))                       \
                put(to + i + j, get(from + i + j), true);                     \
        memcpy(to + i, from + i, (size_t)(count - i));                        \
    }

#define AVX512 __attribute__((target("avx512f,avx512bw")))
#define AVX512_INLINE static inline __attribute__((always_inline, target("avx512f,avx512bw")))

AVX512_INLINE void put512(uint8_t *to, __m512i value, bool stream)
{
    if (stream)
        _mm512_stream_si512((void *)to, value);
    else
        _mm512_storeu_si512(to, value);
}

AVX512_INLINE __m512i get512(const uint8_t *from)
{
    return _mm512_loadu_si512(from);
}

COPY(AVX512, copy512, put512, get512, 64)

/** Turns 16 rows of 16 four-byte elements; row k goes to column COLUMN(k, group, groups) of the output. */
AVX512_INLINE void turn512(__m512i a[16], uint8_t *to, uint64_t to_stride, unsigned group, unsigned groups, bool stream)
{
    __m512i b[16];
    for (unsigned i = 0; i < 16; i += 2) {
        b[i] = _mm512_unpacklo_epi32(a[i], a[i + 1]);
        b[i + 1] = _mm512_unpackhi_epi32(a[i], a[i + 1]);
    }
    for (unsigned i = 0; i < 16; i += 4) {
        a[i] = _mm512_unpacklo_epi64(b[i], b[i + 2]);
        a[i + 1] = _mm512_unpackhi_epi64(b[i], b[i + 2]);
        a[i + 2] = _mm512_unpacklo_epi64(b[i + 1], b[i + 3]);
        a[i + 3] = _mm512_unpackhi_epi64(b[i + 1], b[i + 3]);
    }
    for (unsigned i = 0; i < 16; i += 8) {
        for (unsigned j = i; j < i + 4; j++) {
            b[j] = _mm512_shuffle_i32x4(a[j], a[j + 4], 0x88);
            b[j + 4] = _mm512_shuffle_i32x4(a[j], a[j + 4], 0xdd);
        }
    }
    for (unsigned j = 0; j < 8; j++) {
        put512(to + COLUMN(j, group, groups) * to_stride, _mm512_shuffle_i32x4(b[j], b[j + 8], 0x88), stream);
        put512(to + COLUMN(j + 8, group, groups) * to_stride, _mm512_shuffle_i32x4(b[j], b[j + 8], 0xdd), stream);
    }
}

AVX512_INLINE void block512_4(const uint8_t *from, uint64_t from_stride, uint8_t *to, uint64_t to_stride, bool stream)
{
    __m512i a[16];
    for (unsigned i = 0; i < 16; i++)
        a[i] = get512(from + i * from_stride);
    turn512(a, to, to_stride, 0, 1, stream);
}

AVX512_INLINE void block512_2(const uint8_t *from, uint64_t from_stride, uint8_t *to, uint64_t to_stride, bool stream)
{
    __m512i low[16], high[16];
    for (unsigned i = 0; i < 16; i++) {
        __m512i x = get512(from + 2 * i * from_stride);
        __m512i y = get512(from + (2 * i + 1) * from_stride);
        low[i] = _mm512_unpacklo_epi16(x, y);
        high[i] = _mm512_unpackhi_epi16(x, y);
    }
    turn512(low, to, to_stride, 0, 2, stream);
    turn512(high, to, to_stride, 1, 2, stream);
}

AVX512_INLINE void block512_1(const uint8_t *from, uint64_t from_stride, uint8_t *to, uint64_t to_stride, bool stream)
{
    __m512i quads[4][16];
    for (unsigned i = 0; i < 16; i++) {
        __m512i w = get512(from + 4 * i * from_stride);
        __m512i x = get512(from + (4 * i + 1) * from_stride);
        __m512i y = get512(from + (4 * i + 2) * from_stride);
        __m512i z = get512(from + (4 * i + 3) * from_stride);
        __m512i wx = _mm512_unpacklo_epi8(w, x), yz = _mm512_unpacklo_epi8(y, z);
        quads[0][i] = _mm512_unpacklo_epi16(wx, yz);
        quads[1][i] = _mm512_unpackhi_epi16(wx, yz);
        wx = _mm512_unpackhi_epi8(w, x);
        yz = _mm512_unpackhi_epi8(y, z);
        quads[2][i] = _mm512_unpacklo_epi16(wx, yz);
        quads[3][i] = _mm512_unpackhi_epi16(wx, yz);
    }
    for (unsigned group = 0; group < 4; group++)
        turn512(quads[group], to, to_stride, group, 4, stream);
}

AVX512_INLINE void block512_8(const uint8_t *from, uint64_t from_stride, uint8_t *to, uint64_t to_stride, bool stream)
{
    __m512i a[8], b[8];
    for (unsigned i = 0; i < 8; i += 2) {
        __m512i x = get512(from + i * from_stride);
        __m512i y = get512(from + (i + 1) * from_stride);
        a[i] = _mm512_unpacklo_epi64(x, y); /* columns 0, 2, 4, 6 */
        a[i + 1] = _mm512_unpackhi_epi64(x, y);
    }
    for (unsigned i = 0; i < 8; i += 4) {
        for (unsigned j = i; j < i + 2; j++) {
            b[j] = _mm512_shuffle_i64x2(a[j], a[j + 2], 0x88);     /* columns j and j + 4 */
            b[j + 2] = _mm512_shuffle_i64x2(a[j], a[j + 2], 0xdd); /* columns j + 2 and j + 6 */
        }
    }
    for (unsigned j = 0; j < 4; j++) {
        put512(to + j * to_stride, _mm512_shuffle_i64x2(b[j], b[j + 4], 0x88), stream);
        put512(to + (j + 4) * to_stride, _mm512_shuffle_i64x2(b[j], b[j + 4], 0xdd), stream);
    }
}

KERNEL(AVX512, run512_1, block512_1, 1, 64, 64)
KERNEL(AVX512, run512_2, block512_2, 2, 32, 32)
KERNEL(AVX512, run512_4, block512_4, 4, 16, 16)
KERNEL(AVX512, run512_8, block512_8, 8, 8, 8)

/* -------------------------------------------------------------------------------------------------------- AVX2 -- */

#define AVX2 __attribute__((target("avx2")))
#define AVX2_INLINE static inline __attribute__((always_inline, target("avx2")))

AVX2_INLINE void put256(uint8_t *to, __m256i value, bool stream)
{
    if (stream)
        _mm256_stream_si256((void *)to, value);
    else
        _mm256_storeu_si256((void *)to, value);
}

AVX2_INLINE __m256i get256(const uint8_t *from)
{
    return _mm256_loadu_si256((const void *)from);
}

COPY(AVX2, copy256, put256, get256, 32)

/** Turns 8 rows of 8 four-byte elements; row k becomes turned[COLUMN(k, group, groups)]. */
AVX2_INLINE void turn256(__m256i a[8], __m256i *turned, unsigned group, unsigned groups)
{
    __m256i b[8];
    for (unsigned i = 0; i < 8; i += 2) {
        b[i] = _mm256_unpacklo_epi32(a[i], a[i + 1]);
        b[i + 1] = _mm256_unpackhi_epi32(a[i], a[i + 1]);
    }
    for (unsigned i = 0; i < 8; i += 4) {
        a[i] = _mm256_unpacklo_epi64(b[i], b[i + 2]);
        a[i + 1] = _mm256_unpackhi_epi64(b[i], b[i + 2]);
        a[i + 2] = _mm256_unpacklo_epi64(b[i + 1], b[i + 3]);
        a[i + 3] = _mm256_unpackhi_epi64(b[i + 1], b[i + 3]);
    }
    for (unsigned j = 0; j < 4; j++) {
        turned[COLUMN(j, group, groups)] = _mm256_permute2x128_si256(a[j], a[j + 4], 0x20);
        turned[COLUMN(j + 4, group, groups)] = _mm256_permute2x128_si256(a[j], a[j + 4], 0x31);
    }
}

AVX2_INLINE void half256_4(const uint8_t *from, uint64_t from_stride, __m256i *turned)
{
    __m256i a[8];
    for (unsigned i = 0; i < 8; i++)
        a[i] = get256(from + i * from_stride);
    turn256(a, turned, 0, 1);
}

AVX2_INLINE void half256_2(const uint8_t *from, uint64_t from_stride, __m256i *turned)
{
    __m256i low[8], high[8];
    for (unsigned i = 0; i < 8; i++) {
        __m256i x = get256(from + 2 * i * from_stride), y = get256(from + (2 * i + 1) * from_stride);
        low[i] = _mm256_unpacklo_epi16(x, y);
        high[i] = _mm256_unpackhi_epi16(x, y);
    }
    turn256(low, turned, 0, 2);
    turn256(high, turned, 1, 2);
}

AVX2_INLINE void half256_1(const uint8_t *from, uint64_t from_stride, __m256i *turned)
{
    __m256i quads[4][8];
    for (unsigned i = 0; i < 8; i++) {
        __m256i w = get256(from + 4 * i * from_stride), x = get256(from + (4 * i + 1) * from_stride);
        __m256i y = get256(from + (4 * i + 2) * from_stride), z = get256(from + (4 * i + 3) * from_stride);
        __m256i wx = _mm256_unpacklo_epi8(w, x), yz = _mm256_unpacklo_epi8(y, z);
        quads[0][i] = _mm256_unpacklo_epi16(wx, yz);
        quads[1][i] = _mm256_unpackhi_epi16(wx, yz);
        wx = _mm256_unpackhi_epi8(w, x);
        yz = _mm256_unpackhi_epi8(y, z);
        quads[2][i] = _mm256_unpacklo_epi16(wx, yz);
        quads[3][i] = _mm256_unpackhi_epi16(wx, yz);
    }
    for (unsigned group = 0; group < 4; group++)
        turn256(quads[group], turned, group, 4);
}

AVX2_INLINE void half256_8(const uint8_t *from, uint64_t from_stride, __m256i *turned)
{
    __m256i a[4];
    for (unsigned i = 0; i < 4; i += 2) {
        __m256i x = get256(from + i * from_stride), y = get256(from + (i + 1) * from_stride);
        a[i] = _mm256_unpacklo_epi64(x, y);
        a[i + 1] = _mm256_unpackhi_epi64(x, y);
    }
    for (unsigned j = 0; j < 2; j++) {
        turned[j] = _mm256_permute2x128_si256(a[j], a[j + 2], 0x20);
        turned[j + 2] = _mm256_permute2x128_si256(a[j], a[j + 2], 0x31);
    }
}

/** A block of two halves, one below the other. The halves of a line are stored one after the other: the processor
 *  gathers streamed bytes in few lines at a time. */
#define TWICE(width)                                                                                              \
    AVX2_INLINE void block256_##width(const uint8_t *from, uint64_t from_stride, uint8_t *to, uint64_t to_stride, \
                                      bool stream)                                                                \
    {                                                                                                             \
        __m256i first[LINE / 2 / (width)], second[LINE / 2 / (width)];                                            \
        half256_##width(from, from_stride, first);                                                                \
        half256_##width(from + LINE / 2 / (width) * from_stride, from_stride, second);                            \
        for (unsigned j = 0; j < LINE / 2 / (width); j++) {                                                       \
            put256(to + j * to_stride, first[j], stream);                                                         \
            put256(to + j * to_stride + LINE / 2, second[j], stream);                                             \
        }                                                                                                         \
    }
TWICE(1)
TWICE(2)
TWICE(4)
TWICE(8)

KERNEL(AVX2, run256_1, block256_1, 1, 64, 32)
KERNEL(AVX2, run256_2, block256_2, 2, 32, 16)
KERNEL(AVX2, run256_4, block256_4, 4, 16, 8)
KERNEL(AVX2, run256_8, block256_8, 8, 8, 4)

/* ------------------------------------------------------------------------------------------------------ choice -- */

static void fence(void)
{
    _mm_sfence();
}

static const lr_transpose_kernel kernels512[] = {{64, 64, run512_1, copy512, fence},
                                                 {32, 32, run512_2, copy512, fence},
                                                 {16, 16, run512_4, copy512, fence},
                                                 {8, 8, run512_8, copy512, fence}};
static const lr_transpose_kernel kernels256[] = {{64, 32, run256_1, copy256, fence},
                                                 {32, 16, run256_2, copy256, fence},
                                                 {16, 8, run256_4, copy256, fence},
                                                 {8, 4, run256_8, copy256, fence}};

const lr_transpose_kernel *lr_transpose_level(int level, uint32_t width)
{
    unsigned index = width == 8 ? 3 : width / 2;
    if (level == LR_TRANSPOSE_AVX512 && LR_CPU_HAS(AVX512F, "avx512f") && LR_CPU_HAS(AVX512BW, "avx512bw"))
        return &kernels512[index];
    if (level == LR_TRANSPOSE_AVX2 && LR_CPU_HAS(AVX2, "avx2"))
        return &kernels256[index];
    return NULL;
}

const lr_transpose_kernel *lr_transpose_fast(uint32_t width)
{
    const lr_transpose_kernel *kernel = lr_transpose_level(LR_TRANSPOSE_AVX512, width);
    return kernel ? kernel : lr_transpose_level(LR_TRANSPOSE_AVX2, width);
}

#endif
