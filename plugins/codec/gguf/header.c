/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Reads a header through a window: the tensors' data is never touched. It makes llama.cpp's demands on a file: unique
 * keys, contiguous tensors at the alignment, within the file. */
#include "plugins/codec/gguf/header.h"

#include <inttypes.h>
#include <string.h>

#include "common/little.h"
#include "common/names.h"
#include "common/utf8.h"
#include "plugins/codec/beginning.h"
#include "plugins/codec/number.h"
#include "plugins/codec/room.h"
#include "plugins/codec/trailing.h"

const rec_option lr_gguf_trailing = LR_TRAILING;

/* ---------------------------------------------------------------------------------------------------- the window -- */

typedef struct cursor {
    rec_job *job;
    rec_source *source;
    uint64_t at;   /* of the next byte */
    uint64_t size; /* of the file */
    uint8_t *window;
    uint64_t room;  /* of the window */
    uint64_t begin; /* place of its first byte in the file */
    uint64_t count; /* bytes in it */
} cursor;

enum { WINDOW = 65536 };

static int32_t open_cursor(cursor *c, rec_job *job, rec_source *source)
{
    *c = (cursor){.job = job, .source = source, .size = REC_UNKNOWN};
    return lr_beginning_is_all(job, source) ? REC_OK : rec_source_measure(job, source, &c->size);
}

static void close_cursor(cursor *c)
{
    rec_job_free(c->job, c->window);
    c->window = NULL;
}

/* Moves the window to where the cursor is, with room for `count` bytes at least. */
static int32_t fill(cursor *c, uint64_t count)
{
    uint64_t left = c->size - c->at, want = count > WINDOW ? count : WINDOW;
    int32_t status;
    want = want < left ? want : left;
    if (want > c->room) {
        uint8_t *larger = rec_job_resize(c->job, c->window, want);
        if (!larger) {
            return rec_fail(c->job, REC_E_MEMORY, c->at, "out of memory for %" PRIu64 " bytes of the header", want);
        }
        c->window = larger;
        c->room = want;
    }
    if (c->size == REC_UNKNOWN) {
        /* A stream: what is left in the window comes first. Nobody has stepped over more than that. */
        uint64_t kept = c->begin + c->count - c->at, got;
        memmove(c->window, c->window + (c->count - kept), (size_t)kept);
        status = lr_beginning_take(c->job, c->source, c->window + kept, want - kept, &got);
        c->begin = c->at;
        c->count = status == REC_OK ? kept + got : 0;
        return status == REC_OK && c->count < count
                   ? rec_fail_found(c->job, REC_E_FORMAT, c->at, "more bytes of the header", "the end of the file")
                   : status;
    }
    status = rec_source_read_at(c->job, c->source, c->at, c->window, want);
    c->begin = c->at;
    c->count = status == REC_OK ? want : 0;
    return status;
}

static int32_t take(cursor *c, uint64_t count, const char *what, const uint8_t **data)
{
    int32_t status = REC_OK;
    *data = NULL;
    if (count > c->size - c->at) {
        return rec_fail_found(c->job, REC_E_FORMAT, c->at, what, "%" PRIu64 " bytes before the end of the file",
                              c->size - c->at);
    }
    if (c->at < c->begin || c->at - c->begin > c->count || count > c->count - (c->at - c->begin)) {
        status = fill(c, count);
    }
    if (status == REC_OK) {
        *data = c->window + (c->at - c->begin);
        c->at += count;
    }
    return status;
}

static int32_t take_u32(cursor *c, const char *what, uint32_t *number)
{
    const uint8_t *data;
    int32_t status = take(c, 4, what, &data);
    *number = status == REC_OK ? lr_gguf_u32(data) : 0;
    return status;
}

static int32_t take_u64(cursor *c, const char *what, uint64_t *number)
{
    const uint8_t *data;
    int32_t status = take(c, 8, what, &data);
    *number = status == REC_OK ? lr_gguf_u64(data) : 0;
    return status;
}

