/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What the kernels share: scales, limits, and blocks without values that are not finite. */
#include <math.h>
#include <string.h>

#include "tools/measure/measure_private.h"

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
