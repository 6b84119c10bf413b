/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Floats from one type to another with the vector instructions that every aarch64 has. The results are those of
 * convert.c, bit for bit: the processor's conversions keep a NaN's sign and upper payload and set its quiet bit. */
#include "core/record/convert_private.h"

#ifdef LR_CONVERT_HAS_NEON

#include <arm_neon.h>

/** Elements a step. */
enum { STEP = 64 };

/* See convert.c: the least magnitudes that become infinite. */
#define INFINITY_16 0x7c00u
#define INFINITY_BF16 0x7f80u
#define INFINITY_32 0x7f800000u
#define INFINITY_64 0x7ff0000000000000u
#define F32_TOO_LARGE_F16 0x477ff000u
#define F32_TOO_LARGE_BF16 0x7f7f8000u
#define F64_TOO_LARGE_F32 0x47effffff0000000u
#define F64_TOO_LARGE_F16 0x40effe0000000000u

#define INLINE static inline __attribute__((always_inline))

/* Loads and stores of bytes: elements may have any alignment. */
INLINE uint16x8_t get16(const uint8_t *from)
{
    return vreinterpretq_u16_u8(vld1q_u8(from));
}

INLINE uint32x4_t get32(const uint8_t *from)
{
    return vreinterpretq_u32_u8(vld1q_u8(from));
}

INLINE uint64x2_t get64(const uint8_t *from)
{
    return vreinterpretq_u64_u8(vld1q_u8(from));
}

INLINE void put16(uint8_t *to, uint16x8_t value)
{
    vst1q_u8(to, vreinterpretq_u8_u16(value));
}

INLINE void put32(uint8_t *to, uint32x4_t value)
{
    vst1q_u8(to, vreinterpretq_u8_u32(value));
}

INLINE void put64(uint8_t *to, float64x2_t value)
{
    vst1q_u8(to, vreinterpretq_u8_f64(value));
}

/* Whether a result holds an infinity or a NaN is cheap to see. Only then are a step's overflows counted. */
INLINE uint16x8_t special16(uint16x8_t result, uint16_t infinity)
{
    return vcgeq_u16(vandq_u16(result, vdupq_n_u16(0x7fff)), vdupq_n_u16(infinity));
}

INLINE uint32x4_t special32(uint32x4_t result)
{
    return vcgeq_u32(vandq_u32(result, vdupq_n_u32(0x7fffffff)), vdupq_n_u32(INFINITY_32));
}

/** How many of a step's f32 are finite and at least `limit`. */
static uint64_t count_over32(const uint8_t *from, uint32_t limit)
{
    uint32x4_t sum = vdupq_n_u32(0);
    for (unsigned i = 0; i < STEP; i += 4) {
        uint32x4_t beyond = vsubq_u32(vandq_u32(get32(from + 4 * i), vdupq_n_u32(0x7fffffff)), vdupq_n_u32(limit));
        sum = vsubq_u32(sum, vcltq_u32(beyond, vdupq_n_u32(INFINITY_32 - limit)));
    }
    return vaddvq_u32(sum);
}

/** How many of a step's f64 are. */
static uint64_t count_over64(const uint8_t *from, uint64_t limit)
{
    uint64x2_t sum = vdupq_n_u64(0);
    for (unsigned i = 0; i < STEP; i += 2) {
        uint64x2_t magnitude = vandq_u64(get64(from + 8 * i), vdupq_n_u64(INT64_MAX));
        sum = vsubq_u64(sum, vcltq_u64(vsubq_u64(magnitude, vdupq_n_u64(limit)), vdupq_n_u64(INFINITY_64 - limit)));
    }
    return vaddvq_u64(sum);
}

/** Makes a kernel from `step`, which converts STEP elements and @return the number of overflows. Stores go through the
 * caches: the streaming flag is a hint. */
#define BULK(name, step, from_size, to_size)                                                                  \
    static uint64_t name(const uint8_t *from, uint8_t *to, uint64_t count, bool stream, uint64_t *overflowed) \
    {                                                                                                         \
        uint64_t i = 0, sum = 0;                                                                              \
        (void)stream;                                                                                         \
        for (; count - i >= STEP; i += STEP)                                                                  \
            sum += step(from + i * (from_size), to + i * (to_size));                                          \
        *overflowed += sum;                                                                                   \
        return i;                                                                                             \
    }

