/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The writer: a walk over the levels of a record or model. */
#include <string.h>

#include "flax/array.h"
#include "flax/flax.h"

typedef struct writer {
    rec_job *job;
    rec_sink *sink;
    uint64_t chunk;
    uint64_t ids, metadata; /**< entries that the file has no place for */
} writer;

static rec_status put(writer *w, const uint8_t *bytes, uint32_t length)
{
    return rec_sink_write(w->sink, bytes, length);
}

static rec_status put_text(writer *w, const char *text, uint64_t length)
{
    uint8_t head[MP_HEAD];
    rec_status status = put(w, head, mp_put_text(head, length));
    return status == REC_OK && length ? rec_sink_write(w->sink, text, length) : status;
}

/* ------------------------------------------------------------------------------------------------------ arrays -- */

enum { ARRAY_HEAD = 2 * MP_HEAD + ARRAY_RANK * MP_HEAD + MP_HEAD + TYPE_ROOM + MP_HEAD };

/* Makes the head of an array up to its data. @return its length. */
static uint32_t make_head(uint8_t *to, const array_type *type, uint32_t rank, const uint64_t *shape, uint64_t size)
{
    uint32_t used = mp_put_list(to, 3);
    size_t length = strlen(type->name);
    used += mp_put_list(to + used, rank);
    for (uint32_t i = 0; i < rank; i++) {
        used += mp_put_uint(to + used, shape[i]);
    }
    used += mp_put_text(to + used, length);
    memcpy(to + used, type->name, length);
    used += (uint32_t)length;
    return used + mp_put_bytes(to + used, size);
}

/* Writes an extension up to its data. */
static rec_status begin_array(writer *w, int8_t kind, const array_type *type, uint32_t rank, const uint64_t *shape,
                              uint64_t size)
{
    uint8_t head[ARRAY_HEAD], ext[MP_HEAD];
    uint32_t length = make_head(head, type, rank, shape, size);
    rec_status status = put(w, ext, mp_put_ext(ext, kind, length + size));
    return status == REC_OK ? put(w, head, length) : status;
}

static rec_status put_index(writer *w, uint64_t index)
{
    char digits[20];
    uint32_t at = sizeof digits;
    do {
        digits[--at] = (char)('0' + index % 10);
        index /= 10;
    } while (index);
    return put_text(w, digits + at, sizeof digits - at);
}

static rec_status put_shape(writer *w, const rec_tensor_event *event)
{
    uint8_t head[MP_HEAD];
    rec_status status = put_text(w, "shape", 5);
    status = status == REC_OK ? put(w, head, mp_put_map(head, event->rank)) : status;
    for (uint32_t i = 0; i < event->rank && status == REC_OK; i++) {
        status = put_index(w, i);
        status = status == REC_OK ? put(w, head, mp_put_uint(head, event->shape[i])) : status;
    }
    return status;
}

static rec_status put_chunked(writer *w, const array_type *type, const rec_tensor_event *event)
{
    static const uint8_t yes = 0xc3;
    uint64_t each = w->chunk / type->width, total = event->data.length / type->width, count = (total + each - 1) / each;
    uint8_t head[MP_HEAD];
    rec_status status = put(w, head, mp_put_map(head, 3));
    status = status == REC_OK ? put_text(w, FLAX_CHUNKED, sizeof FLAX_CHUNKED - 1) : status;
    status = status == REC_OK ? put(w, &yes, 1) : status;
    status = status == REC_OK ? put_shape(w, event) : status;
    status = status == REC_OK ? put_text(w, "chunks", 6) : status;
    status = status == REC_OK ? put(w, head, mp_put_map(head, count)) : status;
    for (uint64_t i = 0; i < count && status == REC_OK; i++) {
        uint64_t elements = total - i * each < each ? total - i * each : each, size = elements * type->width;
        rec_blob slice;
        status = put_index(w, i);
        status = status == REC_OK ? begin_array(w, FLAX_ARRAY, type, 1, &elements, size) : status;
        status = status == REC_OK ? rec_blob_slice(w->job, &event->data, i * each * type->width, size, &slice) : status;
        status = status == REC_OK ? rec_sink_put(w->sink, &slice) : status;
    }
    return status;
}

