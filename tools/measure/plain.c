/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The kernels in plain C: the reference for all others. */
#include <string.h>

#include "tools/measure/measure_private.h"

/* Bins of f32 are found with f32, those of f64 by halves, which do not overflow. */
static size_t bin_of_f32(float x, float low, float scale)
{
    float at = (x - low) * scale;

    return at > 0 ? at < MEASURE_BINS - 1 ? (size_t)at : MEASURE_BINS - 1 : 0;
}

static size_t bin_of_f64(double x, double low, double scale)
{
    double at = (x * 0.5 - low * 0.5) * scale;

    return at > 0 ? at < MEASURE_BINS - 1 ? (size_t)at : MEASURE_BINS - 1 : 0;
}

static void count_magnitude(const measure_terms *terms, uint64_t magnitude, measure_counts *counts)
{
    counts->zeros += magnitude == 0;
    counts->subnormal += magnitude != 0 && magnitude < terms->normal;
    counts->half_over += magnitude >= terms->half_over;
    counts->half_zero += magnitude != 0 && magnitude <= terms->half_zero;
}

static void plain_f32(const measure_terms *terms, const float *at, size_t count, measure_sums *sums,
                      measure_counts *counts)
{
    float low = (float)terms->low, scale = tool_measure_scale_f32(terms);
    double shift = terms->shift * terms->unit;

    for (size_t i = 0; i < count; i++) {
        uint32_t bits, magnitude;
        double x = (double)at[i], off = x * terms->unit - shift;
        memcpy(&bits, at + i, sizeof bits);
        magnitude = bits & 0x7fffffff;
        if (magnitude >= 0x7f800000) {
            counts->inf += magnitude == 0x7f800000;
            counts->nan += magnitude > 0x7f800000;
            continue;
        }
        count_magnitude(terms, magnitude, counts);
        sums->first[i % MEASURE_LANES] += off;
        sums->second[i % MEASURE_LANES] += off * off;
        counts->min = x < counts->min ? x : counts->min;
        counts->max = x > counts->max ? x : counts->max;
        counts->bins[bin_of_f32(at[i], low, scale)]++;
    }
}

static void plain_f64(const measure_terms *terms, const double *at, size_t count, measure_sums *sums,
                      measure_counts *counts)
{
    double scale = tool_measure_scale_f64(terms), shift = terms->shift * terms->unit;

    for (size_t i = 0; i < count; i++) {
        uint64_t bits, magnitude;
        double x = at[i], off = x * terms->unit - shift;
        memcpy(&bits, at + i, sizeof bits);
        magnitude = bits & INT64_MAX;
        if (magnitude >= UINT64_C(0x7ff0000000000000)) {
            counts->inf += magnitude == UINT64_C(0x7ff0000000000000);
            counts->nan += magnitude > UINT64_C(0x7ff0000000000000);
            continue;
        }
        count_magnitude(terms, magnitude, counts);
        sums->first[i % MEASURE_LANES] += off;
        sums->second[i % MEASURE_LANES] += off * off;
        counts->min = x < counts->min ? x : counts->min;
        counts->max = x > counts->max ? x : counts->max;
        counts->bins[bin_of_f64(x, terms->low, scale)]++;
    }
}

const measure_kernels tool_measure_plain = {"plain", plain_f32, plain_f64};
