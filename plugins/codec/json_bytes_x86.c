/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Lists of bytes on x86-64, a block of text at a time: masks of what each byte is tell where numbers end, and each byte
 * adds up the number that would end there. Equal to the plain version, tests/test_json.c compares. */
#include "json_number.h"

#include <stddef.h>

#if defined(__x86_64__) && defined(__GNUC__)

#include <immintrin.h>
#include <string.h>

/* What a block's bytes are, a bit each. `overflow`: the number that ends there is above 255. */
typedef struct block {
    uint64_t digits, commas, spaces, zeros, overflow;
} block;

/* Finds the elements of a block that begins where one is expected. @param all a bit for each byte.
 * @param ends (out) last digits of complete elements. @return bytes taken; 0: none is sure. */
static inline __attribute__((always_inline)) uint32_t take(const block *b, uint64_t all, uint64_t *ends)
{
    uint64_t second = b->digits & b->digits << 1, third = second & b->digits << 2;
    uint64_t start = b->digits & ~(b->digits << 1);
    uint64_t bad = ~(b->digits | b->commas | b->spaces);
    bad |= b->commas & ~(b->digits << 1);                       /* a comma without a number */
    bad |= b->spaces & ~(b->spaces << 1 | b->commas << 1 | 1);  /* space behind a number */
    bad |= third & b->digits << 3;                              /* four digits */
    bad |= b->digits & (start & b->zeros) << 1;                 /* a leading zero */
    bad |= b->digits & b->overflow;
    bad &= all;
    uint64_t good = bad ? (bad & (0 - bad)) - 1 : all;
    uint64_t commas = b->commas & good;
    if (commas == 0) {
        uint64_t others = ~b->spaces & all;
        *ends = 0;
        return others ? (uint32_t)__builtin_ctzll(others) : (uint32_t)__builtin_popcountll(all);
    }
    *ends = b->digits & commas >> 1;
    return 64 - (uint32_t)__builtin_clzll(commas);
}

/* ------------------------------------------------------------------------------------------------------------ AVX2 -- */

#define AVX2 __attribute__((target("avx2,bmi,popcnt")))

AVX2 static inline __m256i one_back(__m256i v)
{
    return _mm256_alignr_epi8(v, _mm256_permute2x128_si256(v, v, 0x08), 15);
}

AVX2 static inline uint64_t mask(__m256i v)
{
    return (uint32_t)_mm256_movemask_epi8(v);
}

