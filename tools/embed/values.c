/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Numbers in C, the same to the last bit: floats in hexadecimal, f16 and bf16 as bit patterns. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/embed/embed_private.h"
#include "tools/look/look.h"

void tool_row_put(row *r, const char *item)
{
    enum { WIDTH = 110 };
    size_t length = strlen(item);

    if (r->any) {
        putc_unlocked(',', r->out);
        r->column++;
    }
    if (!r->any || r->column + 1 + length > WIDTH) {
        fprintf(r->out, "\n%*s", (int)r->indent, "");
        r->column = r->indent;
    } else {
        putc_unlocked(' ', r->out);
        r->column++;
    }
    (void)fwrite(item, 1, length, r->out);
    r->column += length;
    r->any = true;
}

/* ------------------------------------------------------------------------------------------------------ floats -- */

/* @param fraction, digits the significand after the point, and its number of hexadecimal digits. */
static const char *hex_float(bool minus, bool normal, uint64_t fraction, int digits, int exponent, const char *suffix,
                             char *buffer)
{
    const char *sign = minus ? "-" : "";

    if (!normal && fraction == 0) {
        (void)snprintf(buffer, NUMBER_ROOM, "%s0x0p+0%s", sign, suffix);
        return buffer;
    }
    while (digits && fraction % 16 == 0) {
        fraction /= 16;
        digits--;
    }
    if (digits) {
        (void)snprintf(buffer, NUMBER_ROOM, "%s0x%d.%0*" PRIx64 "p%+d%s", sign, normal, digits, fraction, exponent,
                       suffix);
    } else {
        (void)snprintf(buffer, NUMBER_ROOM, "%s0x%dp%+d%s", sign, normal, exponent, suffix);
    }
    return buffer;
}

/* NaN and infinities have no literal: functions of the compiler make them, with the bits of a NaN. */
static const char *not_finite(bool minus, bool quiet, uint64_t rest, const char *suffix, char *buffer)
{
    const char *sign = minus ? "-" : "";

    if (!quiet && rest == 0) {
        (void)snprintf(buffer, NUMBER_ROOM, "%s__builtin_inf%s()", sign, suffix);
    } else {
        (void)snprintf(buffer, NUMBER_ROOM, "%s__builtin_nan%s%s(\"0x%" PRIx64 "\")", sign, quiet ? "" : "s", suffix,
                       rest);
    }
    return buffer;
}

static const char *f32_c(uint32_t bits, char *buffer)
{
    bool minus = bits >> 31;
    int exponent = bits >> 23 & 0xFF;
    uint32_t fraction = bits & 0x7FFFFF;

    if (exponent == 0xFF) {
        return not_finite(minus, fraction >> 22, fraction & 0x3FFFFF, "f", buffer);
    }
    return hex_float(minus, exponent, (uint64_t)fraction << 1, 6, exponent ? exponent - 127 : -126, "f", buffer);
}

static const char *f64_c(uint64_t bits, char *buffer)
{
    bool minus = bits >> 63;
    int exponent = bits >> 52 & 0x7FF;
    uint64_t fraction = bits & UINT64_C(0xFFFFFFFFFFFFF);

    if (exponent == 0x7FF) {
        return not_finite(minus, fraction >> 51, fraction & UINT64_C(0x7FFFFFFFFFFFF), "", buffer);
    }
    return hex_float(minus, exponent, fraction, 13, exponent ? exponent - 1023 : -1022, "", buffer);
}

/* ---------------------------------------------------------------------------------------------------- integers -- */

/* The least number has no literal: the minus is an operator on a number that is too large. */
static const char *int_c(int64_t number, unsigned bits, char *buffer)
{
    if (number == INT64_MIN) {
        return strcpy(buffer, "(-INT64_C(9223372036854775807) - 1)");
    }
    if (bits == 32 && number == INT32_MIN) {
        return strcpy(buffer, "(-INT32_C(2147483647) - 1)");
    }
    (void)snprintf(buffer, NUMBER_ROOM, bits == 64 ? "INT64_C(%" PRIi64 ")" : "%" PRIi64, number);
    if (bits == 64 && number < 0) {
        (void)snprintf(buffer, NUMBER_ROOM, "-INT64_C(%" PRIu64 ")", (uint64_t)0 - (uint64_t)number);
    }
    return buffer;
}

static const char *uint_c(uint64_t number, unsigned bits, char *buffer)
{
    const char *form = bits == 64 ? "UINT64_C(%" PRIu64 ")" : bits == 32 ? "UINT32_C(%" PRIu64 ")" : "%" PRIu64;

    (void)snprintf(buffer, NUMBER_ROOM, form, number);
    return buffer;
}

