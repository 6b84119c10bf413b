/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <string.h>

#include "flax/msgpack.h"

/* ---------------------------------------------------------------------------------------------------- decoding -- */

static uint64_t get(const uint8_t *bytes, uint32_t count)
{
    uint64_t number = 0;
    for (uint32_t i = 0; i < count; i++) {
        number = number << 8 | bytes[i];
    }
    return number;
}

/* First bytes 0xc0 to 0xdf: the kind, and how many bytes follow before the data. An ext has its type among them. */
static const struct {
    uint8_t kind, bytes;
} heads[32] = {
    {MP_NIL, 0}, {MP_NIL, 0},  {MP_BOOL, 0},  {MP_BOOL, 0},  {MP_BYTES, 1}, {MP_BYTES, 2}, {MP_BYTES, 4}, {MP_EXT, 2},
    {MP_EXT, 3}, {MP_EXT, 5},  {MP_FLOAT, 4}, {MP_FLOAT, 8}, {MP_UINT, 1},  {MP_UINT, 2},  {MP_UINT, 4},  {MP_UINT, 8},
    {MP_INT, 1}, {MP_INT, 2},  {MP_INT, 4},   {MP_INT, 8},   {MP_EXT, 1},   {MP_EXT, 1},   {MP_EXT, 1},   {MP_EXT, 1},
    {MP_EXT, 1}, {MP_TEXT, 1}, {MP_TEXT, 2},  {MP_TEXT, 4},  {MP_LIST, 2},  {MP_LIST, 4},  {MP_MAP, 2},   {MP_MAP, 4},
};
enum { INVALID = 0xc1, TRUE = 0xc3, FIXEXT = 0xd4, FIXEXT_LAST = 0xd8 };

static double real(uint64_t bits, uint32_t bytes)
{
    uint32_t narrow = (uint32_t)bits;
    float single;
    double number;
    if (bytes == 8) {
        memcpy(&number, &bits, sizeof number);
        return number;
    }
    memcpy(&single, &narrow, sizeof single);
    return single;
}

/* Sign-extends a number of `bytes` bytes. One that is not negative is a UINT. */
static void set_int(mp_value *value, uint64_t number, uint32_t bytes)
{
    uint64_t sign = UINT64_C(1) << (8 * bytes - 1);
    value->kind = number & sign ? MP_INT : MP_UINT;
    value->count = number;
    value->number = number & sign ? -(int64_t)(~number & (sign - 1)) - 1 : 0;
}

/* The values whose first byte has all that is known of them. */
static void decode_fix(uint8_t first, mp_value *value)
{
    if (first >= 0xe0) {
        set_int(value, first, 1);
    } else if (first < 0x80) {
        value->kind = MP_UINT;
        value->count = first;
    } else {
        value->kind = first < 0x90 ? MP_MAP : first < 0xa0 ? MP_LIST : MP_TEXT;
        value->count = first < 0xa0 ? first & 15u : first & 31u;
    }
}

static void decode_ext(const uint8_t *bytes, uint32_t more, mp_value *value)
{
    uint8_t first = bytes[0], type = bytes[more];
    value->type = (int8_t)(type < 128 ? type : type - 256);
    value->count = first >= FIXEXT && first <= FIXEXT_LAST ? UINT64_C(1) << (first - FIXEXT) : get(bytes + 1, more - 1);
}

static void decode_long(const uint8_t *bytes, uint32_t more, mp_value *value)
{
    uint64_t number = get(bytes + 1, more);
    value->kind = (enum mp_kind)heads[bytes[0] - 0xc0].kind;
    value->count = number;
    if (value->kind == MP_BOOL) {
        value->count = bytes[0] == TRUE;
    } else if (value->kind == MP_INT) {
        set_int(value, number, more);
    } else if (value->kind == MP_FLOAT) {
        value->bits = 8 * more;
        value->real = real(number, more);
    } else if (value->kind == MP_EXT) {
        decode_ext(bytes, more, value);
    }
}

uint32_t mp_decode(const uint8_t *bytes, uint64_t length, mp_value *value)
{
    uint32_t more;
    *value = (mp_value){.kind = MP_NIL};
    if (!length || bytes[0] == INVALID) {
        return 0;
    }
    if (bytes[0] < 0xc0 || bytes[0] >= 0xe0) {
        decode_fix(bytes[0], value);
        value->data = 1;
        return 1;
    }
    more = heads[bytes[0] - 0xc0].bytes;
    if (length <= more) {
        return 0;
    }
    decode_long(bytes, more, value);
    value->data = 1 + more;
    return 1 + more;
}

/* ----------------------------------------------------------------------------------------------------- reading -- */

static rec_status truncated(const mp_cursor *c, uint64_t at)
{
    return rec_fail_found(c->w->job, REC_E_FORMAT, at, "a MessagePack value",
                          c->end == c->w->size ? "the end of the file" : "the end of the extension");
}

/* Checks that what a head announces can be in the rest of the range; moves behind bytes. */
static rec_status check(mp_cursor *c, const mp_value *value)
{
    rec_job *job = c->w->job;
    uint64_t left = c->end - c->at;
    switch (value->kind) {
    case MP_TEXT:
    case MP_BYTES:
    case MP_EXT:
        if (value->count > left) {
            return rec_fail_found(job, REC_E_FORMAT, value->at, "as many bytes as the value announces",
                                  c->end == c->w->size ? "%llu more, then the end of the file"
                                                       : "%llu more in the extension",
                                  (unsigned long long)left);
        }
        c->at += value->count;
        return REC_OK;
    case MP_LIST:
        return rec_job_check_count(job, value->at, value->count, 1, left);
    case MP_MAP:
        return rec_job_check_count(job, value->at, value->count, 2, left);
    default:
        return REC_OK;
    }
}

