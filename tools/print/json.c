/* SPDX-License-Identifier: MIT OR Apache-2.0
 * A JSON writer: exact integers, UTF-8 kept, the outer levels a line an item so that lines can be compared. */
#include <inttypes.h>

#include "common/json.h"
#include "tools/print/print.h"

void tool_json_begin(json *j, FILE *out, unsigned depth)
{
    *j = (json){.out = out, .depth = depth, .first = true};
}

void tool_json_open(json *j, FILE *out, unsigned depth)
{
    tool_json_begin(j, out, depth);
    tool_json_object(j, NULL);
}

static void new_line(json *j)
{
    putc_unlocked('\n', j->out);
    for (unsigned i = 0; i < j->level; i++) {
        fputs("  ", j->out);
    }
}

/* Writes the separator before an item: comma, newline, indentation. */
static void item(json *j)
{
    if (j->keyed) {
        j->keyed = false;
        return;
    }
    if (!j->first) {
        putc_unlocked(',', j->out);
    }
    if (j->level > 0 && j->level <= j->depth) {
        new_line(j);
    } else if (!j->first) {
        putc_unlocked(' ', j->out);
    }
    j->first = false;
}

/* A character that a terminal may obey, or that cannot be seen. */
static void escaped(json *j, uint32_t code)
{
    if (code > 0xFFFF) {
        fprintf(j->out, "\\u%04x", 0xD7C0 + (code >> 10));
        code = 0xDC00 | (code & 0x3FF);
    }
    fprintf(j->out, "\\u%04x", code);
}

static void quoted(json *j, const char *bytes, size_t length)
{
    const unsigned char *b = (const unsigned char *)bytes;
    size_t plain = 0, step;
    uint32_t code;
    char escape[6];

    putc_unlocked('"', j->out);
    for (size_t i = 0; i < length; i += step) {
        step = tool_utf8_next(bytes + i, length - i, &code);
        if (step && !tool_text_steers(code) && !tool_text_combines(code) && b[i] != '"' && b[i] != '\\') {
            continue;
        }
        (void)fwrite(bytes + plain, 1, i - plain, j->out);
        if (step == 1) {
            (void)fwrite(escape, 1, lr_json_escape(b[i], "nt", escape), j->out);
        } else {
            escaped(j, step ? code : 0xFFFD);
        }
        step = step ? step : 1;
        plain = i + step;
    }
    (void)fwrite(bytes + plain, 1, length - plain, j->out);
    putc_unlocked('"', j->out);
}

void tool_json_key(json *j, const char *bytes, size_t length)
{
    item(j);
    quoted(j, bytes, length);
    fputs(": ", j->out);
    j->keyed = true;
}

static void begin(json *j, const char *key)
{
    if (key) {
        tool_json_key(j, key, strlen(key));
    }
    item(j);
}

void tool_json_object(json *j, const char *key)
{
    begin(j, key);
    putc_unlocked('{', j->out);
    j->level++;
    j->first = true;
}

void tool_json_array(json *j, const char *key)
{
    begin(j, key);
    putc_unlocked('[', j->out);
    j->level++;
    j->first = true;
}

void tool_json_close(json *j, char bracket)
{
    bool empty = j->first, broken = j->level <= j->depth;

    j->level--;
    if (broken && !empty) {
        new_line(j);
    }
    putc_unlocked(bracket, j->out);
    j->first = false;
}

void tool_json_end(json *j)
{
    putc_unlocked('\n', j->out);
}

void tool_json_finish(json *j)
{
    tool_json_close(j, '}');
    tool_json_end(j);
}

void tool_json_text(json *j, const char *key, const char *bytes, size_t length)
{
    begin(j, key);
    quoted(j, bytes, length);
}

void tool_json_string(json *j, const char *key, const char *string)
{
    if (string) {
        tool_json_text(j, key, string, strlen(string));
    } else {
        tool_json_token(j, key, "null");
    }
}

void tool_json_token(json *j, const char *key, const char *token)
{
    begin(j, key);
    fputs(token, j->out);
}

void tool_json_uint(json *j, const char *key, uint64_t number)
{
    char digits[24];
    (void)snprintf(digits, sizeof digits, "%" PRIu64, number);
    tool_json_token(j, key, digits);
}

void tool_json_int(json *j, const char *key, int64_t number)
{
    char digits[24];
    (void)snprintf(digits, sizeof digits, "%" PRIi64, number);
    tool_json_token(j, key, digits);
}

void tool_json_size(json *j, const char *key, uint64_t size)
{
    if (size == REC_UNKNOWN) {
        tool_json_token(j, key, "null");
    } else {
        tool_json_uint(j, key, size);
    }
}

void tool_json_bool(json *j, const char *key, bool value)
{
    tool_json_token(j, key, value ? "true" : "false");
}

void tool_print_base64(FILE *out, const void *bytes, uint64_t size)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *b = bytes;

    for (uint64_t i = 0; i < size; i += 3) {
        uint64_t left = size - i;
        unsigned bits = (unsigned)b[i] << 16 | (left > 1 ? (unsigned)b[i + 1] << 8 : 0) | (left > 2 ? b[i + 2] : 0);
        putc_unlocked(digits[bits >> 18], out);
        putc_unlocked(digits[bits >> 12 & 63], out);
        putc_unlocked(left > 1 ? digits[bits >> 6 & 63] : '=', out);
        putc_unlocked(left > 2 ? digits[bits & 63] : '=', out);
    }
}

void tool_json_bytes(json *j, const char *key, const void *bytes, uint64_t size)
{
    begin(j, key);
    putc_unlocked('"', j->out);
    tool_print_base64(j->out, bytes, size);
    putc_unlocked('"', j->out);
}

void tool_json_shape(json *j, const char *key, const uint64_t *shape, uint32_t rank)
{
    tool_json_array(j, key);
    for (uint32_t i = 0; i < rank; i++) {
        tool_json_uint(j, NULL, shape[i]);
    }
    tool_json_close(j, ']');
}
