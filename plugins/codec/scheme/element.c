/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Small floats. E4M3, E5M2, E8M0 and E2M1 are those of the OCP specifications (FP8, Microscaling); FNUZ have one zero
 * and one NaN, and a bias that is one larger. */
#include "plugins/codec/scheme/element.h"

#include <string.h>

const float lr_element_fp4[16] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6, -0.0f, -0.5f, -1, -1.5f, -2, -3, -4, -6};

static const struct kind {
    const char *dtype_name;
    const char *name;
} kinds[] = {
    [LR_ELEMENT_E4M3] = {"F8_E4M3", "E4M3"},
    [LR_ELEMENT_E5M2] = {"F8_E5M2", "E5M2"},
    [LR_ELEMENT_E4M3_FNUZ] = {"F8_E4M3FNUZ", "E4M3FNUZ"},
    [LR_ELEMENT_E5M2_FNUZ] = {"F8_E5M2FNUZ", "E5M2FNUZ"},
    [LR_ELEMENT_E8M0] = {"F8_E8M0", "E8M0"},
};

int lr_element_of(const rec_part *part)
{
    switch (part->dtype) {
    case REC_DTYPE_F32:
        return LR_ELEMENT_F32;
    case REC_DTYPE_F16:
        return LR_ELEMENT_F16;
    case REC_DTYPE_BF16:
        return LR_ELEMENT_BF16;
    case REC_DTYPE_OPAQUE:
        for (int i = LR_ELEMENT_E4M3; i <= LR_ELEMENT_E8M0; i++) {
            if (strcmp(part->dtype_name, kinds[i].dtype_name) == 0) {
                return part->nbytes == part->count ? i : LR_ELEMENT_NONE;
            }
        }
        return LR_ELEMENT_NONE;
    default:
        return LR_ELEMENT_NONE;
    }
}

const char *lr_element_name(int element)
{
    return kinds[element].name;
}

uint64_t lr_element_size(int element)
{
    return element == LR_ELEMENT_F32 ? 4 : element == LR_ELEMENT_F16 || element == LR_ELEMENT_BF16 ? 2 : 1;
}

static float from_bits(uint32_t bits)
{
    float number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

static const uint32_t quiet = 0x7fc00000u;

/* A float of a sign, an exponent and `fraction` bits, which has no infinity here. */
static float small(uint8_t byte, int fraction, int bias)
{
    int exponent = (byte & 0x7f) >> fraction, mantissa = byte & ((1 << fraction) - 1);
    int power = (exponent ? exponent : 1) - bias - fraction;
    float number = (float)(exponent ? mantissa | 1 << fraction : mantissa) * from_bits((uint32_t)(power + 127) << 23);
    return byte & 0x80 ? -number : number;
}

static float read_byte(int element, uint8_t byte)
{
    uint32_t sign = (uint32_t)(byte & 0x80) << 24;
    switch (element) {
    case LR_ELEMENT_E4M3:
        return (byte & 0x7f) == 0x7f ? from_bits(sign | quiet) : small(byte, 3, 7);
    case LR_ELEMENT_E5M2:
        return (byte & 0x7f) > 0x7c    ? from_bits(sign | quiet)
               : (byte & 0x7f) == 0x7c ? from_bits(sign | 0x7f800000u)
                                       : small(byte, 2, 15);
    case LR_ELEMENT_E4M3_FNUZ:
        return byte == 0x80 ? from_bits(sign | quiet) : small(byte, 3, 8);
    case LR_ELEMENT_E5M2_FNUZ:
        return byte == 0x80 ? from_bits(sign | quiet) : small(byte, 2, 16);
    default:
        return from_bits(byte == 0xff ? quiet : byte ? (uint32_t)byte << 23 : 0x400000u);
    }
}

void lr_element_table(int element, float table[256])
{
    for (int i = 0; i < 256; i++) {
        table[i] = read_byte(element, (uint8_t)i);
    }
}

static float read_half(const uint8_t *data)
{
    uint32_t bits = (uint32_t)data[0] | (uint32_t)data[1] << 8;
    uint32_t sign = (bits & 0x8000u) << 16, exponent = bits >> 10 & 31, fraction = bits & 0x3ffu;
    float number;
    if (exponent == 31) {
        return from_bits(sign | 0x7f800000u | fraction << 13 | (fraction ? 0x400000u : 0));
    }
    number = exponent ? from_bits((exponent + 112) << 23 | fraction << 13) : (float)fraction * 0x1p-24f;
    return sign ? -number : number;
}

float lr_element_read(int element, const uint8_t *data, uint64_t index)
{
    const uint8_t *at = data + index * lr_element_size(element);
    switch (element) {
    case LR_ELEMENT_F32:
        return from_bits((uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24);
    case LR_ELEMENT_F16:
        return read_half(at);
    case LR_ELEMENT_BF16:
        return from_bits((uint32_t)at[0] << 16 | (uint32_t)at[1] << 24);
    default:
        return read_byte(element, at[0]);
    }
}
