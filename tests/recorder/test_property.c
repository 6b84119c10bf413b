/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Random records to random targets and back: what comes back is equal, or the save was refused with a status and a
 * message, or a note told the loss. What precision and version make of a value is worked out here anew, the slow way.
 *
 * LIBRECORD_PROPERTY_ROUNDS: how many rounds for each seed. LIBRECORD_PROPERTY_SEED: one seed instead of the fixed
 * ones. Each round has a seed of its own, which is printed where it fails: with ROUNDS=1 it alone is run. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "burn/visit/visit.h"
#include "core/config/config.h"
#include "tests/little.h"

/* ------------------------------------------------------------------------------------------------------ chance -- */

static uint64_t state_of_chance;

static uint64_t chance(void) /* splitmix64 */
{
    uint64_t z = state_of_chance += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static uint64_t below(uint64_t most)
{
    return chance() % most;
}

static bool one_in(uint64_t n)
{
    return below(n) == 0;
}

/* -------------------------------------------------------------------------------------------------------- text -- */

typedef struct text {
    char *at;
    size_t used, room;
} text;

static void put_raw(text *t, const void *data, size_t size)
{
    if (t->used + size + 1 > t->room) {
        t->room = (t->used + size + 1) * 2;
        t->at = realloc(t->at, t->room);
        assert_non_null(t->at);
    }
    memcpy(t->at + t->used, data, size);
    t->used += size;
    t->at[t->used] = '\0';
}

static void put(text *t, const char *format, ...) REC_PRINTF(2, 3);
static void put(text *t, const char *format, ...)
{
    char line[256];
    va_list args;
    int length;
    va_start(args, format);
    length = vsnprintf(line, sizeof line, format, args);
    va_end(args);
    assert_true(length >= 0 && (size_t)length < sizeof line);
    put_raw(t, line, (size_t)length);
}

/* --------------------------------------------------------------------------------- what comes of it: the rules -- */

/* Where a record goes, and so what may look otherwise when it comes back. */
typedef struct rules {
    bool json;               /**< no widths, no bytes, no NaN; keys are text */
    rec_precision precision; /**< KEEP: bits stay */
    int32_t minor;           /**< the version that is written */
    bool ids;                /**< ids become that version's */
    bool v1;
    bool positional;
    bool typed; /**< what holds nothing is a constant there, in whatever form */
    /* found on the way: */
    bool refuse; /**< it may not be saved */
    bool note;   /**< it may not be saved without a note */
} rules;

/* The halves in order, as doubles: for the nearest one by looking. */
static double half_value(uint16_t bits)
{
    int exponent = bits >> 10 & 31, fraction = bits & 1023;
    double value = exponent == 0    ? ldexp(fraction, -24)
                   : exponent == 31 ? (fraction ? (double)NAN : (double)INFINITY)
                                    : ldexp(1024 + fraction, exponent - 25);
    return bits >> 15 ? -value : value;
}

static uint16_t nearest_half(double value)
{
    uint16_t sign = signbit(value) ? 0x8000 : 0, low = 0, high = 0x7c00;
    double size = fabs(value);
    if (size >= 65520) { /* half-way from the largest one to the next that there would be */
        return sign | 0x7c00;
    }
    while (high - low > 1) {
        uint16_t middle = (uint16_t)((low + high) / 2);
        if (half_value(middle) <= size) {
            low = middle;
        } else {
            high = middle;
        }
    }
    if (high == 0x7c00) {
        return sign | low;
    }
    {
        double under = size - half_value(low), over = half_value(high) - size;
        return sign | (under < over || (under == over && low % 2 == 0) ? low : high);
    }
}

static bool is_int(rec_dtype dtype)
{
    return dtype >= REC_DTYPE_I64 && dtype <= REC_DTYPE_U8;
}

static bool is_bool(rec_dtype dtype)
{
    return dtype >= REC_DTYPE_BOOL && dtype <= REC_DTYPE_BOOL32;
}

static size_t width_of(rec_dtype dtype)
{
    static const uint8_t widths[] = {0, 8, 4, 4, 2, 2, 8, 4, 2, 1, 8, 4, 2, 1, 1, 1, 4};
    return dtype > 0 && (size_t)dtype < sizeof widths ? widths[dtype] : 0;
}

/* The element type that a tensor must have when it comes back. */
static rec_dtype expected_dtype(rec_dtype dtype, rules *r)
{
    if (is_bool(dtype)) {
        r->note = r->note || (r->minor < 21 && dtype != REC_DTYPE_BOOL);
        return r->minor < 21 ? REC_DTYPE_BOOL : dtype;
    }
    switch (r->precision) {
    case REC_PRECISION_DOUBLE:
        return is_int(dtype) ? REC_DTYPE_I64 : REC_DTYPE_F64;
    case REC_PRECISION_FULL:
        return is_int(dtype) ? REC_DTYPE_I32 : REC_DTYPE_F32;
    case REC_PRECISION_HALF:
        return is_int(dtype) ? REC_DTYPE_I16 : REC_DTYPE_F16;
    default:
        if (dtype == REC_DTYPE_FLEX32 && r->minor < 17) {
            r->note = true;
            return REC_DTYPE_F32;
        }
        return dtype;
    }
}

/* One element. @param at host byte order. */
static double float_at(rec_dtype dtype, const uint8_t *at)
{
    uint16_t half;
    uint32_t bits;
    float single;
    double wide;
    switch (dtype) {
    case REC_DTYPE_F64:
        memcpy(&wide, at, 8);
        return wide;
    case REC_DTYPE_F16:
        memcpy(&half, at, 2);
        return half_value(half);
    case REC_DTYPE_BF16:
        memcpy(&half, at, 2);
        bits = (uint32_t)half << 16;
        memcpy(&single, &bits, 4);
        return single;
    default:
        memcpy(&single, at, 4);
        return single;
    }
}

/* @return the number; `big`: it is one of 64 bits without sign. */
static int64_t int_at(rec_dtype dtype, const uint8_t *at, bool *big)
{
    int64_t wide;
    int32_t full;
    int16_t half;
    uint32_t ufull;
    uint16_t uhalf;
    *big = false;
    switch (dtype) {
    case REC_DTYPE_U64:
        memcpy(&wide, at, 8);
        *big = wide < 0;
        return wide;
    case REC_DTYPE_I64:
        memcpy(&wide, at, 8);
        return wide;
    case REC_DTYPE_I32:
        memcpy(&full, at, 4);
        return full;
    case REC_DTYPE_U32:
        memcpy(&ufull, at, 4);
        return ufull;
    case REC_DTYPE_I16:
        memcpy(&half, at, 2);
        return half;
    case REC_DTYPE_U16:
        memcpy(&uhalf, at, 2);
        return uhalf;
    case REC_DTYPE_I8:
        return (int8_t)*at;
    default:
        return *at;
    }
}

static void put_element(text *t, rec_dtype from, rec_dtype to, const uint8_t *at, rules *r)
{
    uint8_t host[8] = {0};
    memcpy(host, at, width_of(from));
    little(host, width_of(from), 1);
    if (is_bool(from)) {
        put(t, "%d ", *at != 0);
    } else if (is_int(from)) {
        bool big;
        int64_t number = int_at(from, host, &big);
        int64_t most = to == REC_DTYPE_I16 ? INT16_MAX : to == REC_DTYPE_I32 ? INT32_MAX : INT64_MAX;
        if (from != to && (big || number > most || number < -most - 1)) {
            r->refuse = true;
        }
        if (r->v1 && r->minor < 12 && to == REC_DTYPE_I32 && (double)(float)number != (double)number) {
            r->refuse = true;
        }
        put(t, "%" PRIx64 " ", (uint64_t)number);
    } else {
        double value = float_at(from, host), result;
        uint64_t bits;
        result = to == REC_DTYPE_F64   ? value
                 : to == REC_DTYPE_F16 ? half_value(nearest_half(value))
                                       : (double)(float)value;
        if (from == to) {
            result = value;
        }
        r->note = r->note || (isinf(result) && !isinf(value));
        if (isinf(result) && r->json && r->v1 && to != REC_DTYPE_F16) {
            result = (double)NAN; /* null */
            r->note = true;
        }
        memcpy(&bits, &result, 8);
        if (isnan(value) || isnan(result)) {
            put(t, "nan ");
            if (r->precision == REC_PRECISION_KEEP && !r->v1 && (r->minor >= 17 || to != REC_DTYPE_F32)) {
                for (size_t i = 0; i < width_of(from); i++) {
                    put(t, "%02x", at[i]); /* which one it is */
                }
            }
        } else {
            put(t, "%" PRIx64 " ", bits);
        }
    }
}

static void put_id(text *t, const char *id, rules *r)
{
    static const char digits[] = "0123456789abcdefghijklmnopqrstuv";
    size_t length = strlen(id);
    uint8_t bytes[9] = {0};
    bool known = false;
    if (r->ids && r->minor >= 15 && length == 36) {
        size_t count = 0;
        known = true;
        for (size_t i = 0; i < 36; i++) {
            char digit[2] = {id[i], '\0'};
            bool dash = i == 8 || i == 13 || i == 18 || i == 23;
            known = known && (dash ? id[i] == '-' : strspn(digit, "0123456789abcdefABCDEF") == 1);
            if (!dash && known && count < 16) {
                bytes[count / 2] |= (uint8_t)(strtoul(digit, NULL, 16) << (count % 2 ? 0 : 4));
                count++;
            }
        }
        r->note = r->note || known;
    } else if (r->ids && r->minor >= 15 && length == 10 && strspn(id, digits) == 10 &&
               (strchr(digits, id[9]) - digits) % 4 == 0) {
        known = true;
        for (size_t bit = 0; bit < 48; bit++) {
            size_t digit = (size_t)(strchr(digits, id[bit / 5]) - digits);
            bytes[bit / 8] |= (uint8_t)((digit >> (4 - bit % 5) & 1) << (7 - bit % 8));
        }
    }
    if (!known) {
        put(t, "%s", id);
        return;
    }
    for (size_t digit = 0; digit < 13; digit++) {
        size_t value = 0;
        for (size_t bit = digit * 5; bit < digit * 5 + 5; bit++) {
            value = value * 2 + (bit < 64 ? bytes[bit / 8] >> (7 - bit % 8) & 1 : 0);
        }
        put(t, "%c", digits[value]);
    }
}

static void put_tensor(text *t, const rec_tensor *tensor, rules *r)
{
    rec_dtype from = rec_tensor_dtype(tensor), to = expected_dtype(from, r);
    uint64_t size;
    const uint8_t *data = rec_tensor_bytes(tensor, &size);
    const char *id = rec_tensor_id(tensor);
    assert_non_null(data);
    assert_int_equal(size, rec_tensor_count(tensor) * width_of(from));
    put(t, "T(");
    if (id) {
        put_id(t, id, r);
    }
    put(t, "|%s|", rec_dtype_name(to));
    for (uint32_t i = 0; i < rec_tensor_rank(tensor); i++) {
        put(t, "%" PRIu64 ",", rec_tensor_shape(tensor)[i]);
    }
    put(t, "|");
    for (uint64_t i = 0; i < rec_tensor_count(tensor); i++) {
        put_element(t, from, to, data + i * width_of(from), r);
    }
    put(t, ")");
}

/* What a JSON reader makes of a float of 32 bits: the nearest double of its shortest text. */
static double as_in_json(float value)
{
    char words[64];
    int digits = 1;
    do {
        (void)snprintf(words, sizeof words, "%.*g", digits++, (double)value);
    } while (strtof(words, NULL) != value && digits <= 9);
    return strtod(words, NULL);
}

static void put_scalar(text *t, const rec_scalar *scalar, bool key, rules *r)
{
    double value;
    uint64_t bits;
    char words[32];
    switch (scalar->kind) {
    case REC_KIND_NIL:
        put(t, "nil");
        break;
    case REC_KIND_STRING:
        put(t, "s%" PRIu64 ":", scalar->v.length);
        put_raw(t, scalar->text, (size_t)scalar->v.length);
        break;
    case REC_KIND_FLOAT:
        value = scalar->v.f;
        if (r->json && !isfinite(value)) {
            r->note = true;
            put(t, "nil");
            break;
        }
        value = r->json && scalar->bits == 32 ? as_in_json((float)value) : value;
        if (r->json && r->typed) {
            value = (double)(float)value; /* a field of 64 bits may hold it: the type says which text it gets */
        }
        memcpy(&bits, &value, 8);
        if (isnan(value)) {
            put(t, "fnan");
        } else {
            put(t, "f%" PRIx64, bits);
        }
        break;
    default:
        (void)snprintf(words, sizeof words, scalar->kind == REC_KIND_UINT ? "%" PRIu64 : "%" PRId64, scalar->v.i);
        if (scalar->kind == REC_KIND_BOOL) {
            (void)snprintf(words, sizeof words, "%s", scalar->v.i ? "true" : "false");
        }
        if (r->json && key) {
            put(t, "s%zu:", strlen(words));
        }
        put(t, "%s", words);
        break;
    }
}

static bool is_optimizer(const rec_value *map)
{
    for (uint64_t i = 0; i < rec_value_count(map); i++) {
        rec_scalar key = rec_value_key(map, i), name = rec_value_key(rec_value_item(map, i), 0);
        int32_t kind = rec_value_kind(rec_value_item(map, i));
        if (key.kind != REC_KIND_STRING || (kind != REC_KIND_MAP && kind != REC_KIND_VARIANT) ||
            (kind == REC_KIND_MAP && rec_value_count(rec_value_item(map, i)) != 1) || name.kind != REC_KIND_STRING ||
            name.v.length != 2 || memcmp(name.text, "V1", 2) != 0) {
            return false;
        }
    }
    return rec_value_count(map) > 0;
}

/* Nil, and lists of nothing but that. */
static bool is_nothing(const rec_value *value, rules *r)
{
    int32_t kind = rec_value_kind(value);
    uint64_t size;
    if (kind == REC_KIND_FLOAT && r->json && !isfinite(rec_value_scalar(value).v.f)) {
        r->note = true; /* null */
        return true;
    }
    for (uint64_t i = 0; kind == REC_KIND_LIST && i < rec_value_count(value); i++) {
        if (!is_nothing(rec_value_item(value, i), r)) {
            return false;
        }
    }
    return kind == REC_KIND_NIL || kind == REC_KIND_LIST || (kind == REC_KIND_NUMBERS && rec_value_count(value) == 0) ||
           (kind == REC_KIND_BYTES && rec_value_bytes(value, &size) && size == 0);
}

/* A value as text, as it must be after it went where the rules say. */
static void put_value(text *t, const rec_value *value, rules *r)
{
    uint64_t count = rec_value_count(value);
    rec_scalar scalar;
    const uint8_t *bytes;
    bool ids;
    if (r->typed && is_nothing(value, r)) {
        put(t, "nil");
        return;
    }
    switch (rec_value_kind(value)) {
    case REC_KIND_TENSOR:
        put_tensor(t, rec_value_tensor(value), r);
        break;
    case REC_KIND_BYTES:
        bytes = rec_value_bytes(value, &count);
        put(t, r->json ? "[" : "x[");
        for (uint64_t i = 0; i < count; i++) {
            put(t, "%u,", bytes[i]);
        }
        put(t, "]");
        break;
    case REC_KIND_NUMBERS:
        put(t, "[");
        for (uint64_t i = 0; i < count; i++) {
            scalar = rec_value_number(value, i);
            put_scalar(t, &scalar, false, r);
            put(t, ",");
        }
        put(t, "]");
        break;
    case REC_KIND_LIST:
        put(t, "[");
        for (uint64_t i = 0; i < count; i++) {
            put_value(t, rec_value_item(value, i), r);
            put(t, ",");
        }
        put(t, "]");
        break;
    case REC_KIND_MAP:
        ids = is_optimizer(value);
        put(t, "{");
        for (uint64_t i = 0; i < count; i++) {
            scalar = rec_value_key(value, i);
            if (r->typed && is_nothing(rec_value_item(value, i), r)) {
                continue; /* constants come and go */
            }
            if (ids) {
                text id = {0};
                put_id(&id, scalar.text, r);
                put(t, "s%zu:%s", id.used, id.at);
                free(id.at);
            } else {
                put_scalar(t, &scalar, true, r);
            }
            put(t, "=");
            put_value(t, rec_value_item(value, i), r);
            put(t, ",");
        }
        put(t, "}");
        break;
    case REC_KIND_VARIANT:
        scalar = rec_value_key(value, 0);
        if (r->positional && r->typed && (!count || is_nothing(rec_value_item(value, 0), r))) {
            put(t, "{}"); /* without a payload, or with one that is nothing; a map of one nothing may be one, too */
            break;
        }
        if (r->typed && count && is_nothing(rec_value_item(value, 0), r)) {
            put(t, "{}"); /* a map of one, in named files */
            break;
        }
        put(t, count ? "{" : "");
        put_scalar(t, &scalar, false, r);
        if (count) {
            put(t, "=");
            put_value(t, rec_value_item(value, 0), r);
            put(t, ",}");
        }
        break;
    default:
        scalar = rec_value_scalar(value);
        put_scalar(t, &scalar, false, r);
        break;
    }
}

/* ---------------------------------------------------------------------------------------------- random records -- */

typedef struct maker {
    rec_job job;
    lr_builder *builder;
    int32_t status;
    unsigned left; /* values that may still be made */
} maker;

#define EVENT(event, ...)                                                  \
    do {                                                                   \
        if (m->status == REC_OK) {                                         \
            m->status = lr_builder_visitor.event(m->builder, __VA_ARGS__); \
        }                                                                  \
    } while (0)

static rec_scalar of_text(const char *words, size_t length)
{
    return (rec_scalar){.kind = REC_KIND_STRING, .v = {.length = length}, .text = words};
}

static uint64_t odd_number(void)
{
    uint64_t bit = UINT64_C(1) << below(64);
    switch (below(4)) {
    case 0:
        return below(300);
    case 1:
        return bit - below(2);
    case 2:
        return 0 - bit + below(2);
    default:
        return chance() >> below(64);
    }
}

static rec_scalar random_scalar(void)
{
    static const char *const strings[] = {
        "",   "F32",       "a.b",   "\\",   "0",  "null", "\"",   "\n\t\x01", "é",   "日本",   "\U0001f600", "Sigmoid",
        "-0", "{\"a\":1}", " lead", "\x7f", "V1", "id",   "true", "1e5",      "NaN", "r#type", "\u2028",     "..\\.."};
    static const uint16_t widths[] = {8, 16, 32, 64};
    static char own[600];
    rec_scalar s = {.kind = REC_KIND_NIL, .bits = widths[below(4)]};
    size_t length;
    switch (below(9)) {
    case 0:
        return (rec_scalar){.kind = REC_KIND_NIL, .form = one_in(2) ? REC_FORM_UNKNOWN : REC_FORM_UNIT};
    case 1:
        return (rec_scalar){.kind = REC_KIND_BOOL, .v = {.i = (int64_t)below(2)}};
    case 2:
    case 3:
        s.kind = REC_KIND_UINT;
        s.v.u = odd_number() >> (64 - s.bits);
        return s;
    case 4:
        s.kind = REC_KIND_INT;
        s.v.i = (int64_t)(odd_number() << (64 - s.bits)) >> (64 - s.bits);
        return s;
    case 5:
    case 6: {
        uint64_t bits = odd_number() ^ (chance() << 52);
        uint32_t narrow = (uint32_t)chance();
        float single;
        s.kind = REC_KIND_FLOAT;
        s.bits = one_in(2) ? 32 : 64;
        memcpy(&s.v.f, &bits, 8);
        if (one_in(3)) {
            s.v.f = (double)(int64_t)below(2000) / 8 - 100;
        } else if (s.bits == 32) {
            memcpy(&single, &narrow, 4);
            s.v.f = (double)single;
        }
        return s;
    }
    default:
        if (!one_in(8)) {
            const char *words = strings[below(sizeof strings / sizeof *strings)];
            return of_text(words, strlen(words));
        }
        length = (size_t)below(sizeof own);
        for (size_t i = 0; i < length; i++) {
            own[i] = (char)below(128); /* NUL too */
        }
        return of_text(own, length);
    }
}

static void random_tensor(maker *m)
{
    static const char hex[] = "0123456789abcdefghijklmnopqrstuv";
    rec_dtype dtype = (rec_dtype)(1 + below(16));
    uint32_t rank = (uint32_t)below(9);
    uint64_t shape[8], count = 1;
    char id[40] = "";
    uint8_t data[8 * 128];
    size_t width = width_of(dtype), length;
    static const size_t lengths[] = {0, 0, 10, 13, 13, 36, 36, 5};
    rec_tensor_event event = {.size = sizeof event, .dtype = dtype, .rank = rank, .shape = shape};
    if (one_in(2)) {
        dtype = event.dtype = one_in(3) ? REC_DTYPE_I32 : REC_DTYPE_F32;
        width = 4;
    }
    for (uint32_t i = 0; i < rank; i++) {
        uint64_t most = 128 / count;
        shape[i] = one_in(20) ? 0 : 1 + below(most < 4 ? most : 4);
        count = shape[i] ? count * shape[i] : count;
    }
    for (uint32_t i = 0; i < rank; i++) {
        count = shape[i] ? count : 0;
    }
    for (size_t i = 0; i < count * width; i += 8) {
        uint64_t bits = odd_number() ^ (one_in(2) ? chance() : 0);
        memcpy(data + i, &bits, 8);
    }
    if (!is_int(dtype) && !is_bool(dtype) && one_in(2)) { /* numbers that fit everywhere */
        for (size_t i = 0; i < count; i++) {
            double wide = (double)(int64_t)below(2000) / 8 - 100;
            float single = (float)wide;
            uint16_t half = nearest_half(wide);
            uint16_t brain;
            uint32_t bits;
            memcpy(&bits, &single, 4);
            brain = (uint16_t)(bits >> 16);
            memcpy(data + i * width,
                   width == 8                ? (void *)&wide
                   : width == 4              ? (void *)&single
                   : dtype == REC_DTYPE_BF16 ? (void *)&brain
                                             : (void *)&half,
                   width);
            little(data + i * width, width, 1);
        }
    } else if (is_bool(dtype) || (is_int(dtype) && one_in(2))) {
        memset(data, 0, sizeof data);
        for (size_t i = 0; i < count; i++) {
            data[i * width] = (uint8_t)below(is_bool(dtype) ? 2 : 120);
        }
    }
    length = lengths[below(sizeof lengths / sizeof *lengths)];
    for (size_t i = 0; i < length; i++) {
        id[i] = hex[below(length == 36 ? 16 : 32)];
        if (length == 36 && (i == 8 || i == 13 || i == 18 || i == 23)) {
            id[i] = '-';
        }
        if (length == 13 && i == 12) {
            id[i] = hex[2 * below(16)];
        }
    }
    event.id = length ? id : NULL;
    event.flags = length ? 0 : REC_EVENT_BARE;
    event.data = (rec_blob){.size = sizeof event.data,
                            .kind = REC_BLOB_TEMPORARY,
                            .length = count * width,
                            .data = data,
                            .offset = REC_UNKNOWN};
    EVENT(tensor, REC_UNKNOWN, &event);
}

static void random_value(maker *m, unsigned depth);

static void random_list(maker *m, unsigned depth)
{
    static const int32_t forms[] = {REC_FORM_UNKNOWN, REC_FORM_LIST, REC_FORM_ARRAY, REC_FORM_TUPLE};
    uint64_t count = below(5);
    EVENT(list_begin, REC_UNKNOWN, forms[below(4)], one_in(2) ? count : REC_UNKNOWN);
    for (uint64_t i = 0; i < count; i++) {
        random_value(m, depth + 1);
    }
    EVENT(end, REC_UNKNOWN);
}

/* A list of numbers of one kind, as data has them. */
static void random_numbers(maker *m)
{
    static const rec_dtype dtypes[] = {REC_DTYPE_F64, REC_DTYPE_F32, REC_DTYPE_I64, REC_DTYPE_I32,
                                       REC_DTYPE_I16, REC_DTYPE_I8,  REC_DTYPE_U64, REC_DTYPE_U32,
                                       REC_DTYPE_U16, REC_DTYPE_U8,  REC_DTYPE_BOOL};
    rec_dtype dtype = dtypes[below(sizeof dtypes / sizeof *dtypes)];
    uint64_t count = below(40), data[40];
    for (uint64_t i = 0; i < 40; i++) {
        data[i] = dtype == REC_DTYPE_BOOL ? 0 : odd_number();
    }
    EVENT(list_begin, REC_UNKNOWN, REC_FORM_LIST, count);
    if (count) {
        EVENT(numbers, REC_UNKNOWN, dtype, data, count);
    }
    EVENT(end, REC_UNKNOWN);
}

static void random_map(maker *m, unsigned depth)
{
    static const char *const names[] = {"weight", "bias", "layers", "a",     "b",        "gamma", "",      "a.b",
                                        "\\",     "0",    "value",  "shape", "id",       "param", "bytes", "dtype",
                                        "type",   "é",    "item",   "_b",    "metadata", "V1",    "x y",   "fn"};
    bool plain = one_in(2);
    uint64_t used = 0, count = below(6);
    EVENT(map_begin, REC_UNKNOWN,
          one_in(2)   ? REC_FORM_STRUCT
          : one_in(2) ? REC_FORM_MAP
                      : REC_FORM_UNKNOWN,
          REC_UNKNOWN);
    for (uint64_t i = 0; i < count; i++) {
        uint64_t which = below(plain ? 6 : sizeof names / sizeof *names);
        rec_scalar key = of_text(names[which], strlen(names[which]));
        if (used >> which & 1) {
            continue;
        }
        used |= UINT64_C(1) << which;
        if (!plain && one_in(12)) {
            key = one_in(4) ? (rec_scalar){.kind = REC_KIND_BOOL, .v = {.i = (int64_t)i}}
                            : (rec_scalar){.kind = REC_KIND_UINT, .bits = 64, .v = {.u = i * 1000 + which}};
            key.v.i = key.kind == REC_KIND_BOOL ? 1 : key.v.i;
            used = key.kind == REC_KIND_BOOL ? used | UINT64_C(1) << 40 : used;
            if (key.kind == REC_KIND_BOOL) {
                count = i + 1; /* once */
            }
        }
        EVENT(key, REC_UNKNOWN, &key);
        random_value(m, depth + 1);
    }
    EVENT(end, REC_UNKNOWN);
}

static void random_variant(maker *m, unsigned depth)
{
    static const char *const names[] = {"Relu", "Dense", "V1", "Rank2", "None"};
    uint64_t which = below(5);
    rec_scalar name = of_text(names[which], strlen(names[which]));
    bool payload = !one_in(3);
    EVENT(variant_begin, REC_UNKNOWN, one_in(2) ? which : REC_UNKNOWN, &name, payload);
    if (payload) {
        random_value(m, depth + 1);
    }
    EVENT(end, REC_UNKNOWN);
}

static void random_bytes(maker *m)
{
    uint8_t data[64];
    rec_blob blob = {.size = sizeof blob,
                     .kind = REC_BLOB_TEMPORARY,
                     .length = below(sizeof data),
                     .data = data,
                     .offset = REC_UNKNOWN};
    for (size_t i = 0; i < sizeof data; i++) {
        data[i] = (uint8_t)chance();
    }
    EVENT(bytes, REC_UNKNOWN, &blob);
}

static void random_value(maker *m, unsigned depth)
{
    uint64_t kind = below(depth < 5 && m->left ? 12 : 6);
    rec_scalar scalar;
    m->left -= m->left > 0;
    switch (kind) {
    case 0:
    case 1:
    case 2:
        random_tensor(m);
        break;
    case 3:
    case 4:
        scalar = random_scalar();
        EVENT(scalar, REC_UNKNOWN, &scalar);
        break;
    case 5:
        if (one_in(2)) {
            random_bytes(m);
        } else {
            random_numbers(m);
        }
        break;
    case 6:
    case 7:
        random_list(m, depth);
        break;
    case 8:
        random_variant(m, depth);
        break;
    case 9: {
        bool present = one_in(2);
        EVENT(option, REC_UNKNOWN, present);
        if (present) {
            random_value(m, depth + 1);
        }
        break;
    }
    default:
        random_map(m, depth);
        break;
    }
}

static const rec_plugin fake = {.abi = REC_PLUGIN_ABI, .size = sizeof fake, .name = "Random"};

/* @return NULL: what chance made is no record. */
static rec_record *random_record(int32_t *minor)
{
    maker own = {.left = 40}, *m = &own;
    rec_record *record;
    rec_scalar key = of_text("version", 7), value;
    char version[32];
    lr_job_open(&m->job, NULL, "load", "chance");
    m->job.plugin = &fake;
    lr_job_input(&m->job, 100 << 20);
    m->builder = lr_builder_new(&m->job, REC_PRECISION_KEEP, true, NULL);
    assert_non_null(m->builder);
    *minor = one_in(4) ? -1 : 7 + (int32_t)below(15);
    if (*minor > 0) {
        (void)snprintf(version, sizeof version, "0.%d.%d", (int)*minor, (int)below(3));
        value = of_text(version, strlen(version));
        EVENT(metadata, REC_UNKNOWN, &key, &value);
    }
    if (one_in(6)) {
        key = of_text("author", 6);
        value = of_text("é\n\"me\"", strlen("é\n\"me\""));
        EVENT(metadata, REC_UNKNOWN, &key, &value);
    }
    if (one_in(12)) {
        random_value(m, 0);
    } else {
        random_map(m, 0);
    }
    record = m->status == REC_OK ? lr_builder_finish(m->builder) : NULL;
    lr_builder_free(m->builder);
    if (!record) {
        lr_job_end(&m->job);
        return NULL;
    }
    assert_int_equal(lr_job_end(&m->job), REC_OK);
    return record;
}

/* ------------------------------------------------------------------------------------------------------ rounds -- */

typedef struct way {
    const char *recorder;
    bool json, positional, tensors;
    unsigned saved, refused, blind;
} way;

static way ways[] = {
    {"NamedMpk", false, false, false, 0, 0, 0},      {"NamedMpkGz", false, false, false, 0, 0, 0},
    {"NamedMpkBytes", false, false, false, 0, 0, 0}, {"PrettyJson", true, false, false, 0, 0, 0},
    {"JsonGz", true, false, false, 0, 0, 0},         {"Bin", false, true, false, 0, 0, 0},
    {"BinGz", false, true, false, 0, 0, 0},          {"BinBytes", false, true, false, 0, 0, 0},
    {"Safetensors", false, false, true, 0, 0, 0},
};
enum { WAYS = sizeof ways / sizeof *ways };

static uint64_t seed_of_round;
static unsigned failures, typed_saves;
static bool loud;

#define WRONG(...)                                              \
    do {                                                        \
        if (failures++ < 20) {                                  \
            print_message("seed %" PRIu64 ": ", seed_of_round); \
            print_message(__VA_ARGS__);                         \
            print_message("\n");                                \
        }                                                       \
    } while (0)

/* A type for the record, from the record itself. NULL: it has none that can be written. */
static rec_types *type_of(const rec_record *record)
{
    rec_types *types = rec_types_new(NULL);
    char *source;
    if (!types) {
        fail_msg("seed %" PRIu64 ": no set of types: %s", seed_of_round, rec_error_message());
    }
    source = rec_record_describe(record, types, "Described");
    if (!source || rec_types_add_rust(types, source, "described.rs") != REC_OK) {
        if (source) {
            WRONG("the type that the record shows is not read: %s\n%s", rec_error_message(), source);
        } else if (!*rec_error_message()) {
            WRONG("no type, and no message");
        }
        rec_types_free(types);
        types = NULL;
    } else if (loud) {
        print_message("%s\n", source);
    }
    rec_free(source);
    return types;
}

static void check_metadata(const way *w, const rec_record *before, const rec_record *after, uint64_t notes,
                           int32_t minor)
{
    const char *author = rec_metadata(before, "author"), *now = rec_metadata(after, "author");
    const char *version = rec_metadata(after, "version");
    char begins[16];
    if (author && (!now || strcmp(author, now) != 0) && !notes) {
        WRONG("%s: metadata were lost without a word", w->recorder);
    }
    (void)snprintf(begins, sizeof begins, "0.%d.", (int)minor);
    if (!version || strncmp(version, begins, strlen(begins)) != 0) {
        WRONG("%s: the version is %s, not %s*", w->recorder, version ? version : "none", begins);
    }
}

/* A sink that ends too early, or never lets anything in. */
static void failing_sink(rec_recorder *r, const rec_record *record, const void *data, size_t size, bool can)
{
    bool full = one_in(2);
    int fd = full ? open("/dev/full", O_WRONLY | O_CLOEXEC) : memfd_create("short", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    size_t limit = full ? 0 : one_in(2) ? size : size ? (size_t)below(size) : 0;
    rec_status status;
    if (fd < 0) {
        return;
    }
    if (!full) {
        assert_int_equal(ftruncate(fd, (off_t)limit), 0);
        assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_GROW), 0);
    }
    status = rec_save_fd(r, record, fd, "sink");
    if ((status == REC_OK) != (can && limit >= size)) {
        WRONG("a sink of %zu for %zu bytes: status %d, %s", limit, size, (int)status, rec_error_message());
    } else if (status != REC_OK && !*rec_error_message()) {
        WRONG("a failing sink, and no message");
    } else if (status == REC_OK && !full && size) {
        void *map = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
        if (map == MAP_FAILED || memcmp(map, data, size) != 0) {
            WRONG("a descriptor got other bytes than memory");
        }
        (void)munmap(map, size);
    }
    (void)close(fd);
}

