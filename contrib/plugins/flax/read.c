/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The reader. Arrays are not read: the record keeps their places in the file. */
#include <stdio.h>
#include <string.h>

#include "common/text.h"
#include "flax/array.h"
#include "flax/flax.h"

typedef struct reader {
    rec_job *job;
    rec_source *source;
    const rec_visitor *visitor;
    void *self;
    window window;
    text name;
    rec_path path;
    int all;           /**< every value in its level; else arrays by their paths */
    uint32_t depth;    /**< of containers around the value */
    uint64_t left_out; /**< values */
} reader;

static rec_status read_value(reader *r, mp_cursor *c);

/* ------------------------------------------------------------------------------------------------------ leaves -- */

/* Reports a tensor; of a model after its path. */
static rec_status tell_tensor(reader *r, uint64_t at, const rec_tensor_event *event)
{
    rec_scalar key = {.kind = REC_KIND_STRING, .text = r->path.text, .v.length = r->path.length};
    rec_status status = r->all ? REC_OK : r->visitor->key(r->self, at, &key);
    return status == REC_OK ? r->visitor->tensor(r->self, at, event) : status;
}

static rec_status tell_bytes(reader *r, uint64_t at, const array *a, rec_source *source, uint64_t offset)
{
    rec_tensor_event event = {
        .size = sizeof event,
        .dtype = a->type->dtype,
        .rank = a->rank,
        .shape = a->shape,
        .dtype_name = a->type->opaque,
        .data =
            {.size = sizeof(rec_blob), .kind = REC_BLOB_RANGE, .length = a->size, .source = source, .offset = offset},
    };
    return tell_tensor(r, at, &event);
}

static rec_status read_array(reader *r, const mp_value *ext)
{
    array a;
    rec_status status = array_read(&r->window, ext, &a);
    return status == REC_OK ? tell_bytes(r, ext->at, &a, r->source, a.offset) : status;
}

static rec_status read_chunked(reader *r, mp_cursor *c, const mp_value *map)
{
    array a;
    rec_source *joined = NULL;
    rec_status status = array_read_chunked(c, map, &a);
    status = status == REC_OK ? rec_source_pieces(r->job, rec_source_name(r->source), a.chunks, a.chunk_count, &joined)
                              : status;
    status = status == REC_OK ? tell_bytes(r, map->at, &a, joined, 0) : status;
    rec_source_release(joined);
    array_free(&a, r->job);
    return status;
}

static void put_little(uint8_t *to, double number)
{
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    for (int i = 0; i < 8; i++) {
        to[i] = (uint8_t)(bits >> (8 * i));
    }
}

/* Records have no complex numbers: it becomes a tensor without dimensions, of a type of its own. */
static rec_status read_complex(reader *r, const mp_value *ext)
{
    double parts[2] = {0, 0};
    uint8_t bytes[16];
    rec_tensor_event event = {.size = sizeof event, .dtype = REC_DTYPE_OPAQUE, .dtype_name = "complex"};
    rec_status status = array_read_complex(&r->window, ext, parts);
    put_little(bytes, parts[0]);
    put_little(bytes + 8, parts[1]);
    event.data =
        (rec_blob){.size = sizeof(rec_blob), .kind = REC_BLOB_TEMPORARY, .length = sizeof bytes, .data = bytes};
    return status == REC_OK ? tell_tensor(r, ext->at, &event) : status;
}

static uint64_t get_little(const uint8_t *bytes, uint32_t width)
{
    uint64_t number = 0;
    while (width-- > 0) {
        number = number << 8 | bytes[width];
    }
    return number;
}

