/* SPDX-License-Identifier: MIT OR Apache-2.0
 * record edit: sets, removes, renames and casts values, merges and splits records. It changes only its output files,
 * and each appears whole or not at all. */
#ifndef RECORD_EDIT_H
#define RECORD_EDIT_H

#include "tools/convert/convert.h"

extern const tool_option tool_edit_options[];
int tool_run_edit(session *s, const char *const *operands, size_t count);

#endif
