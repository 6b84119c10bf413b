/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Restricts what a command that reads files may do from here on, even if it is exploited: Landlock of Linux. */
#ifndef RECORD_SANDBOX_H
#define RECORD_SANDBOX_H

#include "tools/tool.h"

/* Restricts the process, if the subcommand only reads, all its inputs are local and the kernel has Landlock: no program
 * is executed, no TCP connection is made, and nothing is written but what the command line asks for and temporary
 * files. Reading is not restricted. Where the kernel has none of it, or a part only, nothing else changes.
 * @return EXIT_OK or EXIT_ERROR, with the error printed. */
int tool_sandbox_enter(const command *c, const session *s, const char *const *operands, size_t count);
/* "Landlock, ABI 4", or the reason why it is missing. */
const char *tool_sandbox_words(char *buffer, size_t room);

#endif
