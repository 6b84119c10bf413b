/* SPDX-License-Identifier: MIT OR Apache-2.0
 * MessagePack writer: a visitor that packs with msgpack-c in the form of rmp-serde's `write_named`: every header and
 * integer in its shortest form, f32 and f64 kept apart, structs as maps, enums as a name or a map of one entry. */
#include "plugins/codec/msgpack/msgpack.h"
#include "plugins/codec/pass.h"

#include <inttypes.h>
#include <string.h>

#include <msgpack/pack.h>

/* Lengths and counts have at most 32 bits in MessagePack; msgpack-c would truncate them silently. */
static int32_t check_size(lr_msgpack_writer *w, const char *what, uint64_t size)
{
    if (size <= UINT32_MAX) {
        return REC_OK;
    }
    int32_t status = rec_fail_found(w->job, REC_E_UNSUPPORTED, REC_UNKNOWN,
                                    "at most 4,294,967,295 bytes or elements, the limit of MessagePack",
                                    "%s of %" PRIu64, what, size);
    rec_fail_hint(w->job, "Save it in another format.");
    return status;
}

static int32_t check_count(lr_msgpack_writer *w, const char *what, uint64_t count)
{
    if (count == REC_UNKNOWN) {
        return rec_fail(w->job, REC_E_PLUGIN, REC_UNKNOWN, "MessagePack needs the count of a %s before its contents",
                        what);
    }
    return check_size(w, what, count);
}

/* The packer's write function: small pieces are gathered. */
static int append(void *user, const char *data, size_t size)
{
    lr_msgpack_writer *w = user;
    if (size > sizeof w->buffer - w->used) {
        w->status = lr_msgpack_writer_flush(w);
        if (w->status == REC_OK && size > sizeof w->buffer) {
            w->status = rec_sink_write(w->sink, data, size);
            return w->status;
        }
        if (w->status != REC_OK) {
            return w->status;
        }
    }
    memcpy(w->buffer + w->used, data, size);
    w->used += (uint32_t)size;
    return 0;
}

void lr_msgpack_writer_init(lr_msgpack_writer *writer, rec_job *job, rec_sink *sink)
{
    writer->job = job;
    writer->sink = sink;
    writer->status = REC_OK;
    writer->used = 0;
}

int32_t lr_msgpack_writer_flush(lr_msgpack_writer *writer)
{
    uint32_t used = writer->used;
    writer->used = 0;
    return used > 0 ? rec_sink_write(writer->sink, writer->buffer, used) : REC_OK;
}

/* A packer is made where it is used: its write function is then known and can be inlined. */
#define PACKER(w) (&(msgpack_packer){.data = (w), .callback = append})

/* What a packing function returned, as a status. */
static int32_t packed(const lr_msgpack_writer *w, int result)
{
    return result == 0 ? REC_OK : w->status;
}

static int32_t put_text(lr_msgpack_writer *w, const rec_scalar *scalar)
{
    size_t length = (size_t)scalar->v.length;
    int32_t status = check_size(w, "a string", scalar->v.length);
    if (status == REC_OK) {
        status = packed(w, msgpack_pack_str(PACKER(w), length));
    }
    return status == REC_OK && length > 0 ? packed(w, msgpack_pack_str_body(PACKER(w), scalar->text, length)) : status;
}

static int32_t on_scalar(void *self, uint64_t at, const rec_scalar *scalar)
{
    lr_msgpack_writer *w = self;
    (void)at;
    switch (scalar->kind) {
    case REC_KIND_NIL: /* unit and absent options too; but rmp-serde writes a struct without fields as an array */
        return packed(w, scalar->form == REC_FORM_UNIT_STRUCT ? msgpack_pack_array(PACKER(w), 0)
                                                              : msgpack_pack_nil(PACKER(w)));
    case REC_KIND_BOOL:
        return packed(w, scalar->v.i ? msgpack_pack_true(PACKER(w)) : msgpack_pack_false(PACKER(w)));
    case REC_KIND_INT:
        return packed(w, msgpack_pack_int64(PACKER(w), scalar->v.i));
    case REC_KIND_UINT:
        return packed(w, msgpack_pack_uint64(PACKER(w), scalar->v.u));
    case REC_KIND_FLOAT: /* an f16, which MessagePack lacks, is held exactly by an f32 */
        if (scalar->bits == 32 || scalar->bits == 16) {
            return packed(w, msgpack_pack_float(PACKER(w), (float)scalar->v.f));
        }
        return packed(w, msgpack_pack_double(PACKER(w), scalar->v.f));
    case REC_KIND_STRING:
        return put_text(w, scalar);
    default:
        return rec_fail(w->job, REC_E_PLUGIN, REC_UNKNOWN, "a scalar of kind %d", (int)scalar->kind);
    }
}

