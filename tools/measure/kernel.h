/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The kernels by vectors of VECTOR_BYTES, as the compiler makes them of GCC's vector types: included once for each kind
 * of processor, with what follows defined. VECTOR_BYTES        bytes of a vector VECTOR_TARGET       attribute of the
 * functions VECTOR_NAME(name)   name of a function or type here VECTOR_WIDEN(at)    as many floats as there are f64 in
 * a vector, as f64 VECTOR_MIN_F32(a, b), VECTOR_MAX_F32, VECTOR_MIN_F64, VECTOR_MAX_F64   of vectors of finite numbers
 * They go by blocks. A block first is looked through for what is odd, by bits that run over into the sign; only then is
 * it counted. What is not finite, and what a last block lacks, gives way to the value of the terms' shift, which adds
 * nothing to the sums and no new extreme, and is taken off the counts again. A number of bins is found for four vectors
 * at a time and counted by pairs: one of 32 by 32 places for two values. */

#define lanes_f32 VECTOR_NAME(lanes_f32)
#define lanes_f64 VECTOR_NAME(lanes_f64)
#define lanes_i32 VECTOR_NAME(lanes_i32)
#define lanes_i64 VECTOR_NAME(lanes_i64)
#define lanes_u32 VECTOR_NAME(lanes_u32)
#define lanes_u64 VECTOR_NAME(lanes_u64)
#define lanes_short VECTOR_NAME(lanes_short)

enum {
    VECTOR_NAME(LANES_F32) = VECTOR_BYTES / 4,
    VECTOR_NAME(LANES_F64) = VECTOR_BYTES / 8,
    VECTOR_NAME(SUMS) = MEASURE_LANES / (VECTOR_BYTES / 8), /* vectors that hold the sums of all lanes */
};
#define LANES_F32 VECTOR_NAME(LANES_F32)
#define LANES_F64 VECTOR_NAME(LANES_F64)
#define SUMS VECTOR_NAME(SUMS)

typedef float lanes_f32 __attribute__((vector_size(VECTOR_BYTES)));
typedef double lanes_f64 __attribute__((vector_size(VECTOR_BYTES)));
typedef int32_t lanes_i32 __attribute__((vector_size(VECTOR_BYTES)));
typedef int64_t lanes_i64 __attribute__((vector_size(VECTOR_BYTES)));
typedef uint32_t lanes_u32 __attribute__((vector_size(VECTOR_BYTES)));
typedef uint64_t lanes_u64 __attribute__((vector_size(VECTOR_BYTES)));
typedef int32_t lanes_short __attribute__((vector_size(VECTOR_BYTES / 2)));

#define SIGNS_F32 UINT64_C(0x8000000080000000)
#define SIGNS_F64 UINT64_C(0x8000000000000000)

/* --------------------------------------------------------------------------------------------------------- f32 -- */

/* Whether a block has something to be counted, or to be cleaned. */
VECTOR_TARGET static int VECTOR_NAME(look_f32)(const float *at, const measure_limits *limits)
{
    const uint32_t to_over = (uint32_t)limits->to_over, to_under = (uint32_t)limits->to_under;
    const uint32_t to_infinite = (uint32_t)limits->to_infinite;
    lanes_u32 odd = {0}, infinite = {0};
    uint64_t found[2][LANES_F64];

    for (size_t i = 0; i < MEASURE_BLOCK; i += LANES_F32) {
        lanes_u32 bits;
        memcpy(&bits, at + i, sizeof bits);
        bits &= 0x7fffffff;
        odd |= (bits + to_over) | (bits - to_under);
        infinite |= bits + to_infinite;
    }
    memcpy(found[0], &odd, sizeof odd);
    memcpy(found[1], &infinite, sizeof infinite);
    for (size_t i = 1; i < LANES_F64; i++) {
        found[0][0] |= found[0][i];
        found[1][0] |= found[1][i];
    }
    return found[1][0] & SIGNS_F32 ? NOT_FINITE : found[0][0] & SIGNS_F32 ? ODD : NOT_ODD;
}

