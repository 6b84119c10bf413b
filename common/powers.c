/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Powers of ten from 10^-342 to 10^324: the first 128 bits of each, rounded up if inexact. The first use computes
 * them, which takes about 50 microseconds. */
#include <pthread.h>
#include <stdatomic.h>
#include "common/shortest.h"

enum { LIMBS = 48 }; /* of 32 bits, the least first */

static lr_power powers[LR_POWER_MOST - LR_POWER_LEAST + 1];
static pthread_once_t once = PTHREAD_ONCE_INIT;
static atomic_bool made;

static void times_ten(uint32_t number[LIMBS])
{
    uint64_t carry = 0;
    for (int i = 0; i < LIMBS; i++) {
        carry += (uint64_t)number[i] * 10;
        number[i] = (uint32_t)carry;
        carry >>= 32;
    }
}

/* @return something was cut off. */
static bool by_ten(uint32_t number[LIMBS])
{
    uint64_t rest = 0;
    for (int i = LIMBS - 1; i >= 0; i--) {
        rest = rest << 32 | number[i];
        number[i] = (uint32_t)(rest / 10);
        rest %= 10;
    }
    return rest != 0;
}

/* @param cut bits below the number were cut off. */
static lr_power first_bits(const uint32_t number[LIMBS], bool cut)
{
    uint64_t half[3] = {0}; /* the first 160 to 191 bits */
    int top = LIMBS - 1;
    while (number[top] == 0) {
        top--;
    }
    int shift = __builtin_clz(number[top]);
    for (int i = 0; i < 6; i++) {
        half[i / 2] = half[i / 2] << 32 | (i <= top ? number[top - i] : 0);
    }
    for (int i = top - 6; i >= 0; i--) {
        cut |= number[i] != 0;
    }
    cut |= half[2] << shift != 0;
    uint64_t low = shift ? half[1] << shift | half[2] >> (64 - shift) : half[1];
    uint64_t high = shift ? half[0] << shift | half[1] >> (64 - shift) : half[0];
    return (lr_power){.high = high + (cut && low == UINT64_MAX), .low = low + cut};
}

static void make(void)
{
    uint32_t up[LIMBS] = {1}, down[LIMBS] = {[LIMBS - 1] = 1}; /* 10^k, and 2^1504 / 10^k cut off */
    bool cut = false;
    for (int32_t k = 0; k <= LR_POWER_MOST; k++) {
        powers[k - LR_POWER_LEAST] = first_bits(up, false);
        times_ten(up);
    }
    for (int32_t k = 1; k <= -LR_POWER_LEAST; k++) {
        cut |= by_ten(down);
        powers[-k - LR_POWER_LEAST] = first_bits(down, cut);
    }
    atomic_store_explicit(&made, true, memory_order_release);
}

lr_power lr_power_of_ten(int32_t k)
{
    if (!atomic_load_explicit(&made, memory_order_acquire)) {
        (void)pthread_once(&once, make);
    }
    return powers[k - LR_POWER_LEAST];
}