/* Flax's complex numbers are those of Python. */
static rec_status put_complex(writer *w, const rec_blob *data)
{
    uint8_t bytes[16] = {0}, made[2 * MP_HEAD + MP_HEAD], ext[MP_HEAD];
    uint32_t used = mp_put_list(made, 2);
    rec_status status = rec_blob_read(w->job, data, 0, bytes, sizeof bytes);
    for (int part = 0; part < 2; part++) {
        uint64_t bits = 0;
        double number;
        for (int i = 8; i-- > 0;) {
            bits = bits << 8 | bytes[8 * part + i];
        }
        memcpy(&number, &bits, sizeof number);
        used += mp_put_float(made + used, number);
    }
    status = status == REC_OK ? put(w, ext, mp_put_ext(ext, FLAX_COMPLEX, used)) : status;
    return status == REC_OK ? put(w, made, used) : status;
}

static rec_status put_array(writer *w, const rec_tensor_event *event)
{
    const array_type *type = array_type_of(event->dtype, event->dtype_name);
    const char *name = event->dtype == REC_DTYPE_OPAQUE ? event->dtype_name : rec_dtype_name(event->dtype);
    rec_status status;
    if (!type && event->dtype == REC_DTYPE_OPAQUE && !event->rank && event->data.length == 16 &&
        strcmp(event->dtype_name, "complex") == 0) {
        return put_complex(w, &event->data);
    }
    if (!type) {
        status = rec_fail(w->job, REC_E_UNSUPPORTED, REC_UNKNOWN, "NumPy has no element type %s", name);
        rec_fail_hint(w->job, "Convert it with --precision full.");
        return status;
    }
    if (event->data.length > w->chunk) {
        return put_chunked(w, type, event);
    }
    status = begin_array(w, FLAX_ARRAY, type, event->rank, event->shape, event->data.length);
    return status == REC_OK ? rec_sink_put(w->sink, &event->data) : status;
}

/* ----------------------------------------------------------------------------------------------------- scalars -- */

static const array_type *scalar_type(const rec_scalar *scalar)
{
    static const rec_dtype ints[] = {REC_DTYPE_I8, REC_DTYPE_I16, REC_DTYPE_NONE, REC_DTYPE_I32},
                           uints[] = {REC_DTYPE_U8, REC_DTYPE_U16, REC_DTYPE_NONE, REC_DTYPE_U32};
    unsigned place = scalar->bits / 8u - 1;
    if (scalar->bits < 8 || scalar->bits > 32) {
        return NULL; /* Python's own numbers have 64 */
    }
    return array_type_of(scalar->kind == REC_KIND_FLOAT  ? REC_DTYPE_F32
                         : scalar->kind == REC_KIND_UINT ? uints[place]
                                                         : ints[place],
                         NULL);
}

/* A number of fewer than 64 bits is one of NumPy's scalars. */
static rec_status put_narrow(writer *w, const array_type *type, const rec_scalar *scalar)
{
    uint8_t bytes[4];
    float single = (float)scalar->v.f;
    uint32_t bits = (uint32_t)scalar->v.u;
    rec_status status = begin_array(w, FLAX_SCALAR, type, 0, NULL, type->width);
    if (scalar->kind == REC_KIND_FLOAT) {
        memcpy(&bits, &single, sizeof bits);
    }
    for (int i = 0; i < 4; i++) {
        bytes[i] = (uint8_t)(bits >> (8 * i));
    }
    return status == REC_OK ? put(w, bytes, type->width) : status;
}

static rec_status put_number(writer *w, const rec_scalar *scalar)
{
    const array_type *type = scalar_type(scalar);
    uint8_t head[MP_HEAD];
    if (type) {
        return put_narrow(w, type, scalar);
    }
    return put(w, head,
               scalar->kind == REC_KIND_FLOAT  ? mp_put_float(head, scalar->v.f)
               : scalar->kind == REC_KIND_UINT ? mp_put_uint(head, scalar->v.u)
                                               : mp_put_int(head, scalar->v.i));
}

static rec_status put_scalar(writer *w, const rec_scalar *scalar)
{
    uint8_t byte = 0xc0;
    switch (scalar->kind) {
    case REC_KIND_BOOL:
        byte = scalar->v.i ? 0xc3 : 0xc2;
        return put(w, &byte, 1);
    case REC_KIND_INT:
    case REC_KIND_UINT:
    case REC_KIND_FLOAT:
        return put_number(w, scalar);
    case REC_KIND_STRING:
        return put_text(w, scalar->text, scalar->v.length);
    default:
        return put(w, &byte, 1);
    }
}

