/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Numbers in files, the lowest byte first. */
#ifndef LR_CODEC_LITTLE_H
#define LR_CODEC_LITTLE_H

#include <stdint.h>

static inline uint64_t lr_little(const uint8_t *at, unsigned bytes)
{
    uint64_t number = 0;
    for (unsigned i = 0; i < bytes; i++) {
        number |= (uint64_t)at[i] << 8 * i;
    }
    return number;
}

static inline void lr_little_put(uint8_t *at, uint64_t number, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++) {
        at[i] = (uint8_t)(number >> 8 * i);
    }
}

#endif
