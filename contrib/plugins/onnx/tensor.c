/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <string.h>

#include "onnx/tensor.h"

/* By the numbers of TensorProto.DataType. The names of opaque types are those of safetensors. */
static const tensor_type types[] = {
    [1] = {"float", REC_DTYPE_F32, 4, FLOAT_DATA, 1, NULL},
    [2] = {"uint8", REC_DTYPE_U8, 1, INT32_DATA, 1, NULL},
    [3] = {"int8", REC_DTYPE_I8, 1, INT32_DATA, 1, NULL},
    [4] = {"uint16", REC_DTYPE_U16, 2, INT32_DATA, 1, NULL},
    [5] = {"int16", REC_DTYPE_I16, 2, INT32_DATA, 1, NULL},
    [6] = {"int32", REC_DTYPE_I32, 4, INT32_DATA, 1, NULL},
    [7] = {"int64", REC_DTYPE_I64, 8, INT64_DATA, 1, NULL},
    [8] = {"string", REC_DTYPE_NONE, 0, 0, 0, NULL},
    [9] = {"bool", REC_DTYPE_BOOL, 1, INT32_DATA, 1, NULL},
    [10] = {"float16", REC_DTYPE_F16, 2, INT32_DATA, 1, NULL},
    [11] = {"double", REC_DTYPE_F64, 8, DOUBLE_DATA, 1, NULL},
    [12] = {"uint32", REC_DTYPE_U32, 4, UINT64_DATA, 1, NULL},
    [13] = {"uint64", REC_DTYPE_U64, 8, UINT64_DATA, 1, NULL},
    [14] = {"complex64", REC_DTYPE_OPAQUE, 8, FLOAT_DATA, 2, "C64"},
    [15] = {"complex128", REC_DTYPE_OPAQUE, 16, DOUBLE_DATA, 2, "C128"},
    [16] = {"bfloat16", REC_DTYPE_BF16, 2, INT32_DATA, 1, NULL},
    [17] = {"float8e4m3fn", REC_DTYPE_OPAQUE, 1, INT32_DATA, 1, "F8_E4M3"},
    [18] = {"float8e4m3fnuz", REC_DTYPE_OPAQUE, 1, INT32_DATA, 1, "F8_E4M3FNUZ"},
    [19] = {"float8e5m2", REC_DTYPE_OPAQUE, 1, INT32_DATA, 1, "F8_E5M2"},
    [20] = {"float8e5m2fnuz", REC_DTYPE_OPAQUE, 1, INT32_DATA, 1, "F8_E5M2FNUZ"},
    [21] = {"uint4", REC_DTYPE_NONE, 0, 0, 0, NULL},
    [22] = {"int4", REC_DTYPE_NONE, 0, 0, 0, NULL},
    [23] = {"float4e2m1", REC_DTYPE_NONE, 0, 0, 0, NULL},
    [24] = {"float8e8m0", REC_DTYPE_OPAQUE, 1, INT32_DATA, 1, "F8_E8M0"},
    [25] = {"uint2", REC_DTYPE_NONE, 0, 0, 0, NULL},
    [26] = {"int2", REC_DTYPE_NONE, 0, 0, 0, NULL},
};
enum { TYPES = sizeof types / sizeof *types };

/* Fields of TensorProto, and of its StringStringEntryProto. */
enum { DIMS = 1, DATA_TYPE = 2, SEGMENT = 3, NAME = 8, RAW_DATA = 9, EXTERNAL_DATA = 13, DATA_LOCATION = 14 };
enum { ENTRY_KEY = 1, ENTRY_VALUE = 2 };

static int holds_numbers(uint32_t field)
{
    return field == FLOAT_DATA || field == INT32_DATA || field == INT64_DATA || field == DOUBLE_DATA ||
           field == UINT64_DATA;
}

/* ------------------------------------------------------------------------------------------------- its fields -- */

static rec_status add_size(const pb_cursor *c, tensor *t, uint64_t at, uint64_t size)
{
    if (t->rank == TENSOR_RANK) {
        return rec_fail(c->w->job, REC_E_UNSUPPORTED, at, "a tensor of more than %d dimensions", TENSOR_RANK);
    }
    if (size > INT64_MAX) {
        return rec_fail_found(c->w->job, REC_E_FORMAT, at, "the size of a dimension", "a negative number");
    }
    t->shape[t->rank++] = size;
    return REC_OK;
}

