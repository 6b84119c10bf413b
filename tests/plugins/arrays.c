/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The writer of the format of number arrays, and the descriptor. What it leaves out of its visitor (bytes, options,
 * variants) core tells it in simpler events. */

#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "arrays.h"

struct writer {
    rec_job *job;
    rec_sink *sink;
    locale_t c;
    uint32_t depth;
    bool in_map[DEPTH], filled[DEPTH]; /**< of each open container; 0 is the outermost value */
};

static int32_t put(struct writer *w, const char *text)
{
    return rec_sink_write(w->sink, text, strlen(text));
}

/** The comma in front of an item of a list. In a map the key has it. */
static int32_t begin_value(struct writer *w)
{
    bool comma = w->depth > 0 && !w->in_map[w->depth] && w->filled[w->depth];

    w->filled[w->depth] = true;
    return comma ? put(w, ",") : REC_OK;
}

static int32_t put_string(struct writer *w, const char *text, uint64_t length)
{
    int32_t status = put(w, "\"");
    char escape[8];

    for (uint64_t i = 0; i < length && status == REC_OK; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c < 0x20 || c == '"' || c == '\\') {
            (void)snprintf(escape, sizeof escape, "\\u%04x", c);
            status = put(w, escape);
        } else {
            status = rec_sink_write(w->sink, text + i, 1);
        }
    }
    return status == REC_OK ? put(w, "\"") : status;
}

/** So many digits that the number comes back, and always something that tells it from an integer. */
static int32_t put_float(struct writer *w, double value, int digits)
{
    char text[40];
    locale_t old;

    if (!isfinite(value)) {
        return put(w, "null");
    }
    old = uselocale(w->c); /* printf obeys the locale: the program's may have a decimal comma */
    (void)snprintf(text, sizeof text, "%.*g", digits, value);
    (void)uselocale(old);
    if (strpbrk(text, ".e") == NULL) {
        strcat(text, ".0");
    }
    return put(w, text);
}

static int32_t on_scalar(void *self, uint64_t at, const rec_scalar *scalar)
{
    struct writer *w = self;
    char text[24];
    int32_t status = begin_value(w);

    (void)at;
    if (status != REC_OK) {
        return status;
    }
    switch (scalar->kind) {
    case REC_KIND_NIL:
        return put(w, "null");
    case REC_KIND_BOOL:
        return put(w, scalar->v.i ? "true" : "false");
    case REC_KIND_INT:
        (void)snprintf(text, sizeof text, "%" PRId64, scalar->v.i);
        return put(w, text);
    case REC_KIND_UINT:
        (void)snprintf(text, sizeof text, "%" PRIu64, scalar->v.u);
        return put(w, text);
    case REC_KIND_FLOAT:
        return put_float(w, scalar->v.f, scalar->bits == 32 ? 9 : 17);
    default:
        return put_string(w, scalar->text, scalar->v.length);
    }
}

/** Element `index` of a chunk as a scalar. */
static int32_t element(rec_dtype dtype, const void *data, uint64_t index, rec_scalar *out)
{
    uint32_t size = rec_dtype_bits(dtype) / 8;
    const uint8_t *from = (const uint8_t *)data + index * size;
    union {
        int8_t i8;
        int16_t i16;
        int32_t i32;
        int64_t i64;
        uint8_t u8;
        uint16_t u16;
        uint32_t u32;
        uint64_t u64;
        float f32;
        double f64;
    } n;

    memcpy(&n, from, size);
    *out = (rec_scalar){.kind = REC_KIND_UINT, .bits = (uint16_t)(8 * size)};
    switch (dtype) {
    case REC_DTYPE_BOOL:
        out->kind = REC_KIND_BOOL;
        out->v.i = n.u8;
        return REC_OK;
    case REC_DTYPE_U8:
        out->v.u = n.u8;
        return REC_OK;
    case REC_DTYPE_U16:
        out->v.u = n.u16;
        return REC_OK;
    case REC_DTYPE_U32:
        out->v.u = n.u32;
        return REC_OK;
    case REC_DTYPE_U64:
        out->v.u = n.u64;
        return REC_OK;
    case REC_DTYPE_I8:
        out->kind = REC_KIND_INT;
        out->v.i = n.i8;
        return REC_OK;
    case REC_DTYPE_I16:
        out->kind = REC_KIND_INT;
        out->v.i = n.i16;
        return REC_OK;
    case REC_DTYPE_I32:
        out->kind = REC_KIND_INT;
        out->v.i = n.i32;
        return REC_OK;
    case REC_DTYPE_I64:
        out->kind = REC_KIND_INT;
        out->v.i = n.i64;
        return REC_OK;
    case REC_DTYPE_F32:
        out->kind = REC_KIND_FLOAT;
        out->v.f = (double)n.f32;
        return REC_OK;
    case REC_DTYPE_F64:
        out->kind = REC_KIND_FLOAT;
        out->v.f = n.f64;
        return REC_OK;
    default:
        return REC_E_UNSUPPORTED;
    }
}

