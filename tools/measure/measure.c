/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Measuring a tensor: a look at a few places says where values lie, then all of it is read in pieces, which threads
 * share. Sums are kept by piece and added in order, so that it does not matter who made them. */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "tools/measure/measure_private.h"

#if defined(__x86_64__)
#include <emmintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

enum {
    RUNS = 16,      /* places that are looked at first, */
    RUN_LENGTH = 64 /* so many elements each */
};
/* Pieces that a thread takes on at a time. */
enum { SHARE = 16 };
#define SHARE_ELEMENTS ((uint64_t)SHARE * MEASURE_PIECE)

/* Squares of values beyond these leave a double, or lose digits in it. */
#define TOO_LARGE 0x1p400
#define TOO_SMALL 0x1p-400
#define UNIT_BITS 600

double tool_root(double x)
{
#if defined(__x86_64__)
    __m128d wide = _mm_set_sd(x);
    return _mm_cvtsd_f64(_mm_sqrt_sd(wide, wide));
#elif defined(__aarch64__)
    return vget_lane_f64(vsqrt_f64(vdup_n_f64(x)), 0);
#else
    return sqrt(x);
#endif
}

/* ----------------------------------------------------------------------------------------------------- reading -- */

/* How the elements of a tensor are read. */
typedef struct reading_as {
    rec_dtype dtype;                       /* REC_DTYPE_NONE: they are no numbers */
    size_t width;                          /* bytes of an element in memory */
    bool single;                           /* measured as f32, else as f64 */
    uint64_t normal, half_over, half_zero; /* see measure_terms */
} reading_as;

/* Limits as bits of f32 and f64. What f16 rounds to zero is 2^-25 or less, to infinity 65,520 or more. */
#define NEVER_OVER UINT64_MAX
#define F32_NORMAL 0x00800000
#define F32_OVER 0x477ff000
#define F32_ZERO 0x33000000
#define F16_NORMAL_AS_F32 0x38800000
#define F64_NORMAL UINT64_C(0x0010000000000000)
#define F64_OVER UINT64_C(0x40effe0000000000)
#define F64_ZERO UINT64_C(0x3e60000000000000)

static reading_as how_to_read(const rec_tensor *tensor)
{
    rec_dtype dtype = rec_tensor_dtype(tensor), exact = tool_exact_dtype(dtype);

    if (exact == REC_DTYPE_NONE && rec_tensor_read(tensor, REC_DTYPE_F32, 0, 0, &(float){0}) != REC_OK) {
        return (reading_as){REC_DTYPE_NONE, 0, false, 0, NEVER_OVER, 0};
    }
    if (exact == REC_DTYPE_BOOL) {
        return (reading_as){exact, 1, false, 0, NEVER_OVER, 0};
    }
    if (exact == REC_DTYPE_I64 || exact == REC_DTYPE_U64) {
        return (reading_as){exact, sizeof(int64_t), false, 0, NEVER_OVER, 0};
    }
    if (dtype == REC_DTYPE_F64) {
        return (reading_as){REC_DTYPE_F64, sizeof(double), false, F64_NORMAL, F64_OVER, F64_ZERO};
    }
    if (dtype == REC_DTYPE_F16) {
        return (reading_as){REC_DTYPE_F32, sizeof(float), true, F16_NORMAL_AS_F32, NEVER_OVER, 0};
    }
    /* The other floats, and blocks of quantised numbers that the library can read. */
    return (reading_as){REC_DTYPE_F32, sizeof(float), true, F32_NORMAL, F32_OVER, F32_ZERO};
}

/* Integers and bools become f64, in place from the end on where they are narrower. */
static void make_doubles(rec_dtype dtype, void *at, size_t count, uint64_t *beyond)
{
    uint64_t over = 0;

    for (size_t left = count; left > 0; left--) {
        size_t i = left - 1;
        double value;
        if (dtype == REC_DTYPE_BOOL) {
            value = ((const uint8_t *)at)[i];
        } else if (dtype == REC_DTYPE_U64) {
            uint64_t number;
            memcpy(&number, (const char *)at + i * sizeof number, sizeof number);
            over += number > INT16_MAX;
            value = (double)number;
        } else {
            int64_t number;
            memcpy(&number, (const char *)at + i * sizeof number, sizeof number);
            over += number > INT16_MAX || number < INT16_MIN;
            value = (double)number;
        }
        memcpy((char *)at + i * sizeof value, &value, sizeof value);
    }
    *beyond += over;
}