/* Sizes are packed, or fields of their own. */
static rec_status read_dims(const pb_cursor *c, const pb_field *field, tensor *t)
{
    pb_cursor inside = pb_inside(c, field);
    rec_status status = REC_OK;
    uint64_t size;
    if (field->wire == PB_VARINT) {
        return add_size(c, t, field->at, field->value);
    }
    status = pb_expect(c, field, PB_BYTES, "dims");
    while (status == REC_OK && inside.at < inside.end) {
        uint64_t at = inside.at;
        status = pb_varint(&inside, &size);
        status = status == REC_OK ? add_size(c, t, at, size) : status;
    }
    return status;
}

static rec_status read_type(const pb_cursor *c, const pb_field *field, tensor *t)
{
    rec_status status = pb_expect(c, field, PB_VARINT, "data_type");
    if (status == REC_OK && (field->value >= TYPES || !types[field->value].name)) {
        return rec_fail_found(c->w->job, REC_E_UNSUPPORTED, field->at, "an element type of ONNX", "number %llu",
                              (unsigned long long)field->value);
    }
    t->type = status == REC_OK ? &types[field->value] : NULL;
    return status;
}

static int same(const pb_cursor *c, const pb_field *field, const char *word)
{
    const uint8_t *bytes;
    uint64_t length = strlen(word), got;
    return field->wire == PB_BYTES && field->size == length &&
           window_get(c->w, field->data, length, &bytes, &got) == REC_OK && memcmp(bytes, word, length) == 0;
}

static rec_status read_decimal(const pb_cursor *c, const pb_field *field, uint64_t *number)
{
    const uint8_t *digits;
    uint64_t got = 0;
    int bad = !field->size || field->size > 19;
    rec_status status = bad ? REC_OK : window_get(c->w, field->data, field->size, &digits, &got);
    *number = 0;
    for (uint64_t i = 0; i < got && status == REC_OK && !bad; i++) {
        bad = digits[i] < '0' || digits[i] > '9' || __builtin_mul_overflow(*number, 10, number) ||
              __builtin_add_overflow(*number, digits[i] - '0', number);
    }
    return status == REC_OK && bad
               ? rec_fail_found(c->w->job, REC_E_FORMAT, field->at, "a number in decimal", "another text")
               : status;
}

/* An entry of external_data: location, offset, length, checksum. */
static rec_status read_external(const pb_cursor *c, const pb_field *field, tensor *t)
{
    pb_cursor inside = pb_inside(c, field);
    pb_field key = {0}, value = {0}, next;
    rec_status status = pb_expect(c, field, PB_BYTES, "external_data");
    while (status == REC_OK && inside.at < inside.end) {
        status = pb_next(&inside, &next);
        if (status == REC_OK && (next.number == ENTRY_KEY || next.number == ENTRY_VALUE)) {
            status = pb_expect(c, &next, PB_BYTES, "an entry of external_data");
            *(next.number == ENTRY_KEY ? &key : &value) = next;
        }
    }
    if (status == REC_OK && same(c, &key, "location")) {
        t->location = value.data;
        t->location_size = value.size;
    } else if (status == REC_OK && same(c, &key, "offset")) {
        status = read_decimal(c, &value, &t->offset);
    } else if (status == REC_OK && same(c, &key, "length")) {
        status = read_decimal(c, &value, &t->length);
    }
    return status;
}

static rec_status read_field(const pb_cursor *c, const pb_field *field, tensor *t)
{
    rec_status status;
    switch (field->number) {
    case DIMS:
        return read_dims(c, field, t);
    case DATA_TYPE:
        return read_type(c, field, t);
    case SEGMENT:
        return rec_fail(c->w->job, REC_E_UNSUPPORTED, field->at, "a tensor stored in segments");
    case EXTERNAL_DATA:
        return read_external(c, field, t);
    case DATA_LOCATION:
        status = pb_expect(c, field, PB_VARINT, "data_location");
        t->external = field->value == 1;
        return status == REC_OK && field->value > 1
                   ? rec_fail_found(c->w->job, REC_E_UNSUPPORTED, field->at, "a known place of data", "number %llu",
                                    (unsigned long long)field->value)
                   : status;
    case RAW_DATA:
        status = pb_expect(c, field, PB_BYTES, "raw_data");
        t->raw = 1;
        break;
    default:
        if (!holds_numbers(field->number)) {
            return REC_OK;
        }
        status = REC_OK;
        t->runs++;
        break;
    }
    t->data = field->data;
    t->data_size = field->size;
    return status;
}

/* ------------------------------------------------------------------------------------------------- its numbers -- */

static uint32_t fixed_width(uint32_t field)
{
    return field == FLOAT_DATA ? 4 : field == DOUBLE_DATA ? 8 : 0;
}