static int32_t take_text(cursor *c, const char *what, const char **text, uint64_t *length)
{
    const uint8_t *data = NULL;
    int32_t status = take_u64(c, what, length);
    status = status == REC_OK ? take(c, *length, what, &data) : status;
    *text = (const char *)data;
    return status;
}

/* ----------------------------------------------------------------------------------------------- metadata values -- */

static int32_t check_type(cursor *c, uint64_t at, uint32_t type)
{
    return type < LR_GGUF_VALUES
               ? REC_OK
               : rec_fail_found(c->job, REC_E_FORMAT, at, "a type of metadata (0 to 12)", "%" PRIu32, type);
}

/* One number as a scalar. @param data little-endian, any alignment. */
static rec_scalar to_scalar(uint32_t type, const uint8_t *data)
{
    rec_dtype dtype = lr_gguf_value_dtype(type);
    uint32_t width = rec_dtype_bits(dtype) / 8;
    uint8_t host[8];
    memcpy(host, data, width);
    lr_to_little(host, width, width); /* which is its own reverse */
    return lr_number_scalar(dtype, host);
}

static int32_t read_scalar(cursor *c, uint32_t type, rec_scalar *scalar)
{
    const uint8_t *data = NULL;
    uint64_t at = c->at;
    int32_t status;
    if (type == LR_GGUF_STRING) {
        *scalar = (rec_scalar){.kind = REC_KIND_STRING};
        return take_text(c, "a text of the metadata", &scalar->text, &scalar->v.length);
    }
    status = take(c, rec_dtype_bits(lr_gguf_value_dtype(type)) / 8, "a number of the metadata", &data);
    if (status == REC_OK && type == LR_GGUF_BOOL && *data > 1) {
        status = rec_fail_found(c->job, REC_E_FORMAT, at, "a bool (0 or 1)", "byte 0x%02x", *data);
    }
    if (status == REC_OK) {
        *scalar = to_scalar(type, data);
    }
    return status;
}

static int32_t read_uint(cursor *c, uint32_t type, uint64_t *number)
{
    static const char expected[] = "a whole number from 0 on";
    uint64_t at = c->at;
    rec_scalar scalar;
    int32_t status;
    if (type == LR_GGUF_ARRAY) {
        return rec_fail_found(c->job, REC_E_FORMAT, at, expected, "an array");
    }
    status = read_scalar(c, type, &scalar);
    if (status != REC_OK) {
        return status;
    }
    if (scalar.kind == REC_KIND_INT && scalar.v.i < 0) {
        return rec_fail_found(c->job, REC_E_FORMAT, at, expected, "%" PRId64, scalar.v.i);
    }
    if (scalar.kind != REC_KIND_INT && scalar.kind != REC_KIND_UINT) {
        return rec_fail_found(c->job, REC_E_FORMAT, at, expected, "%s",
                              scalar.kind == REC_KIND_STRING  ? "a text"
                              : scalar.kind == REC_KIND_FLOAT ? "a float"
                                                              : "a bool");
    }
    *number = scalar.v.u;
    return REC_OK;
}

static int32_t tell_text(const rec_scalar *text, uint64_t at, const rec_visitor *visitor, void *self)
{
    if (lr_utf8_until((const uint8_t *)text->text, text->v.length) == text->v.length) {
        return visitor->scalar(self, at, text);
    }
    return visitor->bytes(self, at,
                          &(rec_blob){.size = sizeof(rec_blob),
                                      .kind = REC_BLOB_TEMPORARY,
                                      .length = text->v.length,
                                      .data = text->text,
                                      .offset = at});
}

