/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What a block of deflate (RFC 1951) is made of: bits, Huffman codes, and the header that tells them. */
#ifndef LR_GZIP_HUFFMAN_H
#define LR_GZIP_HUFFMAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
    LR_DEFLATE_SYMBOLS = 286, /**< literals, the end of a block, lengths */
    LR_DEFLATE_END = 256,
    LR_DEFLATE_LENGTHS = 257, /**< the first of the lengths */
    LR_DEFLATE_DISTANCES = 30,
    LR_DEFLATE_BITS = 15,  /**< of the longest code */
    LR_DEFLATE_MATCH = 258 /**< bytes of the longest one */
};

/** Bits on their way out, the lowest first. */
typedef struct lr_bits {
    uint64_t word;
    uint32_t count; /**< bits of it */
    uint8_t *next;
} lr_bits;

/** Adds `count` bits; no more than 56 may wait. */
static inline void lr_bits_put(lr_bits *bits, uint64_t value, uint32_t count)
{
    bits->word |= value << bits->count;
    bits->count += count;
}

/** Writes whole bytes: up to 7, and touches 8. Less than 8 bits wait afterwards. */
static inline void lr_bits_flush(lr_bits *bits)
{
    uint64_t word = bits->word;
#if defined __BYTE_ORDER__ && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    memcpy(bits->next, &word, sizeof word);
    bits->next += bits->count >> 3;
    bits->word >>= bits->count & ~7u;
    bits->count &= 7;
}

/** The codes of one alphabet. A symbol that does not occur has none: 0 bits. */
typedef struct lr_codes {
    uint8_t bits[LR_DEFLATE_SYMBOLS];
    uint16_t code[LR_DEFLATE_SYMBOLS]; /**< the first bit is the lowest */
} lr_codes;

/** The best codes of at most `most` bits, nearly. @param symbols how many, at most LR_DEFLATE_SYMBOLS. */
void lr_codes_make(lr_codes *codes, const uint32_t *counts, uint32_t symbols, uint32_t most);
/** Begins a block that is not the last one: its kind and its codes. Takes less than 400 bytes, and touches 8 more. */
void lr_codes_put(lr_bits *bits, const lr_codes *symbols, const lr_codes *distances);

/** @return the symbol of a distance, 1 to 32768. */
static inline uint32_t lr_distance_symbol(uint32_t distance)
{
    uint32_t far = distance - 1, log;
    if (far < 4) {
        return far;
    }
    log = 31 - (uint32_t)__builtin_clz(far);
    return 2 * log + ((far >> (log - 1)) & 1);
}

/** @return how many bits follow the symbol of a distance. They are the lowest of the distance less one. */
static inline uint32_t lr_distance_bits(uint32_t symbol)
{
    return symbol < 4 ? 0 : (symbol >> 1) - 1;
}

/** The symbol of a length, 3 to 258, from LR_DEFLATE_LENGTHS on. @param extra (out) what follows it. @param bits (out)
 * in so many bits. */
uint32_t lr_length_symbol(uint32_t length, uint32_t *extra, uint32_t *bits);

#endif
