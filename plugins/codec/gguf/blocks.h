/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Blocks of quantised numbers, as ggml lays them out, to f32. The numbers are those that ggml's own reference gives: each
 * product and sum rounded to f32 by itself. */
#ifndef LR_GGUF_BLOCKS_H
#define LR_GGUF_BLOCKS_H

#include <stdint.h>

/* @param blocks any alignment. @param numbers room for `count` blocks of 32 or 256 elements. */

void lr_gguf_q4_0(const uint8_t *blocks, uint64_t count, float *numbers);
void lr_gguf_q4_1(const uint8_t *blocks, uint64_t count, float *numbers);
void lr_gguf_q5_0(const uint8_t *blocks, uint64_t count, float *numbers);
void lr_gguf_q5_1(const uint8_t *blocks, uint64_t count, float *numbers);
void lr_gguf_q8_0(const uint8_t *blocks, uint64_t count, float *numbers);
void lr_gguf_q2_k(const uint8_t *blocks, uint64_t count, float *numbers);
void lr_gguf_q3_k(const uint8_t *blocks, uint64_t count, float *numbers);
void lr_gguf_q4_k(const uint8_t *blocks, uint64_t count, float *numbers);
void lr_gguf_q5_k(const uint8_t *blocks, uint64_t count, float *numbers);
void lr_gguf_q6_k(const uint8_t *blocks, uint64_t count, float *numbers);
void lr_gguf_q8_k(const uint8_t *blocks, uint64_t count, float *numbers);
void lr_gguf_iq4_nl(const uint8_t *blocks, uint64_t count, float *numbers);
void lr_gguf_iq4_xs(const uint8_t *blocks, uint64_t count, float *numbers);
void lr_gguf_tq2_0(const uint8_t *blocks, uint64_t count, float *numbers);
void lr_gguf_mxfp4(const uint8_t *blocks, uint64_t count, float *numbers);

#endif
