/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Reads the fields of a Protocol Buffers message, one after another. */
#ifndef ONNX_PROTOBUF_H
#define ONNX_PROTOBUF_H

#include "common/window.h"

/** How a field is stored. Groups are obsolete and rejected. */
enum pb_wire { PB_VARINT = 0, PB_FIXED64 = 1, PB_BYTES = 2, PB_FIXED32 = 5 };

typedef struct pb_field {
    uint32_t number;
    uint32_t wire;
    uint64_t at;    /**< offset of its tag */
    uint64_t data;  /**< BYTES, FIXED: offset of the bytes */
    uint64_t size;  /**< BYTES, FIXED: how many */
    uint64_t value; /**< VARINT */
} pb_field;

/** A message, or packed numbers: a range of the file. */
typedef struct pb_cursor {
    window *w;
    uint64_t at, end;
} pb_cursor;

/** Decodes a number. @return its bytes, 1 to 10; 0 if `length` bytes do not hold it or it has more than 64 bits. */
uint32_t pb_decode(const uint8_t *bytes, uint64_t length, uint64_t *value);
/** Reads a number at the cursor. */
rec_status pb_varint(pb_cursor *c, uint64_t *value);
/** Reads a field and moves after it. */
rec_status pb_next(pb_cursor *c, pb_field *field);
/** @return a cursor for the message or the packed numbers in a field of PB_BYTES. */
pb_cursor pb_inside(const pb_cursor *c, const pb_field *field);
/** Checks how a field is stored. @param name of the field, for the message. */
rec_status pb_expect(const pb_cursor *c, const pb_field *field, uint32_t wire, const char *name);

#endif
