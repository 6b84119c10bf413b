/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Decoding blocks of 256 numbers that a codebook holds, four or eight by one index. IQ2 and IQ3 store their magnitudes
 * and keep a bit of sign for each; IQ1 stores -1, 0 and 1, which are moved by an eighth up or down. Parts of 16 or 32
 * numbers have a scale. To be compiled without contraction of a * b + c. */
#include "plugins/codec/gguf/blocks_private.h"

#include "plugins/codec/gguf/gguf.h"

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

void lr_gguf_iq1_s(const uint8_t *b, uint64_t count, float *y)
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

void lr_gguf_iq1_m(const uint8_t *b, uint64_t count, float *y)
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

void lr_gguf_iq2_xxs(const uint8_t *b, uint64_t count, float *y)
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

void lr_gguf_iq2_xs(const uint8_t *b, uint64_t count, float *y)
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

void lr_gguf_iq2_s(const uint8_t *b, uint64_t count, float *y)
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

void lr_gguf_iq3_xxs(const uint8_t *b, uint64_t count, float *y)
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

void lr_gguf_iq3_s(const uint8_t *b, uint64_t count, float *y)
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
