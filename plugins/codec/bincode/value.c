/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Values in bincode: walks a layout over the bytes.
 *
 * Rules of bincode 2, `config::standard()`: an unsigned integer below 251 is one byte; 251, 252, 253, 254 announce a
 * u16, u32, u64, u128, 255 is an error, a width beyond the target's is an error, a form longer than needed is not;
 * signed integers are zigzag; u8, i8 and bool are a raw byte; floats are raw; lengths are u64, indices of variants u32.
 */
#include "plugins/codec/bincode/bincode_private.h"

#include <inttypes.h>

#include "common/utf8.h"
#include "plugins/codec/little.h"

/* Levels of C recursion; types are shallower. */
enum { DEPTH_MOST = 192, RUN = 1024 };

#define REPORT (UINT64_C(4) << 20)

static uint64_t left(const lr_bincode_reader *r)
{
    return r->size - r->at;
}

/* A failure, or in a trial just the status. */
#define FAIL(r, at, expected, ...) \
    ((r)->quiet ? REC_E_FORMAT : rec_fail_found((r)->job, REC_E_FORMAT, (at), (expected), __VA_ARGS__))

static int32_t need(lr_bincode_reader *r, uint64_t count, const char *what)
{
    if (count <= left(r)) {
        return REC_OK;
    }
    if (left(r) == 0) {
        return FAIL(r, r->at, what, "the end of the file");
    }
    return FAIL(r, r->at, what, "only %" PRIu64 " bytes before the end of the file", left(r));
}

/* ----------------------------------------------------------------------------------------------------- numbers -- */

static int32_t read_uint(lr_bincode_reader *r, uint32_t bits, uint64_t *value)
{
    static const unsigned widths[] = {2, 4, 8};
    uint64_t begin = r->at;
    unsigned width;
    uint8_t first;
    int32_t status = need(r, 1, "an integer");
    if (status != REC_OK) {
        return status;
    }
    first = r->data[r->at];
    if (first < 251) {
        *value = first;
        r->at++;
        return REC_OK;
    }
    width = first < 254 ? widths[first - 251] : 0;
    if (width == 0 || width * 8 > bits) {
        return bits == 16   ? FAIL(r, begin, "a 16-bit integer", "0x%02x, which begins a wider one", first)
               : bits == 32 ? FAIL(r, begin, "a 32-bit integer", "0x%02x, which begins a wider one", first)
                            : FAIL(r, begin, "a 64-bit integer", "0x%02x, which begins none", first);
    }
    r->at++;
    status = need(r, width, "an integer");
    if (status == REC_OK) {
        *value = lr_little(r->data + r->at, width);
        r->at += width;
    }
    return status;
}

/* One number of a layout as a scalar. */
static int32_t read_number(lr_bincode_reader *r, const rec_layout *layout, rec_scalar *out)
{
    uint32_t bits = rec_layout_bits(layout);
    uint64_t number = 0;
    int32_t status;
    *out = (rec_scalar){.bits = (uint16_t)bits};
    switch (rec_layout_kind(layout)) {
    case REC_LAYOUT_BOOL:
        status = need(r, 1, "a bool");
        if (status != REC_OK) {
            return status;
        }
        if (r->data[r->at] > 1) {
            return FAIL(r, r->at, "a bool (0x00 or 0x01)", "0x%02x", r->data[r->at]);
        }
        *out = (rec_scalar){.kind = REC_KIND_BOOL, .v = {.i = r->data[r->at++]}};
        return REC_OK;
    case REC_LAYOUT_FLOAT: {
        status = need(r, bits / 8, "a float");
        if (status != REC_OK) {
            return status;
        }
        number = lr_little(r->data + r->at, bits / 8);
        r->at += bits / 8;
        out->kind = REC_KIND_FLOAT;
        if (bits == 32) {
            uint32_t narrow = (uint32_t)number;
            float value;
            memcpy(&value, &narrow, sizeof value);
            out->v.f = (double)value;
        } else {
            memcpy(&out->v.f, &number, sizeof number);
        }
        return REC_OK;
    }
    default:
        break;
    }
    if (bits == 8) {
        status = need(r, 1, "a byte");
        if (status != REC_OK) {
            return status;
        }
        number = r->data[r->at++];
    } else {
        status = read_uint(r, bits, &number);
        if (status != REC_OK) {
            return status;
        }
    }
    if (rec_layout_kind(layout) == REC_LAYOUT_UINT) {
        out->kind = REC_KIND_UINT;
        out->v.u = number;
    } else {
        out->kind = REC_KIND_INT;
        out->v.i = bits == 8 ? (int64_t)(int8_t)number : (int64_t)((number >> 1) ^ (~(number & 1) + 1));
    }
    return REC_OK;
}