/* ------------------------------------------------------------------------------------------------------ events -- */

static rec_status on_metadata(void *self, uint64_t at, const rec_scalar *key, const rec_scalar *value)
{
    static const char burns[] = " float int format version settings "; /* how Burn wrote a record */
    char word[12];
    (void)at, (void)value;
    if (key->v.length < 9) {
        word[0] = word[key->v.length + 1] = ' ';
        memcpy(word + 1, key->text, key->v.length);
        word[key->v.length + 2] = '\0';
    }
    ((writer *)self)->metadata += key->v.length >= 9 || !strstr(burns, word);
    return REC_OK;
}

static rec_status on_scalar(void *self, uint64_t at, const rec_scalar *scalar)
{
    (void)at;
    return put_scalar(self, scalar);
}

static rec_status on_bytes(void *self, uint64_t at, const rec_blob *blob)
{
    writer *w = self;
    uint8_t head[MP_HEAD];
    rec_status status;
    (void)at;
    if (blob->length > UINT32_MAX) {
        return rec_fail(w->job, REC_E_UNSUPPORTED, REC_UNKNOWN, "a byte string of 4 GiB or more");
    }
    status = put(w, head, mp_put_bytes(head, blob->length));
    return status == REC_OK ? rec_sink_put(w->sink, blob) : status;
}

/* Writes the head of a list or map. */
static rec_status begin(writer *w, uint64_t count, uint32_t (*make)(uint8_t *, uint64_t))
{
    uint8_t head[MP_HEAD];
    if (count > UINT32_MAX) {
        return rec_fail(w->job, REC_E_UNSUPPORTED, REC_UNKNOWN, "a list or map of 2^32 values or more");
    }
    return put(w, head, make(head, count));
}

static rec_status on_list(void *self, uint64_t at, int32_t form, uint64_t count)
{
    (void)at, (void)form;
    return begin(self, count, mp_put_list);
}

static rec_status on_map(void *self, uint64_t at, int32_t form, uint64_t count)
{
    (void)at, (void)form;
    return begin(self, count, mp_put_map);
}

static rec_status on_key(void *self, uint64_t at, const rec_scalar *key)
{
    (void)at;
    return put_scalar(self, key);
}

static rec_status on_end(void *self, uint64_t at)
{
    (void)self, (void)at;
    return REC_OK;
}

static rec_status on_tensor(void *self, uint64_t at, const rec_tensor_event *event)
{
    writer *w = self;
    (void)at;
    w->ids += event->id && !(event->flags & REC_EVENT_ID_MADE);
    return put_array(w, event);
}

/* Only the option `values` makes a file of a Burn record's levels: Flax and this reader would take it for a model. */
static rec_status check_record(rec_job *job)
{
    rec_status status = REC_OK;
    if (!flax_reads_all(job) && strcmp(rec_job_adapter(job), "burn") == 0) {
        status = rec_fail(job, REC_E_UNSUPPORTED, REC_UNKNOWN, "a record of Burn, and not a model of Flax");
        rec_fail_hint(job, "Convert it with --reverse, or write its own levels with --option values=all.");
    }
    return status;
}

rec_status flax_save(rec_job *job, rec_sink *sink)
{
    static const rec_visitor visitor = {.size = sizeof visitor,
                                        .metadata = on_metadata,
                                        .scalar = on_scalar,
                                        .bytes = on_bytes,
                                        .list_begin = on_list,
                                        .map_begin = on_map,
                                        .key = on_key,
                                        .end = on_end,
                                        .tensor = on_tensor};
    writer w = {.job = job, .sink = sink, .chunk = (uint64_t)rec_job_option_int(job, "chunk")};
    rec_status status = check_record(job);
    status = status == REC_OK ? rec_job_walk_levels(job, &visitor, &w) : status;
    if (status == REC_OK && w.ids) {
        rec_job_note(job, REC_NOTE_DROPPED, "", "the ids of %llu tensors: left out", (unsigned long long)w.ids);
    }
    if (status == REC_OK && w.metadata) {
        rec_job_note(job, REC_NOTE_DROPPED, "", "%llu entries of metadata: left out", (unsigned long long)w.metadata);
    }
    return status;
}
