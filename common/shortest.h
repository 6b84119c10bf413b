/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The shortest decimal that reads back as a binary float, and the powers of ten for that. */
#ifndef LR_COMMON_SHORTEST_H
#define LR_COMMON_SHORTEST_H

#include <stdbool.h>
#include <stdint.h>

/** 10^k = (high · 2^64 + low) · 2^e for some e, high with its top bit set. */
typedef struct lr_power {
    uint64_t high, low;
} lr_power;
enum { LR_POWER_LEAST = -342, LR_POWER_MOST = 324 };

/** @param k from LR_POWER_LEAST to LR_POWER_MOST. @return the first 128 bits of 10^k, rounded up if inexact. */
lr_power lr_power_of_ten(int32_t k);

/** Finds the shortest decimal within the interval that rounds to c · 2^q, and of those the nearest to it.
 *  @param even the ends of the interval belong to it. @param lowest the float below is only half as far away as the one
 *  above. @param exponent (out) of ten. @return the digits; zeros may be at the end. */
uint64_t lr_shortest(uint64_t c, int32_t q, bool even, bool lowest, int32_t *exponent);

/** @return the upper half of a product. @param low (out) the lower half. */
static inline uint64_t lr_multiply(uint64_t a, uint64_t b, uint64_t *low)
{
#ifdef __SIZEOF_INT128__
    __extension__ typedef unsigned __int128 wide;
    wide product = (wide)a * b;
    *low = (uint64_t)product;
    return (uint64_t)(product >> 64);
#else
    uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
    uint64_t middle = a1 * b0 + (a0 * b0 >> 32);
    uint64_t other = a0 * b1 + (uint32_t)middle;
    *low = other << 32 | (uint32_t)(a0 * b0);
    return a1 * b1 + (middle >> 32) + (other >> 32);
#endif
}

#endif
