/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Burnpack: what Burn 0.22 and later have for models, optimizers and schedulers, and 0.19 to 0.21 for models. */
#include "plugins/codec/burnpack/burnpack.h"

static const rec_option *const options[] = {&lr_bpk_store, &lr_bpk_trailing, NULL};

static const rec_magic magic = {.size = sizeof magic, .length = 4, .bytes = lr_bpk_magic};

static const rec_plugin burnpack = {
    .abi = REC_PLUGIN_ABI,
    .size = sizeof burnpack,
    .name = "Burnpack",
    .aliases = (const char *const[]){"bpk", "BurnpackStore", NULL},
    .extension = "bpk",
    .description = "Burn 0.22's own files; its stores' since 0.19",
    .traits = REC_TRAIT_TENSORS | REC_TRAIT_EXACT_SIZE | REC_TRAIT_PLAIN | REC_TRAIT_PATHS,
    .options = options,
    .probe = lr_bpk_probe,
    .load = lr_bpk_read,
    .save = lr_bpk_write,
    .magic = (const rec_magic *const[]){&magic, NULL},
    .burn_first = 19,
    .burn_last = 23,
    .burn_default = 22,
};

REC_PLUGINS(bpk, &burnpack);