/* Reads elements as f32 or f64. @param target room for `count` of 8 bytes. @param beyond (in, out) those beyond i16. */
static rec_status read_piece(const rec_tensor *tensor, const reading_as *as, uint64_t first, size_t count, void *target,
                             uint64_t *beyond)
{
    rec_status status = rec_tensor_read(tensor, as->dtype, first, count, target);

    if (status == REC_OK && as->dtype != REC_DTYPE_F32 && as->dtype != REC_DTYPE_F64) {
        make_doubles(as->dtype, target, count, beyond);
    }
    return status;
}

/* ------------------------------------------------------------------------------------------------ a first look -- */

/* The values that would be at places a quarter, half and three quarters along if they were in order. */
static double nth(double *values, size_t count, size_t n)
{
    size_t low = 0, high = count - 1;

    while (low < high) {
        double pivot = values[low + (high - low) / 2];
        size_t i = low, j = high;
        for (;;) {
            while (values[i] < pivot) {
                i++;
            }
            while (values[j] > pivot) {
                j--;
            }
            if (i >= j) {
                break;
            }
            double kept = values[i];
            values[i++] = values[j];
            values[j--] = kept;
        }
        if (n <= j) {
            high = j;
        } else {
            low = j + 1;
        }
    }
    return values[n];
}

/* Sets the range of a histogram: wide enough for all values except outliers, and for the arithmetic. */
static void set_edges(const reading_as *as, double *values, size_t count, measure_terms *terms)
{
    double quarter = nth(values, count, count / 4), last_quarter = nth(values, count, count - 1 - count / 4);
    double most = as->single ? 0x1p126 : 0x1p1022, least = as->single ? 0x1p-120 : 0x1p-1000, low, high, around;

    low = high = values[0];
    for (size_t i = 1; i < count; i++) {
        low = values[i] < low ? values[i] : low;
        high = values[i] > high ? values[i] : high;
    }
    if (quarter < last_quarter) {
        double reach = 3 * (last_quarter * 0.5 - quarter * 0.5); /* half of what it is, lest it overflow */
        low = low * 0.5 < quarter * 0.5 - reach ? 2 * (quarter * 0.5 - reach) : low;
        high = high * 0.5 > last_quarter * 0.5 + reach ? 2 * (last_quarter * 0.5 + reach) : high;
    }
    low = low < -most ? -most : low > most ? most : low;
    high = high < -most ? -most : high > most ? most : high;
    around = high > -low ? high : -low;
    around = around < 0 ? -around : around;
    if (low == high) {
        double aside = around * 0x1p-10 > 0.5 ? around * 0x1p-10 : 0.5;
        low -= aside;
        high += aside;
    } else if (high - low < around * 0x1p-18) { /* f32 could not tell the bins apart */
        low -= around * 0x1p-19;
        high += around * 0x1p-19;
    }
    if (high - low < least) {
        low -= least;
        high += least;
    }
    low += 0.0; /* zero has no sign here */
    terms->low = as->single ? (double)(float)low : low;
    terms->high = as->single ? (double)(float)high : high;
}

/* Looks at some values for terms that fit them. */
static rec_status first_look(const rec_tensor *tensor, const reading_as *as, measure_terms *terms)
{
    uint64_t count = rec_tensor_count(tensor), length = count / RUNS < RUN_LENGTH ? count : RUN_LENGTH, beyond = 0;
    double values[RUNS * RUN_LENGTH], room[RUNS * RUN_LENGTH];
    size_t kept = 0, runs = length == count ? 1 : RUNS;
    rec_status status = REC_OK;

    *terms = (measure_terms){
        .unit = 1, .low = -1, .high = 1, .normal = as->normal, .half_over = as->half_over, .half_zero = as->half_zero};
    for (size_t run = 0; run < runs && status == REC_OK; run++) {
        /* The first run at the beginning, the last one at the end. */
        uint64_t first = runs > 1 ? (count - length) / (runs - 1) * run : 0;
        status = read_piece(tensor, as, first, (size_t)length, room, &beyond);
        for (size_t i = 0; i < length && status == REC_OK; i++) {
            float narrow;
            double value = room[i];
            if (as->single) {
                memcpy(&narrow, (const char *)room + i * sizeof narrow, sizeof narrow);
                value = (double)narrow;
            }
            if (isfinite(value)) {
                values[kept++] = value;
            }
        }
    }
    if (kept) {
        set_edges(as, values, kept, terms);
        terms->shift = nth(values, kept, kept / 2);
    }
    return status;
}

/* -------------------------------------------------------------------------------------------------------- sums -- */