static bool is_number(const rec_layout *layout)
{
    int32_t kind = rec_layout_kind(layout);
    return kind == REC_LAYOUT_BOOL || kind == REC_LAYOUT_INT || kind == REC_LAYOUT_UINT || kind == REC_LAYOUT_FLOAT;
}

/* The element type that a run of these numbers is handed on in. */
static rec_dtype run_dtype(const rec_layout *layout)
{
    switch (rec_layout_kind(layout)) {
    case REC_LAYOUT_BOOL:
        return REC_DTYPE_BOOL;
    case REC_LAYOUT_FLOAT:
        return rec_layout_bits(layout) == 32 ? REC_DTYPE_F32 : REC_DTYPE_F64;
    case REC_LAYOUT_INT:
        return REC_DTYPE_I64;
    default:
        return REC_DTYPE_U64;
    }
}

static int32_t progress(lr_bincode_reader *r)
{
    if (r->at - r->reported < REPORT || r->quiet) {
        return REC_OK;
    }
    r->reported = r->at;
    return rec_job_progress(r->job, r->at, r->size);
}

static int32_t read_run(lr_bincode_reader *r, const rec_layout *element, uint64_t count)
{
    rec_dtype dtype = run_dtype(element);
    int32_t status = REC_OK;
    while (count && status == REC_OK) {
        uint64_t numbers[RUN];
        uint8_t *bytes = (uint8_t *)numbers;
        uint64_t begin = r->at;
        uint64_t n = count < RUN ? count : RUN;
        for (uint64_t i = 0; i < n && status == REC_OK; i++) {
            rec_scalar number;
            status = read_number(r, element, &number);
            if (dtype == REC_DTYPE_BOOL) {
                bytes[i] = (uint8_t)number.v.i;
            } else if (dtype == REC_DTYPE_F32) {
                float narrow = (float)number.v.f;
                memcpy(bytes + i * 4, &narrow, 4);
            } else {
                numbers[i] = number.v.u; /* f64 too: the union's bits */
            }
        }
        if (status == REC_OK && !r->quiet) {
            status = r->visitor->numbers(r->self, begin, dtype, numbers, n);
        }
        count -= n;
        if (status == REC_OK) {
            status = progress(r);
        }
    }
    return status;
}

/* Raw little-endian floats of a file, many at once. */
static int32_t read_floats(lr_bincode_reader *r, const rec_layout *element, uint64_t count)
{
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    uint32_t width = rec_layout_bits(element) / 8;
    int32_t status = REC_OK;
    if (count > left(r) / width) {
        return need(r, count * width, "the floats of the list");
    }
    while (count && status == REC_OK) {
        uint64_t n = count < (REPORT / 8) ? count : REPORT / 8;
        if (!r->quiet) {
            status = r->visitor->numbers(r->self, r->at, run_dtype(element), r->data + r->at, n);
        }
        r->at += n * width;
        count -= n;
        if (status == REC_OK) {
            status = progress(r);
        }
    }
    return status;
#else
    return read_run(r, element, count);
#endif
}

/* ----------------------------------------------------------------------------------------------------- strings -- */

static int32_t read_length(lr_bincode_reader *r, const char *what, uint64_t *length)
{
    uint64_t begin = r->at;
    int32_t status = read_uint(r, 64, length);
    if (status == REC_OK && *length > left(r)) {
        status = FAIL(r, begin, what, "a length of %" PRIu64 " with %" PRIu64 " bytes left", *length, left(r));
    }
    return status;
}

static bool is_id(const uint8_t *text, uint64_t length)
{
    for (uint64_t i = 0; i < length; i++) {
        uint8_t c = text[i];
        if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-')) {
            return false;
        }
    }
    return length >= 1 && length <= 64;
}

static int32_t read_string(lr_bincode_reader *r, bool id, rec_scalar *out)
{
    uint64_t begin = r->at, length = 0, good;
    const char *what = id ? "a parameter (its id: 10, 13 or 36 letters and digits)" : "a string";
    int32_t status;
    if (id && left(r) && (r->data[r->at] == 0 || r->data[r->at] > 64)) {
        return FAIL(r, begin, what, "0x%02x", r->data[r->at]);
    }
    status = read_length(r, what, &length);
    if (status != REC_OK) {
        return status;
    }
    if (id && !is_id(r->data + r->at, length)) {
        return FAIL(r, begin, what, "%" PRIu64 " other characters", length);
    }
    good = lr_utf8_until(r->data + r->at, length);
    if (good != length) {
        return FAIL(r, r->at + good, "a string in UTF-8", "0x%02x in it", r->data[r->at + good]);
    }
    *out = (rec_scalar){.kind = REC_KIND_STRING, .v = {.length = length}, .text = (const char *)r->data + r->at};
    r->at += length;
    return REC_OK;
}

