/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Blocks: the kinds there are, and what the versions with vectors share. */
#ifndef LR_GGUF_BLOCKS_PRIVATE_H
#define LR_GGUF_BLOCKS_PRIVATE_H

#include <string.h>

#include "plugins/codec/gguf/blocks.h"

/* What four bits stand for where they are not spaced evenly, and twice the values of FP4 (E2M1). */
extern const int8_t lr_gguf_uneven[16], lr_gguf_doubled[16];
/** The scale of a block of MXFP4, halved, as `lr_gguf_doubled` is doubled. */
float lr_gguf_mxfp4_scale(uint8_t exponent);

#if defined(__x86_64__) && defined(__GNUC__)
#define LR_GGUF_HAS_X86
#elif defined(__aarch64__) && defined(__GNUC__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define LR_GGUF_HAS_NEON
#endif

#if defined(LR_GGUF_HAS_X86) || defined(LR_GGUF_HAS_NEON)

typedef uint8_t bytes __attribute__((vector_size(16)));
typedef uint16_t words __attribute__((vector_size(16)));
typedef uint32_t quads __attribute__((vector_size(16)));

static inline __attribute__((always_inline)) bytes load(const void *from)
{
    bytes loaded;
    memcpy(&loaded, from, sizeof loaded);
    return loaded;
}

static inline __attribute__((always_inline)) uint32_t load_quad(const uint8_t *from)
{
    uint32_t loaded;
    memcpy(&loaded, from, sizeof loaded);
    return loaded;
}

/* The low bits of each of four bytes. */
#define LOW_2 0x03030303u
#define LOW_4 0x0f0f0f0fu
#define LOW_6 0x3f3f3f3fu

#endif

#endif
