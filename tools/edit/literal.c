/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Values on the command line: JSON, where numbers may end in a Rust type, 5u8; other text is a string. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/edit/edit_private.h"

enum { DEPTH_MOST = 32 };

typedef struct reader {
    const char *at;
    unsigned depth;
    const char *wrong; /* what was expected at `at`; NULL: nothing is wrong */
    bool number;       /* in a number: it cannot be a string then */
} reader;

static void skip(reader *r)
{
    r->at += strspn(r->at, " \t\r\n");
}

static bool fail(reader *r, const char *expected)
{
    r->wrong = r->wrong ? r->wrong : expected;
    return false;
}

static bool read_hex(reader *r, uint32_t *code)
{
    char digits[5];
    size_t count;

    (void)snprintf(digits, sizeof digits, "%.4s", r->at);
    count = strspn(digits, "0123456789abcdefABCDEF");
    r->at += count;
    *code = (uint32_t)strtoul(digits, NULL, 16);
    return count == 4 || fail(r, "four hexadecimal digits");
}

static bool read_escape(reader *r, text *t)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    const char *known = *r->at ? strchr(from, *r->at) : NULL;
    uint32_t code, low;

    if (known) {
        r->at++;
        tool_text_add(t, to + (known - from), 1);
        return true;
    }
    if (*r->at != 'u') {
        return fail(r, "an escape of JSON");
    }
    r->at++;
    if (!read_hex(r, &code)) {
        return false;
    }
    if (code >= 0xd800 && code < 0xdc00 && r->at[0] == '\\' && r->at[1] == 'u') {
        r->at += 2;
        if (!read_hex(r, &low)) {
            return false;
        }
        code = low >= 0xdc00 && low < 0xe000 ? 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00) : 0xd800;
    }
    if (code >= 0xd800 && code < 0xe000) {
        return fail(r, "a pair of surrogates");
    }
    tool_text_character(t, code);
    return true;
}

static bool read_string(reader *r, text *t)
{
    tool_text_add(t, "", 0);
    r->at++;
    while (*r->at && *r->at != '"') {
        if (*r->at == '\\') {
            r->at++;
            if (!read_escape(r, t)) {
                return false;
            }
        } else {
            tool_text_add(t, r->at++, 1);
        }
    }
    return *r->at++ == '"' || (r->at--, fail(r, "the end of a string"));
}

/* The suffixes of numbers. */
static const struct suffix {
    const char *name;
    int32_t kind;
    uint16_t bits;
} suffixes[] = {{"u8", REC_KIND_UINT, 8},    {"u16", REC_KIND_UINT, 16},   {"u32", REC_KIND_UINT, 32},
                {"u64", REC_KIND_UINT, 64},  {"usize", REC_KIND_UINT, 64}, {"i8", REC_KIND_INT, 8},
                {"i16", REC_KIND_INT, 16},   {"i32", REC_KIND_INT, 32},    {"i64", REC_KIND_INT, 64},
                {"isize", REC_KIND_INT, 64}, {"f32", REC_KIND_FLOAT, 32},  {"f64", REC_KIND_FLOAT, 64}};

bool tool_edit_fit(rec_scalar *n, int32_t kind, uint32_t bits)
{
    rec_scalar to = {.kind = kind, .bits = (uint16_t)bits};
    uint64_t most = bits && bits < 64 ? (UINT64_C(1) << (bits - 1)) - 1 : INT64_MAX;
    double value = n->kind == REC_KIND_FLOAT ? n->v.f : n->kind == REC_KIND_INT ? (double)n->v.i : (double)n->v.u;
    bool fits;

    if (kind == REC_KIND_FLOAT) {
        fits = bits != 32 || isinf(value) || !isinf((float)value);
        to.v.f = bits == 32 ? (double)(float)value : value;
    } else if (kind == REC_KIND_UINT) {
        fits = n->kind == REC_KIND_UINT && n->v.u / 2 <= most;
        to.v.u = n->v.u;
    } else {
        fits = n->kind == REC_KIND_UINT ? n->v.u <= most : n->kind == REC_KIND_INT && n->v.i >= -(int64_t)most - 1;
        to.v.i = n->v.i;
    }
    *n = fits ? to : *n;
    return fits;
}

