/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Lists of bytes, the bulk of a JSON record: the plain version, which defines the result. */
#include "plugins/codec/json/bytes_block.h"

#include <string.h>

enum { MARGIN = 64, AHEAD = 2048 /* text that is fetched ahead of its use */ };

static bool is_space(uint8_t byte)
{
    return byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t';
}

static uint32_t load(const uint8_t *text)
{
    return (uint32_t)text[0] | (uint32_t)text[1] << 8 | (uint32_t)text[2] << 16 | (uint32_t)text[3] << 24;
}

/* Parses a number from 0 to 255 followed by a comma at `text`. @return its length, 0 for other text. */
static inline uint32_t element(const uint8_t *text, uint32_t *value)
{
    uint32_t word = load(text) ^ 0x30303030u; /* digits become 0 to 9 */
    uint32_t others = (word + 0x76767676u) & 0x80808080u;
    others |= word & 0x80808080u;
    if (others == 0) {
        return 0;
    }
    uint32_t length = (uint32_t)__builtin_ctz(others) / 8;
    if (length == 0 || text[length] != ',' || (length > 1 && text[0] == '0')) {
        return 0;
    }
    word <<= 32 - 8 * length; /* the last digit on top, none below the first */
    *value = (word >> 8 & 0xff) * 100 + (word >> 16 & 0xff) * 10 + (word >> 24);
    return *value <= 255 ? length : 0;
}

uint64_t lr_bytes_scan_plain(const uint8_t **text, const uint8_t *end, uint8_t *out, uint64_t room)
{
    const uint8_t *p = *text, *gap_at = p;
    uint64_t count = 0;
    size_t gap = 0; /* white space before an element, as long as the last time */
    room = room < MARGIN ? 0 : room;
    while (end - p >= MARGIN && count < room) {
        const uint8_t *from = p;
        uint32_t length, value;
        __builtin_prefetch(p + AHEAD);
        if (is_space(*p)) {
            if (gap > 0 && (size_t)(end - p) > gap + MARGIN && memcmp(p, gap_at, gap) == 0 && !is_space(p[gap])) {
                p += gap;
            } else {
                while (end - p >= MARGIN && is_space(*p)) {
                    p++;
                }
                if (end - p < MARGIN) {
                    p = from;
                    break;
                }
            }
            gap_at = from;
            gap = (size_t)(p - from);
        }
        length = element(p, &value);
        if (length == 0) {
            p = from;
            break;
        }
        out[count++] = (uint8_t)value;
        p += length + 1;
    }
    *text = p;
    return count;
}

#if !defined(LR_BYTES_HAS_X86) && !defined(LR_BYTES_HAS_NEON)
lr_bytes_scan *lr_bytes_scan_choice(unsigned index)
{
    return index == 0 ? lr_bytes_scan_plain : NULL;
}
#endif
