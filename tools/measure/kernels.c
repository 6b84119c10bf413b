/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Measures a piece of a tensor of f32 or f64. */
#include <math.h>
#include <string.h>

#include "common/cpu.h"
#include "tools/measure/measure_private.h"

enum { BLOCK = 256, TABLES = 4 };

/* Functions of a kernel are made for each kind of processor. */
#define INLINE static inline __attribute__((always_inline))

#define NAME(name) name##_f32
#define REAL float
#define BITS uint32_t
#define INFINITE 0x7f800000
#define LOW(terms) ((float)(terms)->low)
#define SCALE(terms) ((float)(MEASURE_BINS / ((double)(float)(terms)->high - (double)(float)(terms)->low)))
#define PLACE(x) (((x) - low) * scale)
#include "tools/measure/kernel.h"
#undef NAME
#undef REAL
#undef BITS
#undef INFINITE
#undef LOW
#undef SCALE
#undef PLACE

/* Bins of f64 are found by halves, which do not overflow. */
#define NAME(name) name##_f64
#define REAL double
#define BITS uint64_t
#define INFINITE UINT64_C(0x7ff0000000000000)
#define LOW(terms) ((terms)->low * 0.5)
#define SCALE(terms) (MEASURE_BINS / ((terms)->high * 0.5 - (terms)->low * 0.5))
#define PLACE(x) (((x) * 0.5 - low) * scale)
#include "tools/measure/kernel.h"

void tool_measure_counts_begin(measure_counts *counts)
{
    *counts = (measure_counts){.min = (double)INFINITY, .max = (double)-INFINITY};
}

#if defined(__x86_64__)
#define AVX2 __attribute__((target("avx2")))

AVX2 static void measure_f32_avx2(const measure_terms *terms, const float *at, size_t count, measure_sums *sums,
                                  measure_counts *counts)
{
    measure_f32(terms, at, count, sums, counts);
}

AVX2 static void measure_f64_avx2(const measure_terms *terms, const double *at, size_t count, measure_sums *sums,
                                  measure_counts *counts)
{
    measure_f64(terms, at, count, sums, counts);
}

#define HAS_AVX2() LR_CPU_HAS(AVX2, "avx2")
#else
#define HAS_AVX2() false
#define measure_f32_avx2 measure_f32
#define measure_f64_avx2 measure_f64
#endif

void tool_measure_f32(const measure_terms *terms, const float *at, size_t count, measure_sums *sums,
                      measure_counts *counts)
{
    if (HAS_AVX2()) {
        measure_f32_avx2(terms, at, count, sums, counts);
    } else {
        measure_f32(terms, at, count, sums, counts);
    }
}

void tool_measure_f64(const measure_terms *terms, const double *at, size_t count, measure_sums *sums,
                      measure_counts *counts)
{
    if (HAS_AVX2()) {
        measure_f64_avx2(terms, at, count, sums, counts);
    } else {
        measure_f64(terms, at, count, sums, counts);
    }
}
