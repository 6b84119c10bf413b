/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Pieces in flight: filled one after the other, deflated by all threads that there are, the caller's among them, and
 * taken in the order in which they were filled. */
#ifndef LR_GZIP_POOL_H
#define LR_GZIP_POOL_H

#include "common/team.h"
#include "plugins/codec/gzip/encode.h"

typedef struct lr_gzip_pool lr_gzip_pool;

typedef struct lr_gzip_piece {
    lr_task task; /**< the pool's own; first, so that the piece is known by it */
    lr_gzip_pool *pool;
    uint8_t *in;  /**< room for LR_GZIP_PIECE bytes */
    size_t size;  /**< bytes filled */
    bool last;    /**< of the stream */
    uint8_t *out; /**< deflated */
    size_t made;  /**< bytes of it */
    uint32_t crc; /**< of the bytes filled */
} lr_gzip_piece;

/** Pieces that may be given before one is taken, by one thread; by more of them more. */
enum { LR_GZIP_HELD = 3 };

/** @return NULL: reported. */
lr_gzip_pool *lr_gzip_pool_new(rec_job *job, int level);
/** Waits for the posted work, and ends the threads. NULL is ignored. */
void lr_gzip_pool_free(lr_gzip_pool *pool);

/** @return whether a piece must be taken before the next one can be filled. */
bool lr_gzip_pool_full(const lr_gzip_pool *pool);
/** The piece that is filled, empty at first. Not where the pool is full. @return NULL: memory is lacking, and reported.
 */
lr_gzip_piece *lr_gzip_pool_filling(lr_gzip_pool *pool);
/** Has it deflated; another one is filled next. Starts a thread where one more may be had; one that cannot be started
 * is no failure, and nobody deflates before a second piece is there. @return REC_OK; memory is lacking: reported. */
int32_t lr_gzip_pool_give(lr_gzip_pool *pool);
/** @return whether the oldest piece that was given is deflated. */
bool lr_gzip_pool_ready(lr_gzip_pool *pool);
/** That piece. Where it is not deflated, the caller's thread deflates what is waiting until it is. @return it, until
 *  another one is filled; NULL: all were taken. */
const lr_gzip_piece *lr_gzip_pool_take(lr_gzip_pool *pool);

#endif
