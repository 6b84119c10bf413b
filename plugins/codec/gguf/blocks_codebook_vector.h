/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Decoding blocks of 256 numbers that a codebook holds, four or eight by one index; included by blocks_vector.h, whose
 * names it uses. No include guard. IQ2 and IQ3 store their magnitudes and keep a bit of sign for each; IQ1 stores -1, 0
 * and 1, which are moved by an eighth up or down. Parts of 16 or 32 numbers have a scale. Scales are products of small
 * integers and an f16, and the moves are eighths: both are exact, in whatever order they are multiplied. */

/* The 16 codes of two bits, from bottom to top, as values of `table`: of one code in its first four places, of one
 * shifted up by two bits in places 0, 4, 8 and 12. */
INLINE bytes NAME(of_two_bits)(bytes table, uint32_t codes)
{
    const bytes which = {0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3};
    const bytes low = {3, 12, 0, 0, 3, 12, 0, 0, 3, 12, 0, 0, 3, 12, 0, 0};
    const bytes high = {0, 0, 3, 12, 0, 0, 3, 12, 0, 0, 3, 12, 0, 0, 3, 12};
    bytes spread = NAME(look_up)(four_words(codes, 0, 0, 0), which);
    return NAME(look_up)(table, (spread & low) | ((bytes)((words)spread >> 4) & high));
}

/* 16 numbers of four bits, from bottom to top. */
INLINE bytes NAME(nibbles)(uint64_t packed)
{
    const bytes which = {0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7};
    const bytes low = {15, 0, 15, 0, 15, 0, 15, 0, 15, 0, 15, 0, 15, 0, 15, 0};
    bytes spread = NAME(look_up)(four_words((uint32_t)packed, (uint32_t)(packed >> 32), 0, 0), which);
    return (spread & low) | ((bytes)((words)spread >> 4) & ~low & 15);
}

/* Negates those of 16 numbers whose bit is set. */
INLINE bytes NAME(negate)(bytes q, uint32_t signs)
{
    const bytes which = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1};
    bytes set = NAME(set)(four_words(signs, 0, 0, 0), which);
    return (q ^ set) - set;
}

/* The scales of 16 parts: twice four bits and one, times an f16 and an eighth. */
INLINE void NAME(steps)(float *step, const uint8_t *d, const uint8_t *scales)
{
    bytes s = NAME(nibbles)(lr_gguf_u64(scales));
    NAME(put)(step, s + s + 1, half(d) * 0.125f);
}

TARGET static void NAME(iq1_s)(const uint8_t *b, uint64_t count, float *y)
{
    const bytes table = load(lr_gguf_eighths);
    for (; count; count--, b += 50) {
        float d = half(b) * 0.125f;
        for (int part = 0; part < 8; part++, y += 32) {
            const uint8_t *low = b + 2 + part * 4;
            uint32_t high = word(b + 34 + 2 * part);
            float step = d * (float)(2 * (high >> 12 & 7) + 1);
            bytes move = load(lr_gguf_moves[high >> 15 ? 3 : 0]);
            uint32_t p = two(lr_gguf_book_iq1, low[0] | (high & 7) << 8, low[1] | (high & 0x38) << 5);
            uint32_t q = two(lr_gguf_book_iq1, low[2] | (high & 0x1c0) << 2, low[3] | (high & 0xe00) >> 1);
            NAME(put)(y, NAME(of_two_bits)(table, p) + move, step);
            NAME(put)(y + 16, NAME(of_two_bits)(table, q) + move, step);
        }
    }
}

TARGET static void NAME(iq1_m)(const uint8_t *b, uint64_t count, float *y)
{
    const bytes table = load(lr_gguf_eighths);
    for (; count; count--, b += 56) {
        uint32_t bits = iq1_m_half(b + 48);
        const uint8_t scale_of_all[2] = {(uint8_t)bits, (uint8_t)(bits >> 8)};
        float d = half(scale_of_all) * 0.125f;
        for (int part = 0; part < 16; part++, y += 16) {
            uint32_t high = b[32 + part], scale = word(b + 48 + part / 4 * 2) >> part % 4 * 3 & 7;
            bytes move = load(lr_gguf_moves[(high >> 3 & 1) | (high >> 6 & 2)]);
            uint32_t p = two(lr_gguf_book_iq1, b[2 * part] | (high & 7) << 8, b[2 * part + 1] | (high & 0x70) << 4);
            NAME(put)(y, NAME(of_two_bits)(table, p) + move, d * (float)(2 * scale + 1));
        }
    }
}

