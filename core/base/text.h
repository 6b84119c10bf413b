/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Names that people type: how they compare, what they may hold, and which one was probably meant. */
#ifndef LR_NAMES_H
#define LR_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** The longest name of a recorder, an alias, an option or a key, in bytes. */
enum { LR_NAME_MOST = 64 };

/** Recorder names compare without case and without `-`, `_` and `.`. */
bool lr_name_same(const char *a, const char *b);
/** @return whether it can name a recorder: 1 to 64 of A-Z a-z 0-9 . _ - with a letter or digit among them. */
bool lr_name_valid(const char *name);
/** @return whether it can name an option: 1 to 64 of a-z 0-9 _ -. */
bool lr_key_valid(const char *key);

/** Two or more candidates are shown to it; `best` is the nearest that is near enough to be meant, or NULL. */
typedef struct lr_near {
    const char *asked;
    const char *best; /**< borrowed from the candidates */
    uint32_t distance;
} lr_near;

void lr_near_begin(lr_near *near, const char *asked);
void lr_near_try(lr_near *near, const char *candidate);

/** @return the offset of the first byte that is not valid UTF-8 (no surrogates, nothing overlong), or `length`. */
size_t lr_utf8_valid(const char *text, size_t length);

/** Reads yes, true, on, 1 or no, false, off, 0, in any case. @return whether it is one of these. */
bool lr_bool_read(const char *text, bool *value);
/** Reads a whole decimal number with or without a sign. @return whether it is one. */
bool lr_int_read(const char *text, int64_t *value);
/** Reads a number as people write it: 0.25, .5, 1e-5, -3. It becomes the nearest double, whatever the locale.
 *  @return false if the text is none, or is beyond all doubles. */
bool lr_number_read(const char *text, size_t length, double *value);
/** @return the length of the name that text begins with: a letter or _, then letters, digits, _ and dots; 0: none. */
size_t lr_number_name(const char *text, size_t length);

/** 0 to 9, whatever the locale. */
static inline bool lr_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/** @return the offset where the character begins that the byte at `at` is of; the text is UTF-8. */
size_t lr_character_begin(const char *text, size_t at);

/** Text for a message: at most 64 bytes, cut at a character and closed with "..." if it is longer. @return buffer. */
typedef struct lr_brief {
    char text[LR_NAME_MOST + 4];
} lr_brief;
const char *lr_brief_text(lr_brief *brief, const char *text);

#endif
