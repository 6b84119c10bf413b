/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Gguf: the models of ggml and llama.cpp. */
#include "plugins/codec/gguf/gguf.h"

static const rec_option *const options[] = {&lr_gguf_trailing, NULL};

static const rec_magic magic = {
    .size = sizeof magic, .length = 4, .offset = 0, .bytes = (const uint8_t *)LR_GGUF_MAGIC};

static const rec_plugin gguf = {
    .abi = REC_PLUGIN_ABI,
    .size = sizeof gguf,
    .name = "Gguf",
    .extension = "gguf",
    .description = "GGUF, the models of llama.cpp",
    .traits = REC_TRAIT_TENSORS | REC_TRAIT_EXACT_SIZE | REC_TRAIT_PLAIN,
    .options = options,
    .probe = lr_gguf_probe,
    .load = lr_gguf_read,
    .save = lr_gguf_write,
    .adapter = "pytorch",
    .magic = (const rec_magic *const[]){&magic, NULL},
};

REC_PLUGINS(gguf, &gguf);
