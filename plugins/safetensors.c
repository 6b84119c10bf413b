/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Safetensors: models of PyTorch and others, and any record under flat names. */
#include "plugins/codec/safetensors/safetensors.h"

static const rec_option *const options[] = {&lr_st_max_shard_size, &lr_st_record, &lr_st_burn_store, &lr_st_keep_names,
                                            NULL};

/* JSON after its length; an index is JSON alone. A damaged file is known by its name, which no bytes stand for: of the
 * last one no bit counts. */
static const uint8_t brace[] = {'{'}, nothing[] = {0};
static const rec_magic magic[] = {{sizeof(rec_magic), 1, 8, brace, NULL},
                                  {sizeof(rec_magic), 1, 0, brace, NULL},
                                  {sizeof(rec_magic), 1, 0, nothing, nothing}};

static const rec_plugin safetensors = {
    .abi = REC_PLUGIN_ABI,
    .size = sizeof safetensors,
    .name = "Safetensors",
    .aliases = (const char *const[]){"safetensors", "SafetensorsFileRecorder", NULL},
    .extension = "safetensors",
    .description = "safetensors, one file or several with an index",
    .traits = REC_TRAIT_TENSORS | REC_TRAIT_EXACT_SIZE | REC_TRAIT_PLAIN | REC_TRAIT_FOLDER | REC_TRAIT_BARE |
              REC_TRAIT_VALUES,
    .options = options,
    .probe = lr_st_probe,
    .magic = (const rec_magic *const[]){&magic[0], &magic[1], &magic[2], NULL},
    .load = lr_st_read,
    .save = lr_st_write,
    .adapter = "pytorch",
};

REC_PLUGINS(safetensors, &safetensors);