/* ---- an allocator that fails */

static uint64_t allocations, failing_one;
static atomic_llong held; /* pieces that were given and not taken back */

static bool fails(void)
{
    return ++allocations == failing_one;
}

static void *give(void *user, size_t size)
{
    void *memory = fails() ? NULL : malloc(size);
    (void)user;
    atomic_fetch_add(&held, memory != NULL);
    return memory;
}

static void *give_more(void *user, void *old, size_t size)
{
    void *memory = fails() ? NULL : realloc(old, size);
    (void)user;
    atomic_fetch_add(&held, !old && memory);
    return memory;
}

static void take_back(void *user, void *memory)
{
    (void)user;
    atomic_fetch_sub(&held, memory != NULL);
    free(memory);
}

/* Saves and loads again while one allocation fails: all is well, or there is a status; never half of it. */
static void failing_memory(const way *w, const rec_record *record, const rec_types *types, const char *layout,
                           const void *data, size_t size)
{
    static const rec_allocator allocator = {
        .size = sizeof allocator, .alloc = give, .resize = give_more, .release = take_back};
    rec_context *context;
    rec_recorder *r;
    void *again = NULL;
    uint64_t length = 0;
    allocations = 0;
    atomic_store(&held, 0);
    failing_one = 1 + below(one_in(2) ? 40 : 400);
    context = rec_context_new(&allocator);
    if (!context) {
        if (atomic_load(&held)) {
            WRONG("a context that was not made keeps %lld pieces of memory", atomic_load(&held));
        }
        return;
    }
    rec_context_set_default(context);
    r = rec_open_recorder(w->recorder, REC_PRECISION_KEEP);
    rec_context_set_default(NULL);
    if (r && rec_recorder_set(r, "layout", layout) == REC_OK &&
        (!types || rec_recorder_set_type_name(r, types, "Described") == REC_OK)) {
        rec_status status = rec_save_bytes(r, record, &again, &length);
        if (status == REC_OK && data && (length != size || memcmp(again, data, size) != 0)) {
            WRONG("%s: other bytes when an allocation failed", w->recorder);
        } else if (status != REC_OK && !*rec_error_message()) {
            WRONG("%s: an allocation failed, and there is no message", w->recorder);
        }
        if (status == REC_OK) {
            rec_record *back = rec_load_bytes(r, again, length);
            if (!back && rec_error_status() == REC_OK) {
                WRONG("%s: no record and no status", w->recorder);
            }
            rec_record_free(back);
        }
        rec_free(again);
    }
    rec_close_recorder(r);
    rec_context_free(context);
    if (atomic_load(&held)) {
        WRONG("%s: %lld pieces of memory were not given back", w->recorder, atomic_load(&held));
    }
}