/* -------------------------------------------------------------------------------------------------- containers -- */

/* The fewest bytes a value takes: what a count can be checked against. */
static uint64_t least(const rec_layout *layout, unsigned depth)
{
    uint64_t sum = 0;
    switch (rec_layout_kind(layout)) {
    case REC_LAYOUT_UNIT:
        return 0;
    case REC_LAYOUT_FLOAT:
        return rec_layout_bits(layout) / 8;
    case REC_LAYOUT_ARRAY:
        return rec_layout_count(layout) && depth < DEPTH_MOST ? least(rec_layout_child(layout, 0), depth + 1) : 0;
    case REC_LAYOUT_TUPLE:
    case REC_LAYOUT_STRUCT:
        for (uint64_t i = 0; i < rec_layout_count(layout) && depth < DEPTH_MOST && sum < 1024; i++) {
            sum += least(rec_layout_child(layout, i), depth + 1);
        }
        return sum;
    default:
        return 1;
    }
}

#define TELL(r, event, ...) ((r)->quiet ? REC_OK : (r)->visitor->event((r)->self, __VA_ARGS__))

static int32_t read_items(lr_bincode_reader *r, const rec_layout *element, uint64_t count)
{
    int32_t status = REC_OK;
    if (rec_layout_kind(element) == REC_LAYOUT_FLOAT) {
        return read_floats(r, element, count);
    }
    if (is_number(element)) {
        return read_run(r, element, count);
    }
    for (uint64_t i = 0; i < count && status == REC_OK; i++) {
        status = lr_bincode_value(r, element);
    }
    return status;
}

static int32_t read_list(lr_bincode_reader *r, const rec_layout *layout)
{
    const rec_layout *element = rec_layout_child(layout, 0);
    uint64_t begin = r->at, count = rec_layout_count(layout);
    bool list = rec_layout_kind(layout) == REC_LAYOUT_LIST;
    uint64_t each = least(element, 0);
    int32_t status = list ? read_uint(r, 64, &count) : REC_OK;
    if (status == REC_OK && r->quiet) {
        status = each && count > left(r) / each ? REC_E_FORMAT : REC_OK;
    } else if (status == REC_OK) {
        status = rec_job_check_count(r->job, begin, count, each, left(r));
    }
    if (status == REC_OK) {
        status = TELL(r, list_begin, begin, list ? REC_FORM_LIST : REC_FORM_ARRAY, count);
    }
    status = status == REC_OK ? read_items(r, element, count) : status;
    return status == REC_OK ? TELL(r, end, r->at) : status;
}

int32_t lr_bincode_key(lr_bincode_reader *r, const char *name)
{
    rec_scalar key = {.kind = REC_KIND_STRING, .v = {.length = strlen(name)}, .text = name};
    return TELL(r, key, r->at, &key);
}

/* A struct, or a tuple, which is a list. */
static int32_t read_fields(lr_bincode_reader *r, const rec_layout *layout)
{
    uint64_t count = rec_layout_count(layout);
    bool named = rec_layout_kind(layout) == REC_LAYOUT_STRUCT;
    int32_t status =
        named ? TELL(r, map_begin, r->at, REC_FORM_STRUCT, count) : TELL(r, list_begin, r->at, REC_FORM_TUPLE, count);
    for (uint64_t i = 0; i < count && status == REC_OK; i++) {
        status = named ? lr_bincode_key(r, rec_layout_name(layout, i)) : REC_OK;
        status = status == REC_OK ? lr_bincode_value(r, rec_layout_child(layout, i)) : status;
    }
    return status == REC_OK ? TELL(r, end, r->at) : status;
}

static int32_t read_map(lr_bincode_reader *r, const rec_layout *layout)
{
    const rec_layout *key = rec_layout_child(layout, 0), *value = rec_layout_child(layout, 1);
    int32_t kind = rec_layout_kind(key);
    uint64_t begin = r->at, count = 0;
    int32_t status = read_uint(r, 64, &count);
    if (status == REC_OK && !r->quiet) {
        status = rec_job_check_count(r->job, begin, count, 1, left(r));
    }
    status = status == REC_OK ? TELL(r, map_begin, begin, REC_FORM_MAP, count) : status;
    for (uint64_t i = 0; i < count && status == REC_OK; i++) {
        rec_scalar scalar = {0};
        begin = r->at;
        if (kind == REC_LAYOUT_STRING || kind == REC_LAYOUT_ID) {
            status = read_string(r, kind == REC_LAYOUT_ID, &scalar);
        } else if (kind == REC_LAYOUT_FLOAT || !is_number(key)) {
            status = r->quiet ? REC_E_UNSUPPORTED
                              : rec_fail(r->job, REC_E_UNSUPPORTED, begin,
                                         "a map whose keys are not strings, bools or integers");
        } else {
            status = read_number(r, key, &scalar);
        }
        status = status == REC_OK ? TELL(r, key, begin, &scalar) : status;
        status = status == REC_OK ? lr_bincode_value(r, value) : status;
    }
    return status == REC_OK ? TELL(r, end, r->at) : status;
}