/* Numbers of an array, a piece at a time. */
static int32_t numbers(cursor *c, uint32_t type, uint64_t count, const rec_visitor *visitor, void *self)
{
    enum { PIECE = 4096 };
    rec_dtype dtype = lr_gguf_value_dtype(type);
    uint64_t width = rec_dtype_bits(dtype) / 8;
    int32_t status = REC_OK;
    while (count && status == REC_OK) {
        uint64_t n = count < PIECE ? count : PIECE, at = c->at;
        const uint8_t *data;
        uint8_t host[PIECE * sizeof(uint64_t)];
        status = take(c, n * width, "the numbers of an array", &data);
        for (uint64_t i = 0; type == LR_GGUF_BOOL && i < n && status == REC_OK; i++) {
            if (data[i] > 1) {
                status = rec_fail_found(c->job, REC_E_FORMAT, at + i, "a bool (0 or 1)", "byte 0x%02x", data[i]);
            }
        }
        if (status == REC_OK && visitor) {
            memcpy(host, data, (size_t)(n * width));
            lr_to_little(host, (uint32_t)width, n * width); /* which is its own reverse */
            status = visitor->numbers(self, at, dtype, host, n);
        }
        count -= n;
    }
    return status;
}

static int32_t read_value(cursor *c, uint32_t type, uint32_t depth, const rec_visitor *visitor, void *self);

static int32_t array(cursor *c, uint32_t depth, const rec_visitor *visitor, void *self)
{
    uint64_t at = c->at, count = 0, each;
    uint32_t type = 0;
    rec_dtype dtype;
    int32_t status = take_u32(c, "the type of an array", &type);
    status = status == REC_OK ? check_type(c, at, type) : status;
    status = status == REC_OK ? take_u64(c, "the length of an array", &count) : status;
    if (status != REC_OK) {
        return status;
    }
    dtype = lr_gguf_value_dtype(type);
    each = dtype != REC_DTYPE_NONE ? rec_dtype_bits(dtype) / 8 : type == LR_GGUF_STRING ? 8 : 12;
    status = rec_job_check_count(c->job, at, count, each, c->size - c->at);
    if (status == REC_OK && depth >= rec_job_depth_limit(c->job)) {
        status = rec_fail(c->job, REC_E_LIMIT, at, "arrays are nested deeper than %" PRIu32, depth);
    }
    if (status == REC_OK && visitor) {
        status = visitor->list_begin(self, at, REC_FORM_LIST, count);
        if (status == REC_OK && REC_HAS(rec_visitor, visitor, list_of) && visitor->list_of) {
            status = visitor->list_of(self, at, lr_gguf_value_word(type));
        }
    }
    if (status == REC_OK && dtype != REC_DTYPE_NONE) {
        status = numbers(c, type, count, visitor, self);
    }
    for (uint64_t i = 0; dtype == REC_DTYPE_NONE && i < count && status == REC_OK; i++) {
        status = read_value(c, type, depth + 1, visitor, self);
    }
    return status == REC_OK && visitor ? visitor->end(self, c->at) : status;
}

static int32_t read_value(cursor *c, uint32_t type, uint32_t depth, const rec_visitor *visitor, void *self)
{
    rec_scalar scalar;
    uint64_t at = c->at;
    int32_t status;
    if (type == LR_GGUF_ARRAY) {
        return array(c, depth, visitor, self);
    }
    status = read_scalar(c, type, &scalar);
    if (status != REC_OK || !visitor) {
        return status;
    }
    return type == LR_GGUF_STRING ? tell_text(&scalar, at, visitor, self) : visitor->scalar(self, at, &scalar);
}

/* What a header is read with. */
typedef struct reader {
    lr_gguf_header *h;
    cursor c;
    rec_job *job;
    const rec_visitor *visitor;
    void *self;
    uint64_t names_used, names_room;
} reader;

/* ---------------------------------------------------------------------------------------------------- metadata -- */

