/* SPDX-License-Identifier: MIT OR Apache-2.0
 * How conversions are carried out: in portable C, and by the vectors of the processor. */
#ifndef LR_CONVERT_PRIVATE_H
#define LR_CONVERT_PRIVATE_H

#include "core/record/record.h"

/** The same in portable C alone, on every machine. It defines the result; tests compare the faster ones with it. */
int lr_convert_plain(rec_dtype from, const void *from_data, rec_dtype to, void *to_data, uint64_t count, bool clamp,
                     lr_converted *result);

/**
 * A faster version of one pair for the processor that runs: converts as many elements from the beginning as fit its
 * vectors, counts overflows as lr_convert does.
 * @param stream the destination is aligned to LR_CONVERT_ALIGN: write it past the caches.
 * @return how many elements were done; less than 64 are left. */
typedef uint64_t (*lr_convert_bulk)(const uint8_t *from, uint8_t *to, uint64_t count, bool stream,
                                    uint64_t *overflowed);
enum { LR_CONVERT_ALIGN = 64 };
/* Where there are vectors of ours. Elsewhere plain C is best; convert.c says so. */
#if defined(__x86_64__) && defined(__GNUC__)
#define LR_CONVERT_HAS_X86
#elif defined(__aarch64__) && defined(__GNUC__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define LR_CONVERT_HAS_NEON
#endif

/** @param from,to two different ones of f64 f32 f16 bf16. @return NULL if plain C is best. */
lr_convert_bulk lr_convert_fast(rec_dtype from, rec_dtype to, uint64_t count);
/** @return whether a destination is large enough, and its memory in use already, for `stream` to pay. */
bool lr_convert_streams(const void *to_data, uint64_t size);

#endif
