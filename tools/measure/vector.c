/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The kernels for processors of which nothing more is known: on aarch64 the compiler makes NEON of them, on x86-64
 * SSE2. */
#include <math.h>
#include <string.h>

#include "tools/measure/measure_private.h"

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
