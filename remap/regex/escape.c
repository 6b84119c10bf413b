/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Escapes of Rust's pattern syntax, and the steps from character to character. White space of `(?x)` may stand inside
 * of an escape, as Rust's parser has it. */
#include <string.h>

#include "remap/regex/regex_private.h"

/* -------------------------------------------------------------------------------------------------- characters -- */

bool lr_re_is_space(uint32_t c)
{
    return c == ' ' || (c >= '\t' && c <= '\r') || c == 0x85 || c == 0xA0 || c == 0x1680 ||
           (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

void lr_re_skip_spaces(lr_re_parser *p)
{
    while (p->flags.spaces && p->at < p->end) {
        uint32_t size, c = lr_re_peek(p, p->at, &size);
        if (c == '#') {
            const char *stop = memchr(p->at, '\n', (size_t)(p->end - p->at));
            p->at = stop ? stop + 1 : p->end;
        } else if (lr_re_is_space(c)) {
            p->at += size;
        } else {
            return;
        }
    }
}

bool lr_re_step(lr_re_parser *p)
{
    uint32_t size;
    (void)lr_re_peek(p, p->at, &size);
    p->at += size;
    lr_re_skip_spaces(p);
    return p->at < p->end;
}

bool lr_re_take(lr_re_parser *p, const char *word)
{
    size_t length = strlen(word);
    if ((size_t)(p->end - p->at) < length || memcmp(p->at, word, length) != 0) {
        return false;
    }
    p->at += length;
    return true;
}

uint32_t lr_re_second(const lr_re_parser *p)
{
    uint32_t size;
    (void)lr_re_peek(p, p->at, &size);
    return lr_re_peek(p, p->at + size, NULL);
}

uint32_t lr_re_second_spaced(const lr_re_parser *p)
{
    bool comment = false;
    const char *at = p->at;
    uint32_t size, c;
    if (!p->flags.spaces) {
        return lr_re_second(p);
    }
    (void)lr_re_peek(p, at, &size);
    for (at += size; at < p->end; at += size) {
        c = lr_re_peek(p, at, &size);
        if (c == '#' && !comment) {
            comment = true;
        } else if (!lr_re_is_space(c)) {
            return c;
        }
    }
    return 0;
}

static int digit_value(uint32_t c)
{
    if (c >= '0' && c <= '9') {
        return (int)c - '0';
    }
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? (int)c - 'a' + 10 : -1;
}

/* ----------------------------------------------------------------------------------------------------- escapes -- */

/* Behind `\x`, `\u` or `\U`: a fixed number of digits, or any in braces. */
static bool parse_hex(lr_re_parser *p, const char *start, lr_re_escape *escape)
{
    char kind = *p->at;
    uint32_t wanted = kind == 'x' ? 2 : (kind == 'u' ? 4 : 8);
    uint32_t value = 0, digits = 0;
    bool braces, more = lr_re_step(p), fits = true;
    braces = more && *p->at == '{';
    if (braces) {
        more = lr_re_step(p);
    }
    while (more && (braces ? *p->at != '}' : digits < wanted)) {
        int digit = digit_value(lr_re_peek(p, p->at, NULL));
        if (digit < 0) {
            (void)lr_re_fail(p, p->at, "expected a hexadecimal digit of `\\%c`", kind);
            return false;
        }
        fits = fits && value <= LR_RE_CHARACTER_MOST;
        value = fits ? value * 16 + (uint32_t)digit : value;
        digits++;
        more = lr_re_step(p);
    }
    if (braces ? !more : digits < wanted) {
        (void)lr_re_fail(p, start, "the escape that begins here has no end: write `\\x41` or `\\x{41}`");
        return false;
    }
    if (braces) {
        (void)lr_re_step(p);
    }
    if (!digits || !fits || value > LR_RE_CHARACTER_MOST || (value >= 0xD800 && value <= 0xDFFF)) {
        (void)lr_re_fail(p, start, "the escape that begins here is no character of Unicode");
        return false;
    }
    escape->character = value;
    escape->byte = kind == 'x' && !braces;
    return true;
}

/* Behind the `\` of `\pL`, `\p{…}` and their opposites. */
static bool parse_property(lr_re_parser *p, const char *start, lr_re_escape *escape)
{
    lr_re_text name = {.allocator = p->job->allocator};
    const char *value = NULL, *split;
    size_t name_length, value_length = 0;
    bool negated = *p->at == 'P';
    bool more = lr_re_step(p);
    uint32_t size;
    if (more && *p->at == '{') {
        while ((more = lr_re_step(p)) && *p->at != '}') {
            (void)lr_re_peek(p, p->at, &size);
            lr_re_text_add(&name, p->at, size);
        }
        p->at += more;
    } else if (more && *p->at != '\\') {
        (void)lr_re_peek(p, p->at, &size);
        lr_re_text_add(&name, p->at, size);
        (void)lr_re_step(p);
    } else {
        more = false;
    }
    if (!more) {
        (void)lr_re_fail(p, start, "expected the name of a Unicode property: `\\pL`, `\\p{Greek}`");
    } else if (name.failed) {
        (void)lr_re_fail_memory(p);
    } else {
        const char *text = name.data ? name.data : "";
        name_length = name.used;
        split = strstr(text, "!=");
        if (split) {
            negated = !negated;
            value = split + 2;
        } else if ((split = strchr(text, ':')) != NULL || (split = strchr(text, '=')) != NULL) {
            value = split + 1;
        }
        if (value) {
            name_length = (size_t)(split - text);
            value_length = name.used - (size_t)(value - text);
        }
        escape->set = lr_re_unicode_class(p, text, name_length, value, value_length, negated, start);
    }
    lr_re_text_free(&name);
    return escape->set != NULL;
}

/* Behind `\b` where `{` follows: a kind of boundary, or nothing and the `{` stays. */
static bool parse_boundary(lr_re_parser *p, const char *start, lr_re_escape *escape)
{
    static const struct {
        const char *name;
        int32_t anchor;
    } kinds[] = {{"start", LR_RE_WORD_START},
                 {"end", LR_RE_WORD_END},
                 {"start-half", LR_RE_NOT_AFTER_WORD},
                 {"end-half", LR_RE_NOT_BEFORE_WORD}};
    const char *brace = p->at;
    char name[16];
    size_t used = 0;
    if (!lr_re_step(p)) {
        (void)lr_re_fail(p, start, "the `{` behind `\\b` has no end");
        return false;
    }
    for (char c = *p->at; p->at < p->end; c = *p->at) {
        if (c != '-' && !((c | 0x20) >= 'a' && (c | 0x20) <= 'z')) {
            break;
        }
        if (used + 1 < sizeof name) {
            name[used++] = c;
        }
        if (!lr_re_step(p)) {
            break;
        }
    }
    if (!used) { /* a repetition */
        p->at = brace;
        return true;
    }
    name[used] = '\0';
    for (size_t i = 0; p->at < p->end && *p->at == '}' && i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(kinds[i].name, name) == 0) {
            escape->anchor = kinds[i].anchor;
            p->at++;
            return true;
        }
    }
    (void)lr_re_fail(p, start, "expected `\\b{start}`, `\\b{end}`, `\\b{start-half}` or `\\b{end-half}`");
    return false;
}

/* Escapes that other engines have. */
static bool refuse_escape(lr_re_parser *p, const char *start, uint32_t c)
{
    static const struct {
        char letter;
        const char *words;
    } known[] = {{'Z', "write `\\z` for the end of the text"},
                 {'G', "leave it out: a search goes on where the last match ended"},
                 {'K', "put what it keeps into a group, `(…)`, and write the group into the replacement"},
                 {'Q', "write a `\\` in front of each sign that means something"},
                 {'E', "write a `\\` in front of each sign that means something"},
                 {'R', "write `(?:\\r\\n|\\n|\\r)`"},
                 {'h', "write `[ \\t]`"},
                 {'H', "write `[^ \\t]`"},
                 {'N', "write `.`"},
                 {'V', "write `[^\\x0B]`"},
                 {'X', "write `\\PM\\pM*`"},
                 {'e', "write `\\x1B`"},
                 {'c', "write the character as `\\x` and two digits"},
                 {'C', "write `.`"},
                 {'k', "back-references are not part of it"},
                 {'g', "back-references are not part of it"},
                 {'o', "write the character as `\\x{…}`"}};
    char bytes[5] = {0};
    (void)lr_re_encode(c, bytes);
    if (c >= '1' && c <= '9') {
        (void)lr_re_fail(p, start,
                         "the back-reference `\\%s` is not part of Rust's regex syntax, which rules are written "
                         "in: write out what the group may match once more",
                         bytes);
        return false;
    }
    if (c == '0') {
        (void)lr_re_fail(p, start,
                         "the octal escape `\\0` is not part of Rust's regex syntax, which rules are written in: "
                         "write `\\x00`");
        return false;
    }
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if ((uint32_t)known[i].letter == c) {
            (void)lr_re_fail(p, start, "`\\%c` is not part of Rust's regex syntax, which rules are written in: %s",
                             known[i].letter, known[i].words);
            return false;
        }
    }
    (void)lr_re_fail(p, start,
                     "`\\%s` is not part of Rust's regex syntax, which rules are written in: write `%s` for the "
                     "character itself",
                     bytes, c < ' ' || c == 0x7F ? "\\x{…}" : bytes);
    return false;
}

