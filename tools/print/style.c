/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Colours, where they are requested and supported. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/print/print.h"

static const char *const styles[] = {
    [STYLE_PLAIN] = "\033[0m",    [STYLE_BOLD] = "\033[1m",  [STYLE_DIM] = "\033[2m",
    [STYLE_ERROR] = "\033[1;31m", [STYLE_NOTE] = "\033[33m",
};

/* Which streams get colours; set once, before anything is printed. */
static bool colored[2];

void tool_output_setup(int color)
{
    const char *no_color = getenv("NO_COLOR");
    const char *terminal = getenv("TERM");
    bool wanted = !(no_color && *no_color) && terminal && strcmp(terminal, "dumb") != 0;

    for (int i = 0; i < 2; i++) {
        colored[i] = color == COLOR_ALWAYS || (color == COLOR_AUTO && wanted && isatty(i ? 2 : 1));
    }
}

const char *tool_style(int which)
{
    return colored[0] ? styles[which] : "";
}

const char *tool_style_error(int which)
{
    return colored[1] ? styles[which] : "";
}
