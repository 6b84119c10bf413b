/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Floats from one type to another. Each kernel is one text, whose loops compilers make vectors of; on x86-64 it is
 * compiled a second time for AVX2. Kernels work on bit patterns in host byte order and convert to f32 or from f32; the
 * other pairs take two of them.
 *
 * A kernel reports whether a block may hold a NaN or an overflow. Only then mend() makes the NaNs, which processors
 * make in different ways, and counts the overflows. */
#include <string.h>

#include "common/cpu.h"
#include "core/record/convert_private.h"
#include "os/map.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define HAS_FAST() (LR_CPU_HAS(AVX2, "avx2") && LR_CPU_HAS(F16C, "f16c"))
#define FAST __attribute__((target("avx2,f16c")))
#elif defined(__aarch64__) && defined(__GNUC__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#include <arm_neon.h>
#define HAS_FAST() true
#define FAST
#else
#define HAS_FAST() false
#endif

/* Functions of a kernel are compiled for each kind of processor. */
#define INLINE static inline __attribute__((always_inline))

enum {
    BLOCK = 512, /* elements converted at a time */
    STEP = 64    /* a multiple of any vector's elements; GCC makes vectors at -O2 of loops of constant length */
};

/* ------------------------------------------------------------------------------------------ floats, one by one -- */

enum { HOST_IS_LITTLE = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ };

#define F64_MAGNITUDE 0x7fffffffffffffffu
#define F32_MAGNITUDE 0x7fffffffu
#define F32_INFINITY 0x7f800000u

INLINE uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

