/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Numbers of four bits that blocks share. */
#include "plugins/codec/gguf/blocks_private.h"

const int8_t lr_gguf_uneven[16] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};

const int8_t lr_gguf_doubled[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

float lr_gguf_mxfp4_scale(uint8_t exponent)
{
    /* 2 to the power of the exponent less 128; the two smallest are subnormal. */
    uint32_t bits = exponent < 2 ? 0x00200000u << exponent : (uint32_t)(exponent - 1) << 23;
    float scale;
    memcpy(&scale, &bits, sizeof scale);
    return scale;
}
