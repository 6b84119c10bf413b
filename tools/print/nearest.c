/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What somebody meant who typed something else. */
#include <string.h>

#include "common/text.h"
#include "tools/print/print.h"

const char *tool_nearest(const char *typed, const char *const *names)
{
    const char *best = NULL;
    size_t length = strlen(typed);
    size_t least = length / 3 + 2; /* one more than what counts as near */

    for (; *names; names++) {
        size_t edits = lr_distance(typed, length, *names, strlen(*names));
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
