/* SPDX-License-Identifier: MIT OR Apache-2.0
 * JSON's numbers: text to integers and to the nearest double (Lemire, "Number parsing at a gigabyte per second", 2021;
 * the C library's strtod where that method cannot tell), and floats to their shortest text (Giulietti, "The Schubfach
 * way to render doubles", 2021). */
#include "plugins/codec/json/number.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Written by a decimal of 19 digits or not at all: what is beyond this is 0 or too large. */
enum { EXPONENT_MOST = 100000 };

/* ---------------------------------------------------------------------------------------------------- scanning -- */

static bool is_digit(uint8_t byte)
{
    return (uint8_t)(byte - '0') <= 9;
}

/* Takes digits in. The first 19 significant ones count; of the others only how many, and whether all are 0. */
typedef struct gather {
    uint64_t digits;
    uint32_t count;   /* significant digits in `digits` */
    uint64_t dropped; /* digits after those */
    bool cut;         /* one of them was not 0 */
    uint8_t first_dropped;
} gather;

static inline void gather_digit(gather *g, uint8_t digit)
{
    if (g->count < 19) {
        g->digits = g->digits * 10 + digit;
        g->count += g->digits != 0;
    } else {
        g->first_dropped = g->dropped == 0 ? digit : g->first_dropped;
        g->dropped++;
        g->cut |= digit != 0;
    }
}

/* The value of eight digits, if there are eight: three multiplications of parts of one word. */
static inline bool eight_digits(const uint8_t *text, uint64_t *value)
{
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    const uint64_t pairs_of = UINT64_C(0x000000ff000000ff);
    uint64_t word;
    memcpy(&word, text, sizeof word);
    word ^= UINT64_C(0x3030303030303030); /* digits become 0 to 9 */
    if (((word + UINT64_C(0x7676767676767676)) | word) & UINT64_C(0x8080808080808080)) {
        return false;
    }
    word = word * 10 + (word >> 8); /* pairs of digits in every other byte */
    *value =
        ((word & pairs_of) * UINT64_C(0x000f424000000064) + (word >> 16 & pairs_of) * UINT64_C(0x0000271000000001)) >>
        32;
    return true;
#else
    (void)text, (void)value;
    return false;
#endif
}

/* Parses the digits from `p` on. @return the position after them. */
static inline const uint8_t *gather_digits(gather *g, const uint8_t *p, const uint8_t *end)
{
    uint64_t eight;
    while (end - p >= 8 && g->count <= 11 && (g->digits != 0 || *p != '0') && eight_digits(p, &eight)) {
        g->digits = g->digits * 100000000 + eight;
        g->count += 8;
        p += 8;
    }
    for (; p < end && is_digit(*p); p++) {
        gather_digit(g, (uint8_t)(*p - '0'));
    }
    return p;
}

/* Parses the exponent after `e`. @return NULL with `*stop` set: invalid, or at the end. */
static const uint8_t *scan_exponent(const uint8_t *p, const uint8_t *end, int32_t *exponent, const uint8_t **stop)
{
    bool minus = p < end && *p == '-';
    int32_t value = 0;
    p += minus || (p < end && *p == '+');
    if (p == end || !is_digit(*p)) {
        *stop = p;
        return NULL;
    }
    for (; p < end && is_digit(*p); p++) {
        value = value < EXPONENT_MOST ? value * 10 + (*p - '0') : EXPONENT_MOST;
    }
    *exponent = minus ? -value : value;
    return p;
}

/* An integer of 20 digits may still fit; one of more does not. */
static bool fits(gather *g)
{
    uint64_t whole;
    if (g->dropped != 1 || __builtin_mul_overflow(g->digits, 10u, &whole) ||
        __builtin_add_overflow(whole, (uint64_t)g->first_dropped, &whole)) {
        return g->dropped == 0;
    }
    g->digits = whole;
    g->dropped = 0;
    return true;
}

