/* SPDX-License-Identifier: MIT OR Apache-2.0
 * A line of JSON as a value: the reverse of value_json.c. */

#include "common/utf8.h"
#include "core/record/record.h"

enum { DEPTH_MOST = 64 };

typedef struct reader {
    lr_arena *arena;
    const char *at, *end;
    unsigned depth;
    bool exact; /* floats say how wide they are */
} reader;

static void skip(reader *r)
{
    while (r->at < r->end && *r->at && strchr(" \t\r\n", *r->at)) {
        r->at++;
    }
}

/* @return whether the next character is this one, which is consumed then. */
static bool pass(reader *r, char c)
{
    skip(r);
    if (r->at < r->end && *r->at == c) {
        r->at++;
        return true;
    }
    return false;
}

/* ------------------------------------------------------------------------------------------------------- texts -- */

static bool read_hex(reader *r, uint32_t *code)
{
    static const char digits[] = "0123456789abcdef0123456789ABCDEF";
    *code = 0;
    for (int i = 0; i < 4; i++, r->at++) {
        const char *digit = r->at < r->end && *r->at ? strchr(digits, *r->at) : NULL;
        if (!digit) {
            return false;
        }
        *code = *code << 4 | (uint32_t)((digit - digits) & 15);
    }
    return true;
}

static char *put_utf8(char *to, uint32_t code)
{
    static const uint8_t lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
    int length = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (int i = length - 1; i > 0; i--, code >>= 6) {
        to[i] = (char)(0x80 | (code & 0x3f));
    }
    to[0] = (char)(length == 1 ? code : lead[length] | code);
    return to + length;
}

/* An escape after its backslash; what it stands for is never longer. */
static bool read_escape(reader *r, char **to)
{
    static const char from[] = "\"\\/bfnrt", is[] = "\"\\/\b\f\n\r\t";
    const char *known = r->at < r->end && *r->at ? strchr(from, *r->at) : NULL;
    uint32_t code, low;
    if (known) {
        r->at++;
        *(*to)++ = is[known - from];
        return true;
    }
    if (r->at == r->end || *r->at++ != 'u' || !read_hex(r, &code)) {
        return false;
    }
    if (code >= 0xd800 && code < 0xdc00) {
        if (r->end - r->at < 6 || r->at[0] != '\\' || r->at[1] != 'u') {
            return false;
        }
        r->at += 2;
        if (!read_hex(r, &low) || low < 0xdc00 || low > 0xdfff) {
            return false;
        }
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    } else if (code >= 0xdc00 && code < 0xe000) {
        return false;
    }
    *to = put_utf8(*to, code);
    return true;
}

/* Where the string that begins at `at` ends; NULL: nowhere. */
static const char *string_end(const reader *r)
{
    const char *at = r->at;
    while (at < r->end && *at != '"') {
        at += *at == '\\' && r->end - at > 1 ? 2 : 1;
    }
    return at < r->end ? at : NULL;
}

/* A string after its first quote. */
static int32_t read_string(reader *r, rec_value *value)
{
    const char *end = string_end(r);
    char *text, *to;
    if (!end || (uint64_t)(end - r->at) >= UINT32_MAX) {
        return REC_E_FORMAT;
    }
    text = to = lr_arena_alloc(r->arena, (uint64_t)(end - r->at) + 1, 1);
    if (!text) {
        return REC_E_MEMORY;
    }
    while (r->at < end) {
        if (*r->at != '\\') {
            *to++ = *r->at++;
        } else if (r->at++, !read_escape(r, &to)) {
            return REC_E_FORMAT;
        }
    }
    r->at = end + 1;
    *to = '\0';
    *value = (rec_value){.kind = REC_KIND_STRING, .length = (uint32_t)(to - text), .v.text = text};
    return lr_utf8_until((const uint8_t *)text, value->length) == value->length ? REC_OK : REC_E_FORMAT;
}

/* ----------------------------------------------------------------------------------------------------- numbers -- */

/* Digits as a whole number with its sign. @return false: it has more than 64 bits. */
static bool read_whole(const char *at, const char *end, bool negative, rec_value *value)
{
    uint64_t number = 0, most = negative ? UINT64_C(1) << 63 : UINT64_MAX;
    for (; at < end; at++) {
        uint64_t digit = (uint64_t)(*at - '0');
        if (number > (most - digit) / 10) {
            return false;
        }
        number = number * 10 + digit;
    }
    *value = (rec_value){.kind = negative ? REC_KIND_INT : REC_KIND_UINT, .v.u = negative ? 0 - number : number};
    return true;
}

