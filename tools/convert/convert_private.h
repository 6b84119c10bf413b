/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef RECORD_CONVERT_PRIVATE_H
#define RECORD_CONVERT_PRIVATE_H

#include "tools/convert/convert.h"

/* All records of a folder (recursive.c). */
int tool_run_recursive(session *s, const char *in, const char *out);

#endif
