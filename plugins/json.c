/* SPDX-License-Identifier: MIT OR Apache-2.0
 * PrettyJson: JSON with a line for each value. Burn's book says that it is compressed; Burn writes it plain. */
#include "plugins/codec/gzip/gzip.h"
#include "plugins/codec/json/json.h"

#include <string.h>

static int32_t probe(const rec_head *head)
{
    return lr_json_probe(head->data, head->length);
}

/* Plain, or compressed by whoever believed the book. */
static int32_t load(rec_job *job, rec_source *source, const rec_visitor *visitor, void *self)
{
    uint8_t magic[2] = {0};
    rec_source *inflated = NULL;
    int32_t status = REC_OK;
    uint64_t size = rec_source_size(source);
    if (size != REC_UNKNOWN && size >= sizeof magic) { /* what is being inflated is read once, and not as a whole */
        status = rec_source_read_at(job, source, 0, magic, sizeof magic);
    }
    if (status == REC_OK && magic[0] == 0x1f && magic[1] == 0x8b) {
        status = lr_gzip_source(job, source, &inflated);
    }
    if (status == REC_OK) {
        status = lr_json_read(job, inflated ? inflated : source, visitor, self);
    }
    rec_source_release(inflated);
    return status;
}

static const rec_option style = {
    .size = sizeof(rec_option),
    .type = REC_OPTION_CHOICE,
    .name = "style",
    .initial = "pretty",
    .help = "a line for each value, or no white space at all",
    .choices = (const char *const[]){"pretty", "compact", NULL},
};

static int32_t save(rec_job *job, rec_sink *sink)
{
    return lr_json_write(job, sink, strcmp(rec_job_option_text(job, style.name), "pretty") == 0);
}

static const rec_plugin pretty_json = {
    .abi = REC_PLUGIN_ABI,
    .size = sizeof pretty_json,
    .name = "PrettyJson",
    .aliases = (const char *const[]){"pretty-json", "json", "PrettyJsonFileRecorder", NULL},
    .extension = "json",
    .description = "JSON with a line for each value",
    .burn_name = "burn_core::record::file::PrettyJsonFileRecorder",
    .options = (const rec_option *const[]){&style, NULL},
    .probe = probe,
    .load = load,
    .save = save,
};

REC_PLUGINS(json, &pretty_json);
