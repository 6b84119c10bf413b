/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Strings of JSON (RFC 8259, section 7). Most have no escapes and lie within the window: those are lent from it. */
#include "plugins/codec/json/string.h"

#include "common/utf8.h"
#include "plugins/codec/room.h"

int32_t lr_json_cut_short(const lr_json_input *in, const char *what)
{
    uint64_t end = in->offset + (uint64_t)(in->end - in->start);
    int32_t status = rec_fail(in->job, REC_E_FORMAT, end, "the data end inside a %s", what);
    rec_fail_hint(in->job, "The file is truncated: copy it again from its source.");
    return status;
}

int32_t lr_json_unexpected(const lr_json_input *in, const char *expected)
{
    uint8_t byte = *in->at;
    uint64_t at = lr_json_input_offset(in);
    if (byte > ' ' && byte < 0x7f) {
        return rec_fail_found(in->job, REC_E_FORMAT, at, expected, "`%c`", byte);
    }
    if (at == 0 && in->end - in->at >= 3 && memcmp(in->at, "\xef\xbb\xbf", 3) == 0) {
        return rec_fail_found(in->job, REC_E_FORMAT, at, expected, "a byte order mark, which JSON does not allow");
    }
    return rec_fail_found(in->job, REC_E_FORMAT, at, expected, "0x%02x", (unsigned)byte);
}

/* --------------------------------------------------------------------------------------------------- piecemeal -- */

static int32_t append(lr_json_input *in, lr_json_text *memory, const void *bytes, uint64_t size)
{
    int32_t status = lr_codec_grow(in->job, &memory->data, memory->size + size, &memory->room, 1);
    if (status == REC_OK && size) {
        memcpy(memory->data + memory->size, bytes, (size_t)size);
        memory->size += size;
    }
    return status;
}

/* The four hexadecimal digits at `p`. @return -1: there are others. */
static int32_t hex4(const uint8_t *p)
{
    int32_t value = 0;
    for (int i = 0; i < 4; i++) {
        uint8_t c = p[i], lower = c | 0x20;
        int32_t digit = c >= '0' && c <= '9' ? c - '0' : lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
        if (digit < 0) {
            return -1;
        }
        value = value * 16 + digit;
    }
    return value;
}

static uint64_t encode(uint32_t point, uint8_t *to)
{
    if (point < 0x80) {
        to[0] = (uint8_t)point;
        return 1;
    }
    if (point < 0x800) {
        to[0] = (uint8_t)(0xc0 | point >> 6);
        to[1] = (uint8_t)(0x80 | (point & 0x3f));
        return 2;
    }
    if (point < 0x10000) {
        to[0] = (uint8_t)(0xe0 | point >> 12);
        to[1] = (uint8_t)(0x80 | (point >> 6 & 0x3f));
        to[2] = (uint8_t)(0x80 | (point & 0x3f));
        return 3;
    }
    to[0] = (uint8_t)(0xf0 | point >> 18);
    to[1] = (uint8_t)(0x80 | (point >> 12 & 0x3f));
    to[2] = (uint8_t)(0x80 | (point >> 6 & 0x3f));
    to[3] = (uint8_t)(0x80 | (point & 0x3f));
    return 4;
}

static int32_t bad_escape(const lr_json_input *in, const char *expected)
{
    uint64_t shown = (uint64_t)(in->end - in->at) < 6 ? (uint64_t)(in->end - in->at) : 6;
    for (uint64_t i = 0; i < shown; i++) {
        if (in->at[i] <= ' ' || in->at[i] >= 0x7f) {
            shown = i;
        }
    }
    return rec_fail_found(in->job, REC_E_FORMAT, lr_json_input_offset(in), expected, "`%.*s`", (int)shown,
                          (const char *)in->at);
}

