/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Floats as text: the fewest digits that tell a value of a type from its neighbours.
 *
 * Tensors have millions of them, so that those of usual size are done by integers: a value of m · 2^e is an integer and
 * a binary fraction once it is multiplied by a power of ten, and so is half the distance to its neighbours. The rest
 * goes through the C library, which defines the result. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/print/print.h"

/* What matters of a float type: digits that survive a trip through it, digits that tell its values apart, bits of its
 * significand, exponents of its smallest subnormal and of its smallest normal number. */
typedef struct float_form {
    int sure, enough, bits, subnormal, normal;
} float_form;

static const float_form *form_of(rec_dtype dtype)
{
    static const float_form f64 = {15, 17, 53, -1074, -1022}, f32 = {6, 9, 24, -149, -126}, f16 = {3, 5, 11, -24, -14},
                            bf16 = {2, 4, 8, -133, -126};

    switch (dtype) {
    case REC_DTYPE_F32:
    case REC_DTYPE_FLEX32:
        return &f32;
    case REC_DTYPE_F16:
        return &f16;
    case REC_DTYPE_BF16:
        return &bf16;
    default:
        return &f64;
    }
}

/* To the nearest whole number, of two the even one; of a size that int64_t has. As rint(), for which a compiler may ask
 * libm. */
static double to_nearest(double value)
{
    int64_t whole = (int64_t)value;
    double rest = value - (double)whole;
    bool odd = whole & 1;

    return (double)(whole + (rest > 0.5 || (rest == 0.5 && odd)) - (rest < -0.5 || (rest == -0.5 && odd)));
}

/* Reads a decimal as a number of that form, to nearest even. */
static double read_as(const char *decimal, const float_form *form)
{
    int exponent;
    double value;

    if (form->bits == 53) {
        return strtod(decimal, NULL);
    }
    if (form->bits == 24) {
        return (double)strtof(decimal, NULL);
    }
    value = strtod(decimal, NULL);
    (void)frexp(value, &exponent);
    exponent -= form->bits;
    exponent = exponent < form->subnormal ? form->subnormal : exponent;
    return ldexp(to_nearest(ldexp(value, -exponent)), exponent); /* fewer bits than a double has */
}

/* Digits without point and sign, and the exponent of the first one. Both ways leave zeros at the end. */
typedef struct decimal {
    char digits[NUMBER_ROOM];
    int count, exponent;
} decimal;

/* By trying: subnormal numbers have fewer bits, so fewer digits may do. */
static void digits_tried(double value, const float_form *form, decimal *d)
{
    char tried[NUMBER_ROOM];
    const char *at = tried;

    for (int count = fabs(value) < ldexp(1, form->normal) ? 1 : form->sure;; count++) {
        (void)snprintf(tried, sizeof tried, "%.*e", count - 1, value);
        if (count == form->enough || read_as(tried, form) == value) {
            break;
        }
    }
    /* tried is [-]d[.ddd]e±xx */
    d->count = 0;
    for (at += *at == '-'; *at != 'e'; at++) {
        if (*at != '.') {
            d->digits[d->count++] = *at;
        }
    }
    d->exponent = atoi(at + 1);
}

#ifdef __SIZEOF_INT128__

__extension__ typedef unsigned __int128 wide;

static const uint64_t tens[] = {
    1,
    10,
    100,
    1000,
    10000,
    100000,
    1000000,
    10000000,
    100000000,
    1000000000,
    10000000000,
    100000000000,
    1000000000000,
    10000000000000,
    100000000000000,
    1000000000000000,
    10000000000000000,
    100000000000000000,
    1000000000000000000,
};

static wide power_of_five(int exponent)
{
    static const uint32_t small[] = {1,     5,      25,      125,     625,      3125,      15625,
                                     78125, 390625, 1953125, 9765625, 48828125, 244140625, 1220703125};
    wide power = small[exponent % 14];

    for (int i = exponent / 14; i > 0; i--) {
        power *= UINT64_C(6103515625); /* 5^14 */
    }
    return power;
}

/* A number between its neighbours: (scaled + part / 2^shift) units of its last digit but for rounding. */
typedef struct between {
    uint64_t scaled;
    wide part, step; /* from one neighbour to the next, times 2^shift */
    int shift;
    bool even;   /* its significand is, so that it gets what lies halfway to a neighbour */
    bool lowest; /* a power of two: the neighbour below is half as far as the one above */
} between;

