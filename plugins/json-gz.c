/* SPDX-License-Identifier: MIT OR Apache-2.0
 * JsonGz: JSON without spaces, in gzip. */
#include "plugins/codec/gzip/gzip.h"
#include "plugins/codec/json/json.h"

static int32_t probe(const rec_head *head)
{
    uint8_t inflated[256];
    uint64_t length = lr_gzip_peek(head, inflated, sizeof inflated);
    int32_t bits = lr_json_probe(inflated, length);
    return bits > 0 ? bits + 24 : 0; /* gzip's magic and method */
}

static int32_t load(rec_job *job, rec_source *source, const rec_visitor *visitor, void *self)
{
    return lr_gzip_load(job, source, visitor, self, lr_json_read);
}

static int32_t write_compact(rec_job *job, rec_sink *sink)
{
    return lr_json_write(job, sink, false);
}

static int32_t save(rec_job *job, rec_sink *sink)
{
    return lr_gzip_save(job, sink, write_compact);
}

static const rec_plugin json_gz = {
    .abi = REC_PLUGIN_ABI,
    .size = sizeof json_gz,
    .name = "JsonGz",
    .aliases = (const char *const[]){"json-gz", "JsonGzFileRecorder", NULL},
    .extension = "json.gz",
    .description = "JSON, compressed with gzip",
    .burn_name = "burn_core::record::file::JsonGzFileRecorder",
    .options = (const rec_option *const[]){&lr_gzip_level, NULL},
    .probe = probe,
    .load = load,
    .save = save,
};

REC_PLUGINS(json_gz, &json_gz);
