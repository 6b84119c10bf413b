/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What a file says, in a message: cut where it is long, and nothing in it that a terminal would obey. */
#ifndef LR_CODEC_EXCERPT_H
#define LR_CODEC_EXCERPT_H

#include <stdint.h>
#include <string.h>

#include "common/utf8.h"

typedef struct lr_codec_excerpt {
    char text[132];
} lr_codec_excerpt;

/** @return the buffer: the text, with `?` for characters that do not print or are not UTF-8, and `…` where it was
 * truncated. */
static inline const char *lr_codec_shown(lr_codec_excerpt *buffer, const char *text, uint64_t length)
{
    const uint8_t *from = (const uint8_t *)text;
    size_t used = 0;
    uint64_t i = 0;
    while (i < length && used + 8 < sizeof buffer->text) {
        unsigned step = from[i] < 0x80 ? 1 : lr_utf8_sequence(from + i, length - i);
        if (step > 1 && !(from[i] == 0xc2 && from[i + 1] < 0xa0)) { /* U+0080 to U+009F are controls as well */
            memcpy(buffer->text + used, text + i, step);
            used += step;
        } else {
            buffer->text[used++] = step == 1 && from[i] >= 0x20 && from[i] != 0x7f ? text[i] : '?';
        }
        i += step ? step : 1;
    }
    memcpy(buffer->text + used, i < length ? "\xe2\x80\xa6" : "", i < length ? 4 : 1);
    return buffer->text;
}

#endif
