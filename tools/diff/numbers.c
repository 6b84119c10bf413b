/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Compares two arrays of numbers: how many differ, by how much, and where most. One loop for every processor,
 * vectorised by the compiler in blocks of eight. Products and sums are rounded separately (no fused operations), so
 * that all processors get the same bits. Infinities and NaN are rare: the loop only detects that they occur. */
#include <math.h>
#include <string.h>

#include "common/cpu.h"
#include "tools/diff/diff_private.h"

#if defined(__x86_64__) && defined(__GNUC__)
#define HAS_X86
#endif

#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#endif

/* Sums that are kept apart, numbers a block. */
enum { LANES = 8, BLOCK = 8 * LANES };

/* Vectors of two, four and eight numbers. */
#define DEFINE_VECTORS(W)                                                                                 \
    typedef double vector##W __attribute__((vector_size((W) * 8), aligned(8)));                           \
    typedef int64_t mask##W __attribute__((vector_size((W) * 8), aligned(8)));                            \
    typedef float singles##W __attribute__((vector_size((W) * 4), aligned(4)));                           \
    static inline __attribute__((always_inline)) void load##W##_float(vector##W *to, const float *from)   \
    {                                                                                                     \
        singles##W s;                                                                                     \
        memcpy(&s, from, sizeof s);                                                                       \
        *to = __builtin_convertvector(s, vector##W);                                                      \
    }                                                                                                     \
    static inline __attribute__((always_inline)) void load##W##_double(vector##W *to, const double *from) \
    {                                                                                                     \
        memcpy(to, from, sizeof *to);                                                                     \
    }
DEFINE_VECTORS(2)
#ifdef HAS_X86
DEFINE_VECTORS(4)
DEFINE_VECTORS(8)
#endif

/* ---------------------------------------------------------------------------------------------- place by place -- */

static double larger(double a, double b)
{
    a = __builtin_fabs(a);
    b = __builtin_fabs(b);
    return a > b ? a : b;
}

/* The largest differences so far. */
static void note_largest(figures *f, double apart, double of, uint64_t at)
{
    if (apart > f->max_abs) {
        f->max_abs = apart;
        f->max_abs_at = at;
    }
    if (apart > f->max_rel * of) {
        f->max_rel = of > 0 ? apart / of : 0;
        f->max_rel_at = at;
    }
}

static void count_odd(figures *f, uint64_t at)
{
    f->odd_at = f->odd ? f->odd_at : at;
    f->odd++;
    f->differing++;
    f->beyond++;
}

/* A place where one or both are not finite. */
static void add_special(figures *f, double a, double b, uint64_t at, const tolerance *t)
{
    bool nans = a != a && b != b;

    f->nan[SIDE_A] += a != a;
    f->nan[SIDE_B] += b != b;
    f->inf[SIDE_A] += __builtin_isinf(a) != 0;
    f->inf[SIDE_B] += __builtin_isinf(b) != 0;
    if (nans ? t->nan_differs : a != b) {
        count_odd(f, at);
    }
}

/* Sums of one place, where both are finite. @param apart their difference, which may be more exact than a - b */
static void add_squares(figures *f, double a, double b, double apart)
{
    double x = a * f->scale, y = b * f->scale, d = apart * f->scale;

    f->dd += d * d;
    f->aa += x * x;
    f->bb += y * y;
    f->ab += x * y;
}

static void add_place(figures *f, double a, double b, uint64_t at, const tolerance *t)
{
    double d = __builtin_fabs(a - b);

    if (!__builtin_isfinite(a) || !__builtin_isfinite(b)) {
        add_special(f, a, b, at, t);
        return;
    }
    if (a != b) {
        f->differing++;
        f->beyond += d > t->atol && d > t->rtol * larger(a, b);
        note_largest(f, d, larger(a, b), at);
    }
    add_squares(f, a, b, d);
}

/* -------------------------------------------------------------------------------------------------- in vectors -- */

#define MAGNITUDE INT64_MAX

/* Whole blocks. A difference that may be the largest, or something that is not finite, is looked at once more. Number i
 * of a block adds to sum i % LANES, in whatever vectors. */
#define DEFINE_BLOCKS(name, type, W, attributes)                                                          \
    attributes static size_t name(figures *f, const type *a, const type *b, uint64_t first, size_t count, \
                                  const tolerance *t)                                                     \
    {                                                                                                     \
        const vector##W scale = f->scale - (vector##W){0}, atol = t->atol - (vector##W){0};               \
        const vector##W rtol = t->rtol - (vector##W){0};                                                  \
        bool scaled = f->scale != 1;                                                                      \
        vector##W dd[LANES / (W)], aa[LANES / (W)], bb[LANES / (W)], ab[LANES / (W)];                     \
        mask##W differing = {0}, beyond = {0};                                                            \
        size_t i = 0;                                                                                     \
        memset(dd, 0, sizeof dd);                                                                         \
        memset(aa, 0, sizeof aa);                                                                         \
        memset(bb, 0, sizeof bb);                                                                         \
        memset(ab, 0, sizeof ab);                                                                         \
        for (; count - i >= BLOCK; i += BLOCK) {                                                          \
            const vector##W most = f->max_abs - (vector##W){0}, ratio = f->max_rel - (vector##W){0};      \
            mask##W look = {0};                                                                           \
            int64_t any = 0;                                                                              \
            for (size_t j = i; j < i + BLOCK; j += LANES) {                                               \
                _Pragma("GCC unroll 4") for (size_t k = 0; k < LANES / (W); k++)                          \
                {                                                                                         \
                    vector##W x, y, d, of;                                                                \
                    mask##W finite, differs, which;                                                       \
                    load##W##_##type(&x, a + j + k * (W));                                                \
                    load##W##_##type(&y, b + j + k * (W));                                                \
                    finite = (mask##W)(x - x == 0) & (mask##W)(y - y == 0);                               \
                    look |= ~finite;                                                                      \
                    x = (vector##W)((mask##W)x & finite);                                                 \
                    y = (vector##W)((mask##W)y & finite);                                                 \
                    differs = (mask##W)(x != y);                                                          \
                    d = (vector##W)((mask##W)(x - y) & MAGNITUDE);                                        \
                    of = (vector##W)((mask##W)x & MAGNITUDE);                                             \
                    which = (mask##W)((vector##W)((mask##W)y & MAGNITUDE) > of);                          \
                    of = (vector##W)((((mask##W)y & MAGNITUDE) & which) | ((mask##W)of & ~which));        \
                    look |= (mask##W)(d > most) | (mask##W)(d > ratio * of);                              \
                    differing -= differs;                                                                 \
                    beyond -= differs & (mask##W)(d > atol) & (mask##W)(d > rtol * of);                   \
                    if (scaled) {                                                                         \
                        x *= scale;                                                                       \
                        y *= scale;                                                                       \
                        d = x - y;                                                                        \
                    }                                                                                     \
                    dd[k] += d * d;                                                                       \
                    aa[k] += x * x;                                                                       \
                    bb[k] += y * y;                                                                       \
                    ab[k] += x * y;                                                                       \
                }                                                                                         \
            }                                                                                             \
            for (int k = 0; k < (W); k++) {                                                               \
                any |= look[k];                                                                           \
            }                                                                                             \
            for (size_t j = i; any && j < i + BLOCK; j++) {                                               \
                double x = (double)a[j], y = (double)b[j];                                                \
                if (!__builtin_isfinite(x) || !__builtin_isfinite(y)) {                                   \
                    add_special(f, x, y, first + j, t);                                                   \
                } else if (x != y) {                                                                      \
                    note_largest(f, __builtin_fabs(x - y), larger(x, y), first + j);                      \
                }                                                                                         \
            }                                                                                             \
        }                                                                                                 \
        for (int k = 0; k < (W); k++) {                                                                   \
            f->differing += (uint64_t)differing[k];                                                       \
            f->beyond += (uint64_t)beyond[k];                                                             \
        }                                                                                                 \
        for (int k = 0; k < LANES; k++) {                                                                 \
            f->dd += dd[k / (W)][k % (W)];                                                                \
            f->aa += aa[k / (W)][k % (W)];                                                                \
            f->bb += bb[k / (W)][k % (W)];                                                                \
            f->ab += ab[k / (W)][k % (W)];                                                                \
        }                                                                                                 \
        return i;                                                                                         \
    }

DEFINE_BLOCKS(blocks_f32, float, 2, )
DEFINE_BLOCKS(blocks_f64, double, 2, )
#ifdef HAS_X86
DEFINE_BLOCKS(blocks_f32_avx2, float, 4, __attribute__((target("avx2"))))
DEFINE_BLOCKS(blocks_f64_avx2, double, 4, __attribute__((target("avx2"))))
DEFINE_BLOCKS(blocks_f32_avx512, float, 8, __attribute__((target("avx512f,avx512dq"))))
DEFINE_BLOCKS(blocks_f64_avx512, double, 8, __attribute__((target("avx512f,avx512dq"))))
#endif

void tool_diff_f32_plain(figures *f, const float *a, const float *b, uint64_t first, size_t count, const tolerance *t)
{
    size_t done = blocks_f32(f, a, b, first, count, t);

    for (size_t i = done; i < count; i++) {
        add_place(f, (double)a[i], (double)b[i], first + i, t);
    }
    f->count += count;
}

void tool_diff_f32(figures *f, const float *a, const float *b, uint64_t first, size_t count, const tolerance *t)
{
    size_t done = 0;

#ifdef HAS_X86
    if (LR_CPU_HAS(AVX512F, "avx512f") && LR_CPU_HAS(AVX512DQ, "avx512dq")) {
        done = blocks_f32_avx512(f, a, b, first, count, t);
    } else if (LR_CPU_HAS(AVX2, "avx2")) {
        done = blocks_f32_avx2(f, a, b, first, count, t);
    }
#endif
    f->count += done;
    tool_diff_f32_plain(f, a + done, b + done, first + done, count - done, t);
}

void tool_diff_f64(figures *f, const double *a, const double *b, uint64_t first, size_t count, const tolerance *t)
{
    size_t done = 0;

#ifdef HAS_X86
    if (LR_CPU_HAS(AVX512F, "avx512f") && LR_CPU_HAS(AVX512DQ, "avx512dq")) {
        done = blocks_f64_avx512(f, a, b, first, count, t);
    } else if (LR_CPU_HAS(AVX2, "avx2")) {
        done = blocks_f64_avx2(f, a, b, first, count, t);
    }
#endif
    done += blocks_f64(f, a + done, b + done, first + done, count - done, t);
    for (size_t i = done; i < count; i++) {
        add_place(f, a[i], b[i], first + i, t);
    }
    f->count += count;
}

/* ----------------------------------------------------------------------------------------------- other numbers -- */

void tool_diff_i64(figures *f, const int64_t *a, const int64_t *b, uint64_t first, size_t count, const tolerance *t)
{
    for (size_t i = 0; i < count; i++) {
        double x = (double)a[i], y = (double)b[i], d = 0;
        if (a[i] != b[i]) {
            d = (double)(a[i] > b[i] ? (uint64_t)a[i] - (uint64_t)b[i] : (uint64_t)b[i] - (uint64_t)a[i]);
            f->differing++;
            f->beyond += d > t->atol && d > t->rtol * larger(x, y);
            note_largest(f, d, larger(x, y), first + i);
        }
        add_squares(f, x, y, d);
    }
    f->count += count;
}

static double as_double(const rec_scalar *x)
{
    switch (x->kind) {
    case REC_KIND_FLOAT:
        return x->v.f;
    case REC_KIND_UINT:
        return (double)x->v.u;
    default:
        return (double)x->v.i;
    }
}

static bool is_negative(const rec_scalar *x)
{
    return x->kind != REC_KIND_UINT && x->v.i < 0;
}

/* @return whether a float is a whole number that 64 bits hold, and then which. */
static bool whole(double f, rec_scalar *x)
{
    if (!(f >= -9223372036854775808.0 && f < 18446744073709551616.0)) {
        return false;
    }
    *x = f < 0 ? (rec_scalar){.kind = REC_KIND_INT, .v.i = (int64_t)f}
               : (rec_scalar){.kind = REC_KIND_UINT, .v.u = (uint64_t)f};
    return f == (f < 0 ? (double)x->v.i : (double)x->v.u);
}

/* @return whether both are whole numbers, and then which. */
static bool both_whole(const rec_scalar *a, const rec_scalar *b, rec_scalar *x, rec_scalar *y)
{
    *x = *a;
    *y = *b;
    return (a->kind != REC_KIND_FLOAT || whole(a->v.f, x)) && (b->kind != REC_KIND_FLOAT || whole(b->v.f, y));
}

/* @return how far two finite numbers are apart: exactly, and then rounded, where both are whole. */
static double distance(const rec_scalar *a, const rec_scalar *b)
{
    rec_scalar x, y;

    if (!both_whole(a, b, &x, &y) || is_negative(&x) != is_negative(&y)) {
        return __builtin_fabs(as_double(a) - as_double(b));
    }
    return (double)(x.v.u > y.v.u ? x.v.u - y.v.u : y.v.u - x.v.u);
}

bool tool_diff_same_number(const rec_scalar *a, const rec_scalar *b)
{
    rec_scalar x, y;

    if (a->kind == REC_KIND_FLOAT && b->kind == REC_KIND_FLOAT) {
        return a->v.f == b->v.f || (a->v.f != a->v.f && b->v.f != b->v.f);
    }
    return both_whole(a, b, &x, &y) && is_negative(&x) == is_negative(&y) && x.v.u == y.v.u;
}

void tool_diff_number(figures *f, const rec_scalar *a, const rec_scalar *b, uint64_t at, const tolerance *t)
{
    double x = as_double(a), y = as_double(b), d;

    f->count++;
    if (!__builtin_isfinite(x) || !__builtin_isfinite(y)) {
        add_special(f, x, y, at, t);
        return;
    }
    d = distance(a, b);
    if (!tool_diff_same_number(a, b)) {
        f->differing++;
        f->beyond += d > t->atol && d > t->rtol * larger(x, y);
        note_largest(f, d, larger(x, y), at);
    }
    add_squares(f, x, y, d);
}

/* ----------------------------------------------------------------------------------------------------- figures -- */

void tool_diff_figures_add(figures *sum, const figures *more)
{
    sum->odd_at = sum->odd ? sum->odd_at : more->odd_at;
    sum->count += more->count;
    sum->differing += more->differing;
    sum->beyond += more->beyond;
    sum->odd += more->odd;
    for (int i = 0; i < SIDES; i++) {
        sum->rounded[i] += more->rounded[i];
        sum->nan[i] += more->nan[i];
        sum->inf[i] += more->inf[i];
    }
    if (more->max_abs > sum->max_abs) {
        sum->max_abs = more->max_abs;
        sum->max_abs_at = more->max_abs_at;
    }
    if (more->max_rel > sum->max_rel) {
        sum->max_rel = more->max_rel;
        sum->max_rel_at = more->max_rel_at;
    }
    sum->dd += more->dd;
    sum->aa += more->aa;
    sum->bb += more->bb;
    sum->ab += more->ab;
}

double tool_diff_change(const figures *f)
{
    double norm = tool_root(f->aa > f->bb ? f->aa : f->bb);

    if (!f->differing) {
        return 0;
    }
    if (f->odd) {
        return __builtin_inf();
    }
    return norm > 0 ? tool_root(f->dd) / norm : 0;
}

double tool_diff_nmse(const figures *f)
{
    if (f->odd) {
        return __builtin_inf();
    }
    return f->dd > 0 ? f->dd / f->aa : 0;
}

/* Returns the natural logarithm of a finite number above 0. A program that calls log() would load libm at its start. */
static double natural_log(double x)
{
    static const double ln2 = 0.693147180559945309417, root_half = 0.707106781186547524401;
    int exponent;
    double m = frexp(x, &exponent), z, power, sum = 0;

    if (m < root_half) {
        m *= 2;
        exponent--;
    }
    z = (m - 1) / (m + 1); /* at most 0.172: ln m = 2 (z + z³/3 + z⁵/5 + …) */
    power = z;
    for (int i = 1; i < 24; i += 2) {
        sum += power / i;
        power *= z * z;
    }
    return 2 * sum + exponent * ln2;
}

double tool_diff_sqnr(double nmse)
{
    static const double ln10 = 2.302585092994045684018;

    if (!(nmse > 0 && __builtin_isfinite(nmse))) {
        return nmse > 0 ? -__builtin_inf() : __builtin_inf();
    }
    return 0 - 10 * natural_log(nmse) / ln10; /* not -0 of 1 */
}

double tool_diff_cosine(const figures *f)
{
    double cosine = f->ab / (tool_root(f->aa) * tool_root(f->bb));

    return cosine > 1 ? 1 : cosine < -1 ? -1 : cosine;
}