INLINE uint16x8_t f32_f16_8(float32x4_t low, float32x4_t high)
{
    return vreinterpretq_u16_f16(vcvt_high_f16_f32(vcvt_f16_f32(low), high));
}

INLINE uint64_t f32_f16_step(const uint8_t *from, uint8_t *to)
{
    uint16x8_t special = vdupq_n_u16(0);
    for (unsigned i = 0; i < STEP; i += 8) {
        float32x4_t a = vreinterpretq_f32_u32(get32(from + 4 * i));
        float32x4_t b = vreinterpretq_f32_u32(get32(from + 4 * i + 16));
        uint16x8_t result = f32_f16_8(a, b);
        put16(to + 2 * i, result);
        special = vorrq_u16(special, special16(result, INFINITY_16));
    }
    return __builtin_expect(vmaxvq_u16(special) != 0, 0) ? count_over32(from, F32_TOO_LARGE_F16) : 0;
}
BULK(f32_f16, f32_f16_step, 4, 2)

INLINE uint64_t f16_f32_step(const uint8_t *from, uint8_t *to)
{
    for (unsigned i = 0; i < STEP; i += 8) {
        float16x8_t x = vreinterpretq_f16_u16(get16(from + 2 * i));
        put32(to + 4 * i, vreinterpretq_u32_f32(vcvt_f32_f16(vget_low_f16(x))));
        put32(to + 4 * i + 16, vreinterpretq_u32_f32(vcvt_high_f32_f16(x)));
    }
    return 0;
}
BULK(f16_f32, f16_f32_step, 2, 4)

/** All bits set where an f32 is a NaN. */
INLINE uint32x4_t nan_4(uint32x4_t x)
{
    return vcgtq_u32(vandq_u32(x, vdupq_n_u32(0x7fffffff)), vdupq_n_u32(INFINITY_32));
}

/** 4 f32 rounded to bf16, in the upper halves. */
INLINE uint32x4_t round_bf16_4(uint32x4_t x)
{
    uint32x4_t odd = vandq_u32(vshrq_n_u32(x, 16), vdupq_n_u32(1));
    uint32x4_t up = vaddq_u32(x, vaddq_u32(odd, vdupq_n_u32(0x7fff)));
    return vbslq_u32(nan_4(x), vorrq_u32(x, vdupq_n_u32(0x400000)), up);
}

INLINE uint64_t f32_bf16_step(const uint8_t *from, uint8_t *to)
{
    uint16x8_t special = vdupq_n_u16(0);
    for (unsigned i = 0; i < STEP; i += 8) {
        uint32x4_t a = round_bf16_4(get32(from + 4 * i)), b = round_bf16_4(get32(from + 4 * i + 16));
        uint16x8_t result = vshrn_high_n_u32(vshrn_n_u32(a, 16), b, 16);
        put16(to + 2 * i, result);
        special = vorrq_u16(special, special16(result, INFINITY_BF16));
    }
    return __builtin_expect(vmaxvq_u16(special) != 0, 0) ? count_over32(from, F32_TOO_LARGE_BF16) : 0;
}
BULK(f32_bf16, f32_bf16_step, 4, 2)

INLINE uint32x4_t bf16_f32_4(uint32x4_t x)
{
    return vorrq_u32(x, vandq_u32(nan_4(x), vdupq_n_u32(0x400000)));
}

INLINE uint64_t bf16_f32_step(const uint8_t *from, uint8_t *to)
{
    for (unsigned i = 0; i < STEP; i += 8) {
        uint16x8_t x = get16(from + 2 * i);
        put32(to + 4 * i, bf16_f32_4(vshll_n_u16(vget_low_u16(x), 16)));
        put32(to + 4 * i + 16, bf16_f32_4(vshll_high_n_u16(x, 16)));
    }
    return 0;
}
BULK(bf16_f32, bf16_f32_step, 2, 4)

