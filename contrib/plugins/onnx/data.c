/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The data of a tensor. Raw data and packed floats are ranges of the file. Other numbers have variable lengths in the
 * file: a source decodes them on demand. */
#include <stdlib.h>
#include <string.h>

#include "onnx/tensor.h"

typedef struct decoder {
    rec_source *file;
    const tensor_type *type;
    uint64_t at, end;     /**< of the message */
    uint64_t size;        /**< of the decoded elements */
    uint64_t done;        /**< decoded bytes so far */
    pb_cursor message;    /**< after the current field */
    pb_cursor run;        /**< packed numbers that are read */
    uint8_t number[8];    /**< the last number, of which a part may be left */
    uint32_t left, width; /**< of it; bytes of a number */
} decoder;                /* without a window: a file may have many small tensors */

static void restart(decoder *d)
{
    d->message.at = d->at;
    d->message.end = d->end;
    d->run.at = d->run.end = 0;
    d->done = 0;
    d->left = 0;
}

/* Whether the value of a varint has no more bits than the element type. */
static int fits(const tensor_type *type, uint64_t value)
{
    uint32_t bits = 8 * type->width;
    uint64_t above;
    if (type->dtype == REC_DTYPE_BOOL) {
        return value <= 1;
    }
    if (bits >= 64) {
        return 1;
    }
    above = value >> (bits - 1); /* with the sign */
    if (type->dtype == REC_DTYPE_I8 || type->dtype == REC_DTYPE_I16 || type->dtype == REC_DTYPE_I32) {
        return above == 0 || above == UINT64_MAX >> (bits - 1);
    }
    return above <= 1;
}

static rec_status set_number(decoder *d, uint64_t at, uint64_t value)
{
    if (!fits(d->type, value)) {
        return rec_fail_found(d->run.w->job, REC_E_FORMAT, at, "a number of the tensor's element type", "%lld, for %s",
                              (long long)value, d->type->name);
    }
    for (uint32_t i = 0; i < d->width; i++) {
        d->number[i] = (uint8_t)(value >> (8 * i));
    }
    return REC_OK;
}

static rec_status set_fixed(decoder *d, uint64_t at)
{
    const uint8_t *bytes;
    uint64_t got;
    rec_status status = window_get(d->run.w, at, d->width, &bytes, &got);
    if (status == REC_OK) {
        memcpy(d->number, bytes, got < d->width ? got : d->width);
    }
    return status;
}

/* Finds the next field with numbers. One number that is not packed becomes `number`. @param single (out). */
static rec_status next_run(decoder *d, int *single)
{
    pb_field field;
    rec_status status = REC_OK;
    *single = 0;
    while (status == REC_OK && d->run.at == d->run.end && !*single) {
        status = pb_next(&d->message, &field);
        if (status != REC_OK || field.number != d->type->field) {
            continue;
        }
        if (field.wire == PB_BYTES) {
            d->run = pb_inside(&d->message, &field);
        } else {
            *single = 1;
            status = field.wire == PB_VARINT ? set_number(d, field.at, field.value) : set_fixed(d, field.data);
        }
    }
    return status;
}

static rec_status next_number(decoder *d)
{
    uint64_t value, at;
    int single;
    rec_status status = next_run(d, &single);
    if (status != REC_OK || single) {
        return status;
    }
    at = d->run.at;
    if (d->type->field == FLOAT_DATA || d->type->field == DOUBLE_DATA) {
        status = set_fixed(d, at);
        d->run.at += d->width;
        return status;
    }
    status = pb_varint(&d->run, &value);
    return status == REC_OK ? set_number(d, at, value) : status;
}

/* Decodes the next bytes. @param to NULL: they are skipped. */
static rec_status decode(decoder *d, uint8_t *to, uint64_t size)
{
    rec_status status = REC_OK;
    while (size && status == REC_OK) {
        uint32_t part;
        if (!d->left) {
            status = next_number(d);
            d->left = d->width;
        }
        part = size < d->left ? (uint32_t)size : d->left;
        if (to && status == REC_OK) {
            memcpy(to, d->number + (d->width - d->left), part);
            to += part;
        }
        d->left -= part;
        d->done += part;
        size -= part;
    }
    return status;
}

static rec_status decoder_read_at(void *self, rec_job *job, uint64_t offset, void *target, uint64_t size)
{
    decoder *d = self;
    window w;
    rec_status status = window_open(&w, job, d->file);
    d->message.w = d->run.w = &w;
    if (offset < d->done) {
        restart(d);
    }
    status = status == REC_OK ? decode(d, NULL, offset - d->done) : status;
    status = status == REC_OK ? decode(d, target, size) : status;
    if (status != REC_OK) {
        restart(d);
    }
    d->message.w = d->run.w = NULL;
    return status;
}

static uint64_t decoder_total(void *self)
{
    return ((decoder *)self)->size;
}

static void decoder_release(void *self)
{
    decoder *d = self;
    rec_source_release(d->file);
    free(d);
}

static rec_status make_decoder(rec_job *job, rec_source *file, const tensor *t, rec_source **source)
{
    static const rec_source_ops ops = {
        .size = sizeof ops, .release = decoder_release, .read_at = decoder_read_at, .total = decoder_total};
    decoder *d = malloc(sizeof *d);
    rec_status status;
    if (!d) {
        return rec_fail(job, REC_E_MEMORY, t->at, "no memory for the numbers of a tensor");
    }
    *d = (decoder){.file = rec_source_retain(file),
                   .type = t->type,
                   .at = t->at,
                   .end = t->end,
                   .size = t->size,
                   .width = t->type->width / t->type->numbers};
    restart(d);
    status = rec_job_check_inflated(job, t->end - t->at, t->size);
    if (status != REC_OK) {
        decoder_release(d);
        return status;
    }
    return rec_source_make(job, rec_source_name(file), &ops, d, source);
}

rec_status tensor_data(rec_job *job, rec_source *file, const tensor *t, rec_source **source, uint64_t *offset)
{
    int packed_floats =
        t->runs == 1 && t->data_size == t->size && (t->type->field == FLOAT_DATA || t->type->field == DOUBLE_DATA);
    if (t->raw || packed_floats) {
        *source = rec_source_retain(file);
        *offset = t->data;
        return REC_OK;
    }
    *offset = 0;
    return make_decoder(job, file, t, source);
}
