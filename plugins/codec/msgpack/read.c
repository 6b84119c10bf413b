/* SPDX-License-Identifier: MIT OR Apache-2.0
 * MessagePack reader: msgpack-c's parser template with callbacks that turn its objects into visitor events.
 *
 * The template hands over values one by one and knows neither offsets nor the ends of containers. Both are kept here:
 * `at` is moved by the encoded length of each object, which its first byte tells, and a frame for each open list or
 * map counts what it still has to get. Nothing is allocated for what a file announces: lists and maps are streamed.
 *
 * Lists of many numbers are read past the template: a callback stops it, numbers.c reads all of them but the last, and
 * the template goes on from there with so many less to come. */
#include "plugins/codec/msgpack/msgpack.h"

#include "plugins/codec/msgpack/window.h"
#include "plugins/codec/trailing.h"
#include "common/text.h"
#include "common/utf8.h"

const rec_option lr_msgpack_trailing = LR_TRAILING;

static int stop(reader *r, int32_t status)
{
    r->status = status;
    return -1;
}

/* --------------------------------------------------------------------------------------------- runs of numbers -- */

static int32_t progress(reader *r)
{
    if (r->at - r->reported < REPORT) {
        return REC_OK;
    }
    r->reported = r->at;
    return rec_job_progress(r->job, r->at, r->whole);
}

static int32_t flush(reader *r)
{
    rec_dtype dtype = r->run_dtype;
    if (dtype == REC_DTYPE_NONE) {
        return REC_OK;
    }
    r->run_dtype = REC_DTYPE_NONE;
    int32_t status = r->visitor->numbers(r->self, r->run_at, dtype, &r->run, r->run_count);
    return status != REC_OK ? status : progress(r);
}

/* Makes room in a run of `dtype`, so that its next element can be stored. */
static int32_t run_of(reader *r, rec_dtype dtype)
{
    if (r->run_dtype == dtype && r->run_count < (dtype == REC_DTYPE_F32 ? FLOATS : RUN)) {
        return REC_OK;
    }
    int32_t status = flush(r);
    r->run_dtype = dtype;
    r->run_count = 0;
    r->run_at = r->at;
    return status;
}

/* Whether the list has so many values left that reading past the template pays. The one that is here will be read
 * again. */
static bool stop_for_many(reader *r)
{
    r->past = r->top->in == IN_LIST && r->top->left > MANY && r->size - r->at > MANY * LR_MSGPACK_F64;
    return r->past;
}

/* Makes room in a run of `dtype`. @return as a callback: the template may have to stop. */
static int room_for(reader *r, rec_dtype dtype)
{
    int32_t status = stop_for_many(r) ? REC_OK : run_of(r, dtype);
    return r->past ? -1 : status == REC_OK ? 0 : stop(r, status);
}

/* Reads the numbers of the list, of any type, except for its last value. @return how many. */
static uint64_t read_past(reader *r)
{
    uint64_t before = r->top->left, most, got;
    do {
        const uint8_t *from = r->data + r->at, *next = from;
        rec_dtype dtype = *from == 0xca ? REC_DTYPE_F32 : *from == 0xcb ? REC_DTYPE_F64 : REC_DTYPE_I64;
        uint64_t bytes = r->size - r->at;
        if (dtype == REC_DTYPE_I64 && r->run_dtype == REC_DTYPE_U64) {
            break; /* may go on as that */
        }
        r->status = run_of(r, dtype);
        if (r->status != REC_OK) {
            break;
        }
        most = (dtype == REC_DTYPE_F32 ? FLOATS : RUN) - r->run_count;
        most = most < r->top->left - 1 ? most : r->top->left - 1;
        if (dtype == REC_DTYPE_F32) {
            most = most < bytes / LR_MSGPACK_F32 ? most : bytes / LR_MSGPACK_F32;
            got = r->floats(from, most, r->run.f32 + r->run_count);
            next = from + got * LR_MSGPACK_F32;
        } else if (dtype == REC_DTYPE_F64) {
            most = most < bytes / LR_MSGPACK_F64 ? most : bytes / LR_MSGPACK_F64;
            got = lr_msgpack_doubles(from, most, r->run.f64 + r->run_count);
            next = from + got * LR_MSGPACK_F64;
        } else {
            got = lr_msgpack_integers(&next, r->data + r->size, r->run.i64 + r->run_count, most);
        }
        r->run_count += (uint32_t)got;
        r->at += (uint64_t)(next - from);
        r->top->left -= got;
        if (r->run_count == 0) {
            r->run_dtype = REC_DTYPE_NONE;
        }
    } while (got > 0 && r->top->left > 1 && r->at < r->size);
    return before - r->top->left;
}

