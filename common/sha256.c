/* SPDX-License-Identifier: MIT OR Apache-2.0
 * SHA-256 (FIPS 180-4): blocks, and the padding at the end. */
#include "common/sha256.h"

#include <stdio.h>
#include <string.h>

enum { BLOCK = 64 };

void lr_sha256_begin(lr_sha256 *h)
{
    /* The same of the square roots of the first 8. */
    *h = (lr_sha256){
        .state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19},
        .blocks = lr_sha256_way(0)};
}

void lr_sha256_add(lr_sha256 *h, const void *bytes, size_t size)
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

void lr_sha256_end(lr_sha256 *h, uint8_t digest[LR_SHA256_BYTES])
{
    uint8_t end[2 * BLOCK] = {0x80}, *last;
    uint64_t bits = h->length * 8;
    size_t held = (size_t)(h->length % BLOCK), padding = (held < BLOCK - 8 ? BLOCK : 2 * BLOCK) - held;

    last = end + padding - 8;
    for (size_t i = 0; i < 8; i++) {
        last[i] = (uint8_t)(bits >> (56 - 8 * i));
    }
    lr_sha256_add(h, end, padding);
    for (size_t i = 0; i < LR_SHA256_BYTES; i++) {
        digest[i] = (uint8_t)(h->state[i / 4] >> (24 - i % 4 * 8));
    }
}

void lr_sha256_hex(const void *bytes, size_t size, char hex[2 * LR_SHA256_BYTES + 1])
{
    uint8_t digest[LR_SHA256_BYTES];
    lr_sha256 h;
    lr_sha256_begin(&h);
    lr_sha256_add(&h, bytes, size);
    lr_sha256_end(&h, digest);
    for (size_t i = 0; i < LR_SHA256_BYTES; i++) {
        (void)snprintf(hex + 2 * i, 3, "%02x", digest[i]);
    }
}
