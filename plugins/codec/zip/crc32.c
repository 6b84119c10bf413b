/* SPDX-License-Identifier: MIT OR Apache-2.0
 * CRC-32. On x86-64 by multiplication without carries: bytes are a polynomial, and 64 of them together with the 64
 * behind become 64 that leave the same remainder. zlib takes the remainder of the last 16. On aarch64 by its
 * instruction. */
#include "plugins/codec/zip/crc32.h"

#include <string.h>
#include <zlib.h>

#if defined(__x86_64__) && defined(__GNUC__)

#include <immintrin.h>

#include "common/cpu.h"

#define TARGET __attribute__((target("sse4.1,pclmul")))

TARGET static inline __m128i get(const uint8_t *data)
{
    return _mm_loadu_si128((const void *)data);
}

/* What leaves the same remainder as `x` followed by so many bytes as `factors` are for, `next` the last 16 of them. */
TARGET static inline __m128i fold(__m128i x, __m128i factors, __m128i next)
{
    __m128i low = _mm_clmulepi64_si128(x, factors, 0x00), high = _mm_clmulepi64_si128(x, factors, 0x11);
    return _mm_xor_si128(_mm_xor_si128(low, high), next);
}

/* At least 64 bytes; whole 16 of them. @return how many were done. */
TARGET static size_t sum(uint32_t *crc, const uint8_t *data, size_t size)
{
    /* The remainders of x^(8n + 32) and x^(8n - 32), bits reversed, for n bytes on: 64 and 16. */
    const __m128i far = _mm_set_epi64x(0x1c6e41596, 0x154442bd4), near = _mm_set_epi64x(0x0ccaa009e, 0x1751997d0);
    __m128i a = _mm_xor_si128(get(data), _mm_cvtsi32_si128((int32_t)~*crc));
    __m128i b = get(data + 16), c = get(data + 32), d = get(data + 48);
    uint8_t last[16];
    size_t done = 64;
    for (; size - done >= 64; done += 64) {
        a = fold(a, far, get(data + done));
        b = fold(b, far, get(data + done + 16));
        c = fold(c, far, get(data + done + 32));
        d = fold(d, far, get(data + done + 48));
    }
    a = fold(fold(fold(a, near, b), near, c), near, d);
    for (; size - done >= 16; done += 16)
        a = fold(a, near, get(data + done));
    _mm_storeu_si128((void *)last, a);
    *crc = (uint32_t)crc32_z(0xffffffff, last, sizeof last); /* nothing before them: that is in them already */
    return done;
}

static int is_able(void)
{
    return LR_CPU_HAS(PCLMULQDQ, "pclmul") && LR_CPU_HAS(SSE4_1, "sse4.1");
}

#elif defined(__aarch64__) && defined(__GNUC__) && defined(__linux__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__

#include <sys/auxv.h>

/* From the interface of Linux: asm/hwcap.h. */
#define HAS_CRC32 (1ul << 7)

/* Whole 8 bytes. @return how many were done. */
static size_t sum(uint32_t *crc, const uint8_t *data, size_t size)
{
    uint32_t rest = ~*crc;
    size_t done = 0;
    for (; size - done >= 8; done += 8) {
        uint64_t x;
        memcpy(&x, data + done, sizeof x);
        __asm__(".arch_extension crc\n\tcrc32x %w0, %w0, %x1" : "+r"(rest) : "r"(x));
    }
    *crc = ~rest;
    return done;
}

static int is_able(void)
{
    return (getauxval(AT_HWCAP) & HAS_CRC32) != 0;
}

#else

static size_t sum(uint32_t *crc, const uint8_t *data, size_t size)
{
    *crc = (uint32_t)crc32_z(*crc, data, size);
    return size;
}

static int is_able(void)
{
    return 0;
}

#endif

uint32_t lr_crc32(uint32_t crc, const void *data, size_t size)
{
    const uint8_t *at = data;
    size_t done = size >= 64 && is_able() ? sum(&crc, at, size) : 0;
    return done < size ? (uint32_t)crc32_z(crc, at + done, size - done) : crc;
}
