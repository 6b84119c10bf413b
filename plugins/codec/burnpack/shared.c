/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Texts of a file, and arrays that grow: what reading and writing share. */
#include <string.h>

#include "plugins/codec/burnpack/burnpack.h"

int lr_bpk_compare(const lr_bpk_text *a, const lr_bpk_text *b)
{
    uint64_t least = a->length < b->length ? a->length : b->length;
    int order = least ? memcmp(a->at, b->at, (size_t)least) : 0;
    return order ? order : a->length < b->length ? -1 : a->length > b->length;
}

const char *lr_bpk_shown(lr_bpk_excerpt *buffer, const lr_bpk_text *text)
{
    uint64_t most = sizeof buffer->text - 4, used = text->length < most ? text->length : most;
    while (used < text->length && used > 0 && ((unsigned char)text->at[used] & 0xc0) == 0x80) {
        used--; /* not in the middle of a character */
    }
    for (uint64_t i = 0; i < used; i++) {
        unsigned char c = (unsigned char)text->at[i];
        buffer->text[i] = c < ' ' || c == 0x7f ? '?' : text->at[i];
    }
    memcpy(buffer->text + used, used < text->length ? "..." : "", used < text->length ? 4 : 1);
    return buffer->text;
}
