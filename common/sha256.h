/* SPDX-License-Identifier: MIT OR Apache-2.0
 * SHA-256 (FIPS 180-4) of bytes that come in chunks. */
#ifndef LR_COMMON_SHA256_H
#define LR_COMMON_SHA256_H

#include <stddef.h>
#include <stdint.h>

enum { LR_SHA256_BYTES = 32 };

/** Adds blocks of 64 bytes. */
typedef void lr_sha256_blocks(uint32_t state[8], const uint8_t *at, size_t blocks);

typedef struct lr_sha256 {
    uint32_t state[8];
    uint64_t length; /* bytes so far */
    uint8_t rest[64];
    lr_sha256_blocks *blocks;
} lr_sha256;

void lr_sha256_begin(lr_sha256 *h);
void lr_sha256_add(lr_sha256 *h, const void *bytes, size_t size);
void lr_sha256_end(lr_sha256 *h, uint8_t digest[LR_SHA256_BYTES]);

/** Writes the digest of bytes that are all there in hexadecimal digits. */
void lr_sha256_hex(const void *bytes, size_t size, char hex[2 * LR_SHA256_BYTES + 1]);

/** @return an implementation that this processor has, the fastest first, plain C last; NULL after them. */
lr_sha256_blocks *lr_sha256_way(size_t index);
/** Plain C, and the constants of the rounds. */
lr_sha256_blocks lr_sha256_plain;
extern const uint32_t lr_sha256_words[64];

#endif
