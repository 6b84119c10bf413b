/* SPDX-License-Identifier: MIT OR Apache-2.0
 * SHA-256 (FIPS 180-4) of bytes that come in pieces. */
#include <string.h>

#include "tools/measure/measure_private.h"

enum { BLOCK = 64 };

void tool_sha256_begin(sha256_state *h)
{
    /* The same of the square roots of the first 8. */
    *h = (sha256_state){
        .state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19},
        .blocks = tool_sha256_way(0)};
}

void tool_sha256_add(sha256_state *h, const void *bytes, size_t size)
{
    const uint8_t *at = bytes;
    size_t held = (size_t)(h->length % BLOCK);

    h->length += size;
    if (held) {
        size_t more = size < BLOCK - held ? size : BLOCK - held;
        memcpy(h->rest + held, at, more);
        at += more;
        size -= more;
        if (held + more < BLOCK) {
            return;
        }
        h->blocks(h->state, h->rest, 1);
    }
    if (size / BLOCK) {
        h->blocks(h->state, at, size / BLOCK);
    }
    if (size % BLOCK) {
        memcpy(h->rest, at + size / BLOCK * BLOCK, size % BLOCK);
    }
}

void tool_sha256_end(sha256_state *h, uint8_t sum[MEASURE_SUM_BYTES])
{
    uint8_t end[2 * BLOCK] = {0x80}, *last;
    uint64_t bits = h->length * 8;
    size_t held = (size_t)(h->length % BLOCK), padding = (held < BLOCK - 8 ? BLOCK : 2 * BLOCK) - held;

    last = end + padding - 8;
    for (size_t i = 0; i < 8; i++) {
        last[i] = (uint8_t)(bits >> (56 - 8 * i));
    }
    tool_sha256_add(h, end, padding);
    for (size_t i = 0; i < MEASURE_SUM_BYTES; i++) {
        sum[i] = (uint8_t)(h->state[i / 4] >> (24 - i % 4 * 8));
    }
}