VECTOR_TARGET static void VECTOR_NAME(count_f32)(const float *at, const measure_limits *limits, measure_counts *counts)
{
    lanes_i32 zeros = {0}, normal = {0}, over = {0}, under = {0};

    for (size_t i = 0; i < MEASURE_BLOCK; i += LANES_F32) {
        lanes_i32 bits;
        memcpy(&bits, at + i, sizeof bits);
        bits &= 0x7fffffff;
        zeros -= bits == 0;
        normal -= bits < (int32_t)limits->normal;
        over -= bits >= (int32_t)limits->over;
        under -= bits <= (int32_t)limits->zero;
    }
    for (size_t i = 0; i < LANES_F32; i++) {
        counts->zeros += (uint64_t)zeros[i];
        counts->subnormal += (uint64_t)(normal[i] - (limits->normal ? zeros[i] : 0));
        counts->half_over += (uint64_t)over[i];
        counts->half_zero += (uint64_t)(under[i] - zeros[i]);
    }
}

/* The bins of LANES_F32 values. */
#define BINS_F32(bins, from)                                         \
    do {                                                             \
        lanes_f32 at_bin;                                            \
        memcpy(&at_bin, from, sizeof at_bin);                        \
        at_bin = (at_bin - low) * scale;                             \
        at_bin = VECTOR_MIN_F32(VECTOR_MAX_F32(at_bin, none), last); \
        (bins) = __builtin_convertvector(at_bin, lanes_i32);         \
    } while (0)

VECTOR_TARGET static void VECTOR_NAME(blocks_f32)(const measure_limits *limits, const float *at, size_t blocks,
                                                  measure_sums *sums, measure_counts *counts)
{
    const lanes_f32 low = (lanes_f32){0} + limits->low_f32, scale = (lanes_f32){0} + limits->scale_f32;
    const lanes_f32 none = {0}, last = (lanes_f32){0} + (float)(MEASURE_BINS - 1);
    const lanes_f64 shift = (lanes_f64){0} + limits->shift;
    lanes_f64 first[SUMS], second[SUMS];
    lanes_f32 least = (lanes_f32){0} + (float)INFINITY, most = -least;
    uint32_t found[MEASURE_BLOCK / 4];

    memcpy(first, sums->first, sizeof first);
    memcpy(second, sums->second, sizeof second);
    for (; blocks; blocks--, at += MEASURE_BLOCK) {
        for (size_t i = 0; i < MEASURE_BLOCK; i += MEASURE_LANES) {
            for (size_t k = 0; k < SUMS; k++) {
                lanes_f64 off = VECTOR_WIDEN(at + i + k * LANES_F64) - shift;
                first[k] += off;
                second[k] += off * off;
            }
        }
        for (size_t i = 0; i < MEASURE_BLOCK; i += 4 * LANES_F32) {
            lanes_i32 a, b, c, d;
            lanes_f32 w, x, y, z;
            memcpy(&w, at + i, sizeof w);
            memcpy(&x, at + i + LANES_F32, sizeof x);
            memcpy(&y, at + i + 2 * LANES_F32, sizeof y);
            memcpy(&z, at + i + 3 * LANES_F32, sizeof z);
            least = VECTOR_MIN_F32(least, VECTOR_MIN_F32(VECTOR_MIN_F32(w, x), VECTOR_MIN_F32(y, z)));
            most = VECTOR_MAX_F32(most, VECTOR_MAX_F32(VECTOR_MAX_F32(w, x), VECTOR_MAX_F32(y, z)));
            BINS_F32(a, at + i);
            BINS_F32(b, at + i + LANES_F32);
            BINS_F32(c, at + i + 2 * LANES_F32);
            BINS_F32(d, at + i + 3 * LANES_F32);
            a |= b << 5 | c << 16 | d << 21;
            memcpy(found + i / 4, &a, sizeof a);
        }
        tool_measure_count_pairs(counts, found, MEASURE_BLOCK / 4);
    }
    memcpy(sums->first, first, sizeof first);
    memcpy(sums->second, second, sizeof second);
    for (size_t i = 0; i < LANES_F32; i++) {
        counts->min = (double)least[i] < counts->min ? (double)least[i] : counts->min;
        counts->max = (double)most[i] > counts->max ? (double)most[i] : counts->max;
    }
}

