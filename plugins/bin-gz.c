/* SPDX-License-Identifier: MIT OR Apache-2.0
 * BinGz: BinFile in gzip. */
#include "plugins/codec/bincode/bincode.h"
#include "plugins/codec/gzip/gzip.h"

static int32_t probe(const rec_head *head)
{
    uint8_t inflated[256];
    uint64_t length = lr_gzip_peek(head, inflated, sizeof inflated);
    int32_t bits = lr_bincode_probe(inflated, length);
    return bits > 0 ? bits + 24 : 0; /* gzip's magic and method */
}

static int32_t load(rec_job *job, rec_source *source, const rec_visitor *visitor, void *self)
{
    return lr_gzip_load(job, source, visitor, self, lr_bincode_read);
}

static int32_t save(rec_job *job, rec_sink *sink)
{
    return lr_gzip_save(job, sink, lr_bincode_write);
}

static const rec_plugin bin_gz = {
    .abi = REC_PLUGIN_ABI,
    .size = sizeof bin_gz,
    .name = "BinGz",
    .aliases = (const char *const[]){"bin-gz", "BinGzFileRecorder", NULL},
    .extension = "bin.gz",
    .description = "bincode, compressed with gzip",
    .burn_name = "burn_core::record::file::BinGzFileRecorder",
    .traits = REC_TRAIT_NO_NAMES,
    .options = (const rec_option *const[]){&lr_gzip_level, &lr_bincode_positional, &lr_bincode_self_describing,
                                              &lr_bincode_trailing, NULL},
    .probe = probe,
    .load = load,
    .save = save,
};

REC_PLUGINS(bin_gz, &bin_gz);