/* The entries that speak of the file and not of the model. @return whether it is one: its value was read. */
static bool own_entry(reader *r, const char *key, uint64_t length, uint32_t type, int32_t *status)
{
    lr_gguf_header *h = r->h;
    uint64_t at = r->c.at, ignored;
    if (lr_text_is(key, length, "split.no")) {
        *status = read_uint(&r->c, type, &h->split_no);
    } else if (lr_text_is(key, length, "split.count")) {
        *status = read_uint(&r->c, type, &h->split_count);
    } else if (lr_text_is(key, length, "split.tensors.count")) {
        *status = read_uint(&r->c, type, &ignored);
    } else if (lr_text_is(key, length, LR_GGUF_KEY_ALIGNMENT)) {
        *status = read_uint(&r->c, type, &h->alignment);
        if (*status == REC_OK &&
            (h->alignment < 8 || h->alignment > UINT64_C(1) << 30 || (h->alignment & (h->alignment - 1)))) {
            *status = rec_fail_found(r->job, REC_E_FORMAT, at, "an alignment that is a power of two from 8 on",
                                     "%" PRIu64, h->alignment);
        }
        if (*status == REC_OK && r->visitor) {
            rec_scalar name = {.kind = REC_KIND_STRING, .v.length = length, .text = key};
            rec_scalar value = {.kind = REC_KIND_UINT, .bits = 32, .v.u = h->alignment};
            *status = r->visitor->metadata_value(r->self, at, &name);
            *status = *status == REC_OK ? r->visitor->scalar(r->self, at, &value) : *status;
        }
    } else if (lr_text_is(key, length, LR_GGUF_KEY_LAYOUT) && type == LR_GGUF_STRING) {
        const char *text;
        uint64_t size;
        *status = take_text(&r->c, "a text of the metadata", &text, &size);
        h->burn = *status == REC_OK && lr_text_is(text, size, "burn");
    } else {
        return false;
    }
    return true;
}

/* A key or a name, which other readers take for text. */
static int32_t take_name(reader *r, const char *what, const char **text, uint64_t *length)
{
    int32_t status = take_text(&r->c, what, text, length);
    uint64_t good = status == REC_OK ? lr_utf8_until((const uint8_t *)*text, *length) : 0;
    if (status == REC_OK && good < *length) {
        status = rec_fail_found(r->job, REC_E_FORMAT, r->c.at - *length + good, "a name in UTF-8", "0x%02x in %s",
                                (unsigned)(uint8_t)(*text)[good], what);
    }
    return status;
}

static int32_t entry(reader *r)
{
    uint64_t at = r->c.at, length, value_at;
    const char *text;
    char *key;
    uint32_t type;
    rec_scalar name, value;
    int32_t status = take_name(r, "a key of the metadata", &text, &length);
    if (status != REC_OK) {
        return status;
    }
    /* The window moves on: the key is kept for the time being. */
    key = rec_job_alloc(r->job, length + 1);
    if (!key) {
        return rec_fail(r->job, REC_E_MEMORY, at, "out of memory for a key of %" PRIu64 " bytes", length);
    }
    memcpy(key, text, (size_t)length);
    value_at = r->c.at;
    status = take_u32(&r->c, "the type of a metadata value", &type);
    status = status == REC_OK ? check_type(&r->c, value_at, type) : status;
    name = (rec_scalar){.kind = REC_KIND_STRING, .v.length = length, .text = key};
    if (status != REC_OK || own_entry(r, key, length, type, &status)) {
        /* done */
    } else if (!r->visitor) {
        r->h->others += !lr_text_is(key, length, "general.architecture");
        status = read_value(&r->c, type, 0, NULL, NULL);
    } else if (type == LR_GGUF_STRING) {
        status = read_scalar(&r->c, type, &value);
        if (status == REC_OK && lr_utf8_until((const uint8_t *)value.text, value.v.length) == value.v.length) {
            status = r->visitor->metadata(r->self, at, &name, &value);
        } else if (status == REC_OK) {
            status = r->visitor->metadata_value(r->self, at, &name);
            status = status == REC_OK ? tell_text(&value, value_at, r->visitor, r->self) : status;
        }
    } else {
        status = r->visitor->metadata_value(r->self, at, &name);
        status = status == REC_OK ? read_value(&r->c, type, 0, r->visitor, r->self) : status;
    }
    rec_job_free(r->job, key);
    return status;
}