/* --------------------------------------------------------------------------------------------------- structure -- */

static int bad_key(reader *r, const char *what)
{
    return stop(r, rec_fail_found(r->job, REC_E_FORMAT, r->at, "a string, an integer or a bool as the key of a map",
                                  "%s", what));
}

/* Ends every list and map that is complete. */
static int close_full(reader *r)
{
    int32_t status = flush(r);
    for (; status == REC_OK && r->top->left == 0 && r->top != r->frames; r->top--) {
        status = r->visitor->end(r->self, r->at);
    }
    return status == REC_OK ? 0 : stop(r, status);
}

/* One value of `length` encoded bytes is done. */
static inline int done(reader *r, uint64_t length)
{
    r->at += length;
    return --r->top->left == 0 ? close_full(r) : 0;
}

static int emit(reader *r, const rec_scalar *scalar, uint64_t length)
{
    int32_t status = flush(r);
    if (status == REC_OK) {
        status = at_key(r) ? r->visitor->key(r->self, r->at, scalar) : r->visitor->scalar(r->self, r->at, scalar);
    }
    return status == REC_OK ? done(r, length) : stop(r, status);
}

static int open_container(reader *r, int in, uint64_t count)
{
    uint8_t first = r->data[r->at]; /* 0xdc to 0xdf with a count of 16 or 32 bits after it */
    uint64_t each = in == IN_MAP ? 2 : 1, header = first < 0xdc ? 1 : first % 2 ? 5 : 3;
    if (at_key(r)) {
        return bad_key(r, in == IN_MAP ? "a map" : "a list");
    }
    if (r->top - r->frames >= (ptrdiff_t)r->limit) {
        int32_t status = rec_fail(r->job, REC_E_LIMIT, r->at, "lists and maps are nested deeper than the limit of %u",
                                  (unsigned)r->limit);
        rec_fail_hint(r->job, "If the file can be trusted, raise `depth` (rec_limits, or the INI file).");
        return stop(r, status);
    }
    uint64_t left = r->whole == REC_UNKNOWN ? REC_UNKNOWN : r->whole - r->at - header;
    uint64_t told =
        r->whole == REC_UNKNOWN && count > RUN ? REC_UNKNOWN : count; /* the announced count cannot be checked */
    int32_t status = rec_job_check_count(r->job, r->at, count, each, left);
    if (status != REC_OK) {
        return stop(r, status);
    }
    /* Each value takes a byte at least. Without this, nested headers could each promise the same rest of the file. */
    uint64_t owed = r->top->above + r->top->left - 1;
    if (count * each + owed > left) {
        status = rec_fail(r->job, REC_E_FORMAT, r->at,
                          "%" PRIu64 " values are announced by this %s and what is around it, but only %" PRIu64
                          " bytes are left",
                          count * each + owed, in == IN_MAP ? "map" : "list", left);
        rec_fail_hint(r->job, "The file is truncated or damaged.");
        return stop(r, status);
    }
    status = flush(r);
    if (status == REC_OK) {
        status = progress(r);
    }
    if (status == REC_OK && in == IN_MAP) {
        status = r->visitor->map_begin(r->self, r->at, REC_FORM_UNKNOWN, told);
    } else if (status == REC_OK) {
        status = r->visitor->list_begin(r->self, r->at, REC_FORM_UNKNOWN, told);
    }
    if (status != REC_OK) {
        return stop(r, status);
    }
    r->at += header;
    r->top->left--;
    *++r->top = (frame){.left = count * each, .above = owed, .in = in};
    return count == 0 ? close_full(r) : 0;
}

/* ----------------------------------------------------------------------------------------------------- scalars -- */

