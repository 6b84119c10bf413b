/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The numbers of a tensor that is stored in blocks, as a source: decoded when they are read, a piece at a time. */
#ifndef LR_GGUF_NUMBERS_H
#define LR_GGUF_NUMBERS_H

#include "plugins/codec/gguf/header.h"

/** @param at where the blocks of `t` begin in `source`. @param out counted: its elements as f32, little-endian. */
int32_t lr_gguf_numbers(rec_job *job, rec_source *source, uint64_t at, const lr_gguf_tensor *t, rec_source **out);

#endif
