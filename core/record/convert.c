/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Numbers from one element type to another: which pairs there are, and ints and bools. Loops go in steps of a constant
 * number of elements: this is what compilers vectorise at -O2. */
#include <string.h>

#include "core/record/convert_private.h"

/* ----------------------------------------------------------------------------------------- loading and storing -- */

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define FROM_LITTLE(bits, value) __builtin_bswap##bits(value)
#else
#define FROM_LITTLE(bits, value) (value)
#endif

/** Element `i` of a little-endian source and of a destination in host byte order, at any alignment. */
#define DEFINE_ACCESS(N)                                                    \
    static inline uint##N##_t load##N(const uint8_t *from, uint64_t i)      \
    {                                                                       \
        uint##N##_t value;                                                  \
        memcpy(&value, from + i * sizeof value, sizeof value);              \
        return FROM_LITTLE(N, value);                                       \
    }                                                                       \
    static inline void store##N(uint8_t *to, uint64_t i, uint##N##_t value) \
    {                                                                       \
        memcpy(to + i * sizeof value, &value, sizeof value);                \
    }
DEFINE_ACCESS(16)
DEFINE_ACCESS(32)
DEFINE_ACCESS(64)

static inline uint8_t load8(const uint8_t *from, uint64_t i)
{
    return from[i];
}

static inline void store8(uint8_t *to, uint64_t i, uint8_t value)
{
    to[i] = value;
}

/** Elements a step: a multiple of any vector's. */
enum { STEP = 64 };

/** Runs `statement` for each i below `count`, in steps first. */
#define FOR_EACH(i, count, statement)                \
    do {                                             \
        uint64_t begin = 0, end = (count);           \
        for (; end - begin >= STEP; begin += STEP) { \
            for (unsigned j = 0; j < STEP; j++) {    \
                uint64_t i = begin + j;              \
                statement;                           \
            }                                        \
        }                                            \
        for (uint64_t i = begin; i < end; i++)       \
            statement;                               \
    } while (0)

/* ------------------------------------------------------------------------------------------------- ints, bools -- */

/**
 * Converts ints by width alone and looks for those that do not fit: x does not if (x + bias) & mask is not 0, in
 * unsigned arithmetic of the source's width. @return whether any does not. */
typedef bool (*int_kernel)(const uint8_t *restrict from, uint8_t *restrict to, uint64_t count, uint64_t bias,
                           uint64_t mask);

