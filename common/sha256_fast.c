/* SPDX-License-Identifier: MIT OR Apache-2.0
 * SHA-256 by the processor's own instructions for it: those of x86-64 (SHA-NI) and of aarch64. */
#include "common/cpu.h"
#include "common/sha256.h"

#if defined(__x86_64__)

#include <immintrin.h>

#define SHA_TARGET __attribute__((target("sha,sse4.1,ssse3")))

/* Four rounds by the words in `w`; the halves of the state change places. */
#define ROUNDS(w, i)                                                                                \
    do {                                                                                            \
        __m128i sum = _mm_add_epi32(w, _mm_loadu_si128((const void *)(lr_sha256_words + 4 * (i)))); \
        cdgh = _mm_sha256rnds2_epu32(cdgh, abef, sum);                                              \
        abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(sum, 0x0E));                     \
    } while (0)

/* The next four words, in place of the oldest ones. */
#define NEXT(a, b, c, d) \
    a = _mm_sha256msg2_epu32(_mm_add_epi32(_mm_sha256msg1_epu32(a, b), _mm_alignr_epi8(d, c, 4)), d)

SHA_TARGET static void sha256_x86(uint32_t state[8], const uint8_t *at, size_t blocks)
{
    const __m128i order = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
    __m128i abcd = _mm_shuffle_epi32(_mm_loadu_si128((const void *)state), 0xB1);
    __m128i efgh = _mm_shuffle_epi32(_mm_loadu_si128((const void *)(state + 4)), 0x1B);
    __m128i abef = _mm_alignr_epi8(abcd, efgh, 8), cdgh = _mm_blend_epi16(efgh, abcd, 0xF0);

    for (; blocks; blocks--, at += 64) {
        const __m128i abef_before = abef, cdgh_before = cdgh;
        __m128i a = _mm_shuffle_epi8(_mm_loadu_si128((const void *)at), order);
        __m128i b = _mm_shuffle_epi8(_mm_loadu_si128((const void *)(at + 16)), order);
        __m128i c = _mm_shuffle_epi8(_mm_loadu_si128((const void *)(at + 32)), order);
        __m128i d = _mm_shuffle_epi8(_mm_loadu_si128((const void *)(at + 48)), order);
        ROUNDS(a, 0);
        ROUNDS(b, 1);
        ROUNDS(c, 2);
        ROUNDS(d, 3);
        for (size_t i = 4; i < 16; i += 4) {
            NEXT(a, b, c, d);
            ROUNDS(a, i);
            NEXT(b, c, d, a);
            ROUNDS(b, i + 1);
            NEXT(c, d, a, b);
            ROUNDS(c, i + 2);
            NEXT(d, a, b, c);
            ROUNDS(d, i + 3);
        }
        abef = _mm_add_epi32(abef, abef_before);
        cdgh = _mm_add_epi32(cdgh, cdgh_before);
    }
    abcd = _mm_shuffle_epi32(abef, 0x1B);
    efgh = _mm_shuffle_epi32(cdgh, 0xB1);
    _mm_storeu_si128((void *)state, _mm_blend_epi16(abcd, efgh, 0xF0));
    _mm_storeu_si128((void *)(state + 4), _mm_alignr_epi8(efgh, abcd, 8));
}

static lr_sha256_blocks *fast(void)
{
    return LR_CPU_HAS_SHA() && LR_CPU_HAS(SSE4_1, "sse4.1") && LR_CPU_HAS(SSSE3, "ssse3") ? sha256_x86 : NULL;
}

#elif defined(__aarch64__) && (defined(__GNUC__) || defined(__clang__))

#include <arm_neon.h>
#include <sys/auxv.h>

/* Of <asm/hwcap.h>, which other systems than Linux have not. */
#define HAS_SHA2 (1 << 6)

#if defined(__clang__)
#define SHA_TARGET __attribute__((target("sha2")))
#else
#define SHA_TARGET __attribute__((target("+crypto")))
#endif

SHA_TARGET static void sha256_arm(uint32_t state[8], const uint8_t *at, size_t blocks)
{
    uint32x4_t abcd = vld1q_u32(state), efgh = vld1q_u32(state + 4);

    for (; blocks; blocks--, at += 64) {
        const uint32x4_t abcd_before = abcd, efgh_before = efgh;
        uint32x4_t w[4];
        for (size_t i = 0; i < 4; i++) {
            w[i] = vreinterpretq_u32_u8(vrev32q_u8(vld1q_u8(at + 16 * i)));
        }
        for (size_t i = 0; i < 16; i++) {
            uint32x4_t sum = vaddq_u32(w[i % 4], vld1q_u32(lr_sha256_words + 4 * i)), before = abcd;
            abcd = vsha256hq_u32(abcd, efgh, sum);
            efgh = vsha256h2q_u32(efgh, before, sum);
            if (i < 12) {
                w[i % 4] = vsha256su1q_u32(vsha256su0q_u32(w[i % 4], w[(i + 1) % 4]), w[(i + 2) % 4], w[(i + 3) % 4]);
            }
        }
        abcd = vaddq_u32(abcd, abcd_before);
        efgh = vaddq_u32(efgh, efgh_before);
    }
    vst1q_u32(state, abcd);
    vst1q_u32(state + 4, efgh);
}

static lr_sha256_blocks *fast(void)
{
    return getauxval(AT_HWCAP) & HAS_SHA2 ? sha256_arm : NULL;
}

#else

static lr_sha256_blocks *fast(void)
{
    return NULL;
}

#endif

lr_sha256_blocks *lr_sha256_way(size_t index)
{
    lr_sha256_blocks *ways[] = {fast(), lr_sha256_plain, NULL};
    size_t begin = ways[0] ? 0 : 1;

    return begin + index < 2 ? ways[begin + index] : NULL;
}
