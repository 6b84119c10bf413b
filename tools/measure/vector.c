/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What all kernels by vectors share, and the one for processors of which nothing more is known: on aarch64 the compiler
 * makes NEON of it, on x86-64 SSE2. */
#include <math.h>
#include <string.h>

#include "tools/measure/measure_private.h"

/* ----------------------------------------------------------------------------------------------------- sharing -- */

void tool_measure_counts_begin(measure_counts *counts)
{
    memset(counts, 0, sizeof *counts);
    counts->min = (double)INFINITY;
    counts->max = (double)-INFINITY;
}

float tool_measure_scale_f32(const measure_terms *terms)
{
    return (float)(MEASURE_BINS / ((double)(float)terms->high - (double)(float)terms->low));
}

double tool_measure_scale_f64(const measure_terms *terms)
{
    return MEASURE_BINS / (terms->high * 0.5 - terms->low * 0.5);
}

measure_limits tool_measure_limits(const measure_terms *terms, bool single)
{
    uint64_t sign = single ? UINT64_C(1) << 31 : UINT64_C(1) << 63;
    uint64_t infinite = single ? 0x7f800000 : UINT64_C(0x7ff0000000000000);

    return (measure_limits){
        .normal = terms->normal,
        .over = terms->half_over < sign ? terms->half_over : sign - 1,
        .zero = terms->half_zero,
        .to_over = sign - (terms->half_over < infinite ? terms->half_over : infinite),
        .to_infinite = sign - infinite,
        .to_under = terms->half_zero + 1 > terms->normal ? terms->half_zero + 1 : terms->normal,
        .low_f32 = (float)terms->low,
        .scale_f32 = tool_measure_scale_f32(terms),
        .low_f64 = terms->low * 0.5,
        .scale_f64 = tool_measure_scale_f64(terms),
        .shift = terms->shift * terms->unit,
        .unit = terms->unit,
    };
}

void tool_measure_count_pairs(measure_counts *counts, const uint32_t *found, size_t count)
{
    /* Two tables, so that the same pair twice in a row does not wait for itself. */
    counts->paired = true;
    for (size_t i = 0; i < count; i += 2) {
        uint64_t four;
        memcpy(&four, found + i, sizeof four);
        counts->pairs[0][four & 0x3ff]++;
        counts->pairs[1][four >> 16 & 0x3ff]++;
        counts->pairs[0][four >> 32 & 0x3ff]++;
        counts->pairs[1][four >> 48]++;
    }
}

void tool_measure_clean_f32(float *block, const float *at, size_t count, float stand_in, measure_counts *counts)
{
    for (size_t i = 0; i < MEASURE_BLOCK; i++) {
        uint32_t bits = 0x7f800000;
        bool there = i < count;
        if (there) {
            memcpy(&bits, at + i, sizeof bits);
            bits &= 0x7fffffff;
            counts->inf += bits == 0x7f800000;
            counts->nan += bits > 0x7f800000;
        }
        block[i] = bits < 0x7f800000 ? at[i] : stand_in;
        counts->stand_ins += bits >= 0x7f800000;
    }
}

void tool_measure_clean_f64(double *block, const double *at, size_t count, double stand_in, measure_counts *counts)
{
    const uint64_t infinite = UINT64_C(0x7ff0000000000000);

    for (size_t i = 0; i < MEASURE_BLOCK; i++) {
        uint64_t bits = infinite;
        bool there = i < count;
        if (there) {
            memcpy(&bits, at + i, sizeof bits);
            bits &= INT64_MAX;
            counts->inf += bits == infinite;
            counts->nan += bits > infinite;
        }
        block[i] = bits < infinite ? at[i] : stand_in;
        counts->stand_ins += bits >= infinite;
    }
}

void tool_measure_settle(const measure_terms *terms, bool single, measure_counts *counts)
{
    uint64_t stand_ins = counts->stand_ins;

    for (size_t i = 0; counts->paired && i < MEASURE_BINS; i++) {
        for (size_t k = 0; k < MEASURE_BINS; k++) {
            uint64_t pairs = (uint64_t)counts->pairs[0][i * MEASURE_BINS + k] + counts->pairs[1][i * MEASURE_BINS + k];
            counts->bins[i] += pairs;
            counts->bins[k] += pairs;
        }
    }
    if (stand_ins) {
        measure_counts one;
        measure_sums sums = {0};
        float narrow = (float)terms->shift;
        tool_measure_counts_begin(&one);
        if (single) {
            tool_measure_plain.f32(terms, &narrow, 1, &sums, &one);
        } else {
            tool_measure_plain.f64(terms, &terms->shift, 1, &sums, &one);
        }
        counts->zeros -= one.zeros * stand_ins;
        counts->subnormal -= one.subnormal * stand_ins;
        counts->half_over -= one.half_over * stand_ins;
        counts->half_zero -= one.half_zero * stand_ins;
        for (size_t i = 0; i < MEASURE_BINS; i++) {
            counts->bins[i] -= one.bins[i] * stand_ins;
        }
    }
}