/* What the threads share that measure a tensor. */
struct measuring {
    const rec_tensor *tensor;
    reading_as as;
    measure_terms terms;
    const uint8_t *at_hand; /* its elements where they need not be read first, or NULL */
    uint64_t count;
    struct {
        double first, second;
    } *sums;        /* by piece */
    uint8_t *done;  /* by share */
    bool across;    /* other processes make some of the shares */
    uint64_t share; /* the first that this one makes */
    const atomic_bool *stop;
    atomic_bool failed; /* a share did: the others are not read */
    pthread_mutex_t lock;
    measure_counts counts;
};

static void merge(measure_counts *counts, const measure_counts *more)
{
    counts->zeros += more->zeros;
    counts->nan += more->nan;
    counts->inf += more->inf;
    counts->subnormal += more->subnormal;
    counts->half_over += more->half_over;
    counts->half_zero += more->half_zero;
    counts->min = more->min < counts->min ? more->min : counts->min;
    counts->max = more->max > counts->max ? more->max : counts->max;
    for (size_t i = 0; i < MEASURE_BINS; i++) {
        counts->bins[i] += more->bins[i];
    }
}

/* Lanes in a fixed order. */
static double add_lanes(const double *lanes)
{
    double sum = 0;

    for (size_t i = 0; i < MEASURE_LANES; i++) {
        sum += lanes[i];
    }
    return sum;
}

/* @return the tensor's bytes if they are what a kernel takes, and where it may take them; else NULL. */
static const uint8_t *find_at_hand(const rec_tensor *tensor, const reading_as *as)
{
    rec_dtype stored = rec_tensor_stored_dtype(tensor), dtype = rec_tensor_dtype(tensor);
    bool same = stored == dtype && (dtype == REC_DTYPE_F64 || dtype == REC_DTYPE_F32 || dtype == REC_DTYPE_FLEX32);
    uint64_t size = 0;
    const uint8_t *bytes = same ? rec_tensor_at_hand(tensor, &size) : NULL;

    return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ && (uintptr_t)bytes % as->width == 0 &&
                   size / as->width == rec_tensor_count(tensor)
               ? bytes
               : NULL;
}

static rec_status measure_share(struct measuring *m, uint64_t share)
{
    uint64_t first = share * SHARE_ELEMENTS;
    uint64_t end = m->count - first < SHARE_ELEMENTS ? m->count : first + SHARE_ELEMENTS;
    measure_counts counts;
    size_t room = end - first < MEASURE_PIECE ? (size_t)(end - first) : MEASURE_PIECE;
    void *read = m->at_hand ? NULL : xmalloc(room * sizeof(double));
    rec_status status = REC_OK;

    tool_measure_counts_begin(&counts);
    while (first < end && status == REC_OK) {
        if (m->stop && atomic_load_explicit(m->stop, memory_order_relaxed)) {
            status = REC_E_CANCELLED;
            break;
        }
        size_t n = end - first < MEASURE_PIECE ? (size_t)(end - first) : MEASURE_PIECE;
        measure_sums sums = {0};
        const void *piece = m->at_hand ? m->at_hand + first * m->as.width : read;
        if (!m->at_hand) {
            status = read_piece(m->tensor, &m->as, first, n, read, &counts.half_over);
        }
        if (status == REC_OK && m->as.single) {
            tool_measure_f32(&m->terms, piece, n, &sums, &counts);
        } else if (status == REC_OK) {
            tool_measure_f64(&m->terms, piece, n, &sums, &counts);
        }
        rec_tensor_release(m->tensor, first, n);
        m->sums[first / MEASURE_PIECE].first = add_lanes(sums.first);
        m->sums[first / MEASURE_PIECE].second = add_lanes(sums.second);
        first += n;
    }
    free(read);
    if (status == REC_OK) {
        (void)pthread_mutex_lock(&m->lock);
        merge(&m->counts, &counts);
        m->done[share] = 1;
        (void)pthread_mutex_unlock(&m->lock);
    }
    return status;
}

/* A share that fails on another thread is done again on the caller's, whose error it then is. */
static void try_share(void *user, uint64_t i)
{
    struct measuring *m = user;

    if (!atomic_load_explicit(&m->failed, memory_order_relaxed) && measure_share(m, m->share + i) != REC_OK) {
        atomic_store_explicit(&m->failed, true, memory_order_relaxed);
    }
}

static uint64_t shares_of(const struct measuring *m)
{
    return (m->count + SHARE_ELEMENTS - 1) / SHARE_ELEMENTS;
}

