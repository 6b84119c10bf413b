/* SPDX-License-Identifier: MIT OR Apache-2.0
 * MessagePack made by hand, so that tests say byte for byte what a reader gets; and Burn's frame around it. */
#ifndef CRAFT_H
#define CRAFT_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "librecord.h"

typedef struct craft {
    uint8_t *data;
    size_t size, room;
} craft;

static inline void craft_raw(craft *c, const void *data, size_t size)
{
    if (c->size + size > c->room) {
        c->room = (c->size + size) * 2 + 256;
        c->data = realloc(c->data, c->room);
        if (!c->data) {
            abort();
        }
    }
    if (size) {
        memcpy(c->data + c->size, data, size);
    }
    c->size += size;
}

/* A byte and a big-endian number of `width` bytes. */
static inline void craft_number(craft *c, unsigned first, uint64_t number, unsigned width)
{
    uint8_t bytes[9] = {(uint8_t)first};
    for (unsigned i = 0; i < width; i++) {
        bytes[1 + i] = (uint8_t)(number >> 8 * (width - 1 - i));
    }
    craft_raw(c, bytes, 1 + width);
}

static inline void craft_nil(craft *c)
{
    craft_number(c, 0xc0, 0, 0);
}

static inline void craft_bool(craft *c, int value)
{
    craft_number(c, value ? 0xc3 : 0xc2, 0, 0);
}

static inline void craft_uint(craft *c, uint64_t value)
{
    if (value < 0x80) {
        craft_number(c, (unsigned)value, 0, 0);
    } else {
        unsigned log = value <= UINT8_MAX ? 0 : value <= UINT16_MAX ? 1 : value <= UINT32_MAX ? 2 : 3;
        craft_number(c, 0xcc + log, value, 1u << log);
    }
}

static inline void craft_int(craft *c, int64_t value)
{
    if (value >= 0) {
        craft_uint(c, (uint64_t)value);
    } else {
        craft_number(c, 0xd3, (uint64_t)value, 8);
    }
}

static inline void craft_f32(craft *c, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    craft_number(c, 0xca, bits, 4);
}

static inline void craft_f64(craft *c, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    craft_number(c, 0xcb, bits, 8);
}

static inline void craft_str(craft *c, const char *text)
{
    size_t length = strlen(text);
    if (length < 32) {
        craft_number(c, 0xa0 + (unsigned)length, 0, 0);
    } else {
        craft_number(c, 0xda, length, 2);
    }
    craft_raw(c, text, length);
}

static inline void craft_bin(craft *c, const void *data, size_t size)
{
    craft_number(c, 0xc6, size, 4);
    craft_raw(c, data, size);
}

static inline void craft_list(craft *c, uint64_t count)
{
    if (count < 16) {
        craft_number(c, 0x90 + (unsigned)count, 0, 0);
    } else {
        craft_number(c, 0xdd, count, 4);
    }
}

static inline void craft_map(craft *c, uint64_t count)
{
    if (count < 16) {
        craft_number(c, 0x80 + (unsigned)count, 0, 0);
    } else {
        craft_number(c, 0xdf, count, 4);
    }
}

/* ------------------------------------------------------------------------------------------- Burn's own shapes -- */

enum { CRAFT_DOUBLE, CRAFT_FULL, CRAFT_HALF };

static inline void craft_metadata(craft *c, const char *version, int precision)
{
    static const char *const floats[] = {"f64", "f32", "half::binary16::f16"};
    static const char *const ints[] = {"i64", "i32", "i16"};
    static const char *const settings[] = {"DoublePrecisionSettings", "FullPrecisionSettings", "HalfPrecisionSettings"};
    craft_map(c, 5);
    craft_str(c, "float");
    craft_str(c, floats[precision]);
    craft_str(c, "int");
    craft_str(c, ints[precision]);
    craft_str(c, "format");
    craft_str(c, "by hand");
    craft_str(c, "version");
    craft_str(c, version);
    craft_str(c, "settings");
    craft_str(c, settings[precision]);
}

/* {metadata, item: …; the caller writes the item next. There is no `_b`: readers do without. */
static inline void craft_begin(craft *c, const char *version, int precision)
{
    craft_map(c, 2);
    craft_str(c, "metadata");
    craft_metadata(c, version, precision);
    craft_str(c, "item");
}

static inline void craft_shape(craft *c, unsigned rank, const uint64_t *shape)
{
    craft_str(c, "shape");
    craft_list(c, rank);
    for (unsigned i = 0; i < rank; i++) {
        craft_uint(c, shape[i]);
    }
}

/* {bytes, shape, dtype} with one dimension. */
static inline void craft_v2(craft *c, const char *dtype, uint64_t length, const void *data, size_t size)
{
    craft_map(c, 3);
    craft_str(c, "bytes");
    craft_bin(c, data, size);
    craft_shape(c, 1, &length);
    craft_str(c, "dtype");
    craft_str(c, dtype);
}

/* {id, param: …; the caller writes the tensor next. */
static inline void craft_param(craft *c, const char *id)
{
    craft_map(c, 2);
    craft_str(c, "id");
    craft_str(c, id);
    craft_str(c, "param");
}

/* {value: […, of `count` numbers; the caller writes them and then craft_shape(). */
static inline void craft_v1(craft *c, uint64_t count)
{
    craft_map(c, 2);
    craft_str(c, "value");
    craft_list(c, count);
}

/** Loads what was made; the record points into it. NULL with the error. */
static inline rec_record *craft_load(const craft *c, rec_precision precision)
{
    rec_recorder *recorder = rec_open_recorder("NamedMpk", precision);
    rec_record *record = recorder ? rec_load_bytes(recorder, c->data, c->size) : NULL;
    rec_close_recorder(recorder);
    return record;
}

static inline void craft_free(craft *c)
{
    free(c->data);
    *c = (craft){0};
}

#endif