static int32_t read_option(lr_bincode_reader *r, const rec_layout *layout)
{
    const rec_layout *child = rec_layout_child(layout, 0);
    int32_t status = need(r, 1, child ? "an option (0x00 or 0x01)" : "a constant (0x00)");
    uint8_t present;
    if (status != REC_OK) {
        return status;
    }
    present = r->data[r->at];
    if (present > (child ? 1 : 0)) {
        return FAIL(r, r->at, child ? "an option (0x00 or 0x01)" : "a constant (0x00)", "0x%02x", present);
    }
    status = TELL(r, option, r->at, present);
    r->at++;
    return status == REC_OK && present ? lr_bincode_value(r, child) : status;
}

static int32_t read_enum(lr_bincode_reader *r, const rec_layout *layout)
{
    uint64_t begin = r->at, index = 0;
    const rec_layout *payload;
    rec_scalar name = {.kind = REC_KIND_STRING};
    int32_t status = read_uint(r, 32, &index);
    if (status == REC_OK && index >= rec_layout_count(layout)) {
        return FAIL(r, begin, "a variant of the enum", "number %" PRIu64 " where it has %" PRIu64 " variants", index,
                    rec_layout_count(layout));
    }
    if (status != REC_OK) {
        return status;
    }
    payload = rec_layout_child(layout, index);
    name.text = rec_layout_name(layout, index);
    name.v.length = strlen(name.text);
    status = TELL(r, variant_begin, begin, index, &name, payload != NULL);
    status = status == REC_OK && payload ? lr_bincode_value(r, payload) : status;
    return status == REC_OK ? TELL(r, end, r->at) : status;
}

static int32_t read_bytes(lr_bincode_reader *r)
{
    uint64_t length = 0;
    int32_t status = read_length(r, "bytes", &length);
    rec_blob blob = {.size = sizeof blob, .kind = REC_BLOB_VIEW, .source = r->source};
    if (status != REC_OK) {
        return status;
    }
    blob.length = length;
    blob.data = r->data + r->at;
    blob.offset = r->at;
    status = TELL(r, bytes, r->at, &blob);
    r->at += length;
    return status == REC_OK ? progress(r) : status;
}

int32_t lr_bincode_value(lr_bincode_reader *r, const rec_layout *layout)
{
    int32_t kind = rec_layout_kind(layout);
    rec_scalar scalar = {0};
    uint64_t begin = r->at;
    int32_t status;
    if (r->depth == DEPTH_MOST) {
        return r->quiet ? REC_E_LIMIT : rec_fail(r->job, REC_E_LIMIT, begin, "the type is nested too deeply");
    }
    r->depth++;
    switch (kind) {
    case REC_LAYOUT_UNIT:
        status = TELL(r, scalar, begin, &(rec_scalar){.kind = REC_KIND_NIL, .form = REC_FORM_UNIT});
        break;
    case REC_LAYOUT_STRING:
    case REC_LAYOUT_ID:
        status = read_string(r, kind == REC_LAYOUT_ID, &scalar);
        status = status == REC_OK ? TELL(r, scalar, begin, &scalar) : status;
        break;
    case REC_LAYOUT_BYTES:
        status = read_bytes(r);
        break;
    case REC_LAYOUT_LIST:
    case REC_LAYOUT_ARRAY:
        status = read_list(r, layout);
        break;
    case REC_LAYOUT_TUPLE:
    case REC_LAYOUT_STRUCT:
        status = read_fields(r, layout);
        break;
    case REC_LAYOUT_MAP:
        status = read_map(r, layout);
        break;
    case REC_LAYOUT_OPTION:
        status = read_option(r, layout);
        break;
    case REC_LAYOUT_ENUM:
        status = read_enum(r, layout);
        break;
    default:
        status = read_number(r, layout, &scalar);
        status = status == REC_OK ? TELL(r, scalar, begin, &scalar) : status;
        break;
    }
    r->depth--;
    return status;
}