/* ----------------------------------------------------------------------------------------------------- tensors -- */

static int32_t keep_name(reader *r, lr_gguf_tensor *t)
{
    lr_gguf_header *h = r->h;
    const char *text;
    int32_t status = take_name(r, "the name of a tensor", &text, &t->length);
    if (status == REC_OK) {
        status = lr_codec_grow(r->job, &h->names, r->names_used + t->length + 1, &r->names_room, 1);
    }
    if (status != REC_OK) {
        return status;
    }
    t->name = r->names_used;
    memcpy(h->names + t->name, text, (size_t)t->length);
    r->names_used += t->length;
    return REC_OK;
}

/* Elements and bytes of a tensor; its name is known. */
static int32_t measure(reader *r, lr_gguf_tensor *t)
{
    const char *name = r->h->names + t->name;
    int shown = t->length < 200 ? (int)t->length : 200;
    t->count = 1;
    for (uint32_t i = 0; i < t->rank; i++) {
        if (t->shape[i] && t->count > UINT64_MAX / 8 / t->shape[i]) {
            return rec_fail(r->job, REC_E_FORMAT, t->at, "the tensor %.*s has more elements than can be counted", shown,
                            name);
        }
        t->count *= t->shape[i];
    }
    if (!lr_gguf_type_size(t->type, t->rank ? t->shape[t->rank - 1] : 1, t->count, &t->size)) {
        return rec_fail_found(r->job, REC_E_FORMAT, t->at, "rows of whole blocks",
                              "the tensor %.*s of %s in rows of %" PRIu64 " elements, which come in blocks of %" PRIu32,
                              shown, name, t->type->name, t->rank ? t->shape[t->rank - 1] : 1, t->type->count);
    }
    return REC_OK;
}

static int32_t tensor(reader *r, lr_gguf_tensor *t)
{
    uint64_t at;
    uint32_t number = 0;
    int32_t status;
    t->at = r->c.at;
    status = keep_name(r, t);
    at = r->c.at;
    status = status == REC_OK ? take_u32(&r->c, "the rank of a tensor", &t->rank) : status;
    if (status == REC_OK && t->rank > LR_GGUF_RANK_MOST) {
        status = rec_fail_found(r->job, REC_E_FORMAT, at, "a rank of at most 4", "%" PRIu32, t->rank);
    }
    /* In the file the innermost dimension comes first. */
    for (uint32_t i = t->rank; status == REC_OK && i-- > 0;) {
        status = take_u64(&r->c, "a dimension of a tensor", &t->shape[i]);
    }
    at = r->c.at;
    status = status == REC_OK ? take_u32(&r->c, "the type of a tensor", &number) : status;
    if (status == REC_OK && !(t->type = lr_gguf_type_of(number))) {
        status = rec_fail_found(r->job, REC_E_UNSUPPORTED, at, "an element type of ggml's that is known", "%" PRIu32,
                                number);
    }
    status = status == REC_OK ? take_u64(&r->c, "the offset of a tensor", &t->offset) : status;
    return status == REC_OK ? measure(r, t) : status;
}

