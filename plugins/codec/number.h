/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Numbers of lists, in the byte order of the host, as scalars; and the reverse. */
#ifndef LR_CODEC_NUMBER_H
#define LR_CODEC_NUMBER_H

#include <string.h>

#include <librecord/plugin.h>

/* The place of the low `width` bytes of a word. */
static inline uint8_t *lr_low_bytes(uint64_t *word, uint32_t width)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return (uint8_t *)word + sizeof *word - width;
#else
    (void)width;
    return (uint8_t *)word;
#endif
}

/** @param dtype of integers, bools, f32 or f64. @param number any alignment. */
static inline rec_scalar lr_number_scalar(rec_dtype dtype, const uint8_t *number)
{
    uint32_t bits = rec_dtype_bits(dtype);
    rec_scalar scalar = {.kind = REC_KIND_UINT, .bits = (uint16_t)bits};
    uint64_t word = 0;
    float single;
    memcpy(lr_low_bytes(&word, bits / 8), number, bits / 8);
    scalar.v.u = word;
    if (dtype == REC_DTYPE_BOOL) {
        scalar = (rec_scalar){.kind = REC_KIND_BOOL, .v = {.i = word != 0}};
    } else if (dtype == REC_DTYPE_F32 || dtype == REC_DTYPE_F64) {
        memcpy(&single, number, sizeof single);
        scalar.kind = REC_KIND_FLOAT;
        scalar.v.f = dtype == REC_DTYPE_F32 ? (double)single : scalar.v.f;
    } else if (dtype >= REC_DTYPE_I64 && dtype <= REC_DTYPE_I8) {
        scalar.kind = REC_KIND_INT;
        scalar.v.i = (int64_t)(word << (64 - bits)) >> (64 - bits);
    }
    return scalar;
}

/** The reverse: the scalar fits the type. */
static inline void lr_number_put(rec_dtype dtype, const rec_scalar *scalar, uint8_t *number)
{
    uint32_t width = rec_dtype_bits(dtype) / 8;
    float single = dtype == REC_DTYPE_F32 ? (float)scalar->v.f : 0;
    uint64_t word;
    memcpy(&word, &scalar->v, sizeof word);
    memcpy(number, dtype == REC_DTYPE_F32 ? (const uint8_t *)&single : lr_low_bytes(&word, width), width);
}

#endif
