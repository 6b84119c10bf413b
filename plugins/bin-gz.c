/* SPDX-License-Identifier: MIT OR Apache-2.0
 * BinGz: Burn's name for BinFile in gzip. */
#include <librecord/plugin.h>

static const rec_plugin bin_gz = {
    .abi = REC_PLUGIN_ABI,
    .size = sizeof bin_gz,
    .kind = REC_PLUGIN_STACK,
    .name = "BinGz",
    .aliases = (const char *const[]){"bin-gz", "BinGzFileRecorder", NULL},
    .extension = "bin.gz",
    .description = "bincode, compressed with gzip",
    .burn_name = "burn_core::record::file::BinGzFileRecorder",
    .format = "bin",
    .codec = "gz",
};

REC_PLUGINS(bin_gz, &bin_gz);
