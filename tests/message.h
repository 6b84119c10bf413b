/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Whether the last error is the one that a test expects. */
#ifndef MESSAGE_H
#define MESSAGE_H

#include <stdbool.h>
#include <string.h>

#include <librecord.h>

/** Whether the last error's first line is that, of bytes in memory. */
static inline bool is_message(const char *words)
{
    static const char before[] = "(memory): ";
    const char *message = rec_error_message();
    size_t length = strlen(words);
    return strncmp(message, before, sizeof before - 1) == 0 &&
           strncmp(message + sizeof before - 1, words, length) == 0 &&
           strchr("\n", message[sizeof before - 1 + length]);
}

#endif
