/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Blocks: tables, and what the decoders share. */
#ifndef LR_GGUF_BLOCKS_PRIVATE_H
#define LR_GGUF_BLOCKS_PRIVATE_H

#include <string.h>

#include "plugins/codec/gguf/blocks.h"
#include "plugins/codec/gguf/gguf.h"

/* What four bits stand for where they are not spaced evenly, and twice the values of FP4 (E2M1). */
extern const int8_t lr_gguf_uneven[16], lr_gguf_doubled[16];
/** The scale of a block of MXFP4 (E8M0) or NVFP4 (E4M3 without its sign), halved, as `lr_gguf_doubled` is doubled. */
float lr_gguf_mxfp4_scale(uint8_t exponent);
float lr_gguf_nvfp4_scale(uint8_t scale);

/* For `of_two_bits`: the magnitudes of IQ2, -1, 0 and 1 in eighths, and -1 to 2; for `look_up`: those of IQ3_XXS. */
extern const int8_t lr_gguf_two_bits[16], lr_gguf_eighths[16], lr_gguf_minus_one[16], lr_gguf_three_bits[16];
/* One eighth up, or, where its bit of the index is set, down, for the first eight numbers and the second. */
extern const int8_t lr_gguf_moves[4][16];

/* Codebooks: codebooks.c. IQ1_S and IQ1_M share one. */
extern const uint16_t lr_gguf_book_iq1[2048], lr_gguf_book_iq2_xxs[256], lr_gguf_book_iq2_xs[512],
    lr_gguf_book_iq2_s[1024];
extern const uint16_t lr_gguf_book_iq3_xxs[256], lr_gguf_book_iq3_s[512];

static inline float single(uint32_t bits)
{
    float number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

static inline uint32_t word(const uint8_t *data)
{
    return (uint32_t)data[0] | (uint32_t)data[1] << 8;
}

/* Returns the f16 stored in two bytes. */
static inline float half(const uint8_t *data)
{
    uint32_t bits = word(data), magnitude = (bits & 0x7fff) << 13;
    float number = single(magnitude) * 0x1p112f; /* exact, also where it is subnormal */
    memcpy(&magnitude, &number, sizeof magnitude);
    return single((bits & 0x8000) << 16 | magnitude | ((bits & 0x7c00) == 0x7c00 ? 0x7f800000 : 0));
}

/* Moves four groups of seven bits, packed from the bottom, to a byte each. */
static inline uint32_t sevens(uint32_t packed)
{
    return (packed & 0x7f) | (packed << 1 & 0x7f00) | (packed << 2 & 0x7f0000) | (packed << 3 & 0x7f000000);
}

/* Adds to each byte of seven bits the eighth, which makes the number of bits that are set even: the signs of eight
 * numbers. Bits of neighbours never come to the bottom of a byte. */
static inline uint32_t even(uint32_t bits)
{
    uint32_t parity = bits ^ bits >> 4;
    parity ^= parity >> 2;
    parity ^= parity >> 1;
    return bits | (parity & 0x01010101u) << 7;
}

/* The f16 of a block of IQ1_M: the top four bits of each of the four words of its scales. */
static inline uint32_t iq1_m_half(const uint8_t *scales)
{
    return (uint32_t)(scales[1] >> 4 | (scales[3] & 0xF0) | (scales[5] & 0xF0) << 4 | (scales[7] & 0xF0) << 8);
}

#endif
