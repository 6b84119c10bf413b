/* SPDX-License-Identifier: MIT OR Apache-2.0
 * NamedMpkGz: NamedMpk in gzip. */
#include "plugins/codec/gzip/gzip.h"
#include "plugins/codec/msgpack/msgpack.h"

static int32_t probe(const rec_head *head)
{
    uint8_t inflated[256];
    uint64_t length = lr_gzip_peek(head, inflated, sizeof inflated);
    int32_t bits = lr_msgpack_probe(inflated, length);
    return bits > 0 ? bits + 24 : 0; /* gzip's magic and method */
}

static int32_t load(rec_job *job, rec_source *source, const rec_visitor *visitor, void *self)
{
    return lr_gzip_load(job, source, visitor, self, lr_msgpack_read);
}

static int32_t save(rec_job *job, rec_sink *sink)
{
    return lr_gzip_save(job, sink, lr_msgpack_write);
}

static const rec_plugin named_mpk_gz = {
    .abi = REC_PLUGIN_ABI,
    .size = sizeof named_mpk_gz,
    .name = "NamedMpkGz",
    .aliases = (const char *const[]){"mpk-gz", "NamedMpkGzFileRecorder", NULL},
    .extension = "mpk.gz",
    .description = "MessagePack with field names, compressed with gzip",
    .burn_name = "burn_core::record::file::NamedMpkGzFileRecorder",
    .options = (const rec_option *const[]){&lr_gzip_level, &lr_msgpack_trailing, NULL},
    .probe = probe,
    .load = load,
    .save = save,
};

REC_PLUGINS(mpk_gz, &named_mpk_gz);
