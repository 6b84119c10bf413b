/* SPDX-License-Identifier: MIT OR Apache-2.0
 * MessagePack that may be a record: by its first bytes. */
#include "plugins/codec/msgpack/msgpack.h"

#include <string.h>

#include "plugins/codec/msgpack/cut.h"

int32_t lr_msgpack_probe(const uint8_t *data, uint64_t length)
{
    static const uint8_t key[] = {0xa8, 'm', 'e', 't', 'a', 'd', 'a', 't', 'a'};
    static const char *const burns[] = {"metadata", "item", "_b", "StateNamed"};
    if (length == 0 || !lr_msgpack_is_map(data[0])) {
        return 0;
    }
    uint64_t header = data[0] == 0xde ? 3 : data[0] == 0xdf ? 5 : 1;
    if (length >= header + sizeof key && memcmp(data + header, key, sizeof key) == 0) {
        return 8 + 8 * (int32_t)sizeof key;
    }
    /* A record whose keys come in another order, or a beginning that ends within its first key. */
    if (length <= header || (data[header] & 0xe0) != 0xa0) {
        return 0;
    }
    uint64_t text = data[header] & 0x1f, there = length - header - 1 < text ? length - header - 1 : text;
    for (size_t i = 0; i < sizeof burns / sizeof *burns; i++) {
        if (strlen(burns[i]) == text && memcmp(burns[i], data + header + 1, (size_t)there) == 0) {
            return there == text ? 7 : 1;
        }
    }
    return 0;
}
