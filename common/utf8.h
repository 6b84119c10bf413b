/* SPDX-License-Identifier: MIT OR Apache-2.0
 * UTF-8 of texts that others wrote. */
#ifndef LR_COMMON_UTF8_H
#define LR_COMMON_UTF8_H

#include <stdint.h>
#include <string.h>

/** Bytes of the sequence that begins with a character that is not ASCII, 0 if it is not UTF-8 (Unicode, table 3-7). */
static inline unsigned lr_utf8_sequence(const uint8_t *text, uint64_t left)
{
    uint8_t first = text[0], low = 0x80, high = 0xbf;
    unsigned length = first >= 0xc2 && first <= 0xdf ? 2 : first >= 0xe0 && first <= 0xef ? 3 : 4;
    if (first < 0xc2 || first > 0xf4 || length > left) {
        return 0;
    }
    if (first == 0xe0) {
        low = 0xa0;
    } else if (first == 0xed) {
        high = 0x9f;
    } else if (first == 0xf0) {
        low = 0x90;
    } else if (first == 0xf4) {
        high = 0x8f;
    }
    if (text[1] < low || text[1] > high) {
        return 0;
    }
    for (unsigned i = 2; i < length; i++) {
        if ((text[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    return length;
}

/** Index of the first byte that is not UTF-8; `length` if all is. */
static inline uint64_t lr_utf8_until(const uint8_t *text, uint64_t length)
{
    uint64_t i = 0;
    while (i < length) {
        uint64_t word;
        if (length - i >= sizeof word) {
            memcpy(&word, text + i, sizeof word);
            if ((word & UINT64_C(0x8080808080808080)) == 0) {
                i += sizeof word;
                continue;
            }
        }
        unsigned step = text[i] < 0x80 ? 1 : lr_utf8_sequence(text + i, length - i);
        if (step == 0) {
            return i;
        }
        i += step;
    }
    return length;
}

/** @return the offset where the character begins that the byte at `at` is of; the text is UTF-8. */
static inline size_t lr_character_begin(const char *text, size_t at)
{
    while (at > 0 && ((unsigned char)text[at] & 0xC0) == 0x80) {
        at--;
    }
    return at;
}

#endif
