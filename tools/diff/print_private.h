/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What the files share that print differences for people. */
#ifndef RECORD_DIFF_PRINT_PRIVATE_H
#define RECORD_DIFF_PRINT_PRIVATE_H

#include "tools/diff/diff_private.h"

/* Lines of one kind that are shown without --all. */
enum { ROWS_SHOWN = 40, FROZEN_SHOWN = 8 };

/* Each prints its table and an empty line, or nothing. @return whether something was left out or folded. */
bool tool_diff_print_structure(const comparison *c, bool all);
bool tool_diff_print_values(const comparison *c, bool all);

#endif
