/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The reader of the typed format: walks the file along the layout that core gives it. */

#include <librecord/plugin_types.h>
#include <inttypes.h>
#include <string.h>

#include "typed.h"

enum { CHUNK = 512 };

static uint64_t get_le(const uint8_t *data, uint32_t size)
{
    uint64_t value = 0;

    for (uint32_t i = 0; i < size; i++) {
        value |= (uint64_t)data[i] << (8 * i);
    }
    return value;
}

/** A number of `size` bytes in host byte order. */
static void to_host(void *to, uint64_t raw, uint32_t size)
{
    switch (size) {
    case 1:
        *(uint8_t *)to = (uint8_t)raw;
        break;
    case 2:
        memcpy(to, &(uint16_t){(uint16_t)raw}, 2);
        break;
    case 4:
        memcpy(to, &(uint32_t){(uint32_t)raw}, 4);
        break;
    default:
        memcpy(to, &raw, 8);
        break;
    }
}

/** @return bytes of a number or bool in the file, 0 for what is neither. */
static uint32_t width(const rec_layout *node)
{
    switch (rec_layout_kind(node)) {
    case REC_LAYOUT_BOOL:
        return 1;
    case REC_LAYOUT_INT:
    case REC_LAYOUT_UINT:
    case REC_LAYOUT_FLOAT:
        return rec_layout_bits(node) / 8;
    default:
        return 0;
    }
}

/** @return the dtype under which a run of such elements is told. */
static rec_dtype run_dtype(const rec_layout *node)
{
    static const rec_dtype ints[] = {REC_DTYPE_I8, REC_DTYPE_I16, REC_DTYPE_I32, REC_DTYPE_I64};
    static const rec_dtype uints[] = {REC_DTYPE_U8, REC_DTYPE_U16, REC_DTYPE_U32, REC_DTYPE_U64};
    uint32_t bits = rec_layout_bits(node), step = bits == 8 ? 0 : bits == 16 ? 1 : bits == 32 ? 2 : 3;

    switch (rec_layout_kind(node)) {
    case REC_LAYOUT_BOOL:
        return REC_DTYPE_BOOL;
    case REC_LAYOUT_INT:
        return ints[step];
    case REC_LAYOUT_UINT:
        return uints[step];
    case REC_LAYOUT_FLOAT:
        return bits == 64 ? REC_DTYPE_F64 : REC_DTYPE_F32;
    default:
        return REC_DTYPE_NONE;
    }
}

struct reader {
    rec_job *job;
    rec_source *source;
    const rec_visitor *visitor;
    void *self;
    const uint8_t *data;
    uint64_t size, at;
    uint32_t depth;
};

static int32_t need(struct reader *r, uint64_t size, const char *what)
{
    return r->size - r->at >= size ? REC_OK : rec_fail_found(r->job, REC_E_FORMAT, r->at, what, "the end of the file");
}

static int32_t read_uint(struct reader *r, uint32_t size, const char *what, uint64_t *value)
{
    int32_t status = need(r, size, what);

    if (status == REC_OK) {
        *value = get_le(r->data + r->at, size);
        r->at += size;
    }
    return status;
}

/** The least bytes an element takes, for the check of counts; 0 if it may take none. */
static uint64_t least(const rec_layout *node)
{
    switch (rec_layout_kind(node)) {
    case REC_LAYOUT_STRING:
    case REC_LAYOUT_ID:
    case REC_LAYOUT_BYTES:
    case REC_LAYOUT_LIST:
    case REC_LAYOUT_MAP:
        return 8;
    case REC_LAYOUT_OPTION:
        return 1;
    case REC_LAYOUT_ENUM:
        return 4;
    default:
        return width(node);
    }
}

