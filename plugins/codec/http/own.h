/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Which directory and files the cache trusts. It reads no data and reports no error by itself. */
#ifndef LR_HTTP_OWN_H
#define LR_HTTP_OWN_H

#include <stdbool.h>
#include <stddef.h>

/** Opens a directory, which is made if it is missing. @return a descriptor; -1: it cannot be opened, or others own it
 * or may write to it: `why` says which. */
int lr_http_own_folder(const char *path, char *why, size_t room);
/** Whether a file belongs to the user who runs this, has one name, and is written by nobody else. Nobody else can read
 * it from then on. */
bool lr_http_own_file(int fd);

#endif
