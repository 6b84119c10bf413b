/* SPDX-License-Identifier: MIT OR Apache-2.0
 * record embed: a record inside a program, as bytes for the library or as C structs that need none.
 * It changes nothing in a record: what is to be converted the library converts, as the session asks.
 * Files that it makes appear whole or not at all; who calls it owns nothing of it. */
#ifndef RECORD_EMBED_H
#define RECORD_EMBED_H

#include "tools/session/session.h"

/* What `record embed` alone is asked for; NULL if not given. */
typedef struct embed_wishes {
    const char *output, *name, *as;
    bool structs;
    const char *given; /* one of these options that was given */
} embed_wishes;

/* Takes those of `record embed` out of the command line, if it has that word; the rest is for tool_options_parse(). */
int tool_embed_options(embed_wishes *e, int *argc, char **argv);
extern const char tool_embed_options_help[];
int tool_run_embed(session *s, const char *const *operands, size_t count);

#endif