rec_status mp_next(mp_cursor *c, mp_value *value)
{
    const uint8_t *bytes;
    uint64_t at = c->at, left = c->end - at, got;
    uint32_t head;
    rec_status status;
    if (!left) {
        return truncated(c, at);
    }
    status = window_get(c->w, at, left < MP_HEAD ? left : MP_HEAD, &bytes, &got);
    if (status != REC_OK) {
        return status;
    }
    if (bytes[0] == INVALID) {
        return rec_fail_found(c->w->job, REC_E_FORMAT, at, "a MessagePack value", "the byte 0xc1");
    }
    head = mp_decode(bytes, got, value);
    if (!head) {
        return truncated(c, at);
    }
    value->at = at;
    value->data += at;
    c->at = at + head;
    return check(c, value);
}

rec_status mp_skip(mp_cursor *c)
{
    mp_value value;
    rec_status status = REC_OK;
    for (uint64_t pending = 1; pending && status == REC_OK; pending--) {
        status = mp_next(c, &value);
        if (status == REC_OK && (value.kind == MP_LIST || value.kind == MP_MAP)) {
            pending += value.kind == MP_MAP ? 2 * value.count : value.count;
            /* Each pending value has a byte at least, so the sum cannot overflow. */
            status = pending - 1 > c->end - c->at ? truncated(c, c->end) : REC_OK;
        }
    }
    return status;
}

rec_status mp_unexpected(const mp_cursor *c, const char *expected, const mp_value *value)
{
    static const char *const kinds[] = {"nil",     "a bool",      "an integer",    "a negative integer",
                                        "a float", "a text",      "a byte string", "a list",
                                        "a map",   "an extension"};
    return rec_fail_found(c->w->job, REC_E_FORMAT, value->at, expected, "%s", kinds[value->kind]);
}

rec_status mp_is(const mp_cursor *c, const mp_value *value, const char *bytes, int *same)
{
    const uint8_t *found;
    uint64_t length = strlen(bytes), got;
    rec_status status = REC_OK;
    *same = (value->kind == MP_TEXT || value->kind == MP_BYTES) && value->count == length;
    if (*same) {
        status = window_get(c->w, value->data, length, &found, &got);
        *same = status == REC_OK && got == length && memcmp(found, bytes, length) == 0;
    }
    return status;
}

/* ------------------------------------------------------------------------------------------------------ making -- */

static uint32_t put(uint8_t *to, uint8_t first, uint64_t number, uint32_t bytes)
{
    to[0] = first;
    for (uint32_t i = 0; i < bytes; i++) {
        to[1 + i] = (uint8_t)(number >> (8 * (bytes - 1 - i)));
    }
    return 1 + bytes;
}

/* A count below `fix` in the first byte, or in 1, 2 or 4 bytes after the first bytes `one`, `two`, `four`. */
static uint32_t put_count(uint8_t *to, uint64_t count, uint64_t fix, uint8_t first, uint8_t one, uint8_t two,
                          uint8_t four)
{
    if (count < fix) {
        return put(to, (uint8_t)(first | count), 0, 0);
    }
    if (one && count <= UINT8_MAX) {
        return put(to, one, count, 1);
    }
    return count <= UINT16_MAX ? put(to, two, count, 2) : put(to, four, count, 4);
}

uint32_t mp_put_uint(uint8_t *to, uint64_t number)
{
    return number > UINT32_MAX ? put(to, 0xcf, number, 8) : put_count(to, number, 0x80, 0, 0xcc, 0xcd, 0xce);
}

uint32_t mp_put_int(uint8_t *to, int64_t number)
{
    uint64_t bits = (uint64_t)number;
    if (number >= 0) {
        return mp_put_uint(to, bits);
    }
    return number >= -32         ? put(to, (uint8_t)bits, 0, 0)
           : number >= INT8_MIN  ? put(to, 0xd0, bits, 1)
           : number >= INT16_MIN ? put(to, 0xd1, bits, 2)
           : number >= INT32_MIN ? put(to, 0xd2, bits, 4)
                                 : put(to, 0xd3, bits, 8);
}

uint32_t mp_put_float(uint8_t *to, double number)
{
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    return put(to, 0xcb, bits, 8);
}

uint32_t mp_put_text(uint8_t *to, uint64_t length)
{
    return put_count(to, length, 32, 0xa0, 0xd9, 0xda, 0xdb);
}

uint32_t mp_put_bytes(uint8_t *to, uint64_t length)
{
    return put_count(to, length, 0, 0, 0xc4, 0xc5, 0xc6);
}

uint32_t mp_put_list(uint8_t *to, uint64_t count)
{
    return put_count(to, count, 16, 0x90, 0, 0xdc, 0xdd);
}

uint32_t mp_put_map(uint8_t *to, uint64_t count)
{
    return put_count(to, count, 16, 0x80, 0, 0xde, 0xdf);
}

uint32_t mp_put_ext(uint8_t *to, int8_t type, uint64_t length)
{
    uint32_t used = 0;
    for (uint8_t power = 0; power <= 4 && !used; power++) {
        used = length == UINT64_C(1) << power ? put(to, (uint8_t)(FIXEXT + power), 0, 0) : 0;
    }
    used = used ? used : put_count(to, length, 0, 0, 0xc7, 0xc8, 0xc9);
    to[used] = (uint8_t)type;
    return used + 1;
}