/* Counts packed varints: each ends in a byte below 0x80. */
static rec_status count_varints(const pb_cursor *c, const pb_field *field, uint64_t *count)
{
    const uint8_t *bytes;
    uint64_t at = field->data, end = field->data + field->size, got;
    rec_status status = REC_OK;
    while (at < end && status == REC_OK) {
        status = window_get(c->w, at, end - at < WINDOW_BYTES ? end - at : WINDOW_BYTES, &bytes, &got);
        for (uint64_t i = 0; i < got && status == REC_OK; i++) {
            *count += bytes[i] < 0x80;
        }
        at += got;
    }
    return status;
}

static rec_status count_numbers(const pb_cursor *c, const pb_field *field, uint64_t *count)
{
    uint32_t width = fixed_width(field->number);
    if (field->wire == PB_BYTES && !width) {
        return count_varints(c, field, count);
    }
    *count += field->wire == PB_BYTES ? field->size / width : 1;
    return field->wire == PB_BYTES && field->size % width
               ? rec_fail(c->w->job, REC_E_FORMAT, field->at, "%llu bytes of numbers of %u bytes",
                          (unsigned long long)field->size, width)
               : REC_OK;
}

/* Counts the numbers of the field that the type has. @param found (out). */
static rec_status count_all(pb_cursor c, const tensor *t, uint64_t *found)
{
    pb_field field;
    uint32_t width = fixed_width(t->type->field), wire = width == 8 ? PB_FIXED64 : width ? PB_FIXED32 : PB_VARINT;
    rec_status status = REC_OK;
    *found = 0;
    while (status == REC_OK && c.at < c.end) {
        status = pb_next(&c, &field);
        if (status == REC_OK && field.number == t->type->field) {
            status = field.wire == PB_BYTES ? REC_OK : pb_expect(&c, &field, wire, "the data of a tensor");
            status = status == REC_OK ? count_numbers(&c, &field, found) : status;
        }
    }
    return status;
}

static rec_status check_data(const pb_cursor *c, const tensor *t, uint64_t elements)
{
    rec_job *job = c->w->job;
    uint64_t numbers = t->raw ? t->data_size : 0, wanted = t->size;
    rec_status status = REC_OK;
    if (t->external) {
        if (!t->location_size || (t->length != REC_UNKNOWN && t->length != t->size)) {
            status = rec_fail_found(job, REC_E_FORMAT, t->at, "external data with a location and the size of the shape",
                                    t->location_size ? "%llu bytes" : "no location", (unsigned long long)t->length);
        }
        return status;
    }
    if (!t->raw) {
        wanted = elements * t->type->numbers; /* at most `size` */
        status = count_all(*c, t, &numbers);
    }
    if (status == REC_OK && numbers != wanted) {
        status = rec_fail(job, REC_E_FORMAT, t->at, "a tensor of %llu elements of %s with %llu %s",
                          (unsigned long long)elements, t->type->name, (unsigned long long)numbers,
                          t->raw ? "bytes" : "numbers");
    }
    return status;
}

rec_status tensor_read(pb_cursor c, tensor *t)
{
    pb_cursor all = c;
    pb_field field;
    uint64_t elements = 1;
    rec_status status = REC_OK;
    *t = (tensor){.at = c.at, .end = c.end, .length = REC_UNKNOWN};
    while (status == REC_OK && c.at < c.end) {
        status = pb_next(&c, &field);
        status = status == REC_OK ? read_field(&c, &field, t) : status;
    }
    if (status == REC_OK && !t->type) {
        status = rec_fail(c.w->job, REC_E_FORMAT, t->at, "a tensor without an element type");
    }
    if (status == REC_OK && t->raw && t->runs) {
        status = rec_fail(c.w->job, REC_E_FORMAT, t->at, "a tensor with raw_data and with numbers");
    }
    for (uint32_t i = 0; i < t->rank && status == REC_OK; i++) {
        if (__builtin_mul_overflow(elements, t->shape[i], &elements)) {
            status = rec_fail(c.w->job, REC_E_FORMAT, t->at, "a shape with more elements than can be counted");
        }
    }
    if (status != REC_OK || t->type->dtype == REC_DTYPE_NONE) {
        return status;
    }
    if (__builtin_mul_overflow(elements, t->type->width, &t->size)) {
        return rec_fail(c.w->job, REC_E_FORMAT, t->at, "a shape with more bytes than can be counted");
    }
    return check_data(&all, t, elements);
}

rec_status tensor_name(pb_cursor c, uint64_t *at, uint64_t *size)
{
    pb_field field;
    rec_status status = REC_OK;
    *at = *size = 0;
    while (status == REC_OK && c.at < c.end) {
        status = pb_next(&c, &field);
        if (status == REC_OK && field.number == NAME) {
            status = pb_expect(&c, &field, PB_BYTES, "the name of a tensor");
            *at = field.data;
            *size = field.size;
        }
    }
    return status;
}