bool lr_re_parse_escape(lr_re_parser *p, lr_re_escape *escape)
{
    static const char plain[] = "afntrv";
    static const char meaning[] = "\a\f\n\t\r\v";
    const char *start = p->at++;
    const char *letter;
    uint32_t size, c = lr_re_peek(p, p->at, &size);
    *escape = (lr_re_escape){0};
    if (p->at == p->end) {
        (void)lr_re_fail(p, start, "nothing follows the `\\`: write `\\\\` for the character itself");
        return false;
    }
    switch (c) {
    case 'x':
    case 'u':
    case 'U':
        return parse_hex(p, start, escape);
    case 'p':
    case 'P':
        return parse_property(p, start, escape);
    case 'd':
    case 'D':
    case 's':
    case 'S':
    case 'w':
    case 'W':
        p->at++;
        escape->set = lr_re_perl_class(p, (char)c, start);
        return escape->set != NULL;
    default:
        break;
    }
    p->at += size;
    switch (c) {
    case 'A':
        escape->anchor = LR_RE_TEXT_START;
        return true;
    case 'z':
        escape->anchor = LR_RE_TEXT_END;
        return true;
    case 'b':
        escape->anchor = LR_RE_WORD;
        return p->at == p->end || *p->at != '{' || parse_boundary(p, start, escape);
    case 'B':
        escape->anchor = LR_RE_NOT_WORD;
        return true;
    case '<':
        escape->anchor = LR_RE_WORD_START;
        return true;
    case '>':
        escape->anchor = LR_RE_WORD_END;
        return true;
    default:
        break;
    }
    letter = c && c < 0x80 ? strchr(plain, (int)c) : NULL;
    if (letter) {
        escape->character = (unsigned char)meaning[letter - plain];
        return true;
    }
    if (c >= 0x80 || (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z')) {
        return refuse_escape(p, start, c);
    }
    escape->character = c; /* any other sign of ASCII is itself */
    return true;
}