/* ---- functions of the program's own that fail */

typedef struct own {
    uint8_t *data;
    uint64_t size, room, at;
    uint64_t calls, failing; /* the call that fails, from 1; 0: none does */
    int32_t number;          /* what it returns */
    unsigned finished, released;
    int32_t ok; /* what finish() was told */
} own;

static int32_t own_call(own *o)
{
    return ++o->calls == o->failing ? o->number : 0;
}

static int32_t own_write(void *user, const void *data, uint64_t size)
{
    own *o = user;
    int32_t failed = own_call(o);
    if (failed) {
        return failed;
    }
    if (o->size + size > o->room) {
        o->room = (o->size + size) * 2;
        o->data = realloc(o->data, (size_t)o->room);
        assert_non_null(o->data);
    }
    memcpy(o->data + o->size, data, (size_t)size);
    o->size += size;
    return 0;
}

static int32_t own_patch(void *user, uint64_t offset, const void *data, uint64_t size)
{
    own *o = user;
    int32_t failed = own_call(o);
    if (failed) {
        return failed;
    }
    assert_true(offset <= o->size && size <= o->size - offset);
    memcpy(o->data + offset, data, (size_t)size);
    return 0;
}

static int32_t own_finish(void *user, int32_t ok)
{
    own *o = user;
    o->finished++;
    o->ok = ok;
    return ok ? own_call(o) : 0;
}