/* The first share of a process; for the rank after the last: the number of shares. */
static uint64_t first_of(uint64_t shares, uint64_t ranks, uint64_t rank)
{
    return shares / ranks * rank + shares % ranks * rank / ranks;
}

/* Gives this process's sums to the others, and takes theirs. @param status of this one's. */
static rec_status gather(session *s, struct measuring *m, rec_status status)
{
    const tool_shared *shared = s->shared;
    uint64_t pieces = (m->count + MEASURE_PIECE - 1) / MEASURE_PIECE, *ends = xmalloc(2 * shared->ranks * sizeof *ends);
    struct {
        measure_counts counts;
        int64_t status;
    } *all = xmalloc(shared->ranks * sizeof *all);
    bool met;

    all[shared->rank].counts = m->counts;
    all[shared->rank].status = status;
    for (uint32_t i = 0; i < shared->ranks; i++) {
        uint64_t end = first_of(shares_of(m), shared->ranks, i + 1) * SHARE;
        ends[i] = (i + 1) * sizeof *all;
        ends[shared->ranks + i] = (end < pieces ? end : pieces) * sizeof *m->sums;
    }
    met = shared->exchange(shared->self, all, ends) && shared->exchange(shared->self, m->sums, ends + shared->ranks);
    tool_measure_counts_begin(&m->counts);
    status = met ? REC_OK : REC_E_CANCELLED;
    for (uint32_t i = 0; i < shared->ranks && met; i++) {
        status = status == REC_OK ? (rec_status)all[i].status : status;
        merge(&m->counts, &all[i].counts);
    }
    free(all);
    free(ends);
    return status;
}

/* Computes all checksums. @param s NULL: on this thread. @param status an earlier failure, which is shared where other
 * processes wait. */
static rec_status make_sums(session *s, struct measuring *m, rec_status status)
{
    uint64_t shares = shares_of(m), first = 0, end = shares;

    if (m->across) {
        first = first_of(shares, s->shared->ranks, s->shared->rank);
        end = first_of(shares, s->shared->ranks, s->shared->rank + UINT64_C(1));
    }
    memset(m->done, 0, (size_t)shares);
    atomic_store(&m->failed, false);
    tool_measure_counts_begin(&m->counts);
    m->share = first;
    if (s && end - first > 1 && status == REC_OK) {
        tool_parallel(s, end - first, try_share, m);
    }
    for (uint64_t i = first; i < end && status == REC_OK; i++) {
        status = m->done[i] ? REC_OK : measure_share(m, i);
    }
    return m->across ? gather(s, m, status) : status;
}

/* The sums as moments of values times `unit`. */
typedef struct moments {
    double mean, squares; /* squares: of the distances from the mean, summed */
    bool lost;            /* `shift` was so far off that digits cancelled */
} moments;

static moments moments_of(const struct measuring *m, uint64_t finite)
{
    uint64_t pieces = (m->count + MEASURE_PIECE - 1) / MEASURE_PIECE;
    double first = 0, second = 0, n = (double)finite, off;
    moments made;

    for (uint64_t i = 0; i < pieces; i++) {
        first += m->sums[i].first;
        second += m->sums[i].second;
    }
    off = first / n;
    made.mean = m->terms.shift * m->terms.unit + off;
    made.squares = second - off * first;
    made.lost = off * first > made.squares * 0x1p20;
    made.squares = made.squares > 0 ? made.squares : 0;
    return made;
}

/* A power of two that brings values to where their squares are doubles. */
static double unit_for(double min, double max)
{
    double most = max > -min ? max : -min;

    return most > TOO_LARGE ? ldexp(1, -UNIT_BITS) : most < TOO_SMALL && most > 0 ? ldexp(1, UNIT_BITS) : 1;
}

/* Goes over the tensor once, and again if values turn out to be so extreme, or so unlike those that were looked at,
 * that sums lost digits. */
