/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Floats of 32 bits by vectors: three objects are 15 bytes, which one shuffle turns into three numbers. Equal to the
 * plain version; tests/codec/test_msgpack.c compares them. */
#include "plugins/codec/msgpack/numbers.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "common/cpu.h"

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