/* Makes the value of a NumPy scalar. @return 0 if a record has no such scalar. */
static int make_scalar(const array_type *type, const uint8_t *bytes, rec_scalar *scalar)
{
    uint64_t number = get_little(bytes, type->width < 8 ? type->width : 8);
    uint32_t bits = 8 * type->width, narrow = (uint32_t)number;
    float single;
    *scalar = (rec_scalar){.bits = (uint16_t)bits};
    switch (type->dtype) {
    case REC_DTYPE_BOOL:
        *scalar = (rec_scalar){.kind = REC_KIND_BOOL, .v.i = number != 0};
        return 1;
    case REC_DTYPE_F64:
        scalar->kind = REC_KIND_FLOAT;
        memcpy(&scalar->v.f, &number, sizeof number);
        return 1;
    case REC_DTYPE_F32:
        scalar->kind = REC_KIND_FLOAT;
        memcpy(&single, &narrow, sizeof single);
        scalar->v.f = single;
        return 1;
    case REC_DTYPE_U64:
    case REC_DTYPE_U32:
    case REC_DTYPE_U16:
    case REC_DTYPE_U8:
        scalar->kind = REC_KIND_UINT;
        scalar->v.u = number;
        return 1;
    case REC_DTYPE_I64:
    case REC_DTYPE_I32:
    case REC_DTYPE_I16:
    case REC_DTYPE_I8:
        scalar->kind = REC_KIND_INT;
        scalar->v.i = bits == 64 || !(number >> (bits - 1)) ? (int64_t)number : (int64_t)number - (INT64_C(1) << bits);
        return 1;
    default:
        return 0;
    }
}

/* A NumPy scalar is a number with a width. One of a type that scalars of records lack is a tensor without dimensions.
 */
static rec_status read_scalar(reader *r, const mp_value *ext)
{
    array a;
    const uint8_t *bytes;
    uint64_t got;
    rec_scalar scalar;
    rec_status status = array_read(&r->window, ext, &a);
    if (status == REC_OK && a.rank) {
        status = rec_fail_found(r->job, REC_E_FORMAT, ext->at, "a scalar", "an array of %u dimensions", a.rank);
    }
    status = status == REC_OK ? window_get(&r->window, a.offset, a.size, &bytes, &got) : status;
    if (status == REC_OK && (!r->all || !make_scalar(a.type, bytes, &scalar))) {
        return tell_bytes(r, ext->at, &a, r->source, a.offset);
    }
    return status == REC_OK ? r->visitor->scalar(r->self, ext->at, &scalar) : status;
}

static rec_status read_ext(reader *r, const mp_value *ext)
{
    switch (ext->type) {
    case FLAX_ARRAY:
        return read_array(r, ext);
    case FLAX_COMPLEX:
        return read_complex(r, ext);
    case FLAX_SCALAR:
        return read_scalar(r, ext);
    default:
        return rec_fail_found(r->job, REC_E_FORMAT, ext->at, "an extension of Flax, of type 1, 2 or 3", "type %d",
                              ext->type);
    }
}

static rec_status read_text(reader *r, const mp_value *value, rec_scalar *scalar)
{
    rec_status status = text_read(&r->name, r->job, r->source, value->data, value->count);
    *scalar = (rec_scalar){.kind = REC_KIND_STRING, .text = r->name.bytes, .v.length = r->name.length};
    return status;
}

static rec_status tell_plain(reader *r, const mp_value *value)
{
    rec_scalar scalar = {.kind = REC_KIND_NIL};
    rec_status status = REC_OK;
    switch (value->kind) {
    case MP_BOOL:
        scalar = (rec_scalar){.kind = REC_KIND_BOOL, .v.i = (int64_t)value->count};
        break;
    case MP_UINT:
        scalar = (rec_scalar){.kind = REC_KIND_UINT, .v.u = value->count};
        break;
    case MP_INT:
        scalar = (rec_scalar){.kind = REC_KIND_INT, .v.i = value->number};
        break;
    case MP_FLOAT:
        scalar = (rec_scalar){.kind = REC_KIND_FLOAT, .bits = (uint16_t)value->bits, .v.f = value->real};
        break;
    case MP_TEXT:
        status = read_text(r, value, &scalar);
        break;
    default:
        break;
    }
    return status == REC_OK ? r->visitor->scalar(r->self, value->at, &scalar) : status;
}

static rec_status tell_byte_string(reader *r, const mp_value *value)
{
    rec_blob blob = {.size = sizeof blob,
                     .kind = REC_BLOB_RANGE,
                     .length = value->count,
                     .source = r->source,
                     .offset = value->data};
    return r->visitor->bytes(r->self, value->at, &blob);
}

/* -------------------------------------------------------------------------------------------------- containers -- */

