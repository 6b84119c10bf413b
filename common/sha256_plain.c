/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The blocks of SHA-256 (FIPS 180-4) in plain C. */
#include "common/sha256.h"

/* The first 32 bits of the fractions of the cube roots of the first 64 primes. */
const uint32_t lr_sha256_words[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static inline uint32_t turn(uint32_t word, unsigned bits)
{
    return word >> bits | word << (32 - bits);
}

/* One round; what the letters stand for moves on by their order in the call. */
#define ROUND(a, b, c, d, e, f, g, h, word)                                                                    \
    do {                                                                                                       \
        uint32_t more = (h) + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((g) ^ ((e) & ((f) ^ (g)))) + (word); \
        (d) += more;                                                                                           \
        (h) = more + (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + (((a) & (b)) | ((c) & ((a) | (b))));           \
    } while (0)

void lr_sha256_plain(uint32_t state[8], const uint8_t *at, size_t blocks)
{
    const uint32_t *k = lr_sha256_words;

    for (; blocks; blocks--, at += 64) {
        uint32_t w[64], a = state[0], b = state[1], c = state[2], d = state[3], e = state[4], f = state[5],
                        g = state[6], h = state[7];
        for (size_t i = 0; i < 16; i++) {
            w[i] = (uint32_t)at[4 * i] << 24 | (uint32_t)at[4 * i + 1] << 16 | (uint32_t)at[4 * i + 2] << 8 |
                   at[4 * i + 3];
        }
        for (size_t i = 16; i < 64; i++) {
            uint32_t x = w[i - 15], y = w[i - 2];
            w[i] = w[i - 16] + (turn(x, 7) ^ turn(x, 18) ^ x >> 3) + w[i - 7] + (turn(y, 17) ^ turn(y, 19) ^ y >> 10);
        }
        for (size_t i = 0; i < 64; i += 8) {
            ROUND(a, b, c, d, e, f, g, h, k[i] + w[i]);
            ROUND(h, a, b, c, d, e, f, g, k[i + 1] + w[i + 1]);
            ROUND(g, h, a, b, c, d, e, f, k[i + 2] + w[i + 2]);
            ROUND(f, g, h, a, b, c, d, e, k[i + 3] + w[i + 3]);
            ROUND(e, f, g, h, a, b, c, d, k[i + 4] + w[i + 4]);
            ROUND(d, e, f, g, h, a, b, c, k[i + 5] + w[i + 5]);
            ROUND(c, d, e, f, g, h, a, b, k[i + 6] + w[i + 6]);
            ROUND(b, c, d, e, f, g, h, a, k[i + 7] + w[i + 7]);
        }
        state[0] += a;
        state[1] += b;
        state[2] += c;
        state[3] += d;
        state[4] += e;
        state[5] += f;
        state[6] += g;
        state[7] += h;
    }
}
