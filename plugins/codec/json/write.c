/* SPDX-License-Identifier: MIT OR Apache-2.0
 * JSON writer: a visitor that writes text as serde_json does, compact or with a line for each value.
 *
 * Bytes of tensors are most of a record's text, many characters for each: they are copied from a table of the texts of
 * all 256 values, comma, line break and indentation included, without a branch. */
#include "plugins/codec/json/json.h"

#include <inttypes.h>
#include <math.h>

#include "common/json.h"
#include "plugins/codec/json/number.h"

/* Levels that are kept; core allows at most 200. */
#define LEVELS 256
#define BUFFER (256u * 1024)
/* Bytes of a tensor that are read at a time. */
#define TILE (16u * 1024)
/* Longest text of one value of the table; deeper indentation is written piece by piece. */
#define ENTRY_MOST 128u
/* Bytes that are copied at once. */
#define MOVE 16u
#define INDENT 2u
/* Bytes for which a table is made. */
#define ENTRIES_FROM 256u

enum { IN_ROOT, IN_LIST, IN_MAP, IN_NAME /* a variant without payload */ };

struct lr_json_writer {
    rec_job *job;
    rec_sink *sink;
    bool pretty;
    bool after_key; /* the value that comes stands on its key's line */
    uint32_t depth, used;
    uint32_t entry_room;  /* bytes, a multiple of MOVE, from one text of the table to the next, 0: no table yet */
    uint32_t entry_depth; /* the level it was made for */
    struct {
        uint8_t in;
        bool filled; /* something was written in it */
        bool texts;  /* of a map: its keys are text */
    } levels[LEVELS];
    uint64_t nulls;      /* numbers that JSON has not: infinities and NaN */
    uint64_t plain;      /* bytes that are no tensor's */
    bool tensor;         /* the value that comes is the `bytes` of a tensor */
    char first[256];     /* where the first bytes that are no tensor's were */
    char null_path[512]; /* of the first */
    uint8_t lengths[256];
    char entries[256 * ENTRY_MOST];
    uint8_t tile[TILE];
    char buffer[BUFFER];
};

/* -------------------------------------------------------------------------------------------------------- text -- */

int32_t lr_json_writer_flush(lr_json_writer *w)
{
    uint32_t used = w->used;
    w->used = 0;
    return used > 0 ? rec_sink_write(w->sink, w->buffer, used) : REC_OK;
}

/* Makes room for a piece of text smaller than the buffer. */
static inline int32_t reserve(lr_json_writer *w, uint32_t size)
{
    return size > BUFFER - w->used ? lr_json_writer_flush(w) : REC_OK;
}

static int32_t put(lr_json_writer *w, const char *text, uint64_t size)
{
    if (size >= BUFFER) {
        int32_t status = lr_json_writer_flush(w);
        return status == REC_OK ? rec_sink_write(w->sink, text, size) : status;
    }
    int32_t status = reserve(w, (uint32_t)size);
    if (status == REC_OK && size > 0) {
        memcpy(w->buffer + w->used, text, (size_t)size);
        w->used += (uint32_t)size;
    }
    return status;
}

static int32_t put_line(lr_json_writer *w, uint32_t depth)
{
    int32_t status = w->pretty ? reserve(w, 1 + LEVELS * INDENT) : REC_OK;
    if (status == REC_OK && w->pretty) {
        w->buffer[w->used] = '\n';
        memset(w->buffer + w->used + 1, ' ', depth * INDENT);
        w->used += 1 + depth * INDENT;
    }
    return status;
}

/* Writes the separator before a key, or before a value without one. */
static int32_t separate(lr_json_writer *w)
{
    if (w->after_key) {
        w->after_key = false;
        return REC_OK;
    }
    if (w->depth == 0) {
        return REC_OK;
    }
    int32_t status = w->levels[w->depth].filled ? put(w, ",", 1) : REC_OK;
    w->levels[w->depth].filled = true;
    return status == REC_OK ? put_line(w, w->depth) : status;
}

static int32_t put_string(lr_json_writer *w, const char *text, uint64_t length)
{
    int32_t status = put(w, "\"", 1);
    uint64_t from = 0;
    for (uint64_t i = 0; i < length && status == REC_OK; i++) {
        uint8_t byte = (uint8_t)text[i];
        if (byte >= 0x20 && byte != '"' && byte != '\\') {
            continue;
        }
        char escape[6];
        uint32_t size = lr_json_escape(byte, "bfnrt", escape);
        status = put(w, text + from, i - from);
        status = status == REC_OK ? put(w, escape, size) : status;
        from = i + 1;
    }
    status = status == REC_OK ? put(w, text + from, length - from) : status;
    return status == REC_OK ? put(w, "\"", 1) : status;
}