VECTOR_TARGET static void VECTOR_NAME(all_f32)(const measure_terms *terms, const float *at, size_t count,
                                               measure_sums *sums, measure_counts *counts)
{
    measure_limits limits = tool_measure_limits(terms, true);
    float room[MEASURE_BLOCK];
    size_t run = 0; /* blocks from `at` on that were looked through and not summed yet */

    if (!terms->shift_is_value) {
        tool_measure_plain.f32(terms, at, count, sums, counts);
        return;
    }
    while (count) {
        const float *next = at + run * MEASURE_BLOCK;
        size_t left = count - run * MEASURE_BLOCK;
        int odd = left < MEASURE_BLOCK ? NOT_FINITE : VECTOR_NAME(look_f32)(next, &limits);
        if (odd == ODD) {
            VECTOR_NAME(count_f32)(next, &limits, counts);
        }
        run += odd != NOT_FINITE;
        /* Few enough to be in the fastest memory still when they are summed. */
        if (run == MEASURE_RUN || odd == NOT_FINITE) {
            VECTOR_NAME(blocks_f32)(&limits, at, run, sums, counts);
            at += run * MEASURE_BLOCK;
            count -= run * MEASURE_BLOCK;
            run = 0;
        }
        if (odd == NOT_FINITE) {
            left = count < MEASURE_BLOCK ? count : MEASURE_BLOCK;
            tool_measure_clean_f32(room, at, left, (float)terms->shift, counts);
            VECTOR_NAME(count_f32)(room, &limits, counts);
            VECTOR_NAME(blocks_f32)(&limits, room, 1, sums, counts);
            at += left;
            count -= left;
        }
    }
}

/* --------------------------------------------------------------------------------------------------------- f64 -- */

/* Whether a block has something to be counted, or to be cleaned. */
VECTOR_TARGET static int VECTOR_NAME(look_f64)(const double *at, const measure_limits *limits)
{
    const uint64_t to_over = (uint64_t)limits->to_over, to_under = (uint64_t)limits->to_under;
    const uint64_t to_infinite = (uint64_t)limits->to_infinite;
    lanes_u64 odd = {0}, infinite = {0};
    uint64_t found[2][LANES_F64];

    for (size_t i = 0; i < MEASURE_BLOCK; i += LANES_F64) {
        lanes_u64 bits;
        memcpy(&bits, at + i, sizeof bits);
        bits &= INT64_MAX;
        odd |= (bits + to_over) | (bits - to_under);
        infinite |= bits + to_infinite;
    }
    memcpy(found[0], &odd, sizeof odd);
    memcpy(found[1], &infinite, sizeof infinite);
    for (size_t i = 1; i < LANES_F64; i++) {
        found[0][0] |= found[0][i];
        found[1][0] |= found[1][i];
    }
    return found[1][0] & SIGNS_F64 ? NOT_FINITE : found[0][0] & SIGNS_F64 ? ODD : NOT_ODD;
}

VECTOR_TARGET static void VECTOR_NAME(count_f64)(const double *at, const measure_limits *limits, measure_counts *counts)
{
    lanes_i64 zeros = {0}, normal = {0}, over = {0}, under = {0};

    for (size_t i = 0; i < MEASURE_BLOCK; i += LANES_F64) {
        lanes_i64 bits;
        memcpy(&bits, at + i, sizeof bits);
        bits &= INT64_MAX;
        zeros -= bits == 0;
        normal -= bits < (int64_t)limits->normal;
        over -= bits >= (int64_t)limits->over;
        under -= bits <= (int64_t)limits->zero;
    }
    for (size_t i = 0; i < LANES_F64; i++) {
        counts->zeros += (uint64_t)zeros[i];
        counts->subnormal += (uint64_t)(normal[i] - (limits->normal ? zeros[i] : 0));
        counts->half_over += (uint64_t)over[i];
        counts->half_zero += (uint64_t)(under[i] - zeros[i]);
    }
}

#define BINS_F64(bins, x)                                            \
    do {                                                             \
        lanes_f64 at_bin = ((x) * 0.5 - low) * scale;                \
        at_bin = VECTOR_MIN_F64(VECTOR_MAX_F64(at_bin, none), last); \
        (bins) = __builtin_convertvector(at_bin, lanes_short);       \
    } while (0)

