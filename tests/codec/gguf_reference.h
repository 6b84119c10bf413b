/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The reference for the decoders of blocks. */
#ifndef TESTS_GGUF_REFERENCE_H
#define TESTS_GGUF_REFERENCE_H

#include "plugins/codec/gguf/blocks.h"

/** The reference for a kind. */
lr_gguf_decode *gguf_reference(int kind);

#endif
