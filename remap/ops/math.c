/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Operations that compute: sums, conversions between kinds of numbers, weight_norm. Conversions round once. Sums and
 * norms round once more than they must where the type is narrower than f32: Burn and PyTorch round the f32, too. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "remap/ops/ops_private.h"

/* Elements converted at a time. */
enum { STEP = 1024 };

/* f64 is computed in f64, all else in f32. lr_convert reads little-endian and writes in host order. */
static bool in_f64(const lr_op *op)
{
    return op->dtype == REC_DTYPE_F64;
}

/* Floats of any type to f64 or f32 in host order, and back. */
static void get_floats(rec_dtype dtype, const uint8_t *from, rec_dtype to, void *numbers, uint64_t count)
{
    lr_converted ignored = {0};
    (void)lr_convert(dtype, from, to, numbers, count, false, &ignored); /* floats are convertible */
}

/* @return how many became infinite. */
static uint64_t put_floats(rec_dtype from, void *numbers, rec_dtype dtype, uint8_t *to, uint64_t count)
{
    lr_converted result = {0};
    lr_swap_if_big(numbers, rec_dtype_bits(from) / 8, count);
    (void)lr_convert(from, numbers, dtype, to, count, false, &result);
    lr_swap_if_big(to, rec_dtype_bits(dtype) / 8, count);
    return result.overflowed;
}

/* ------------------------------------------------------------------------------------------ sums and products -- */

/* Adds numbers to elements, or multiplies them: element `j` with numbers[j * step]. An f64 has room for the exact
 * product of two f32 and for enough of their sum, so rounding its result to f32 gives what f32 arithmetic gives. */
static void combine(const lr_op *op, uint8_t *at, uint64_t count, bool multiply, const double *numbers, uint64_t step)
{
    uint32_t width = lr_op_width(op);
    for (uint64_t done = 0; done < count; done += STEP) {
        double x[STEP];
        uint64_t n = count - done < STEP ? count - done : STEP;
        get_floats(op->dtype, at + done * width, REC_DTYPE_F64, x, n);
        for (uint64_t j = 0; j < n; j++) {
            double y = numbers[(done + j) * step];
            x[j] = multiply ? x[j] * y : x[j] + y;
            x[j] = in_f64(op) ? x[j] : (double)(float)x[j];
        }
        (void)put_floats(REC_DTYPE_F64, x, op->dtype, at + done * width, n);
    }
}

void lr_op_add_numbers(const lr_op *op, void *data, uint64_t count)
{
    double number = in_f64(op) ? op->u.number : (double)(float)op->u.number;
    combine(op, data, count, false, &number, 0);
}

void lr_op_multiply_numbers(const lr_op *op, void *data, const void *other, uint64_t count)
{
    uint32_t width = lr_op_width(op);
    for (uint64_t done = 0; done < count; done += STEP) {
        double factors[STEP];
        uint64_t n = count - done < STEP ? count - done : STEP;
        get_floats(op->dtype, (const uint8_t *)other + done * width, REC_DTYPE_F64, factors, n);
        combine(op, (uint8_t *)data + done * width, n, true, factors, 1);
    }
}

/* ------------------------------------------------------------------------------------------------- weight_norm -- */

/* w = v * (g / norm), in this order, like torch. Squares are summed in f64 in order, and the norm is rounded to the
 * type of the computation. torch sums f32 in f32, in an order that depends on the machine, so results may differ from
 * torch's in the last bit. */

/* The square root, rounded to nearest. The C library has it in libm, which core does not link. Computes digit by digit,
 * two bits of the number for each bit of the root; a root of 54 bits is never half-way between two of 53. */
static double square_root(double x)
{
    uint64_t digits, root = 0, rest = 0;
    double scale = 0x1p-26;
    if (!(x > 0 && x - x == 0)) {
        return x; /* 0, infinite, not a number; a sum of squares is never negative */
    }
    for (; x >= 0x1p54; x /= 4) {
        scale *= 2;
    }
    for (; x < 0x1p52; x *= 4) {
        scale /= 2;
    }
    digits = (uint64_t)x;          /* which has no fraction */
    for (int i = 0; i < 54; i++) { /* 54 bits of digits, then as many zeros */
        uint64_t trial = root << 2 | 1;
        rest = rest << 2 | (digits >> 52 & 3);
        digits = digits << 2 & ((UINT64_C(1) << 54) - 1);
        root *= 2;
        if (rest >= trial) {
            rest -= trial;
            root |= 1;
        }
    }
    return (double)((root + 1) / 2) * scale;
}