static rec_status read_key(reader *r, mp_cursor *c, mp_value *value, rec_scalar *key)
{
    rec_status status = mp_next(c, value);
    if (status == REC_OK && value->kind == MP_TEXT) {
        return read_text(r, value, key);
    }
    if (status == REC_OK && value->kind != MP_UINT && value->kind != MP_INT) {
        return mp_unexpected(c, "a key: a text or an integer", value);
    }
    *key = value->kind == MP_UINT ? (rec_scalar){.kind = REC_KIND_UINT, .v.u = value->count}
                                  : (rec_scalar){.kind = REC_KIND_INT, .v.i = value->number};
    return status;
}

/* Appends a key or an index to the path. */
static rec_status push(reader *r, const rec_scalar *key)
{
    char digits[24];
    if (key->kind == REC_KIND_STRING) {
        return rec_path_push(r->job, &r->path, key->text, key->v.length);
    }
    (void)snprintf(digits, sizeof digits, key->kind == REC_KIND_UINT ? "%llu" : "%lld",
                   (unsigned long long)(key->kind == REC_KIND_UINT ? key->v.u : (uint64_t)key->v.i));
    return rec_path_push(r->job, &r->path, digits, strlen(digits));
}

/* Reads the value of an entry or element, below its key in the record or in the path. */
static rec_status read_below(reader *r, mp_cursor *c, uint64_t at, const rec_scalar *key)
{
    uint64_t length = r->path.length, levels = r->path.levels;
    rec_status status;
    if (r->all) {
        status = key->kind == REC_KIND_NIL ? REC_OK : r->visitor->key(r->self, at, key);
    } else {
        status = push(r, key);
    }
    status = status == REC_OK ? read_value(r, c) : status;
    rec_path_pop(&r->path, length, levels);
    return status;
}

static rec_status read_entry(reader *r, mp_cursor *c)
{
    mp_value value;
    rec_scalar key;
    int is_mark;
    rec_status status = read_key(r, c, &value, &key);
    status = status == REC_OK ? mp_is(c, &value, FLAX_CHUNKED, &is_mark) : status;
    if (status == REC_OK && is_mark) {
        return rec_fail(r->job, REC_E_FORMAT, value.at, "the mark of a chunked array, which is not the first key");
    }
    return status == REC_OK ? read_below(r, c, value.at, &key) : status;
}

static rec_status read_entries(reader *r, mp_cursor *c, const mp_value *map)
{
    rec_status status = r->all ? r->visitor->map_begin(r->self, map->at, REC_FORM_UNKNOWN, map->count) : REC_OK;
    for (uint64_t i = 0; i < map->count && status == REC_OK; i++) {
        status = read_entry(r, c);
    }
    return status == REC_OK && r->all ? r->visitor->end(r->self, c->at) : status;
}

static rec_status read_elements(reader *r, mp_cursor *c, const mp_value *list)
{
    static const rec_scalar none = {.kind = REC_KIND_NIL};
    rec_status status = r->all ? r->visitor->list_begin(r->self, list->at, REC_FORM_UNKNOWN, list->count) : REC_OK;
    for (uint64_t i = 0; i < list->count && status == REC_OK; i++) {
        rec_scalar index = {.kind = REC_KIND_UINT, .v.u = i};
        status = read_below(r, c, c->at, r->all ? &none : &index);
    }
    return status == REC_OK && r->all ? r->visitor->end(r->self, c->at) : status;
}

static rec_status read_map(reader *r, mp_cursor *c, const mp_value *map)
{
    mp_cursor ahead = *c;
    mp_value key;
    int is_mark = 0;
    rec_status status = map->count ? mp_next(&ahead, &key) : REC_OK;
    status = status == REC_OK && map->count ? mp_is(c, &key, FLAX_CHUNKED, &is_mark) : status;
    if (status != REC_OK) {
        return status;
    }
    if (is_mark) {
        *c = ahead;
        return read_chunked(r, c, map);
    }
    return read_entries(r, c, map);
}