/* ------------------------------------------------------------------------------------------------- any vectors -- */

#define VECTOR_BYTES 16
#define VECTOR_TARGET
#define VECTOR_NAME(name) name##_any
#if defined(__aarch64__)
#include <arm_neon.h>
#define VECTOR_WIDEN(at) ((lanes_f64)vcvt_f64_f32(vld1_f32(at)))
#define VECTOR_MIN_F32(a, b) ((lanes_f32)vminq_f32((float32x4_t)(a), (float32x4_t)(b)))
#define VECTOR_MAX_F32(a, b) ((lanes_f32)vmaxq_f32((float32x4_t)(a), (float32x4_t)(b)))
#define VECTOR_MIN_F64(a, b) ((lanes_f64)vminq_f64((float64x2_t)(a), (float64x2_t)(b)))
#define VECTOR_MAX_F64(a, b) ((lanes_f64)vmaxq_f64((float64x2_t)(a), (float64x2_t)(b)))
#elif defined(__x86_64__)
#include <emmintrin.h>
#define VECTOR_WIDEN(at) ((lanes_f64)_mm_cvtps_pd(_mm_castsi128_ps(_mm_loadl_epi64((const void *)(at)))))
#define VECTOR_MIN_F32(a, b) ((lanes_f32)_mm_min_ps((__m128)(a), (__m128)(b)))
#define VECTOR_MAX_F32(a, b) ((lanes_f32)_mm_max_ps((__m128)(a), (__m128)(b)))
#define VECTOR_MIN_F64(a, b) ((lanes_f64)_mm_min_pd((__m128d)(a), (__m128d)(b)))
#define VECTOR_MAX_F64(a, b) ((lanes_f64)_mm_max_pd((__m128d)(a), (__m128d)(b)))
#else
typedef float four_f32 __attribute__((vector_size(16)));
typedef double two_f64 __attribute__((vector_size(16)));
static inline four_f32 chosen_f32(four_f32 a, four_f32 b, bool less)
{
    for (size_t i = 0; i < 4; i++) {
        a[i] = (b[i] < a[i]) == less ? b[i] : a[i];
    }
    return a;
}
static inline two_f64 chosen_f64(two_f64 a, two_f64 b, bool less)
{
    for (size_t i = 0; i < 2; i++) {
        a[i] = (b[i] < a[i]) == less ? b[i] : a[i];
    }
    return a;
}
#define VECTOR_WIDEN(at) ((lanes_f64){(double)(at)[0], (double)(at)[1]})
#define VECTOR_MIN_F32(a, b) chosen_f32(a, b, true)
#define VECTOR_MAX_F32(a, b) chosen_f32(a, b, false)
#define VECTOR_MIN_F64(a, b) chosen_f64(a, b, true)
#define VECTOR_MAX_F64(a, b) chosen_f64(a, b, false)
#endif
#include "tools/measure/kernel.h"

const measure_kernels tool_measure_vector = {"vector", all_f32_any, all_f64_any};

#undef VECTOR_BYTES
#undef VECTOR_TARGET
#undef VECTOR_NAME
#undef VECTOR_WIDEN
#undef VECTOR_MIN_F32
#undef VECTOR_MAX_F32
#undef VECTOR_MIN_F64
#undef VECTOR_MAX_F64

/* ------------------------------------------------------------------------------------------------------- which -- */

const measure_kernels *tool_measure_kernels(size_t index)
{
    const measure_kernels *usable[5] = {0};
    size_t count = 0;

#ifdef MEASURE_X86
    if (tool_cpu_has(TOOL_CPU_AVX512)) {
        usable[count++] = &tool_measure_avx512;
    }
    if (tool_cpu_has(TOOL_CPU_AVX2)) {
        usable[count++] = &tool_measure_avx2;
    }
#endif
    usable[count++] = &tool_measure_vector;
    usable[count++] = &tool_measure_plain;
    return index < count ? usable[index] : NULL;
}
