/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Strings of JSON, with their escapes taken out. */
#ifndef LR_JSON_STRING_H
#define LR_JSON_STRING_H

#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "plugins/codec/json/input.h"

/** Memory for strings that cannot be lent from the window; used again for each. */
typedef struct lr_json_text {
    char *data;
    uint64_t size, room;
} lr_json_text;

/** Reads the string whose quote is at `in->at`, and moves after it. @param text,length (out) UTF-8, valid until the
 * next string or refill. */
int32_t lr_json_string(lr_json_input *in, lr_json_text *memory, const char **text, uint64_t *length);

/** Reports that the text ends within `what`. */
int32_t lr_json_cut_short(const lr_json_input *in, const char *what);
/** Reports the text at `in->at` instead of the expected. */
int32_t lr_json_unexpected(const lr_json_input *in, const char *expected);

/** From `p` on, bytes that stand for themselves: ASCII, no quote, backslash or control character. */
static inline const uint8_t *lr_json_plain_until(const uint8_t *p, const uint8_t *end)
{
    const uint64_t ones = UINT64_C(0x0101010101010101), tops = ones << 7;
#ifdef __SSE2__
    for (; end - p >= 16; p += 16) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)p);
        /* As signed bytes, what is not ASCII is below the space, too. */
        __m128i stop = _mm_or_si128(
            _mm_cmplt_epi8(bytes, _mm_set1_epi8(' ')),
            _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('"')), _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'))));
        unsigned mask = (unsigned)_mm_movemask_epi8(stop);
        if (mask) {
            return p + (unsigned)__builtin_ctz(mask);
        }
    }
#endif
    for (; end - p >= 8; p += 8) {
        uint64_t word;
        memcpy(&word, p, sizeof word);
        uint64_t quote = word ^ ones * '"', backslash = word ^ ones * '\\';
        uint64_t stop = ((word - ones * 0x20) | (quote - ones) | (backslash - ones) | word) & tops;
        if (stop) {
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
            return p + (unsigned)__builtin_ctzll(stop) / 8; /* borrows go upward only: the lowest is right */
#else
            break;
#endif
        }
    }
    while (p < end && *p >= 0x20 && *p < 0x80 && *p != '"' && *p != '\\') {
        p++;
    }
    return p;
}

#endif
