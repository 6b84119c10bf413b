/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Elements in the order of bytes that files have. */
#ifndef LR_COMMON_LITTLE_H
#define LR_COMMON_LITTLE_H

#include <stdint.h>

/** Turns elements of `width` bytes from the host's order into little-endian. @param size bytes of all of them. */
static inline void lr_to_little(uint8_t *bytes, uint32_t width, uint64_t size)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    for (uint64_t at = 0; at < size; at += width) {
        for (uint32_t i = 0; i < width / 2; i++) {
            uint8_t byte = bytes[at + i];
            bytes[at + i] = bytes[at + width - 1 - i];
            bytes[at + width - 1 - i] = byte;
        }
    }
#else
    (void)bytes;
    (void)width;
    (void)size;
#endif
}

#endif