void lr_op_put_root(const lr_op *op, double sum, void *element)
{
    double root = square_root(sum);
    (void)put_floats(REC_DTYPE_F64, &root, op->dtype, element, 1);
}

/* Elements in order, and the index that each has along an axis. */
typedef struct place {
    uint64_t length, inner; /* of the axis, and how many neighbours share an index of it */
    uint64_t index, passed;
} place;

/* The first element. @param axis the rank: all have index 0. */
static place along(const lr_op *op, uint32_t axis)
{
    bool all = axis == op->rank;
    place p = {.length = all ? 1 : op->shape[axis], .inner = 1};
    for (uint32_t i = all ? 0 : axis + 1; i < op->rank; i++) {
        p.inner *= op->shape[i];
    }
    return p;
}

/* Goes past neighbours that share an index, `most` at most. @return how many. */
static inline uint64_t pass(place *p, uint64_t most)
{
    uint64_t count = p->inner - p->passed < most ? p->inner - p->passed : most;
    p->passed += count;
    if (p->passed == p->inner) {
        p->passed = 0;
        p->index = p->index + 1 == p->length ? 0 : p->index + 1;
    }
    return count;
}

void lr_op_sum_squares(const lr_op *op, uint32_t axis, const void *data, double *sums)
{
    uint32_t width = lr_op_width(op);
    uint64_t count = op->nbytes / width;
    place at = along(op, axis);
    for (uint64_t done = 0; done < count; done += STEP) {
        double wide[STEP];
        uint64_t n = count - done < STEP ? count - done : STEP;
        get_floats(op->dtype, (const uint8_t *)data + done * width, REC_DTYPE_F64, wide, n);
        for (uint64_t j = 0; j < n;) {
            double *to = &sums[at.index], sum = *to;
            for (uint64_t end = j + pass(&at, n - j); j < end; j++) {
                sum += wide[j] * wide[j];
            }
            *to = sum;
        }
    }
}

int32_t lr_op_weigh(rec_job *job, const lr_op *op, const void *g, void *data)
{
    const lr_op *magnitude = op->inputs[0];
    uint32_t width = lr_op_width(op);
    uint64_t count = op->nbytes / width, size;
    place at = along(op, op->axis);
    double *norms = lr_mul(at.length, sizeof *norms, &size) ? lr_zalloc(job->allocator, size) : NULL;
    if (!norms) {
        return lr_fail_memory(job, at.length);
    }
    lr_op_sum_squares(op, op->axis, data, norms);
    /* From here on norms[k] is what v's elements are multiplied with. */
    for (uint64_t k = 0; k < at.length; k++) {
        double factor;
        get_floats(magnitude->dtype, (const uint8_t *)g + k * lr_op_width(magnitude), REC_DTYPE_F64, &factor, 1);
        norms[k] = in_f64(op) ? factor / square_root(norms[k]) : (double)((float)factor / (float)square_root(norms[k]));
    }
    for (uint64_t done = 0; done < count; done += STEP) {
        double factors[STEP];
        uint64_t n = count - done < STEP ? count - done : STEP;
        for (uint64_t j = 0; j < n;) {
            double factor = norms[at.index];
            for (uint64_t end = j + pass(&at, n - j); j < end; j++) {
                factors[j] = factor;
            }
        }
        combine(op, (uint8_t *)data + done * width, n, true, factors, 1);
    }
    lr_release(job->allocator, norms);
    return REC_OK;
}

/* ------------------------------------------------------------------------------------------------------- casts -- */

static int32_t fail_element(rec_job *job, const lr_op *op, uint64_t index, const rec_scalar *value)
{
    char number[64], at[32];
    int64_t minimum = 0;
    uint64_t maximum = 0;
    if (value->kind == REC_KIND_FLOAT) {
        (void)lr_number_put(number, sizeof number, 'g', 9, value->v.f);
    } else if (value->kind == REC_KIND_INT) {
        (void)snprintf(number, sizeof number, "%" PRId64, value->v.i);
    } else {
        (void)snprintf(number, sizeof number, "%" PRIu64, value->v.u);
    }
    if (value->kind == REC_KIND_FLOAT && value->v.f != value->v.f) {
        return rec_fail(job, REC_E_RANGE, REC_UNKNOWN, "element %s is not a number (NaN), which %s cannot hold",
                        lr_group_digits(index, at, sizeof at), rec_dtype_name(op->dtype));
    }
    (void)lr_int_limits(op->dtype, &minimum, &maximum);
    return rec_fail(job, REC_E_RANGE, REC_UNKNOWN,
                    "element %s is %s, which does not fit %s (%" PRId64 " to %" PRIu64 ")",
                    lr_group_digits(index, at, sizeof at), number, rec_dtype_name(op->dtype), minimum, maximum);
}

