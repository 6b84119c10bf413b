/* SPDX-License-Identifier: MIT OR Apache-2.0
 * record stats: what the numbers in records are like.
 * It changes nothing and writes no file. */
#ifndef RECORD_STATS_H
#define RECORD_STATS_H

#include "tools/measure/measure.h"

int tool_run_stats(session *s, const char *const *operands, size_t count);

#endif