TARGET static void NAME(iq2_xxs)(const uint8_t *b, uint64_t count, float *y)
{
    const bytes table = load(lr_gguf_two_bits);
    for (; count; count--, b += 66) {
        float d = half(b) * 0.125f;
        for (int part = 0; part < 8; part++, y += 32) {
            const uint8_t *from = b + 2 + part * 8;
            uint32_t packed = lr_gguf_u32(from + 4), signs = even(sevens(packed));
            uint32_t p = two(lr_gguf_book_iq2_xxs, from[0], from[1]), q = two(lr_gguf_book_iq2_xxs, from[2], from[3]);
            float step = d * (float)(2 * (packed >> 28) + 1);
            NAME(put)(y, NAME(negate)(NAME(of_two_bits)(table, p), signs), step);
            NAME(put)(y + 16, NAME(negate)(NAME(of_two_bits)(table, q), signs >> 16), step);
        }
    }
}

TARGET static void NAME(iq2_xs)(const uint8_t *b, uint64_t count, float *y)
{
    const bytes table = load(lr_gguf_two_bits);
    for (; count; count--, b += 74) {
        float step[16];
        NAME(steps)(step, b, b + 66);
        for (int part = 0; part < 16; part++, y += 16) {
            uint32_t packed = lr_gguf_u32(b + 2 + 4 * part);
            uint32_t signs = even((packed >> 9 & 0x7f) | (packed >> 17 & 0x7f00));
            uint32_t p = two(lr_gguf_book_iq2_xs, packed & 511, packed >> 16 & 511);
            NAME(put)(y, NAME(negate)(NAME(of_two_bits)(table, p), signs), step[part]);
        }
    }
}

TARGET static void NAME(iq2_s)(const uint8_t *b, uint64_t count, float *y)
{
    const bytes table = load(lr_gguf_two_bits);
    for (; count; count--, b += 82) {
        float step[16];
        NAME(steps)(step, b, b + 74);
        for (int part = 0; part < 16; part++, y += 16) {
            uint32_t high = (uint32_t)b[66 + part / 2] >> part % 2 * 4;
            uint32_t p = two(lr_gguf_book_iq2_s, b[2 + 2 * part] | (high & 3) << 8, b[3 + 2 * part] | (high & 12) << 6);
            bytes numbers = NAME(negate)(NAME(of_two_bits)(table, p), word(b + 34 + 2 * part));
            NAME(put)(y, numbers, step[part]);
        }
    }
}

TARGET static void NAME(iq3_xxs)(const uint8_t *b, uint64_t count, float *y)
{
    const bytes table = load(lr_gguf_three_bits);
    for (; count; count--, b += 98) {
        float d = half(b) * 0.25f;
        for (int part = 0; part < 8; part++) {
            uint32_t packed = lr_gguf_u32(b + 66 + part * 4), signs = even(sevens(packed));
            float step = d * (float)(2 * (packed >> 28) + 1);
            for (int side = 0; side < 2; side++, y += 16) {
                const uint8_t *from = b + 2 + part * 8 + side * 4;
                uint64_t low = two(lr_gguf_book_iq3_xxs, from[0], from[1]);
                uint64_t codes = low | (uint64_t)two(lr_gguf_book_iq3_xxs, from[2], from[3]) << 32;
                NAME(put)(y, NAME(negate)(NAME(look_up)(table, NAME(nibbles)(codes)), signs >> side * 16), step);
            }
        }
    }
}

TARGET static void NAME(iq3_s)(const uint8_t *b, uint64_t count, float *y)
{
    for (; count; count--, b += 110) {
        float step[16];
        bytes scales = NAME(nibbles)(lr_gguf_u32(b + 106));
        NAME(put)(step, scales + scales + 1, half(b));
        for (int part = 0; part < 16; part++, y += 16) {
            const uint8_t *from = b + 2 + part * 4;
            uint32_t high = (uint32_t)b[66 + part / 2] << (part % 2 ? 4 : 8);
            uint64_t p = two(lr_gguf_book_iq3_s, from[0] | (high & 256), from[1] | (high >> 1 & 256));
            uint64_t r = two(lr_gguf_book_iq3_s, from[2] | (high >> 2 & 256), from[3] | (high >> 3 & 256));
            bytes q = NAME(nibbles)(p | r << 32);
            NAME(put)(y, NAME(negate)(q + q + 1, word(b + 74 + 2 * part)), step[part / 2]);
        }
    }
}