/* Packs `count` elements of a C type, which may lie anywhere. */
#define PACK_ALL(type, pack)                                                    \
    for (uint64_t i = 0; i < count && result == 0; i++) {                       \
        type value;                                                             \
        memcpy(&value, (const uint8_t *)data + i * sizeof value, sizeof value); \
        result = pack;                                                          \
    }                                                                           \
    break

static int32_t on_numbers(void *self, uint64_t at, rec_dtype dtype, const void *data, uint64_t count)
{
    lr_msgpack_writer *w = self;
    msgpack_packer *const packer = PACKER(w);
    int result = 0;
    (void)at;
    switch (dtype) {
    case REC_DTYPE_F64:
        PACK_ALL(double, msgpack_pack_double(packer, value));
    case REC_DTYPE_F32:
    case REC_DTYPE_FLEX32:
        PACK_ALL(float, msgpack_pack_float(packer, value));
    case REC_DTYPE_F16: /* as Burn (serde of the crate `half`): the bit pattern, an integer */
    case REC_DTYPE_BF16:
    case REC_DTYPE_U16:
        PACK_ALL(uint16_t, msgpack_pack_uint16(packer, value));
    case REC_DTYPE_I64:
        PACK_ALL(int64_t, msgpack_pack_int64(packer, value));
    case REC_DTYPE_I32:
        PACK_ALL(int32_t, msgpack_pack_int32(packer, value));
    case REC_DTYPE_I16:
        PACK_ALL(int16_t, msgpack_pack_int16(packer, value));
    case REC_DTYPE_I8:
        PACK_ALL(int8_t, msgpack_pack_int8(packer, value));
    case REC_DTYPE_U64:
        PACK_ALL(uint64_t, msgpack_pack_uint64(packer, value));
    case REC_DTYPE_U32:
        PACK_ALL(uint32_t, msgpack_pack_uint32(packer, value));
    case REC_DTYPE_U8:
        PACK_ALL(uint8_t, msgpack_pack_uint8(packer, value));
    case REC_DTYPE_BOOL:
    case REC_DTYPE_BOOL8:
        PACK_ALL(uint8_t, value ? msgpack_pack_true(packer) : msgpack_pack_false(packer));
    case REC_DTYPE_BOOL32:
        PACK_ALL(uint32_t, value ? msgpack_pack_true(packer) : msgpack_pack_false(packer));
    default:
        return rec_fail(w->job, REC_E_UNSUPPORTED, REC_UNKNOWN, "MessagePack has no numbers of type %s",
                        rec_dtype_name(dtype));
    }
    return packed(w, result);
}

static int32_t on_bytes(void *self, uint64_t at, const rec_blob *blob)
{
    lr_msgpack_writer *w = self;
    (void)at;
    int32_t status = check_size(w, "bytes", blob->length);
    if (status == REC_OK) {
        status = packed(w, msgpack_pack_bin(PACKER(w), (size_t)blob->length));
    }
    if (status == REC_OK) {
        status = lr_msgpack_writer_flush(w);
    }
    return status == REC_OK ? rec_sink_put(w->sink, blob) : status;
}

static int32_t on_list_begin(void *self, uint64_t at, int32_t form, uint64_t count)
{
    lr_msgpack_writer *w = self;
    (void)at, (void)form;
    int32_t status = check_count(w, "list", count);
    return status == REC_OK ? packed(w, msgpack_pack_array(PACKER(w), (size_t)count)) : status;
}

static int32_t on_map_begin(void *self, uint64_t at, int32_t form, uint64_t count)
{
    lr_msgpack_writer *w = self;
    (void)at, (void)form;
    int32_t status = check_count(w, "map", count);
    return status == REC_OK ? packed(w, msgpack_pack_map(PACKER(w), (size_t)count)) : status;
}

static int32_t on_variant_begin(void *self, uint64_t at, uint64_t index, const rec_scalar *name, int32_t payload)
{
    lr_msgpack_writer *w = self;
    (void)index;
    int32_t status = payload ? packed(w, msgpack_pack_map(PACKER(w), 1)) : REC_OK;
    return status == REC_OK ? on_scalar(self, at, name) : status;
}

static int32_t on_option(void *self, uint64_t at, int32_t present)
{
    lr_msgpack_writer *w = self;
    (void)at;
    return present ? REC_OK : packed(w, msgpack_pack_nil(PACKER(w)));
}

const rec_visitor lr_msgpack_visitor = {
    .size = sizeof lr_msgpack_visitor,
    .scalar = on_scalar,
    .numbers = on_numbers,
    .bytes = on_bytes,
    .list_begin = on_list_begin,
    .map_begin = on_map_begin,
    .key = on_scalar,
    .variant_begin = on_variant_begin,
    .end = lr_pass_end,
    .option = on_option,
};

int32_t lr_msgpack_write(rec_job *job, rec_sink *sink)
{
    lr_msgpack_writer writer;
    lr_msgpack_writer_init(&writer, job, sink);
    int32_t status = rec_job_walk(job, &lr_msgpack_visitor, &writer);
    return status == REC_OK ? lr_msgpack_writer_flush(&writer) : status;
}
