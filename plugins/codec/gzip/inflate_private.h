/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What the two files of the inflater share: its tables and the loops far from any end. */
#ifndef LR_GZIP_INFLATE_PRIVATE_H
#define LR_GZIP_INFLATE_PRIVATE_H

#include "plugins/codec/gzip/inflate.h"

enum { LR_LITERAL_BITS = 11, LR_DISTANCE_BITS = 8 };

/* Where a stream is. */
enum { LR_MODE_BLOCK, LR_MODE_STORED, LR_MODE_CODES, LR_MODE_ENDED };

/* An entry of a table. In the lowest byte are the bits that it takes, with those behind its code; the upper half is its
 * value: one literal or two, the least length or distance, or where the second table begins. Of a length, a distance
 * and a second table bits 8 to 11 tell the bits of the code, or of the table; of literals bits 8 and 9 how many they
 * are, and bits 10 to 13 the bits of the first of two. */
#define LR_LITERAL UINT32_C(0x8000)
#define LR_OTHER UINT32_C(0x4000)  /* neither literal nor length nor distance: if nothing else, invalid */
#define LR_SECOND UINT32_C(0x6000) /* there is a second table for longer codes */
#define LR_BLOCK_END UINT32_C(0x5000)
#define LR_ONE_LITERAL UINT32_C(0x100)
#define LR_TWO_LITERALS UINT32_C(0x200)

static inline uint32_t lr_entry_value(uint32_t entry, uint64_t bits)
{
    uint64_t mask = (UINT64_C(1) << (entry & 0x3f)) - 1;
    return (entry >> 16) + (uint32_t)((bits & mask) >> (entry >> 8 & 0xf));
}

/** Symbols as long as there is input and room for any of them: to the end of the block, to an end, or to a match that
 *  begins before `begin`. */
typedef struct lr_inflate_loops {
    void (*one)(lr_inflater *self);
    /** Of four that are all in such a block, to the end of one's. @return false: each would be quicker alone. */
    bool (*four)(lr_inflater *all);
} lr_inflate_loops;

/** The loops for this processor. */
const lr_inflate_loops *lr_inflate_loops_now(void);
/** Whether such a loop can do anything for it. */
bool lr_inflate_is_far(const lr_inflater *self);

#endif
