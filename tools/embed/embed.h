/* SPDX-License-Identifier: MIT OR Apache-2.0
 * record embed: embeds a record in a program, as bytes for the library or as C structs that need no library. The
 * library makes conversions, as the session asks. Output files appear whole or not at all. */
#ifndef RECORD_EMBED_H
#define RECORD_EMBED_H

#include "tools/session/session.h"

extern const tool_option tool_embed_options[];
int tool_run_embed(session *s, const char *const *operands, size_t count);

/* ------------------------------------------------------------------------------------------------------- files -- */

/* A file that takes the place of the old one when all of it is written. Zero it to begin. */
typedef struct target {
    char *path, *temporary; /* both absolute; NULL for standard output */
    FILE *stream;           /* NULL once it is closed */
} target;

/* Opens a temporary file next to `path`; "-" is standard output. Errors are printed. */
int tool_target_open(target *t, const char *path);
/* Flushes and closes a stream. @return the errno of what kept a byte from being written, 0: all were. */
int tool_stream_close(FILE *stream);
/* Closes it and checks that all of it was written. */
int tool_target_close(target *t);
/* Gives it its name. It must have been closed. */
int tool_target_commit(target *t);
/* Removes what was not committed. May be called at any time, and again. */
void tool_target_drop(target *t);
/* From here on a signal that ends the command removes targets and workshops. */
void tool_files_guard(void);

#endif
