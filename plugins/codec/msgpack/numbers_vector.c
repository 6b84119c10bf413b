/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Floats of 32 bits by vectors: three objects are 15 bytes, which one shuffle turns into three numbers. Equal to the
 * plain version; tests/codec/test_msgpack.c compares them. */
#include "plugins/codec/msgpack/numbers.h"

#include <stddef.h>

#if defined(__x86_64__) && defined(__GNUC__)

#include <immintrin.h>

#include "common/cpu.h"

__attribute__((target("avx2"))) static uint64_t floats_avx2(const uint8_t *data, uint64_t count, float *out)
{
    const __m256i order = _mm256_setr_epi8(4, 3, 2, 1, 9, 8, 7, 6, 14, 13, 12, 11, -1, -1, -1, -1, /* and again */
                                           4, 3, 2, 1, 9, 8, 7, 6, 14, 13, 12, 11, -1, -1, -1, -1);
    const __m256i mark = _mm256_set1_epi8((char)0xca);
    const uint32_t marks = 0x04210421; /* bytes 0, 5 and 10 of either half */
    uint64_t i = 0;
    /* A step loads 31 bytes and stores 7 numbers, of which the last is overwritten later. */
    for (; count - i >= 7; i += 6, data += 30) {
        __m128i low = _mm_loadu_si128((const __m128i *)(const void *)data);
        __m128i high = _mm_loadu_si128((const __m128i *)(const void *)(data + 15));
        __m256i v = _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
        if (((uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(v, mark)) & marks) != marks) {
            break;
        }
        v = _mm256_shuffle_epi8(v, order);
        _mm_storeu_si128((__m128i *)(void *)(out + i), _mm256_castsi256_si128(v));
        _mm_storeu_si128((__m128i *)(void *)(out + i + 3), _mm256_extracti128_si256(v, 1));
    }
    return i + lr_msgpack_floats_plain(data, count - i, out + i);
}

lr_msgpack_floats *lr_msgpack_floats_choice(unsigned index)
{
    if (LR_CPU_HAS(AVX2, "avx2") && index-- == 0) {
        return floats_avx2;
    }
    return index == 0 ? lr_msgpack_floats_plain : NULL;
}

#elif defined(__aarch64__) && defined(__ARM_NEON) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__

#include <arm_neon.h>

static uint64_t floats_neon(const uint8_t *data, uint64_t count, float *out)
{
    static const uint8_t places[16] = {4, 3, 2, 1, 9, 8, 7, 6, 14, 13, 12, 11, 0, 5, 10, 10};
    const uint8x16_t order = vld1q_u8(places);
    uint64_t i = 0;
    /* A step loads 16 bytes and stores 4 numbers, of which the last is overwritten later. */
    for (; count - i >= 4; i += 3, data += 15) {
        uint8x16_t v = vqtbl1q_u8(vld1q_u8(data), order);
        if (vgetq_lane_u32(vreinterpretq_u32_u8(v), 3) != 0xcacacacau) {
            break;
        }
        vst1q_u8((uint8_t *)(out + i), v);
    }
    return i + lr_msgpack_floats_plain(data, count - i, out + i);
}

lr_msgpack_floats *lr_msgpack_floats_choice(unsigned index)
{
    return index == 0 ? floats_neon : index == 1 ? lr_msgpack_floats_plain : NULL;
}

#else

lr_msgpack_floats *lr_msgpack_floats_choice(unsigned index)
{
    return index == 0 ? lr_msgpack_floats_plain : NULL;
}

#endif
