/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Lists of bytes on aarch64, 64 bytes of text at a time, as on x86-64. Equal to the plain version;
 * tests/codec/test_json_number.c compares them. */
#include "plugins/codec/json/bytes_block.h"

#include <stddef.h>

#ifdef LR_BYTES_HAS_NEON

#include <arm_neon.h>

enum { VECTORS = 4, AHEAD = 2048 /* text that is fetched ahead of its use */ };

/* A bit for each byte of 64, all or none of whose bits are set. */
static inline uint64_t mask(const uint8x16_t v[VECTORS])
{
    const uint8x16_t bits = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    uint8x16_t low = vpaddq_u8(vandq_u8(v[0], bits), vandq_u8(v[1], bits));
    uint8x16_t high = vpaddq_u8(vandq_u8(v[2], bits), vandq_u8(v[3], bits));
    low = vpaddq_u8(low, high);
    return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(low, low)), 0);
}

/* What the bytes of a vector are, all bits each, and the numbers that end before them. */
typedef struct part {
    uint8x16_t digit, zero, comma, space, overflow, sum;
} part;

/* @param d the digits of 16 bytes, 0xff for other characters. @param before those of the 16 bytes before. */
static inline part take(uint8x16_t text, uint8x16_t before, uint8x16_t d)
{
    const uint8x16_t nine = vdupq_n_u8(9);
    uint8x16_t ones = vextq_u8(before, d, 15), tens = vextq_u8(before, d, 14), hundreds = vextq_u8(before, d, 13);
    part p = {.digit = vcleq_u8(d, nine),
              .zero = vceqq_u8(text, vdupq_n_u8('0')),
              .comma = vceqq_u8(text, vdupq_n_u8(',')),
              .space = vorrq_u8(vorrq_u8(vceqq_u8(text, vdupq_n_u8(' ')), vceqq_u8(text, vdupq_n_u8('\n'))),
                                vorrq_u8(vceqq_u8(text, vdupq_n_u8('\r')), vceqq_u8(text, vdupq_n_u8('\t'))))};
    /* Other digits count as 0: hundreds without a digit after them belong to the number before. */
    hundreds = vandq_u8(hundreds, vandq_u8(vcleq_u8(hundreds, nine), vcleq_u8(tens, nine)));
    tens = vandq_u8(tens, vcleq_u8(tens, nine));
    uint8x16_t rest = vmlaq_u8(ones, tens, vdupq_n_u8(10)), high = vmulq_u8(hundreds, vdupq_n_u8(100));
    p.sum = vaddq_u8(rest, high);
    p.overflow = vorrq_u8(vcgtq_u8(hundreds, vdupq_n_u8(2)), vcltq_u8(p.sum, high));
    return p;
}

static uint64_t scan_neon(const uint8_t **text, const uint8_t *end, uint8_t *out, uint64_t room)
{
    const uint8_t *last = *text;
    uint8x16_t before = vdupq_n_u8(0xff);
    carry c = {.free = 1};
    uint64_t count = 0;
    bool stop = false;
    for (const uint8_t *p = last; !stop && end - p >= 64 && room - count >= 64; p += 64) {
        uint8x16_t digits[VECTORS], zeros[VECTORS], commas[VECTORS], spaces[VECTORS], overflows[VECTORS];
        uint8_t numbers[64];
        uint64_t left;
        block b;
        __builtin_prefetch(p + AHEAD);
        for (int i = 0; i < VECTORS; i++) {
            uint8x16_t t = vld1q_u8(p + 16 * i), d = vsubq_u8(t, vdupq_n_u8('0'));
            part found;
            d = vorrq_u8(d, vcgtq_u8(d, vdupq_n_u8(9)));
            found = take(t, before, d);
            digits[i] = found.digit;
            zeros[i] = found.zero;
            commas[i] = found.comma;
            spaces[i] = found.space;
            overflows[i] = found.overflow;
            vst1q_u8(numbers + 16 * i, found.sum);
            before = d;
        }
        b = (block){.digits = mask(digits),
                    .commas = mask(commas),
                    .spaces = mask(spaces),
                    .zeros = mask(zeros),
                    .overflow = mask(overflows)};
        left = complete(&b, 64, &c, &stop);
        last = left ? p + 64 - __builtin_clzll(left) : last;
        for (; left; left &= left - 1) {
            out[count++] = numbers[__builtin_ctzll(left)];
        }
    }
    *text = last;
    return count;
}

lr_bytes_scan *lr_bytes_scan_choice(unsigned index)
{
    return index == 0 ? scan_neon : index == 1 ? lr_bytes_scan_plain : NULL;
}

#endif
