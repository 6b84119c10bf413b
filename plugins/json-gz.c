/* SPDX-License-Identifier: MIT OR Apache-2.0
 * JsonGz: Burn's name for JSON without spaces, in gzip. */
#include <librecord/plugin.h>

static const rec_plugin json_gz = {
    .abi = REC_PLUGIN_ABI,
    .size = sizeof json_gz,
    .kind = REC_PLUGIN_STACK,
    .name = "JsonGz",
    .aliases = (const char *const[]){"json-gz", "JsonGzFileRecorder", NULL},
    .extension = "json.gz",
    .description = "JSON, compressed with gzip",
    .burn_name = "burn_core::record::file::JsonGzFileRecorder",
    .format = "json",
    .codec = "gz",
    .presets = (const char *const[]){"style=compact", "level=3", NULL},
};

REC_PLUGINS(json_gz, &json_gz);