static void count_null(lr_json_writer *w)
{
    if (w->nulls++ == 0) {
        (void)rec_job_path(w->job, w->null_path, sizeof w->null_path);
    }
}

static uint32_t put_f64(lr_json_writer *w, double value)
{
    if (!isfinite(value)) {
        count_null(w);
    }
    return lr_float_write(w->buffer + w->used, value);
}

static uint32_t put_f32(lr_json_writer *w, float value)
{
    if (!isfinite(value)) {
        count_null(w);
    }
    return lr_float32_write(w->buffer + w->used, value);
}

static int32_t put_scalar(lr_json_writer *w, const rec_scalar *scalar)
{
    char *to = w->buffer + w->used;
    int32_t status;
    switch (scalar->kind) {
    case REC_KIND_NIL: /* unit, absent options and structs without fields, too */
        return put(w, "null", 4);
    case REC_KIND_BOOL:
        return scalar->v.i ? put(w, "true", 4) : put(w, "false", 5);
    case REC_KIND_STRING:
        return put_string(w, scalar->text, scalar->v.length);
    case REC_KIND_INT:
    case REC_KIND_UINT:
    case REC_KIND_FLOAT:
        break;
    default:
        return rec_fail(w->job, REC_E_PLUGIN, REC_UNKNOWN, "a scalar of kind %d", (int)scalar->kind);
    }
    status = reserve(w, LR_NUMBER_ROOM);
    if (status != REC_OK) {
        return status;
    }
    to = w->buffer + w->used;
    if (scalar->kind == REC_KIND_INT) {
        w->used += lr_int_write(to, scalar->v.i);
    } else if (scalar->kind == REC_KIND_UINT) {
        w->used += lr_uint_write(to, scalar->v.u);
    } else if (scalar->bits == 32 || scalar->bits == 16) {
        w->used += put_f32(w, (float)scalar->v.f);
    } else {
        w->used += put_f64(w, scalar->v.f);
    }
    return REC_OK;
}

/* ------------------------------------------------------------------------------------------------------- bytes -- */

/* The texts of the values 0 to 255 in a list at this level: a comma, a line break if it is pretty, the number. */
static void make_entries(lr_json_writer *w)
{
    uint32_t gap = w->pretty ? 1 + w->depth * INDENT : 0;
    uint32_t room = (1 + gap + 3 + MOVE - 1) / MOVE * MOVE;
    w->entry_room = room;
    w->entry_depth = w->depth;
    for (uint32_t value = 0; value < 256 && room <= ENTRY_MOST; value++) {
        char *entry = w->entries + value * room;
        entry[0] = ',';
        if (gap > 0) {
            entry[1] = '\n';
            memset(entry + 2, ' ', gap - 1);
        }
        w->lengths[value] = (uint8_t)(1 + gap + lr_uint_write(entry + 1 + gap, value));
    }
}

/* Bytes of a list that has something in it already, with room for all of them. A whole entry is copied in moves of a
 * constant size; the next one goes over its tail. */
static void put_entries(lr_json_writer *w, const uint8_t *bytes, uint64_t count)
{
    char *to = w->buffer + w->used;
    const uint32_t room = w->entry_room;
    for (uint64_t i = 0; i < count; i++) {
        const char *from = w->entries + bytes[i] * room;
        for (uint32_t k = 0; k < room; k += MOVE) {
            memcpy(to + k, from + k, MOVE);
        }
        to += w->lengths[bytes[i]];
    }
    w->used = (uint32_t)(to - w->buffer);
}

static int32_t put_bytes(lr_json_writer *w, const uint8_t *bytes, uint64_t count)
{
    int32_t status = REC_OK;
    bool entries = w->entry_room > 0 && w->entry_depth == w->depth;
    if (!entries && count >= ENTRIES_FROM) {
        make_entries(w);
        entries = true;
    }
    while (count > 0 && status == REC_OK) {
        uint64_t n = 1;
        if (entries && w->levels[w->depth].filled && w->entry_room <= ENTRY_MOST) {
            status = reserve(w, w->entry_room);
            if (status == REC_OK) {
                n = (BUFFER - w->used) / w->entry_room;
                n = n < count ? n : count;
                put_entries(w, bytes, n);
            }
        } else {
            status = separate(w);
            status = status == REC_OK ? reserve(w, LR_NUMBER_ROOM) : status;
            w->used += status == REC_OK ? lr_uint_write(w->buffer + w->used, *bytes) : 0;
        }
        bytes += n;
        count -= n;
    }
    return status;
}

