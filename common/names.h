/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Names in lists, and how they end. */
#ifndef LR_COMMON_NAMES_H
#define LR_COMMON_NAMES_H

#include <stdbool.h>
#include <string.h>

/** The order of an array of texts, for qsort(). */
static inline int lr_by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/** @return whether there is something before this end. */
static inline bool lr_ends_in(const char *name, const char *end)
{
    size_t length = strlen(name), tail = strlen(end);
    return length > tail && strcmp(name + length - tail, end) == 0;
}

#endif
