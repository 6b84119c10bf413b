/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Floats as text: the fewest digits that tell a value of a type from its neighbours. Tensors have millions of them, so
 * most are done by integers. The rest goes through the C library, which defines the result. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/shortest.h"
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

/* By integers. @return false: a zero, or a power of two, whose neighbours are at different distances: the shortest
 * decimal that reads back may be one that rounding does not give. */
static bool digits_counted(double value, const float_form *form, decimal *d)
{
    uint64_t bits, significand, digits;
    int32_t exponent, ten;
    int rest = 53 - form->bits;

    memcpy(&bits, &value, sizeof bits);
    exponent = (int32_t)(bits >> 52 & 0x7ff);
    significand = bits & ((UINT64_C(1) << 52) - 1);
    if (significand == 0 || exponent == 0) {
        return false;
    }
    significand |= UINT64_C(1) << 52;
    exponent -= 1075;
    /* Subnormal numbers of the type have fewer bits. */
    rest = exponent + rest < form->subnormal ? form->subnormal - exponent : rest;
    if (rest > 53 || significand & ((UINT64_C(1) << rest) - 1)) {
        return false; /* not of that type */
    }
    significand >>= rest;
    digits = lr_shortest(significand, exponent + rest, (significand & 1) == 0, false, &ten);
    d->count = snprintf(d->digits, sizeof d->digits, "%" PRIu64, digits);
    d->exponent = ten + d->count - 1;
    return true;
}

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