/* Where the tensors lie, once all of them are known. */
static int32_t place(reader *r)
{
    lr_gguf_header *h = r->h;
    uint64_t expected = 0, pad = h->alignment - 1, end;
    h->data = end = r->c.at;
    if (h->tensor_count) {
        h->data = (h->data + pad) & ~pad;
    }
    for (uint64_t i = 0; i < h->tensor_count; i++) {
        const lr_gguf_tensor *t = &h->tensors[i];
        int shown = t->length < 200 ? (int)t->length : 200;
        if (t->offset != expected) {
            return rec_fail_found(r->job, REC_E_FORMAT, t->at, "contiguous tensors",
                                  "%.*s at %" PRIu64 " of the data, where %" PRIu64 " comes next", shown,
                                  h->names + t->name, t->offset, expected);
        }
        if (h->data > r->c.size || expected > r->c.size - h->data || t->size > r->c.size - h->data - expected) {
            return rec_fail_found(r->job, REC_E_FORMAT, t->at, "a file that holds its tensors",
                                  "%.*s of %" PRIu64 " bytes, which extends beyond the end of the file", shown,
                                  h->names + t->name, t->size);
        }
        expected += t->size;
        end = h->data + expected;
        if (expected > UINT64_MAX - pad) {
            return rec_fail(r->job, REC_E_FORMAT, t->at, "the tensors are larger than any file");
        }
        expected = (expected + pad) & ~pad;
    }
    return lr_trailing_padded(r->job, h->source, end, end > UINT64_MAX - pad ? end : (end + pad) & ~pad, r->c.size);
}

/* --------------------------------------------------------------------------------------------------- the whole -- */

static int32_t begin(reader *r, uint64_t *entries)
{
    const uint8_t *magic = NULL;
    uint32_t version = 0;
    int32_t status = take(&r->c, 4, "a GGUF header", &magic);
    if (status == REC_OK && memcmp(magic, LR_GGUF_MAGIC, 4) != 0) {
        status = rec_fail_found(r->job, REC_E_FORMAT, 0, "a GGUF file, which begins with GGUF", "other bytes");
    }
    status = status == REC_OK ? take_u32(&r->c, "a GGUF header", &version) : status;
    if (status == REC_OK && (version < LR_GGUF_VERSION_LEAST || version > LR_GGUF_VERSION)) {
        if ((version & 0xFFFF) == 0) {
            return rec_fail(r->job, REC_E_UNSUPPORTED, 4, "this is a big-endian GGUF file, which is not read");
        }
        return rec_fail_found(r->job, REC_E_UNSUPPORTED, 4, "GGUF of version 2 or 3", "version %" PRIu32, version);
    }
    status = status == REC_OK ? take_u64(&r->c, "the number of tensors", &r->h->tensor_count) : status;
    status = status == REC_OK ? take_u64(&r->c, "the number of metadata entries", entries) : status;
    /* A key's length, a type, one byte; a name's length, rank, type, offset. */
    status = status == REC_OK ? rec_job_check_count(r->job, 16, *entries, 13, r->c.size - r->c.at) : status;
    return status == REC_OK ? rec_job_check_count(r->job, 8, r->h->tensor_count, 24, r->c.size - r->c.at) : status;
}

int32_t lr_gguf_header_read(lr_gguf_header *h, rec_job *job, rec_source *source, const rec_visitor *visitor, void *self)
{
    reader r = {.h = h, .job = job, .visitor = visitor, .self = self};
    uint64_t entries = 0;
    int32_t status = open_cursor(&r.c, job, source);
    h->source = source;
    h->alignment = LR_GGUF_ALIGNMENT;
    status = status == REC_OK ? begin(&r, &entries) : status;
    for (uint64_t i = 0; i < entries && status == REC_OK; i++) {
        status = entry(&r);
    }
    if (status == REC_OK && h->tensor_count) {
        h->tensors = rec_job_alloc(job, h->tensor_count * sizeof *h->tensors);
        if (!h->tensors) {
            status = rec_fail(job, REC_E_MEMORY, r.c.at, "out of memory for %" PRIu64 " tensors", h->tensor_count);
        }
    }
    for (uint64_t i = 0; i < h->tensor_count && status == REC_OK; i++) {
        memset(&h->tensors[i], 0, sizeof h->tensors[i]);
        status = tensor(&r, &h->tensors[i]);
    }
    status = status == REC_OK ? place(&r) : status;
    close_cursor(&r.c);
    return status;
}

void lr_gguf_header_free(lr_gguf_header *h, rec_job *job)
{
    rec_job_free(job, h->tensors);
    rec_job_free(job, h->names);
    h->tensors = NULL;
    h->names = NULL;
}
