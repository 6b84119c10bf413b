/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <string.h>

#include "flax/array.h"

/* ------------------------------------------------------------------------------------------------------- types -- */

/* NumPy's names, and those that ml_dtypes adds. The names of opaque types are those of safetensors, so that a tensor
 * can be converted between the two formats. */
static const array_type types[] = {
    {"float32", REC_DTYPE_F32, 4, NULL},
    {"float64", REC_DTYPE_F64, 8, NULL},
    {"float16", REC_DTYPE_F16, 2, NULL},
    {"bfloat16", REC_DTYPE_BF16, 2, NULL},
    {"int64", REC_DTYPE_I64, 8, NULL},
    {"int32", REC_DTYPE_I32, 4, NULL},
    {"int16", REC_DTYPE_I16, 2, NULL},
    {"int8", REC_DTYPE_I8, 1, NULL},
    {"uint64", REC_DTYPE_U64, 8, NULL},
    {"uint32", REC_DTYPE_U32, 4, NULL},
    {"uint16", REC_DTYPE_U16, 2, NULL},
    {"uint8", REC_DTYPE_U8, 1, NULL},
    {"bool", REC_DTYPE_BOOL, 1, NULL},
    {"complex64", REC_DTYPE_OPAQUE, 8, "C64"},
    {"complex128", REC_DTYPE_OPAQUE, 16, "C128"},
    {"float8_e4m3fn", REC_DTYPE_OPAQUE, 1, "F8_E4M3"},
    {"float8_e5m2", REC_DTYPE_OPAQUE, 1, "F8_E5M2"},
    {"float8_e4m3fnuz", REC_DTYPE_OPAQUE, 1, "F8_E4M3FNUZ"},
    {"float8_e5m2fnuz", REC_DTYPE_OPAQUE, 1, "F8_E5M2FNUZ"},
    {"float8_e8m0fnu", REC_DTYPE_OPAQUE, 1, "F8_E8M0"},
};
enum { TYPES = sizeof types / sizeof *types };

const array_type *array_type_named(const char *name)
{
    for (size_t i = 0; i < TYPES; i++) {
        if (strcmp(types[i].name, name) == 0) {
            return &types[i];
        }
    }
    return NULL;
}

const array_type *array_type_of(rec_dtype dtype, const char *opaque)
{
    dtype = dtype == REC_DTYPE_FLEX32 ? REC_DTYPE_F32 : dtype == REC_DTYPE_BOOL8 ? REC_DTYPE_BOOL : dtype;
    for (size_t i = 0; i < TYPES; i++) {
        if (types[i].dtype == dtype && (!types[i].opaque || (opaque && strcmp(types[i].opaque, opaque) == 0))) {
            return &types[i];
        }
    }
    return NULL;
}

/* ------------------------------------------------------------------------------------------------ one extension -- */

static rec_status read_type(mp_cursor *c, array *a)
{
    mp_value name;
    const uint8_t *bytes;
    char text[TYPE_ROOM] = "";
    uint64_t got;
    rec_status status = mp_next(c, &name);
    if (status == REC_OK && name.kind != MP_TEXT && name.kind != MP_BYTES) {
        status = mp_unexpected(c, "the name of an element type", &name);
    }
    if (status == REC_OK && name.count && name.count < sizeof text) {
        status = window_get(c->w, name.data, name.count, &bytes, &got);
        if (status == REC_OK && got == name.count) {
            memcpy(text, bytes, got);
        }
    }
    a->type = array_type_named(text);
    if (status == REC_OK && !a->type) {
        status = rec_fail_found(c->w->job, REC_E_UNSUPPORTED, name.at, "an element type of NumPy or JAX", "%s",
                                *text ? text : "another name");
    }
    return status;
}

/* Reads one size. @param elements the product so far. */
static rec_status read_size(mp_cursor *c, array *a, uint64_t *elements)
{
    mp_value size;
    rec_status status = mp_next(c, &size);
    if (status == REC_OK && size.kind != MP_UINT) {
        return mp_unexpected(c, "the size of a dimension", &size);
    }
    if (status == REC_OK && a->rank == ARRAY_RANK) {
        return rec_fail(c->w->job, REC_E_UNSUPPORTED, size.at, "an array of more than %d dimensions", ARRAY_RANK);
    }
    if (status == REC_OK) {
        a->shape[a->rank++] = size.count;
        if (__builtin_mul_overflow(*elements, size.count, elements)) {
            status = rec_fail(c->w->job, REC_E_FORMAT, size.at, "a shape with more elements than can be counted");
        }
    }
    return status;
}