static int32_t read_number(reader *r, rec_value *value)
{
    const char *begin = r->at, *digits = begin + (begin < r->end && *begin == '-'), *at = digits;
    bool whole = true;
    while (at < r->end && *at && strchr("0123456789+-.eE", *at)) {
        whole = whole && *at >= '0' && *at <= '9';
        at++;
    }
    r->at = at;
    if (at == digits || *digits < '0' || *digits > '9') {
        return REC_E_FORMAT;
    }
    if (whole) {
        return read_whole(digits, at, digits > begin, value) ? REC_OK : REC_E_FORMAT;
    }
    *value = (rec_value){.kind = REC_KIND_FLOAT, .bits = r->exact ? 64 : 0};
    if (!lr_number_read(begin, (size_t)(at - begin), &value->v.f)) {
        return REC_E_FORMAT;
    }
    if (r->exact && pass(r, 'f')) {
        *value = (rec_value){.kind = REC_KIND_FLOAT, .bits = 32, .v.f = (double)(float)value->v.f};
    }
    return REC_OK;
}

/* -------------------------------------------------------------------------------------------------- containers -- */

static int32_t read_value(reader *r, rec_value *value);

static int32_t read_list(reader *r, rec_value *value)
{
    lr_list *list = lr_list_new(r->arena, 0);
    int32_t status = list ? REC_OK : REC_E_MEMORY;
    *value = (rec_value){.kind = REC_KIND_LIST, .v.list = list};
    if (status != REC_OK || pass(r, ']')) {
        return status;
    }
    do {
        rec_value *item = lr_list_append(r->arena, list);
        status = item ? read_value(r, item) : REC_E_MEMORY;
    } while (status == REC_OK && pass(r, ','));
    return status == REC_OK && !pass(r, ']') ? REC_E_FORMAT : status;
}

static int32_t read_entry(reader *r, lr_map *map)
{
    rec_value key;
    lr_entry *entry;
    int32_t status = pass(r, '"') ? read_string(r, &key) : REC_E_FORMAT;
    if (status != REC_OK) {
        return status;
    }
    if (!pass(r, ':') || lr_map_find_text(map, key.v.text, key.length)) {
        return REC_E_FORMAT;
    }
    entry = lr_map_append(r->arena, map, key);
    return entry ? read_value(r, &entry->value) : REC_E_MEMORY;
}

static int32_t read_map(reader *r, rec_value *value)
{
    lr_map *map = lr_map_new(r->arena, 0);
    int32_t status = map ? REC_OK : REC_E_MEMORY;
    *value = (rec_value){.kind = REC_KIND_MAP, .v.map = map};
    if (status != REC_OK || pass(r, '}')) {
        return status;
    }
    do {
        skip(r);
        status = read_entry(r, map);
    } while (status == REC_OK && pass(r, ','));
    return status == REC_OK && !pass(r, '}') ? REC_E_FORMAT : status;
}

static int32_t read_word(reader *r, rec_value *value)
{
    static const struct {
        const char *word;
        rec_value value;
    } known[] = {{"null", {.kind = REC_KIND_NIL}},
                 {"true", {.kind = REC_KIND_BOOL, .v.i = 1}},
                 {"false", {.kind = REC_KIND_BOOL}}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        size_t length = strlen(known[i].word);
        if ((size_t)(r->end - r->at) >= length && memcmp(r->at, known[i].word, length) == 0) {
            r->at += length;
            *value = known[i].value;
            return REC_OK;
        }
    }
    return read_number(r, value);
}

static int32_t read_value(reader *r, rec_value *value)
{
    int32_t status;
    if (r->depth++ == DEPTH_MOST) {
        return REC_E_FORMAT;
    }
    skip(r);
    status = pass(r, '"')   ? read_string(r, value)
             : pass(r, '[') ? read_list(r, value)
             : pass(r, '{') ? read_map(r, value)
                            : read_word(r, value);
    r->depth--;
    return status;
}

int32_t lr_value_read_words(const char *text, uint64_t length, int32_t (*take)(void *self, rec_value *item), void *self)
{
    reader r = {.at = text, .end = text + length};
    int32_t status = pass(&r, '[') ? REC_OK : REC_E_FORMAT;
    do {
        rec_value item;
        skip(&r);
        status = status == REC_OK ? read_word(&r, &item) : status;
        status = status == REC_OK ? take(self, &item) : status;
    } while (status == REC_OK && pass(&r, ','));
    return status == REC_OK && !(pass(&r, ']') && r.at == r.end) ? REC_E_FORMAT : status;
}

static int32_t read_all(reader *r, rec_value *value)
{
    int32_t status = read_value(r, value);
    skip(r);
    return status == REC_OK && r->at < r->end ? REC_E_FORMAT : status;
}

int32_t lr_value_read_json(rec_record *record, const char *text, uint64_t length, rec_value *value)
{
    return read_all(&(reader){.arena = &record->arena, .at = text, .end = text + length}, value);
}

int32_t lr_value_read_exact(rec_record *record, const char *text, uint64_t length, unsigned depth, rec_value *value)
{
    return read_all(
        &(reader){
            .arena = &record->arena, .at = text, .end = text + length, .depth = DEPTH_MOST - depth, .exact = true},
        value);
}
