/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Decoding blocks of quantised numbers with vectors. No include guard: blocks.c includes this once for each level of
 * instructions. A block of 32 has its own scale and perhaps a minimum; a block of 256 has eight or sixteen parts whose
 * scales are small integers times the block's. Integers are unpacked 16 at a time. The including file defines
 *
 * TARGET, INLINE   how the functions begin
 * NAME(x)          the name of a function at this level
 * NAME(put)        (y, q, d)      y[i] = q[i] * d for 16 signed bytes
 * NAME(put_plus)   (y, q, d, m)   the same + m, rounded twice
 * NAME(look_up)    (table, q)     table[q[i]], q[i] from 0 to 15 */

/* ------------------------------------------------------------------------------------------------ blocks of 32 -- */

INLINE bytes NAME(high_four)(bytes q)
{
    return (bytes)((words)q >> 4) & 15;
}

TARGET static void NAME(q4_0)(const uint8_t *b, uint64_t count, float *y)
{
    for (; count; count--, b += 18, y += 32) {
        float d = half(b);
        bytes q = load(b + 2);
        NAME(put)(y, (q & 15) - 8, d);
        NAME(put)(y + 16, NAME(high_four)(q) - 8, d);
    }
}

TARGET static void NAME(q4_1)(const uint8_t *b, uint64_t count, float *y)
{
    for (; count; count--, b += 20, y += 32) {
        float d = half(b), m = half(b + 2);
        bytes q = load(b + 4);
        NAME(put_plus)(y, q & 15, d, m);
        NAME(put_plus)(y + 16, NAME(high_four)(q), d, m);
    }
}

/* All bits where one of 16 bits is set; `which` has the numbers of the two bytes of `from` that hold them. */
INLINE bytes NAME(set)(bytes from, bytes which)
{
    const bytes bit = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    return (bytes)((NAME(look_up)(from, which) & bit) == bit);
}

INLINE bytes NAME(fifth)(bytes from, bytes which)
{
    return NAME(set)(from, which) & 16;
}

TARGET static void NAME(q5_0)(const uint8_t *b, uint64_t count, float *y)
{
    const bytes first = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1};
    for (; count; count--, b += 22, y += 32) {
        float d = half(b);
        bytes high = load(b + 2), q = load(b + 6);
        NAME(put)(y, ((q & 15) | NAME(fifth)(high, first)) - 16, d);
        NAME(put)(y + 16, (NAME(high_four)(q) | NAME(fifth)(high, first + 2)) - 16, d);
    }
}

TARGET static void NAME(q5_1)(const uint8_t *b, uint64_t count, float *y)
{
    const bytes first = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1};
    for (; count; count--, b += 24, y += 32) {
        float d = half(b), m = half(b + 2);
        bytes high = load(b + 4), q = load(b + 8);
        NAME(put_plus)(y, (q & 15) | NAME(fifth)(high, first), d, m);
        NAME(put_plus)(y + 16, NAME(high_four)(q) | NAME(fifth)(high, first + 2), d, m);
    }
}

TARGET static void NAME(q8_0)(const uint8_t *b, uint64_t count, float *y)
{
    for (; count; count--, b += 34, y += 32) {
        float d = half(b);
        NAME(put)(y, load(b + 2), d);
        NAME(put)(y + 16, load(b + 18), d);
    }
}

TARGET static void NAME(iq4_nl)(const uint8_t *b, uint64_t count, float *y)
{
    const bytes table = load(lr_gguf_uneven);
    for (; count; count--, b += 18, y += 32) {
        float d = half(b);
        bytes q = load(b + 2);
        NAME(put)(y, NAME(look_up)(table, q & 15), d);
        NAME(put)(y + 16, NAME(look_up)(table, NAME(high_four)(q)), d);
    }
}

TARGET static void NAME(mxfp4)(const uint8_t *b, uint64_t count, float *y)
{
    const bytes table = load(lr_gguf_doubled);
    for (; count; count--, b += 17, y += 32) {
        float d = lr_gguf_mxfp4_scale(b[0]);
        bytes q = load(b + 1);
        NAME(put)(y, NAME(look_up)(table, q & 15), d);
        NAME(put)(y + 16, NAME(look_up)(table, NAME(high_four)(q)), d);
    }
}

/* ----------------------------------------------------------------------------------------------- blocks of 256 -- */

/* In what follows the bits of one part after the other come to the bottom of their bytes; those of neighbours that come
 * to the top are masked away. */
INLINE bytes NAME(down)(bytes q, int bits)
{
    return (bytes)((words)q >> bits);
}

TARGET static void NAME(q2_k)(const uint8_t *b, uint64_t count, float *y)
{
    for (; count; count--, b += 84) {
        float scale[16], least[16];
        bytes packed = load(b);
        NAME(put)(scale, packed & 15, half(b + 80));
        NAME(put)(least, NAME(high_four)(packed), half(b + 82));
        for (int half = 0; half < 2; half++) {
            bytes p = load(b + 16 + half * 32), q = load(b + 32 + half * 32);
            for (int part = half * 8; part < half * 8 + 8; part += 2, y += 32) {
                NAME(put_plus)(y, p & 3, scale[part], -least[part]);
                NAME(put_plus)(y + 16, q & 3, scale[part + 1], -least[part + 1]);
                p = NAME(down)(p, 2);
                q = NAME(down)(q, 2);
            }
        }
    }
}