#define INT_KERNEL(name, N, M, SIGNED)                                                                                 \
    static bool name(const uint8_t *restrict from, uint8_t *restrict to, uint64_t count, uint64_t bias, uint64_t mask) \
    {                                                                                                                  \
        uint##N##_t beyond = 0, b = (uint##N##_t)bias;                                                                 \
        FOR_EACH(i, count, {                                                                                           \
            uint##N##_t x = load##N(from, i);                                                                          \
            beyond = (uint##N##_t)(beyond | (uint##N##_t)(x + b));                                                     \
            store##M(to, i, (uint##M##_t)(SIGNED##N##_t)x);                                                            \
        });                                                                                                            \
        return (beyond & mask) != 0;                                                                                   \
    }
INT_KERNEL(cut_64_64, 64, 64, uint)
INT_KERNEL(cut_64_32, 64, 32, uint)
INT_KERNEL(cut_64_16, 64, 16, uint)
INT_KERNEL(cut_64_8, 64, 8, uint)
INT_KERNEL(cut_32_32, 32, 32, uint)
INT_KERNEL(cut_32_16, 32, 16, uint)
INT_KERNEL(cut_32_8, 32, 8, uint)
INT_KERNEL(cut_16_16, 16, 16, uint)
INT_KERNEL(cut_16_8, 16, 8, uint)
INT_KERNEL(cut_8_8, 8, 8, uint)
INT_KERNEL(zero_8_16, 8, 16, uint)
INT_KERNEL(zero_8_32, 8, 32, uint)
INT_KERNEL(zero_8_64, 8, 64, uint)
INT_KERNEL(zero_16_32, 16, 32, uint)
INT_KERNEL(zero_16_64, 16, 64, uint)
INT_KERNEL(zero_32_64, 32, 64, uint)
INT_KERNEL(sign_8_16, 8, 16, int)
INT_KERNEL(sign_8_32, 8, 32, int)
INT_KERNEL(sign_8_64, 8, 64, int)
INT_KERNEL(sign_16_32, 16, 32, int)
INT_KERNEL(sign_16_64, 16, 64, int)
INT_KERNEL(sign_32_64, 32, 64, int)

/** By whether the source is signed and by the widths: 0 for 8 bits, 3 for 64. */
static const int_kernel int_kernels[2][4][4] = {
    {{cut_8_8, zero_8_16, zero_8_32, zero_8_64},
     {cut_16_8, cut_16_16, zero_16_32, zero_16_64},
     {cut_32_8, cut_32_16, cut_32_32, zero_32_64},
     {cut_64_8, cut_64_16, cut_64_32, cut_64_64}},
    {{cut_8_8, sign_8_16, sign_8_32, sign_8_64},
     {cut_16_8, cut_16_16, sign_16_32, sign_16_64},
     {cut_32_8, cut_32_16, cut_32_32, sign_32_64},
     {cut_64_8, cut_64_16, cut_64_32, cut_64_64}},
};

static bool is_signed(rec_dtype dtype)
{
    return dtype <= REC_DTYPE_I8;
}

static unsigned width_index(uint32_t bits)
{
    return bits == 64 ? 3 : bits / 16;
}

bool lr_int_limits(rec_dtype dtype, int64_t *minimum, uint64_t *maximum)
{
    if (!lr_dtype_is_int(dtype))
        return false;
    uint32_t bits = rec_dtype_bits(dtype);
    *maximum = UINT64_MAX >> (64 - bits + is_signed(dtype));
    *minimum = is_signed(dtype) ? -(int64_t)*maximum - 1 : 0;
    return true;
}

rec_scalar lr_element(rec_dtype dtype, const void *data)
{
    rec_scalar scalar = {.kind = REC_KIND_NIL};
    const uint8_t *at = data;
    uint64_t x = 0;
    uint32_t bits = rec_dtype_bits(dtype);
    switch (bits) {
    case 8:
        x = load8(at, 0);
        break;
    case 16:
        x = load16(at, 0);
        break;
    case 32:
        x = load32(at, 0);
        break;
    case 64:
        x = load64(at, 0);
        break;
    default:
        return scalar;
    }
    if (lr_dtype_is_bool(dtype)) {
        scalar.kind = REC_KIND_BOOL;
        scalar.v.i = x != 0;
        return scalar;
    }
    scalar.bits = (uint16_t)bits;
    if (lr_dtype_is_float(dtype)) {
        scalar.kind = REC_KIND_FLOAT;
        x = lr_float_to_f64(dtype, x);
        memcpy(&scalar.v.f, &x, sizeof x);
    } else if (is_signed(dtype)) {
        scalar.kind = REC_KIND_INT;
        uint64_t sign = 1ull << (bits - 1);
        scalar.v.i = (int64_t)((x ^ sign) - sign);
    } else {
        scalar.kind = REC_KIND_UINT;
        scalar.v.u = x;
    }
    return scalar;
}

rec_scalar lr_host_element(rec_dtype dtype, const void *data)
{
    uint32_t width = rec_dtype_bits(dtype) / 8;
    uint64_t little = 0;
    memcpy(&little, data, width);
    lr_swap_if_big(&little, width, 1);
    return lr_element(dtype, &little);
}

/** Ints one by one: reports the first that does not fit, or clamps and counts. `first` is the index of the first. */
static int check_ints(rec_dtype from, const uint8_t *from_data, rec_dtype to, uint8_t *to_data, uint64_t count,
                      bool clamp, uint64_t first, lr_converted *result)
{
    int64_t minimum = 0;
    uint64_t maximum = 0;
    uint64_t from_size = rec_dtype_bits(from) / 8;
    (void)lr_int_limits(to, &minimum, &maximum); /* `to` is an int */
    for (uint64_t i = 0; i < count; i++) {
        rec_scalar scalar = lr_element(from, from_data + i * from_size);
        bool negative = scalar.kind == REC_KIND_INT && scalar.v.i < 0;
        uint64_t x = scalar.v.u; /* two's complement if negative */
        bool low = negative && scalar.v.i < minimum;
        bool high = !negative && x > maximum;
        if ((low || high) && !clamp) {
            result->bad = first + i;
            result->value = scalar;
            return LR_CONVERT_RANGE;
        }
        result->clamped += low || high;
        x = low ? (uint64_t)minimum : high ? maximum : x;
        switch (rec_dtype_bits(to)) {
        case 8:
            store8(to_data, i, (uint8_t)x);
            break;
        case 16:
            store16(to_data, i, (uint16_t)x);
            break;
        case 32:
            store32(to_data, i, (uint32_t)x);
            break;
        default:
            store64(to_data, i, x);
            break;
        }
    }
    return LR_CONVERT_OK;
}

/** Ints are converted in blocks that stay in the cache, as a block with one that does not fit is done twice. */
enum { INT_BLOCK = 2048 };

static int convert_ints(rec_dtype from, const uint8_t *from_data, rec_dtype to, uint8_t *to_data, uint64_t count,
                        bool clamp, lr_converted *result)
{
    uint32_t n = rec_dtype_bits(from), m = rec_dtype_bits(to);
    int_kernel kernel = int_kernels[is_signed(from)][width_index(n)][width_index(m)];
    uint64_t bias = 0;
    uint32_t keep; /* how many low bits of x + bias a number that fits may use */
    if (is_signed(from) && is_signed(to)) {
        keep = m;
        bias = 1ull << (m - 1);
    } else if (is_signed(from)) {
        keep = m < n ? m : n - 1;
    } else {
        keep = is_signed(to) ? m - 1 : m;
    }
    uint64_t mask = keep < n ? UINT64_MAX << keep : 0;

    for (uint64_t begin = 0; begin < count; begin += INT_BLOCK) {
        uint64_t left = count - begin;
        uint64_t block = left < INT_BLOCK ? left : INT_BLOCK;
        const uint8_t *source = from_data + begin * (n / 8);
        uint8_t *target = to_data + begin * (m / 8);
        if (!kernel(source, target, block, bias, mask))
            continue;
        int status = check_ints(from, source, to, target, block, clamp, begin, result);
        if (status)
            return status;
    }
    return LR_CONVERT_OK;
}

#define BOOL_KERNEL(N, M)                                                                          \
    static void bool_##N##_##M(const uint8_t *restrict from, uint8_t *restrict to, uint64_t count) \
    {                                                                                              \
        FOR_EACH(i, count, store##M(to, i, (uint##M##_t)(load##N(from, i) != 0)));                 \
    }
BOOL_KERNEL(8, 8)
BOOL_KERNEL(8, 32)
BOOL_KERNEL(32, 8)

static void convert_bools(rec_dtype from, const uint8_t *from_data, rec_dtype to, uint8_t *to_data, uint64_t count)
{
    if (from == REC_DTYPE_BOOL32)
        bool_32_8(from_data, to_data, count);
    else if (to == REC_DTYPE_BOOL32)
        bool_8_32(from_data, to_data, count);
    else
        bool_8_8(from_data, to_data, count);
}

/* ---------------------------------------------------------------------------------------------------- dispatch -- */

bool lr_convertible(rec_dtype from, rec_dtype to)
{
    return (lr_dtype_is_float(from) && lr_dtype_is_float(to)) || (lr_dtype_is_int(from) && lr_dtype_is_int(to)) ||
           (lr_dtype_is_bool(from) && lr_dtype_is_bool(to));
}

int lr_convert(rec_dtype from, const void *from_data, rec_dtype to, void *to_data, uint64_t count, bool clamp,
               lr_converted *result)
{
    if (!lr_convertible(from, to))
        return LR_CONVERT_REFUSED;
    if (count == 0)
        return LR_CONVERT_OK;
    if (from == REC_DTYPE_FLEX32)
        from = REC_DTYPE_F32;
    if (to == REC_DTYPE_FLEX32)
        to = REC_DTYPE_F32;
    if (from == to) {
        memcpy(to_data, from_data, (size_t)(count * (rec_dtype_bits(from) / 8)));
        lr_swap_if_big(to_data, rec_dtype_bits(from) / 8, count);
    } else if (lr_dtype_is_float(from))
        result->overflowed += lr_convert_floats(from, from_data, to, to_data, count, false);
    else if (lr_dtype_is_int(from))
        return convert_ints(from, from_data, to, to_data, count, clamp, result);
    else
        convert_bools(from, from_data, to, to_data, count);
    return LR_CONVERT_OK;
}