static bool read_number(reader *r, literal *l)
{
    static const char *const names[] = {"NaN", "Infinity", "-Infinity", "inf", "-inf"};
    static const double values[] = {(double)NAN, (double)INFINITY, -(double)INFINITY, (double)INFINITY,
                                    -(double)INFINITY};
    const char *begin = r->at;
    size_t length = strspn(begin + (*begin == '-'), "0123456789") + (*begin == '-');
    char *end;

    l->kind = LITERAL_NUMBER;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t word = strlen(names[i]);
        if (strncmp(begin, names[i], word) == 0) {
            l->number = (rec_scalar){.kind = REC_KIND_FLOAT, .bits = 64, .v = {.f = values[i]}};
            r->at += word;
            goto suffix;
        }
    }
    if (length == (size_t)(*begin == '-')) {
        return fail(r, "a value");
    }
    r->number = true;
    errno = 0;
    if (begin[length] == '.' || begin[length] == 'e' || begin[length] == 'E') {
        l->number = (rec_scalar){.kind = REC_KIND_FLOAT, .bits = 64, .v = {.f = strtod(begin, &end)}};
        if (isinf(l->number.v.f)) {
            return fail(r, "a number that a double holds");
        }
    } else if (*begin == '-') {
        l->number = (rec_scalar){.kind = REC_KIND_INT, .v = {.i = strtoll(begin, &end, 10)}};
    } else {
        l->number = (rec_scalar){.kind = REC_KIND_UINT, .v = {.u = strtoull(begin, &end, 10)}};
    }
    if (errno == ERANGE && l->number.kind != REC_KIND_FLOAT) {
        return fail(r, "a number of 64 bits");
    }
    r->at = end;
suffix:
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        length = strlen(suffixes[i].name);
        if (strncmp(r->at, suffixes[i].name, length) == 0 &&
            !strchr("0123456789", r->at[length] ? r->at[length] : ' ')) {
            l->typed = true;
            if (l->number.kind == REC_KIND_FLOAT && suffixes[i].kind != REC_KIND_FLOAT) {
                return fail(r, "a whole number before the suffix of one");
            }
            if (!tool_edit_fit(&l->number, suffixes[i].kind, suffixes[i].bits)) {
                return fail(r, "a number that fits its suffix");
            }
            r->at += length;
            break;
        }
    }
    r->number = false;
    return true;
}

static literal *add_item(literal *l)
{
    l->items = tool_grown(l->items, l->count, sizeof *l->items);
    l->items[l->count] = (literal){0};
    return &l->items[l->count++];
}

static bool read_word(reader *r, literal *l)
{
    static const struct {
        const char *word;
        int kind;
        int64_t value;
    } known[] = {{"null", LITERAL_NULL, 0}, {"true", LITERAL_BOOL, 1}, {"false", LITERAL_BOOL, 0}};

    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        size_t length = strlen(known[i].word);
        if (strncmp(r->at, known[i].word, length) == 0) {
            r->at += length;
            l->kind = known[i].kind;
            l->number.kind = l->kind == LITERAL_BOOL ? REC_KIND_BOOL : REC_KIND_NIL;
            l->number.v.i = known[i].value;
            return true;
        }
    }
    return read_number(r, l);
}

static bool read_value(reader *r, literal *l);

static bool read_items(reader *r, literal *l, char close)
{
    if (++r->depth > DEPTH_MOST) {
        return fail(r, "fewer levels");
    }
    r->at++;
    skip(r);
    while (*r->at != close) {
        literal *item;
        if (l->count) {
            if (*r->at != ',') {
                return fail(r, close == ']' ? "a comma or ]" : "a comma or }");
            }
            r->at++;
            skip(r);
        }
        item = add_item(l);
        if (l->kind == LITERAL_MAP) {
            if (*r->at != '"' || !read_string(r, &item->key)) {
                return fail(r, "a key in quotes");
            }
            skip(r);
            if (*r->at++ != ':') {
                return r->at--, fail(r, "a colon");
            }
            skip(r);
        }
        if (!read_value(r, item)) {
            return false;
        }
        skip(r);
    }
    r->at++;
    r->depth--;
    return true;
}

static bool read_value(reader *r, literal *l)
{
    switch (*r->at) {
    case '"':
        l->kind = LITERAL_STRING;
        return read_string(r, &l->string);
    case '[':
        l->kind = LITERAL_LIST;
        return read_items(r, l, ']');
    case '{':
        l->kind = LITERAL_MAP;
        return read_items(r, l, '}');
    default:
        return read_word(r, l);
    }
}

/* Whether the text begins like JSON: then it must be valid JSON. */
static bool is_meant(const char *at)
{
    return *at && strchr("[{\"", *at);
}

int tool_edit_literal(literal *l, const char *at, const char *what)
{
    reader r = {.at = at};

    *l = (literal){0};
    skip(&r);
    if (read_value(&r, l) && (skip(&r), *r.at)) {
        (void)fail(&r, "the end");
    }
    if (!r.wrong) {
        return EXIT_OK;
    }
    tool_edit_literal_free(l);
    if (r.number || is_meant(at + strspn(at, " "))) {
        return tool_fail("%s: expected %s, found \"%.40s\"", what, r.wrong, r.at);
    }
    l->kind = LITERAL_STRING;
    tool_text_put(&l->string, at);
    return EXIT_OK;
}

void tool_edit_literal_free(literal *l)
{
    for (size_t i = 0; i < l->count; i++) {
        tool_edit_literal_free(&l->items[i]);
    }
    free(l->items);
    tool_text_free(&l->string);
    tool_text_free(&l->key);
    *l = (literal){0};
}