static rec_status read_container(reader *r, mp_cursor *c, const mp_value *value)
{
    rec_status status;
    if (r->depth >= rec_job_depth_limit(r->job)) {
        return rec_fail(r->job, REC_E_LIMIT, value->at, "maps and lists are nested more than %u deep", r->depth);
    }
    r->depth++;
    status = value->kind == MP_MAP ? read_map(r, c, value) : read_elements(r, c, value);
    r->depth--;
    return status;
}

static rec_status read_value(reader *r, mp_cursor *c)
{
    mp_value value;
    rec_status status = mp_next(c, &value);
    if (status != REC_OK) {
        return status;
    }
    switch (value.kind) {
    case MP_EXT:
        return read_ext(r, &value);
    case MP_LIST:
    case MP_MAP:
        return read_container(r, c, &value);
    default:
        r->left_out += !r->all;
        return !r->all ? REC_OK : value.kind == MP_BYTES ? tell_byte_string(r, &value) : tell_plain(r, &value);
    }
}

/* ------------------------------------------------------------------------------------------------------- files -- */

/* Whether the outermost map has the key `params`, as variables and training states have. */
static rec_status has_params(const mp_cursor *c, const mp_value *map, int *params)
{
    mp_cursor ahead = *c;
    mp_value key;
    rec_status status = REC_OK;
    *params = 0;
    for (uint64_t i = 0; i < map->count && status == REC_OK && !*params; i++) {
        status = mp_next(&ahead, &key);
        status = status == REC_OK ? mp_is(&ahead, &key, "params", params) : status;
        if (status == REC_OK && (key.kind == MP_LIST || key.kind == MP_MAP)) {
            return mp_unexpected(&ahead, "a key: a text or an integer", &key);
        }
        status = status == REC_OK && !*params ? mp_skip(&ahead) : status;
    }
    return status;
}

/* The state of the optimizer repeats the names of parameters and is left out. */
static rec_status read_model_entry(reader *r, mp_cursor *c, int params)
{
    mp_cursor ahead = *c;
    mp_value key;
    int is_state = 0;
    rec_status status = mp_next(&ahead, &key);
    status = status == REC_OK && params ? mp_is(&ahead, &key, "opt_state", &is_state) : status;
    if (status != REC_OK || !is_state) {
        return status == REC_OK ? read_entry(r, c) : status;
    }
    *c = ahead;
    r->left_out++;
    return mp_skip(c);
}

static rec_status read_model(reader *r, mp_cursor *c)
{
    mp_value map;
    int params = 0;
    rec_status status = mp_next(c, &map);
    if (status == REC_OK && map.kind != MP_MAP) {
        status = mp_unexpected(c, "a map of arrays", &map);
        rec_fail_hint(r->job, "The option values=all reads any value.");
    }
    status = status == REC_OK ? has_params(c, &map, &params) : status;
    status = status == REC_OK ? r->visitor->map_begin(r->self, map.at, REC_FORM_PATHS, REC_UNKNOWN) : status;
    for (uint64_t i = 0; i < map.count && status == REC_OK; i++) {
        status = read_model_entry(r, c, params);
    }
    if (status == REC_OK && r->left_out) {
        rec_job_note(r->job, REC_NOTE_DROPPED, "",
                     "%llu value%s (numbers, texts, the state of an optimizer): left out; the option values=all reads "
                     "everything",
                     (unsigned long long)r->left_out, r->left_out == 1 ? "" : "s");
    }
    return status == REC_OK ? r->visitor->end(r->self, c->at) : status;
}

rec_status flax_load(rec_job *job, rec_source *source, const rec_visitor *visitor, void *self)
{
    reader r = {.job = job, .source = source, .visitor = visitor, .self = self, .all = flax_reads_all(job)};
    rec_status status = window_open(&r.window, job, source);
    mp_cursor c = {&r.window, 0, r.window.size};
    if (status == REC_OK) {
        status = r.all ? read_value(&r, &c) : read_model(&r, &c);
    }
    if (status == REC_OK && c.at != c.end) {
        status = rec_fail_found(job, REC_E_FORMAT, c.at, "the end of the file", "%llu more bytes",
                                (unsigned long long)(c.end - c.at));
    }
    text_free(&r.name, job);
    rec_job_free(job, r.path.text);
    return status;
}
