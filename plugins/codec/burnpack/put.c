/* SPDX-License-Identifier: MIT OR Apache-2.0
 * CBOR as ciborium writes it: the shortest form of all. */
#include <math.h>

#include "plugins/codec/burnpack/burnpack.h"

/* `width` bytes of a number, the first one first. */
static void put_head(lr_buffer *b, unsigned first, uint64_t value, unsigned width)
{
    uint8_t bytes[9] = {(uint8_t)first};
    for (unsigned i = 0; i < width; i++) {
        bytes[1 + i] = (uint8_t)(value >> (8 * (width - 1 - i)));
    }
    lr_put(b, bytes, 1 + (uint64_t)width);
}

void lr_cbor_put(lr_buffer *b, int kind, uint64_t value)
{
    unsigned major = (unsigned)kind << 5;
    if (value < 24) {
        put_head(b, major | (unsigned)value, 0, 0);
    } else if (value <= UINT8_MAX) {
        put_head(b, major | 24, value, 1);
    } else if (value <= UINT16_MAX) {
        put_head(b, major | 25, value, 2);
    } else if (value <= UINT32_MAX) {
        put_head(b, major | 26, value, 4);
    } else {
        put_head(b, major | 27, value, 8);
    }
}

void lr_cbor_put_text(lr_buffer *b, const char *text, uint64_t length)
{
    lr_cbor_put(b, LR_CBOR_TEXT, length);
    lr_put(b, text, length);
}

void lr_cbor_put_word(lr_buffer *b, const char *word)
{
    lr_cbor_put_text(b, word, strlen(word));
}

/* The 16 bits of a number that has as many. @return whether it has. */
static bool as_half(double number, uint16_t *bits)
{
    double size = fabs(number), fraction;
    int exponent;
    *bits = signbit(number) ? 0x8000 : 0;
    if (size == 0) {
        return true;
    }
    if (isinf(size)) {
        *bits |= 0x7c00;
        return true;
    }
    fraction = frexp(size, &exponent); /* from 0.5 to before 1 */
    if (exponent > 16) {
        return false;
    }
    if (exponent < -13) { /* without a leading 1 */
        fraction = ldexp(size, 24);
        *bits |= (uint16_t)fraction;
        return fraction == (double)(uint16_t)fraction;
    }
    fraction = ldexp(fraction, 11) - 1024;
    *bits |= (uint16_t)((unsigned)(exponent + 14) << 10 | (unsigned)fraction);
    return fraction == (double)(unsigned)fraction;
}

void lr_cbor_put_float(lr_buffer *b, double number)
{
    uint16_t bits16;
    uint32_t bits32;
    uint64_t bits64;
    float single = (float)number;
    if (isnan(number)) {
        put_head(b, 0xf9, 0x7e00, 2);
    } else if (as_half(number, &bits16)) {
        put_head(b, 0xf9, bits16, 2);
    } else if ((double)single == number) {
        memcpy(&bits32, &single, sizeof bits32);
        put_head(b, 0xfa, bits32, 4);
    } else {
        memcpy(&bits64, &number, sizeof bits64);
        put_head(b, 0xfb, bits64, 8);
    }
}

void lr_cbor_put_null(lr_buffer *b)
{
    put_head(b, 0xf6, 0, 0);
}

void lr_cbor_put_bool(lr_buffer *b, bool value)
{
    put_head(b, value ? 0xf5 : 0xf4, 0, 0);
}
