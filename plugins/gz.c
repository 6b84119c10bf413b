/* SPDX-License-Identifier: MIT OR Apache-2.0
 * gzip, which can follow any format: "mpk.gz", "safetensors.gz". */
#include "plugins/codec/gzip/gzip.h"

static const rec_option level = {
    .size = sizeof(rec_option),
    .type = REC_OPTION_INT,
    .name = "level",
    .initial = "6",
    .help = "compression, from 0 (none) to 9 (smallest)",
    .minimum = 0,
    .maximum = 9,
};

static int32_t encode(rec_job *job, rec_sink *target, rec_sink **out)
{
    *out = lr_gzip_sink(job, target, (int)rec_job_option_int(job, level.name));
    return *out ? REC_OK : rec_fail(job, REC_E_MEMORY, REC_UNKNOWN, "the compressor could not be set up");
}

/* Its two bytes, and the only method there is. */
static const rec_magic magic = {
    .size = sizeof(rec_magic),
    .length = 3,
    .bytes = (const uint8_t[]){0x1f, 0x8b, 8},
};

static const rec_plugin gzip = {
    .abi = REC_PLUGIN_ABI,
    .size = sizeof gzip,
    .kind = REC_PLUGIN_CODEC,
    .name = "gzip",
    .aliases = (const char *const[]){"gz", NULL},
    .extension = "gz",
    .description = "gzip (RFC 1952)",
    .options = (const rec_option *const[]){&level, NULL},
    .magic = (const rec_magic *const[]){&magic, NULL},
    .decode = lr_gzip_source,
    .encode = encode,
};

REC_PLUGINS(gz, &gzip);