const char *tool_number_c(const shape *s, const rec_scalar *number, char *buffer)
{
    uint64_t bits64;
    uint32_t bits32;
    float single;

    switch (s->scalar) {
    case REC_KIND_BOOL:
        return strcpy(buffer, number->v.i ? "1" : "0");
    case REC_KIND_UINT:
        return uint_c(number->v.u, s->bits, buffer);
    case REC_KIND_INT:
        return int_c(number->kind == REC_KIND_UINT ? (int64_t)number->v.u : number->v.i, s->bits, buffer);
    default:
        if (s->bits == 32) {
            single = (float)number->v.f;
            memcpy(&bits32, &single, sizeof bits32);
            return f32_c(bits32, buffer);
        }
        memcpy(&bits64, &number->v.f, sizeof bits64);
        return f64_c(bits64, buffer);
    }
}

const char *tool_scalar_type(const shape *s)
{
    static const char *const signed_types[] = {"int8_t", "int16_t", "int32_t", "int64_t"};
    static const char *const unsigned_types[] = {"uint8_t", "uint16_t", "uint32_t", "uint64_t"};
    int width = s->bits == 8 ? 0 : s->bits == 16 ? 1 : s->bits == 32 ? 2 : 3;

    switch (s->scalar) {
    case REC_KIND_BOOL:
        return "uint8_t";
    case REC_KIND_INT:
        return signed_types[width];
    case REC_KIND_UINT:
        return unsigned_types[width];
    default:
        return s->bits == 32 ? "float" : "double";
    }
}

/* ----------------------------------------------------------------------------------------------------- tensors -- */

const char *tool_element_type(const rec_tensor *tensor)
{
    shape s = {.bits = (unsigned)rec_dtype_bits(rec_tensor_dtype(tensor))};

    switch (tool_exact_dtype(rec_tensor_dtype(tensor))) {
    case REC_DTYPE_F64:
        return s.bits == 16 ? "uint16_t" : s.bits == 32 ? "float" : "double";
    case REC_DTYPE_I64:
        s.scalar = REC_KIND_INT;
        break;
    case REC_DTYPE_U64:
        s.scalar = REC_KIND_UINT;
        break;
    case REC_DTYPE_BOOL:
        s.scalar = REC_KIND_BOOL;
        break;
    default:
        return NULL;
    }
    return tool_scalar_type(&s);
}

enum { CHUNK = 4096 };

typedef union elements {
    uint64_t u64[CHUNK];
    int64_t i64[CHUNK];
    uint32_t u32[CHUNK];
    uint16_t u16[CHUNK];
    uint8_t u8[CHUNK];
} elements;

/* As what elements are read: floats as they are, to the last bit. */
static rec_dtype read_as(rec_dtype dtype)
{
    rec_dtype exact = tool_exact_dtype(dtype);

    return exact != REC_DTYPE_F64 ? exact : dtype == REC_DTYPE_FLEX32 ? REC_DTYPE_F32 : dtype;
}

static const char *element_c(const elements *e, rec_dtype read, unsigned bits, size_t i, char *buffer)
{
    switch (read) {
    case REC_DTYPE_F64:
        return f64_c(e->u64[i], buffer);
    case REC_DTYPE_F32:
        return f32_c(e->u32[i], buffer);
    case REC_DTYPE_F16:
    case REC_DTYPE_BF16:
        (void)snprintf(buffer, NUMBER_ROOM, "0x%04x", e->u16[i]);
        return buffer;
    case REC_DTYPE_I64:
        return int_c(e->i64[i], bits, buffer);
    case REC_DTYPE_U64:
        return uint_c(e->u64[i], bits, buffer);
    default:
        return uint_c(e->u8[i], 8, buffer);
    }
}

/* Quantised and unknown types: the stored bytes. */
static int print_stored(row *r, const rec_tensor *tensor)
{
    char buffer[NUMBER_ROOM];
    uint64_t size;
    const unsigned char *bytes = rec_tensor_bytes(tensor, &size);

    for (uint64_t i = 0; bytes && i < size; i++) {
        tool_row_put(r, uint_c(bytes[i], 8, buffer));
    }
    return bytes ? EXIT_OK : tool_fail_library();
}

int tool_print_elements(row *r, const rec_tensor *tensor)
{
    rec_dtype dtype = rec_tensor_dtype(tensor), read = read_as(dtype);
    uint64_t count = rec_tensor_count(tensor), first = 0;
    char buffer[NUMBER_ROOM];
    int status = EXIT_OK;
    elements *e;

    if (read == REC_DTYPE_NONE) {
        return print_stored(r, tensor);
    }
    e = xmalloc(sizeof *e);
    while (first < count && status == EXIT_OK) {
        uint64_t part = count - first < CHUNK ? count - first : CHUNK;
        if (rec_tensor_read(tensor, read, first, part, e) != REC_OK) {
            status = tool_fail_library();
        }
        for (size_t i = 0; i < part && status == EXIT_OK; i++) {
            tool_row_put(r, element_c(e, read, (unsigned)rec_dtype_bits(dtype), i, buffer));
        }
        first += part;
    }
    free(e);
    return status;
}
