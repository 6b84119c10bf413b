/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Numbers from one element type to another: which pairs there are, and what each gives, in portable C.
 *
 * Floats are handled as bit patterns, so that a NaN never passes through a floating-point register that might change
 * it. Loops go in steps of a constant number of elements: this is what compilers vectorise at -O2. */
#include <string.h>

#include "core/record/convert_private.h"

/* ----------------------------------------------------------------------------------------- loading and storing -- */

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define FROM_LITTLE(bits, value) __builtin_bswap##bits(value)
enum { HOST_IS_LITTLE = 0 };
#else
#define FROM_LITTLE(bits, value) (value)
enum { HOST_IS_LITTLE = 1 };
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

/** Runs `statement` for each i below `count`, in steps first; `after_step` after each step and after the rest. */
#define FOR_EACH(i, count, statement, after_step)    \
    do {                                             \
        uint64_t begin = 0, end = (count);           \
        for (; end - begin >= STEP; begin += STEP) { \
            for (unsigned j = 0; j < STEP; j++) {    \
                uint64_t i = begin + j;              \
                statement;                           \
            }                                        \
            after_step;                              \
        }                                            \
        for (uint64_t i = begin; i < end; i++)       \
            statement;                               \
        after_step;                                  \
    } while (0)

/* ------------------------------------------------------------------------------------------ floats, one by one -- */

#define F64_MAGNITUDE 0x7fffffffffffffffu
#define F64_INFINITY 0x7ff0000000000000u
/* From here on an f64 rounds to an infinite f32, to an infinite bf16. */
#define F64_TOO_LARGE_F32 0x47effffff0000000u
#define F64_TOO_LARGE_BF16 0x47eff00000000000u
/* From here on to an infinite f16 (65520). */
#define F64_TOO_LARGE_F16 0x40effe0000000000u
/* The digits that an f32 has no room for. */
#define F64_CUT 0x1fffffffu
#define F32_MAGNITUDE 0x7fffffffu
#define F32_INFINITY 0x7f800000u
/* From here on an f32 rounds to an infinite f16 (65520), to an infinite bf16. */
#define F32_TOO_LARGE_F16 0x477ff000u
#define F32_TOO_LARGE_BF16 0x7f7f8000u