/* Parses \uXXXX, or two of them for code points above 16 bits. */
static int32_t unicode_escape(lr_json_input *in, lr_json_text *memory)
{
    uint8_t utf8[4];
    int32_t high = in->end - in->at >= 6 ? hex4(in->at + 2) : -1;
    uint64_t length = 6;
    if (in->end - in->at < 6) {
        return lr_json_cut_short(in, "string");
    }
    if (high < 0) {
        return bad_escape(in, "\\u and four hexadecimal digits");
    }
    uint32_t point = (uint32_t)high;
    if (point >= 0xd800 && point <= 0xdfff) {
        bool pair = point <= 0xdbff && in->end - in->at >= 12 && in->at[6] == '\\' && in->at[7] == 'u';
        int32_t low = pair ? hex4(in->at + 8) : -1;
        if (low < 0xdc00 || low > 0xdfff) {
            return bad_escape(in, "a high surrogate and a low one after it");
        }
        point = 0x10000 + ((point - 0xd800) << 10) + ((uint32_t)low - 0xdc00);
        length = 12;
    }
    in->at += length;
    return append(in, memory, utf8, encode(point, utf8));
}

static int32_t escape(lr_json_input *in, lr_json_text *memory)
{
    static const char names[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    int32_t status = lr_json_input_need(in, 12);
    if (status != REC_OK) {
        return status;
    }
    if (in->end - in->at < 2) {
        return lr_json_cut_short(in, "string");
    }
    if (in->at[1] == 'u') {
        return unicode_escape(in, memory);
    }
    const char *name = in->at[1] ? strchr(names, in->at[1]) : NULL;
    if (!name) {
        return bad_escape(in, "an escape of JSON (\\\" \\\\ \\/ \\b \\f \\n \\r \\t \\u)");
    }
    in->at += 2;
    return append(in, memory, meant + (name - names), 1);
}

/* One character that is not ASCII. */
static int32_t wide(lr_json_input *in, lr_json_text *memory)
{
    int32_t status = lr_json_input_need(in, 4);
    if (status != REC_OK) {
        return status;
    }
    unsigned length = lr_utf8_sequence(in->at, (uint64_t)(in->end - in->at));
    if (length == 0) {
        return rec_fail_found(in->job, REC_E_FORMAT, lr_json_input_offset(in), "a string in UTF-8", "0x%02x",
                              (unsigned)*in->at);
    }
    status = append(in, memory, in->at, length);
    in->at += length;
    return status;
}

/* Parses from `in->at` to the closing quote and moves after it. */
static int32_t gather(lr_json_input *in, lr_json_text *memory)
{
    for (;;) {
        const uint8_t *stop = lr_json_plain_until(in->at, in->end);
        int32_t status = append(in, memory, in->at, (uint64_t)(stop - in->at));
        in->at = stop;
        if (status == REC_OK && in->at == in->end) {
            status = lr_json_input_more(in);
            if (status == REC_OK && in->at == in->end) {
                return lr_json_cut_short(in, "string");
            }
            if (status == REC_OK) {
                continue;
            }
        }
        if (status != REC_OK) {
            return status;
        }
        if (*in->at == '"') {
            in->at++;
            return REC_OK;
        }
        if (*in->at < 0x20) {
            return rec_fail_found(in->job, REC_E_FORMAT, lr_json_input_offset(in),
                                  "a string, in which control characters are escaped", "0x%02x", (unsigned)*in->at);
        }
        status = *in->at == '\\' ? escape(in, memory) : wide(in, memory);
        if (status != REC_OK) {
            return status;
        }
    }
}

int32_t lr_json_string(lr_json_input *in, lr_json_text *memory, const char **text, uint64_t *length)
{
    const uint8_t *from = ++in->at;
    const uint8_t *stop = lr_json_plain_until(from, in->end);
    if (stop < in->end && *stop == '"') {
        in->at = stop + 1;
        *text = (const char *)from;
        *length = (uint64_t)(stop - from);
        return REC_OK;
    }
    memory->size = 0;
    int32_t status = gather(in, memory);
    *text = memory->data ? memory->data : "";
    *length = memory->size;
    return status;
}
