/* SPDX-License-Identifier: MIT OR Apache-2.0
 * In place of the screen where there was no ncurses when record was built. */
#include "tools/browse/browse_private.h"

int tool_terminal_check(void)
{
    return tool_fail("browse: this record was built without ncurses, which it draws with\n" BROWSE_INSTEAD);
}

int tool_browse_screen(session *s, tree *t, const notes *n)
{
    (void)s;
    (void)t;
    (void)n;
    return tool_terminal_check();
}
