/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What bytes say of MessagePack: how it begins, and what its end cuts. */
#include "plugins/codec/msgpack/cut.h"

bool lr_msgpack_is_map(uint8_t first)
{
    return (first & 0xf0) == 0x80 || first == 0xde || first == 0xdf;
}

/* An object that the end of the data cuts: what it is and how many bytes it has, as far as they tell. */
const char *lr_msgpack_cut_object(const uint8_t *data, uint64_t left, uint64_t *size)
{
    uint8_t first = data[0];
    unsigned width = 0; /* of the length that follows the first byte */
    const char *what;
    if (first >= 0xa0 && first <= 0xbf) {
        *size = 1 + (uint64_t)(first & 0x1f);
        return "string";
    }
    switch (first) {
    case 0xc4:
    case 0xc5:
    case 0xc6:
        what = "byte string";
        width = 1u << (first - 0xc4);
        break;
    case 0xd9:
    case 0xda:
    case 0xdb:
        what = "string";
        width = 1u << (first - 0xd9);
        break;
    case 0xdc:
    case 0xdd:
        *size = first == 0xdc ? 3 : 5;
        return "list";
    case 0xde:
    case 0xdf:
        *size = first == 0xde ? 3 : 5;
        return "map";
    case 0xca:
    case 0xcb:
        *size = first == 0xca ? 5 : 9;
        return "number";
    default: /* 0xcc to 0xd3: integers of 1, 2, 4 and 8 bytes */
        *size = 1 + (UINT64_C(1) << (first & 3));
        return "number";
    }
    *size = 1 + (uint64_t)width;
    if (left >= *size) {
        uint64_t length = 0;
        for (unsigned i = 0; i < width; i++) {
            length = length << 8 | data[1 + i];
        }
        *size += length;
    }
    return what;
}
