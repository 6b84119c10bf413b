/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Decoding blocks with the vector instructions that every aarch64 has. */
#include "plugins/codec/gguf/blocks_private.h"

#ifdef LR_GGUF_HAS_NEON

#include <arm_neon.h>

#define TARGET
#define INLINE static inline __attribute__((always_inline))
#define NAME(x) x##_neon
#define FLOATS float32x4_t

INLINE float32x4_t spread_neon(float number)
{
    return vdupq_n_f32(number);
}

INLINE float32x4_t spread_half_neon(const uint8_t *data)
{
    uint16_t half = (uint16_t)(data[0] | data[1] << 8);
    return vcvt_f32_f16(vreinterpret_f16_u16(vdup_n_u16(half)));
}

INLINE float32x4x4_t times_neon(bytes q, float32x4_t d)
{
    int8x16_t x = (int8x16_t)q;
    int16x8_t low = vmovl_s8(vget_low_s8(x)), high = vmovl_high_s8(x);
    return (float32x4x4_t){{vmulq_f32(vcvtq_f32_s32(vmovl_s16(vget_low_s16(low))), d),
                            vmulq_f32(vcvtq_f32_s32(vmovl_high_s16(low)), d),
                            vmulq_f32(vcvtq_f32_s32(vmovl_s16(vget_low_s16(high))), d),
                            vmulq_f32(vcvtq_f32_s32(vmovl_high_s16(high)), d)}};
}

INLINE void put_neon(float *y, bytes q, float32x4_t d)
{
    float32x4x4_t x = times_neon(q, d);
    for (int i = 0; i < 4; i++)
        vst1q_f32(y + 4 * i, x.val[i]);
}

INLINE void put_plus_neon(float *y, bytes q, float32x4_t d, float32x4_t m)
{
    float32x4x4_t x = times_neon(q, d);
    for (int i = 0; i < 4; i++)
        vst1q_f32(y + 4 * i, vaddq_f32(x.val[i], m));
}

INLINE void put_minus_neon(float *y, bytes q, float32x4_t d, float32x4_t m)
{
    float32x4x4_t x = times_neon(q, d);
    for (int i = 0; i < 4; i++)
        vst1q_f32(y + 4 * i, vsubq_f32(x.val[i], m));
}

INLINE bytes look_up_neon(bytes table, bytes q)
{
    return (bytes)vqtbl1q_u8((uint8x16_t)table, (uint8x16_t)q);
}

#include "plugins/codec/gguf/blocks_vector.h"

lr_gguf_decode *lr_gguf_level(int level, int kind)
{
    return level == LR_GGUF_NEON ? versions_neon[kind] : NULL;
}

#endif
