/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Things that are looked up by what they hold: trees, by the system's tsearch(). */
#define entry system_entry /* its header has a struct of that name */
#include <search.h>
#undef entry

#include "tools/print/print.h"

void *tool_known_add(void **tree, const void *thing, tool_compare *compare)
{
    void *const *at = tool_enough(tsearch(thing, tree, compare));

    return *at;
}

void *tool_known_find(void *const *tree, const void *thing, tool_compare *compare)
{
    void *const *at = tfind(thing, tree, compare);

    return at ? *at : NULL;
}

void tool_known_free(void **tree, tool_compare *compare)
{
    while (*tree) { /* the root's own thing stands first in it */
        (void)tdelete(**(void ***)tree, tree, compare);
    }
}
