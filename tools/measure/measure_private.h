/* SPDX-License-Identifier: MIT OR Apache-2.0
 * How numbers are measured: pieces of a tensor, of which kernels make sums. All kernels make the same sums to the last bit:
 * plain.c is what they mean. */
#ifndef RECORD_MEASURE_PRIVATE_H
#define RECORD_MEASURE_PRIVATE_H

#include "tools/measure/measure.h"

/* Sums are the same on all processors only if no compiler makes one operation of two. */
#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#endif

/* The sum that element i of a piece goes to is i % MEASURE_LANES. */
enum { MEASURE_LANES = 16, MEASURE_PIECE = 1 << 15 };

/* What is asked of all pieces of a tensor. The limits are magnitudes: the bits of an absolute value, in the kernel's own
 * type. */
typedef struct measure_terms {
    double unit; /* a power of two that values are multiplied with before they are summed */
    double
        shift; /* what is taken off before, so that digits do not cancel; times `unit` it is a value of the kernel's type */
    double low, high;
    uint64_t normal;    /* less, and not zero: subnormal */
    uint64_t half_over; /* this or more, and finite: f16 would be infinite */
    uint64_t half_zero; /* this or less, and not zero: f16 would be zero */
} measure_terms;

/* What a distance from `low` is multiplied with to be counted in bins; of f64 half a distance. */
float tool_measure_scale_f32(const measure_terms *terms);
double tool_measure_scale_f64(const measure_terms *terms);

/* Sums over one piece. */
typedef struct measure_sums {
    double first[MEASURE_LANES], second[MEASURE_LANES]; /* of value - shift, and of its square */
} measure_sums;

/* What can be added in any order. */
typedef struct measure_counts {
    uint64_t zeros, nan, inf, subnormal, half_over, half_zero;
    uint64_t bins[MEASURE_BINS];
    double min, max; /* begin as Infinity, -Infinity */
} measure_counts;

/* One for each type that is measured as itself; all others are read as one of them. */
typedef struct measure_kernels {
    const char *name;
    void (*f32)(const measure_terms *terms, const float *at, size_t count, measure_sums *sums, measure_counts *counts);
    void (*f64)(const measure_terms *terms, const double *at, size_t count, measure_sums *sums, measure_counts *counts);
} measure_kernels;

extern const measure_kernels tool_measure_plain;

/* SHA-256. */
typedef struct sha256 {
    uint32_t state[8];
    uint64_t length; /* bytes so far */
    uint8_t rest[64];
    void (*blocks)(uint32_t state[8], const uint8_t *at, size_t blocks);
} sha256;
void tool_sha256_begin(sha256 *h);
void tool_sha256_add(sha256 *h, const void *bytes, size_t size);
void tool_sha256_end(sha256 *h, uint8_t sum[MEASURE_SUM_BYTES]);

/* Takes in blocks of 64 bytes: as any processor can. */
void tool_sha256_plain(uint32_t state[8], const uint8_t *at, size_t blocks);
extern const uint32_t tool_sha256_words[64];

#endif
