/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Values as text and as JSON: scalars, lists and maps. */
#include <inttypes.h>
#include <string.h>

#include "tools/print/print.h"

void tool_json_float(json *j, const char *key, double value, rec_dtype dtype)
{
    char buffer[NUMBER_ROOM];
    const char *string = tool_float_text(value, dtype, buffer);

    if (value - value == 0) {
        tool_json_token(j, key, string);
    } else {
        tool_json_string(j, key, string);
    }
}

/* From the end of the buffer: tensors have millions of them. */
static const char *integer_text(uint64_t size, bool negative, char *buffer)
{
    char *at = buffer + NUMBER_ROOM - 1;

    *at = '\0';
    do {
        *--at = (char)('0' + size % 10);
        size /= 10;
    } while (size);
    if (negative) {
        *--at = '-';
    }
    return at;
}

const char *tool_element_text(const void *elements, size_t i, rec_dtype read, rec_dtype dtype, char *buffer)
{
    const uint64_t *whole = elements;

    switch (read) {
    case REC_DTYPE_F64:
        return tool_float_text(((const double *)elements)[i], dtype, buffer);
    case REC_DTYPE_I64:
        return integer_text(whole[i] >> 63 ? 0 - whole[i] : whole[i], whole[i] >> 63, buffer);
    case REC_DTYPE_U64:
        return integer_text(whole[i], false, buffer);
    default:
        return ((const uint8_t *)elements)[i] ? "true" : "false";
    }
}

/* ----------------------------------------------------------------------------------------------------- scalars -- */

static rec_dtype float_dtype(const rec_scalar *scalar)
{
    return scalar->bits == 32 ? REC_DTYPE_F32 : scalar->bits == 16 ? REC_DTYPE_F16 : REC_DTYPE_F64;
}

const char *tool_kind_word(int32_t kind)
{
    static const char *const names[] = {
        [REC_KIND_NIL] = "nil",         [REC_KIND_BOOL] = "bool",       [REC_KIND_INT] = "int",
        [REC_KIND_UINT] = "uint",       [REC_KIND_FLOAT] = "float",     [REC_KIND_STRING] = "string",
        [REC_KIND_BYTES] = "bytes",     [REC_KIND_LIST] = "list",       [REC_KIND_MAP] = "map",
        [REC_KIND_VARIANT] = "variant", [REC_KIND_NUMBERS] = "numbers", [REC_KIND_TENSOR] = "tensor",
    };

    return kind >= 0 && kind <= REC_KIND_TENSOR ? names[kind] : "unknown";
}

const char *tool_scalar_text(const rec_scalar *scalar, char *buffer)
{
    switch (scalar->kind) {
    case REC_KIND_BOOL:
        return scalar->v.i ? "true" : "false";
    case REC_KIND_INT:
        (void)snprintf(buffer, NUMBER_ROOM, "%" PRIi64, scalar->v.i);
        return buffer;
    case REC_KIND_UINT:
        (void)snprintf(buffer, NUMBER_ROOM, "%" PRIu64, scalar->v.u);
        return buffer;
    case REC_KIND_FLOAT:
        return tool_float_text(scalar->v.f, float_dtype(scalar), buffer);
    default:
        return "null";
    }
}

void tool_json_scalar(json *j, const char *key, const rec_scalar *scalar)
{
    char buffer[NUMBER_ROOM];

    if (scalar->kind == REC_KIND_STRING) {
        tool_json_text(j, key, scalar->text, (size_t)scalar->v.length);
    } else if (scalar->kind == REC_KIND_FLOAT) {
        tool_json_float(j, key, scalar->v.f, float_dtype(scalar));
    } else {
        tool_json_token(j, key, tool_scalar_text(scalar, buffer));
    }
}

bool tool_same_scalar(rec_scalar a, rec_scalar b)
{
    if (a.kind != b.kind) {
        return false;
    }
    if (a.kind == REC_KIND_STRING) {
        return a.v.length == b.v.length && memcmp(a.text, b.text, (size_t)a.v.length) == 0;
    }
    return a.kind == REC_KIND_NIL || a.v.u == b.v.u;
}

void tool_text_child(text *path, const rec_value *parent, uint64_t index)
{
    rec_scalar key = rec_value_key(parent, index);
    char number[NUMBER_ROOM];

    if (rec_value_kind(parent) == REC_KIND_LIST) {
        tool_text_format(path, "%" PRIu64, index);
    } else if (key.kind != REC_KIND_STRING) {
        tool_text_put(path, tool_scalar_text(&key, number));
    } else {
        tool_text_add(path, "", 0);
        for (uint64_t i = 0; i < key.v.length; i++) {
            tool_text_add(path, "\\", key.text[i] == '.' || key.text[i] == '\\');
            tool_text_add(path, key.text[i] ? key.text + i : "?", 1);
        }
    }
}

/* ------------------------------------------------------------------------------------------------------ leaves -- */

static void json_numbers(json *j, const char *key, const rec_value *value)
{
    uint64_t count = rec_value_count(value);

    tool_json_array(j, key);
    for (uint64_t i = 0; i < count; i++) {
        rec_scalar number = rec_value_number(value, i);
        tool_json_scalar(j, NULL, &number);
    }
    tool_json_close(j, ']');
}

