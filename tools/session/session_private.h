/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What opens recorders in the session: options and load arguments, without types. */
#ifndef RECORD_SESSION_PRIVATE_H
#define RECORD_SESSION_PRIVATE_H

#include "tools/session/session.h"

/* Opens a recorder with what the options ask of any. @return NULL with the error printed. */
rec_recorder *tool_session_open_recorder(session *s, const char *name, rec_precision precision, bool no_map,
                                         bool clamp);
/* Sets NAME=VALUE of each. */
int tool_session_set_options(rec_recorder *recorder, const words *w);
/* Sets what is for an input: of single things its own ones last, so that they count; its own rules first.
 * @param kind READING_OPTION or READING_LOAD. */
int tool_session_set_arguments(const session *s, rec_recorder *recorder, int kind, size_t index);
/* @return whether a load argument is for input `index`. */
bool tool_session_adapts(const session *s, size_t index);

/* Lets a recorder read headers alone, if the subcommand looks at no more. */
int tool_session_set_headers(session *s, rec_recorder *recorder);

#endif
