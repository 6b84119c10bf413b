/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Runs of numbers, of which tensors of old Burn consist: one loop without events. */
#include "plugins/codec/msgpack/numbers.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "common/cpu.h"

static inline uint32_t load32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | (uint32_t)p[3];
}

static inline uint64_t load64(const uint8_t *p)
{
    return (uint64_t)load32(p) << 32 | load32(p + 4);
}

uint64_t lr_msgpack_floats_plain(const uint8_t *data, uint64_t count, float *out)
{
    uint64_t i = 0;
    for (; i < count && data[0] == 0xca; i++, data += LR_MSGPACK_F32) {
        uint32_t bits = load32(data + 1);
        memcpy(&out[i], &bits, sizeof bits);
    }
    return i;
}

uint64_t lr_msgpack_doubles(const uint8_t *data, uint64_t count, double *out)
{
    uint64_t i = 0;
    for (; i < count && data[0] == 0xcb; i++, data += LR_MSGPACK_F64) {
        uint64_t bits = load64(data + 1);
        memcpy(&out[i], &bits, sizeof bits);
    }
    return i;
}

uint64_t lr_msgpack_integers(const uint8_t **data, const uint8_t *end, int64_t *out, uint64_t room)
{
    const uint8_t *p = *data;
    uint64_t count = 0;
    for (; count < room && end - p >= 9; count++) {
        uint8_t first = *p;
        int64_t value;
        unsigned length = 1;
        if (first < 0x80) {
            value = first;
        } else if (first >= 0xe0) {
            value = (int8_t)first;
        } else if (first == 0xcc || first == 0xd0) {
            value = first == 0xcc ? (int64_t)p[1] : (int64_t)(int8_t)p[1];
            length = 2;
        } else if (first == 0xcd || first == 0xd1) {
            uint16_t bits = (uint16_t)(p[1] << 8 | p[2]);
            value = first == 0xcd ? (int64_t)bits : (int64_t)(int16_t)bits;
            length = 3;
        } else if (first == 0xce || first == 0xd2) {
            uint32_t bits = load32(p + 1);
            value = first == 0xce ? (int64_t)bits : (int64_t)(int32_t)bits;
            length = 5;
        } else if (first == 0xd3 || (first == 0xcf && p[1] < 0x80)) {
            value = (int64_t)load64(p + 1);
            length = 9;
        } else {
            break;
        }
        out[count] = value;
        p += length;
    }
    *data = p;
    return count;
}

/* Floats of 32 bits by vectors: three objects are 15 bytes, which one shuffle turns into three numbers. Equal to the
 * plain version; tests/codec/test_msgpack.c compares them. */
#if defined(__has_builtin) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#if __has_builtin(__builtin_shufflevector) /* GCC 12, Clang */
#if defined(__x86_64__)
#define HAS_SHUFFLE() LR_CPU_HAS(SSSE3, "ssse3")
#define SHUFFLE __attribute__((target("ssse3")))
#elif defined(__aarch64__)
#define HAS_SHUFFLE() true
#define SHUFFLE
#endif
#endif
#endif

#ifdef SHUFFLE

typedef uint8_t vector __attribute__((vector_size(16)));
typedef uint32_t words __attribute__((vector_size(16)));

SHUFFLE static uint64_t floats_vector(const uint8_t *data, uint64_t count, float *out)
{
    uint64_t i = 0;
    /* A step loads 16 bytes and stores 4 numbers, of which the last is overwritten later. */
    for (; count - i >= 4; i += 3, data += 15) {
        vector v;
        memcpy(&v, data, sizeof v);
        v = __builtin_shufflevector(v, v, 4, 3, 2, 1, 9, 8, 7, 6, 14, 13, 12, 11, 0, 5, 10, 10);
        if (((words)v)[3] != 0xcacacacau) {
            break;
        }
        memcpy(out + i, &v, sizeof v);
    }
    return i + lr_msgpack_floats_plain(data, count - i, out + i);
}

#endif

lr_msgpack_floats *lr_msgpack_floats_choice(unsigned index)
{
#ifdef SHUFFLE
    if (HAS_SHUFFLE() && index-- == 0) {
        return floats_vector;
    }
#endif
    return index == 0 ? lr_msgpack_floats_plain : NULL;
}
