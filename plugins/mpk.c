/* SPDX-License-Identifier: MIT OR Apache-2.0
 * NamedMpk, Burn's default recorder, and NamedMpkBytes, the same in memory. */
#include "plugins/codec/msgpack/msgpack.h"

static int32_t probe(const rec_head *head)
{
    return lr_msgpack_probe(head->data, head->length);
}

/* A map; most begin with the key `metadata`. What counts its entries is passed over. */
#define METADATA 0xa8, 'm', 'e', 't', 'a', 'd', 'a', 't', 'a'
#define ALL_OF_IT 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff
#define MAGIC(name, count, ...) static const uint8_t name[count] = {__VA_ARGS__}
MAGIC(short_map, 10, 0x80, METADATA);
MAGIC(short_mask, 10, 0xf0, ALL_OF_IT);
MAGIC(map_16, 12, 0xde, 0, 0, METADATA);
MAGIC(mask_16, 12, 0xff, 0, 0, ALL_OF_IT);
MAGIC(map_32, 14, 0xdf, 0, 0, 0, 0, METADATA);
MAGIC(mask_32, 14, 0xff, 0, 0, 0, 0, ALL_OF_IT);
MAGIC(long_mask, 1, 0xfe); /* 0xde and 0xdf */

static const rec_magic magic[] = {
    {sizeof(rec_magic), sizeof short_map, 0, short_map, short_mask},
    {sizeof(rec_magic), sizeof map_16, 0, map_16, mask_16},
    {sizeof(rec_magic), sizeof map_32, 0, map_32, mask_32},
    {sizeof(rec_magic), 1, 0, short_map, short_mask},
    {sizeof(rec_magic), 1, 0, map_16, long_mask},
};

static const rec_option *const options[] = {&lr_msgpack_trailing, NULL};

static const rec_plugin named_mpk = {
    .abi = REC_PLUGIN_ABI,
    .size = sizeof named_mpk,
    .name = "NamedMpk",
    .aliases = (const char *const[]){"mpk", "NamedMpkFileRecorder", "Default", "DefaultFileRecorder", NULL},
    .extension = "mpk",
    .description = "MessagePack with field names, Burn's default",
    .burn_name = "burn_core::record::file::NamedMpkFileRecorder",
    .traits = REC_TRAIT_EXACT_SIZE | REC_TRAIT_PLAIN,
    .options = options,
    .probe = probe,
    .magic = (const rec_magic *const[]){&magic[0], &magic[1], &magic[2], &magic[3], &magic[4], NULL},
    .load = lr_msgpack_read,
    .save = lr_msgpack_write,
};

static const rec_plugin named_mpk_bytes = {
    .abi = REC_PLUGIN_ABI,
    .size = sizeof named_mpk_bytes,
    .name = "NamedMpkBytes",
    .aliases = (const char *const[]){"mpk-bytes", "NamedMpkBytesRecorder", NULL},
    .description = "MessagePack with field names, in memory",
    .burn_name = "burn_core::record::memory::NamedMpkBytesRecorder",
    .traits = REC_TRAIT_EXACT_SIZE | REC_TRAIT_PLAIN,
    .options = options,
    .load = lr_msgpack_read,
    .save = lr_msgpack_write,
};

REC_PLUGINS(mpk, &named_mpk, &named_mpk_bytes);
