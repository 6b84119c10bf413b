/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Floats from one type to another with the vector instructions of x86-64, where the processor has them. The results
 * are those of convert.c, bit for bit: the processor's conversions keep a NaN's sign and upper payload and set its
 * quiet bit. vcvtneps2bf16 is left alone, as it flushes subnormals. */
#include "common/cpu.h"
#include "core/record/convert_private.h"

#ifdef LR_CONVERT_HAS_X86

#include <immintrin.h>

#include "os/map.h"

/** Elements a step. */
enum { STEP = 64 };

enum { NEAREST = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC };

/* See convert.c: the least magnitudes that become infinite. */
#define INFINITY_32 0x7f800000
#define INFINITY_64 0x7ff0000000000000
#define F32_TOO_LARGE_F16 0x477ff000
#define F32_TOO_LARGE_BF16 0x7f7f8000
#define F64_TOO_LARGE_F32 0x47effffff0000000
#define F64_TOO_LARGE_F16 0x40effe0000000000
/* The digits of an f64 that an f32 has no room for: see f64_to_f32_cut() there. */
#define F64_CUT 0x1fffffff

/* Whether a result holds an infinity or a NaN is cheap to see: adding 1 to a magnitude's exponent reaches the sign bit.
 * Only then are the overflows counted. Two f16 or bf16 are looked at in 32 bits: the sum does not leave its 16. */
#define F16_SIGNS (INT32_MIN + 0x8000)
#define F16_ONE 0x04000400
#define BF16_ONE 0x00800080
#define F32_SIGN INT32_MIN
#define F32_ONE 0x00800000

static inline unsigned bits_set(uint32_t x)
{
    return (unsigned)__builtin_popcount(x);
}

/** Bytes that the source is fetched ahead. 512 to 2,048 were the best of 256 to 16,384, and up to a quarter faster than
 *  without. */
enum { AHEAD = 1024 };

/** Fetches what the step after the next few will need. May point past the end: the processor then does nothing. */
static inline __attribute__((always_inline)) void fetch_ahead(const uint8_t *from, unsigned from_size)
{
    for (unsigned line = 0; line < from_size; line++) /* STEP elements are this many lines of 64 bytes */
        _mm_prefetch((const void *)((uintptr_t)from + AHEAD + 64 * line), _MM_HINT_T0);
}

/** Makes a kernel of `step`, which converts STEP elements and @return how many of them overflowed. */
#define BULK(target, name, step, from_size, to_size)                                                                 \
    target static uint64_t name(const uint8_t *from, uint8_t *to, uint64_t count, bool stream, uint64_t *overflowed) \
    {                                                                                                                \
        uint64_t i = 0, sum = 0;                                                                                     \
        if (stream) {                                                                                                \
            for (; count - i >= STEP; i += STEP) {                                                                   \
                fetch_ahead(from + i * (from_size), from_size);                                                      \
                sum += step(from + i * (from_size), to + i * (to_size), true);                                       \
            }                                                                                                        \
            _mm_sfence(); /* streaming stores become visible before stores after the return */                       \
        } else {                                                                                                     \
            for (; count - i >= STEP; i += STEP) {                                                                   \
                fetch_ahead(from + i * (from_size), from_size);                                                      \
                sum += step(from + i * (from_size), to + i * (to_size), false);                                      \
            }                                                                                                        \
        }                                                                                                            \
        *overflowed += sum;                                                                                          \
        return i;                                                                                                    \
    }

/* -------------------------------------------------------------------------------------------------- AVX2, F16C -- */

#define AVX2 __attribute__((target("avx2,f16c")))
#define AVX2_INLINE static inline __attribute__((always_inline, target("avx2,f16c")))

AVX2_INLINE void put(uint8_t *to, __m256i value, bool stream)
{
    if (stream)
        _mm256_stream_si256((void *)to, value);
    else
        _mm256_storeu_si256((void *)to, value);
}

AVX2_INLINE __m256i get(const uint8_t *from)
{
    return _mm256_loadu_si256((const void *)from);
}

AVX2_INLINE __m128i get128(const uint8_t *from)
{
    return _mm_loadu_si128((const void *)from);
}

AVX2_INLINE __m256i join(__m128i low, __m128i high)
{
    return _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
}

AVX2_INLINE bool special(__m256i result, int32_t signs, int32_t one)
{
    __m256i magnitude = _mm256_andnot_si256(_mm256_set1_epi32(signs), result);
    __m256i sum = _mm256_add_epi32(magnitude, _mm256_set1_epi32(one));
    return __builtin_expect(!_mm256_testz_si256(sum, _mm256_set1_epi32(signs)), 0);
}

