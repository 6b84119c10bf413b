/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The values of the options that a subcommand brings itself. */
#include <stdlib.h>
#include <string.h>

#include "tools/session/session.h"

const char *tool_own(const options *o, const char *name)
{
    const char *last = NULL;

    for (size_t i = 0; i < o->own.count; i++) {
        if (strcmp(o->own.at[i].name, name) == 0) {
            last = o->own.at[i].value;
        }
    }
    return last;
}

const char *tool_own_next(const options *o, const char *name, size_t *at)
{
    while (*at < o->own.count) {
        const own_given *given = &o->own.at[(*at)++];
        if (strcmp(given->name, name) == 0) {
            return given->value;
        }
    }
    return NULL;
}

int tool_own_number(const options *o, const char *name, double least, double *value)
{
    const char *given = tool_own(o, name);
    char *end;
    double number;

    if (!given) {
        return EXIT_OK;
    }
    /* The command sets no locale, so a point is a point. */
    number = strtod(given, &end);
    if (end == given || *end || given[strspn(given, "+-.0123456789eE")] || !(number >= least) || number > 1e300) {
        return tool_fail("--%s: expected a number, %g or more, found \"%s\"", name, least, given);
    }
    *value = number;
    return EXIT_OK;
}
