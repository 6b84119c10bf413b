/* SPDX-License-Identifier: MIT OR Apache-2.0
 * NamedMpk, Burn's default recorder, and NamedMpkBytes, the same in memory. */
#include "plugins/codec/msgpack/msgpack.h"

static int32_t probe(const rec_head *head)
{
    return lr_msgpack_probe(head->data, head->length);
}

static const rec_option *const options[] = {&lr_msgpack_trailing, NULL};

static const rec_plugin named_mpk = {
    .abi = REC_PLUGIN_ABI,
    .size = sizeof named_mpk,
    .name = "NamedMpk",
    .aliases = (const char *const[]){"mpk", "NamedMpkFileRecorder", "Default", "DefaultFileRecorder", NULL},
    .extension = "mpk",
    .description = "MessagePack with field names, Burn's default",
    .burn_name = "burn_core::record::file::NamedMpkFileRecorder",
    .traits = REC_TRAIT_EXACT_SIZE,
    .options = options,
    .probe = probe,
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
    .traits = REC_TRAIT_EXACT_SIZE,
    .options = options,
    .load = lr_msgpack_read,
    .save = lr_msgpack_write,
};

REC_PLUGINS(mpk, &named_mpk, &named_mpk_bytes);