static void put_integer(uint8_t *to, uint32_t width, uint64_t x)
{
    for (uint32_t i = 0; i < width; i++) {
        to[i] = (uint8_t)(x >> 8 * i);
    }
}

/* Toward zero. The limits are powers of two, which f64 has exactly. */
static bool truncate_number(double x, rec_dtype dtype, uint64_t *integer)
{
    int64_t minimum = 0;
    uint64_t maximum = 0;
    (void)lr_int_limits(dtype, &minimum, &maximum);
    if (x > -0x1p62 && x < 0x1p62) {
        x = (double)(int64_t)x; /* beyond, an f64 has no fraction */
    }
    if (!(x >= (double)minimum && x < 2 * (double)(maximum / 2 + 1))) {
        return false;
    }
    *integer = x < 0 ? (uint64_t)(int64_t)x : (uint64_t)x;
    return true;
}

/* A 64-bit integer as an f64 that rounds to every narrower type as the integer would: bits that f64 has no room for are
 * or-ed into its last. */
static double sticky(uint64_t magnitude)
{
    if (magnitude >> 53) {
        magnitude = (magnitude & ~UINT64_C(0x7ff)) | (magnitude & 0x7ff ? 0x800 : 0);
    }
    return (double)magnitude;
}

/* To nearest even, in one step. @return 1 if it became infinite. */
static uint64_t put_float(const lr_op *op, const rec_scalar *x, uint8_t *to)
{
    bool negative = x->kind == REC_KIND_INT && x->v.i < 0;
    uint64_t magnitude = negative ? 0 - x->v.u : x->v.u;
    double wide;
    wide = op->dtype == REC_DTYPE_F64 ? (double)magnitude : sticky(magnitude);
    wide = negative ? -wide : wide;
    return put_floats(REC_DTYPE_F64, &wide, op->dtype, to, 1);
}

/* Between kinds, one by one. */
static int32_t cast_one(rec_job *job, lr_op *op, uint64_t index, rec_dtype from_dtype, const uint8_t *from, uint8_t *to)
{
    rec_scalar x = lr_element(from_dtype, from);
    uint32_t width = lr_op_width(op);
    uint64_t integer;
    if (x.kind == REC_KIND_BOOL) {
        x.kind = REC_KIND_UINT;
        x.v.u = x.v.i != 0;
    }
    if (lr_dtype_is_bool(op->dtype)) {
        put_integer(to, width, x.kind == REC_KIND_FLOAT ? x.v.f != 0 : x.v.u != 0); /* a NaN is not 0 either */
    } else if (lr_dtype_is_float(op->dtype)) {
        uint64_t overflowed = put_float(op, &x, to);
        if (overflowed) {
            (void)atomic_fetch_add_explicit(&op->u.overflowed, overflowed, memory_order_relaxed);
        }
    } else {
        if (x.kind != REC_KIND_FLOAT) {
            integer = x.v.u; /* a bool's */
        } else if (!truncate_number(x.v.f, op->dtype, &integer)) {
            return fail_element(job, op, index, &x);
        }
        put_integer(to, width, integer);
    }
    return REC_OK;
}

int32_t lr_op_cast_numbers(rec_job *job, lr_op *op, uint64_t first, const void *from, void *to, uint64_t count)
{
    rec_dtype from_dtype = op->inputs[0]->dtype;
    uint32_t from_width = lr_op_width(op->inputs[0]), width = lr_op_width(op);
    int32_t status = REC_OK;
    if (lr_convertible(from_dtype, op->dtype)) {
        lr_converted result = {0};
        if (lr_convert(from_dtype, from, op->dtype, to, count, false, &result) != LR_CONVERT_OK) {
            return fail_element(job, op, first + result.bad, &result.value);
        }
        lr_swap_if_big(to, width, count);
        (void)atomic_fetch_add_explicit(&op->u.overflowed, result.overflowed, memory_order_relaxed);
        return REC_OK;
    }
    for (uint64_t i = 0; i < count && status == REC_OK; i++) {
        status =
            cast_one(job, op, first + i, from_dtype, (const uint8_t *)from + i * from_width, (uint8_t *)to + i * width);
    }
    return status;
}
