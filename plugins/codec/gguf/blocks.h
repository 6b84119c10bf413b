/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Blocks of quantised numbers, as ggml lays them out, to f32. The numbers are those that ggml's own reference gives:
 * each product and sum rounded to f32 by itself. */
#ifndef LR_GGUF_BLOCKS_H
#define LR_GGUF_BLOCKS_H

#include <stdint.h>

/** @param blocks any alignment. @param numbers room for `count` blocks of 32 to 256 elements, aligned to 4. */
typedef void lr_gguf_decode(const uint8_t *blocks, uint64_t count, float *numbers);

/* The kinds, for tables: F(NUMBER, function). */
/* clang-format off */
#define LR_GGUF_EACH(F)                                                                                                \
    F(Q4_0, q4_0) F(Q4_1, q4_1) F(Q5_0, q5_0) F(Q5_1, q5_1) F(Q8_0, q8_0) F(Q2_K, q2_k) F(Q3_K, q3_k) F(Q4_K, q4_k)    \
    F(Q5_K, q5_k) F(Q6_K, q6_k) F(Q8_K, q8_k) F(IQ4_NL, iq4_nl) F(IQ4_XS, iq4_xs) F(TQ2_0, tq2_0) F(MXFP4, mxfp4)      \
    F(NVFP4, nvfp4) F(Q1_0, q1_0) F(Q2_0, q2_0) F(TQ1_0, tq1_0) F(IQ1_S, iq1_s) F(IQ1_M, iq1_m) F(IQ2_XXS, iq2_xxs)    \
    F(IQ2_XS, iq2_xs) F(IQ2_S, iq2_s) F(IQ3_XXS, iq3_xxs) F(IQ3_S, iq3_s)
/* clang-format on */

#define LR_GGUF_KIND(kind, name) LR_GGUF_##kind,
enum { LR_GGUF_EACH(LR_GGUF_KIND) LR_GGUF_KINDS };

/** The decoder of a kind for the processor that runs. */
lr_gguf_decode *lr_gguf_decoder(int kind);
/** The decoder for one level of instructions; all give the same bits, but that a NaN may be another NaN. @return NULL
 * if the processor lacks them. */
lr_gguf_decode *lr_gguf_level(int level, int kind);
enum { LR_GGUF_ANY, LR_GGUF_AVX2, LR_GGUF_LEVELS };

#endif