/** Which of 8 f32 are finite and at least `limit`: one signed comparison of a range moved to the least numbers. */
AVX2_INLINE uint32_t over_32(__m256i x, int32_t limit)
{
    __m256i magnitude = _mm256_and_si256(x, _mm256_set1_epi32(INT32_MAX));
    __m256i moved = _mm256_add_epi32(magnitude, _mm256_set1_epi32(INT32_MAX - limit + 1));
    __m256i over = _mm256_cmpgt_epi32(_mm256_set1_epi32(INT32_MIN + (INFINITY_32 - limit)), moved);
    return (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(over));
}

/** Which of 4 f64 are. */
AVX2_INLINE uint32_t over_64(__m256i x, int64_t limit)
{
    __m256i magnitude = _mm256_and_si256(x, _mm256_set1_epi64x(INT64_MAX));
    __m256i moved = _mm256_add_epi64(magnitude, _mm256_set1_epi64x(INT64_MAX - limit + 1));
    __m256i over = _mm256_cmpgt_epi64(_mm256_set1_epi64x(INT64_MIN + (INFINITY_64 - limit)), moved);
    return (uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(over));
}

AVX2_INLINE __m128i f32_f16_8(__m256i x)
{
    return _mm256_cvtps_ph(_mm256_castsi256_ps(x), NEAREST);
}

AVX2_INLINE __m256i f16_f32_8(__m128i x)
{
    return _mm256_castps_si256(_mm256_cvtph_ps(x));
}

AVX2_INLINE __m256i f64_f32_8(__m256i low, __m256i high)
{
    return join(_mm_castps_si128(_mm256_cvtpd_ps(_mm256_castsi256_pd(low))),
                _mm_castps_si128(_mm256_cvtpd_ps(_mm256_castsi256_pd(high))));
}

/** 4 f64 cut to an f32's digits, the last one set if any was lost, so that a conversion to f16 rounds once. */
AVX2_INLINE __m256i cut_4(__m256i x)
{
    __m256i cut = _mm256_set1_epi64x(F64_CUT);
    __m256i odd = _mm256_or_si256(x, _mm256_add_epi64(_mm256_and_si256(x, cut), cut));
    return _mm256_andnot_si256(cut, odd);
}

AVX2_INLINE __m256i f32_f64_4(__m128i x)
{
    return _mm256_castpd_si256(_mm256_cvtps_pd(_mm_castsi128_ps(x)));
}

/** All bits set where an f32 is a NaN. */
AVX2_INLINE __m256i nan_8(__m256i x)
{
    __m256i magnitude = _mm256_and_si256(x, _mm256_set1_epi32(INT32_MAX));
    return _mm256_cmpgt_epi32(magnitude, _mm256_set1_epi32(INFINITY_32));
}

/** 8 f32 rounded to bf16, in the lower halves. */
AVX2_INLINE __m256i round_bf16_8(__m256i x)
{
    __m256i odd = _mm256_and_si256(_mm256_srli_epi32(x, 16), _mm256_set1_epi32(1));
    __m256i up = _mm256_add_epi32(x, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff)));
    __m256i quiet = _mm256_or_si256(x, _mm256_set1_epi32(0x400000));
    return _mm256_srli_epi32(_mm256_blendv_epi8(up, quiet, nan_8(x)), 16);
}

AVX2_INLINE uint64_t f32_f16_step(const uint8_t *from, uint8_t *to, bool stream)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < STEP; i += 16) {
        __m256i a = get(from + 4 * i), b = get(from + 4 * i + 32);
        __m256i result = join(f32_f16_8(a), f32_f16_8(b));
        put(to + 2 * i, result, stream);
        if (special(result, F16_SIGNS, F16_ONE))
            sum += bits_set(over_32(a, F32_TOO_LARGE_F16) | over_32(b, F32_TOO_LARGE_F16) << 8);
    }
    return sum;
}
BULK(AVX2, f32_f16, f32_f16_step, 4, 2)

AVX2_INLINE uint64_t f16_f32_step(const uint8_t *from, uint8_t *to, bool stream)
{
    for (unsigned i = 0; i < STEP; i += 8)
        put(to + 4 * i, f16_f32_8(get128(from + 2 * i)), stream);
    return 0;
}
BULK(AVX2, f16_f32, f16_f32_step, 2, 4)

AVX2_INLINE uint64_t f32_bf16_step(const uint8_t *from, uint8_t *to, bool stream)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < STEP; i += 16) {
        __m256i a = get(from + 4 * i), b = get(from + 4 * i + 32);
        /* Packing works within 128 bits: put the four parts in order again. */
        __m256i packed = _mm256_packus_epi32(round_bf16_8(a), round_bf16_8(b));
        __m256i result = _mm256_permute4x64_epi64(packed, _MM_SHUFFLE(3, 1, 2, 0));
        put(to + 2 * i, result, stream);
        if (special(result, F16_SIGNS, BF16_ONE))
            sum += bits_set(over_32(a, F32_TOO_LARGE_BF16) | over_32(b, F32_TOO_LARGE_BF16) << 8);
    }
    return sum;
}
BULK(AVX2, f32_bf16, f32_bf16_step, 4, 2)

