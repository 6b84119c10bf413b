/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Digits in groups, and the distance between words. */
#include "common/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

char *lr_group_digits(uint64_t number, char *buffer, size_t room)
{
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%" PRIu64, number);
    size_t at = 0;
    for (int i = 0; i < length && at + 2 < room; i++) {
        if (i && (length - i) % 3 == 0) {
            buffer[at++] = ',';
        }
        buffer[at++] = digits[i];
    }
    buffer[at] = '\0';
    return buffer;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

size_t lr_distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
    size_t rows[3][LR_DISTANCE_MOST + 1];
    size_t *before = rows[0], *last = rows[1], *now = rows[2];
    if (a_length > LR_DISTANCE_MOST || b_length > LR_DISTANCE_MOST) {
        return SIZE_MAX;
    }
    for (size_t j = 0; j <= b_length; j++) {
        before[j] = 0;
        last[j] = j;
    }
    for (size_t i = 1; i <= a_length; i++) {
        size_t *oldest = before;
        now[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            now[j] = least(least(last[j] + 1, now[j - 1] + 1), last[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                now[j] = least(now[j], before[j - 2] + 1);
            }
        }
        before = last;
        last = now;
        now = oldest;
    }
    return last[b_length];
}
