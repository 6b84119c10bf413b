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

static uint32_t decode(const char *text)
{
    const unsigned char *c = (const unsigned char *)text;
    if (c[0] < 0x80) {
        return c[0];
    }
    if (c[0] < 0xE0) {
        return (uint32_t)(c[0] & 0x1F) << 6 | (c[1] & 0x3F);
    }
    if (c[0] < 0xF0) {
        return (uint32_t)(c[0] & 0x0F) << 12 | (uint32_t)(c[1] & 0x3F) << 6 | (c[2] & 0x3F);
    }
    return (uint32_t)(c[0] & 0x07) << 18 | (uint32_t)(c[1] & 0x3F) << 12 | (uint32_t)(c[2] & 0x3F) << 6 | (c[3] & 0x3F);
}

static uint32_t size_of(uint32_t character)
{
    return character < 0x80 ? 1 : (character < 0x800 ? 2 : (character < 0x10000 ? 3 : 4));
}

uint32_t lr_re_peek(const lr_re_parser *p, const char *at, uint32_t *size)
{
    uint32_t character = at < p->end ? decode(at) : 0;
    if (size) {
        *size = at == p->end ? 0 : size_of(character);
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
