/* SPDX-License-Identifier: MIT OR Apache-2.0
 * record edit: values set, removed, renamed and cast, records merged and split.
 * It changes no file but what it is told to write, and that appears whole or not at all.
 * Who asked for an edit owns nothing of it. */
#ifndef RECORD_EDIT_H
#define RECORD_EDIT_H

#include "tools/convert/convert.h"

extern const own_option tool_edit_options[];
int tool_run_edit(session *s, const char *const *operands, size_t count);

#endif
