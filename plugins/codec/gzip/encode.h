/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Deflates one chunk of the data with the best encoder. Chunks are independent, so that several threads can make them;
 * the result depends on the bytes and the level alone. */
#ifndef LR_GZIP_ENCODE_H
#define LR_GZIP_ENCODE_H

#include <librecord/plugin.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    LR_GZIP_PIECE = 512 << 10,                                  /**< bytes of a piece, at most */
    LR_GZIP_ROOM = LR_GZIP_PIECE + (LR_GZIP_PIECE >> 10) + 1024 /**< for the result */
};

/** The memory of one thread that deflates. */
typedef struct lr_gzip_encoder lr_gzip_encoder;

/** @param level 0 to 9. @return NULL with the failure reported. */
lr_gzip_encoder *lr_gzip_encoder_new(rec_job *job, int level);
/** NULL is ignored. */
void lr_gzip_encoder_free(lr_gzip_encoder *encoder);

/** Raw deflate data of a piece, which end at a byte. Calls nothing of librecord. @param size 0 to LR_GZIP_PIECE.
 *  @param last it ends the stream; else it ends in a full flush. @param out LR_GZIP_ROOM bytes. @return how many. */
size_t lr_gzip_encode(lr_gzip_encoder *encoder, const uint8_t *in, size_t size, bool last, uint8_t *out);

#endif