AVX2_INLINE uint64_t bf16_f32_step(const uint8_t *from, uint8_t *to, bool stream)
{
    for (unsigned i = 0; i < STEP; i += 8) {
        __m256i x = _mm256_slli_epi32(_mm256_cvtepu16_epi32(get128(from + 2 * i)), 16);
        put(to + 4 * i, _mm256_or_si256(x, _mm256_and_si256(nan_8(x), _mm256_set1_epi32(0x400000))), stream);
    }
    return 0;
}
BULK(AVX2, bf16_f32, bf16_f32_step, 2, 4)

AVX2_INLINE uint64_t f64_f32_step(const uint8_t *from, uint8_t *to, bool stream)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < STEP; i += 8) {
        __m256i a = get(from + 8 * i), b = get(from + 8 * i + 32);
        __m256i result = f64_f32_8(a, b);
        put(to + 4 * i, result, stream);
        if (special(result, F32_SIGN, F32_ONE))
            sum += bits_set(over_64(a, F64_TOO_LARGE_F32) | over_64(b, F64_TOO_LARGE_F32) << 4);
    }
    return sum;
}
BULK(AVX2, f64_f32, f64_f32_step, 8, 4)

AVX2_INLINE uint64_t f32_f64_step(const uint8_t *from, uint8_t *to, bool stream)
{
    for (unsigned i = 0; i < STEP; i += 4)
        put(to + 8 * i, f32_f64_4(get128(from + 4 * i)), stream);
    return 0;
}
BULK(AVX2, f32_f64, f32_f64_step, 4, 8)

AVX2_INLINE uint64_t f64_f16_step(const uint8_t *from, uint8_t *to, bool stream)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < STEP; i += 16) {
        __m256i a = get(from + 8 * i), b = get(from + 8 * i + 32);
        __m256i c = get(from + 8 * i + 64), d = get(from + 8 * i + 96);
        __m256i result = join(f32_f16_8(f64_f32_8(cut_4(a), cut_4(b))), f32_f16_8(f64_f32_8(cut_4(c), cut_4(d))));
        put(to + 2 * i, result, stream);
        if (special(result, F16_SIGNS, F16_ONE))
            sum += bits_set(over_64(a, F64_TOO_LARGE_F16) | over_64(b, F64_TOO_LARGE_F16) << 4 |
                            over_64(c, F64_TOO_LARGE_F16) << 8 | over_64(d, F64_TOO_LARGE_F16) << 12);
    }
    return sum;
}
BULK(AVX2, f64_f16, f64_f16_step, 8, 2)

AVX2_INLINE uint64_t f16_f64_step(const uint8_t *from, uint8_t *to, bool stream)
{
    for (unsigned i = 0; i < STEP; i += 8) {
        __m256i x = f16_f32_8(get128(from + 2 * i));
        put(to + 8 * i, f32_f64_4(_mm256_castsi256_si128(x)), stream);
        put(to + 8 * i + 32, f32_f64_4(_mm256_extracti128_si256(x, 1)), stream);
    }
    return 0;
}
BULK(AVX2, f16_f64, f16_f64_step, 2, 8)

/* ------------------------------------------------------------------------------------------------------ choice -- */

/** By rec_dtype, f64 to bf16. */
typedef lr_convert_bulk bulk_table[REC_DTYPE_BF16 + 1][REC_DTYPE_BF16 + 1];

static const bulk_table table = {
    [REC_DTYPE_F64] = {[REC_DTYPE_F32] = f64_f32, [REC_DTYPE_F16] = f64_f16},
    [REC_DTYPE_F32] = {[REC_DTYPE_F64] = f32_f64, [REC_DTYPE_F16] = f32_f16, [REC_DTYPE_BF16] = f32_bf16},
    [REC_DTYPE_F16] = {[REC_DTYPE_F64] = f16_f64, [REC_DTYPE_F32] = f16_f32},
    [REC_DTYPE_BF16] = {[REC_DTYPE_F32] = bf16_f32},
};

/** Less than this may well be read again from a cache soon. */
enum { STREAM_BYTES = 32 << 20 };

bool lr_convert_streams(const void *to_data, uint64_t size)
{
    /* A page that is touched for the first time was just zeroed in the cache: there streaming takes up to 1.6 times as
     * long, on pages in use 0.55 to 0.9. The last page tells which it is. */
    return size >= STREAM_BYTES && lr_map_is_resident((const uint8_t *)to_data + size - 1);
}

lr_convert_bulk lr_convert_fast(rec_dtype from, rec_dtype to, uint64_t count)
{
    return count >= STEP && LR_CPU_HAS(AVX2, "avx2") && LR_CPU_HAS(F16C, "f16c") ? table[from][to] : NULL;
}

#endif
