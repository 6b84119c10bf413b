/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The index of a gzip file that librecord wrote: where its pieces begin, so that they can be inflated side by side.
 *
 * It stands in the header's extra field (RFC 1952, FEXTRA), which every other reader passes over.
 * docs/reference/formats.md has its layout. Nothing in it is to be trusted: it says where pieces may begin, and whether
 * they did shows when they are inflated. */
#ifndef LR_GZIP_INDEX_H
#define LR_GZIP_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    LR_GZIP_HEADER = 2048,  /**< bytes of a header with an index: what comes next is the first piece */
    LR_GZIP_STRETCHES = 500 /**< entries that there is room for; even */
};

/** Where the deflated data of the file's only member can be entered: at stretches, each of whole pieces. Before a
 * stretch the data end in a full flush, so it begins at a byte and refers to nothing before it. */
typedef struct lr_gzip_index {
    uint64_t begin;    /**< file offset of the first stretch; 0 when made, LR_GZIP_HEADER when read */
    uint64_t span;     /**< bytes that each stretch inflates to, but the last, which has 1 to `span` */
    uint64_t inflated; /**< bytes of all of them */
    uint64_t stored;   /**< deflated bytes of all of them; eight bytes of sums follow, and nothing else */
    uint32_t count;    /**< stretches: inflated / span, rounded up */
    uint32_t sizes[LR_GZIP_STRETCHES]; /**< deflated bytes of each */
} lr_gzip_index;

/** An empty one. @param piece bytes that each piece inflates to, but the last. */
void lr_gzip_index_begin(lr_gzip_index *index, uint64_t piece);
/** Adds a piece, the next one. Where there is no room any more, every two stretches become one. @param inflated
 * `piece`, or 1 to `piece` of the last one. @return false: its numbers cannot be held (a stretch of 4 GiB), give the
 * index up. */
bool lr_gzip_index_add(lr_gzip_index *index, uint64_t inflated, uint64_t stored);
/** The header with it. @param index NULL: the room for one that is not known yet, which reads as none.
 *  @param header room for LR_GZIP_HEADER bytes. */
void lr_gzip_index_put(const lr_gzip_index *index, uint8_t *header);
/** Finds it. @param header the file's first bytes. @param size how many; LR_GZIP_HEADER are enough. @param total the
 * file's size. @return whether there is one whose numbers agree with each other, with the file's size and with what
 * deflate can do. */
bool lr_gzip_index_read(const uint8_t *header, uint64_t size, uint64_t total, lr_gzip_index *index);

#endif