static int32_t read_scalar(struct reader *r, const rec_layout *node, rec_scalar *scalar)
{
    int32_t kind = rec_layout_kind(node), status;
    uint32_t size = width(node);
    uint64_t raw = 0;

    *scalar = (rec_scalar){.kind = REC_KIND_NIL, .form = REC_FORM_UNIT};
    if (kind == REC_LAYOUT_UNIT) {
        return REC_OK;
    }
    status = read_uint(r, kind == REC_LAYOUT_STRING || kind == REC_LAYOUT_ID ? 8 : size, "a value", &raw);
    if (status != REC_OK) {
        return status;
    }
    *scalar = (rec_scalar){.bits = (uint16_t)(8 * size)};
    switch (kind) {
    case REC_LAYOUT_BOOL:
        if (raw > 1) {
            return rec_fail_found(r->job, REC_E_FORMAT, r->at - 1, "a bool (0 or 1)", "%" PRIu64, raw);
        }
        *scalar = (rec_scalar){.kind = REC_KIND_BOOL, .v.i = (int64_t)raw};
        return REC_OK;
    case REC_LAYOUT_INT:
        scalar->kind = REC_KIND_INT; /* sign-extended */
        scalar->v.i = (int64_t)(raw << (64 - 8 * size)) >> (64 - 8 * size);
        return REC_OK;
    case REC_LAYOUT_UINT:
        scalar->kind = REC_KIND_UINT;
        scalar->v.u = raw;
        return REC_OK;
    case REC_LAYOUT_FLOAT:
        scalar->kind = REC_KIND_FLOAT;
        if (size == 8) {
            memcpy(&scalar->v.f, &raw, 8);
        } else {
            float f;
            to_host(&f, raw, 4);
            scalar->v.f = (double)f;
        }
        return REC_OK;
    case REC_LAYOUT_STRING:
    case REC_LAYOUT_ID:
        status = need(r, raw, "a string");
        scalar->kind = REC_KIND_STRING;
        scalar->bits = 0;
        scalar->v.length = raw;
        scalar->text = (const char *)r->data + r->at;
        r->at += status == REC_OK ? raw : 0;
        return status;
    default:
        return rec_fail(r->job, REC_E_UNSUPPORTED, r->at, "a layout of kind %" PRId32, kind);
    }
}

/** Elements of a list or array of numbers, in chunks of host byte order. */
static int32_t read_run(struct reader *r, const rec_layout *node, uint64_t count)
{
    uint32_t size = width(node);
    uint64_t chunk[CHUNK];
    int32_t status = REC_OK;

    while (status == REC_OK && count > 0) {
        uint64_t n = count < CHUNK ? count : CHUNK, at = r->at;
        if ((status = need(r, n * size, "elements")) != REC_OK) {
            return status;
        }
        for (uint64_t i = 0; i < n; i++, r->at += size) {
            to_host((uint8_t *)chunk + i * size, get_le(r->data + r->at, size), size);
        }
        status = r->visitor->numbers(r->self, at, run_dtype(node), chunk, n);
        count -= n;
    }
    return status;
}

static int32_t read_value(struct reader *r, const rec_layout *node);

static int32_t read_elements(struct reader *r, const rec_layout *node, uint64_t count)
{
    int32_t status = REC_OK;

    if (width(node) > 0) {
        return read_run(r, node, count);
    }
    for (uint64_t i = 0; i < count && status == REC_OK; i++) {
        status = read_value(r, node);
    }
    return status;
}

static int32_t read_field(struct reader *r, const rec_layout *node, uint64_t index)
{
    const char *name = rec_layout_name(node, index);
    rec_scalar key = {.kind = REC_KIND_STRING, .v.length = strlen(name), .text = name};
    int32_t status = r->visitor->key(r->self, r->at, &key);

    return status == REC_OK ? read_value(r, rec_layout_child(node, index)) : status;
}

static int32_t read_container(struct reader *r, const rec_layout *node)
{
    const rec_visitor *v = r->visitor;
    uint64_t at = r->at, count = 0, index;
    int32_t kind = rec_layout_kind(node), status = REC_OK;
    rec_scalar key;

    switch (kind) {
    case REC_LAYOUT_LIST:
        if ((status = read_uint(r, 8, "a count", &count)) == REC_OK &&
            (status = rec_job_check_count(r->job, at, count, least(rec_layout_child(node, 0)), r->size - r->at)) ==
                REC_OK &&
            (status = v->list_begin(r->self, at, REC_FORM_LIST, count)) == REC_OK) {
            status = read_elements(r, rec_layout_child(node, 0), count);
        }
        break;
    case REC_LAYOUT_ARRAY:
        count = rec_layout_count(node);
        if ((status = v->list_begin(r->self, at, REC_FORM_ARRAY, count)) == REC_OK) {
            status = read_elements(r, rec_layout_child(node, 0), count);
        }
        break;
    case REC_LAYOUT_TUPLE:
        status = v->list_begin(r->self, at, REC_FORM_TUPLE, rec_layout_count(node));
        for (uint64_t i = 0; i < rec_layout_count(node) && status == REC_OK; i++) {
            status = read_value(r, rec_layout_child(node, i));
        }
        break;
    case REC_LAYOUT_STRUCT:
        status = v->map_begin(r->self, at, REC_FORM_STRUCT, rec_layout_count(node));
        for (uint64_t i = 0; i < rec_layout_count(node) && status == REC_OK; i++) {
            status = read_field(r, node, i);
        }
        break;
    case REC_LAYOUT_MAP:
        if ((status = read_uint(r, 8, "a count", &count)) == REC_OK &&
            (status = rec_job_check_count(r->job, at, count, least(rec_layout_child(node, 0)), r->size - r->at)) ==
                REC_OK) {
            status = v->map_begin(r->self, at, REC_FORM_MAP, count);
        }
        for (uint64_t i = 0; i < count && status == REC_OK; i++) {
            if ((status = read_scalar(r, rec_layout_child(node, 0), &key)) == REC_OK &&
                (status = v->key(r->self, r->at, &key)) == REC_OK) {
                status = read_value(r, rec_layout_child(node, 1));
            }
        }
        break;
    default: /* REC_LAYOUT_ENUM */
        if ((status = read_uint(r, 4, "a variant", &index)) == REC_OK && index >= rec_layout_count(node)) {
            status = rec_fail_found(r->job, REC_E_FORMAT, at, "a variant of the enum", "number %" PRIu64, index);
        }
        if (status == REC_OK) {
            const rec_layout *payload = rec_layout_child(node, index);
            const char *name = rec_layout_name(node, index);
            key = (rec_scalar){.kind = REC_KIND_STRING, .v.length = strlen(name), .text = name};
            status = v->variant_begin(r->self, at, index, &key, payload != NULL);
            if (status == REC_OK && payload != NULL) {
                status = read_value(r, payload);
            }
        }
    }
    return status == REC_OK ? v->end(r->self, r->at) : status;
}