static void json_entry_key(json *j, const rec_value *value, uint64_t index)
{
    char buffer[NUMBER_ROOM];
    rec_scalar key = rec_value_key(value, index);

    if (key.kind == REC_KIND_STRING) {
        tool_json_key(j, key.text, (size_t)key.v.length);
    } else {
        const char *string = tool_scalar_text(&key, buffer);
        tool_json_key(j, string, strlen(string));
    }
}

/* The nesting of a record is bounded by the library's limit of depth, so this recursion is too. */
void tool_json_leaf(json *j, const char *key, const rec_value *value)
{
    int32_t kind = rec_value_kind(value);
    uint64_t count = rec_value_count(value), size = 0;
    const rec_tensor *tensor;
    const void *bytes;
    rec_scalar scalar;

    switch (kind) {
    case REC_KIND_BYTES:
        bytes = rec_value_bytes(value, &size);
        tool_json_bytes(j, key, bytes, size);
        break;
    case REC_KIND_NUMBERS:
        json_numbers(j, key, value);
        break;
    case REC_KIND_LIST:
        tool_json_array(j, key);
        for (uint64_t i = 0; i < count; i++) {
            tool_json_leaf(j, NULL, rec_value_item(value, i));
        }
        tool_json_close(j, ']');
        break;
    case REC_KIND_VARIANT:
        if (count == 0) {
            scalar = rec_value_key(value, 0);
            tool_json_scalar(j, key, &scalar);
            break;
        }
        /* fall through */
    case REC_KIND_MAP:
        tool_json_object(j, key);
        for (uint64_t i = 0; i < count; i++) {
            json_entry_key(j, value, i);
            tool_json_leaf(j, NULL, rec_value_item(value, i));
        }
        tool_json_close(j, '}');
        break;
    case REC_KIND_TENSOR:
        tensor = rec_value_tensor(value);
        tool_json_object(j, key);
        tool_json_string(j, "dtype", rec_tensor_dtype_name(tensor));
        tool_json_shape(j, "shape", rec_tensor_shape(tensor), rec_tensor_rank(tensor));
        tool_json_uint(j, "nbytes", rec_tensor_nbytes(tensor));
        tool_json_string(j, "id", rec_tensor_id(tensor));
        tool_json_close(j, '}');
        break;
    default:
        scalar = rec_value_scalar(value);
        tool_json_scalar(j, key, &scalar);
        break;
    }
}

static void numbers_text(text *t, const rec_value *value, size_t limit)
{
    char buffer[NUMBER_ROOM];
    uint64_t count = rec_value_count(value);
    size_t begin = t->length;

    tool_text_put(t, "[");
    for (uint64_t i = 0; i < count; i++) {
        rec_scalar number = rec_value_number(value, i);
        const char *string = tool_scalar_text(&number, buffer);
        tool_text_put(t, i ? ", " : "");
        if (t->length - begin + strlen(string) + 20 > limit && i + 1 < count) {
            tool_text_format(t, "… %s in all", tool_grouped(count, buffer));
            break;
        }
        tool_text_put(t, string);
    }
    tool_text_put(t, "]");
}

static void bytes_text(text *t, const unsigned char *bytes, uint64_t size, size_t limit)
{
    char buffer[NUMBER_ROOM];
    size_t begin = t->length;

    tool_text_format(t, "%s byte%s", tool_grouped(size, buffer), tool_plural(size));
    for (uint64_t i = 0; i < size; i++) {
        if (t->length - begin + 6 > limit) {
            tool_text_put(t, " …");
            break;
        }
        tool_text_format(t, "%s%02x", i ? " " : ": ", bytes[i]);
    }
}

/* In quotes, so that an empty string shows; quotes and backslashes inside have a backslash before them. */
static void quoted_text(text *t, const char *string, size_t length)
{
    tool_text_put(t, "\"");
    for (size_t at = 0; at < length;) {
        size_t plain = 0;
        while (at + plain < length && string[at + plain] != '"' && string[at + plain] != '\\') {
            plain++;
        }
        tool_text_safe(t, string + at, plain);
        at += plain;
        if (at < length) {
            tool_text_format(t, "\\%c", string[at++]);
        }
    }
    tool_text_put(t, "\"");
}

void tool_leaf_text(text *t, const rec_value *value, size_t limit)
{
    char buffer[NUMBER_ROOM];
    uint64_t count = rec_value_count(value), size = 0;
    const void *bytes;
    rec_scalar scalar = rec_value_scalar(value);
    text whole = {0};

    switch (rec_value_kind(value)) {
    case REC_KIND_NUMBERS:
        numbers_text(t, value, limit);
        break;
    case REC_KIND_BYTES:
        bytes = rec_value_bytes(value, &size);
        bytes_text(t, bytes, size, limit);
        break;
    case REC_KIND_LIST:
        tool_text_format(t, "[]");
        break;
    case REC_KIND_MAP:
        tool_text_format(t, "{}");
        break;
    case REC_KIND_VARIANT:
        if (count == 0) {
            scalar = rec_value_key(value, 0);
            tool_text_safe(t, scalar.text, (size_t)scalar.v.length);
        }
        break;
    case REC_KIND_STRING:
        /* Four times the limit holds as many columns of any text. */
        quoted_text(&whole, scalar.text, (size_t)(scalar.v.length / 4 < limit ? scalar.v.length : 4 * limit));
        tool_text_shortened(t, whole.at, limit, false);
        tool_text_free(&whole);
        break;
    default:
        tool_text_put(t, tool_scalar_text(&scalar, buffer));
        break;
    }
}
