/* SPDX-License-Identifier: MIT OR Apache-2.0
 * How numbers are measured: pieces of a tensor, of which kernels make sums. All kernels make the same sums to the last
 * bit: plain.c is what they mean. */
#ifndef RECORD_MEASURE_PRIVATE_H
#define RECORD_MEASURE_PRIVATE_H

#include "tools/measure/measure.h"

/* Sums are the same on all processors only if no compiler makes one operation of two. */
#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#endif

/* The sum that element i of a piece goes to is i % MEASURE_LANES. */
enum { MEASURE_LANES = 16, MEASURE_BLOCK = 256, MEASURE_PIECE = 1 << 15 };

/* Parameters for all chunks of a tensor. The limits are magnitudes: the bits of an absolute value, in the kernel's
 * type. */
typedef struct measure_terms {
    double unit;         /* a power of two that values are multiplied with before they are summed */
    double shift;        /* a value of the kernel's type; times `unit` it is taken off before, lest digits cancel */
    bool shift_is_value; /* there is such a number in the tensor */
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

/* Counts, which can be added in any order. */
typedef struct measure_counts {
    uint64_t zeros, nan, inf, subnormal, half_over, half_zero;
    uint64_t bins[MEASURE_BINS];
    double min, max; /* begin as Infinity, -Infinity */
    /* What vectors leave to tool_measure_settle(): bins of two values at a time, and how many values stood in for
     * others (see kernel.h). */
    uint32_t pairs[2][MEASURE_BINS * MEASURE_BINS];
    bool paired; /* there are pairs */
    uint64_t stand_ins;
} measure_counts;
void tool_measure_counts_begin(measure_counts *counts);

/* One for each type that is measured as itself; all others are read as one of them. `count` elements from a multiple of
 * MEASURE_LANES on, at most MEASURE_PIECE. */
typedef struct measure_kernels {
    const char *name;
    void (*f32)(const measure_terms *terms, const float *at, size_t count, measure_sums *sums, measure_counts *counts);
    void (*f64)(const measure_terms *terms, const double *at, size_t count, measure_sums *sums, measure_counts *counts);
} measure_kernels;

extern const measure_kernels tool_measure_plain;
extern const measure_kernels tool_measure_vector; /* by the vectors that every processor of the kind has */
#if defined(__x86_64__)
#define MEASURE_X86 1
extern const measure_kernels tool_measure_avx2, tool_measure_avx512;
typedef enum tool_cpu { TOOL_CPU_AVX2, TOOL_CPU_AVX512 } tool_cpu;
bool tool_cpu_has(tool_cpu what);
#endif
/* @return the kernels that this processor can run, fastest first, plain ones last; NULL after them. */
const measure_kernels *tool_measure_kernels(size_t index);

/* -------------------------------------------------------------------------------------- for kernels by vectors -- */

/* Terms as vectors need them. Magnitudes are of the kernel's type and no more than its largest signed number. */
typedef struct measure_limits {
    uint64_t normal, over, zero;
    uint64_t to_over, to_under; /* added to, and taken from a magnitude, they reach the sign bit where it is odd */
    uint64_t to_infinite;       /* added, where it is not finite */
    float low_f32, scale_f32;
    double low_f64, scale_f64; /* low: half of it */
    double shift, unit;        /* shift: times unit */
} measure_limits;
/* What a look through a block found. */
enum { NOT_ODD, ODD, NOT_FINITE };
/* Blocks that are summed at a time. */
enum { MEASURE_RUN = 4 };
measure_limits tool_measure_limits(const measure_terms *terms, bool single);
/* Counts pairs of bins: two in each 16 bits of `found`. */
void tool_measure_count_pairs(measure_counts *counts, const uint32_t *found, size_t count);
/* Copies `count` values to a block, and puts `stand_in` in place of values that are not finite, which are counted, and
 * into the rest. */
void tool_measure_clean_f32(float *block, const float *at, size_t count, float stand_in, measure_counts *counts);
void tool_measure_clean_f64(double *block, const double *at, size_t count, double stand_in, measure_counts *counts);
/* At the end: pairs become bins, and what stood in for others is taken back. */
void tool_measure_settle(const measure_terms *terms, bool single, measure_counts *counts);

/* ----------------------------------------------------------------------------------------------------- batches -- */

/* A tensor of more elements is measured by all threads. */
enum { MEASURE_LARGE = 1 << 19 };
/* tool_measure_batch() of this process, whoever else there is. */
size_t tool_measure_alone_batch(session *s, const rec_tensor *const *tensors, size_t count, bool sums,
                                measured_tensor *made);
/* The next ones that were measured together. @return how many, at most MEASURE_BATCH. */
size_t tool_measure_take(session *s, size_t count, measured_tensor *made);

#endif
