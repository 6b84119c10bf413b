/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Lists of bytes on x86-64, a block of text at a time: masks of what each byte is tell where numbers end, and the
 * number that ends before a byte is added up from the three bytes before it. Equal to the plain version;
 * tests/codec/test_json_number.c compares them. */
#include "plugins/codec/json/bytes_block.h"

#include <stddef.h>

#ifdef LR_BYTES_HAS_X86

#include <immintrin.h>
#include <string.h>

#include "common/cpu.h"

/* Text that is fetched ahead of its use. The work on a block is so long that a processor does not look far enough by
 * itself. */
#define AHEAD 2048

/* -------------------------------------------------------------------------------------------------------- AVX2 -- */

#define AVX2 __attribute__((target("avx2,bmi,popcnt")))

AVX2 static inline uint64_t mask(__m256i v)
{
    return (uint32_t)_mm256_movemask_epi8(v);
}

AVX2 static uint64_t scan_avx2(const uint8_t **text, const uint8_t *end, uint8_t *out, uint64_t room)
{
    /* 0, 100, 200; more is an overflow by itself */
    const __m256i table = _mm256_set1_epi32(0x00c86400);
    const __m256i two = _mm256_set1_epi8(2);
    const uint8_t *last = *text;
    const __m256i none = _mm256_set1_epi8(-1), zero = _mm256_setzero_si256();
    __m256i before = none; /* digits of the block before, -1 for other characters */
    carry c = {.free = 1};
    uint64_t count = 0;
    bool stop = false;
    for (const uint8_t *p = last; !stop && end - p >= 64 && room - count >= 64; p += 32) {
        uint8_t numbers[32];
        block b;
        __builtin_prefetch(p + AHEAD);
        __m256i t = _mm256_loadu_si256((const __m256i *)(const void *)p);
        __m256i d = _mm256_sub_epi8(t, _mm256_set1_epi8('0'));
        __m256i is_digit = _mm256_cmpeq_epi8(_mm256_min_epu8(d, _mm256_set1_epi8(9)), d);
        b.digits = mask(is_digit);
        b.zeros = mask(_mm256_cmpeq_epi8(t, _mm256_set1_epi8('0')));
        b.commas = mask(_mm256_cmpeq_epi8(t, _mm256_set1_epi8(',')));
        b.spaces = mask(_mm256_or_si256(
            _mm256_or_si256(_mm256_cmpeq_epi8(t, _mm256_set1_epi8(' ')), _mm256_cmpeq_epi8(t, _mm256_set1_epi8('\n'))),
            _mm256_or_si256(_mm256_cmpeq_epi8(t, _mm256_set1_epi8('\r')),
                            _mm256_cmpeq_epi8(t, _mm256_set1_epi8('\t')))));
        d = _mm256_or_si256(d, _mm256_xor_si256(is_digit, none));
        __m256i middle = _mm256_permute2x128_si256(before, d, 0x21);
        __m256i ones = _mm256_alignr_epi8(d, middle, 15);
        __m256i tens = _mm256_alignr_epi8(d, middle, 14);
        __m256i hundreds = _mm256_max_epi8(_mm256_alignr_epi8(d, middle, 13), zero);
        hundreds = _mm256_and_si256(hundreds, _mm256_cmpgt_epi8(tens, none)); /* not of the number before this one */
        tens = _mm256_max_epi8(tens, zero);
        __m256i twice = _mm256_add_epi8(tens, tens), four = _mm256_add_epi8(twice, twice);
        __m256i rest = _mm256_add_epi8(_mm256_add_epi8(ones, twice), _mm256_add_epi8(four, four));
        __m256i high = _mm256_shuffle_epi8(table, hundreds);
        __m256i sum = _mm256_add_epi8(high, rest);
        b.overflow =
            ~mask(_mm256_cmpeq_epi8(sum, _mm256_adds_epu8(high, rest))) | mask(_mm256_cmpgt_epi8(hundreds, two));
        uint64_t commas = complete(&b, 32, &c, &stop);
        before = d;
        _mm256_storeu_si256((__m256i *)(void *)numbers, sum);
        last = commas ? p + 64 - __builtin_clzll(commas) : last;
        for (; commas; commas &= commas - 1) {
            out[count++] = numbers[__builtin_ctzll(commas)];
        }
    }
    *text = last;
    return count;
}

/* ----------------------------------------------------------------------------------------------------- AVX-512 -- */

#define AVX512 __attribute__((target("avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi,popcnt")))

/* The white space of a block: each of the four is what the table has for its low half. */
AVX512 static inline uint64_t spaces_of(__m512i t)
{
    const __m512i table =
        _mm512_broadcast_i32x4(_mm_setr_epi8(' ', 0, 0, 0, 0, 0, 0, 0, 0, '\t', '\n', 0, 0, '\r', 0, 0));
    return _mm512_cmpeq_epi8_mask(_mm512_shuffle_epi8(table, t), t);
}

