/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Parts of convert.c. */
#ifndef LR_CONVERT_PRIVATE_H
#define LR_CONVERT_PRIVATE_H

#include "core/record/record.h"

/** Converts between two different ones of f64, f32, f16 and bf16, as lr_convert does. Returns how many finite numbers
 * became infinite. @param plain use no vectors that only some processors have: for tests. */
uint64_t lr_convert_floats(rec_dtype from_dtype, const uint8_t *from, rec_dtype to_dtype, uint8_t *to, uint64_t count,
                           bool plain);
/** Returns whether a destination is large enough, and its memory in use already, to write it past the caches. */
bool lr_convert_streams(const void *to, uint64_t size);
/** Returns the bits of an f64 that equals one element. @param bits those of the element, lowest first. */
uint64_t lr_float_to_f64(rec_dtype dtype, uint64_t bits);

#endif
