/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Safetensors: models of PyTorch and others, and any record under flat names. */
#include "plugins/codec/safetensors/safetensors.h"

static const rec_option *const options[] = {&lr_st_max_shard_size, &lr_st_record, &lr_st_burn_store, NULL};

static const rec_plugin safetensors = {
    .abi = REC_PLUGIN_ABI,
    .size = sizeof safetensors,
    .name = "Safetensors",
    .aliases = (const char *const[]){"safetensors", "SafetensorsFileRecorder", NULL},
    .extension = "safetensors",
    .description = "safetensors, one file or several with an index",
    .traits = REC_TRAIT_TENSORS | REC_TRAIT_EXACT_SIZE | REC_TRAIT_FOLDER,
    .options = options,
    .probe = lr_st_probe,
    .load = lr_st_read,
    .save = lr_st_write,
    .adapter = REC_ADAPTER_PYTORCH,
};

REC_PLUGINS(safetensors, &safetensors);
