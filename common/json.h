/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Escapes in strings of JSON. */
#ifndef LR_COMMON_JSON_H
#define LR_COMMON_JSON_H

#include <stdint.h>
#include <string.h>

/** Writes the escape of an ASCII character. @param letters those of `bfnrt` with a short escape; others, except for `"`
 * and `\`, are written as `\u00xx`. @return its length, 2 or 6. */
static inline uint32_t lr_json_escape(uint8_t byte, const char *letters, char escape[6])
{
    static const char hex[] = "0123456789abcdef", names[] = "bfnrt", bytes[] = "\b\f\n\r\t";
    const char *found = byte ? strchr(bytes, byte) : NULL;
    memcpy(escape, "\\u00", 4);
    escape[4] = hex[byte >> 4];
    escape[5] = hex[byte & 15];
    if (byte == '"' || byte == '\\') {
        escape[1] = (char)byte;
        return 2;
    }
    if (found && strchr(letters, names[found - bytes])) {
        escape[1] = names[found - bytes];
        return 2;
    }
    return 6;
}

#endif
