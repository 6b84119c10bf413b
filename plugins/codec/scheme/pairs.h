/* SPDX-License-Identifier: MIT OR Apache-2.0
 * FP4 (E2M1) in pairs, two elements in a byte, the first one in the low bits: blocks of elements along the last
 * dimension, a scale for each, and perhaps one for the whole. */
#ifndef LR_SCHEME_PAIRS_H
#define LR_SCHEME_PAIRS_H

#include <stdbool.h>

#include <librecord/plugin.h>

/** How the scale of the whole tensor is applied. */
enum { LR_PAIRS_NO_WHOLE, LR_PAIRS_TIMES, LR_PAIRS_DIVIDED };

/** What a claim is made of. */
typedef struct lr_pairs {
    const rec_part *codes, *scale; /**< without scale: unsupported */
    const rec_part *whole;         /**< a scale for each matrix or for all, or NULL */
    int operation;                 /**< LR_PAIRS_… */
    int element;                   /**< LR_ELEMENT_… of the scales */
    uint64_t block;                /**< elements with a scale */
    bool swapped; /**< codes of [E, R, G, 16]: the last two dimensions of the numbers change places, [E, 32 G, R] */
} lr_pairs;

/** Fills a claim: shape, parts, state. Sets `unsupported` where shapes do not fit. */
void lr_pairs_claim(const lr_pairs *pairs, rec_logical *logical);
/** The functions of the descriptors. */
void lr_pairs_spans(const uint64_t *state, uint64_t first, uint64_t count, rec_span *spans);
int32_t lr_pairs_tile(const uint64_t *state, uint64_t first, uint64_t count, const rec_span *spans,
                      const void *const *parts, void *numbers);

#endif
