/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Checks that a text is JSON (RFC 8259). It shares no code with the writer of the command. */
#include <string.h>

#include "tests/fuzz/fuzz.h"

enum { DEPTH_MOST = 2000 };

/* A text that is read; `at` is NULL from the first mistake on. */
typedef struct reader {
    const char *at, *end;
    unsigned depth;
} reader;

static bool is_next(const reader *r, const char *set)
{
    return r->at && r->at < r->end && *r->at && strchr(set, *r->at);
}

static void skip(reader *r, const char *set)
{
    while (is_next(r, set)) {
        r->at++;
    }
}

static void skip_space(reader *r)
{
    skip(r, " \t\r\n");
}

/* Takes one character of a set. */
static void expect(reader *r, const char *set)
{
    r->at = is_next(r, set) ? r->at + 1 : NULL;
}

static void take_digits(reader *r)
{
    expect(r, "0123456789");
    skip(r, "0123456789");
}

static void take_number(reader *r)
{
    if (is_next(r, "-")) {
        r->at++;
    }
    if (is_next(r, "0")) {
        r->at++;
    } else {
        take_digits(r);
    }
    if (is_next(r, ".")) {
        r->at++;
        take_digits(r);
    }
    if (is_next(r, "eE")) {
        r->at++;
        if (is_next(r, "+-")) {
            r->at++;
        }
        take_digits(r);
    }
}

static void take_word(reader *r, const char *word)
{
    size_t length = strlen(word);
    r->at = (size_t)(r->end - r->at) >= length && memcmp(r->at, word, length) == 0 ? r->at + length : NULL;
}

/* One character of UTF-8 above 0x7f; RFC 3629 has no surrogates and no long forms. */
static void take_utf8(reader *r)
{
    const unsigned char *b = (const unsigned char *)r->at;
    size_t more = b[0] >= 0xf0 ? 3 : b[0] >= 0xe0 ? 2 : 1;
    unsigned low = b[0] == 0xe0 ? 0xa0 : b[0] == 0xf0 ? 0x90 : 0x80;
    unsigned high = b[0] == 0xed ? 0x9f : b[0] == 0xf4 ? 0x8f : 0xbf;
    bool good = b[0] >= 0xc2 && b[0] <= 0xf4 && (size_t)(r->end - r->at) > more && b[1] >= low && b[1] <= high;
    for (size_t i = 2; good && i <= more; i++) {
        good = b[i] >> 6 == 2;
    }
    r->at = good ? r->at + more + 1 : NULL;
}

static void take_escape(reader *r)
{
    bool number = is_next(r, "u");
    expect(r, "\"\\/bfnrtu");
    for (int i = 0; number && i < 4; i++) {
        expect(r, "0123456789abcdefABCDEF");
    }
}

static void take_string(reader *r)
{
    expect(r, "\"");
    while (r->at && r->at < r->end && *r->at != '"') {
        if ((unsigned char)*r->at >= 0x80) {
            take_utf8(r);
        } else if (*r->at == '\\') {
            r->at++;
            take_escape(r);
        } else {
            r->at = (unsigned char)*r->at < ' ' ? NULL : r->at + 1;
        }
    }
    expect(r, "\"");
}

static void take_value(reader *r);

/* A list or a map, by its brackets. */
static void take_members(reader *r, const char *close, bool keys)
{
    bool more;
    r->at = ++r->depth <= DEPTH_MOST ? r->at + 1 : NULL;
    skip_space(r);
    for (more = !is_next(r, close); more && r->at;) {
        if (keys) {
            take_string(r);
            skip_space(r);
            expect(r, ":");
        }
        take_value(r);
        more = is_next(r, ",");
        if (more) {
            r->at++;
            skip_space(r);
        }
    }
    expect(r, close);
    r->depth--;
}

static void take_value(reader *r)
{
    skip_space(r);
    if (is_next(r, "{[")) {
        take_members(r, *r->at == '{' ? "}" : "]", *r->at == '{');
    } else if (is_next(r, "\"")) {
        take_string(r);
    } else if (is_next(r, "tfn")) {
        take_word(r, *r->at == 't' ? "true" : *r->at == 'f' ? "false" : "null");
    } else {
        take_number(r);
    }
    skip_space(r);
}

bool fuzz_is_json(const char *text, size_t size)
{
    reader r = {text, text + size, 0};
    do {
        take_value(&r);
    } while (r.at && r.at < r.end);
    return r.at != NULL;
}
