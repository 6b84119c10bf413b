/* SPDX-License-Identifier: MIT OR Apache-2.0
 * record ls: lists the tensors and values of records, folded, sorted, as a tree or as totals. It changes nothing and
 * reads values only for --sha256. Its data borrow from the record. */
#ifndef RECORD_LIST_H
#define RECORD_LIST_H

#include "tools/measure/measure.h"

extern const tool_option tool_ls_options[];
int tool_run_ls(session *s, const char *const *operands, size_t count);

#endif
