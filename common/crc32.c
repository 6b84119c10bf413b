/* SPDX-License-Identifier: MIT OR Apache-2.0
 * CRC-32. On x86-64 by carry-less multiplication: bytes are a polynomial, and 64 of them are folded into the next 64
 * with the same remainder. On aarch64 by its instruction. Elsewhere, and for short data, by tables. */
#include "common/crc32.h"

#include <pthread.h>
#include <string.h>

/* tables[n][b]: the remainder of a byte `b` with n bytes of zero after it. Made when they are first needed. */
static uint32_t tables[4][256];
static pthread_once_t tables_made = PTHREAD_ONCE_INIT;

static void make_tables(void)
{
    for (uint32_t b = 0; b < 256; b++) {
        uint32_t rest = b;
        for (int bit = 0; bit < 8; bit++) {
            rest = rest >> 1 ^ (rest & 1 ? UINT32_C(0xedb88320) : 0);
        }
        tables[0][b] = rest;
    }
    for (uint32_t n = 1; n < 4; n++) {
        for (uint32_t b = 0; b < 256; b++) {
            tables[n][b] = tables[n - 1][b] >> 8 ^ tables[0][tables[n - 1][b] & 0xff];
        }
    }
}

static uint32_t by_tables(uint32_t crc, const uint8_t *data, size_t size)
{
    uint32_t rest = ~crc;
    (void)pthread_once(&tables_made, make_tables);
    for (; size >= 4; size -= 4, data += 4) {
        rest ^= data[0] | (uint32_t)data[1] << 8 | (uint32_t)data[2] << 16 | (uint32_t)data[3] << 24;
        rest =
            tables[3][rest & 0xff] ^ tables[2][rest >> 8 & 0xff] ^ tables[1][rest >> 16 & 0xff] ^ tables[0][rest >> 24];
    }
    for (; size > 0; size--, data++) {
        rest = rest >> 8 ^ tables[0][(rest ^ *data) & 0xff];
    }
    return ~rest;
}

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
    *crc = by_tables(0xffffffff, last, sizeof last); /* nothing before them: that is in them already */
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
    *crc = by_tables(*crc, data, size);
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
    return done < size ? by_tables(crc, at + done, size - done) : crc;
}
