/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Https: files of a server. */
#include "plugins/codec/http/http.h"

static const rec_plugin https = {
    .abi = REC_PLUGIN_ABI,
    .size = sizeof https,
    .name = "Https",
    .aliases = (const char *const[]){"http", NULL},
    .description = "files of a server, read in parts",
    .kind = REC_PLUGIN_SOURCE,
    .schemes = (const char *const[]){"https", "http", NULL},
    .open = lr_http_open,
};

REC_PLUGINS(source_https, &https);
