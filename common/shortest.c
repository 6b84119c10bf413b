/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Raffaello Giulietti's Schubfach: "The Schubfach way to render doubles". */
#include "common/shortest.h"

/* floor(log2(10^k)) and floor(log10(2^q)), exact for all exponents of doubles. */
static int32_t log2_of_power10(int32_t k)
{
    return (int32_t)(((int64_t)k * 1741647) >> 19);
}

static int32_t log10_of_power2(int32_t q)
{
    return (int32_t)(((int64_t)q * 1262611) >> 22);
}

/* floor(log10(3/4 · 2^q)) */
static int32_t log10_of_three_quarters(int32_t q)
{
    return (int32_t)(((int64_t)q * 1262611 - 524031) >> 22);
}

/* The upper bits of power · c, with a sticky last bit. */
static uint64_t multiply_odd(lr_power power, uint64_t c)
{
    uint64_t low, unused;
    uint64_t carry = lr_multiply(power.low, c, &unused);
    uint64_t high = lr_multiply(power.high, c, &low);
    low += carry;
    high += low < carry;
    return high | (low > 1);
}

/* Names as in the paper. */
uint64_t lr_shortest(uint64_t c, int32_t q, bool even, bool lowest, int32_t *exponent)
{
    uint64_t left = 4 * c - 2 + lowest, middle = 4 * c, right = 4 * c + 2;
    int32_t k = lowest ? log10_of_three_quarters(q) : log10_of_power2(q);
    int32_t h = q + log2_of_power10(-k) + 1;
    lr_power power = lr_power_of_ten(-k);
    uint64_t below = multiply_odd(power, left << h);
    uint64_t value = multiply_odd(power, middle << h);
    uint64_t above = multiply_odd(power, right << h);
    uint64_t s = value / 4;
    below += !even;
    above -= !even;
    if (s >= 10) {
        uint64_t tens = s / 10;
        bool under = below <= 40 * tens, over = 40 * tens + 40 <= above;
        if (under != over) {
            *exponent = k + 1;
            return tens + over;
        }
    }
    *exponent = k;
    bool under = below <= 4 * s, over = 4 * s + 4 <= above;
    if (under != over) {
        return s + over;
    }
    return s + (value > 4 * s + 2 || (value == 4 * s + 2 && (s & 1)));
}
