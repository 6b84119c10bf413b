/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What the tests share that put numbers where bytes are stored: those are little-endian, the processor's may not be. */
#ifndef LITTLE_H
#define LITTLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Whether a number in memory is as it is stored. */
static inline bool host_is_little(void)
{
    static const uint16_t one = 1;
    return *(const uint8_t *)&one == 1;
}

/** Between host byte order and little-endian, in place. @return `numbers`. */
static inline void *little(void *numbers, size_t width, size_t count)
{
    uint8_t *at = numbers;
    for (size_t i = 0; !host_is_little() && i < count; i++, at += width) {
        for (size_t a = 0, b = width - 1; a < b; a++, b--) {
            uint8_t byte = at[a];
            at[a] = at[b];
            at[b] = byte;
        }
    }
    return numbers;
}

#endif
