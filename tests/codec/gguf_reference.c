/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The reference for the decoders of blocks: plain C, number by number, which defines the result. To be compiled without
 * contraction of a * b + c. */
#include "tests/codec/gguf_reference.h"

#include <stdbool.h>

#include "plugins/codec/gguf/blocks_private.h"

enum { SMALL = 32, PART = 16, LARGE = 256 };

/* ------------------------------------------------------------------------------------------------ blocks of 32 -- */

static void q4_0(const uint8_t *b, uint64_t count, float *y)
{
    for (; count; count--, b += 18, y += SMALL) {
        float d = half(b);
        for (int i = 0; i < PART; i++) {
            y[i] = (float)((b[2 + i] & 15) - 8) * d;
            y[i + PART] = (float)((b[2 + i] >> 4) - 8) * d;
        }
    }
}

static void q4_1(const uint8_t *b, uint64_t count, float *y)
{
    for (; count; count--, b += 20, y += SMALL) {
        float d = half(b), m = half(b + 2);
        for (int i = 0; i < PART; i++) {
            y[i] = (float)(b[4 + i] & 15) * d + m;
            y[i + PART] = (float)(b[4 + i] >> 4) * d + m;
        }
    }
}

/* The five bits of elements `i` and `i` + 16. */
static void five(const uint8_t *q, uint32_t high, int i, int *low_one, int *high_one)
{
    *low_one = (q[i] & 15) | (int)(high >> i << 4 & 16);
    *high_one = q[i] >> 4 | (int)(high >> (i + 12) & 16);
}

static void q5_0(const uint8_t *b, uint64_t count, float *y)
{
    for (; count; count--, b += 22, y += SMALL) {
        float d = half(b);
        uint32_t high = lr_gguf_u32(b + 2);
        for (int i = 0; i < PART; i++) {
            int one, other;
            five(b + 6, high, i, &one, &other);
            y[i] = (float)(one - 16) * d;
            y[i + PART] = (float)(other - 16) * d;
        }
    }
}

static void q5_1(const uint8_t *b, uint64_t count, float *y)
{
    for (; count; count--, b += 24, y += SMALL) {
        float d = half(b), m = half(b + 2);
        uint32_t high = lr_gguf_u32(b + 4);
        for (int i = 0; i < PART; i++) {
            int one, other;
            five(b + 8, high, i, &one, &other);
            y[i] = (float)one * d + m;
            y[i + PART] = (float)other * d + m;
        }
    }
}

static void q8_0(const uint8_t *b, uint64_t count, float *y)
{
    for (; count; count--, b += 34, y += SMALL) {
        float d = half(b);
        for (int i = 0; i < SMALL; i++) {
            y[i] = (float)(int8_t)b[2 + i] * d;
        }
    }
}

static void iq4_nl(const uint8_t *b, uint64_t count, float *y)
{
    for (; count; count--, b += 18, y += SMALL) {
        float d = half(b);
        for (int i = 0; i < PART; i++) {
            y[i] = d * (float)lr_gguf_uneven[b[2 + i] & 15];
            y[i + PART] = d * (float)lr_gguf_uneven[b[2 + i] >> 4];
        }
    }
}

static void mxfp4(const uint8_t *b, uint64_t count, float *y)
{
    for (; count; count--, b += 17, y += SMALL) {
        float d = lr_gguf_mxfp4_scale(b[0]);
        for (int i = 0; i < PART; i++) {
            y[i] = d * (float)lr_gguf_doubled[b[1 + i] & 15];
            y[i + PART] = d * (float)lr_gguf_doubled[b[1 + i] >> 4];
        }
    }
}

/* --------------------------------------------------------------------------------------- blocks of 64 and 128 -- */

static void nvfp4(const uint8_t *b, uint64_t count, float *y)
{
    for (; count; count--, b += 36) {
        for (int part = 0; part < 4; part++, y += PART) {
            const uint8_t *from = b + 4 + part * 8;
            float d = lr_gguf_nvfp4_scale(b[part]);
            for (int i = 0; i < 8; i++) {
                y[i] = d * (float)lr_gguf_doubled[from[i] & 15];
                y[i + 8] = d * (float)lr_gguf_doubled[from[i] >> 4];
            }
        }
    }
}

static void q2_0(const uint8_t *b, uint64_t count, float *y)
{
    for (; count; count--, b += 18, y += 64) {
        float d = half(b);
        for (int i = 0; i < 64; i++) {
            y[i] = (float)((b[2 + i / 4] >> i % 4 * 2 & 3) - 1) * d;
        }
    }
}

