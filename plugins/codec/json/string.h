/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Strings of JSON, with their escapes taken out. */
#ifndef LR_JSON_STRING_H
#define LR_JSON_STRING_H

#include <string.h>

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
