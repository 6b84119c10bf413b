/* SPDX-License-Identifier: MIT OR Apache-2.0
 * BinFile, and BinBytes, the same in memory. */
#include "plugins/codec/bincode/bincode.h"

static int32_t probe(const rec_head *head)
{
    return lr_bincode_probe(head->data, head->length);
}

/* A file begins with the names of two element types, each after its length; the second one's is 3. */
#define MAGIC(text) {sizeof(rec_magic), sizeof(text) - 1, 0, (const uint8_t *)(text), NULL}
static const rec_magic magic[] = {MAGIC("\x03"
                                        "f32\x03"),
                                  MAGIC("\x03"
                                        "f64\x03"),
                                  MAGIC("\x03"
                                        "f16\x03"),
                                  MAGIC("\x04"
                                        "bf16\x03"),
                                  MAGIC("\x13half::binary16")};

static const rec_option *const options[] = {&lr_bincode_positional, &lr_bincode_self_describing, &lr_bincode_trailing,
                                            NULL};

static const rec_plugin bin = {
    .abi = REC_PLUGIN_ABI,
    .size = sizeof bin,
    .name = "BinFile",
    .aliases = (const char *const[]){"bin", "BinFileRecorder", NULL},
    .extension = "bin",
    .description = "bincode, read by the record's type",
    .burn_name = "burn_core::record::file::BinFileRecorder",
    .traits = REC_TRAIT_EXACT_SIZE | REC_TRAIT_PLAIN | REC_TRAIT_NO_NAMES,
    .options = options,
    .probe = probe,
    .magic = (const rec_magic *const[]){&magic[0], &magic[1], &magic[2], &magic[3], &magic[4], NULL},
    .load = lr_bincode_read,
    .save = lr_bincode_write,
};

static const rec_plugin bin_bytes = {
    .abi = REC_PLUGIN_ABI,
    .size = sizeof bin_bytes,
    .name = "BinBytes",
    .aliases = (const char *const[]){"bytes", "bin-bytes", "BinBytesRecorder", NULL},
    .description = "bincode in memory",
    .burn_name = "burn_core::record::memory::BinBytesRecorder",
    .traits = REC_TRAIT_EXACT_SIZE | REC_TRAIT_PLAIN | REC_TRAIT_NO_NAMES,
    .options = options,
    .load = lr_bincode_read,
    .save = lr_bincode_write,
};

REC_PLUGINS(bin, &bin, &bin_bytes);
