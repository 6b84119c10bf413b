/* SPDX-License-Identifier: MIT OR Apache-2.0
 * record embed: embeds a record in a program, as bytes for the library or as C structs that need no library. The
 * library makes conversions, as the session asks. Output files appear whole or not at all. */
#ifndef RECORD_EMBED_H
#define RECORD_EMBED_H

#include "tools/session/session.h"

extern const tool_option tool_embed_options[];
int tool_run_embed(session *s, const char *const *operands, size_t count);

/* ------------------------------------------------------------------------------------------------------- names -- */

/* @return whether it is letters, digits and underscores, and does not begin with a digit. */
bool tool_c_identifier(const char *name, size_t length);
/* @return whether it is a keyword of C, or what compilers or the usual headers define as a macro. */
bool tool_c_word(const char *name, size_t length);
/* @return true for an identifier that is no word of C's or C++'s own. */
bool tool_c_name_valid(const char *name);
/* Adds a name made of any text: what no identifier may have becomes an underscore. Never empty, never a keyword. */
void tool_c_name_add(text *t, const char *bytes, size_t length);
/* @return a copy in capitals. */
char *tool_c_name_upper(const char *name);

/* Texts or numbers by keys of any bytes. Zero it to begin. */
typedef struct lookup_slot {
    char *key;
    size_t length;
    char *text; /* owned */
    unsigned number;
    struct lookup_slot *before; /* the one that was added before it */
} lookup_slot;
typedef struct lookup {
    void *tree;
    lookup_slot *last;
} lookup;
/* @return the slot of a key, valid until the next insertion, or NULL. */
lookup_slot *tool_lookup_find(const lookup *l, const void *key, size_t length);
/* Adds a key that is not there. */
lookup_slot *tool_lookup_add(lookup *l, const void *key, size_t length);
void tool_lookup_free(lookup *l);

/* @return `wanted`, with _2, _3… appended if it is taken, and reserves it. Freed by the caller. */
char *tool_c_names_take(lookup *names, const char *wanted);

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