static rec_status measure(session *s, struct measuring *m, measured *into)
{
    rec_status status = first_look(m->tensor, &m->as, &m->terms);
    measure_counts counts;
    uint64_t finite;
    moments made;

    if (status == REC_OK || m->across) {
        status = make_sums(s, m, status);
    }
    if (status != REC_OK) {
        return status;
    }
    counts = m->counts;
    into->zeros = counts.zeros;
    into->nan = counts.nan;
    into->inf = counts.inf;
    into->subnormal = counts.subnormal;
    into->half_overflow = counts.half_over;
    into->half_underflow = counts.half_zero;
    finite = m->count - counts.nan - counts.inf;
    if (finite == 0) {
        return REC_OK;
    }
    into->min = counts.min + 0.0; /* zero has no sign here */
    into->max = counts.max + 0.0;
    into->low = m->terms.low;
    into->high = m->terms.high;
    memcpy(into->histogram, counts.bins, sizeof into->histogram);
    if (unit_for(counts.min, counts.max) != 1) {
        m->terms.unit = unit_for(counts.min, counts.max);
        status = make_sums(s, m, status);
    }
    made = moments_of(m, finite);
    if (made.lost && status == REC_OK) {
        double nearest = made.mean / m->terms.unit;
        m->terms.shift = m->as.single ? (double)(float)nearest : nearest;
        status = make_sums(s, m, status);
        made = moments_of(m, finite);
    }
    into->mean = made.mean / m->terms.unit;
    into->std = tool_root(made.squares / (double)finite) / m->terms.unit;
    into->norm = tool_root(made.squares + (double)finite * made.mean * made.mean) / m->terms.unit;
    return status;
}

rec_status tool_measure_tensor(session *s, const rec_tensor *tensor, measured *into, bool *numeric, bool across)
{
    struct measuring m = {
        .tensor = tensor, .count = rec_tensor_count(tensor), .stop = s ? s->stop : NULL, .across = across};
    uint64_t pieces = (m.count + MEASURE_PIECE - 1) / MEASURE_PIECE;
    rec_status status = REC_OK;

    *into = (measured){.count = m.count};
    into->min = into->max = into->mean = into->std = into->norm = into->low = into->high = (double)NAN;
    m.as = how_to_read(tensor);
    *numeric = m.as.dtype != REC_DTYPE_NONE;
    if (!*numeric || m.count == 0) {
        return REC_OK;
    }
    m.at_hand = find_at_hand(tensor, &m.as);
    m.sums = xmalloc((size_t)pieces * sizeof *m.sums);
    m.done = xmalloc((size_t)(pieces / SHARE + 1));
    (void)pthread_mutex_init(&m.lock, NULL);
    status = measure(s, &m, into);
    (void)pthread_mutex_destroy(&m.lock);
    free(m.done);
    free(m.sums);
    return status;
}

int tool_measure(session *s, const rec_tensor *tensor, measured *m, bool *numeric)
{
    rec_status status = tool_measure_tensor(s, tensor, m, numeric, false);

    /* Who stopped it knows; the library does not. */
    return status == REC_OK ? EXIT_OK : status == REC_E_CANCELLED ? EXIT_ERROR : tool_fail_library();
}

/* ------------------------------------------------------------------------------------------------------ adding -- */

static double finite_of(const measured *m)
{
    return (double)(m->count - m->nan - m->inf);
}

static void add_moments(measured *sum, const measured *more)
{
    double a = finite_of(sum), b = finite_of(more), n = a + b, unit, off, squares, mean, left, right;

    if (b == 0) {
        return;
    }
    if (a == 0) {
        sum->min = more->min;
        sum->max = more->max;
        sum->mean = more->mean;
        sum->std = more->std;
        sum->norm = more->norm;
        return;
    }
    sum->min = more->min < sum->min ? more->min : sum->min;
    sum->max = more->max > sum->max ? more->max : sum->max;
    unit = unit_for(sum->min, sum->max);
    off = more->mean * unit - sum->mean * unit;
    mean = sum->mean * unit + off * (b / n);
    left = sum->std * unit;
    right = more->std * unit;
    squares = left * left * a + right * right * b + off * off * (a / n) * b;
    sum->mean = mean / unit;
    sum->std = tool_root(squares / n) / unit;
    sum->norm = tool_root(squares + n * mean * mean) / unit;
}

void tool_measure_add(measured *sum, const measured *more)
{
    bool same = sum->low == more->low && sum->high == more->high;

    if (sum->count == 0) {
        *sum = *more;
        return;
    }
    if (more->count == 0) {
        return;
    }
    add_moments(sum, more);
    sum->count += more->count;
    sum->zeros += more->zeros;
    sum->nan += more->nan;
    sum->inf += more->inf;
    sum->subnormal += more->subnormal;
    sum->half_overflow += more->half_overflow;
    sum->half_underflow += more->half_underflow;
    for (size_t i = 0; i < MEASURE_BINS; i++) {
        sum->histogram[i] = same ? sum->histogram[i] + more->histogram[i] : 0;
    }
    if (!same) {
        sum->low = sum->high = (double)NAN;
    }
}