static int32_t own_read(void *user, void *target, uint64_t room, uint64_t *got)
{
    own *o = user;
    int32_t failed = own_call(o);
    if (failed) {
        return failed;
    }
    *got = o->size - o->at < room ? o->size - o->at : room;
    *got = *got > 1 && one_in(2) ? 1 + below(*got) : *got;
    memcpy(target, o->data + o->at, (size_t)*got);
    o->at += *got;
    return 0;
}

static int32_t own_read_at(void *user, uint64_t offset, void *target, uint64_t size)
{
    own *o = user;
    int32_t failed = own_call(o);
    if (failed) {
        return failed;
    }
    assert_true(offset <= o->size && size <= o->size - offset);
    memcpy(target, o->data + offset, (size_t)size);
    return 0;
}

static void own_release(void *user)
{
    ((own *)user)->released++;
}

/* The status that a number of a function of the program's becomes. */
static rec_status status_of(int32_t number, bool input)
{
    bool missing = number == ENOENT || number == ENOTDIR;
    return number == ENOMEM      ? REC_E_MEMORY
           : number == ECANCELED ? REC_E_CANCELLED
           : missing && input    ? REC_E_NOT_FOUND
                                 : REC_E_IO;
}

/* What was saved goes to functions and comes from functions, of which one call may fail, with any number: it ends with
 * its status and number, `finish` is told, everything is given back once. Without a failure the bytes are those of
 * memory. */
