/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The kernel of one type, included for each with these defined:
 *
 *   REAL, BITS            the type, and an unsigned one as wide
 *   INFINITE              the bits of infinity
 *   LOW(terms)            the lower edge of the histogram, and by how much PLACE multiplies
 *   SCALE(terms)
 *   PLACE(x)              the bin of x, with a fraction, by `low` and `scale`
 *   NAME(name)            the name of a function of this type
 *
 * Compilers make vectors of the loops over a block of finite numbers. A block with other numbers, and the rest of a
 * piece, are measured number by number. Both give the same bits. */

INLINE BITS NAME(magnitude)(REAL x)
{
    BITS bits;

    memcpy(&bits, &x, sizeof bits);
    return bits & ((BITS)-1 >> 1);
}

/* Adds one number of any kind. */
INLINE void NAME(add_one)(const measure_terms *terms, REAL x, REAL low, REAL scale, size_t lane, measure_sums *sums,
                          measure_counts *counts)
{
    BITS magnitude = NAME(magnitude)(x);
    double wide = (double)x, off = wide * terms->unit - terms->shift * terms->unit;
    REAL place = PLACE(x);

    if (magnitude >= INFINITE) {
        counts->inf += magnitude == INFINITE;
        counts->nan += magnitude > INFINITE;
        return;
    }
    counts->zeros += magnitude == 0;
    counts->subnormal += magnitude != 0 && magnitude < terms->normal;
    counts->half_over += magnitude >= terms->half_over;
    counts->half_zero += magnitude != 0 && magnitude <= terms->half_zero;
    sums->first[lane] += off;
    sums->second[lane] += off * off;
    counts->min = wide < counts->min ? wide : counts->min;
    counts->max = wide > counts->max ? wide : counts->max;
    counts->bins[place > 0 ? place < MEASURE_BINS - 1 ? (size_t)place : MEASURE_BINS - 1 : 0]++;
}

/* Adding this to a magnitude reaches the sign if the number is not finite. */
INLINE bool NAME(all_finite)(const REAL *at)
{
    const BITS sign = (BITS)1 << (sizeof(BITS) * 8 - 1);
    BITS reached = 0;

    for (size_t i = 0; i < BLOCK; i++) {
        reached |= NAME(magnitude)(at[i]) + (sign - INFINITE);
    }
    return !(reached & sign);
}

INLINE void NAME(count_magnitudes)(const measure_terms *terms, const REAL *at, measure_counts *counts)
{
    const BITS normal = (BITS)terms->normal, half_over = (BITS)terms->half_over, half_zero = (BITS)terms->half_zero;
    BITS zeros = 0, subnormal = 0, over = 0, under = 0;

    for (size_t i = 0; i < BLOCK; i++) {
        BITS magnitude = NAME(magnitude)(at[i]);
        zeros += magnitude == 0;
        subnormal += magnitude < normal;
        over += magnitude >= half_over;
        under += magnitude <= half_zero;
    }
    counts->zeros += zeros;
    counts->subnormal += subnormal - (normal ? zeros : 0);
    counts->half_over += over;
    counts->half_zero += under - zeros;
}

INLINE void NAME(add_numbers)(const measure_terms *terms, const REAL *at, measure_sums *sums, measure_counts *counts)
{
    const double unit = terms->unit, shift = terms->shift * unit;
    double first[MEASURE_LANES], second[MEASURE_LANES];
    REAL least[MEASURE_LANES], most[MEASURE_LANES];

    memcpy(first, sums->first, sizeof first);
    memcpy(second, sums->second, sizeof second);
    memcpy(least, at, sizeof least);
    memcpy(most, at, sizeof most);
    for (size_t i = 0; i < BLOCK; i += MEASURE_LANES) {
        for (size_t k = 0; k < MEASURE_LANES; k++) {
            double off = (double)at[i + k] * unit - shift;
            first[k] += off;
            second[k] += off * off;
        }
    }
    for (size_t i = 0; i < BLOCK; i += MEASURE_LANES) {
        for (size_t k = 0; k < MEASURE_LANES; k++) {
            REAL x = at[i + k];
            least[k] = x < least[k] ? x : least[k];
            most[k] = x > most[k] ? x : most[k];
        }
    }
    memcpy(sums->first, first, sizeof first);
    memcpy(sums->second, second, sizeof second);
    for (size_t k = 0; k < MEASURE_LANES; k++) {
        counts->min = (double)least[k] < counts->min ? (double)least[k] : counts->min;
        counts->max = (double)most[k] > counts->max ? (double)most[k] : counts->max;
    }
}

INLINE void NAME(count_bins)(const REAL *at, REAL low, REAL scale, measure_counts *counts)
{
    uint32_t bins[TABLES][MEASURE_BINS] = {{0}}; /* several, as the same bin twice in a row waits for itself */
    int32_t places[BLOCK];

    for (size_t i = 0; i < BLOCK; i++) {
        REAL place = PLACE(at[i]);
        place = place > 0 ? place : 0;
        places[i] = (int32_t)(place < MEASURE_BINS - 1 ? place : MEASURE_BINS - 1);
    }
    for (size_t i = 0; i < BLOCK; i += TABLES) {
        _Pragma("GCC unroll 4") for (size_t k = 0; k < TABLES; k++)
        {
            bins[k][places[i + k]]++;
        }
    }
    for (size_t i = 0; i < MEASURE_BINS; i++) {
        counts->bins[i] += bins[0][i] + bins[1][i] + bins[2][i] + bins[3][i];
    }
}

INLINE void NAME(measure)(const measure_terms *terms, const REAL *at, size_t count, measure_sums *sums,
                          measure_counts *counts)
{
    const REAL low = LOW(terms), scale = SCALE(terms);

    while (count) {
        size_t some = count < BLOCK ? count : BLOCK;
        if (some == BLOCK && NAME(all_finite)(at)) {
            NAME(count_magnitudes)(terms, at, counts);
            NAME(add_numbers)(terms, at, sums, counts);
            NAME(count_bins)(at, low, scale, counts);
        } else {
            for (size_t i = 0; i < some; i++) {
                NAME(add_one)(terms, at[i], low, scale, i % MEASURE_LANES, sums, counts);
            }
        }
        at += some;
        count -= some;
    }
}
