/* SPDX-License-Identifier: MIT OR Apache-2.0
 * record ls: the tensors and values of records, folded, sorted, as a tree or added up.
 * It changes nothing and reads no values but for --sha256.
 * What it gathers of a record borrows from it. */
#ifndef RECORD_LIST_H
#define RECORD_LIST_H

#include "tools/measure/measure.h"

extern const own_option tool_ls_options[];
int tool_run_ls(session *s, const char *const *operands, size_t count);

#endif
