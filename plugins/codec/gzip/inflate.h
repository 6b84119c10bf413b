/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Deflated data (RFC 1951) inflated straight into place, one stream after the other or four side by side.
 *
 * It is for good data in a hurry: it tells good from bad, but not what is wrong. Whoever meets bad data has zlib
 * inflate them once more, which finds words for it. Nothing here is slower for being refused: what zlib takes and this
 * does not is none that an encoder makes. No memory of its own, and no function of the library: any thread may use it.
 */
#ifndef LR_GZIP_INFLATE_H
#define LR_GZIP_INFLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    LR_INFLATE_WINDOW = 32 * 1024, /**< how far back a match reaches */
    LR_INFLATE_HEADER = 1024,      /**< input that is asked for at most at a time: a block's codes have less */
    LR_INFLATE_LITERALS = 2342,    /**< entries of a table of 11 bits for 288 codes of up to 15 bits… */
    LR_INFLATE_DISTANCES = 402     /**< …and of one of 8 bits for 32 */
};

/** Why it stopped. */
typedef enum lr_inflate_stop {
    LR_INFLATE_INPUT, /**< it needs more input than there is, and `last` is not set */
    LR_INFLATE_ROOM,  /**< `out` is at `out_end` and there is more */
    LR_INFLATE_CUT,   /**< the last input ended between two blocks, at a byte */
    LR_INFLATE_END,   /**< the final block has ended; `in` is behind its last byte */
    LR_INFLATE_BAD    /**< damaged, or cut within a block */
} lr_inflate_stop;

/** A stream. Whoever uses it sets the first part; all zero is the beginning. */
typedef struct lr_inflater {
    const uint8_t *in, *in_end; /**< input; what is left when it asks for more has to be given again */
    uint8_t *out, *out_end;     /**< room; `out` moves on */
    const uint8_t *begin;       /**< the first byte of output in this place, to `out` it is there without a gap… */
    const uint8_t *window;      /**< …and where the bytes just before that end… */
    uint32_t window_size;       /**< …of which there are so many */
    bool last;                  /**< no input follows `in_end` */

    bool final, known; /* the block is the last one; the tables are those of Deflate's fixed codes */
    bool leaves;       /* the next symbol is none for the loops */
    uint8_t mode;
    lr_inflate_stop stop;
    uint8_t literal_bits, distance_bits;
    uint32_t count; /* bits that are loaded: the lowest of `bits` */
    uint64_t bits;
    uint32_t length, distance; /* of a match that had no room, or what is left of a stored block */
    uint32_t literals[LR_INFLATE_LITERALS];
    uint32_t distances[LR_INFLATE_DISTANCES];
} lr_inflater;

/** Begins a stream; the places are left as they are. */
void lr_inflate_begin(lr_inflater *self);
/** Goes on until it has to stop. */
lr_inflate_stop lr_inflate(lr_inflater *self);
/** Goes on with four, each of which has all of its input and its room, until each has stopped. @param stops (out) */
void lr_inflate_four(lr_inflater *four, lr_inflate_stop *stops);

/** For tests: 0 the best that the processor has, 1 plain code. */
void lr_inflate_choose(int way);

#endif
