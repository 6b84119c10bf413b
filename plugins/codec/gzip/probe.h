/* SPDX-License-Identifier: MIT OR Apache-2.0
 * A look at a sample of data: whether an encoder that searches for repetitions makes them smaller. */
#ifndef LR_GZIP_PROBE_H
#define LR_GZIP_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** @return false: they are as good as noise of some distribution (weights are), so that Huffman codes alone do. */
bool lr_gzip_repeats(const uint8_t *data, size_t size);

#endif
