/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The kernels by the vectors of x86-64 that not every processor has, and whether this one has. */
#include <math.h>
#include <string.h>

#include "common/cpu.h"
#include "tools/measure/measure_private.h"

#ifdef MEASURE_X86

#include <immintrin.h>

bool tool_cpu_has(tool_cpu what)
{
    switch (what) {
    case TOOL_CPU_AVX2:
        return LR_CPU_HAS(AVX2, "avx2");
    case TOOL_CPU_AVX512:
        return LR_CPU_HAS(AVX512F, "avx512f") && LR_CPU_HAS(AVX512BW, "avx512bw") && LR_CPU_HAS(AVX512DQ, "avx512dq") &&
               LR_CPU_HAS(AVX512VL, "avx512vl");
    }
    return false;
}

#define VECTOR_BYTES 32
#define VECTOR_TARGET __attribute__((target("avx2")))
#define VECTOR_NAME(name) name##_avx2
#define VECTOR_WIDEN(at) ((lanes_f64)_mm256_cvtps_pd(_mm_loadu_ps(at)))
#define VECTOR_MIN_F32(a, b) ((lanes_f32)_mm256_min_ps((__m256)(a), (__m256)(b)))
#define VECTOR_MAX_F32(a, b) ((lanes_f32)_mm256_max_ps((__m256)(a), (__m256)(b)))
#define VECTOR_MIN_F64(a, b) ((lanes_f64)_mm256_min_pd((__m256d)(a), (__m256d)(b)))
#define VECTOR_MAX_F64(a, b) ((lanes_f64)_mm256_max_pd((__m256d)(a), (__m256d)(b)))
#include "tools/measure/kernel.h"
const measure_kernels tool_measure_avx2 = {"AVX2", all_f32_avx2, all_f64_avx2};
#undef VECTOR_BYTES
#undef VECTOR_TARGET
#undef VECTOR_NAME
#undef VECTOR_WIDEN
#undef VECTOR_MIN_F32
#undef VECTOR_MAX_F32
#undef VECTOR_MIN_F64
#undef VECTOR_MAX_F64

#define VECTOR_BYTES 64
#define VECTOR_TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))
#define VECTOR_NAME(name) name##_avx512
#define VECTOR_WIDEN(at) ((lanes_f64)_mm512_cvtps_pd(_mm256_loadu_ps(at)))
#define VECTOR_MIN_F32(a, b) ((lanes_f32)_mm512_min_ps((__m512)(a), (__m512)(b)))
#define VECTOR_MAX_F32(a, b) ((lanes_f32)_mm512_max_ps((__m512)(a), (__m512)(b)))
#define VECTOR_MIN_F64(a, b) ((lanes_f64)_mm512_min_pd((__m512d)(a), (__m512d)(b)))
#define VECTOR_MAX_F64(a, b) ((lanes_f64)_mm512_max_pd((__m512d)(a), (__m512d)(b)))
#include "tools/measure/kernel.h"
const measure_kernels tool_measure_avx512 = {"AVX-512", all_f32_avx512, all_f64_avx512};

#else

/* A file has something in it. */
extern const int tool_measure_no_x86;
const int tool_measure_no_x86 = 0;

#endif
