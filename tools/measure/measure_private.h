/* SPDX-License-Identifier: MIT OR Apache-2.0
 * How numbers are measured: pieces of a tensor, of which kernels make sums. */
#ifndef RECORD_MEASURE_PRIVATE_H
#define RECORD_MEASURE_PRIVATE_H

#include "tools/measure/measure.h"

/* Sums are the same on all processors only if no compiler makes one operation of two. */
#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#endif

/* The sum that element i of a piece goes to is i % MEASURE_LANES. */
enum { MEASURE_LANES = 16, MEASURE_PIECE = 1 << 15 };

/* Parameters for all chunks of a tensor. The limits are magnitudes: the bits of an absolute value, in the kernel's
 * type. */
typedef struct measure_terms {
    double unit;  /* a power of two that values are multiplied with before they are summed */
    double shift; /* a value of the kernel's type; times `unit` it is taken off before, lest digits cancel */
    double low, high;
    uint64_t normal;    /* less, and not zero: subnormal */
    uint64_t half_over; /* this or more, and finite: f16 would be infinite */
    uint64_t half_zero; /* this or less, and not zero: f16 would be zero */
} measure_terms;

/* Sums over one piece. */
typedef struct measure_sums {
    double first[MEASURE_LANES], second[MEASURE_LANES]; /* of value - shift, and of its square */
} measure_sums;

/* Counts, which can be added in any order. */
typedef struct measure_counts {
    uint64_t zeros, nan, inf, subnormal, half_over, half_zero;
    uint64_t bins[MEASURE_BINS];
    double min, max; /* begin as Infinity, -Infinity */
} measure_counts;
void tool_measure_counts_begin(measure_counts *counts);

/* Adds `count` elements from a multiple of MEASURE_LANES on. All other types are read as one of these two. The result
 * is the same to the last bit on every processor. */
void tool_measure_f32(const measure_terms *terms, const float *at, size_t count, measure_sums *sums,
                      measure_counts *counts);
void tool_measure_f64(const measure_terms *terms, const double *at, size_t count, measure_sums *sums,
                      measure_counts *counts);

/* As tool_measure(), with nothing printed. @param s NULL: on the calling thread. @param across each process reads a
 * share of the tensor: all call it; REC_E_CANCELLED: all know that they are at their end; other failures are those of
 * any of them. @return REC_OK, else the thread has the library's error. */
rec_status tool_measure_tensor(session *s, const rec_tensor *tensor, measured *m, bool *numeric, bool across);

#endif
