/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Escapes of Rust's pattern syntax. Properties of Unicode and the kinds of word boundaries are rejected by name. */
#include <stdio.h>
#include <string.h>

#include "remap/regex/regex_private.h"

/* -------------------------------------------------------------------------------------------------- characters -- */

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
    char kind = *p->at++;
    uint32_t wanted = kind == 'x' ? 2 : (kind == 'u' ? 4 : 8);
    uint32_t value = 0, digits = 0;
    bool braces = lr_re_take(p, "{"), fits = true;
    for (; p->at < p->end && (braces ? *p->at != '}' : digits < wanted); p->at++, digits++) {
        int digit = digit_value(lr_re_peek(p, p->at, NULL));
        if (digit < 0) {
            return lr_re_fail(p, p->at, "expected a hexadecimal digit of `\\%c`", kind);
        }
        fits = fits && value <= LR_RE_CHARACTER_MOST;
        value = fits ? value * 16 + (uint32_t)digit : value;
    }
    if (braces ? !lr_re_take(p, "}") : digits < wanted) {
        return lr_re_fail(p, start, "the escape that begins here has no end: write `\\x41` or `\\x{41}`");
    }
    if (!digits || !fits || value > LR_RE_CHARACTER_MOST || (value >= 0xD800 && value <= 0xDFFF)) {
        return lr_re_fail(p, start, "the escape that begins here is not a character of Unicode");
    }
    escape->character = value;
    return true;
}

/* Escapes that other engines have. */
static bool refuse_escape(lr_re_parser *p, const char *start, uint32_t c)
{
    static const struct {
        char letter;
        const char *words;
    } known[] = {{'Z', "write `\\z` for the end of the text"},
                 {'G', "leave it out: a search continues where the last match ended"},
                 {'K', "put what it keeps into a group, `(…)`, and write the group into the replacement"},
                 {'Q', "write a `\\` before each special character"},
                 {'E', "write a `\\` before each special character"},
                 {'R', "write `(?:\\r\\n|\\n|\\r)`"},
                 {'h', "write `[ \\t]`"},
                 {'H', "write `[^ \\t]`"},
                 {'N', "write `.`"},
                 {'V', "write `[^\\x0B]`"},
                 {'X', "write `.`"},
                 {'e', "write `\\x1B`"},
                 {'c', "write the character as `\\x` and two digits"},
                 {'C', "write `.`"},
                 {'k', "back-references are not part of it"},
                 {'g', "back-references are not part of it"},
                 {'o', "write the character as `\\x{…}`"}};
    char sign[6] = "\\", advice[64];
    (void)lr_re_encode(c, sign + 1);
    if (c >= '1' && c <= '9') {
        return lr_re_fail_foreign(p, start, "the back-reference ", sign,
                                  "write out what the group may match once more");
    }
    if (c == '0') {
        return lr_re_fail_foreign(p, start, "the octal escape ", sign, "write `\\x00`");
    }
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if ((uint32_t)known[i].letter == c) {
            return lr_re_fail_foreign(p, start, "", sign, known[i].words);
        }
    }
    (void)snprintf(advice, sizeof advice, "write `%s` for the character itself",
                   c < ' ' || c == 0x7F ? "\\x{…}" : sign + 1);
    return lr_re_fail_foreign(p, start, "", sign, advice);
}

/* Escapes of Rust's syntax that are not supported. @return false. */
static bool unsupported(lr_re_parser *p, const char *start, char letter)
{
    if (letter == 'p' || letter == 'P') {
        (void)lr_re_fail(
            p, start,
            "the Unicode property `\\%c` is not supported: write `\\w`, `\\d`, `\\s` or the characters themselves",
            letter);
    } else {
        (void)lr_re_fail(p, start, "the word boundary `\\%c%s` is not supported: write `\\b`", letter,
                         letter == 'b' ? "{…}" : "");
    }
    return false;
}

/* Whether `{` and a letter follow `\b`, as in `\b{start}`: `{` and a digit is a repetition. */
static bool is_kind_of_boundary(const lr_re_parser *p)
{
    return p->at < p->end && *p->at == '{' && !(lr_re_second(p) <= '9' && lr_re_second(p) >= '0') &&
           lr_re_second(p) != ' ';
}

bool lr_re_parse_escape(lr_re_parser *p, lr_re_escape *escape)
{
    static const char perls[] = "dswDSW"; /* the bits of LR_SET_… in order */
    static const char plain[] = "afntrv";
    static const char meaning[] = "\a\f\n\t\r\v";
    const char *start = p->at++;
    const char *letter, *perl;
    uint32_t size, c = lr_re_peek(p, p->at, &size);
    *escape = (lr_re_escape){0};
    if (p->at == p->end) {
        return lr_re_fail(p, start, "nothing follows the `\\`: write `\\\\` for the character itself");
    }
    switch (c) {
    case 'x':
    case 'u':
    case 'U':
        return parse_hex(p, start, escape);
    case 'p':
    case 'P':
    case '<':
    case '>':
        return unsupported(p, start, (char)c);
    default:
        break;
    }
    perl = c && c < 0x80 ? strchr(perls, (int)c) : NULL;
    if (perl) {
        p->at++;
        escape->perl = UINT32_C(1) << (perl - perls);
        return true;
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
        return !is_kind_of_boundary(p) || unsupported(p, start, 'b');
    case 'B':
        escape->anchor = LR_RE_NOT_WORD;
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
