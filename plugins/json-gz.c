/* SPDX-License-Identifier: MIT OR Apache-2.0
 * JsonGz: JSON without spaces, in gzip. */
#include "codec/gzip.h"
#include "codec/json.h"

static int32_t probe(const rec_head *head)
{
    uint8_t inflated[256];
    uint64_t length = lr_gzip_peek(head, inflated, sizeof inflated);
    int32_t bits = lr_json_probe(inflated, length);
    return bits > 0 ? bits + 24 : 0; /* gzip's magic and method */
}

static int32_t load(rec_job *job, rec_source *source, const rec_visitor *visitor, void *self)
{
    rec_source *inflated = NULL;
    int32_t status = lr_gzip_source(job, source, &inflated);
    if (status == REC_OK) {
        status = lr_json_read(job, inflated, visitor, self);
    }
    rec_source_release(inflated);
    return status;
}

static int32_t save(rec_job *job, rec_sink *sink)
{
    rec_sink *packed = lr_gzip_sink(job, sink, (int)rec_job_option_int(job, "level"));
    if (!packed) {
        return rec_fail(job, REC_E_MEMORY, REC_UNKNOWN, "the compressor could not be set up");
    }
    int32_t status = lr_json_write(job, packed, false);
    int32_t closed = rec_sink_close(packed);
    return status != REC_OK ? status : closed;
}

static const rec_option level = {
    .size = sizeof level,
    .type = REC_OPTION_INT,
    .name = "level",
    .initial = "6",
    .help = "compression, from 0 (none) to 9 (smallest)",
    .minimum = 0,
    .maximum = 9,
};

static const rec_plugin json_gz = {
    .abi = REC_PLUGIN_ABI,
    .size = sizeof json_gz,
    .name = "JsonGz",
    .aliases = (const char *const[]){"json-gz", "JsonGzFileRecorder", NULL},
    .extension = "json.gz",
    .description = "JSON, compressed with gzip",
    .burn_name = "burn_core::record::file::JsonGzFileRecorder",
    .options = (const rec_option *const[]){&level, NULL},
    .probe = probe,
    .load = load,
    .save = save,
};

REC_PLUGINS(json_gz, &json_gz);
