/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Which directories and files nobody but root and the user of this process can change. */
#ifndef LR_OS_TRUST_H
#define LR_OS_TRUST_H

#include <stdbool.h>
#include <sys/stat.h>

/** Room for the reason of a refusal. */
enum { LR_REASON = 512 };

/** Checks a directory and those above it. @param real its path without links. @param installed the directory that
 *  librecord was installed with. @return "" or the reason. */
const char *lr_trust_folder(const char *real, const struct stat *state, bool installed, char *reason);
/** Checks a regular file, and the directory that a link leads to. @param state (out) of the file. @return "" or the
 *  reason. */
const char *lr_trust_file(const char *path, bool installed, struct stat *state, char *reason);
/** Checks a regular file and all directories above it, before and after links. @return "" or the reason. */
const char *lr_trust_path(const char *path, char *reason);
/** Opens a directory that passes lr_trust_folder(). The path is resolved once: the directory that is checked is opened.
 *  @return a descriptor; -1 with the reason. */
int lr_trust_open(const char *path, char *reason);
/** @return whether an open file is a regular one of the user of this process, with one name, and nobody else can write
 *  it. Nobody else can read it from then on. */
bool lr_trust_private(int fd);
/** "cannot DOING: words of an errno". @return reason. */
const char *lr_reason_errno(int error, char *reason, const char *doing);

#endif
