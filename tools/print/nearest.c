/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What somebody meant who typed something else. */
#include <string.h>

#include "tools/print/print.h"

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Edits from one word to another: a letter put in, left out, changed, or two neighbours swapped. Words are short. */
static size_t distance(const char *a, const char *b)
{
    enum { ROOM = 32 };
    size_t rows[3][ROOM + 1];
    size_t length_a = strlen(a), length_b = strlen(b);
    size_t *before = rows[0], *last = rows[1], *now = rows[2];

    if (length_a > ROOM || length_b > ROOM) {
        return ROOM;
    }
    for (size_t j = 0; j <= length_b; j++) {
        last[j] = j;
        before[j] = j;
    }
    for (size_t i = 1; i <= length_a; i++) {
        now[0] = i;
        for (size_t j = 1; j <= length_b; j++) {
            now[j] = smaller(last[j] + 1, now[j - 1] + 1);
            now[j] = smaller(now[j], last[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                now[j] = smaller(now[j], before[j - 2] + 1);
            }
        }
        size_t *spare = before;
        before = last;
        last = now;
        now = spare;
    }
    return last[length_b];
}

const char *tool_nearest(const char *typed, const char *const *names)
{
    const char *best = NULL;
    size_t length = strlen(typed);
    size_t least = length / 3 + 2; /* one more than what counts as near */

    for (; *names; names++) {
        size_t edits = distance(typed, *names);
        if (length >= 2 && strncmp(typed, *names, length) == 0) {
            edits = 0;
        }
        if (edits < least) {
            least = edits;
            best = *names;
        }
    }
    return best;
}