int lr_decimal_scan(const uint8_t *text, const uint8_t *end, lr_decimal *decimal)
{
    const uint8_t *p = text;
    gather g = {0};
    uint64_t whole_dropped, fraction = 0;
    int32_t exponent = 0;
    bool real = false;
    decimal->negative = *p == '-';
    p += decimal->negative;
    if (p == end || !is_digit(*p)) {
        goto stopped;
    }
    if (*p == '0') { /* alone: no leading zeros */
        p++;
    } else {
        p = gather_digits(&g, p, end);
    }
    whole_dropped = g.dropped;
    if (p < end && *p == '.') {
        const uint8_t *first = ++p;
        p = gather_digits(&g, p, end);
        if (p == first) {
            goto stopped;
        }
        fraction = (uint64_t)(p - first) - (g.dropped - whole_dropped);
        real = true;
    }
    if (p < end && (*p == 'e' || *p == 'E')) {
        const uint8_t *stop = NULL;
        p = scan_exponent(p + 1, end, &exponent, &stop);
        if (!p) {
            p = stop;
            goto stopped;
        }
        real = true;
    }
    if (!real) {
        real = !fits(&g) || (decimal->negative && g.digits > (uint64_t)INT64_MAX + 1);
        whole_dropped = g.dropped;
    }
    decimal->end = p;
    decimal->digits = g.digits;
    decimal->cut = g.cut && g.dropped > 0;
    decimal->real = real || (decimal->negative && g.digits == 0); /* only a float has a -0 */
    decimal->exponent = exponent;
    /* As many digits as that do not occur: the longest number is far shorter. */
    if (whole_dropped < EXPONENT_MOST && fraction < EXPONENT_MOST) {
        decimal->exponent += (int32_t)whole_dropped - (int32_t)fraction;
    }
    return p == end ? LR_SCAN_MORE : LR_SCAN_DONE;
stopped:
    decimal->end = p;
    return p == end ? LR_SCAN_MORE : LR_SCAN_BAD;
}

/* ----------------------------------------------------------------------------------------------------- reading -- */

/* Powers that doubles hold exactly: with digits that they hold exactly, too, one operation rounds once. */
static const double exact_powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                      1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/* Powers are stored rounded up. The method below needs them truncated, except for small negative ones where the
 * quotient may be exact. */
static lr_power power_for_reading(int32_t exponent)
{
    lr_power power = lr_power_of_ten(exponent);
    power.low -= exponent > 55 || exponent < -27;
    return power;
}

/* Bits of the double nearest to digits · 10^exponent, of which nothing was cut. @return false: it cannot tell. */
static bool nearest(uint64_t digits, int32_t exponent, uint64_t *bits)
{
    uint64_t high, low;
    if (digits == 0 || exponent < LR_POWER_LEAST) {
        *bits = 0;
        return true;
    }
    if (exponent > 308) {
        *bits = UINT64_C(0x7ff) << 52;
        return true;
    }
    lr_power power = power_for_reading(exponent);
    int lead = __builtin_clzll(digits);
    digits <<= lead;
    high = lr_multiply(digits, power.high, &low);
    if ((high & 0x1ff) == 0x1ff) { /* the bits that decide may still be carried into */
        uint64_t unused, more = lr_multiply(digits, power.low, &unused);
        low += more;
        high += low < more;
        if (low == UINT64_MAX && (exponent < -27 || exponent > 55)) {
            return false;
        }
    }
    int top = (int)(high >> 63);
    int drop = top + 64 - 52 - 3;
    uint64_t mantissa = high >> drop;
    /* floor(log2(10^exponent)), biased */
    int32_t binary = (int32_t)(((152170 + 65536) * (int64_t)exponent) >> 16) + 63 + top - lead + 1023;
    if (binary <= 0) { /* subnormal, or it rounds up into the normal ones */
        if (binary <= -63) {
            *bits = 0;
            return true;
        }
        mantissa >>= 1 - binary;
        mantissa = (mantissa + (mantissa & 1)) >> 1;
        *bits = mantissa; /* bit 52, if it is set, is the exponent 1 */
        return true;
    }
    /* Half-way between two doubles, which only these exponents can be, and above an even one: down. */
    if (low <= 1 && exponent >= -4 && exponent <= 23 && (mantissa & 3) == 1 && mantissa << drop == high) {
        mantissa &= ~UINT64_C(1);
    }
    mantissa = (mantissa + (mantissa & 1)) >> 1;
    if (mantissa >> 53) {
        mantissa >>= 1;
        binary++;
    }
    *bits = binary >= 0x7ff ? UINT64_C(0x7ff) << 52 : (mantissa & ((UINT64_C(1) << 52) - 1)) | (uint64_t)binary << 52;
    return true;
}

/* The C library's own, in a locale whose decimal point is known. */
static int32_t read_slowly(lr_float_reader *reader, const uint8_t *text, uint64_t length, double *value)
{
    char copy[LR_NUMBER_MOST + 1];
    if (!reader->c) {
        reader->c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
        if (!reader->c) {
            return REC_E_MEMORY;
        }
    }
    memcpy(copy, text, (size_t)length);
    copy[length] = '\0';
    *value = strtod_l(copy, NULL, reader->c);
    return REC_OK;
}

