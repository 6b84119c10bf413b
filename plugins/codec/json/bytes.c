/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Lists of bytes, the bulk of a JSON record: the plain version, which defines the result, and one for vectors of AVX2
 * and NEON. tests/codec/test_json_number.c compares them. */
#include "plugins/codec/json/bytes_block.h"

#include <string.h>

#include "common/cpu.h"

enum { MARGIN = 64 };

static uint32_t load(const uint8_t *text)
{
    return (uint32_t)text[0] | (uint32_t)text[1] << 8 | (uint32_t)text[2] << 16 | (uint32_t)text[3] << 24;
}

/* Parses a number from 0 to 255 followed by a comma at `text`. @return its length, 0 for other text. */
static inline uint32_t element(const uint8_t *text, uint32_t *value)
{
    uint32_t word = load(text) ^ 0x30303030u; /* digits become 0 to 9 */
    uint32_t others = (word + 0x76767676u) & 0x80808080u;
    others |= word & 0x80808080u;
    if (others == 0) {
        return 0;
    }
    uint32_t length = (uint32_t)__builtin_ctz(others) / 8;
    if (length == 0 || text[length] != ',' || (length > 1 && text[0] == '0')) {
        return 0;
    }
    word <<= 32 - 8 * length; /* the last digit on top, none below the first */
    *value = (word >> 8 & 0xff) * 100 + (word >> 16 & 0xff) * 10 + (word >> 24);
    return *value <= 255 ? length : 0;
}

uint64_t lr_bytes_scan_plain(const uint8_t **text, const uint8_t *end, uint8_t *out, uint64_t room)
{
    const uint8_t *p = *text, *gap_at = p;
    uint64_t count = 0;
    size_t gap = 0; /* white space before an element, as long as the last time */
    room = room < MARGIN ? 0 : room;
    while (end - p >= MARGIN && count < room) {
        const uint8_t *from = p;
        uint32_t length, value;
        __builtin_prefetch(p + LR_BYTES_AHEAD);
        if (lr_json_is_space(*p)) {
            if (gap > 0 && (size_t)(end - p) > gap + MARGIN && memcmp(p, gap_at, gap) == 0 &&
                !lr_json_is_space(p[gap])) {
                p += gap;
            } else {
                while (end - p >= MARGIN && lr_json_is_space(*p)) {
                    p++;
                }
                if (end - p < MARGIN) {
                    p = from;
                    break;
                }
            }
            gap_at = from;
            gap = (size_t)(p - from);
        }
        length = element(p, &value);
        if (length == 0) {
            p = from;
            break;
        }
        out[count++] = (uint8_t)value;
        p += length + 1;
    }
    *text = p;
    return count;
}

/* ----------------------------------------------------------------------------------------------------- vectors -- */

#if defined(__x86_64__) && defined(__GNUC__)

#include <immintrin.h>

#define VECTORS __attribute__((target("avx2,bmi,popcnt")))
#define HAS_VECTORS() (LR_CPU_HAS(AVX2, "avx2") && LR_CPU_HAS(BMI1, "bmi"))

typedef uint8_t vector __attribute__((vector_size(32)));

/* A bit for each byte of a block, all or none of whose bits are set. */
VECTORS static inline uint64_t mask(const vector v[2])
{
    return (uint32_t)_mm256_movemask_epi8((__m256i)v[0]) | (uint64_t)(uint32_t)_mm256_movemask_epi8((__m256i)v[1])
                                                               << 32;
}

#elif defined(__aarch64__) && defined(__GNUC__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__

#include <arm_neon.h>

#define VECTORS
#define HAS_VECTORS() true

typedef uint8x16_t vector;

static inline uint64_t mask(const vector v[4])
{
    const uint8x16_t bits = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    uint8x16_t low = vpaddq_u8(v[0] & bits, v[1] & bits), high = vpaddq_u8(v[2] & bits, v[3] & bits);
    low = vpaddq_u8(low, high);
    return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(low, low)), 0);
}

#endif

#ifdef VECTORS

typedef int8_t signs __attribute__((vector_size(sizeof(vector))));

enum { WIDTH = sizeof(vector), COUNT = 64 / WIDTH };

/* What the bytes of a block are, all bits each, and the numbers that end before them. */
typedef struct parts {
    vector digits[COUNT], zeros[COUNT], commas[COUNT], spaces[COUNT], overflows[COUNT], sums[COUNT];
} parts;

/* @param at of 64 bytes; the three before them are looked at, too. */
VECTORS static inline __attribute__((always_inline)) void take(const uint8_t *at, parts *all)
{
#pragma GCC unroll 4
    for (int i = 0; i < COUNT; i++, at += WIDTH) {
        vector t, one, two, three;
        memcpy(&t, at, sizeof t);
        memcpy(&one, at - 1, sizeof one);
        memcpy(&two, at - 2, sizeof two);
        memcpy(&three, at - 3, sizeof three);
        all->digits[i] = (vector)((vector)(t - '0') <= 9);
        all->zeros[i] = (vector)(t == '0');
        all->commas[i] = (vector)(t == ',');
        all->spaces[i] = (vector)((t == ' ') | (t == '\n') | (t == '\r') | (t == '\t'));
        /* Other digits count as 0: hundreds without a digit after them belong to the number before. */
        one -= '0', two -= '0', three -= '0';
        three &= (vector)(three <= 9) & (vector)(two <= 9);
        two &= (vector)(two <= 9);
        two += two; /* twice, and four times more */
        vector is_two = (vector)(three == 2), rest = one + two + (two + two) + (two + two);
        all->sums[i] = rest + ((vector)(three == 1) & 100) + (is_two & 200);
        all->overflows[i] = (vector)((signs)three > 2) | (is_two & (vector)((signs)rest > 55));
    }
}

VECTORS static uint64_t scan_vectors(const uint8_t **text, const uint8_t *end, uint8_t *out, uint64_t room)
{
    const uint8_t *last = *text;
    uint8_t first[3 + 64] = {0}; /* a block that nothing is before */
    carry c = {.free = 1};
    uint64_t count = 0;
    bool stop = false;
    memcpy(first + 3, last, end - last < 64 ? 0 : 64);
    for (const uint8_t *p = last; !stop && end - p >= 64 && room - count >= 64; p += 64) {
        parts all;
        uint8_t numbers[64];
        __builtin_prefetch(p + LR_BYTES_AHEAD);
        take(p == *text ? first + 3 : p, &all);
        memcpy(numbers, all.sums, sizeof numbers);
        block b = {mask(all.digits), mask(all.commas), mask(all.spaces), mask(all.zeros), mask(all.overflows)};
        uint64_t commas = complete(&b, &c, &stop);
        last = commas ? p + 64 - __builtin_clzll(commas) : last;
        for (; commas; commas &= commas - 1) {
            out[count++] = numbers[__builtin_ctzll(commas)];
        }
    }
    *text = last;
    return count;
}

#endif

lr_bytes_scan *lr_bytes_scan_choice(unsigned index)
{
    lr_bytes_scan *widest = lr_bytes_scan_avx512();
    if (widest && index-- == 0) {
        return widest;
    }
#ifdef VECTORS
    if (HAS_VECTORS() && index-- == 0) {
        return scan_vectors;
    }
#endif
    return index == 0 ? lr_bytes_scan_plain : NULL;
}