TARGET static void NAME(q3_k)(const uint8_t *b, uint64_t count, float *y)
{
    for (; count; count--, b += 110) {
        float step[16];
        uint32_t s = lr_gguf_u32(b + 96), t = lr_gguf_u32(b + 100), high = lr_gguf_u32(b + 104);
        bytes scales =
            four_words((s & LOW_4) | (high & LOW_2) << 4, (t & LOW_4) | (high >> 2 & LOW_2) << 4,
                       (s >> 4 & LOW_4) | (high >> 4 & LOW_2) << 4, (t >> 4 & LOW_4) | (high >> 6 & LOW_2) << 4);
        bytes g = load(b), h = load(b + 16);
        NAME(put)(step, scales - 32, half(b + 108));
        for (int half = 0; half < 2; half++) {
            bytes p = load(b + 32 + half * 32), q = load(b + 48 + half * 32);
            for (int part = half * 8; part < half * 8 + 8; part += 2, y += 32) {
                NAME(put)(y, ((p & 3) | (bytes)((words)(g & 1) << 2)) - 4, step[part]);
                NAME(put)(y + 16, ((q & 3) | (bytes)((words)(h & 1) << 2)) - 4, step[part + 1]);
                p = NAME(down)(p, 2);
                q = NAME(down)(q, 2);
                g = NAME(down)(g, 1);
                h = NAME(down)(h, 1);
            }
        }
    }
}

/* The eight scales and the eight minimums after them, packed in twelve bytes from `b` + 4 on, times those at `b`. */
INLINE void NAME(scales_and_leasts)(const uint8_t *b, float *scale, float *least)
{
    uint32_t p = lr_gguf_u32(b + 4), q = lr_gguf_u32(b + 8), r = lr_gguf_u32(b + 12);
    bytes six =
        four_words(p & LOW_6, (r & LOW_4) | (p >> 6 & LOW_2) << 4, q & LOW_6, (r >> 4 & LOW_4) | (q >> 6 & LOW_2) << 4);
    NAME(put)(scale, six, half(b));
    NAME(put)(least, six, half(b + 2));
}

/* @param five a fifth bit of each number is in the 32 bytes before the others. */
INLINE void NAME(of_k)(const uint8_t *b, uint64_t count, float *y, bool five)
{
    for (; count; count--, b += five ? 176 : 144) {
        const uint8_t *low = b + (five ? 48 : 16);
        float scale[16], least[16];
        bytes none = {0}, g = five ? load(b + 16) : none, h = five ? load(b + 32) : none;
        NAME(scales_and_leasts)(b, scale, least);
        for (int part = 0; part < 8; part += 2, y += 64) {
            bytes p = load(low + part * 16), q = load(low + 16 + part * 16);
            float d = scale[part], m = least[8 + part];
            NAME(put_plus)(y, (p & 15) | (bytes)((words)(g & 1) << 4), d, -m);
            NAME(put_plus)(y + 16, (q & 15) | (bytes)((words)(h & 1) << 4), d, -m);
            d = scale[part + 1];
            m = least[9 + part];
            NAME(put_plus)(y + 32, NAME(high_four)(p) | (bytes)((words)(g & 2) << 3), d, -m);
            NAME(put_plus)(y + 48, NAME(high_four)(q) | (bytes)((words)(h & 2) << 3), d, -m);
            g = NAME(down)(g, 2);
            h = NAME(down)(h, 2);
        }
    }
}

TARGET static void NAME(q4_k)(const uint8_t *b, uint64_t count, float *y)
{
    NAME(of_k)(b, count, y, false);
}

TARGET static void NAME(q5_k)(const uint8_t *b, uint64_t count, float *y)
{
    NAME(of_k)(b, count, y, true);
}

TARGET static void NAME(q6_k)(const uint8_t *b, uint64_t count, float *y)
{
    for (; count; count--, b += 210) {
        float step[16];
        NAME(put)(step, load(b + 192), half(b + 208));
        for (int side = 0; side < 2; side++, y += 128) {
            const uint8_t *low = b + side * 64;
            const float *s = step + side * 8;
            bytes g = load(b + 128 + side * 32), h = load(b + 144 + side * 32);
            for (int row = 0; row < 2; row++) {
                /* The low bits of this row, and of the one that is two further, whose high bits are four further. */
                bytes p = load(low + row * 32), q = load(low + row * 32 + 16);
                NAME(put)(y + row * 32, ((p & 15) | (bytes)((words)(g & 3) << 4)) - 32, s[row * 2]);
                NAME(put)(y + row * 32 + 16, ((q & 15) | (bytes)((words)(h & 3) << 4)) - 32, s[row * 2 + 1]);
                NAME(put)(y + row * 32 + 64, (NAME(high_four)(p) | (g & 48)) - 32, s[row * 2 + 4]);
                NAME(put)(y + row * 32 + 80, (NAME(high_four)(q) | (h & 48)) - 32, s[row * 2 + 5]);
                g = NAME(down)(g, 2);
                h = NAME(down)(h, 2);
            }
        }
    }
}