/* Compares the number of bytes with that of shape and type. */
static rec_status check_size(const mp_cursor *c, const array *a, uint64_t at, uint64_t elements)
{
    uint64_t size;
    if (__builtin_mul_overflow(elements, a->type->width, &size) || size != a->size) {
        return rec_fail(c->w->job, REC_E_FORMAT, at, "an array of %llu elements of %s with %llu bytes",
                        (unsigned long long)elements, a->type->name, (unsigned long long)a->size);
    }
    return REC_OK;
}

static rec_status read_data(mp_cursor *c, array *a, uint64_t elements)
{
    mp_value data;
    rec_status status = mp_next(c, &data);
    if (status == REC_OK && data.kind != MP_BYTES && data.kind != MP_TEXT) {
        status = mp_unexpected(c, "the bytes of an array", &data);
    }
    if (status != REC_OK) {
        return status;
    }
    a->size = data.count;
    a->offset = data.data;
    status = check_size(c, a, data.at, elements);
    if (status == REC_OK && c->at != c->end) {
        status = rec_fail(c->w->job, REC_E_FORMAT, c->at, "%llu bytes after an array, in its extension",
                          (unsigned long long)(c->end - c->at));
    }
    return status;
}

static rec_status next_list(mp_cursor *c, const char *expected, mp_value *list)
{
    rec_status status = mp_next(c, list);
    return status == REC_OK && list->kind != MP_LIST ? mp_unexpected(c, expected, list) : status;
}

rec_status array_read(window *w, const mp_value *ext, array *a)
{
    mp_cursor c = {w, ext->data, ext->data + ext->count};
    mp_value list, shape;
    uint64_t elements = 1;
    rec_status status = next_list(&c, "a list of shape, element type and bytes", &list);
    *a = (array){0};
    if (status == REC_OK && list.count != 3) {
        status = rec_fail_found(w->job, REC_E_FORMAT, list.at, "a list of shape, element type and bytes",
                                "a list of %llu", (unsigned long long)list.count);
    }
    status = status == REC_OK ? next_list(&c, "the shape of an array", &shape) : status;
    for (uint64_t i = 0; status == REC_OK && i < shape.count; i++) {
        status = read_size(&c, a, &elements);
    }
    status = status == REC_OK ? read_type(&c, a) : status;
    return status == REC_OK ? read_data(&c, a, elements) : status;
}

static rec_status read_part(mp_cursor *c, double *part)
{
    mp_value value;
    rec_status status = mp_next(c, &value);
    if (status == REC_OK && value.kind != MP_FLOAT) {
        status = mp_unexpected(c, "a part of a complex number", &value);
    }
    *part = value.real;
    return status;
}

rec_status array_read_complex(window *w, const mp_value *ext, double *parts)
{
    mp_cursor c = {w, ext->data, ext->data + ext->count};
    mp_value list;
    rec_status status = next_list(&c, "a list of the two parts of a complex number", &list);
    if (status == REC_OK && list.count != 2) {
        status = rec_fail_found(w->job, REC_E_FORMAT, list.at, "the two parts of a complex number", "%llu",
                                (unsigned long long)list.count);
    }
    for (int i = 0; i < 2 && status == REC_OK; i++) {
        status = read_part(&c, &parts[i]);
    }
    if (status == REC_OK && c.at != c.end) {
        status = rec_fail(w->job, REC_E_FORMAT, c.at, "more bytes after a complex number, in its extension");
    }
    return status;
}

/* ----------------------------------------------------------------------------------------------- chunked arrays -- */

static rec_status next_map(mp_cursor *c, const char *expected, mp_value *map)
{
    rec_status status = mp_next(c, map);
    return status == REC_OK && map->kind != MP_MAP ? mp_unexpected(c, expected, map) : status;
}

/* Reads a key that is a number in decimal, as Flax turns a tuple into a map. */
static rec_status read_index(mp_cursor *c, uint64_t count, uint64_t *index)
{
    mp_value key;
    const uint8_t *digits;
    uint64_t got = 0;
    rec_status status = mp_next(c, &key);
    *index = 0;
    if (status == REC_OK && key.kind == MP_TEXT && key.count && key.count < 19) {
        status = window_get(c->w, key.data, key.count, &digits, &got);
        for (uint64_t i = 0; status == REC_OK && i < got && *index != REC_UNKNOWN; i++) {
            *index = digits[i] < '0' || digits[i] > '9' ? REC_UNKNOWN : *index * 10 + (digits[i] - '0');
        }
    }
    if (status == REC_OK && (!got || *index >= count)) {
        status = rec_fail_found(c->w->job, REC_E_FORMAT, key.at, "the number of a size or chunk, as a text",
                                "another key, in a map of %llu", (unsigned long long)count);
    }
    return status;
}