static void failing_functions(const way *w, rec_recorder *to, rec_recorder *from, const rec_record *record,
                              const void *data, uint64_t size)
{
    static const int32_t numbers[] = {EIO, ENOSPC, ENOENT, ENOTDIR, ENOMEM, ECANCELED, EINTR, -1};
    own o = {.failing = one_in(3) ? 0 : 1 + below(6), .number = numbers[below(8)]};
    rec_output output = {
        .size = sizeof output, .write = own_write, .patch = own_patch, .finish = own_finish, .release = own_release};
    rec_input input = {.size = sizeof input, .release = own_release};
    rec_status status = rec_save_to(to, record, &output, &o);
    rec_status found;
    bool failed = o.failing && o.calls >= o.failing;
    bool back_failed;
    rec_record *back;
    if (o.finished != 1 || o.released != 1) {
        WRONG("%s: finished %u times, released %u times", w->recorder, o.finished, o.released);
    } else if (failed ? status != status_of(o.number, false) ||
                            rec_error_errno() != (o.number > 0 && o.number != ECANCELED ? o.number : 0)
                      : status != REC_OK || o.ok != 1) {
        WRONG("%s: call %d of an output ended with %d: status %d, number %d, finish(%d): %s", w->recorder,
              (int)o.failing, (int)o.number, (int)status, (int)rec_error_errno(), (int)o.ok, rec_error_message());
    } else if (!failed && (o.size != size || memcmp(o.data, data, (size_t)size) != 0)) {
        WRONG("%s: functions got other bytes than memory", w->recorder);
    }
    free(o.data);

    o = (own){
        .data = (uint8_t *)(uintptr_t)data, .size = size, .failing = one_in(3) ? 0 : 1 + below(6), .number = o.number};
    if (one_in(2)) {
        input.total = size;
        input.read_at = own_read_at;
    } else {
        input.total = REC_UNKNOWN;
        input.read = own_read;
    }
    back = rec_load_from(from, &input, &o);
    found = back ? REC_OK : rec_error_status();
    back_failed = o.failing && o.calls >= o.failing;
    if (back_failed != !back || (back_failed && found != status_of(o.number, true))) {
        /* A format may look at what it can do without. */
        WRONG("%s: call %d of %d of an input ended with %d: %s, status %d: %s", w->recorder, (int)o.failing,
              (int)o.calls, (int)o.number, back ? "loaded" : "not loaded", (int)found, back ? "" : rec_error_message());
    }
    rec_record_free(back);
    if (o.released != 1) {
        WRONG("%s: an input was released %u times", w->recorder, o.released);
    }
}

