/* SPDX-License-Identifier: MIT OR Apache-2.0
 * PyTorch's own files: .pt, .pth, .ckpt, and the .bin of its models, in one file or several with an index. */
#include "plugins/codec/pytorch/pytorch.h"

static const rec_option *const options[] = {&lr_pt_top_level_key, &lr_pt_crc, &lr_pt_trailing, NULL};

/* A zip archive, or a pickle of the number that the old stream begins with, by pickle protocol. */
static const rec_magic zip = {.size = sizeof zip, .length = 4, .bytes = (const uint8_t *)"PK\x03\x04"};
static const uint8_t number[] = {0x8a, 0x0a, 0x6c, 0xfc, 0x9c, 0x46, 0xf9, 0x20, 0x6a, 0xa8, 0x50, 0x19};
static const rec_magic stream = {.size = sizeof stream, .length = sizeof number, .offset = 2, .bytes = number};
static const rec_magic framed = {.size = sizeof framed, .length = sizeof number, .offset = 11, .bytes = number};

/* An index is JSON. */
static const rec_magic brace = {.size = sizeof brace, .length = 1, .bytes = (const uint8_t *)"{"};

static const rec_plugin pytorch = {
    .abi = REC_PLUGIN_ABI,
    .size = sizeof pytorch,
    .name = "PyTorch",
    .aliases = (const char *const[]){"pytorch", "torch", "PyTorchFileRecorder", NULL},
    .extension = "pt",
    .extensions = (const char *const[]){"pth", "ckpt", NULL},
    .description = "PyTorch's own files; no code of theirs is run",
    .traits = REC_TRAIT_TENSORS | REC_TRAIT_FOLDER | REC_TRAIT_VALUES,
    .options = options,
    .probe = lr_pt_probe,
    .load = lr_pt_read,
    .save = lr_pt_write,
    .adapter = "pytorch",
    .magic = (const rec_magic *const[]){&zip, &stream, &framed, &brace, NULL},
};

REC_PLUGINS(pt, &pytorch);