/* Sizes may come in any order: each has its number. */
static rec_status read_shape(mp_cursor *c, array *a, uint64_t *elements)
{
    mp_value map;
    array one = {0};
    uint32_t seen = 0;
    uint64_t index;
    rec_status status = next_map(c, "the shape of a chunked array", &map);
    if (status == REC_OK && map.count > ARRAY_RANK) {
        return rec_fail(c->w->job, REC_E_UNSUPPORTED, map.at, "an array of more than %d dimensions", ARRAY_RANK);
    }
    for (uint64_t i = 0; status == REC_OK && i < map.count; i++) {
        status = read_index(c, map.count, &index);
        one.rank = 0;
        status = status == REC_OK ? read_size(c, &one, elements) : status;
        if (status == REC_OK && seen & 1u << index) {
            status = rec_fail(c->w->job, REC_E_FORMAT, c->at, "dimension %u occurs twice", (unsigned)index);
        }
        if (status == REC_OK) {
            seen |= 1u << index;
            a->shape[index] = one.shape[0];
            a->rank++;
        }
    }
    return status;
}

static rec_status read_chunk(mp_cursor *c, array *a)
{
    mp_value value;
    array chunk;
    uint64_t index;
    rec_status status = read_index(c, a->chunk_count, &index);
    status = status == REC_OK ? mp_next(c, &value) : status;
    if (status == REC_OK && (value.kind != MP_EXT || value.type != FLAX_ARRAY)) {
        status = mp_unexpected(c, "a chunk of an array", &value);
    }
    status = status == REC_OK ? array_read(c->w, &value, &chunk) : status;
    if (status != REC_OK) {
        return status;
    }
    if (chunk.rank != 1 || (a->type && a->type != chunk.type) || a->chunks[index].source) {
        return rec_fail(c->w->job, REC_E_FORMAT, value.at,
                        "chunk %llu occurs twice, or is not a vector of the type of the others",
                        (unsigned long long)index);
    }
    a->type = chunk.type;
    a->chunks[index] = (rec_source_piece){
        .size = sizeof *a->chunks, .source = c->w->source, .offset = chunk.offset, .length = chunk.size};
    a->size += chunk.size; /* ranges of one file: no overflow */
    return REC_OK;
}

static rec_status read_chunks(mp_cursor *c, array *a)
{
    mp_value map;
    rec_status status = next_map(c, "the chunks of an array", &map);
    if (status != REC_OK) {
        return status;
    }
    if (!map.count) {
        return rec_fail(c->w->job, REC_E_FORMAT, map.at, "a chunked array without chunks");
    }
    a->chunk_count = map.count; /* mp_next() has compared it with the size of the file */
    a->chunks = rec_job_alloc(c->w->job, map.count * sizeof *a->chunks);
    if (!a->chunks) {
        return rec_fail(c->w->job, REC_E_MEMORY, map.at, "no memory for the chunks of an array");
    }
    memset(a->chunks, 0, map.count * sizeof *a->chunks);
    for (uint64_t i = 0; status == REC_OK && i < map.count; i++) {
        status = read_chunk(c, a);
    }
    return status;
}

rec_status array_read_chunked(mp_cursor *c, const mp_value *map, array *a)
{
    mp_value value;
    uint64_t elements = 1;
    int shape = 0, is_shape, is_chunks;
    rec_status status = mp_next(c, &value); /* of the mark: true */
    *a = (array){0};
    if (status == REC_OK && map->count != 3) {
        status = rec_fail_found(c->w->job, REC_E_FORMAT, map->at, "a chunked array with a shape and chunks",
                                "%llu entries", (unsigned long long)map->count);
    }
    for (int i = 0; i < 2 && status == REC_OK; i++) {
        status = mp_next(c, &value);
        status = status == REC_OK ? mp_is(c, &value, "shape", &is_shape) : status;
        status = status == REC_OK ? mp_is(c, &value, "chunks", &is_chunks) : status;
        if (status == REC_OK && is_shape && !shape) {
            shape = 1;
            status = read_shape(c, a, &elements);
        } else if (status == REC_OK && is_chunks && !a->chunks) {
            status = read_chunks(c, a);
        } else if (status == REC_OK) {
            status = mp_unexpected(c, "the shape or the chunks of an array", &value);
        }
    }
    return status == REC_OK ? check_size(c, a, map->at, elements) : status;
}

void array_free(array *a, rec_job *job)
{
    rec_job_free(job, a->chunks);
    a->chunks = NULL;
}