static int32_t read_value(struct reader *r, const rec_layout *node)
{
    uint64_t at = r->at, raw = 0;
    int32_t status;
    rec_scalar scalar;

    switch (rec_layout_kind(node)) {
    case REC_LAYOUT_OPTION:
        if ((status = read_uint(r, 1, "an option", &raw)) == REC_OK && raw > 1) {
            status = rec_fail_found(r->job, REC_E_FORMAT, at, "an option (0 or 1)", "%" PRIu64, raw);
        }
        if (status == REC_OK && (status = r->visitor->option(r->self, at, (int32_t)raw)) == REC_OK && raw == 1) {
            status = read_value(r, rec_layout_child(node, 0));
        }
        return status;
    case REC_LAYOUT_BYTES:
        if ((status = read_uint(r, 8, "a length", &raw)) == REC_OK && (status = need(r, raw, "bytes")) == REC_OK) {
            rec_blob blob = {.size = sizeof blob,
                             .kind = REC_BLOB_VIEW,
                             .length = raw,
                             .data = r->data + r->at,
                             .source = r->source,
                             .offset = r->at};
            r->at += raw;
            status = r->visitor->bytes(r->self, at, &blob);
        }
        return status;
    case REC_LAYOUT_LIST:
    case REC_LAYOUT_ARRAY:
    case REC_LAYOUT_TUPLE:
    case REC_LAYOUT_STRUCT:
    case REC_LAYOUT_MAP:
    case REC_LAYOUT_ENUM:
        if (r->depth >= rec_job_depth_limit(r->job)) {
            return rec_fail(r->job, REC_E_LIMIT, at, "nested too deep");
        }
        r->depth++;
        status = read_container(r, node);
        r->depth--;
        return status;
    default:
        status = read_scalar(r, node, &scalar);
        return status == REC_OK ? r->visitor->scalar(r->self, at, &scalar) : status;
    }
}

/** The outermost struct: what follows its first field, the metadata, is known only when that was told. */
static int32_t read_record(struct reader *r)
{
    const rec_layout *layout;
    int32_t status = rec_job_layout(r->job, &layout);

    if (status == REC_OK && layout == NULL) {
        status = rec_fail(r->job, REC_E_ARGUMENT, REC_UNKNOWN, "a Typed file cannot be read without a type");
    }
    if (status != REC_OK || (status = r->visitor->map_begin(r->self, r->at, REC_FORM_STRUCT, REC_UNKNOWN)) != REC_OK ||
        (status = read_field(r, layout, 0)) != REC_OK || (status = rec_job_layout(r->job, &layout)) != REC_OK) {
        return status;
    }
    for (uint64_t i = 1; i < rec_layout_count(layout) && status == REC_OK; i++) {
        status = read_field(r, layout, i);
    }
    return status == REC_OK ? r->visitor->end(r->self, r->at) : status;
}

int32_t typed_load(rec_job *job, rec_source *source, const rec_visitor *visitor, void *self)
{
    struct reader r = {
        .job = job, .source = source, .visitor = visitor, .self = self, .at = sizeof typed_magic, .depth = 1};
    const void *data;
    int32_t status = rec_source_view(job, source, &data, &r.size);

    if (status != REC_OK) {
        return status;
    }
    r.data = data;
    if (r.size < sizeof typed_magic || memcmp(r.data, typed_magic, sizeof typed_magic) != 0) {
        return rec_fail_found(job, REC_E_FORMAT, 0, "a Typed file", "something else");
    }
    status = read_record(&r);
    if (status == REC_OK && r.at != r.size) {
        status =
            rec_fail_found(job, REC_E_FORMAT, r.at, "the end of the file", "%" PRIu64 " bytes more", r.size - r.at);
    }
    return status;
}
