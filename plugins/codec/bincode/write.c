/* SPDX-License-Identifier: MIT OR Apache-2.0
 * bincode writer: a visitor. Core's walk follows the record's type, so that options are announced and every number,
 * list and map has its form; anything that has none cannot be written without a type. */
#include "plugins/codec/bincode/bincode_private.h"
#include "plugins/codec/number.h"
#include "plugins/codec/little.h"

#include <string.h>

typedef struct writer {
    rec_job *job;
    rec_sink *sink;
    bool *structs; /* for each open container: whether it is a struct, whose keys are not written */
    uint32_t depth, room;
} writer;

static int32_t needs_type(writer *w)
{
    int32_t status =
        rec_fail(w->job, REC_E_TYPE, REC_UNKNOWN, "bincode has no names: writing it needs the type of the record");
    rec_fail_hint(w->job, "Give the model's Rust source or another form of its type.");
    return status;
}

static size_t encode(uint8_t out[9], uint64_t number)
{
    unsigned bytes = number < 251 ? 0 : number <= UINT16_MAX ? 2 : number <= UINT32_MAX ? 4 : 8;
    if (!bytes) {
        out[0] = (uint8_t)number;
        return 1;
    }
    out[0] = bytes == 2 ? 251 : bytes == 4 ? 252 : 253;
    lr_little_put(out + 1, number, bytes);
    return bytes + 1;
}

static int32_t put_uint(writer *w, uint64_t number)
{
    uint8_t out[9];
    return rec_sink_write(w->sink, out, encode(out, number));
}

static uint64_t zigzag(int64_t number)
{
    return ((uint64_t)number << 1) ^ (number < 0 ? UINT64_MAX : 0);
}

static size_t encode_raw(uint8_t *out, uint64_t number, unsigned bytes)
{
    lr_little_put(out, number, bytes);
    return bytes;
}

/* A number in the form its width and kind ask for; 0 if its width is not known. */
static size_t encode_number(uint8_t *out, const rec_scalar *number)
{
    uint64_t bits;
    switch (number->kind) {
    case REC_KIND_BOOL:
        out[0] = number->v.i != 0;
        return 1;
    case REC_KIND_FLOAT:
        if (number->bits == 32) {
            float narrow = (float)number->v.f;
            uint32_t pattern;
            memcpy(&pattern, &narrow, sizeof pattern);
            return encode_raw(out, pattern, 4);
        }
        memcpy(&bits, &number->v.f, sizeof bits);
        return number->bits == 64 ? encode_raw(out, bits, 8) : 0;
    case REC_KIND_UINT:
        return number->bits == 0 ? 0 : number->bits == 8 ? encode_raw(out, number->v.u, 1) : encode(out, number->v.u);
    default:
        return number->bits == 0   ? 0
               : number->bits == 8 ? encode_raw(out, (uint64_t)number->v.i, 1)
                                   : encode(out, zigzag(number->v.i));
    }
}

static int32_t put_text(writer *w, const rec_scalar *text)
{
    int32_t status = put_uint(w, text->v.length);
    return status == REC_OK ? rec_sink_write(w->sink, text->text, text->v.length) : status;
}

static int32_t on_scalar(void *self, uint64_t at, const rec_scalar *scalar)
{
    writer *w = self;
    uint8_t out[16];
    size_t size;
    (void)at;
    if (scalar->kind == REC_KIND_STRING) {
        return put_text(w, scalar);
    }
    if (scalar->kind == REC_KIND_NIL) {
        return scalar->form == REC_FORM_UNIT || scalar->form == REC_FORM_UNIT_STRUCT ? REC_OK : needs_type(w);
    }
    size = encode_number(out, scalar);
    return size ? rec_sink_write(w->sink, out, size) : needs_type(w);
}

enum { PIECE = 512 };

static int32_t on_numbers(void *self, uint64_t at, rec_dtype dtype, const void *data, uint64_t count)
{
    writer *w = self;
    const uint8_t *from = data;
    uint32_t width = rec_dtype_bits(dtype) / 8;
    int32_t status = REC_OK;
    (void)at;
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    if (dtype == REC_DTYPE_F32 || dtype == REC_DTYPE_F64 || dtype == REC_DTYPE_U8) {
        return rec_sink_write(w->sink, data, count * width);
    }
#endif
    while (count && status == REC_OK) {
        uint8_t out[PIECE * 9];
        uint64_t n = count < PIECE ? count : PIECE;
        size_t used = 0;
        for (uint64_t i = 0; i < n; i++) {
            rec_scalar number = lr_number_scalar(dtype, from + i * width);
            used += encode_number(out + used, &number);
        }
        status = rec_sink_write(w->sink, out, used);
        from += n * width;
        count -= n;
    }
    return status;
}