static void q1_0(const uint8_t *b, uint64_t count, float *y)
{
    for (; count; count--, b += 18, y += 128) {
        float d = half(b);
        for (int i = 0; i < 128; i++) {
            y[i] = b[2 + i / 8] >> i % 8 & 1 ? d : -d;
        }
    }
}

/* ----------------------------------------------------------------------------------------------- blocks of 256 -- */

static void q2_k(const uint8_t *b, uint64_t count, float *y)
{
    for (; count; count--, b += 84) {
        const uint8_t *scales = b, *q = b + 16;
        float d = half(b + 80), least = half(b + 82);
        for (int part = 0; part < 16; part++, y += PART) {
            /* Two parts of 16 share 32 bytes, at two bits each; after eight parts come the next 32. */
            const uint8_t *from = q + part / 8 * 32 + part % 2 * PART;
            int shift = part / 2 % 4 * 2;
            float scale = d * (float)(scales[part] & 15), m = least * (float)(scales[part] >> 4);
            for (int i = 0; i < PART; i++) {
                y[i] = scale * (float)(from[i] >> shift & 3) - m;
            }
        }
    }
}

static void q3_k(const uint8_t *b, uint64_t count, float *y)
{
    for (; count; count--, b += 110) {
        const uint8_t *high = b, *q = b + 32, *packed = b + 96;
        float d = half(b + 108);
        for (int part = 0; part < 16; part++, y += PART) {
            const uint8_t *from = q + part / 8 * 32 + part % 2 * PART, *bit = high + part % 2 * PART;
            int shift = part / 2 % 4 * 2, mask = 1 << part / 2;
            /* Six bits of scale: four in the first eight bytes, two in the last four. */
            int low = part < 8 ? packed[part] & 15 : packed[part - 8] >> 4;
            int scale = (low | (packed[8 + part % 4] >> part / 4 * 2 & 3) << 4) - 32;
            float step = d * (float)scale;
            for (int i = 0; i < PART; i++) {
                y[i] = step * (float)((from[i] >> shift & 3) - (bit[i] & mask ? 0 : 4));
            }
        }
    }
}

/* Part `part` of eight: its six bits of scale and of minimum, packed in twelve bytes. */
static void scale_and_least(const uint8_t *packed, int part, int *scale, int *least)
{
    if (part < 4) {
        *scale = packed[part] & 63;
        *least = packed[part + 4] & 63;
    } else {
        *scale = (packed[part + 4] & 15) | packed[part - 4] >> 6 << 4;
        *least = packed[part + 4] >> 4 | packed[part] >> 6 << 4;
    }
}

static void q4_k(const uint8_t *b, uint64_t count, float *y)
{
    for (; count; count--, b += 144) {
        float d = half(b), least = half(b + 2);
        for (int part = 0; part < 8; part++, y += SMALL) {
            const uint8_t *from = b + 16 + part / 2 * 32;
            int scale, m, shift = part % 2 * 4;
            float step, down;
            scale_and_least(b + 4, part, &scale, &m);
            step = d * (float)scale;
            down = least * (float)m;
            for (int i = 0; i < SMALL; i++) {
                y[i] = step * (float)(from[i] >> shift & 15) - down;
            }
        }
    }
}

static void q5_k(const uint8_t *b, uint64_t count, float *y)
{
    for (; count; count--, b += 176) {
        const uint8_t *high = b + 16;
        float d = half(b), least = half(b + 2);
        for (int part = 0; part < 8; part++, y += SMALL) {
            const uint8_t *from = b + 48 + part / 2 * 32;
            int scale, m, shift = part % 2 * 4;
            float step, down;
            scale_and_least(b + 4, part, &scale, &m);
            step = d * (float)scale;
            down = least * (float)m;
            for (int i = 0; i < SMALL; i++) {
                y[i] = step * (float)((from[i] >> shift & 15) | (high[i] >> part & 1) << 4) - down;
            }
        }
    }
}

static void q6_k(const uint8_t *b, uint64_t count, float *y)
{
    for (; count; count--, b += 210) {
        const uint8_t *scales = b + 192;
        float d = half(b + 208);
        for (int part = 0; part < 16; part++, y += PART) {
            /* 128 elements have 64 bytes of low bits, two elements a byte, and 32 of high bits, four a byte. */
            int side = part / 8, row = part % 8 / 2, column = part % 2 * PART;
            const uint8_t *low = b + side * 64 + row % 2 * 32 + column, *high = b + 128 + side * 32 + column;
            float step = d * (float)(int8_t)scales[part];
            for (int i = 0; i < PART; i++) {
                int q = (low[i] >> row / 2 * 4 & 15) | (high[i] >> row * 2 & 3) << 4;
                y[i] = step * (float)(q - 32);
            }
        }
    }
}