static inline uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline float float_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline double double_of(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/** 1 if a number is finite and its magnitude at least `limit`. */
static inline uint32_t overflows32(uint32_t bits, uint32_t limit)
{
    return (bits & F32_MAGNITUDE) - limit < F32_INFINITY - limit;
}

static inline uint32_t overflows64(uint64_t bits, uint64_t limit)
{
    return (bits & F64_MAGNITUDE) - limit < F64_INFINITY - limit;
}

/** @return `yes` if the condition is 1, `no` if it is 0. Without a branch, or the loops would not be vectorised. */
static inline uint32_t pick(uint32_t condition, uint32_t yes, uint32_t no)
{
    uint32_t mask = 0u - condition;
    return (yes & mask) | (no & ~mask);
}

static inline uint32_t f16_to_f32(uint32_t half)
{
    uint32_t sign = (half & 0x8000u) << 16;
    uint32_t shifted = (half & 0x7fffu) << 13;
    /* A subnormal m × 2^-24: read as 2^-14 + m × 2^-24, less 2^-14; both are exact. */
    uint32_t subnormal = bits_of(float_of(shifted + (113u << 23)) - float_of(113u << 23));
    uint32_t normal = shifted + (112u << 23);
    uint32_t special = shifted | F32_INFINITY | pick(shifted > 31u << 23, 0x400000u, 0u);
    uint32_t finite = pick(shifted < 1u << 23, subnormal, normal);
    return sign | pick(shifted >= 31u << 23, special, finite);
}

static inline uint16_t f32_to_f16(uint32_t bits)
{
    uint32_t sign = (bits >> 16) & 0x8000u;
    uint32_t magnitude = bits & F32_MAGNITUDE;
    /* Half to even: a carry into the exponent is right, up to infinity. */
    uint32_t normal = (magnitude - (112u << 23) + 0xfffu + ((magnitude >> 13) & 1u)) >> 13;
    /* Beside 0.5 the last bit of an f32 weighs 2^-24, an f16's smallest step: the addition rounds. */
    uint32_t is_small = magnitude < 113u << 23;
    uint32_t subnormal = bits_of(float_of(pick(is_small, magnitude, 0u)) + 0.5f) - bits_of(0.5f);
    uint32_t special = pick(magnitude > F32_INFINITY, 0x7e00u | ((magnitude >> 13) & 0x3ffu), 0x7c00u);
    uint32_t finite = pick(is_small, subnormal, normal);
    return (uint16_t)(sign | pick(magnitude >= 143u << 23, special, finite));
}

static inline uint32_t bf16_to_f32(uint32_t value)
{
    uint32_t bits = value << 16;
    return bits | ((bits & F32_MAGNITUDE) > F32_INFINITY ? 0x400000u : 0u);
}

static inline uint16_t f32_to_bf16(uint32_t bits)
{
    uint32_t nan = (bits >> 16) | 0x40u;
    uint32_t number = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
    return (uint16_t)((bits & F32_MAGNITUDE) > F32_INFINITY ? nan : number);
}

static inline uint64_t f32_to_f64(uint32_t bits)
{
    double value = (double)float_of(bits);
    uint64_t number;
    memcpy(&number, &value, sizeof number);
    uint64_t sign = (uint64_t)(bits & 0x80000000u) << 32;
    uint64_t nan = sign | 0x7ff8000000000000u | (uint64_t)(bits & 0x7fffffu) << 29;
    return (bits & F32_MAGNITUDE) > F32_INFINITY ? nan : number;
}

static inline uint32_t f64_to_f32(uint64_t bits)
{
    if ((bits & F64_MAGNITUDE) > F64_INFINITY)
        return (uint32_t)(bits >> 32 & 0x80000000u) | 0x7fc00000u | (uint32_t)(bits >> 29 & 0x3fffffu);
    return bits_of((float)double_of(bits));
}

/** Converts to f32, rounded to odd (the last bit is set if the result is inexact): a second rounding is exact. */
static inline uint32_t f64_to_f32_odd(uint64_t bits)
{
    uint32_t nearest = f64_to_f32(bits);
    uint32_t magnitude = nearest & F32_MAGNITUDE;
    double wanted = double_of(bits & F64_MAGNITUDE);
    double got = (double)float_of(magnitude);
    if ((bits & F64_MAGNITUDE) >= F64_INFINITY || !(got < wanted || got > wanted))
        return nearest;
    return (nearest - (got > wanted)) | 1u;
}

/** The same before a conversion to f16, which needs at most 24 bits: subnormal numbers of f32 become 0. */
static inline uint32_t f64_to_f32_cut(uint64_t bits)
{
    return f64_to_f32((bits | ((bits & F64_CUT) + F64_CUT)) & ~(uint64_t)F64_CUT);
}

/* ---------------------------------------------------------------------------------------------- floats in bulk -- */

/** Converts, @return how many finite numbers became infinite. */
typedef uint64_t (*float_kernel)(const uint8_t *restrict from, uint8_t *restrict to, uint64_t count);

/** A kernel that cannot overflow. */
#define WIDEN(name, N, M, expression)                                                        \
    static uint64_t name(const uint8_t *restrict from, uint8_t *restrict to, uint64_t count) \
    {                                                                                        \
        FOR_EACH(                                                                            \
            i, count,                                                                        \
            {                                                                                \
                uint##N##_t x = load##N(from, i);                                            \
                store##M(to, i, expression);                                                 \
            },                                                                               \
            (void)0);                                                                        \
        return 0;                                                                            \
    }

/** A kernel that counts `overflow`, 0 or 1 for an element. */
#define NARROW(name, N, M, expression, overflow)                                             \
    static uint64_t name(const uint8_t *restrict from, uint8_t *restrict to, uint64_t count) \
    {                                                                                        \
        uint64_t sum = 0;                                                                    \
        uint32_t part = 0; /* narrow, so that a vector holds many */                         \
        FOR_EACH(                                                                            \
            i, count,                                                                        \
            {                                                                                \
                uint##N##_t x = load##N(from, i);                                            \
                part += (overflow);                                                          \
                store##M(to, i, expression);                                                 \
            },                                                                               \
            (sum += part, part = 0));                                                        \
        return sum;                                                                          \
    }

WIDEN(f16_f32, 16, 32, f16_to_f32(x))
WIDEN(f16_bf16, 16, 16, f32_to_bf16(f16_to_f32(x)))
WIDEN(bf16_f32, 16, 32, bf16_to_f32(x))
NARROW(bf16_f16, 16, 16, f32_to_f16(bf16_to_f32(x)), overflows32((uint32_t)x << 16, F32_TOO_LARGE_F16))
NARROW(f32_f16, 32, 16, f32_to_f16(x), overflows32(x, F32_TOO_LARGE_F16))
NARROW(f32_bf16, 32, 16, f32_to_bf16(x), overflows32(x, F32_TOO_LARGE_BF16))
NARROW(f64_bf16, 64, 16, f32_to_bf16(f64_to_f32_odd(x)), overflows64(x, F64_TOO_LARGE_BF16))
NARROW(f64_f16, 64, 16, f32_to_f16(f64_to_f32_cut(x)), overflows64(x, F64_TOO_LARGE_F16))

/** Most blocks hold neither a NaN nor anything that becomes infinite: then the processor's own conversion will do. */
static uint64_t f64_f32(const uint8_t *restrict from, uint8_t *restrict to, uint64_t count)
{
    uint64_t sum = 0, begin = 0;
    for (; count - begin >= STEP; begin += STEP) {
        uint64_t special = 0; /* its top bit */
        for (unsigned j = 0; j < STEP; j++) {
            uint64_t x = load64(from, begin + j);
            special |= (x & F64_MAGNITUDE) + (0x8000000000000000u - F64_TOO_LARGE_F32);
            store32(to, begin + j, bits_of((float)double_of(x)));
        }
        if (!(special >> 63))
            continue;
        for (uint64_t i = begin; i < begin + STEP; i++) {
            uint64_t x = load64(from, i);
            sum += overflows64(x, F64_TOO_LARGE_F32);
            store32(to, i, f64_to_f32(x));
        }
    }
    for (uint64_t i = begin; i < count; i++) {
        uint64_t x = load64(from, i);
        sum += overflows64(x, F64_TOO_LARGE_F32);
        store32(to, i, f64_to_f32(x));
    }
    return sum;
}

/** As f64_f32, for NaNs. */
static uint64_t f32_f64(const uint8_t *restrict from, uint8_t *restrict to, uint64_t count)
{
    uint64_t begin = 0;
    for (; count - begin >= STEP; begin += STEP) {
        uint32_t special = 0; /* its top bit */
        for (unsigned j = 0; j < STEP; j++) {
            uint32_t x = load32(from, begin + j);
            double value = (double)float_of(x);
            special |= (x & F32_MAGNITUDE) + (F32_MAGNITUDE - F32_INFINITY);
            memcpy(to + (begin + j) * sizeof value, &value, sizeof value);
        }
        if (!(special >> 31))
            continue;
        for (uint64_t i = begin; i < begin + STEP; i++)
            store64(to, i, f32_to_f64(load32(from, i)));
    }
    for (uint64_t i = begin; i < count; i++)
        store64(to, i, f32_to_f64(load32(from, i)));
    return 0;
}

/** A kernel of two that lose nothing, with f32 between them. */
#define BY_WAY_OF_F32(name, first, second, from_size, to_size)                               \
    static uint64_t name(const uint8_t *restrict from, uint8_t *restrict to, uint64_t count) \
    {                                                                                        \
        uint8_t middle[4 * 4 * STEP];                                                        \
        uint64_t sum = 0;                                                                    \
        for (uint64_t begin = 0; begin < count; begin += 4 * STEP) {                         \
            uint64_t part = count - begin < 4 * STEP ? count - begin : 4 * STEP;             \
            sum += first(from + begin * (from_size), middle, part);                          \
            for (uint64_t i = 0; !HOST_IS_LITTLE && i < part; i++)                           \
                store32(middle, i, load32(middle, i)); /* a source is little-endian */       \
            sum += second(middle, to + begin * (to_size), part);                             \
        }                                                                                    \
        return sum;                                                                          \
    }

BY_WAY_OF_F32(f16_f64, f16_f32, f32_f64, 2, 8)
BY_WAY_OF_F32(bf16_f64, bf16_f32, f32_f64, 2, 8)

/** By rec_dtype, f64 to bf16; flex32 is f32 by then. */
static const float_kernel float_kernels[REC_DTYPE_BF16 + 1][REC_DTYPE_BF16 + 1] = {
    [REC_DTYPE_F64] = {[REC_DTYPE_F32] = f64_f32, [REC_DTYPE_F16] = f64_f16, [REC_DTYPE_BF16] = f64_bf16},
    [REC_DTYPE_F32] = {[REC_DTYPE_F64] = f32_f64, [REC_DTYPE_F16] = f32_f16, [REC_DTYPE_BF16] = f32_bf16},
    [REC_DTYPE_F16] = {[REC_DTYPE_F64] = f16_f64, [REC_DTYPE_F32] = f16_f32, [REC_DTYPE_BF16] = f16_bf16},
    [REC_DTYPE_BF16] = {[REC_DTYPE_F64] = bf16_f64, [REC_DTYPE_F32] = bf16_f32, [REC_DTYPE_F16] = bf16_f16},
};

#if !defined(LR_CONVERT_HAS_X86) && !defined(LR_CONVERT_HAS_NEON)

lr_convert_bulk lr_convert_fast(rec_dtype from, rec_dtype to, uint64_t count)
{
    (void)from, (void)to, (void)count;
    return NULL;
}

#endif

#ifndef LR_CONVERT_HAS_X86

bool lr_convert_streams(const void *to_data, uint64_t size)
{
    (void)to_data;
    (void)size;
    return false;
}

#endif

static void convert_floats(rec_dtype from, const uint8_t *from_data, rec_dtype to, uint8_t *to_data, uint64_t count,
                           bool plain, lr_converted *result)
{
    float_kernel kernel = float_kernels[from][to];
    lr_convert_bulk bulk = plain ? NULL : lr_convert_fast(from, to, count);
    uint64_t from_size = rec_dtype_bits(from) / 8;
    uint64_t to_size = rec_dtype_bits(to) / 8;

    if (bulk) {
        bool stream = (uintptr_t)to_data % to_size == 0 && lr_convert_streams(to_data, count * to_size);
        if (stream) {
            uint64_t head = -(uintptr_t)to_data % LR_CONVERT_ALIGN / to_size;
            result->overflowed += kernel(from_data, to_data, head);
            from_data += head * from_size;
            to_data += head * to_size;
            count -= head;
        }
        uint64_t done = bulk(from_data, to_data, count, stream, &result->overflowed);
        from_data += done * from_size;
        to_data += done * to_size;
        count -= done;
    }
    result->overflowed += kernel(from_data, to_data, count);
}

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
        FOR_EACH(                                                                                                      \
            i, count,                                                                                                  \
            {                                                                                                          \
                uint##N##_t x = load##N(from, i);                                                                      \
                beyond = (uint##N##_t)(beyond | (uint##N##_t)(x + b));                                                 \
                store##M(to, i, (uint##M##_t)(SIGNED##N##_t)x);                                                        \
            },                                                                                                         \
            (void)0);                                                                                                  \
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
        if (dtype == REC_DTYPE_F16)
            x = f32_to_f64(f16_to_f32((uint32_t)x));
        else if (dtype == REC_DTYPE_BF16)
            x = f32_to_f64(bf16_to_f32((uint32_t)x));
        else if (bits == 32)
            x = f32_to_f64((uint32_t)x);
        scalar.v.f = double_of(x);
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
        FOR_EACH(i, count, store##M(to, i, (uint##M##_t)(load##N(from, i) != 0)), (void)0);        \
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

static void copy(const uint8_t *restrict from, uint8_t *restrict to, uint64_t count, uint32_t bits)
{
    if (HOST_IS_LITTLE || bits == 8)
        memcpy(to, from, (size_t)(count * (bits / 8)));
    else if (bits == 16)
        FOR_EACH(i, count, store16(to, i, load16(from, i)), (void)0);
    else if (bits == 32)
        FOR_EACH(i, count, store32(to, i, load32(from, i)), (void)0);
    else
        FOR_EACH(i, count, store64(to, i, load64(from, i)), (void)0);
}

bool lr_convertible(rec_dtype from, rec_dtype to)
{
    return (lr_dtype_is_float(from) && lr_dtype_is_float(to)) || (lr_dtype_is_int(from) && lr_dtype_is_int(to)) ||
           (lr_dtype_is_bool(from) && lr_dtype_is_bool(to));
}

static int convert(rec_dtype from, const void *from_data, rec_dtype to, void *to_data, uint64_t count, bool clamp,
                   bool plain, lr_converted *result)
{
    if (!lr_convertible(from, to))
        return LR_CONVERT_REFUSED;
    if (count == 0)
        return LR_CONVERT_OK;
    if (from == REC_DTYPE_FLEX32)
        from = REC_DTYPE_F32;
    if (to == REC_DTYPE_FLEX32)
        to = REC_DTYPE_F32;
    if (from == to)
        copy(from_data, to_data, count, rec_dtype_bits(from));
    else if (lr_dtype_is_float(from))
        convert_floats(from, from_data, to, to_data, count, plain, result);
    else if (lr_dtype_is_int(from))
        return convert_ints(from, from_data, to, to_data, count, clamp, result);
    else
        convert_bools(from, from_data, to, to_data, count);
    return LR_CONVERT_OK;
}

int lr_convert(rec_dtype from, const void *from_data, rec_dtype to, void *to_data, uint64_t count, bool clamp,
               lr_converted *result)
{
    return convert(from, from_data, to, to_data, count, clamp, false, result);
}

int lr_convert_plain(rec_dtype from, const void *from_data, rec_dtype to, void *to_data, uint64_t count, bool clamp,
                     lr_converted *result)
{
    return convert(from, from_data, to, to_data, count, clamp, true, result);
}
