/* SPDX-License-Identifier: MIT OR Apache-2.0
 * MessagePack by its specification: reads and makes the heads of values. */
#ifndef FLAX_MSGPACK_H
#define FLAX_MSGPACK_H

#include "common/window.h"

enum mp_kind { MP_NIL, MP_BOOL, MP_UINT, MP_INT, MP_FLOAT, MP_TEXT, MP_BYTES, MP_LIST, MP_MAP, MP_EXT };

/** A value; of a list or map only its head. */
typedef struct mp_value {
    enum mp_kind kind;
    uint32_t bits;  /**< FLOAT: 32 or 64 */
    int8_t type;    /**< EXT */
    uint64_t at;    /**< offset of its first byte */
    uint64_t data;  /**< TEXT, BYTES, EXT: offset of their bytes */
    uint64_t count; /**< TEXT, BYTES, EXT: bytes. LIST: elements. MAP: entries. BOOL, UINT: the value */
    int64_t number; /**< INT: the value, negative */
    double real;    /**< FLOAT */
} mp_value;

/** The longest head: a first byte and eight of a number. */
enum { MP_HEAD = 9 };

/** Decodes the head of a value; `at` and `data` are set relative to `bytes`.
 * @return its length, 1 to MP_HEAD; 0 if `length` bytes are too few for it, or the first byte is no value's. */
uint32_t mp_decode(const uint8_t *bytes, uint64_t length, mp_value *value);

/** A range of the file, the values of which are read one after another. */
typedef struct mp_cursor {
    window *w;
    uint64_t at, end;
} mp_cursor;

/** Reads the next value: a text, byte string or extension whole, of a list or map the head. Checks all counts. */
rec_status mp_next(mp_cursor *c, mp_value *value);
/** Skips the next value with everything in it. */
rec_status mp_skip(mp_cursor *c);
/** Reports that a value is not the expected one. */
rec_status mp_unexpected(const mp_cursor *c, const char *expected, const mp_value *value);
/** Whether a text, or a byte string, has these bytes. @param same (out). */
rec_status mp_is(const mp_cursor *c, const mp_value *value, const char *bytes, int *same);

/* The shortest heads, as msgpack-python makes them. Each needs room for MP_HEAD bytes and returns its length. */
uint32_t mp_put_uint(uint8_t *to, uint64_t number);
uint32_t mp_put_int(uint8_t *to, int64_t number);
uint32_t mp_put_float(uint8_t *to, double number);
uint32_t mp_put_text(uint8_t *to, uint64_t length);
uint32_t mp_put_bytes(uint8_t *to, uint64_t length);
uint32_t mp_put_list(uint8_t *to, uint64_t count);
uint32_t mp_put_map(uint8_t *to, uint64_t count);
uint32_t mp_put_ext(uint8_t *to, int8_t type, uint64_t length);

#endif
