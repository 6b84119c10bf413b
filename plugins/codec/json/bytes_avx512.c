/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Lists of bytes by AVX-512. Equal to the plain version; tests/codec/test_json_number.c compares them. */
#include "plugins/codec/json/bytes_block.h"

#include <stddef.h>

#include "common/cpu.h"

#if defined(__x86_64__) && defined(__GNUC__)

#include <immintrin.h>

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
        __builtin_prefetch(p + LR_BYTES_AHEAD);
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
        uint64_t commas = complete(&b, &c, &stop);
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
        __builtin_prefetch(p + LR_BYTES_AHEAD);
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

#endif

lr_bytes_scan *lr_bytes_scan_avx512(void)
{
#if defined(__x86_64__) && defined(__GNUC__)
    if (LR_CPU_HAS(AVX512_VBMI2, "avx512vbmi2") && LR_CPU_HAS(AVX512_VBMI, "avx512vbmi") &&
        LR_CPU_HAS(AVX512BW, "avx512bw")) {
        return scan_avx512;
    }
#endif
    return NULL;
}