static int integer_slow(reader *r, int64_t value, uint64_t length)
{
    if (r->top->in == IN_LIST) {
        if (r->run_dtype != REC_DTYPE_U64 && stop_for_many(r)) {
            return -1;
        }
        /* A run that has met a number above INT64_MAX goes on as U64 until there is a negative one. */
        int32_t status = run_of(r, r->run_dtype == REC_DTYPE_U64 && value >= 0 ? REC_DTYPE_U64 : REC_DTYPE_I64);
        if (status != REC_OK) {
            return stop(r, status);
        }
        r->run.i64[r->run_count++] = value;
        return done(r, length);
    }
    rec_scalar scalar = {.kind = REC_KIND_INT, .v.i = value};
    if (value >= 0) {
        scalar = (rec_scalar){.kind = REC_KIND_UINT, .v.u = (uint64_t)value};
    }
    return emit(r, &scalar, length);
}

static inline int integer(reader *r, int64_t value, uint64_t length)
{
    if (r->run_dtype != REC_DTYPE_I64 || r->run_count == RUN) {
        return integer_slow(r, value, length);
    }
    r->run.i64[r->run_count++] = value; /* a run is open: so this is a list */
    return done(r, length);
}

/* An unsigned integer above INT64_MAX. */
static int large(reader *r, uint64_t value, uint64_t length)
{
    if (r->top->in != IN_LIST) {
        rec_scalar scalar = {.kind = REC_KIND_UINT, .v.u = value};
        return emit(r, &scalar, length);
    }
    if (r->run_dtype == REC_DTYPE_I64) {
        bool negative = false;
        for (uint32_t i = 0; i < r->run_count; i++) {
            negative |= r->run.i64[i] < 0;
        }
        if (!negative) {
            r->run_dtype = REC_DTYPE_U64; /* the same bits */
        }
    }
    int32_t status = run_of(r, REC_DTYPE_U64);
    if (status != REC_OK) {
        return stop(r, status);
    }
    memcpy(&r->run.i64[r->run_count++], &value, sizeof value);
    return done(r, length);
}

static int floating(reader *r, double value, uint16_t bits)
{
    if (at_key(r)) {
        return bad_key(r, "a float");
    }
    rec_scalar scalar = {.kind = REC_KIND_FLOAT, .bits = bits, .v.f = value};
    return emit(r, &scalar, 1 + bits / 8);
}

static int boolean(reader *r, bool value)
{
    if (r->top->in != IN_LIST) {
        rec_scalar scalar = {.kind = REC_KIND_BOOL, .v.i = value};
        return emit(r, &scalar, 1);
    }
    int32_t status = run_of(r, REC_DTYPE_BOOL);
    if (status != REC_OK) {
        return stop(r, status);
    }
    r->run.bools[r->run_count++] = value;
    return done(r, 1);
}

static int string(reader *r, uint64_t length)
{
    uint8_t first = r->data[r->at];
    uint64_t header = first < 0xc0 ? 1 : first == 0xd9 ? 2 : first == 0xda ? 3 : 5;
    const uint8_t *text = r->data + r->at + header;
    uint64_t good = lr_utf8_until(text, length);
    if (good < length) {
        return stop(r, rec_fail_found(r->job, REC_E_FORMAT, r->at + header + good, "a string in UTF-8",
                                      "0x%02x at its byte %" PRIu64, (unsigned)text[good], good));
    }
    rec_scalar scalar = {.kind = REC_KIND_STRING, .v.length = length, .text = (const char *)text};
    return emit(r, &scalar, header + length);
}

/* @param header,length of the byte string. @param there whether its bytes are at hand. */
static int tell_bytes(reader *r, uint64_t header, uint64_t length, bool there)
{
    rec_blob blob = {.size = sizeof blob,
                     .kind = r->view ? REC_BLOB_VIEW
                             : there ? REC_BLOB_TEMPORARY
                                     : REC_BLOB_RANGE,
                     .length = length,
                     .data = r->view ? r->view + r->at + header
                             : there ? r->data + r->at + header
                                     : NULL,
                     .source = r->source,
                     .offset = r->at + header};
    int32_t status = flush(r);
    if (status == REC_OK) {
        status = progress(r);
    }
    if (status == REC_OK) {
        status = r->visitor->bytes(r->self, r->at, &blob);
    }
    return status == REC_OK ? done(r, header + length) : stop(r, status);
}