static void round_trip(void)
{
    static const rec_precision precisions[] = {REC_PRECISION_KEEP, REC_PRECISION_KEEP, REC_PRECISION_DOUBLE,
                                               REC_PRECISION_FULL, REC_PRECISION_HALF};
    way *w = &ways[below(WAYS)];
    int32_t minor, target = (int32_t)below(17);
    rec_record *record = random_record(&minor);
    rec_precision precision = precisions[below(5)];
    rec_types *types = record && (w->positional || one_in(4)) ? type_of(record) : NULL;
    rec_recorder *to, *from;
    rules r = {.json = w->json, .precision = precision}, back_rules;
    text before = {0}, after = {0};
    char layout[16] = "keep";
    void *data = NULL;
    uint64_t size = 0;
    uint64_t notes;
    rec_status status;
    rec_record *back = NULL;
    if (!record) {
        return;
    }
    if (target < 15) {
        r.minor = 7 + target;
        r.ids = !w->tensors; /* those keep a record as it is */
        (void)snprintf(layout, sizeof layout, "burn-0.%d", (int)r.minor);
    } else {
        r.minor = minor > 0 ? minor : 21;
    }
    r.v1 = r.minor < 14 && !w->tensors;
    r.typed = types != NULL;
    r.positional = w->positional;
    back_rules = r;
    back_rules.precision = precision == REC_PRECISION_KEEP ? REC_PRECISION_KEEP : precision;
    to = rec_open_recorder(w->recorder, precision);
    from = rec_open_recorder(w->recorder, REC_PRECISION_KEEP);
    assert_true(to && from);
    assert_int_equal(rec_recorder_set(to, "layout", layout), REC_OK);
    if (types) {
        assert_int_equal(rec_recorder_set_type_name(to, types, "Described"), REC_OK);
        assert_int_equal(rec_recorder_set_type_name(from, types, "Described"), REC_OK);
    }
    put_value(&before, rec_root(record), &r);
    if (loud) {
        print_message("%s %s precision %d typed %d: %.3000s\n", w->recorder, layout, (int)precision, types != NULL,
                      before.at);
    }
    status = rec_save_bytes(to, record, &data, &size);
    notes = rec_report_count();
    if (status != REC_OK) {
        w->refused++;
        if (!*rec_error_message() || data) {
            WRONG("%s: refused without a message, or with data", w->recorder);
        }
        if (loud) {
            print_message("refused: %s\n", rec_error_message());
        }
    } else if (r.refuse) {
        WRONG("%s %s: integers that do not fit were saved", w->recorder, layout);
    } else if (r.note && !notes) {
        WRONG("%s %s: a loss, and no note: %.2000s", w->recorder, layout, before.at);
    } else if (w->positional && !types) {
        w->blind++; /* nobody can read it without a type */
    } else {
        w->saved++;
        typed_saves += types != NULL;
        back = rec_load_bytes(from, data, size);
        if (!back) {
            WRONG("%s %s%s: what was saved does not load: %s\n%.2000s", w->recorder, layout, types ? " typed" : "",
                  rec_error_message(), before.at);
        } else {
            check_metadata(w, record, back, notes, r.minor);
            if (!r.v1 || types) { /* without a type, much of V1 has to be assumed */
                put_value(&after, rec_root(back), &back_rules);
                if (before.used != after.used || memcmp(before.at, after.at, before.used) != 0) {
                    size_t at = 0;
                    while (at < before.used && before.at[at] == after.at[at]) {
                        at++;
                    }
                    at = at > 40 ? at - 40 : 0;
                    WRONG("%s %s%s precision %d: not what it was, at %zu:\n  %.300s\n  %.300s", w->recorder, layout,
                          types ? " typed" : "", (int)precision, at, before.at + at, after.at + at);
                }
            }
        }
    }
    if (one_in(4)) {
        failing_sink(to, record, data, (size_t)size, status == REC_OK);
    }
    if (back && one_in(2)) {
        failing_functions(w, to, from, record, data, size);
    }
    if (one_in(8)) {
        failing_memory(w, record, types, layout, precision == REC_PRECISION_KEEP ? data : NULL, (size_t)size);
    }
    rec_free(data);
    free(before.at);
    free(after.at);
    rec_record_free(back);
    rec_record_free(record);
    rec_close_recorder(to);
    rec_close_recorder(from);
    rec_types_free(types);
}

