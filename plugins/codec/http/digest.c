/* SPDX-License-Identifier: MIT OR Apache-2.0
 * SHA-256 (FIPS 180-4) of an address: the cache tells addresses apart by it and keeps none of their secrets. */
#include "plugins/codec/http/digest.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { BLOCK = 64, WORDS = 8, ROUNDS = 64, LENGTH = 8 };

/* The first 32 bits of the fractions of the cube roots of the first 64 primes. */
static const uint32_t constants[ROUNDS] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t turn(uint32_t word, unsigned bits)
{
    return word >> bits | word << (32 - bits);
}

static void schedule(const uint8_t *block, uint32_t w[ROUNDS])
{
    for (size_t i = 0; i < 16; i++) {
        w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 | (uint32_t)block[4 * i + 2] << 8 |
               block[4 * i + 3];
    }
    for (size_t i = 16; i < ROUNDS; i++) {
        uint32_t x = w[i - 15], y = w[i - 2];
        w[i] = w[i - 16] + (turn(x, 7) ^ turn(x, 18) ^ x >> 3) + w[i - 7] + (turn(y, 17) ^ turn(y, 19) ^ y >> 10);
    }
}

static void add_block(uint32_t state[WORDS], const uint8_t *block)
{
    enum { A, B, C, D, E, F, G, H };
    uint32_t w[ROUNDS], v[WORDS];
    schedule(block, w);
    memcpy(v, state, sizeof v);
    for (size_t i = 0; i < ROUNDS; i++) {
        uint32_t chosen = v[G] ^ (v[E] & (v[F] ^ v[G])), most = (v[A] & v[B]) | (v[C] & (v[A] | v[B]));
        uint32_t more = v[H] + (turn(v[E], 6) ^ turn(v[E], 11) ^ turn(v[E], 25)) + chosen + constants[i] + w[i];
        uint32_t first = more + (turn(v[A], 2) ^ turn(v[A], 13) ^ turn(v[A], 22)) + most;
        memmove(v + 1, v, sizeof v - sizeof *v);
        v[E] += more;
        v[A] = first;
    }
    for (size_t i = 0; i < WORDS; i++) {
        state[i] += v[i];
    }
}

void lr_http_digest(const char *text, char digest[LR_HTTP_DIGEST])
{
    /* The same of the square roots of the first 8. */
    uint32_t state[WORDS] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                             0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    size_t length = strlen(text), whole = length / BLOCK * BLOCK, rest = length - whole;
    size_t end = rest + 1 + LENGTH <= BLOCK ? BLOCK : 2 * BLOCK;
    uint8_t last[2 * BLOCK] = {0};
    for (size_t at = 0; at < whole; at += BLOCK) {
        add_block(state, (const uint8_t *)text + at);
    }
    memcpy(last, text + whole, rest);
    last[rest] = 0x80;
    for (size_t i = 0; i < LENGTH; i++) {
        last[end - 1 - i] = (uint8_t)((uint64_t)length * 8 >> 8 * i);
    }
    for (size_t at = 0; at < end; at += BLOCK) {
        add_block(state, last + at);
    }
    for (size_t i = 0; i < WORDS; i++) {
        (void)snprintf(digest + 8 * i, LR_HTTP_DIGEST - 8 * i, "%08x", (unsigned)state[i]);
    }
}
