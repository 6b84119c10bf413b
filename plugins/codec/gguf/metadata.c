/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Metadata values: numbers, texts, and arrays of either or of arrays. */
#include "common/little.h"
#include "plugins/codec/gguf/metadata.h"

#include <inttypes.h>
#include <string.h>

#include "common/utf8.h"

int32_t lr_gguf_value_check(lr_gguf_cursor *c, uint64_t at, uint32_t type)
{
    return type < LR_GGUF_VALUES
               ? REC_OK
               : rec_fail_found(c->job, REC_E_FORMAT, at, "a type of metadata (0 to 12)", "%" PRIu32, type);
}

int32_t lr_gguf_value_scalar(lr_gguf_cursor *c, uint32_t type, rec_scalar *scalar)
{
    const uint8_t *data = NULL;
    uint64_t at = c->at;
    int32_t status;
    if (type == LR_GGUF_STRING) {
        *scalar = (rec_scalar){.kind = REC_KIND_STRING};
        return lr_gguf_take_text(c, "a text of the metadata", &scalar->text, &scalar->v.length);
    }
    status = lr_gguf_take(c, rec_dtype_bits(lr_gguf_value_dtype(type)) / 8, "a number of the metadata", &data);
    if (status == REC_OK && type == LR_GGUF_BOOL && *data > 1) {
        status = rec_fail_found(c->job, REC_E_FORMAT, at, "a bool (0 or 1)", "byte 0x%02x", *data);
    }
    if (status == REC_OK) {
        *scalar = lr_gguf_scalar(type, data);
    }
    return status;
}

int32_t lr_gguf_value_uint(lr_gguf_cursor *c, uint32_t type, uint64_t *number)
{
    static const char expected[] = "a whole number from 0 on";
    uint64_t at = c->at;
    rec_scalar scalar;
    int32_t status;
    if (type == LR_GGUF_ARRAY) {
        return rec_fail_found(c->job, REC_E_FORMAT, at, expected, "an array");
    }
    status = lr_gguf_value_scalar(c, type, &scalar);
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

int32_t lr_gguf_tell_text(const rec_scalar *text, uint64_t at, const rec_visitor *visitor, void *self)
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
static int32_t numbers(lr_gguf_cursor *c, uint32_t type, uint64_t count, const rec_visitor *visitor, void *self)
{
    enum { PIECE = 4096 };
    rec_dtype dtype = lr_gguf_value_dtype(type);
    uint64_t width = rec_dtype_bits(dtype) / 8;
    int32_t status = REC_OK;
    while (count && status == REC_OK) {
        uint64_t n = count < PIECE ? count : PIECE, at = c->at;
        const uint8_t *data;
        uint8_t host[PIECE * sizeof(uint64_t)];
        status = lr_gguf_take(c, n * width, "the numbers of an array", &data);
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

static int32_t array(lr_gguf_cursor *c, uint32_t depth, const rec_visitor *visitor, void *self)
{
    uint64_t at = c->at, count = 0, each;
    uint32_t type = 0;
    rec_dtype dtype;
    int32_t status = lr_gguf_take_u32(c, "the type of an array", &type);
    status = status == REC_OK ? lr_gguf_value_check(c, at, type) : status;
    status = status == REC_OK ? lr_gguf_take_u64(c, "the length of an array", &count) : status;
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
        status = lr_gguf_value(c, type, depth + 1, visitor, self);
    }
    return status == REC_OK && visitor ? visitor->end(self, c->at) : status;
}

int32_t lr_gguf_value(lr_gguf_cursor *c, uint32_t type, uint32_t depth, const rec_visitor *visitor, void *self)
{
    rec_scalar scalar;
    uint64_t at = c->at;
    int32_t status;
    if (type == LR_GGUF_ARRAY) {
        return array(c, depth, visitor, self);
    }
    status = lr_gguf_value_scalar(c, type, &scalar);
    if (status != REC_OK || !visitor) {
        return status;
    }
    return type == LR_GGUF_STRING ? lr_gguf_tell_text(&scalar, at, visitor, self) : visitor->scalar(self, at, &scalar);
}
