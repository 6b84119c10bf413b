/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Text that grows: patterns on their way to PCRE2. */
#include <stdio.h>
#include <string.h>

#include "remap/regex/regex_private.h"

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
