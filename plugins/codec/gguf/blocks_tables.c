/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Small tables that blocks share: what codes of two to four bits stand for. */
#include "plugins/codec/gguf/blocks_private.h"

const int8_t lr_gguf_uneven[16] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};

const int8_t lr_gguf_doubled[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

const int8_t lr_gguf_two_bits[16] = {8, 25, 43, 0, 25, 0, 0, 0, 43};
const int8_t lr_gguf_eighths[16] = {-8, 0, 8, 0, 0, 0, 0, 0, 8};
const int8_t lr_gguf_minus_one[16] = {-1, 0, 1, 2, 0, 0, 0, 0, 1, 0, 0, 0, 2};
const int8_t lr_gguf_three_bits[16] = {4, 12, 20, 28, 36, 44, 52, 62};
const int8_t lr_gguf_moves[4][16] = {
    {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1},
    {-1, -1, -1, -1, -1, -1, -1, -1, 1, 1, 1, 1, 1, 1, 1, 1},
    {1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, -1, -1, -1},
    {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1},
};

float lr_gguf_mxfp4_scale(uint8_t exponent)
{
    /* 2 to the power of the exponent less 128; the two smallest are subnormal. */
    uint32_t bits = exponent < 2 ? 0x00200000u << exponent : (uint32_t)(exponent - 1) << 23;
    float scale;
    memcpy(&scale, &bits, sizeof scale);
    return scale;
}

float lr_gguf_nvfp4_scale(uint8_t scale)
{
    uint32_t exponent = scale >> 3 & 15, fraction = scale & 7;
    if (scale == 0x7F) { /* no number: ggml takes it for zero, but not with the bit of the sign */
        return 0;
    }
    return exponent ? single((exponent + 119) << 23 | fraction << 20) : (float)fraction * single(0x3A800000u);
}