static void q8_k(const uint8_t *b, uint64_t count, float *y)
{
    for (; count; count--, b += 292, y += LARGE) {
        float d = single(lr_gguf_u32(b));
        for (int i = 0; i < LARGE; i++) {
            y[i] = d * (float)(int8_t)b[4 + i];
        }
    }
}

static void iq4_xs(const uint8_t *b, uint64_t count, float *y)
{
    for (; count; count--, b += 136) {
        float d = half(b);
        uint32_t high = (uint32_t)b[2] | (uint32_t)b[3] << 8;
        for (int part = 0; part < 8; part++, y += SMALL) {
            const uint8_t *from = b + 8 + part * PART;
            int scale = (b[4 + part / 2] >> part % 2 * 4 & 15) | (int)(high >> part * 2 & 3) << 4;
            float step = d * (float)(scale - 32);
            for (int i = 0; i < PART; i++) {
                y[i] = step * (float)lr_gguf_uneven[from[i] & 15];
                y[i + PART] = step * (float)lr_gguf_uneven[from[i] >> 4];
            }
        }
    }
}

static void tq2_0(const uint8_t *b, uint64_t count, float *y)
{
    for (; count; count--, b += 66) {
        float d = half(b + 64);
        for (int part = 0; part < 8; part++, y += SMALL) {
            const uint8_t *from = b + part / 4 * 32;
            for (int i = 0; i < SMALL; i++) {
                y[i] = (float)((from[i] >> part % 4 * 2 & 3) - 1) * d;
            }
        }
    }
}

/* Numbers of the first `digits` digits of each byte. A byte is a fraction of 256 in base three: times three, what goes
 * over is a digit. */
static void ternary(const uint8_t *from, int size, int digits, float d, float *y)
{
    for (int i = 0; i < size; i++) {
        uint32_t rest = from[i];
        for (int digit = 0; digit < digits; digit++) {
            rest = (rest & 255) * 3;
            y[digit * size + i] = (float)((int)(rest >> 8) - 1) * d;
        }
    }
}

static void tq1_0(const uint8_t *b, uint64_t count, float *y)
{
    for (; count; count--, b += 54, y += LARGE) {
        float d = half(b + 52);
        ternary(b, 32, 5, d, y);
        ternary(b + 32, 16, 5, d, y + 160);
        ternary(b + 48, 4, 4, d, y + 240);
    }
}

static const float two_bits[4] = {8, 25, 43};
static const float three_bits[8] = {4, 12, 20, 28, 36, 44, 52, 62}, odd[8] = {1, 3, 5, 7, 9, 11, 13, 15};

/* The four bits with this number. */
static int nibble(const uint8_t *data, int number)
{
    return data[number / 2] >> number % 2 * 4 & 15;
}

static void eight(float *y, float step, uint32_t codes, uint32_t signs)
{
    for (int i = 0; i < 8; i++) {
        float number = step * two_bits[codes >> 2 * i & 3];
        y[i] = signs >> i & 1 ? -number : number;
    }
}

static void four(float *y, float step, const float *values, uint32_t codes, uint32_t signs)
{
    for (int i = 0; i < 4; i++) {
        float number = step * values[codes >> 4 * i & 7];
        y[i] = signs >> i & 1 ? -number : number;
    }
}

static void eight_moved(float *y, float step, uint32_t codes, bool down)
{
    for (int i = 0; i < 8; i++) {
        y[i] = step * ((float)((int)(codes >> 2 * i & 3) - 1) + (down ? -0.125f : 0.125f));
    }
}

/* ---------------------------------------------------------------------------------------------------------- IQ1 -- */

static void iq1_s(const uint8_t *b, uint64_t count, float *y)
{
    for (; count; count--, b += 50) {
        float d = half(b);
        for (int part = 0; part < 8; part++) {
            uint32_t high = word(b + 34 + 2 * part);
            float step = d * (float)(2 * (high >> 12 & 7) + 1);
            for (int i = 0; i < 4; i++, y += 8) {
                uint32_t index = b[2 + part * 4 + i] | (high >> 3 * i & 7) << 8;
                eight_moved(y, step, lr_gguf_book_iq1[index], high >> 15);
            }
        }
    }
}

