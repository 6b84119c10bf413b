/* SPDX-License-Identifier: MIT OR Apache-2.0
 * MessagePack that may be a record: by its first bytes. */
#include "plugins/codec/msgpack/msgpack.h"

#include <string.h>

#include "plugins/codec/msgpack/numbers.h"

/* The bytes before the text of a string (fixstr, str 8, str 16, str 32). 0: it is no string, or its head is cut. */
static uint64_t key_head(const uint8_t *data, uint64_t length, uint64_t *text)
{
    if (length && (data[0] & 0xe0) == 0xa0) {
        *text = data[0] & 0x1f;
        return 1;
    }
    uint64_t width = !length ? 0 : data[0] == 0xd9 ? 1 : data[0] == 0xda ? 2 : data[0] == 0xdb ? 4 : 0;
    if (!width || length <= width) {
        return 0;
    }
    *text = lr_msgpack_big(data + 1, (unsigned)width);
    return 1 + width;
}

int32_t lr_msgpack_probe(const uint8_t *data, uint64_t length)
{
    static const uint8_t key[] = {0xa8, 'm', 'e', 't', 'a', 'd', 'a', 't', 'a'};
    static const char *const burns[] = {"metadata", "item", "_b", "StateNamed"};
    if (length == 0 || !lr_msgpack_is_map(data[0])) {
        return 0;
    }
    uint64_t header = data[0] == 0xde ? 3 : data[0] == 0xdf ? 5 : 1, text;
    if (length >= header + sizeof key && memcmp(data + header, key, sizeof key) == 0) {
        return 8 + 8 * (int32_t)sizeof key;
    }
    /* A record whose keys come in another order or with longer heads, or a beginning that ends within its first key. */
    uint64_t head = key_head(data + (header < length ? header : length), header < length ? length - header : 0, &text);
    if (!head) {
        return 0;
    }
    header += head;
    uint64_t there = length - header < text ? length - header : text;
    for (size_t i = 0; i < sizeof burns / sizeof *burns; i++) {
        if (strlen(burns[i]) == text && memcmp(burns[i], data + header, (size_t)there) == 0) {
            return there == text ? 7 : 1;
        }
    }
    return 0;
}