static int32_t on_bytes(void *self, uint64_t at, const rec_blob *blob)
{
    writer *w = self;
    int32_t status = put_uint(w, blob->length);
    (void)at;
    return status == REC_OK ? rec_sink_put(w->sink, blob) : status;
}

static int32_t open_frame(writer *w, bool is_struct)
{
    if (w->depth == w->room) {
        return rec_fail(w->job, REC_E_LIMIT, REC_UNKNOWN, "lists and maps are nested deeper than %u levels",
                        (unsigned)w->room);
    }
    w->structs[w->depth++] = is_struct;
    return REC_OK;
}

static int32_t on_list_begin(void *self, uint64_t at, int32_t form, uint64_t count)
{
    writer *w = self;
    int32_t status = open_frame(w, true);
    (void)at;
    if (status != REC_OK) {
        return status;
    }
    return form == REC_FORM_LIST                              ? put_uint(w, count)
           : form == REC_FORM_ARRAY || form == REC_FORM_TUPLE ? REC_OK
                                                              : needs_type(w);
}

static int32_t on_map_begin(void *self, uint64_t at, int32_t form, uint64_t count)
{
    writer *w = self;
    int32_t status = open_frame(w, form == REC_FORM_STRUCT);
    (void)at;
    if (status != REC_OK) {
        return status;
    }
    return form == REC_FORM_MAP ? put_uint(w, count) : form == REC_FORM_STRUCT ? REC_OK : needs_type(w);
}

static int32_t on_key(void *self, uint64_t at, const rec_scalar *key)
{
    writer *w = self;
    return w->structs[w->depth - 1] ? REC_OK : on_scalar(w, at, key);
}

static int32_t on_variant_begin(void *self, uint64_t at, uint64_t index, const rec_scalar *name, int32_t payload)
{
    writer *w = self;
    int32_t status = open_frame(w, true);
    (void)at;
    (void)name;
    (void)payload;
    return status != REC_OK ? status : index <= UINT32_MAX ? put_uint(w, index) : needs_type(w);
}

static int32_t on_end(void *self, uint64_t at)
{
    writer *w = self;
    (void)at;
    w->depth--;
    return REC_OK;
}

static int32_t on_option(void *self, uint64_t at, int32_t present)
{
    writer *w = self;
    uint8_t byte = present != 0;
    (void)at;
    return rec_sink_write(w->sink, &byte, 1);
}

static const rec_visitor on_write = {
    .size = sizeof(rec_visitor),
    .scalar = on_scalar,
    .numbers = on_numbers,
    .bytes = on_bytes,
    .list_begin = on_list_begin,
    .map_begin = on_map_begin,
    .key = on_key,
    .variant_begin = on_variant_begin,
    .end = on_end,
    .option = on_option,
};

static int32_t put_tail(writer *w)
{
    const char *text = NULL;
    uint8_t tail[LR_BINCODE_TAIL];
    int32_t status = rec_job_layout_text(w->job, &text);
    if (status != REC_OK) {
        return status;
    }
    if (!text) {
        return needs_type(w);
    }
    lr_little_put(tail, strlen(text), 8);
    memcpy(tail + 8, LR_BINCODE_MAGIC, 8);
    status = rec_sink_write(w->sink, text, strlen(text));
    return status == REC_OK ? rec_sink_write(w->sink, tail, sizeof tail) : status;
}

int32_t lr_bincode_write(rec_job *job, rec_sink *sink)
{
    writer w = {.job = job, .sink = sink, .room = rec_job_depth_limit(job)};
    int32_t status;
    w.structs = rec_job_alloc(job, w.room * sizeof *w.structs);
    if (!w.structs) {
        return rec_fail(job, REC_E_MEMORY, REC_UNKNOWN, "out of memory");
    }
    status = rec_job_walk(job, &on_write, &w);
    if (status == REC_OK && rec_job_option_int(job, "self-describing")) {
        status = put_tail(&w);
    }
    rec_job_free(job, w.structs);
    return status;
}

const rec_option lr_bincode_self_describing = {
    .size = sizeof(rec_option),
    .type = REC_OPTION_BOOL,
    .name = "self-describing",
    .initial = "no",
    .help = "append the record's type, so that librecord reads it without one (Burn ignores it)",
};
const rec_option lr_bincode_positional = {
    .size = sizeof(rec_option),
    .type = REC_OPTION_CHOICE,
    .name = "positional",
    .initial = "no",
    .help = "without a type, read the parameters that can be found, named by their position (head: even without any)",
    .choices = (const char *const[]){"no", "yes", "head", NULL},
};