AVX2 static uint64_t scan_avx2(const uint8_t **text, const uint8_t *end, uint8_t *out, uint64_t room)
{
    const uint8_t *p = *text;
    uint64_t count = 0;
    while (end - p >= 64 && room - count >= 64) {
        uint8_t numbers[32];
        block b;
        uint64_t ends;
        __m256i t = _mm256_loadu_si256((const __m256i *)(const void *)p);
        __m256i d = _mm256_sub_epi8(t, _mm256_set1_epi8('0'));
        __m256i is_digit = _mm256_cmpeq_epi8(_mm256_min_epu8(d, _mm256_set1_epi8(9)), d);
        d = _mm256_and_si256(d, is_digit);
        __m256i tens = one_back(d);
        __m256i hundreds = one_back(_mm256_and_si256(tens, is_digit));
        __m256i twice = _mm256_add_epi8(tens, tens), four = _mm256_add_epi8(twice, twice);
        __m256i rest = _mm256_add_epi8(_mm256_add_epi8(d, twice), _mm256_add_epi8(four, four));
        /* 0, 100, 200; more is an overflow by itself */
        __m256i table = _mm256_setr_epi8(0, 100, (char)200, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 100, (char)200, 0,
                                         0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
        __m256i high = _mm256_shuffle_epi8(table, hundreds);
        __m256i sum = _mm256_add_epi8(high, rest);
        __m256i wrapped = _mm256_xor_si256(_mm256_cmpeq_epi8(sum, _mm256_adds_epu8(high, rest)), _mm256_set1_epi8(-1));
        b.overflow = mask(_mm256_or_si256(wrapped, _mm256_cmpgt_epi8(hundreds, _mm256_set1_epi8(2))));
        b.digits = mask(is_digit);
        b.zeros = b.digits & mask(_mm256_cmpeq_epi8(d, _mm256_setzero_si256()));
        b.commas = mask(_mm256_cmpeq_epi8(t, _mm256_set1_epi8(',')));
        b.spaces = mask(_mm256_or_si256(_mm256_or_si256(_mm256_cmpeq_epi8(t, _mm256_set1_epi8(' ')),
                                                        _mm256_cmpeq_epi8(t, _mm256_set1_epi8('\n'))),
                                        _mm256_or_si256(_mm256_cmpeq_epi8(t, _mm256_set1_epi8('\r')),
                                                        _mm256_cmpeq_epi8(t, _mm256_set1_epi8('\t')))));
        uint32_t taken = take(&b, UINT32_MAX, &ends);
        if (taken == 0) {
            break;
        }
        _mm256_storeu_si256((__m256i *)(void *)numbers, sum);
        for (; ends; ends &= ends - 1) {
            out[count++] = numbers[__builtin_ctzll(ends)];
        }
        p += taken;
    }
    *text = p;
    return count;
}

/* --------------------------------------------------------------------------------------------------------- AVX-512 -- */

#define AVX512 __attribute__((target("avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi,popcnt")))

AVX512 static uint64_t scan_avx512(const uint8_t **text, const uint8_t *end, uint8_t *out, uint64_t room)
{
    static const uint8_t before[64] = {0,  0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14,
                                       15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30,
                                       31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46,
                                       47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62};
    /* 0, 100, 200; more is an overflow by itself */
    const __m512i table = _mm512_set1_epi32((int)0x00c86400);
    const __m512i back = _mm512_loadu_si512(before);
    const uint8_t *p = *text;
    uint64_t count = 0;
    while (end - p >= 64 && room - count >= 64) {
        block b;
        uint64_t ends;
        __m512i t = _mm512_loadu_si512(p);
        __m512i d = _mm512_sub_epi8(t, _mm512_set1_epi8('0'));
        b.digits = _mm512_cmple_epu8_mask(d, _mm512_set1_epi8(9));
        b.zeros = _mm512_cmpeq_epi8_mask(t, _mm512_set1_epi8('0'));
        b.commas = _mm512_cmpeq_epi8_mask(t, _mm512_set1_epi8(','));
        b.spaces = _mm512_cmpeq_epi8_mask(t, _mm512_set1_epi8(' ')) | _mm512_cmpeq_epi8_mask(t, _mm512_set1_epi8('\n')) |
                   _mm512_cmpeq_epi8_mask(t, _mm512_set1_epi8('\r')) | _mm512_cmpeq_epi8_mask(t, _mm512_set1_epi8('\t'));
        __m512i tens = _mm512_maskz_permutexvar_epi8(b.digits << 1, back, d);
        __m512i hundreds = _mm512_maskz_permutexvar_epi8(b.digits << 1 & b.digits << 2, back, tens);
        __m512i twice = _mm512_add_epi8(tens, tens), four = _mm512_add_epi8(twice, twice);
        __m512i rest = _mm512_add_epi8(_mm512_add_epi8(d, twice), _mm512_add_epi8(four, four));
        __mmask64 most = _mm512_cmpgt_epu8_mask(hundreds, _mm512_set1_epi8(2));
        __m512i high = _mm512_shuffle_epi8(table, hundreds);
        __m512i sum = _mm512_add_epi8(high, rest);
        b.overflow = most | _mm512_cmplt_epu8_mask(sum, high);
        uint32_t taken = take(&b, UINT64_MAX, &ends);
        if (taken == 0) {
            break;
        }
        _mm512_storeu_si512(out + count, _mm512_maskz_compress_epi8(ends, sum));
        count += (uint64_t)__builtin_popcountll(ends);
        p += taken;
    }
    *text = p;
    return count;
}

lr_bytes_scan *lr_bytes_scan_choice(unsigned index)
{
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512vbmi2") && __builtin_cpu_supports("avx512vbmi") &&
        __builtin_cpu_supports("avx512bw") && index-- == 0) {
        return scan_avx512;
    }
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && index-- == 0) {
        return scan_avx2;
    }
    return index == 0 ? lr_bytes_scan_plain : NULL;
}

#else

lr_bytes_scan *lr_bytes_scan_choice(unsigned index)
{
    return index == 0 ? lr_bytes_scan_plain : NULL;
}

#endif
