/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Reads a header. It makes llama.cpp's demands on a file: unique keys, contiguous tensors at the alignment, within the
 * file. */
#include "common/names.h"
#include "plugins/codec/gguf/header.h"

#include "plugins/codec/gguf/metadata.h"
#include "common/utf8.h"
#include "plugins/codec/room.h"
#include "plugins/codec/trailing.h"

const rec_option lr_gguf_trailing = LR_TRAILING;

/* What a header is read with. */
typedef struct reader {
    lr_gguf_header *h;
    lr_gguf_cursor c;
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
        *status = lr_gguf_value_uint(&r->c, type, &h->split_no);
    } else if (lr_text_is(key, length, "split.count")) {
        *status = lr_gguf_value_uint(&r->c, type, &h->split_count);
    } else if (lr_text_is(key, length, "split.tensors.count")) {
        *status = lr_gguf_value_uint(&r->c, type, &ignored);
    } else if (lr_text_is(key, length, LR_GGUF_KEY_ALIGNMENT)) {
        *status = lr_gguf_value_uint(&r->c, type, &h->alignment);
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
        *status = lr_gguf_take_text(&r->c, "a text of the metadata", &text, &size);
        h->burn = *status == REC_OK && lr_text_is(text, size, "burn");
    } else {
        return false;
    }
    return true;
}

/* A key or a name, which other readers take for text. */
static int32_t take_name(reader *r, const char *what, const char **text, uint64_t *length)
{
    int32_t status = lr_gguf_take_text(&r->c, what, text, length);
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
    status = lr_gguf_take_u32(&r->c, "the type of a metadata value", &type);
    status = status == REC_OK ? lr_gguf_value_check(&r->c, value_at, type) : status;
    name = (rec_scalar){.kind = REC_KIND_STRING, .v.length = length, .text = key};
    if (status != REC_OK || own_entry(r, key, length, type, &status)) {
        /* done */
    } else if (!r->visitor) {
        r->h->others += !lr_text_is(key, length, "general.architecture");
        status = lr_gguf_value(&r->c, type, 0, NULL, NULL);
    } else if (type == LR_GGUF_STRING) {
        status = lr_gguf_value_scalar(&r->c, type, &value);
        if (status == REC_OK && lr_utf8_until((const uint8_t *)value.text, value.v.length) == value.v.length) {
            status = r->visitor->metadata(r->self, at, &name, &value);
        } else if (status == REC_OK) {
            status = r->visitor->metadata_value(r->self, at, &name);
            status = status == REC_OK ? lr_gguf_tell_text(&value, value_at, r->visitor, r->self) : status;
        }
    } else {
        status = r->visitor->metadata_value(r->self, at, &name);
        status = status == REC_OK ? lr_gguf_value(&r->c, type, 0, r->visitor, r->self) : status;
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
    status = status == REC_OK ? lr_gguf_take_u32(&r->c, "the rank of a tensor", &t->rank) : status;
    if (status == REC_OK && t->rank > LR_GGUF_RANK_MOST) {
        status = rec_fail_found(r->job, REC_E_FORMAT, at, "a rank of at most 4", "%" PRIu32, t->rank);
    }
    /* In the file the innermost dimension comes first. */
    for (uint32_t i = t->rank; status == REC_OK && i-- > 0;) {
        status = lr_gguf_take_u64(&r->c, "a dimension of a tensor", &t->shape[i]);
    }
    at = r->c.at;
    status = status == REC_OK ? lr_gguf_take_u32(&r->c, "the type of a tensor", &number) : status;
    if (status == REC_OK && !(t->type = lr_gguf_type_of(number))) {
        status = rec_fail_found(r->job, REC_E_UNSUPPORTED, at, "an element type of ggml's that is known", "%" PRIu32,
                                number);
    }
    status = status == REC_OK ? lr_gguf_take_u64(&r->c, "the offset of a tensor", &t->offset) : status;
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
    int32_t status = lr_gguf_take(&r->c, 4, "a GGUF header", &magic);
    if (status == REC_OK && memcmp(magic, LR_GGUF_MAGIC, 4) != 0) {
        status = rec_fail_found(r->job, REC_E_FORMAT, 0, "a GGUF file, which begins with GGUF", "other bytes");
    }
    status = status == REC_OK ? lr_gguf_take_u32(&r->c, "a GGUF header", &version) : status;
    if (status == REC_OK && (version < LR_GGUF_VERSION_LEAST || version > LR_GGUF_VERSION)) {
        if ((version & 0xFFFF) == 0) {
            return rec_fail(r->job, REC_E_UNSUPPORTED, 4, "this is a big-endian GGUF file, which is not read");
        }
        return rec_fail_found(r->job, REC_E_UNSUPPORTED, 4, "GGUF of version 2 or 3", "version %" PRIu32, version);
    }
    status = status == REC_OK ? lr_gguf_take_u64(&r->c, "the number of tensors", &r->h->tensor_count) : status;
    status = status == REC_OK ? lr_gguf_take_u64(&r->c, "the number of metadata entries", entries) : status;
    /* A key's length, a type, one byte; a name's length, rank, type, offset. */
    status = status == REC_OK ? rec_job_check_count(r->job, 16, *entries, 13, r->c.size - r->c.at) : status;
    return status == REC_OK ? rec_job_check_count(r->job, 8, r->h->tensor_count, 24, r->c.size - r->c.at) : status;
}

int32_t lr_gguf_header_read(lr_gguf_header *h, rec_job *job, rec_source *source, const rec_visitor *visitor, void *self)
{
    reader r = {.h = h, .job = job, .visitor = visitor, .self = self};
    uint64_t entries = 0;
    int32_t status = lr_gguf_cursor_open(&r.c, job, source);
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
    lr_gguf_cursor_close(&r.c);
    return status;
}

void lr_gguf_header_free(lr_gguf_header *h, rec_job *job)
{
    rec_job_free(job, h->tensors);
    rec_job_free(job, h->names);
    h->tensors = NULL;
    h->names = NULL;
}
