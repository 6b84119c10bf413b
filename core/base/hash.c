/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Hashes for tables of keys from files: SipHash-1-3 (Aumasson and Bernstein). The key is drawn once per process, so
 * that a file cannot be made with colliding keys. The hashes are no checksums: they differ between processes. */
#include "core/base/base.h"

#include <string.h>
#include <time.h>

static uint64_t key[2];
static pthread_once_t drawn = PTHREAD_ONCE_INIT;

static void draw(void)
{
    struct timespec now = {0};
    if (lr_system_random(key, sizeof key, false)) {
        return;
    }
    /* Early at boot, or where the call is forbidden: what a file's maker can hardly know. */
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    key[0] = (uint64_t)(uintptr_t)&now ^ (uint64_t)now.tv_nsec << 32;
    key[1] = (uint64_t)(uintptr_t)&draw ^ (uint64_t)now.tv_sec << 40 ^ (uint64_t)now.tv_nsec;
}

static inline uint64_t turn(uint64_t word, unsigned bits)
{
    return word << bits | word >> (64 - bits);
}

static inline void round_once(uint64_t v[4])
{
    v[0] += v[1];
    v[1] = turn(v[1], 13) ^ v[0];
    v[0] = turn(v[0], 32);
    v[2] += v[3];
    v[3] = turn(v[3], 16) ^ v[2];
    v[0] += v[3];
    v[3] = turn(v[3], 21) ^ v[0];
    v[2] += v[1];
    v[1] = turn(v[1], 17) ^ v[2];
    v[2] = turn(v[2], 32);
}

static inline uint64_t word_at(const uint8_t *at)
{
    uint64_t word = 0;
    for (unsigned i = 0; i < 8; i++) { /* one load, as compilers see it */
        word |= (uint64_t)at[i] << (8 * i);
    }
    return word;
}

uint64_t lr_key_hash_with(const uint64_t secret[2], const void *data, size_t size)
{
    uint64_t v[4] = {secret[0] ^ UINT64_C(0x736f6d6570736575), secret[1] ^ UINT64_C(0x646f72616e646f6d),
                     secret[0] ^ UINT64_C(0x6c7967656e657261), secret[1] ^ UINT64_C(0x7465646279746573)};
    const uint8_t *at = data;
    uint64_t word, last = (uint64_t)size << 56;
    size_t left = size;
    for (; left >= 8; left -= 8, at += 8) {
        word = word_at(at);
        v[3] ^= word;
        round_once(v);
        v[0] ^= word;
    }
    for (size_t i = 0; i < left; i++) {
        last |= (uint64_t)at[i] << (8 * i);
    }
    v[3] ^= last;
    round_once(v);
    v[0] ^= last;
    v[2] ^= 0xff;
    round_once(v);
    round_once(v);
    round_once(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

uint64_t lr_key_hash(const void *data, size_t size)
{
    (void)pthread_once(&drawn, draw);
    return lr_key_hash_with(key, data, size);
}