/* ------------------------------------------------------------------------------------------------------ events -- */

static int32_t begin(lr_json_writer *w, uint8_t in, char bracket)
{
    int32_t status = separate(w);
    if (w->depth == LEVELS - 1) {
        return rec_fail(w->job, REC_E_LIMIT, REC_UNKNOWN, "lists and maps are nested deeper than %d levels",
                        LEVELS - 1);
    }
    w->depth++;
    w->levels[w->depth].in = in;
    w->levels[w->depth].filled = false;
    return status == REC_OK && bracket ? put(w, &bracket, 1) : status;
}

static int32_t on_scalar(void *self, uint64_t at, const rec_scalar *scalar)
{
    lr_json_writer *w = self;
    int32_t status = separate(w);
    (void)at;
    return status == REC_OK ? put_scalar(w, scalar) : status;
}

/* Each of `count` elements of a C type, which may lie anywhere. */
#define PUT_ALL(type, write) PUT_EACH(type, write(w->buffer + w->used, value))
#define PUT_EACH(type, written)                                                 \
    for (uint64_t i = 0; i < count && status == REC_OK; i++) {                  \
        type value;                                                             \
        memcpy(&value, (const uint8_t *)data + i * sizeof value, sizeof value); \
        status = separate(w);                                                   \
        status = status == REC_OK ? reserve(w, LR_NUMBER_ROOM) : status;        \
        w->used += status == REC_OK ? written : 0;                              \
    }                                                                           \
    break

static uint32_t write_bool(char *text, uint32_t value)
{
    memcpy(text, value ? "true" : "false", value ? 4 : 5);
    return value ? 4 : 5;
}

static int32_t on_numbers(void *self, uint64_t at, rec_dtype dtype, const void *data, uint64_t count)
{
    lr_json_writer *w = self;
    int32_t status = REC_OK;
    (void)at;
    switch (dtype) {
    case REC_DTYPE_F64:
        PUT_EACH(double, put_f64(w, value));
    case REC_DTYPE_F32:
    case REC_DTYPE_FLEX32:
        PUT_EACH(float, put_f32(w, value));
    case REC_DTYPE_F16: /* as Burn (serde of the crate `half`): the bit pattern, an integer */
    case REC_DTYPE_BF16:
    case REC_DTYPE_U16:
        PUT_ALL(uint16_t, lr_uint_write);
    case REC_DTYPE_I64:
        PUT_ALL(int64_t, lr_int_write);
    case REC_DTYPE_I32:
        PUT_ALL(int32_t, lr_int_write);
    case REC_DTYPE_I16:
        PUT_ALL(int16_t, lr_int_write);
    case REC_DTYPE_I8:
        PUT_ALL(int8_t, lr_int_write);
    case REC_DTYPE_U64:
        PUT_ALL(uint64_t, lr_uint_write);
    case REC_DTYPE_U32:
        PUT_ALL(uint32_t, lr_uint_write);
    case REC_DTYPE_U8:
        status = put_bytes(w, data, count);
        break;
    case REC_DTYPE_BOOL:
    case REC_DTYPE_BOOL8:
        PUT_ALL(uint8_t, write_bool);
    case REC_DTYPE_BOOL32:
        PUT_ALL(uint32_t, write_bool);
    default:
        return rec_fail(w->job, REC_E_UNSUPPORTED, REC_UNKNOWN, "JSON has no numbers of type %s",
                        rec_dtype_name(dtype));
    }
    return status;
}

static int32_t on_list_begin(void *self, uint64_t at, int32_t form, uint64_t count)
{
    (void)at, (void)form, (void)count;
    return begin(self, IN_LIST, '[');
}

static int32_t on_map_begin(void *self, uint64_t at, int32_t form, uint64_t count)
{
    (void)at, (void)form, (void)count;
    return begin(self, IN_MAP, '{');
}

/* Keys are strings in JSON: numbers and bools get quotes, as from serde_json. */
static int32_t on_key(void *self, uint64_t at, const rec_scalar *key)
{
    lr_json_writer *w = self;
    bool keyed = w->levels[w->depth].filled; /* this is not the first */
    int32_t status = separate(w);
    bool quote = key->kind != REC_KIND_STRING;
    (void)at;
    if (w->levels[w->depth].in == IN_MAP && keyed && w->levels[w->depth].texts == quote) {
        return rec_fail(w->job, REC_E_UNSUPPORTED, REC_UNKNOWN,
                        "a map with texts and numbers as keys, which JSON cannot distinguish");
    }
    w->levels[w->depth].texts = !quote;
    w->tensor = !quote && key->v.length == 5 && memcmp(key->text, "bytes", 5) == 0;
    status = status == REC_OK && quote ? put(w, "\"", 1) : status;
    status = status == REC_OK ? put_scalar(w, key) : status;
    status = status == REC_OK && quote ? put(w, "\"", 1) : status;
    w->after_key = true;
    return status == REC_OK ? put(w, ": ", w->pretty ? 2 : 1) : status;
}

