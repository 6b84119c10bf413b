/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Zstandard, which can follow any format: "mpk.zst", "safetensors.zst". */
#include "plugins/codec/zstd/codec.h"

static const rec_option level = {
    .size = sizeof(rec_option),
    .type = REC_OPTION_INT,
    .name = "level",
    .initial = "3",
    .help = "compression, from 1 (fastest) to 19 (smallest)",
    .minimum = 1,
    .maximum = 19,
};

static int32_t encode(rec_job *job, rec_sink *target, rec_sink **out)
{
    *out = lr_zstd_sink(job, target, (int)rec_job_option_int(job, level.name));
    return *out ? REC_OK : rec_fail(job, REC_E_MEMORY, REC_UNKNOWN, "the compressor could not be set up");
}

static const rec_magic frame = {
    .size = sizeof(rec_magic),
    .length = 4,
    .bytes = (const uint8_t[]){0x28, 0xb5, 0x2f, 0xfd},
};

/* Sixteen kinds of frames that hold something else, which may come first. */
static const rec_magic skippable = {
    .size = sizeof(rec_magic),
    .length = 4,
    .bytes = (const uint8_t[]){0x50, 0x2a, 0x4d, 0x18},
    .mask = (const uint8_t[]){0xf0, 0xff, 0xff, 0xff},
};

static const rec_plugin zstd = {
    .abi = REC_PLUGIN_ABI,
    .size = sizeof zstd,
    .kind = REC_PLUGIN_CODEC,
    .name = "zstd",
    .aliases = (const char *const[]){"zst", NULL},
    .extension = "zst",
    .extensions = (const char *const[]){"zstd", NULL},
    .description = "Zstandard (RFC 8878)",
    .options = (const rec_option *const[]){&level, NULL},
    .magic = (const rec_magic *const[]){&frame, &skippable, NULL},
    .decode = lr_zstd_source,
    .encode = encode,
};

REC_PLUGINS(zst, &zstd);