VECTOR_TARGET static void VECTOR_NAME(blocks_f64)(const measure_limits *limits, const double *at, size_t blocks,
                                                  measure_sums *sums, measure_counts *counts)
{
    const lanes_f64 low = (lanes_f64){0} + limits->low_f64, scale = (lanes_f64){0} + limits->scale_f64;
    const lanes_f64 none = {0}, last = (lanes_f64){0} + (double)(MEASURE_BINS - 1);
    const lanes_f64 shift = (lanes_f64){0} + limits->shift, unit = (lanes_f64){0} + limits->unit;
    lanes_f64 first[SUMS], second[SUMS];
    lanes_f64 least = (lanes_f64){0} + (double)INFINITY, most = -least;
    uint32_t found[MEASURE_BLOCK / 4];

    memcpy(first, sums->first, sizeof first);
    memcpy(second, sums->second, sizeof second);
    for (; blocks; blocks--, at += MEASURE_BLOCK) {
        for (size_t i = 0; i < MEASURE_BLOCK; i += MEASURE_LANES) {
            for (size_t k = 0; k < SUMS; k++) {
                lanes_f64 off;
                memcpy(&off, at + i + k * LANES_F64, sizeof off);
                off = off * unit - shift;
                first[k] += off;
                second[k] += off * off;
            }
        }
        for (size_t i = 0; i < MEASURE_BLOCK; i += 4 * LANES_F64) {
            lanes_short a, b, c, d;
            lanes_f64 w, x, y, z;
            memcpy(&w, at + i, sizeof w);
            memcpy(&x, at + i + LANES_F64, sizeof x);
            memcpy(&y, at + i + 2 * LANES_F64, sizeof y);
            memcpy(&z, at + i + 3 * LANES_F64, sizeof z);
            least = VECTOR_MIN_F64(least, VECTOR_MIN_F64(VECTOR_MIN_F64(w, x), VECTOR_MIN_F64(y, z)));
            most = VECTOR_MAX_F64(most, VECTOR_MAX_F64(VECTOR_MAX_F64(w, x), VECTOR_MAX_F64(y, z)));
            BINS_F64(a, w);
            BINS_F64(b, x);
            BINS_F64(c, y);
            BINS_F64(d, z);
            a |= b << 5 | c << 16 | d << 21;
            memcpy(found + i / 4, &a, sizeof a);
        }
        tool_measure_count_pairs(counts, found, MEASURE_BLOCK / 4);
    }
    memcpy(sums->first, first, sizeof first);
    memcpy(sums->second, second, sizeof second);
    for (size_t i = 0; i < LANES_F64; i++) {
        counts->min = least[i] < counts->min ? least[i] : counts->min;
        counts->max = most[i] > counts->max ? most[i] : counts->max;
    }
}

VECTOR_TARGET static void VECTOR_NAME(all_f64)(const measure_terms *terms, const double *at, size_t count,
                                               measure_sums *sums, measure_counts *counts)
{
    measure_limits limits = tool_measure_limits(terms, false);
    double room[MEASURE_BLOCK];
    size_t run = 0; /* blocks from `at` on that were looked through and not summed yet */

    if (!terms->shift_is_value) {
        tool_measure_plain.f64(terms, at, count, sums, counts);
        return;
    }
    while (count) {
        const double *next = at + run * MEASURE_BLOCK;
        size_t left = count - run * MEASURE_BLOCK;
        int odd = left < MEASURE_BLOCK ? NOT_FINITE : VECTOR_NAME(look_f64)(next, &limits);
        if (odd == ODD) {
            VECTOR_NAME(count_f64)(next, &limits, counts);
        }
        run += odd != NOT_FINITE;
        /* Few enough to be in the fastest memory still when they are summed. */
        if (run == MEASURE_RUN || odd == NOT_FINITE) {
            VECTOR_NAME(blocks_f64)(&limits, at, run, sums, counts);
            at += run * MEASURE_BLOCK;
            count -= run * MEASURE_BLOCK;
            run = 0;
        }
        if (odd == NOT_FINITE) {
            left = count < MEASURE_BLOCK ? count : MEASURE_BLOCK;
            tool_measure_clean_f64(room, at, left, terms->shift, counts);
            VECTOR_NAME(count_f64)(room, &limits, counts);
            VECTOR_NAME(blocks_f64)(&limits, room, 1, sums, counts);
            at += left;
            count -= left;
        }
    }
}

#undef lanes_f32
#undef lanes_f64
#undef lanes_i32
#undef lanes_i64
#undef lanes_u32
#undef lanes_u64
#undef lanes_short
#undef LANES_F32
#undef LANES_F64
#undef SUMS
#undef SIGNS_F32
#undef SIGNS_F64
#undef BINS_F32
#undef BINS_F64