int32_t lr_float_read(lr_float_reader *reader, const lr_decimal *decimal, const uint8_t *text, uint64_t length,
                      double *value)
{
    uint64_t digits = decimal->digits, bits, above;
    int32_t exponent = decimal->exponent, status = REC_OK;
    if (FLT_EVAL_METHOD == 0 && !decimal->cut && digits >> 53 == 0 && exponent >= -22 && exponent <= 22) {
        double number = (double)digits;
        number = exponent < 0 ? number / exact_powers[-exponent] : number * exact_powers[exponent];
        *value = decimal->negative ? -number : number;
        return REC_OK;
    }
    if (nearest(digits, exponent, &bits) &&
        (!decimal->cut || (nearest(digits + 1, exponent, &above) && above == bits))) {
        bits |= (uint64_t)decimal->negative << 63;
        memcpy(value, &bits, sizeof bits);
    } else {
        status = read_slowly(reader, text, length, value);
    }
    return status == REC_OK && isinf(*value) ? REC_E_RANGE : status;
}

void lr_float_reader_free(lr_float_reader *reader)
{
    if (reader->c) {
        freelocale(reader->c);
        reader->c = (locale_t)0;
    }
}

/* ----------------------------------------------------------------------------------------------------- writing -- */

static const char pairs[] =
    "00010203040506070809101112131415161718192021222324252627282930313233343536373839404142434445"
    "46474849505152535455565758596061626364656667686970717273747576777879808182838485868788899091"
    "9293949596979899";

uint32_t lr_uint_write(char *text, uint64_t value)
{
    char digits[20];
    uint32_t at = sizeof digits;
    while (value >= 100) {
        at -= 2;
        memcpy(digits + at, pairs + value % 100 * 2, 2);
        value /= 100;
    }
    if (value >= 10) {
        at -= 2;
        memcpy(digits + at, pairs + value * 2, 2);
    } else {
        digits[--at] = (char)('0' + value);
    }
    memcpy(text, digits + at, sizeof digits - at);
    return (uint32_t)sizeof digits - at;
}

uint32_t lr_int_write(char *text, int64_t value)
{
    if (value >= 0) {
        return lr_uint_write(text, (uint64_t)value);
    }
    *text = '-';
    return 1 + lr_uint_write(text + 1, 0 - (uint64_t)value);
}

/* In serde_json's form: plain if the exponent of the first digit is within [least, most], else scientific. */
static uint32_t write_decimal(char *text, bool negative, uint64_t digits, int32_t exponent, int32_t least, int32_t most)
{
    char number[20], *to = text;
    while (digits % 10 == 0) {
        digits /= 10;
        exponent++;
    }
    int32_t length = (int32_t)lr_uint_write(number, digits);
    int32_t first = exponent + length - 1;
    if (negative) {
        *to++ = '-';
    }
    if (first < least || first > most) {
        *to++ = number[0];
        if (length > 1) {
            *to++ = '.';
            memcpy(to, number + 1, (size_t)length - 1);
            to += length - 1;
        }
        *to++ = 'e';
        *to++ = first < 0 ? '-' : '+';
        to += lr_uint_write(to, (uint64_t)(first < 0 ? -first : first));
    } else if (first < 0) { /* 0.00123 */
        memcpy(to, "0.00000000", 10);
        to += 1 - first;
        memcpy(to, number, (size_t)length);
        to += length;
    } else {
        int32_t whole = length < first + 1 ? length : first + 1;
        memcpy(to, number, (size_t)whole);
        to += whole;
        for (; whole <= first; whole++) {
            *to++ = '0';
        }
        *to++ = '.';
        if (length > first + 1) {
            memcpy(to, number + first + 1, (size_t)(length - first - 1));
            to += length - first - 1;
        } else {
            *to++ = '0';
        }
    }
    return (uint32_t)(to - text);
}

static uint32_t write_special(char *text, bool negative, bool zero)
{
    const char *words = !zero ? "null" : negative ? "-0.0" : "0.0";
    size_t length = strlen(words);
    memcpy(text, words, length);
    return (uint32_t)length;
}

/* @param bits of a float with so many bits of fraction and exponent. @param least,most as for write_decimal(). */
static inline uint32_t write_float(char *text, uint64_t bits, int fractions, int exponents, int32_t least, int32_t most)
{
    int32_t top = (1 << exponents) - 1, exponent = (int32_t)(bits >> fractions) & top, power;
    uint64_t one = UINT64_C(1) << fractions, fraction = bits & (one - 1);
    bool negative = bits >> (fractions + exponents) & 1;
    if (exponent == top || (exponent == 0 && fraction == 0)) {
        return write_special(text, negative, exponent == 0);
    }
    uint64_t c = exponent ? fraction | one : fraction;
    uint64_t digits = lr_shortest(c, (exponent ? exponent : 1) - top / 2 - fractions, c % 2 == 0,
                                  fraction == 0 && exponent > 1, &power);
    return write_decimal(text, negative, digits, power, least, most);
}

uint32_t lr_float_write(char *text, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return write_float(text, bits, 52, 11, -5, 15);
}

uint32_t lr_float32_write(char *text, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return write_float(text, bits, 23, 8, -6, 12);
}
