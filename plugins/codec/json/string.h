/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Strings of JSON, with their escapes taken out. */
#ifndef LR_JSON_STRING_H
#define LR_JSON_STRING_H

#include "plugins/codec/json/input.h"

/** Memory for strings that cannot be lent from the window; used again for each. */
typedef struct lr_json_text {
    char *data;
    uint64_t size, room;
} lr_json_text;

/** Reads the string whose quote is at `in->at`, and moves behind it. @param text,length (out) UTF-8, valid until the
 *  next string or refill. */
int32_t lr_json_string(lr_json_input *in, lr_json_text *memory, const char **text, uint64_t *length);

/** Reports that the text ends within `what`. */
int32_t lr_json_cut_short(const lr_json_input *in, const char *what);
/** Reports what is at `in->at` instead of what was expected. */
int32_t lr_json_unexpected(const lr_json_input *in, const char *expected);

#endif
