/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Lists of bytes, a block of text at a time: what the versions with vectors share. */
#ifndef LR_JSON_BYTES_BLOCK_H
#define LR_JSON_BYTES_BLOCK_H

#include "plugins/codec/json/number.h"

#if defined(__x86_64__) && defined(__GNUC__)
#define LR_BYTES_HAS_X86
#elif defined(__aarch64__) && defined(__GNUC__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define LR_BYTES_HAS_NEON
#endif

/* What the bytes of a block are, a bit each. */
typedef struct block {
    uint64_t digits, commas, spaces, zeros;
    uint64_t overflow; /* the number that ends before the byte is above 255 */
} block;

/* The last bits of the block before, as the first of this one. */
typedef struct carry {
    uint64_t one, two, three; /* whether the byte that many before is a digit */
    uint64_t zero;            /* … the one before is 0 */
    uint64_t free;            /* … is white space or a comma, after which white space may follow */
} carry;

/* Commas behind numbers of a block, up to the first byte that is in doubt. @param width of the block in bytes.
 * @param stop (out) whether there is one. */
static inline __attribute__((always_inline)) uint64_t complete(const block *b, unsigned width, carry *c, bool *stop)
{
    uint64_t all = width == 64 ? UINT64_MAX : (UINT64_C(1) << width) - 1;
    uint64_t one = b->digits << 1 | c->one, two = b->digits << 2 | c->two, three = b->digits << 3 | c->three;
    uint64_t bad = ~(b->digits | b->commas | b->spaces) & all;
    bad |= b->commas & (~one | b->overflow);                         /* no number before it, or one that is too large */
    bad |= b->spaces & ~(b->spaces << 1 | b->commas << 1 | c->free); /* white space after a number */
    bad |= b->digits & one & ((two & three) | ((b->zeros << 1 | c->zero) & ~two)); /* four digits, a leading zero */
    *stop = bad != 0;
    if (__builtin_expect(bad != 0, 0)) { /* a branch: the next block does not wait for all of this */
        return b->commas & ((bad & (0 - bad)) - 1);
    }
    c->one = b->digits >> (width - 1) & 1;
    c->two = b->digits >> (width - 2) & 3;
    c->three = b->digits >> (width - 3) & 7;
    c->zero = b->zeros >> (width - 1) & 1;
    c->free = (b->spaces | b->commas) >> (width - 1) & 1;
    return b->commas;
}

#endif