static int bytes(reader *r, uint64_t length)
{
    if (at_key(r)) {
        return bad_key(r, "a byte string");
    }
    uint8_t first = r->data[r->at];
    return tell_bytes(r, first == 0xc4 ? 2 : first == 0xc5 ? 3 : 5, length, true);
}

static int32_t extension(reader *r)
{
    return rec_fail_found(r->job, REC_E_UNSUPPORTED, r->at, "a value that a Burn record can hold",
                          "a MessagePack extension (0x%02x)", (unsigned)r->data[r->at]);
}

/* ---------------------------------------------------------------------------------------- msgpack-c's template -- */

/* The template keeps an object for each value and level; there is nothing to keep here. */
typedef char nothing;

static inline nothing on_root(reader *r)
{
    (void)r;
    return 0;
}

/* A callback for objects without more than a value. */
#define ON(name, type, call)                                            \
    static inline int on_##name(reader *r, type value, nothing *object) \
    {                                                                   \
        *object = 0;                                                    \
        return call;                                                    \
    }

ON(uint8, uint8_t, integer(r, value, r->data[r->at] < 0x80 ? 1 : 2))
ON(uint16, uint16_t, integer(r, value, 3))
ON(uint32, uint32_t, integer(r, value, 5))
ON(uint64, uint64_t, value > INT64_MAX ? large(r, value, 9) : integer(r, (int64_t)value, 9))
ON(int8, int8_t, integer(r, value, r->data[r->at] >= 0xe0 ? 1 : 2))
ON(int16, int16_t, integer(r, value, 3))
ON(int32, int32_t, integer(r, value, 5))
ON(int64, int64_t, integer(r, value, 9))

static inline int on_float(reader *r, float value, nothing *object)
{
    *object = 0;
    if (r->top->in != IN_LIST) {
        return floating(r, value, 32);
    }
    if ((r->run_dtype != REC_DTYPE_F32 || r->run_count == FLOATS) && room_for(r, REC_DTYPE_F32) != 0) {
        return -1;
    }
    r->run.f32[r->run_count++] = value;
    return done(r, 5);
}

static inline int on_double(reader *r, double value, nothing *object)
{
    *object = 0;
    if (r->top->in != IN_LIST) {
        return floating(r, value, 64);
    }
    if ((r->run_dtype != REC_DTYPE_F64 || r->run_count == RUN) && room_for(r, REC_DTYPE_F64) != 0) {
        return -1;
    }
    r->run.f64[r->run_count++] = value;
    return done(r, 9);
}

static inline int on_nil(reader *r, nothing *object)
{
    *object = 0;
    if (r->jump_header) {
        return tell_bytes(r, r->jump_header, r->jump_length, false);
    }
    if (at_key(r)) {
        return bad_key(r, "nil");
    }
    rec_scalar scalar = {.kind = REC_KIND_NIL, .form = REC_FORM_UNKNOWN};
    return emit(r, &scalar, 1);
}

static inline int on_true(reader *r, nothing *object)
{
    *object = 0;
    return boolean(r, true);
}

static inline int on_false(reader *r, nothing *object)
{
    *object = 0;
    return boolean(r, false);
}

ON(array, size_t, open_container(r, IN_LIST, value))
ON(map, size_t, open_container(r, IN_MAP, value))

static inline int on_array_item(reader *r, nothing *list, nothing item)
{
    (void)r, (void)list, (void)item;
    return 0;
}

static inline int on_map_item(reader *r, nothing *map, nothing key, nothing value)
{
    (void)r, (void)map, (void)key, (void)value;
    return 0;
}

static inline int on_str(reader *r, const char *data, const char *text, unsigned length, nothing *object)
{
    (void)data, (void)text; /* `text` is stale or NULL for an empty string: the offset tells better */
    *object = 0;
    return string(r, length);
}

static inline int on_bin(reader *r, const char *data, const char *start, unsigned length, nothing *object)
{
    (void)data, (void)start;
    *object = 0;
    return bytes(r, length);
}

