/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The reader of the format of number arrays: a stream through a small buffer, without recursion. */

#include <errno.h>
#include <inttypes.h>
#include <locale.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "arrays.h"

enum { BUFFER = 256, RUN = 64, TOKEN = 64 };

/** Numbers of a list that have not been told yet, held as narrow as they allow. */
enum run { RUN_NONE, RUN_U8, RUN_I64, RUN_U64, RUN_F64 };

struct reader {
    rec_job *job;
    rec_source *source;
    const rec_visitor *visitor;
    void *self;
    locale_t c;
    uint8_t buffer[BUFFER];
    uint64_t have, next; /**< of the buffer */
    uint64_t at;         /**< offset of the next byte in the source */
    char *text;          /**< of the last string */
    uint64_t length, room;
    uint32_t depth;
    bool in_map[DEPTH];
    enum run run;
    uint64_t run_at, count;
    union {
        uint8_t u8[RUN];
        int64_t i64[RUN];
        uint64_t u64[RUN];
        double f64[RUN];
    } numbers;
};

/** @param c (out) the next byte without taking it, -1 at the end. */
static int32_t peek(struct reader *r, int *c)
{
    int32_t status = REC_OK;

    if (r->next == r->have) {
        r->next = 0;
        status = rec_source_read(r->job, r->source, r->buffer, sizeof r->buffer, &r->have);
        r->have = status == REC_OK ? r->have : 0;
    }
    *c = r->have > 0 ? r->buffer[r->next] : -1;
    return status;
}

static void take(struct reader *r)
{
    r->next++;
    r->at++;
}

/** Skips white space and peeks. */
static int32_t skip(struct reader *r, int *c)
{
    int32_t status;

    while ((status = peek(r, c)) == REC_OK && (*c == ' ' || *c == '\n' || *c == '\r' || *c == '\t')) {
        take(r);
    }
    return status;
}

static int32_t wrong(struct reader *r, const char *expected, int c)
{
    if (c < 0) {
        return rec_fail_found(r->job, REC_E_FORMAT, r->at, expected, "the end of the file");
    }
    return rec_fail_found(r->job, REC_E_FORMAT, r->at, expected, c >= 0x20 && c < 0x7f ? "'%c'" : "byte 0x%02x", c);
}

static int32_t add_char(struct reader *r, int c)
{
    if (r->length == r->room) {
        uint64_t room = r->room > 0 ? r->room * 2 : 64;
        char *text = rec_job_resize(r->job, r->text, room);
        if (text == NULL) {
            return REC_E_MEMORY;
        }
        r->text = text;
        r->room = room;
    }
    r->text[r->length++] = (char)c;
    return REC_OK;
}

/** What stands behind a backslash, which has been taken. */
static int32_t read_escape(struct reader *r, int *out)
{
    static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    int c, value = 0;
    int32_t status = peek(r, &c);
    const char *found = status == REC_OK && c > 0 ? strchr(names, c) : NULL;

    if (status != REC_OK) {
        return status;
    }
    if (found != NULL) {
        take(r);
        *out = values[found - names];
        return REC_OK;
    }
    if (c != 'u') {
        return wrong(r, "an escape", c);
    }
    take(r);
    for (int i = 0; i < 4; i++, take(r)) {
        if ((status = peek(r, &c)) != REC_OK) {
            return status;
        }
        int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
        if (digit < 0 || value >= 8) {
            return wrong(r, "an escape below U+0080", c);
        }
        value = value * 16 + digit;
    }
    *out = value;
    return value < 0x80 ? REC_OK : rec_fail(r->job, REC_E_UNSUPPORTED, r->at, "an escape above U+007F");
}

/** A string into r->text; the opening quote is next. */
static int32_t read_string(struct reader *r)
{
    int c;
    int32_t status;

    take(r);
    r->length = 0;
    while ((status = peek(r, &c)) == REC_OK && c != '"') {
        if (c < 0x20) {
            return wrong(r, "a character or a quote", c);
        }
        take(r);
        if (c == '\\' && (status = read_escape(r, &c)) != REC_OK) {
            return status;
        }
        if ((status = add_char(r, c)) != REC_OK) {
            return status;
        }
    }
    if (status == REC_OK) {
        take(r);
    }
    return status;
}