AVX512 static uint64_t scan_dense(const uint8_t **text, const uint8_t *end, uint8_t *out, uint64_t room)
{
    /* Of the block before and this one, 128 bytes, those that are one, two and three before each byte. */
    static const uint8_t places[66] = {
        61,  62,  63,  64,  65,  66,  67,  68,  69,  70,  71,  72,  73,  74,  75,  76,  77,  78,  79,  80,  81,  82,
        83,  84,  85,  86,  87,  88,  89,  90,  91,  92,  93,  94,  95,  96,  97,  98,  99,  100, 101, 102, 103, 104,
        105, 106, 107, 108, 109, 110, 111, 112, 113, 114, 115, 116, 117, 118, 119, 120, 121, 122, 123, 124, 125, 126};
    const __m512i back1 = _mm512_loadu_si512(places + 2), back2 = _mm512_loadu_si512(places + 1),
                  back3 = _mm512_loadu_si512(places);
    /* 0, 100, 200; more is an overflow by itself */
    const __m512i table = _mm512_set1_epi32(0x00c86400);
    const uint8_t *last = *text;
    __m512i before = _mm512_setzero_si512();
    carry c = {.free = 1};
    uint64_t count = 0;
    bool stop = false;
    for (const uint8_t *p = last; !stop && end - p >= 64 && room - count >= 64; p += 64) {
        block b;
        __builtin_prefetch(p + AHEAD);
        __m512i t = _mm512_loadu_si512(p);
        __m512i d = _mm512_sub_epi8(t, _mm512_set1_epi8('0'));
        b.digits = _mm512_cmple_epu8_mask(d, _mm512_set1_epi8(9));
        b.zeros = _mm512_cmpeq_epi8_mask(t, _mm512_set1_epi8('0'));
        b.commas = _mm512_cmpeq_epi8_mask(t, _mm512_set1_epi8(','));
        b.spaces = spaces_of(t);
        uint64_t two = b.digits << 2 | c.two, three = two & (b.digits << 3 | c.three);
        __m512i ones = _mm512_permutex2var_epi8(before, back1, d);
        __m512i tens = _mm512_maskz_permutex2var_epi8(two, before, back2, d);
        __m512i hundreds = _mm512_maskz_permutex2var_epi8(three, before, back3, d);
        __m512i twice = _mm512_add_epi8(tens, tens), four = _mm512_add_epi8(twice, twice);
        __m512i rest = _mm512_add_epi8(_mm512_add_epi8(ones, twice), _mm512_add_epi8(four, four));
        __m512i high = _mm512_shuffle_epi8(table, hundreds);
        __m512i sum = _mm512_add_epi8(high, rest);
        b.overflow = _mm512_cmpgt_epu8_mask(hundreds, _mm512_set1_epi8(2)) | _mm512_cmplt_epu8_mask(sum, high);
        uint64_t commas = complete(&b, 64, &c, &stop);
        before = d;
        _mm512_storeu_si512(out + count, _mm512_maskz_compress_epi8(commas, sum));
        count += (uint64_t)__builtin_popcountll(commas);
        last = commas ? p + 64 - __builtin_clzll(commas) : last;
    }
    *text = last;
    return count;
}

/* Indented text is white space for the most part: without it there is a quarter to be looked at. */
enum { BATCH = 2048 };

/* Text from where an element is expected, up to its last comma, without white space. @param behind (out) that comma's
 * end in the text. @return its length, 0: there is white space where none may be, or no comma. */
AVX512 static uint64_t squeeze(const uint8_t *text, uint8_t *out, const uint8_t **behind)
{
    uint64_t bad = 0, free = 1, last = 0, used = 0;
    const uint8_t *at = text;
    for (const uint8_t *p = text; p < text + BATCH; p += 64) {
        __builtin_prefetch(p + AHEAD);
        __m512i t = _mm512_loadu_si512(p);
        uint64_t spaces = spaces_of(t), commas = _mm512_cmpeq_epi8_mask(t, _mm512_set1_epi8(','));
        uint64_t either = spaces | commas;
        bad |= spaces & ~(either << 1 | free);
        free = either >> 63;
        at = commas ? p : at;
        last = commas ? commas : last;
        _mm512_storeu_si512(out + used, _mm512_maskz_compress_epi8(~spaces, t));
        used += (uint64_t)__builtin_popcountll(~spaces);
    }
    if (bad || !last) {
        return 0;
    }
    *behind = at + 64 - __builtin_clzll(last);
    while (out[used - 1] != ',') {
        used--; /* digits of a number that continues, or another character */
    }
    return used;
}

AVX512 static uint64_t scan_avx512(const uint8_t **text, const uint8_t *end, uint8_t *out, uint64_t room)
{
    uint8_t squeezed[BATCH + 64];
    uint64_t count = 0;
    bool pretty = end - *text >= 64 && __builtin_popcountll(spaces_of(_mm512_loadu_si512(*text))) >= 32;
    while (pretty && end - *text >= BATCH && room - count >= BATCH / 2 + 64) {
        const uint8_t *behind = *text, *from = squeezed;
        uint64_t size = squeeze(*text, squeezed, &behind), got;
        if (size == 0) {
            break;
        }
        _mm512_storeu_si512(squeezed + size, _mm512_setzero_si512()); /* where the scan stops */
        got = scan_dense(&from, squeezed + size + 64, out + count, room - count);
        if (from != squeezed + size) {
            break; /* something else is in it: the text itself tells what and where */
        }
        *text = behind;
        count += got;
    }
    return count + scan_dense(text, end, out + count, room - count);
}

lr_bytes_scan *lr_bytes_scan_choice(unsigned index)
{
    if (LR_CPU_HAS(AVX512_VBMI2, "avx512vbmi2") && LR_CPU_HAS(AVX512_VBMI, "avx512vbmi") &&
        LR_CPU_HAS(AVX512BW, "avx512bw") && index-- == 0) {
        return scan_avx512;
    }
    if (LR_CPU_HAS(AVX2, "avx2") && LR_CPU_HAS(BMI1, "bmi") && index-- == 0) {
        return scan_avx2;
    }
    return index == 0 ? lr_bytes_scan_plain : NULL;
}

#endif
