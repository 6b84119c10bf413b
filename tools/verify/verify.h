/* SPDX-License-Identifier: MIT OR Apache-2.0
 * record verify: whether records are whole, and their tensors what they were.
 * It changes no record; with --sums write it writes a file of sums beside each. */
#ifndef RECORD_VERIFY_H
#define RECORD_VERIFY_H

#include "tools/measure/measure.h"

extern const own_option tool_verify_options[];
int tool_run_verify(session *s, const char *const *operands, size_t count);

#endif