static inline int on_ext(reader *r, const char *data, const char *start, unsigned length, nothing *object)
{
    (void)data, (void)start, (void)length;
    *object = 0;
    return stop(r, extension(r));
}

#define msgpack_unpack_struct(name) struct template##name
#define msgpack_unpack_func(result, name) static inline result template##name
#define msgpack_unpack_callback(name) on##name
#define msgpack_unpack_object nothing
#define msgpack_unpack_user reader

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wunused-function"
/* clang-format off */
#include <msgpack/unpack.h>
#include <msgpack/unpack_define.h>
#include <msgpack/unpack_template.h>
/* clang-format on */
#pragma GCC diagnostic pop

/* -------------------------------------------------------------------------------------------------- the reader -- */

/* An object that the end of the data cuts. @param left bytes there are of it, one at least. @param size (out) how many
 * it has, as far as they tell. @return what it is. */
static const char *cut_object(const uint8_t *data, uint64_t left, uint64_t *size)
{
    uint8_t first = data[0];
    bool binary = first >= 0xc4 && first <= 0xc6;
    if (first >= 0xa0 && first <= 0xbf) {
        *size = 1 + (uint64_t)(first & 0x1f);
        return "string";
    }
    if (binary || (first >= 0xd9 && first <= 0xdb)) {
        unsigned width = 1u << (first - (binary ? 0xc4 : 0xd9));
        *size = 1 + (uint64_t)width;
        *size += left >= *size ? lr_msgpack_big(data + 1, width) : 0;
        return binary ? "byte string" : "string";
    }
    if (first >= 0xdc) {
        *size = first % 2 ? 5 : 3;
        return first < 0xde ? "list" : "map";
    }
    /* 0xca, 0xcb: floats; 0xcc to 0xd3: integers of 1, 2, 4 and 8 bytes */
    *size = 1 + (UINT64_C(1) << (first < 0xcc ? first - 0xc8 : first & 3));
    return "number";
}

static int32_t cut_short(reader *r)
{
    uint64_t left = r->size - r->at;
    uint64_t owed = r->top->above + r->top->left; /* a byte each at least */
    const char *what = r->top->in == IN_MAP ? "map" : "list";
    if (left > 0) {
        uint8_t first = r->data[r->at];
        if ((first >= 0xc7 && first <= 0xc9) || (first >= 0xd4 && first <= 0xd8)) {
            return extension(r);
        }
        uint64_t size;
        what = cut_object(r->data + r->at, left, &size);
        owed = owed - 1 + (size - left);
    }
    char digits[32];
    int32_t status = rec_fail(r->job, REC_E_FORMAT, r->at, "the data end inside a %s: at least %s more byte%s needed",
                              what, lr_group_digits(owed, digits, sizeof digits), owed == 1 ? " is" : "s are");
    rec_fail_hint(r->job, "The file is truncated: copy it again from its source.");
    return status;
}

static int32_t not_a_map(reader *r)
{
    if (r->size == 0) {
        return rec_fail_found(r->job, REC_E_FORMAT, 0, "a MessagePack map", "an empty file");
    }
    bool gzip = r->size >= 2 && r->data[0] == 0x1f && r->data[1] == 0x8b;
    return rec_fail_found(r->job, REC_E_FORMAT, 0, "a MessagePack map", "0x%02x%s", (unsigned)r->data[0],
                          gzip ? " 0x8b, which is how gzip begins" : "");
}

/* Steps over it, and lets the template take it for nil. @return as template_execute(). */
static int jump(struct template_context *context, size_t *end)
{
    reader *r = &context->user;
    int result;
    r->status = lr_msgpack_pass(r);
    if (r->status != REC_OK || r->jump_header == 0) {
        return r->status == REC_OK ? 0 : -1;
    }
    *end = 0;
    context->cs = MSGPACK_CS_HEADER;
    context->trail = 0;
    result = template_execute(context, "\xc0", 1, end); /* nil */
    r->jump_header = 0;
    lr_msgpack_passed(r);
    *end = (size_t)r->at;
    return result;
}