INLINE uint64_t f64_f32_step(const uint8_t *from, uint8_t *to)
{
    uint32x4_t special = vdupq_n_u32(0);
    for (unsigned i = 0; i < STEP; i += 4) {
        float64x2_t a = vreinterpretq_f64_u64(get64(from + 8 * i));
        float64x2_t b = vreinterpretq_f64_u64(get64(from + 8 * i + 16));
        uint32x4_t result = vreinterpretq_u32_f32(vcvt_high_f32_f64(vcvt_f32_f64(a), b));
        put32(to + 4 * i, result);
        special = vorrq_u32(special, special32(result));
    }
    return __builtin_expect(vmaxvq_u32(special) != 0, 0) ? count_over64(from, F64_TOO_LARGE_F32) : 0;
}
BULK(f64_f32, f64_f32_step, 8, 4)

INLINE void f32_f64_4(uint8_t *to, float32x4_t x)
{
    put64(to, vcvt_f64_f32(vget_low_f32(x)));
    put64(to + 16, vcvt_high_f64_f32(x));
}

INLINE uint64_t f32_f64_step(const uint8_t *from, uint8_t *to)
{
    for (unsigned i = 0; i < STEP; i += 4)
        f32_f64_4(to + 8 * i, vreinterpretq_f32_u32(get32(from + 4 * i)));
    return 0;
}
BULK(f32_f64, f32_f64_step, 4, 8)

/** Converts 4 f64 to f32, rounded to odd, so that a second rounding is exact. Larger numbers become the largest f32,
 * which f16 cannot hold either. */
INLINE float32x4_t f64_f32_odd_4(const uint8_t *from)
{
    float64x2_t a = vreinterpretq_f64_u64(get64(from)), b = vreinterpretq_f64_u64(get64(from + 16));
    return vcvtx_high_f32_f64(vcvtx_f32_f64(a), b);
}

INLINE uint64_t f64_f16_step(const uint8_t *from, uint8_t *to)
{
    uint16x8_t special = vdupq_n_u16(0);
    for (unsigned i = 0; i < STEP; i += 8) {
        uint16x8_t result = f32_f16_8(f64_f32_odd_4(from + 8 * i), f64_f32_odd_4(from + 8 * i + 32));
        put16(to + 2 * i, result);
        special = vorrq_u16(special, special16(result, INFINITY_16));
    }
    return __builtin_expect(vmaxvq_u16(special) != 0, 0) ? count_over64(from, F64_TOO_LARGE_F16) : 0;
}
BULK(f64_f16, f64_f16_step, 8, 2)

INLINE uint64_t f16_f64_step(const uint8_t *from, uint8_t *to)
{
    for (unsigned i = 0; i < STEP; i += 8) {
        float16x8_t x = vreinterpretq_f16_u16(get16(from + 2 * i));
        f32_f64_4(to + 8 * i, vcvt_f32_f16(vget_low_f16(x)));
        f32_f64_4(to + 8 * i + 32, vcvt_high_f32_f16(x));
    }
    return 0;
}
BULK(f16_f64, f16_f64_step, 2, 8)

/* ------------------------------------------------------------------------------------------------------ choice -- */

lr_convert_bulk lr_convert_fast(rec_dtype from, rec_dtype to, uint64_t count)
{
    static const lr_convert_bulk table[REC_DTYPE_BF16 + 1][REC_DTYPE_BF16 + 1] = {
        [REC_DTYPE_F64] = {[REC_DTYPE_F32] = f64_f32, [REC_DTYPE_F16] = f64_f16},
        [REC_DTYPE_F32] = {[REC_DTYPE_F64] = f32_f64, [REC_DTYPE_F16] = f32_f16, [REC_DTYPE_BF16] = f32_bf16},
        [REC_DTYPE_F16] = {[REC_DTYPE_F64] = f16_f64, [REC_DTYPE_F32] = f16_f32},
        [REC_DTYPE_BF16] = {[REC_DTYPE_F32] = bf16_f32},
    };
    return count >= STEP ? table[from][to] : NULL;
}

#endif