INLINE uint64_t bits_of_double(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

INLINE float float_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

INLINE double double_of(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Returns `yes` if the condition is 1, `no` if it is 0. Without a branch, or the loops would not be vectorised. */
INLINE uint32_t pick(uint32_t condition, uint32_t yes, uint32_t no)
{
    uint32_t mask = 0u - condition;
    return (yes & mask) | (no & ~mask);
}

INLINE uint32_t f16_to_f32(uint16_t half)
{
    uint32_t sign = (half & 0x8000u) << 16;
    uint32_t shifted = (half & 0x7fffu) << 13;
    /* A subnormal m × 2^-24: read as 2^-14 + m × 2^-24, less 2^-14; both are exact. */
    uint32_t subnormal = bits_of(float_of(shifted + (113u << 23)) - float_of(113u << 23));
    uint32_t normal = shifted + pick(shifted >= 31u << 23, 224u << 23, 112u << 23);
    return sign | pick(shifted < 1u << 23, subnormal, normal);
}

INLINE uint16_t f32_to_f16(uint32_t bits)
{
    uint32_t sign = (bits >> 16) & 0x8000u;
    uint32_t magnitude = bits & F32_MAGNITUDE;
    /* Half to even: a carry into the exponent is right, up to infinity. */
    uint32_t normal = (magnitude - (112u << 23) + 0xfffu + ((magnitude >> 13) & 1u)) >> 13;
    /* Beside 0.5 the last bit of an f32 weighs 2^-24, an f16's smallest step: the addition rounds. */
    uint32_t is_small = magnitude < 113u << 23;
    uint32_t subnormal = bits_of(float_of(pick(is_small, magnitude, 0u)) + 0.5f) - bits_of(0.5f);
    uint32_t finite = pick(is_small, subnormal, normal);
    return (uint16_t)(sign | pick(magnitude >= 143u << 23, 0x7c00u, finite));
}

/* Not for NaNs. */
INLINE uint16_t f32_to_bf16(uint32_t bits)
{
    return (uint16_t)((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

/* Cuts off the digits that an f32 has no room for. The last one kept is set if any of them was. */
INLINE uint64_t f64_cut(uint64_t bits)
{
    const uint64_t cut = 0x1fffffff;
    return (bits | ((bits & cut) + cut)) & ~cut;
}

/* Converts an f64 for a second rounding to f16 or bf16, which is then the only one. */
INLINE uint32_t f64_to_f32_odd(uint64_t bits)
{
    uint64_t magnitude = bits & F64_MAGNITUDE;
    /* Below f32's normal numbers: beside 2^-81 the last bit of an f64 weighs 2^-133, a bf16's smallest step. */
    uint64_t is_small = 0u - ((magnitude - (897ull << 52)) >> 63);
    uint64_t small = bits_of_double((double_of(magnitude & is_small) + 0x1p-81) - 0x1p-81);
    uint64_t result = (small & is_small) | (f64_cut(magnitude) & ~is_small);
    return bits_of((float)double_of(result | (bits & ~F64_MAGNITUDE)));
}

/* ----------------------------------------------------------------------------------------------------- kernels -- */

/* Converts `count` elements, a multiple of STEP. Returns whether there may be an infinity or a NaN. */
typedef bool (*kernel)(const uint8_t *restrict from, uint8_t *restrict to, uint32_t count);

/* @param part the narrower of x and y, of S bits. @param limit its least magnitude that a kernel reports. */
#define KERNEL(name, N, M, expression, S, part, limit)                                            \
    INLINE bool name##_inline(const uint8_t *restrict from, uint8_t *restrict to, uint32_t count) \
    {                                                                                             \
        const uint##S##_t sign = (uint##S##_t)1 << (S - 1), past = (uint##S##_t)(sign - (limit)); \
        uint##S##_t special = 0;                                                                  \
        for (size_t begin = 0; begin < count; begin += STEP) {                                    \
            for (size_t i = begin, j = 0; j < STEP; i++, j++) {                                   \
                uint##N##_t x;                                                                    \
                uint##M##_t y;                                                                    \
                memcpy(&x, from + i * sizeof x, sizeof x);                                        \
                y = expression;                                                                   \
                special |= (uint##S##_t)((part & (sign - 1)) + past);                             \
                memcpy(to + i * sizeof y, &y, sizeof y);                                          \
            }                                                                                     \
        }                                                                                         \
        return (special & sign) != 0;                                                             \
    }                                                                                             \
    static bool name(const uint8_t *restrict from, uint8_t *restrict to, uint32_t count)          \
    {                                                                                             \
        return name##_inline(from, to, count);                                                    \
    }
KERNEL(f64_f32, 64, 32, bits_of((float)double_of(x)), 32, y, 0x7f800000)
KERNEL(f64_f32_cut, 64, 32, bits_of((float)double_of(f64_cut(x))), 32, y, 0x7f800000)
KERNEL(f64_f32_odd, 64, 32, f64_to_f32_odd(x), 32, y, 0x7f800000)
KERNEL(f16_f32, 16, 32, f16_to_f32(x), 16, x, 0x7c00)
KERNEL(bf16_f32, 16, 32, (uint32_t)x << 16, 16, x, 0x7f80)
KERNEL(f32_f64, 32, 64, bits_of_double((double)float_of(x)), 32, x, 0x7f800000)
KERNEL(f32_f16, 32, 16, f32_to_f16(x), 16, y, 0x7c00)
KERNEL(f32_bf16, 32, 16, f32_to_bf16(x), 32, x, 0x7f7f8000)

/* By rec_dtype, f64 to bf16. */
typedef struct kernels {
    kernel to_f32[REC_DTYPE_BF16 + 1], from_f32[REC_DTYPE_BF16 + 1], cut, odd;
} kernels;

static const kernels plain_kernels = {
    .to_f32 = {[REC_DTYPE_F64] = f64_f32, [REC_DTYPE_F16] = f16_f32, [REC_DTYPE_BF16] = bf16_f32},
    .from_f32 = {[REC_DTYPE_F64] = f32_f64, [REC_DTYPE_F16] = f32_f16, [REC_DTYPE_BF16] = f32_bf16},
    .cut = f64_f32_cut,
    .odd = f64_f32_odd,
};

#ifdef FAST

#define FAST_KERNEL(name)                                                                            \
    FAST static bool name##_fast(const uint8_t *restrict from, uint8_t *restrict to, uint32_t count) \
    {                                                                                                \
        return name##_inline(from, to, count);                                                       \
    }
FAST_KERNEL(f64_f32)
FAST_KERNEL(f64_f32_cut)
FAST_KERNEL(f64_f32_odd)
FAST_KERNEL(bf16_f32)
FAST_KERNEL(f32_f64)
FAST_KERNEL(f32_bf16)

/* The instructions for f16, which compilers do not find, take a tenth of the time. */
#ifdef __x86_64__

enum { HALVES = 16 };
typedef uint16_t halves __attribute__((vector_size(2 * HALVES)));

FAST INLINE halves narrowed(const uint8_t *from)
{
    __m256 low = _mm256_loadu_ps((const void *)from), high = _mm256_loadu_ps((const void *)(from + 32));
    return (halves)_mm256_set_m128i(_mm256_cvtps_ph(high, _MM_FROUND_TO_NEAREST_INT),
                                    _mm256_cvtps_ph(low, _MM_FROUND_TO_NEAREST_INT));
}

FAST INLINE void widen(halves x, uint8_t *to)
{
    _mm256_storeu_ps((void *)to, _mm256_cvtph_ps(_mm256_castsi256_si128((__m256i)x)));
    _mm256_storeu_ps((void *)(to + 32), _mm256_cvtph_ps(_mm256_extracti128_si256((__m256i)x, 1)));
}

#else

enum { HALVES = 8 };
typedef uint16_t halves __attribute__((vector_size(2 * HALVES)));

INLINE halves narrowed(const uint8_t *from)
{
    float32x4_t low = vreinterpretq_f32_u8(vld1q_u8(from)), high = vreinterpretq_f32_u8(vld1q_u8(from + 16));
    return (halves)vcvt_high_f16_f32(vcvt_f16_f32(low), high);
}

INLINE void widen(halves x, uint8_t *to)
{
    vst1q_u8(to, vreinterpretq_u8_f32(vcvt_f32_f16(vget_low_f16((float16x8_t)x))));
    vst1q_u8(to + 16, vreinterpretq_u8_f32(vcvt_high_f32_f16((float16x8_t)x)));
}

#endif

FAST INLINE bool reaches_sign(halves special)
{
    uint16_t all = 0;
    for (unsigned i = 0; i < HALVES; i++)
        all |= special[i];
    return (all & 0x8000) != 0;
}

FAST static bool f16_f32_fast(const uint8_t *restrict from, uint8_t *restrict to, uint32_t count)
{
    halves special = {0};
    for (size_t i = 0; i < count; i += HALVES) {
        halves x;
        memcpy(&x, from + 2 * i, sizeof x);
        widen(x, to + 4 * i);
        special |= (x & 0x7fff) + 0x0400;
    }
    return reaches_sign(special);
}

FAST static bool f32_f16_fast(const uint8_t *restrict from, uint8_t *restrict to, uint32_t count)
{
    halves special = {0};
    for (size_t i = 0; i < count; i += HALVES) {
        halves y = narrowed(from + 4 * i);
        memcpy(to + 2 * i, &y, sizeof y);
        special |= (y & 0x7fff) + 0x0400;
    }
    return reaches_sign(special);
}

static const kernels fast_kernels = {
    .to_f32 = {[REC_DTYPE_F64] = f64_f32_fast, [REC_DTYPE_F16] = f16_f32_fast, [REC_DTYPE_BF16] = bf16_f32_fast},
    .from_f32 = {[REC_DTYPE_F64] = f32_f64_fast, [REC_DTYPE_F16] = f32_f16_fast, [REC_DTYPE_BF16] = f32_bf16_fast},
    .cut = f64_f32_cut_fast,
    .odd = f64_f32_odd_fast,
};

#else
#define fast_kernels plain_kernels
#endif

/* ------------------------------------------------------------------------------------------ NaNs and overflows -- */

/* The bits of an element are the upper ones of 64, whatever its type. */
static const uint8_t exponent_bits[] = {
    [REC_DTYPE_F64] = 11, [REC_DTYPE_F32] = 8, [REC_DTYPE_F16] = 5, [REC_DTYPE_BF16] = 8};

static uint64_t infinity(rec_dtype dtype)
{
    return F64_MAGNITUDE & ~(F64_MAGNITUDE >> exponent_bits[dtype]);
}

INLINE uint64_t load(const uint8_t *at, uint32_t width)
{
    uint64_t bits = 0;
    memcpy((uint8_t *)&bits + (HOST_IS_LITTLE ? sizeof bits - width : 0), at, width);
    return bits;
}

INLINE void store(uint8_t *at, uint32_t width, uint64_t bits)
{
    memcpy(at, (const uint8_t *)&bits + (HOST_IS_LITTLE ? sizeof bits - width : 0), width);
}

INLINE uint64_t mend_widths(rec_dtype from_dtype, const uint8_t *from, uint32_t from_width, rec_dtype to_dtype,
                            uint8_t *to, uint32_t to_width, uint32_t count)
{
    uint64_t from_infinity = infinity(from_dtype), to_infinity = infinity(to_dtype), overflowed = 0;
    for (uint32_t i = 0; i < count; i++, from += from_width, to += to_width) {
        uint64_t x = load(from, from_width);
        if ((x & F64_MAGNITUDE) > from_infinity) {
            uint64_t payload = x << (1 + exponent_bits[from_dtype]) | UINT64_C(1) << 63;
            store(to, to_width, (x & ~F64_MAGNITUDE) | to_infinity | payload >> (1 + exponent_bits[to_dtype]));
        } else {
            overflowed += (x & F64_MAGNITUDE) < from_infinity && (load(to, to_width) & F64_MAGNITUDE) == to_infinity;
        }
    }
    return overflowed;
}

/* Makes a NaN of each NaN in `from`, quiet, with its sign and upper payload. Returns how many finite numbers are
 * infinite in `to`. */
static uint64_t mend(rec_dtype from_dtype, const uint8_t *from, rec_dtype to_dtype, uint8_t *to, uint32_t count)
{
#define WIDTHS(N, M)                                                      \
    if (rec_dtype_bits(from_dtype) == N && rec_dtype_bits(to_dtype) == M) \
        return mend_widths(from_dtype, from, N / 8, to_dtype, to, M / 8, count);
    WIDTHS(64, 32)
    WIDTHS(64, 16)
    WIDTHS(32, 64)
    WIDTHS(32, 16)
    WIDTHS(16, 64)
    WIDTHS(16, 32)
    return mend_widths(from_dtype, from, 2, to_dtype, to, 2, count);
#undef WIDTHS
}

uint64_t lr_float_to_f64(rec_dtype dtype, uint64_t bits)
{
    uint32_t single = (uint32_t)bits;
    if (dtype == REC_DTYPE_F64)
        return bits;
    if (dtype == REC_DTYPE_F16)
        single = f16_to_f32((uint16_t)bits);
    else if (dtype == REC_DTYPE_BF16)
        single = single << 16;
    if ((single & F32_MAGNITUDE) > F32_INFINITY)
        return (uint64_t)(single & ~F32_MAGNITUDE) << 32 | 0x7ff8000000000000u | (uint64_t)(single & 0x7fffffu) << 29;
    return bits_of_double((double)float_of(single));
}

/* -------------------------------------------------------------------------------------- stores past the caches -- */

#ifdef __x86_64__

enum { STREAM_FROM = 32 << 20 }; /* bytes; fewer may well be read from a cache soon */

/* A page that is touched for the first time was just zeroed in the cache: there streaming takes up to 1.6 times as
 * long, on pages in use 0.8. The last page tells which it is. */
bool lr_convert_streams(const void *to, uint64_t size)
{
    return size >= STREAM_FROM && (uintptr_t)to % sizeof(__m128i) == 0 &&
           lr_map_is_resident((const uint8_t *)to + (size - 1));
}

static void stream_out(uint8_t *to, const uint8_t *from, size_t size)
{
    for (size_t i = 0; i < size; i += sizeof(__m128i))
        _mm_stream_si128((void *)(to + i), _mm_load_si128((const void *)(from + i)));
}

/* Streaming stores become visible before stores after the return. */
#define stream_end _mm_sfence

#else

bool lr_convert_streams(const void *to, uint64_t size)
{
    (void)to, (void)size;
    return false;
}

#define stream_out memcpy
#define stream_end() (void)0

#endif

/* ------------------------------------------------------------------------------------------------------ blocks -- */

/* Converts up to BLOCK elements with one kernel, or with two by way of f32. */
static bool convert_block(const kernels *k, rec_dtype from_dtype, const uint8_t *from, rec_dtype to_dtype, uint8_t *to,
                          uint32_t count)
{
    uint8_t middle[BLOCK * 4];
    kernel first = k->to_f32[from_dtype];
    if (to_dtype == REC_DTYPE_F32)
        return first(from, to, count);
    if (from_dtype == REC_DTYPE_F64)
        first = to_dtype == REC_DTYPE_F16 ? k->cut : k->odd;
    if (from_dtype != REC_DTYPE_F32) {
        (void)first(from, middle, count);
        from = middle;
    }
    return k->from_f32[to_dtype](from, to, count);
}

enum {
    FAR = 1 << 18, /* elements: so many are hardly in a cache */
    AHEAD = 1024   /* bytes that they are fetched ahead */
};

static void fetch_ahead(const uint8_t *from, size_t size)
{
    for (size_t i = AHEAD; i < AHEAD + size; i += 64) /* past the end, the processor does nothing */
        __builtin_prefetch((const void *)((uintptr_t)from + i));
}

uint64_t lr_convert_floats(rec_dtype from_dtype, const uint8_t *from, rec_dtype to_dtype, uint8_t *to, uint64_t count,
                           bool plain)
{
    const kernels *k = !plain && HAS_FAST() ? &fast_kernels : &plain_kernels;
    uint32_t from_width = rec_dtype_bits(from_dtype) / 8, to_width = rec_dtype_bits(to_dtype) / 8;
    bool stream = lr_convert_streams(to, count * to_width);
    uint64_t overflowed = 0;
    for (uint64_t begin = 0; begin < count; begin += BLOCK) {
        _Alignas(64) uint8_t source[BLOCK * 8], target[BLOCK * 8];
        uint32_t n = count - begin < BLOCK ? (uint32_t)(count - begin) : BLOCK, rest = -n % STEP;
        const uint8_t *in = from + begin * from_width;
        uint8_t *place = to + begin * to_width, *out = rest || stream ? target : place;
        if (count >= FAR)
            fetch_ahead(in, BLOCK * from_width);
        if (rest || !HOST_IS_LITTLE) {
            memcpy(source, in, n * from_width);
            memset(source + n * from_width, 0, rest * from_width);
            lr_swap_if_big(source, from_width, n);
            in = source;
        }
        if (convert_block(k, from_dtype, in, to_dtype, out, n + rest))
            overflowed += mend(from_dtype, in, to_dtype, out, n);
        if (rest)
            memcpy(place, target, n * to_width);
        else if (stream)
            stream_out(place, target, n * to_width);
    }
    if (stream)
        stream_end();
    return overflowed;
}
