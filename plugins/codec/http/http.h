/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Files of a server, by libcurl: read at any place by range requests, or fetched as a whole where the server has none.
 * A file that changes between two requests is an error, never a mixture. */
#ifndef LR_HTTP_H
#define LR_HTTP_H

#include <stdbool.h>

#include <librecord/plugin.h>

/** Opens "https://host/path" or "http://…": asks for its first bytes, by which its size and version are known. */
int32_t lr_http_open(rec_job *job, const char *location, rec_source **out);

#endif
