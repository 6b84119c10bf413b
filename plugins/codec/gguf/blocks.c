/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The decoders of blocks: one source (blocks_vector.h) for each level of vector instructions. To be compiled without
 * contraction of a * b + c. */
#include "plugins/codec/gguf/blocks_private.h"

#include "common/cpu.h"

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wpsabi" /* vectors are arguments of functions that are inlined */
#endif

typedef uint8_t bytes __attribute__((vector_size(16)));
typedef uint16_t words __attribute__((vector_size(16)));
typedef uint64_t pairs __attribute__((vector_size(16)));

static inline __attribute__((always_inline)) bytes load(const void *from)
{
    bytes loaded;
    memcpy(&loaded, from, sizeof loaded);
    return loaded;
}

/* Four words as bytes, of each the lowest first. */
static inline __attribute__((always_inline)) bytes four_words(uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
    pairs all = {a | (uint64_t)b << 32, c | (uint64_t)d << 32};
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    all = (pairs){__builtin_bswap64(all[0]), __builtin_bswap64(all[1])};
#endif
    return (bytes)all;
}

/* Two entries of a codebook, the first at the bottom. */
static inline __attribute__((always_inline)) uint32_t two(const uint16_t *book, uint32_t first, uint32_t second)
{
    return book[first] | (uint32_t)book[second] << 16;
}

/* The low bits of each of four bytes. */
#define LOW_2 0x03030303u
#define LOW_4 0x0f0f0f0fu
#define LOW_6 0x3f3f3f3fu

/* ------------------------------------------------------------------------------------------------ any processor -- */

#ifdef __aarch64__
#include <arm_neon.h>
#endif

#define TARGET
#define INLINE static inline __attribute__((always_inline))
#define NAME(x) x##_any

INLINE void put_any(float *y, bytes q, float d)
{
    int8_t whole[16];
    memcpy(whole, &q, sizeof whole);
    for (int i = 0; i < 16; i++) {
        y[i] = (float)whole[i] * d;
    }
}

INLINE void put_plus_any(float *y, bytes q, float d, float m)
{
    int8_t whole[16];
    memcpy(whole, &q, sizeof whole);
    for (int i = 0; i < 16; i++) {
        y[i] = (float)whole[i] * d + m;
    }
}

INLINE bytes look_up_any(bytes table, bytes q)
{
#ifdef __aarch64__
    return (bytes)vqtbl1q_u8((uint8x16_t)table, (uint8x16_t)q);
#else
    uint8_t from[16], which[16];
    memcpy(from, &table, sizeof from);
    memcpy(which, &q, sizeof which);
    for (int i = 0; i < 16; i++) {
        which[i] = from[which[i]];
    }
    return load(which);
#endif
}

#include "plugins/codec/gguf/blocks_vector.h"

#undef TARGET
#undef INLINE
#undef NAME

/* --------------------------------------------------------------------------------------------------------- AVX2 -- */

#ifdef __x86_64__

#include <immintrin.h>

#define TARGET __attribute__((target("avx2")))
#define INLINE static inline __attribute__((always_inline, target("avx2")))
#define NAME(x) x##_avx2

INLINE __m256 times_avx2(bytes q, float d)
{
    return _mm256_mul_ps(_mm256_cvtepi32_ps(_mm256_cvtepi8_epi32((__m128i)q)), _mm256_set1_ps(d));
}

INLINE bytes last_eight_avx2(bytes q)
{
    return (bytes)_mm_unpackhi_epi64((__m128i)q, (__m128i)q);
}

INLINE void put_avx2(float *y, bytes q, float d)
{
    _mm256_storeu_ps(y, times_avx2(q, d));
    _mm256_storeu_ps(y + 8, times_avx2(last_eight_avx2(q), d));
}

INLINE void put_plus_avx2(float *y, bytes q, float d, float m)
{
    _mm256_storeu_ps(y, _mm256_add_ps(times_avx2(q, d), _mm256_set1_ps(m)));
    _mm256_storeu_ps(y + 8, _mm256_add_ps(times_avx2(last_eight_avx2(q), d), _mm256_set1_ps(m)));
}

INLINE bytes look_up_avx2(bytes table, bytes q)
{
    return (bytes)_mm_shuffle_epi8((__m128i)table, (__m128i)q);
}

#include "plugins/codec/gguf/blocks_vector.h"

#endif

/* ------------------------------------------------------------------------------------------------------ choice -- */

lr_gguf_decode *lr_gguf_level(int level, int kind)
{
#ifdef __x86_64__
    if (level == LR_GGUF_AVX2) {
        return LR_CPU_HAS(AVX2, "avx2") ? versions_avx2[kind] : NULL;
    }
#endif
    return level == LR_GGUF_ANY ? versions_any[kind] : NULL;
}

lr_gguf_decode *lr_gguf_decoder(int kind)
{
    lr_gguf_decode *best = lr_gguf_level(LR_GGUF_AVX2, kind);
    return best ? best : versions_any[kind];
}
