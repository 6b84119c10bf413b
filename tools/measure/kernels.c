/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Selects the kernels that this processor can run, and finishes their results. */
#include "tools/measure/measure_private.h"

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
