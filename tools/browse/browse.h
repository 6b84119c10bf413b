/* SPDX-License-Identifier: MIT OR Apache-2.0
 * record browse: a record as a tree on the terminal, its tensors by their figures and element by element.
 * It changes no file. Where there is no terminal, or no ncurses, it says so; --json needs neither.
 * While it draws, standard output and standard error are its own: what other rooms print becomes text to be read. */
#ifndef RECORD_BROWSE_H
#define RECORD_BROWSE_H

#include "tools/measure/measure.h"
#include "tools/plan/plan.h"

extern const tool_option tool_browse_options[];
int tool_run_browse(session *s, const char *const *operands, size_t count);

#endif
