/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Decoding blocks with the vector instructions of x86-64, where the processor has them. */
#include "plugins/codec/gguf/blocks_private.h"

#ifdef LR_GGUF_HAS_X86

#include <immintrin.h>

#include "common/cpu.h"
/* ----------------------------------------------------------------------------------------------------- AVX-512 -- */

#define TARGET __attribute__((target("avx512f,avx2,f16c")))
#define INLINE static inline __attribute__((always_inline, target("avx512f,avx2,f16c")))
#define NAME(x) x##_512
#define FLOATS __m512

INLINE __m512 spread_512(float number)
{
    return _mm512_set1_ps(number);
}

INLINE __m512 spread_half_512(const uint8_t *data)
{
    return _mm512_broadcastss_ps(_mm_cvtph_ps(_mm_cvtsi32_si128(data[0] | data[1] << 8)));
}

INLINE __m512 times_512(bytes q, __m512 d)
{
    return _mm512_mul_ps(_mm512_cvtepi32_ps(_mm512_cvtepi8_epi32((__m128i)q)), d);
}

INLINE void put_512(float *y, bytes q, __m512 d)
{
    _mm512_storeu_ps(y, times_512(q, d));
}

INLINE void put_plus_512(float *y, bytes q, __m512 d, __m512 m)
{
    _mm512_storeu_ps(y, _mm512_add_ps(times_512(q, d), m));
}

INLINE void put_minus_512(float *y, bytes q, __m512 d, __m512 m)
{
    _mm512_storeu_ps(y, _mm512_sub_ps(times_512(q, d), m));
}

INLINE bytes look_up_512(bytes table, bytes q)
{
    return (bytes)_mm_shuffle_epi8((__m128i)table, (__m128i)q);
}

#include "plugins/codec/gguf/blocks_vector.h"

#undef TARGET
#undef INLINE
#undef NAME
#undef FLOATS

/* -------------------------------------------------------------------------------------------------- AVX2, F16C -- */

#define TARGET __attribute__((target("avx2,f16c")))
#define INLINE static inline __attribute__((always_inline, target("avx2,f16c")))
#define NAME(x) x##_256
#define FLOATS __m256

INLINE __m256 spread_256(float number)
{
    return _mm256_set1_ps(number);
}

INLINE __m256 spread_half_256(const uint8_t *data)
{
    return _mm256_broadcastss_ps(_mm_cvtph_ps(_mm_cvtsi32_si128(data[0] | data[1] << 8)));
}

INLINE __m256 times_low_256(bytes q, __m256 d)
{
    return _mm256_mul_ps(_mm256_cvtepi32_ps(_mm256_cvtepi8_epi32((__m128i)q)), d);
}

INLINE __m256 times_high_256(bytes q, __m256 d)
{
    return times_low_256((bytes)_mm_unpackhi_epi64((__m128i)q, (__m128i)q), d);
}

INLINE void put_256(float *y, bytes q, __m256 d)
{
    _mm256_storeu_ps(y, times_low_256(q, d));
    _mm256_storeu_ps(y + 8, times_high_256(q, d));
}

INLINE void put_plus_256(float *y, bytes q, __m256 d, __m256 m)
{
    _mm256_storeu_ps(y, _mm256_add_ps(times_low_256(q, d), m));
    _mm256_storeu_ps(y + 8, _mm256_add_ps(times_high_256(q, d), m));
}

INLINE void put_minus_256(float *y, bytes q, __m256 d, __m256 m)
{
    _mm256_storeu_ps(y, _mm256_sub_ps(times_low_256(q, d), m));
    _mm256_storeu_ps(y + 8, _mm256_sub_ps(times_high_256(q, d), m));
}

INLINE bytes look_up_256(bytes table, bytes q)
{
    return (bytes)_mm_shuffle_epi8((__m128i)table, (__m128i)q);
}

#include "plugins/codec/gguf/blocks_vector.h"

/* ------------------------------------------------------------------------------------------------------ choice -- */

lr_gguf_decode *lr_gguf_level(int level, int kind)
{
    if (level == LR_GGUF_AVX512 && LR_CPU_HAS(AVX512F, "avx512f") && LR_CPU_HAS(AVX2, "avx2") &&
        LR_CPU_HAS(F16C, "f16c")) {
        return versions_512[kind];
    }
    if (level == LR_GGUF_AVX2 && LR_CPU_HAS(AVX2, "avx2") && LR_CPU_HAS(F16C, "f16c")) {
        return versions_256[kind];
    }
    return NULL;
}

#endif
