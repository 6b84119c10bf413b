/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Names and other short texts: their order, and whether they are a word. Those of a length need no NUL. */
#ifndef LR_COMMON_NAMES_H
#define LR_COMMON_NAMES_H

#include <stdbool.h>
#include <stdint.h>
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

/** @return the part of a path after the last slash. */
static inline const char *lr_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static inline bool lr_text_is(const char *text, uint64_t length, const char *word)
{
    return length == strlen(word) && memcmp(text, word, (size_t)length) == 0;
}

/** @return whether the text ends in `end`, or is it. */
static inline bool lr_text_ends(const char *text, uint64_t length, const char *end)
{
    size_t tail = strlen(end);
    return length >= tail && memcmp(text + length - tail, end, tail) == 0;
}

/** @return the order of two texts by their bytes, then by their length. */
static inline int lr_text_order(const char *a, uint64_t a_length, const char *b, uint64_t b_length)
{
    uint64_t least = a_length < b_length ? a_length : b_length;
    int order = least ? memcmp(a, b, (size_t)least) : 0;
    return order ? order : a_length < b_length ? -1 : a_length > b_length;
}

#define LR_FNV_BEGIN UINT64_C(0xcbf29ce484222325)

/** FNV-1a: a hash of short texts and of what processes compare. It does not resist chosen bytes. @param sum of the
 * bytes before, LR_FNV_BEGIN at first. */
static inline uint64_t lr_fnv(uint64_t sum, const void *data, uint64_t size)
{
    const uint8_t *bytes = data;
    for (uint64_t i = 0; i < size; i++) {
        sum = (sum ^ bytes[i]) * UINT64_C(0x100000001b3);
    }
    return sum;
}

#endif
