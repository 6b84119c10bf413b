/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Small helpers for texts that people read and type. */
#ifndef LR_COMMON_TEXT_H
#define LR_COMMON_TEXT_H

#include <stddef.h>
#include <stdint.h>

/** Writes a number with a comma between groups of three digits, "1,234". A small buffer gets the first characters; 27
 * bytes are enough for any number. @return the buffer */
char *lr_group_digits(uint64_t number, char *buffer, size_t room);

/** Longer words have no distance. */
enum { LR_DISTANCE_MOST = 128 };
/** @return how many letters to insert, drop, replace or swap with their neighbour until one word is the other; SIZE_MAX
 * if one is longer than LR_DISTANCE_MOST. */
size_t lr_distance(const char *a, size_t a_length, const char *b, size_t b_length);

#endif