TARGET static void NAME(q8_k)(const uint8_t *b, uint64_t count, float *y)
{
    for (; count; count--, b += 292) {
        float d = single(lr_gguf_u32(b));
        for (int i = 0; i < 256; i += 16, y += 16)
            NAME(put)(y, load(b + 4 + i), d);
    }
}

TARGET static void NAME(iq4_xs)(const uint8_t *b, uint64_t count, float *y)
{
    const bytes table = load(lr_gguf_uneven);
    for (; count; count--, b += 136) {
        uint32_t high = (uint32_t)b[2] | (uint32_t)b[3] << 8;
        uint8_t scales[16] = {0};
        float step[16];
        for (int part = 0; part < 8; part++)
            scales[part] = (uint8_t)((b[4 + part / 2] >> part % 2 * 4 & 15) | (int)(high >> part * 2 & 3) << 4);
        NAME(put)(step, load(scales) - 32, half(b));
        for (int part = 0; part < 8; part++, y += 32) {
            float d = step[part];
            bytes q = load(b + 8 + part * 16);
            NAME(put)(y, NAME(look_up)(table, q & 15), d);
            NAME(put)(y + 16, NAME(look_up)(table, NAME(high_four)(q)), d);
        }
    }
}

TARGET static void NAME(tq2_0)(const uint8_t *b, uint64_t count, float *y)
{
    for (; count; count--, b += 66) {
        float d = half(b + 64);
        for (int half = 0; half < 2; half++) {
            bytes p = load(b + half * 32), q = load(b + half * 32 + 16);
            for (int part = 0; part < 4; part++, y += 32) {
                NAME(put)(y, (p & 3) - 1, d);
                NAME(put)(y + 16, (q & 3) - 1, d);
                p = NAME(down)(p, 2);
                q = NAME(down)(q, 2);
            }
        }
    }
}

/* The next digit of fractions in base three, less one. */
INLINE bytes NAME(digit)(bytes q)
{
    return 255 - (bytes)(q >= 86) - (bytes)(q >= 171);
}

TARGET static void NAME(tq1_0)(const uint8_t *b, uint64_t count, float *y)
{
    const bytes powers = {1, 1, 1, 1, 3, 3, 3, 3, 9, 9, 9, 9, 27, 27, 27, 27};
    for (; count; count--, b += 54) {
        float d = half(b + 52);
        bytes p = load(b), q = load(b + 16), r = load(b + 32);
        uint32_t last = lr_gguf_u32(b + 48);
        for (int i = 0; i < 5; i++, y += 32) {
            NAME(put)(y, NAME(digit)(p), d);
            NAME(put)(y + 16, NAME(digit)(q), d);
            p = p + p + p;
            q = q + q + q;
        }
        for (int i = 0; i < 5; i++, y += 16) {
            NAME(put)(y, NAME(digit)(r), d);
            r = r + r + r;
        }
        NAME(put)(y, NAME(digit)(four_words(last, last, last, last) * powers), d);
        y += 16;
    }
}

#include "plugins/codec/gguf/blocks_codebook_vector.h"

/* --------------------------------------------------------------------------------------- blocks of 64 and 128 -- */

TARGET static void NAME(nvfp4)(const uint8_t *b, uint64_t count, float *y)
{
    const bytes table = load(lr_gguf_doubled);
    for (; count; count--, b += 36) {
        for (int part = 0; part < 4; part += 2, y += 32) {
            bytes q = load(b + 4 + part * 8);
            pairs low = (pairs)NAME(look_up)(table, q & 15), high = (pairs)NAME(look_up)(table, NAME(high_four)(q));
            NAME(put)(y, (bytes)(pairs){low[0], high[0]}, lr_gguf_nvfp4_scale(b[part]));
            NAME(put)(y + 16, (bytes)(pairs){low[1], high[1]}, lr_gguf_nvfp4_scale(b[part + 1]));
        }
    }
}

TARGET static void NAME(q2_0)(const uint8_t *b, uint64_t count, float *y)
{
    const bytes table = load(lr_gguf_minus_one);
    for (; count; count--, b += 18) {
        float d = half(b);
        for (int i = 0; i < 16; i += 4, y += 16)
            NAME(put)(y, NAME(of_two_bits)(table, lr_gguf_u32(b + 2 + i)), d);
    }
}

TARGET static void NAME(q1_0)(const uint8_t *b, uint64_t count, float *y)
{
    bytes minus = (bytes){0} + 255;
    for (; count; count--, b += 18) {
        float d = half(b);
        for (int i = 0; i < 16; i += 2, y += 16)
            NAME(put)(y, NAME(negate)(minus, word(b + 2 + i)), d);
    }
}

static lr_gguf_decode *const NAME(versions)[LR_GGUF_KINDS] = {
#define ENTRY(kind, name) [LR_GGUF_##kind] = NAME(name),
    LR_GGUF_EACH(ENTRY)
#undef ENTRY
};
