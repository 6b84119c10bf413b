/* SPDX-License-Identifier: MIT OR Apache-2.0
 * UTF-8 of patterns, texts that grow, and PCRE2's memory. */
#include <stdio.h>
#include <string.h>

#include "remap/regex/regex_private.h"

void *lr_re_pcre2_alloc(PCRE2_SIZE size, void *allocator)
{
    return lr_alloc(allocator, size);
}

void lr_re_pcre2_free(void *memory, void *allocator)
{
    lr_release(allocator, memory);
}

uint32_t lr_re_encode(uint32_t character, char bytes[4])
{
    if (character < 0x80) {
        bytes[0] = (char)character;
        return 1;
    }
    uint32_t size = character < 0x800 ? 2 : (character < 0x10000 ? 3 : 4);
    for (uint32_t i = size - 1; i > 0; i--) {
        bytes[i] = (char)(0x80 | (character & 0x3F));
        character >>= 6;
    }
    bytes[0] = (char)((0xF00 >> size & 0xF0) | character);
    return size;
}

uint32_t lr_re_peek(const lr_re_parser *p, const char *at, uint32_t *size)
{
    unsigned char first = at < p->end ? (unsigned char)*at : 0;
    uint32_t length = first < 0x80 ? at < p->end : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    uint32_t character = length > 1 ? first & 0x7F >> length : first;
    for (uint32_t i = 1; i < length; i++) {
        character = character << 6 | (at[i] & 0x3F);
    }
    if (size) {
        *size = length;
    }
    return character;
}

void lr_re_text_add(lr_re_text *text, const char *bytes, size_t length)
{
    if (length > LR_RE_TEXT_MOST || text->used + length > LR_RE_TEXT_MOST) {
        text->full = true;
        return;
    }
    if (!lr_grow(text->allocator, &text->data, text->used + length + 1, &text->room, 1)) {
        text->failed = true;
        return;
    }
    memcpy(text->data + text->used, bytes, length);
    text->used += length;
    text->data[text->used] = '\0';
}

void lr_re_text_word(lr_re_text *text, const char *word)
{
    lr_re_text_add(text, word, strlen(word));
}

void lr_re_text_format(lr_re_text *text, const char *format, ...)
{
    char word[64];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(word, sizeof word, format, args);
    va_end(args);
    lr_re_text_word(text, word);
}

void lr_re_text_free(lr_re_text *text)
{
    lr_release(text->allocator, text->data);
    *text = (lr_re_text){.allocator = text->allocator};
}