static int32_t on_numbers(void *self, uint64_t at, rec_dtype dtype, const void *data, uint64_t count)
{
    struct writer *w = self;
    rec_scalar scalar;
    int32_t status = REC_OK;

    for (uint64_t i = 0; i < count && status == REC_OK; i++) {
        if (element(dtype, data, i, &scalar) != REC_OK) {
            return rec_fail(w->job, REC_E_UNSUPPORTED, at, "a list of %s", rec_dtype_name(dtype));
        }
        status = on_scalar(self, at, &scalar);
    }
    return status;
}

static int32_t open_container(struct writer *w, bool map)
{
    int32_t status = begin_value(w);

    if (status == REC_OK && w->depth + 1 >= DEPTH) {
        status = rec_fail(w->job, REC_E_LIMIT, REC_UNKNOWN, "nested too deep");
    }
    if (status == REC_OK) {
        w->in_map[++w->depth] = map;
        w->filled[w->depth] = false;
        status = put(w, map ? "{" : "[");
    }
    return status;
}

static int32_t on_list(void *self, uint64_t at, int32_t form, uint64_t count)
{
    (void)at, (void)form, (void)count;
    return open_container(self, false);
}

static int32_t on_map(void *self, uint64_t at, int32_t form, uint64_t count)
{
    (void)at, (void)form, (void)count;
    return open_container(self, true);
}

static int32_t on_key(void *self, uint64_t at, const rec_scalar *key)
{
    struct writer *w = self;
    int32_t status = w->filled[w->depth] ? put(w, ",\n") : REC_OK;

    if (key->kind != REC_KIND_STRING) {
        return rec_fail(w->job, REC_E_UNSUPPORTED, at, "a key that is not text");
    }
    w->filled[w->depth] = true;
    status = status == REC_OK ? put_string(w, key->text, key->v.length) : status;
    return status == REC_OK ? put(w, ":") : status;
}

static int32_t on_end(void *self, uint64_t at)
{
    struct writer *w = self;

    (void)at;
    return put(w, w->in_map[w->depth--] ? "}" : "]");
}

static int32_t save(rec_job *job, rec_sink *sink)
{
    static const rec_visitor visitor = {.size = sizeof visitor,
                                        .scalar = on_scalar,
                                        .numbers = on_numbers,
                                        .list_begin = on_list,
                                        .map_begin = on_map,
                                        .key = on_key,
                                        .end = on_end};
    struct writer w = {.job = job, .sink = sink, .c = newlocale(LC_ALL_MASK, "C", (locale_t)0)};
    int32_t status;

    if (w.c == (locale_t)0) {
        return rec_fail(job, REC_E_MEMORY, REC_UNKNOWN, "out of memory");
    }
    status = rec_job_walk(job, &visitor, &w);
    freelocale(w.c);
    return status == REC_OK ? put(&w, "\n") : status;
}

/* -------------------------------------------------------------------------------------------------- descriptor -- */

/** A brace and nothing that is no text: little, so few bits. */
static int32_t probe(const rec_head *head)
{
    for (uint64_t i = 0; i < head->length && i < 64; i++) {
        uint8_t c = head->data[i];
        if (c < 0x20 && c != '\n' && c != '\r' && c != '\t') {
            return 0;
        }
    }
    return head->length > 1 && head->data[0] == '{' && head->data[1] == '"' ? 16 : 0;
}

static const rec_plugin arrays = {
    .abi = REC_PLUGIN_ABI,
    .size = sizeof(rec_plugin),
    .name = "Arrays",
    .extension = "arrays",
    .description = "test: arrays of numbers",
    .probe = probe,
    .load = arrays_load,
    .save = save,
};

REC_PLUGINS(arrays, &arrays);
