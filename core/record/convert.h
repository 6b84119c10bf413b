/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Numbers from one element type to another, in bulk: Burn's rules. */
#ifndef LR_CONVERT_H
#define LR_CONVERT_H

#include <stdbool.h>
#include <stdint.h>

#include "librecord.h"

/** What happened on the way. */
typedef struct lr_converted {
    uint64_t overflowed; /**< finite floats that became infinite */
    uint64_t clamped;    /**< integers that were clamped */
    uint64_t bad;        /**< LR_CONVERT_RANGE: index of the first integer that does not fit */
    rec_scalar value;    /**< and its value */
} lr_converted;

enum { LR_CONVERT_OK = 0, LR_CONVERT_RANGE = 1, LR_CONVERT_REFUSED = 2 };

/** @return whether elements of one type become another: floats floats, ints ints, bools bools. */
bool lr_convertible(rec_dtype from, rec_dtype to);

/**
 * Converts `count` elements. Floats: to nearest even; f64 to f16 goes by way of f32, as in Burn (two roundings);
 * overflow gives infinity; a NaN stays one, quiet, with its sign and upper payload. Ints: must fit, or are clamped.
 * Bools: not zero is 1. A type to itself: a copy. The processor must round to nearest, as it does unless told
 * otherwise. Adds to the counters of `result` and overwrites the rest on failure.
 * @param from_data little-endian, any alignment. @param to_data host byte order, any alignment; may not overlap.
 */
int lr_convert(rec_dtype from, const void *from_data, rec_dtype to, void *to_data, uint64_t count, bool clamp,
               lr_converted *result);
/** The same in portable C alone, on every machine. It defines the result; tests compare the faster ones with it. */
int lr_convert_plain(rec_dtype from, const void *from_data, rec_dtype to, void *to_data, uint64_t count, bool clamp,
                     lr_converted *result);

/**
 * A faster version of one pair for the processor that runs: converts as many elements from the beginning as fit its
 * vectors, counts overflows as lr_convert does.
 * @param stream the destination is aligned to LR_CONVERT_ALIGN: write it past the caches.
 * @return how many elements were done; less than 64 are left.
 */
typedef uint64_t (*lr_convert_bulk)(const uint8_t *from, uint8_t *to, uint64_t count, bool stream,
                                    uint64_t *overflowed);
enum { LR_CONVERT_ALIGN = 64 };
/** @param from,to two different ones of f64 f32 f16 bf16. @return NULL if plain C is best. */
lr_convert_bulk lr_convert_x86(rec_dtype from, rec_dtype to, uint64_t count);
/** @return whether a destination is large enough, and its memory in use already, for `stream` to pay. */
bool lr_convert_streams(const void *to_data, uint64_t size);
/** The version for one level of instructions, for tests. @return NULL if the processor lacks them. */
lr_convert_bulk lr_convert_x86_level(int level, rec_dtype from, rec_dtype to);
enum { LR_CONVERT_AVX2 = 1, LR_CONVERT_AVX512 = 2 };

/** One element. @param data little-endian, any alignment. @return it as a scalar with its width (a bool has
 *  none); kind REC_KIND_NIL for types whose elements have no size. */
rec_scalar lr_element(rec_dtype dtype, const void *data);

/** The limits of an integer type, for messages. @return false if it is none. */
bool lr_int_limits(rec_dtype dtype, int64_t *minimum, uint64_t *maximum);

float lr_f16_to_f32(uint16_t half);
uint16_t lr_f32_to_f16(float value);
float lr_bf16_to_f32(uint16_t value);

/** Between little-endian and host byte order, in place: nothing on a little-endian machine. */
static inline void lr_swap_if_big(void *data, uint32_t width, uint64_t count)
{
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    uint8_t *at = data;
    for (uint64_t i = 0; i < count; i++, at += width) {
        for (uint32_t a = 0, b = width - 1; a < b; a++, b--) {
            uint8_t byte = at[a];
            at[a] = at[b];
            at[b] = byte;
        }
    }
#else
    (void)data;
    (void)width;
    (void)count;
#endif
}

/** Kinds of element types. */
bool lr_dtype_is_float(rec_dtype dtype); /**< f64 f32 flex32 f16 bf16 */
bool lr_dtype_is_int(rec_dtype dtype);   /**< signed and unsigned integers */
bool lr_dtype_is_bool(rec_dtype dtype);
/** What a tensor of `dtype` becomes at a precision (not DEFAULT). */
rec_dtype lr_dtype_at(rec_dtype dtype, rec_precision precision);

#endif
