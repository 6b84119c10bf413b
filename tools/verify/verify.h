/* SPDX-License-Identifier: MIT OR Apache-2.0
 * record verify: checks records, and their tensors against checksums. It changes no record; --sums write adds a file
 * of checksums next to each. */
#ifndef RECORD_VERIFY_H
#define RECORD_VERIFY_H

#include "tools/measure/measure.h"

extern const tool_option tool_verify_options[];
int tool_run_verify(session *s, const char *const *operands, size_t count);

#endif
