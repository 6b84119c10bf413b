/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Inflates raw Deflate data (RFC 1951) with ISA-L, or with zlib where ISA-L is not configured.
 *
 * It reports whether the data are valid, but not what is wrong with them: the gzip source then reads them again with
 * zlib, which has a message for each error. It calls no function of librecord, so any thread may use it. */
#ifndef LR_GZIP_INFLATE_H
#define LR_GZIP_INFLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Bytes before the input that must stay readable: at the end of a stream, `in` may step back over them. */
enum { LR_INFLATE_BEHIND = 8 };

typedef enum lr_inflate_stop {
    LR_INFLATE_INPUT, /**< all input is consumed */
    LR_INFLATE_ROOM,  /**< `out` has reached `out_end` */
    LR_INFLATE_END,   /**< the stream has ended; `in` points after its last byte */
    LR_INFLATE_BAD    /**< the data are invalid */
} lr_inflate_stop;

/** A stream. The caller sets the pointers before each call; the checksum covers all output since the beginning. */
typedef struct lr_inflater {
    const uint8_t *in, *in_end;
    uint8_t *out, *out_end;
    uint32_t crc;
    void *state; /* of the library */
} lr_inflater;

/** @return NULL: out of memory. */
lr_inflater *lr_inflater_new(void);
/** NULL is ignored. */
void lr_inflater_free(lr_inflater *self);
/** Begins a new stream. */
void lr_inflate_begin(lr_inflater *self);
/** Inflates until the input, the room or the stream ends. */
lr_inflate_stop lr_inflate(lr_inflater *self);
/** Inflates a whole chunk, which refers to no data before it. @param last the stream ends with it; otherwise it ends
 * between two blocks, at a byte. @return whether it consumes exactly its input and fills exactly its room. */
bool lr_inflate_whole(lr_inflater *self, bool last);

#endif
