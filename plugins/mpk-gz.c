/* SPDX-License-Identifier: MIT OR Apache-2.0
 * NamedMpkGz: Burn's name for NamedMpk in gzip. */
#include <librecord/plugin.h>

static const rec_plugin named_mpk_gz = {
    .abi = REC_PLUGIN_ABI,
    .size = sizeof named_mpk_gz,
    .kind = REC_PLUGIN_STACK,
    .name = "NamedMpkGz",
    .aliases = (const char *const[]){"mpk-gz", "NamedMpkGzFileRecorder", NULL},
    .extension = "mpk.gz",
    .description = "MessagePack with field names, compressed with gzip",
    .burn_name = "burn_core::record::file::NamedMpkGzFileRecorder",
    .format = "mpk",
    .codec = "gz",
};

REC_PLUGINS(mpk_gz, &named_mpk_gz);