static uint64_t number_of(const char *name, uint64_t otherwise)
{
    const char *words = getenv(name);
    return words && *words ? strtoull(words, NULL, 10) : otherwise;
}

static void what_comes_back_is_equal_or_refused_or_told(void **state)
{
    uint64_t rounds = number_of("LIBRECORD_PROPERTY_ROUNDS", 1000);
    uint64_t seeds[] = {1, 22112026, 7154321};
    size_t count = sizeof seeds / sizeof *seeds;
    (void)state;
    if (getenv("LIBRECORD_PROPERTY_SEED")) {
        seeds[0] = number_of("LIBRECORD_PROPERTY_SEED", 1);
        count = 1;
        loud = rounds == 1;
    }
    for (size_t s = 0; s < count; s++) {
        print_message("seed %" PRIu64 ", %" PRIu64 " rounds\n", seeds[s], rounds);
        for (uint64_t i = 0; i < rounds; i++) {
            seed_of_round = state_of_chance = seeds[s] + i;
            (void)chance();
            round_trip();
        }
    }
    for (size_t i = 0; i < WAYS; i++) {
        print_message("%s: %u saved and read back, %u refused\n", ways[i].recorder, ways[i].saved, ways[i].refused);
        if (rounds >= 1000) { /* a library that refuses everything would pass */
            assert_true(ways[i].saved > ways[i].refused / 20);
        }
    }
    print_message("%u of them with a type\n", typed_saves);
    assert_int_equal(failures, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_comes_back_is_equal_or_refused_or_told)};
    return cmocka_run_group_tests_name("random records", tests, NULL, NULL);
}