static int32_t flush(struct reader *r)
{
    static const rec_dtype dtypes[] = {REC_DTYPE_NONE, REC_DTYPE_U8, REC_DTYPE_I64, REC_DTYPE_U64, REC_DTYPE_F64};
    int32_t status = REC_OK;

    if (r->count > 0) {
        status = r->visitor->numbers(r->self, r->run_at, dtypes[r->run], &r->numbers, r->count);
    }
    r->count = 0;
    r->run = RUN_NONE;
    return status;
}

/** A number: one more of a list's run, or a scalar of unknown width. */
static int32_t tell_number(struct reader *r, uint64_t at, const rec_scalar *scalar, bool single)
{
    enum run run = scalar->kind == REC_KIND_FLOAT ? RUN_F64
                   : scalar->kind == REC_KIND_INT ? RUN_I64
                   : scalar->v.u <= UINT8_MAX     ? RUN_U8
                   : scalar->v.u <= INT64_MAX     ? RUN_I64
                                                  : RUN_U64;
    int32_t status = REC_OK;

    if (single) {
        return r->visitor->scalar(r->self, at, scalar);
    }
    if (r->run != run || r->count == RUN) {
        status = flush(r);
        r->run = run;
        r->run_at = at;
    }
    switch (run) {
    case RUN_U8:
        r->numbers.u8[r->count++] = (uint8_t)scalar->v.u;
        break;
    case RUN_F64:
        r->numbers.f64[r->count++] = scalar->v.f;
        break;
    case RUN_I64:
        r->numbers.i64[r->count++] = scalar->v.i;
        break; /* u and i have the same bits here */
    default:
        r->numbers.u64[r->count++] = scalar->v.u;
        break;
    }
    return status;
}

static int32_t read_number(struct reader *r, bool single)
{
    char token[TOKEN], *end;
    size_t length = 0;
    uint64_t at = r->at;
    int c;
    int32_t status;
    rec_scalar scalar = {.kind = REC_KIND_UINT};

    while ((status = peek(r, &c)) == REC_OK && c > 0 && strchr("+-.0123456789eE", c) != NULL) {
        if (length == sizeof token - 1) {
            return rec_fail(r->job, REC_E_FORMAT, at, "a number of more than %d characters", TOKEN - 1);
        }
        token[length++] = (char)c;
        take(r);
    }
    if (status != REC_OK) {
        return status;
    }
    token[length] = '\0';
    size_t sign = token[0] == '-', digits = strspn(token + sign, "0123456789");
    if (digits == 0 || (digits > 1 && token[sign] == '0')) {
        return rec_fail_found(r->job, REC_E_FORMAT, at, "a number", "\"%s\"", token);
    }
    if (sign + digits == length) { /* an integer, if it fits */
        errno = 0;
        scalar.v.u = strtoull(token + sign, &end, 10);
        if (errno == 0 && sign == 0) {
            return tell_number(r, at, &scalar, single);
        }
        if (errno == 0 && scalar.v.u > 0 && scalar.v.u <= (uint64_t)INT64_MAX + 1) { /* -0 is a float */
            scalar.kind = REC_KIND_INT;
            scalar.v.i = (int64_t)(0 - scalar.v.u);
            return tell_number(r, at, &scalar, single);
        }
    }
    scalar.kind = REC_KIND_FLOAT;
    scalar.v.f = strtod_l(token, &end, r->c);
    return *end == '\0' ? tell_number(r, at, &scalar, single)
                        : rec_fail_found(r->job, REC_E_FORMAT, at, "a number", "\"%s\"", token);
}

static int32_t read_word(struct reader *r, const char *word, rec_scalar scalar)
{
    uint64_t at = r->at;
    int c;
    int32_t status = REC_OK;

    for (const char *p = word; *p != '\0'; p++, take(r)) {
        if ((status = peek(r, &c)) != REC_OK || c != *p) {
            return status != REC_OK ? status : wrong(r, "null, true or false", c);
        }
    }
    return r->visitor->scalar(r->self, at, &scalar);
}

