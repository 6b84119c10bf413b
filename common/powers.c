/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Powers of ten from 10^-342 to 10^324: the first 128 bits of each, rounded up if inexact. The first use computes
 * them, which takes about 50 microseconds. */
#include <pthread.h>
#include <stdatomic.h>
#include "common/shortest.h"

/* Limbs of 32 bits, the least first. 5^k has the first bits of 10^k; 5^55 has 128, and larger ones are inexact. */
enum { LIMBS = 40, BELOW = 4, EXACT_MOST = 55 };

static lr_power powers[LR_POWER_MOST - LR_POWER_LEAST + 1];
static pthread_once_t once = PTHREAD_ONCE_INIT;
static atomic_bool made;

static lr_power first_bits(const uint32_t number[LIMBS], bool exact)
{
    int top = LIMBS - 1;
    while (number[top] == 0) {
        top--;
    }
    int shift = __builtin_clz(number[top]);
    uint64_t high = (uint64_t)number[top] << 32 | number[top - 1];
    uint64_t low = (uint64_t)number[top - 2] << 32 | number[top - 3];
    if (shift) {
        high = high << shift | low >> (64 - shift);
        low = low << shift | number[top - BELOW] >> (32 - shift);
    }
    return (lr_power){.high = high + (!exact && low == UINT64_MAX), .low = low + !exact};
}

static void make(void)
{
    uint32_t up[LIMBS] = {[BELOW] = 1}, down[LIMBS] = {[LIMBS - 1] = 1}; /* 5^k, and 2^1248 / 5^k truncated */
    for (int32_t k = 0; k <= -LR_POWER_LEAST; k++) {
        uint64_t carry = 0, rest = 0;
        powers[-k - LR_POWER_LEAST] = first_bits(down, false);
        if (k <= LR_POWER_MOST) {
            powers[k - LR_POWER_LEAST] = first_bits(up, k <= EXACT_MOST);
        }
        for (int i = 0; i < LIMBS; i++, carry >>= 32) {
            carry += (uint64_t)up[i] * 5;
            up[i] = (uint32_t)carry;
        }
        for (int i = LIMBS - 1; i >= 0; i--, rest %= 5) {
            rest = rest << 32 | down[i];
            down[i] = (uint32_t)(rest / 5);
        }
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