/* What the template does with what there is. Of a window more is read until there is a whole value. */
static int execute(struct template_context *context, size_t *end)
{
    reader *r = &context->user;
    int result = template_execute(context, (const char *)r->data, (size_t)r->size, end);
    while (r->past || (result == 0 && lr_msgpack_has_more(r) && r->status == REC_OK)) {
        if (r->past) {
            r->past = false;
            context->stack[context->top - 1].count -= (size_t)read_past(r);
        } else if (lr_msgpack_may_pass(r)) {
            result = jump(context, end);
            if (result != 0 || !lr_msgpack_has_more(r)) {
                break;
            }
        } else {
            r->status = lr_msgpack_more(r);
        }
        if (r->status != REC_OK) {
            break;
        }
        context->cs = MSGPACK_CS_HEADER;
        context->trail = 0;
        *end = (size_t)r->at;
        result = template_execute(context, (const char *)r->data, (size_t)r->size, end);
    }
    return result;
}

static int32_t read_value(struct template_context *context)
{
    reader *r = &context->user;
    size_t end = 0;
    template_init(context);
    int result = execute(context, &end);
    if (r->status != REC_OK) {
        return r->status;
    }
    if (result < 0) {
        return rec_fail_found(r->job, REC_E_FORMAT, r->at, "a MessagePack value", "0x%02x, which none begins with",
                              (unsigned)r->data[r->at]);
    }
    if (result == 0) {
        return cut_short(r);
    }
    if (end != r->at) {
        return rec_fail(r->job, REC_E_PLUGIN, r->at,
                        "msgpack-c ended at byte %zu: it counts differently from this reader", end);
    }
    r->status = lr_msgpack_rest(r);
    if (r->status != REC_OK) {
        return r->status;
    }
    /* An empty map is no record, whatever follows it: the visitor says so. */
    result = r->at == 1 ? REC_OK
                        : lr_trailing(r->job, r->at, r->whole,
                                      "Something was appended to it, or it was written over a longer file.");
    if (result != REC_OK) {
        return result;
    }
    return rec_job_progress(r->job, r->whole, r->whole);
}

int32_t lr_msgpack_read(rec_job *job, rec_source *source, const rec_visitor *visitor, void *self)
{
    const void *data = NULL;
    uint64_t size = rec_source_size(source);
    /* Addresses of 32 bits are too few for a window into a file of any size. */
    bool wide = sizeof(size_t) >= sizeof(uint64_t), streams = rec_job_skips_data(job) && wide;
    bool steps = wide && size != REC_UNKNOWN && size >= STEPS_FROM;
    int32_t status = REC_OK;
    if ((streams && size != REC_UNKNOWN) || steps) {
        status = rec_source_at_hand(job, source, 0, size, &data);
        streams = streams && !data;
        steps = steps && data;
    }
    if (status == REC_OK && !streams && !steps) {
        status = rec_source_view(job, source, &data, &size);
    }
    if (status != REC_OK) {
        return status;
    }
    struct template_context *context = rec_job_alloc(job, sizeof *context);
    if (!context) {
        return rec_fail(job, REC_E_MEMORY, REC_UNKNOWN, "out of memory for the parser"); /* the first failure counts */
    }
    reader *r = &context->user;
    uint32_t limit = rec_job_depth_limit(job);
    r->job = job;
    r->source = source;
    r->visitor = visitor;
    r->self = self;
    r->data = r->view = data;
    r->size = r->whole = size;
    r->at = 0;
    r->window = NULL;
    r->room = r->jump_header = r->row = 0;
    r->reported = 0;
    r->status = REC_OK;
    r->floats = lr_msgpack_floats_choice(0);
    r->past = false;
    r->limit = limit < MSGPACK_EMBED_STACK_SIZE ? limit : MSGPACK_EMBED_STACK_SIZE;
    r->top = r->frames;
    r->frames[0] = (frame){.left = 1, .above = 0, .in = IN_ROOT};
    r->run_dtype = REC_DTYPE_NONE;
    r->run_count = 0;
    if (streams || steps) {
        status = lr_msgpack_window(r);
    }
    if (status == REC_OK) {
        status = r->size > 0 && lr_msgpack_is_map(r->data[0]) ? read_value(context) : not_a_map(r);
    }
    rec_job_free(job, r->window);
    rec_job_free(job, context);
    return status;
}
