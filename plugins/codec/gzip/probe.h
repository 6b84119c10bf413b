/* SPDX-License-Identifier: MIT OR Apache-2.0
 * A look at a sample of data: whether an encoder that searches for repetitions makes them smaller. */
#ifndef LR_GZIP_PROBE_H
#define LR_GZIP_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum lr_gzip_kind {
    LR_GZIP_NOISE, /**< as good as noise of some distribution (weights are): Huffman codes alone do */
    LR_GZIP_RUNS,  /**< the same with runs of one byte: zeros */
    LR_GZIP_TEXT   /**< repetitions are to be searched for */
} lr_gzip_kind;

lr_gzip_kind lr_gzip_probe(const uint8_t *data, size_t size);

#endif
