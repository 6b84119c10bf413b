/* SPDX-License-Identifier: MIT OR Apache-2.0
 * record report: records as one page for a browser, which needs nothing else: sizes, figures of each tensor, what
 * changed. It changes no record, asks no network, and its page holds no text of a record as markup. What it gathers
 * lives until the page is written. */
#ifndef RECORD_REPORT_H
#define RECORD_REPORT_H

#include "tools/diff/diff.h"

extern const tool_option tool_report_options[];
int tool_run_report(session *s, const char *const *operands, size_t count);

#endif
