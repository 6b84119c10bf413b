/* SPDX-License-Identifier: MIT OR Apache-2.0
 * record diff: what two records have in common and what not, of any two formats: structure, then values.
 * It changes no file, and holds no more of a tensor than a piece of each side.
 * Records and what is found out about them live until it is printed. */
#ifndef RECORD_DIFF_H
#define RECORD_DIFF_H

#include "tools/look/look.h"

extern const char tool_diff_more[];
extern const own_option tool_diff_options[];
int tool_run_diff(session *s, const char *const *operands, size_t count);

#endif
