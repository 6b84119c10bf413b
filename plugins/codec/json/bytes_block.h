/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Lists of bytes, 64 bytes of text at a time: what the versions with vectors share. Masks of what each byte is tell
 * where numbers end, and the number that ends before a byte is added up from the three bytes before it. */
#ifndef LR_JSON_BYTES_BLOCK_H
#define LR_JSON_BYTES_BLOCK_H

#include "plugins/codec/json/number.h"

/** Text that is fetched ahead of its use. The work on a block is so long that a processor does not look far enough by
 * itself. */
enum { LR_BYTES_AHEAD = 2048 };

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

/* Commas behind numbers of a block, up to the first byte that is in doubt. @param stop (out) whether there is one. */
static inline __attribute__((always_inline)) uint64_t complete(const block *b, carry *c, bool *stop)
{
    uint64_t one = b->digits << 1 | c->one, two = b->digits << 2 | c->two, three = b->digits << 3 | c->three;
    uint64_t bad = ~(b->digits | b->commas | b->spaces);
    bad |= b->commas & (~one | b->overflow);                         /* no number before it, or one that is too large */
    bad |= b->spaces & ~(b->spaces << 1 | b->commas << 1 | c->free); /* white space after a number */
    bad |= b->digits & one & ((two & three) | ((b->zeros << 1 | c->zero) & ~two)); /* four digits, a leading zero */
    *stop = bad != 0;
    if (__builtin_expect(bad != 0, 0)) { /* a branch: the next block does not wait for all of this */
        return b->commas & ((bad & (0 - bad)) - 1);
    }
    *c = (carry){b->digits >> 63, b->digits >> 62, b->digits >> 61, b->zeros >> 63, (b->spaces | b->commas) >> 63};
    return b->commas;
}

/* The version for AVX-512 with VBMI2. NULL: the processor lacks them. */
lr_bytes_scan *lr_bytes_scan_avx512(void);

#endif