static int32_t open_container(struct reader *r, bool map)
{
    if (r->depth + 1 >= DEPTH || r->depth >= rec_job_depth_limit(r->job)) {
        return rec_fail(r->job, REC_E_LIMIT, r->at, "nested too deep");
    }
    r->in_map[++r->depth] = map;
    take(r);
    return map ? r->visitor->map_begin(r->self, r->at - 1, REC_FORM_UNKNOWN, REC_UNKNOWN)
               : r->visitor->list_begin(r->self, r->at - 1, REC_FORM_UNKNOWN, REC_UNKNOWN);
}

/** A key and its colon; the opening quote is next. */
static int32_t read_key(struct reader *r)
{
    uint64_t at = r->at;
    int c;
    int32_t status = skip(r, &c);

    if (status != REC_OK || c != '"') {
        return status != REC_OK ? status : wrong(r, "a key", c);
    }
    if ((status = read_string(r)) != REC_OK) {
        return status;
    }
    rec_scalar key = {.kind = REC_KIND_STRING, .v.length = r->length, .text = r->length > 0 ? r->text : ""};
    if ((status = r->visitor->key(r->self, at, &key)) != REC_OK || (status = skip(r, &c)) != REC_OK) {
        return status;
    }
    if (c != ':') {
        return wrong(r, "':'", c);
    }
    take(r);
    return skip(r, &c);
}

/** One value, or the opening of one. @param c its first character. */
static int32_t read_value(struct reader *r, int c)
{
    bool number = c > 0 && strchr("-0123456789", c) != NULL, in_list = r->depth > 0 && !r->in_map[r->depth];
    int32_t status = number ? REC_OK : flush(r);
    uint64_t at = r->at;

    if (status != REC_OK) {
        return status;
    }
    switch (c) {
    case '{':
    case '[':
        return open_container(r, c == '{');
    case 'n':
        return read_word(r, "null", (rec_scalar){.kind = REC_KIND_NIL}); /* in a list of floats: not a number */
    case 't':
        return read_word(r, "true", (rec_scalar){.kind = REC_KIND_BOOL, .v.i = 1});
    case 'f':
        return read_word(r, "false", (rec_scalar){.kind = REC_KIND_BOOL});
    case '"':
        if ((status = read_string(r)) == REC_OK) {
            rec_scalar scalar = {.kind = REC_KIND_STRING, .v.length = r->length, .text = r->length > 0 ? r->text : ""};
            status = r->visitor->scalar(r->self, at, &scalar);
        }
        return status;
    default:
        return number ? read_number(r, !in_list) : wrong(r, "a value", c);
    }
}

/** The whole of the input: values, and between them what closes or separates. */
static int32_t read_all(struct reader *r)
{
    int c;
    int32_t status = skip(r, &c);
    bool opened; /* a container was opened just now: it may close at once */

    do {
        uint32_t depth = r->depth;
        if (status == REC_OK) {
            status = read_value(r, c);
        }
        opened = r->depth > depth;
        while (status == REC_OK && r->depth > 0 && (status = skip(r, &c)) == REC_OK) {
            char close = r->in_map[r->depth] ? '}' : ']';
            if (c == close) {
                status = flush(r);
                take(r);
                r->depth--;
                status = status == REC_OK ? r->visitor->end(r->self, r->at) : status;
                opened = false;
                continue;
            }
            if (!opened && c != ',') {
                return wrong(r, close == '}' ? "',' or '}'" : "',' or ']'", c);
            }
            if (!opened) {
                take(r);
                status = skip(r, &c);
            }
            if (status == REC_OK && close == '}') {
                status = read_key(r);
            }
            status = status == REC_OK ? peek(r, &c) : status;
            break;
        }
    } while (status == REC_OK && r->depth > 0);
    if (status == REC_OK && (status = skip(r, &c)) == REC_OK && c >= 0) {
        status = wrong(r, "the end of the file", c);
    }
    return status;
}

int32_t arrays_load(rec_job *job, rec_source *source, const rec_visitor *visitor, void *self)
{
    struct reader r = {.job = job, .source = source, .visitor = visitor, .self = self};
    int32_t status;

    r.c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (r.c == (locale_t)0) {
        return rec_fail(job, REC_E_MEMORY, REC_UNKNOWN, "out of memory");
    }
    status = read_all(&r);
    rec_job_free(job, r.text);
    freelocale(r.c);
    return status;
}