/* Rounds to a multiple of so many units. @param number (out) the multiple. @return whether it reads back. */
static bool reads_back(const between *q, uint64_t units, uint64_t *number)
{
    uint64_t rest = q->scaled % units;
    wide half = (wide)units << (q->shift - 1), over = ((wide)rest << q->shift) + q->part, off;
    bool up;

    *number = q->scaled / units;
    up = over > half || (over == half && (*number & 1));
    *number += up;
    off = up ? ((wide)units << q->shift) - over : over;
    if (!up && q->lowest) {
        off *= 2;
    }
    return 2 * off < q->step || (2 * off == q->step && q->even);
}

/* @return false: it is too large, too small, subnormal or nothing that can be counted; another way must do. */
static bool digits_counted(double value, const float_form *form, decimal *d)
{
    double size = fabs(value);
    int exponent, power, shift, ten, all = form->enough > 9 ? 17 : 9, rest_bits = 53 - form->bits;
    int count = form->sure;
    uint64_t m, number = 0, tried;
    wide five, product;
    between q;

    d->count = 0;
    if (size == 0) {
        *d = (decimal){.digits = "0", .count = 1};
        return true;
    }
    memcpy(&m, &size, sizeof m);
    exponent = (int)(m >> 52) - 1023;
    m = (m & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1) << 52;
    /* What is smaller would not fit into the wide numbers. */
    if (!(size >= (form->bits == 53 ? 1e-11 : 1e-34) && size < 1e9) || exponent < form->normal ||
        m & ((UINT64_C(1) << rest_bits) - 1) || (exponent == form->normal && m == UINT64_C(1) << 52)) {
        return false; /* nor is it one where the neighbours are as far below as above */
    }
    m >>= rest_bits;
    exponent -= form->bits - 1; /* size = m · 2^exponent */
    /* The first digit is that of 10^ten. By log10(2), rounded down, ten is right or one too small. */
    ten = (exponent + form->bits - 1) * 30103 / 100000 - (exponent + form->bits - 1 < 0);
    for (;; ten++) {
        power = all - 1 - ten;
        five = power_of_five(power);
        product = five * m; /* size · 10^power = product · 2^(exponent + power) */
        shift = -(exponent + power);
        if (shift < 1 || shift > 100) {
            return false;
        }
        if (product >> shift < tens[all]) {
            break;
        }
    }
    q = (between){(uint64_t)(product >> shift),        product & (((wide)1 << shift) - 1), five, shift, (m & 1) == 0,
                  m == UINT64_C(1) << (form->bits - 1)};
    if (q.lowest) {
        while (!reads_back(&q, tens[all - count], &number) && count < form->enough) {
            count++;
        }
    } else {
        /* What fewer digits read back as, more do: from the most downwards, for most numbers need them. */
        for (count = form->enough - 1; count >= form->sure && reads_back(&q, tens[all - count], &tried); count--) {
            number = tried;
        }
        if (++count == form->enough) {
            (void)reads_back(&q, tens[all - count], &number);
        }
    }
    d->count = count;
    if (number == tens[d->count]) {
        number /= 10;
        ten++;
    }
    for (int i = d->count; i-- > 0; number /= 10) {
        d->digits[i] = (char)('0' + number % 10);
    }
    d->exponent = ten;
    return true;
}

#else

static bool digits_counted(double value, const float_form *form, decimal *d)
{
    (void)value;
    (void)form;
    (void)d;
    return false;
}

#endif

const char *tool_float_text(double value, rec_dtype dtype, char *buffer)
{
    const float_form *form = form_of(dtype);
    decimal d;
    char *out = buffer;

    if (isnan(value)) {
        return strcpy(buffer, "NaN");
    }
    if (isinf(value)) {
        return strcpy(buffer, value < 0 ? "-Infinity" : "Infinity");
    }
    if (!digits_counted(value, form, &d)) {
        digits_tried(value, form, &d);
    }
    while (d.count > 1 && d.digits[d.count - 1] == '0') {
        d.count--;
    }
    if (signbit(value)) {
        *out++ = '-';
    }
    if (d.exponent < -4 || d.exponent >= 16) {
        *out++ = d.digits[0];
        if (d.count > 1) {
            *out++ = '.';
            memcpy(out, d.digits + 1, (size_t)d.count - 1);
            out += d.count - 1;
        }
        (void)sprintf(out, "e%d", d.exponent);
        return buffer;
    }
    if (d.exponent < 0) {
        *out++ = '0';
        *out++ = '.';
        for (int i = -1; i > d.exponent; i--) {
            *out++ = '0';
        }
        memcpy(out, d.digits, (size_t)d.count);
        out[d.count] = '\0';
        return buffer;
    }
    for (int i = 0; i < d.count || i <= d.exponent + 1; i++) {
        if (i == d.exponent + 1) {
            *out++ = '.';
        }
        *out++ = i < d.count ? d.digits[i] : '0';
    }
    *out = '\0';
    return buffer;
}
