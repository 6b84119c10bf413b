/* SPDX-License-Identifier: MIT OR Apache-2.0
 * record embed: a record inside a program, as bytes for the library or as C structs that need none.
 * It changes nothing in a record: what is to be converted the library converts, as the session asks.
 * Files that it makes appear whole or not at all; who calls it owns nothing of it. */
#ifndef RECORD_EMBED_H
#define RECORD_EMBED_H

#include "tools/session/session.h"

extern const char tool_embed_more[];
extern const own_option tool_embed_options[];
int tool_run_embed(session *s, const char *const *operands, size_t count);

#endif