static int32_t on_variant_begin(void *self, uint64_t at, uint64_t index, const rec_scalar *name, int32_t payload)
{
    lr_json_writer *w = self;
    int32_t status;
    (void)index;
    if (payload) {
        status = begin(w, IN_MAP, '{');
        return status == REC_OK ? on_key(w, at, name) : status;
    }
    status = begin(w, IN_NAME, '\0');
    return status == REC_OK ? put_scalar(w, name) : status;
}

static int32_t on_end(void *self, uint64_t at)
{
    lr_json_writer *w = self;
    uint8_t in = w->levels[w->depth].in;
    bool filled = w->levels[w->depth].filled;
    int32_t status = REC_OK;
    (void)at;
    w->depth--;
    if (in == IN_NAME) {
        return REC_OK;
    }
    if (filled) {
        status = put_line(w, w->depth);
    }
    return status == REC_OK ? put(w, in == IN_LIST ? "]" : "}", 1) : status;
}

static int32_t on_option(void *self, uint64_t at, int32_t present)
{
    static const rec_scalar nil = {.kind = REC_KIND_NIL};
    return present ? REC_OK : on_scalar(self, at, &nil);
}

static int32_t put_blob(lr_json_writer *w, const rec_blob *blob)
{
    int32_t status = REC_OK;
    for (uint64_t done = 0; done < blob->length && status == REC_OK;) {
        uint64_t n = blob->length - done < TILE ? blob->length - done : TILE;
        status = rec_blob_read(w->job, blob, done, w->tile, n);
        status = status == REC_OK ? put_bytes(w, w->tile, n) : status;
        done += n;
    }
    return status;
}

static int32_t on_bytes(void *self, uint64_t at, const rec_blob *blob)
{
    lr_json_writer *w = self;
    int32_t status = begin(w, IN_LIST, '[');
    if (!w->tensor && !w->plain++) {
        (void)rec_job_path(w->job, w->first, sizeof w->first);
    }
    status = status == REC_OK ? put_blob(w, blob) : status;
    return status == REC_OK ? on_end(w, at) : status;
}

const rec_visitor lr_json_visitor = {
    .size = sizeof lr_json_visitor,
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

lr_json_writer *lr_json_writer_new(rec_job *job, rec_sink *sink, bool pretty)
{
    lr_json_writer *w = rec_job_alloc(job, sizeof *w);
    if (!w) {
        (void)rec_fail(job, REC_E_MEMORY, REC_UNKNOWN, "out of memory for the writer"); /* the first failure counts */
        return NULL;
    }
    w->job = job;
    w->sink = sink;
    w->pretty = pretty;
    w->after_key = false;
    w->depth = w->used = w->entry_room = w->entry_depth = 0;
    w->nulls = w->plain = 0;
    w->tensor = false;
    w->levels[0].in = IN_ROOT;
    w->levels[0].filled = false;
    return w;
}

void lr_json_writer_free(lr_json_writer *w)
{
    if (w) {
        rec_job_free(w->job, w);
    }
}

int32_t lr_json_write(rec_job *job, rec_sink *sink, bool pretty)
{
    lr_json_writer *w = lr_json_writer_new(job, sink, pretty);
    if (!w) {
        return REC_E_MEMORY;
    }
    int32_t status = rec_job_walk(job, &lr_json_visitor, w);
    status = status == REC_OK ? lr_json_writer_flush(w) : status;
    if (status == REC_OK && w->plain) {
        rec_job_note(w->job, REC_NOTE_DROPPED, w->first,
                     "%" PRIu64 " value%s of bytes%s: JSON has none, so that %s written as lists of numbers", w->plain,
                     w->plain == 1 ? "" : "s", w->plain == 1 ? "" : ", the first here",
                     w->plain == 1 ? "it was" : "they were");
    }
    if (status == REC_OK && w->nulls) {
        rec_job_note(job, REC_NOTE_DROPPED, w->null_path,
                     "JSON has no infinities and no NaN: %" PRIu64 " %s written as null", w->nulls,
                     w->nulls == 1 ? "number was" : "numbers were");
    }
    lr_json_writer_free(w);
    return status;
}
