/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Runs of numbers, of which tensors of old Burn consist: one loop without events. */
#include "plugins/codec/msgpack/numbers.h"

#include <string.h>

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
