/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "onnx/protobuf.h"

enum { VARINT_MOST = 10 };

uint32_t pb_decode(const uint8_t *bytes, uint64_t length, uint64_t *value)
{
    *value = 0;
    for (uint32_t i = 0; i < VARINT_MOST && i < length; i++) {
        if (i == VARINT_MOST - 1 && bytes[i] > 1) {
            return 0;
        }
        *value |= (uint64_t)(bytes[i] & 0x7f) << (7 * i);
        if (bytes[i] < 0x80) {
            return i + 1;
        }
    }
    return 0;
}

static const char *end_of(const pb_cursor *c)
{
    return c->end == c->w->size ? "the end of the file" : "the end of its message";
}

rec_status pb_varint(pb_cursor *c, uint64_t *value)
{
    const uint8_t *bytes;
    uint64_t left = c->end - c->at, got;
    uint32_t used;
    rec_status status;
    if (!left) {
        return rec_fail_found(c->w->job, REC_E_FORMAT, c->at, "a number", "%s", end_of(c));
    }
    status = window_get(c->w, c->at, left < VARINT_MOST ? left : VARINT_MOST, &bytes, &got);
    if (status != REC_OK) {
        return status;
    }
    used = pb_decode(bytes, got, value);
    if (!used && got < VARINT_MOST && bytes[got - 1] >= 0x80) {
        return rec_fail_found(c->w->job, REC_E_FORMAT, c->at, "the rest of a number", "%s", end_of(c));
    }
    if (!used) {
        return rec_fail(c->w->job, REC_E_FORMAT, c->at, "a number of more than 64 bits");
    }
    c->at += used;
    return REC_OK;
}

/* Reads the size of a field's bytes, and checks that they are there. */
static rec_status measure(pb_cursor *c, pb_field *field)
{
    rec_status status = REC_OK;
    field->size = field->wire == PB_FIXED64 ? 8 : 4;
    if (field->wire == PB_BYTES) {
        status = pb_varint(c, &field->size);
    }
    field->data = c->at;
    if (status == REC_OK && field->size > c->end - c->at) {
        return rec_fail_found(c->w->job, REC_E_FORMAT, field->at, "as many bytes as the field announces",
                              "%llu more, then %s", (unsigned long long)(c->end - c->at), end_of(c));
    }
    c->at += status == REC_OK ? field->size : 0;
    return status;
}

rec_status pb_next(pb_cursor *c, pb_field *field)
{
    uint64_t tag;
    rec_status status;
    *field = (pb_field){.at = c->at};
    status = pb_varint(c, &tag);
    if (status != REC_OK) {
        return status;
    }
    field->wire = tag & 7;
    field->number = (uint32_t)(tag >> 3);
    if (tag > UINT32_MAX || !field->number) {
        return rec_fail_found(c->w->job, REC_E_FORMAT, field->at, "the number of a field", "%llu",
                              (unsigned long long)(tag >> 3));
    }
    switch (field->wire) {
    case PB_VARINT:
        return pb_varint(c, &field->value);
    case PB_FIXED64:
    case PB_FIXED32:
    case PB_BYTES:
        return measure(c, field);
    default:
        return rec_fail_found(c->w->job, REC_E_FORMAT, field->at, "a field of Protocol Buffers", "wire type %u",
                              field->wire);
    }
}

pb_cursor pb_inside(const pb_cursor *c, const pb_field *field)
{
    return (pb_cursor){c->w, field->data, field->data + field->size};
}

rec_status pb_expect(const pb_cursor *c, const pb_field *field, uint32_t wire, const char *name)
{
    static const char *const wires[] = {"a number", "8 bytes", "a range of bytes", "", "", "4 bytes"};
    if (field->wire == wire) {
        return REC_OK;
    }
    return rec_fail(c->w->job, REC_E_FORMAT, field->at, "%s: expected %s, found %s", name, wires[wire],
                    wires[field->wire]);
}