static void iq1_m(const uint8_t *b, uint64_t count, float *y)
{
    for (; count; count--, b += 56) {
        const uint8_t *scales = b + 48;
        uint32_t bits = iq1_m_half(scales);
        float d = half((const uint8_t[]){(uint8_t)bits, (uint8_t)(bits >> 8)});
        for (int part = 0; part < 16; part++) {
            float step = d * (float)(2 * (word(scales + part / 4 * 2) >> part % 4 * 3 & 7) + 1);
            for (int i = 2 * part; i < 2 * part + 2; i++, y += 8) {
                int high = nibble(b + 32, i);
                eight_moved(y, step, lr_gguf_book_iq1[b[i] | (high & 7) << 8], high & 8);
            }
        }
    }
}

/* ---------------------------------------------------------------------------------------------------------- IQ2 -- */

static void iq2_xxs(const uint8_t *b, uint64_t count, float *y)
{
    for (; count; count--, b += 66) {
        float d = half(b);
        for (int part = 0; part < 8; part++) {
            const uint8_t *from = b + 2 + part * 8;
            uint32_t packed = lr_gguf_u32(from + 4), signs = even(sevens(packed));
            float step = d * (0.5f + (float)(packed >> 28)) * 0.25f;
            for (int i = 0; i < 4; i++, y += 8) {
                eight(y, step, lr_gguf_book_iq2_xxs[from[i]], signs >> 8 * i);
            }
        }
    }
}

static void iq2_xs(const uint8_t *b, uint64_t count, float *y)
{
    for (; count; count--, b += 74) {
        float d = half(b);
        for (int part = 0; part < 16; part++) {
            float step = d * (0.5f + (float)nibble(b + 66, part)) * 0.25f;
            for (int i = 2 * part; i < 2 * part + 2; i++, y += 8) {
                uint32_t packed = word(b + 2 + 2 * i);
                eight(y, step, lr_gguf_book_iq2_xs[packed & 511], even(packed >> 9));
            }
        }
    }
}

static void iq2_s(const uint8_t *b, uint64_t count, float *y)
{
    for (; count; count--, b += 82) {
        const uint8_t *signs = b + 34, *high = b + 66;
        float d = half(b);
        for (int part = 0; part < 16; part++) {
            float step = d * (0.5f + (float)nibble(b + 74, part)) * 0.25f;
            for (int i = 2 * part; i < 2 * part + 2; i++, y += 8) {
                int index = b[2 + i] | (high[i / 4] >> i % 4 * 2 & 3) << 8;
                eight(y, step, lr_gguf_book_iq2_s[index], signs[i]);
            }
        }
    }
}

/* ---------------------------------------------------------------------------------------------------------- IQ3 -- */

static void iq3_xxs(const uint8_t *b, uint64_t count, float *y)
{
    for (; count; count--, b += 98) {
        float d = half(b);
        for (int part = 0; part < 8; part++) {
            const uint8_t *from = b + 2 + part * 8;
            uint32_t packed = lr_gguf_u32(b + 66 + part * 4), signs = even(sevens(packed));
            float step = d * (0.5f + (float)(packed >> 28)) * 0.5f;
            for (int i = 0; i < 8; i++, y += 4) {
                four(y, step, three_bits, lr_gguf_book_iq3_xxs[from[i]], signs >> 4 * i);
            }
        }
    }
}

static void iq3_s(const uint8_t *b, uint64_t count, float *y)
{
    for (; count; count--, b += 110) {
        const uint8_t *high = b + 66;
        float d = half(b);
        for (int part = 0; part < 8; part++) {
            const uint8_t *from = b + 2 + part * 8;
            uint32_t signs = lr_gguf_u32(b + 74 + part * 4);
            float step = d * (float)(1 + 2 * nibble(b + 106, part));
            for (int i = 0; i < 8; i++, y += 4) {
                int index = from[i] | (high[part] >> i & 1) << 8;
                four(y, step, odd, lr_gguf_book_iq3_s[index], signs >> 4 * i);
            }
        }
    }
}

/* ------------------------------------------------------------------------------------------------------ choice -- */

lr_gguf_decode *gguf_reference(int kind)
{
    static lr_gguf_decode *const decoders[LR_GGUF_KINDS] = {
#define ENTRY(kind, name) [LR_GGUF_##kind] = name,
        LR_GGUF_EACH(ENTRY)
#undef ENTRY
    };
    return decoders[kind];
}
