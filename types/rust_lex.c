/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Tokens of Rust source. The rules are those of the Rust Reference, chapter "Lexical structure". */
#include "types/rust_lex_private.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/** Brackets in a function's body go deeper than types do. */
enum { BRACKETS_MOST = 512, QUOTED_MOST = 40 };

/* ---------------------------------------------------------------------------------------------------- failures -- */

/* Characters from the start of the line, the first is 1. */
static unsigned column_of(const lr_rust_lexer *lexer, const char *at)
{
    const char *start = at;
    unsigned column = 1;
    while (start > lexer->begin && start[-1] != '\n') {
        start--;
    }
    for (; start < at; start++) {
        column += ((unsigned char)*start & 0xC0) != 0x80;
    }
    return column;
}

/* A piece of source for a message: up to a line's end, control characters as `?`. */
static const char *quoted(const char *text, size_t length, char *buffer, size_t room)
{
    size_t used = 0;
    bool cut = length > QUOTED_MOST;
    for (size_t i = 0; i < length && used < QUOTED_MOST && used + 8 < room; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c == '\n' || c == '\r') {
            cut = true;
            break;
        }
        buffer[used++] = c < ' ' || c == 0x7F ? '?' : (char)c;
    }
    while (cut && used && ((unsigned char)text[used] & 0xC0) == 0x80) {
        used--; /* not in the middle of a character */
    }
    (void)snprintf(buffer + used, room - used, "%s", cut ? "..." : "");
    return buffer;
}

int32_t lr_rust_fail(lr_rust_lexer *lexer, int32_t status, const char *at, uint32_t line, const char *format, ...)
{
    char what[1024], source[QUOTED_MOST + 16];
    const char *file = lexer->file ? lexer->file : "";
    unsigned column = column_of(lexer, at ? at : lexer->token.start);
    va_list args;
    line = at ? line : lexer->token.line;
    va_start(args, format);
    (void)vsnprintf(what, sizeof what, format, args);
    va_end(args);
    if (lexer->expression) {
        (void)quoted(lexer->begin, (size_t)(lexer->end - lexer->begin), source, sizeof source);
        (void)lr_fail_line(lexer->job, lexer->file || status == REC_E_LIMIT ? status : REC_E_ARGUMENT, file,
                           lexer->file ? line : 0, "the type `%s`, column %u: %s", source, column, what);
    } else {
        (void)lr_fail_line(lexer->job, status, file, line, "column %u: %s", column, what);
    }
    lexer->token = (lr_rust_token){.kind = LR_RUST_END, .start = lexer->end, .text = lexer->end, .line = line};
    lexer->next = lexer->end;
    return lexer->job->error.status;
}

int32_t lr_rust_expected(lr_rust_lexer *lexer, const char *format, ...)
{
    char expected[512], found[QUOTED_MOST + 16];
    const lr_rust_token *token = &lexer->token;
    va_list args;
    va_start(args, format);
    (void)vsnprintf(expected, sizeof expected, format, args);
    va_end(args);
    if (token->kind == LR_RUST_END) {
        return lr_rust_fail(lexer, REC_E_FORMAT, NULL, 0, "expected %s, found the end", expected);
    }
    (void)quoted(token->start, (size_t)(lexer->next - token->start), found, sizeof found);
    return lr_rust_fail(lexer, REC_E_FORMAT, NULL, 0, "expected %s, found `%s`", expected, found);
}

/* -------------------------------------------------------------------------------------------------- characters -- */

/* Non-ASCII characters other than white space count as letters: the source is valid UTF-8, and rustc accepted it. */
static bool starts_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (unsigned char)c >= 0x80;
}

static bool in_name(char c)
{
    return starts_name(c) || lr_is_digit(c);
}

static size_t left(const lr_rust_lexer *lexer, const char *at)
{
    return (size_t)(lexer->end - at);
}

static bool follows(const lr_rust_lexer *lexer, const char *at, const char *text)
{
    size_t length = strlen(text);
    return left(lexer, at) >= length && memcmp(at, text, length) == 0;
}

/* Returns the bytes of white space at `at`, possibly 0: Unicode's Pattern_White_Space. */
static size_t space_at(const lr_rust_lexer *lexer, const char *at)
{
    static const char *const wide[] = {"\xC2\x85", "\xE2\x80\x8E", "\xE2\x80\x8F", "\xE2\x80\xA8", "\xE2\x80\xA9"};
    if (at == lexer->end) {
        return 0;
    }
    if (*at == ' ' || (*at >= '\t' && *at <= '\r')) {
        return 1;
    }
    for (size_t i = 0; (unsigned char)*at >= 0x80 && i < sizeof wide / sizeof *wide; i++) {
        if (follows(lexer, at, wide[i])) {
            return strlen(wide[i]);
        }
    }
    return 0;
}

static const char *name_end(const lr_rust_lexer *lexer, const char *at)
{
    while (at < lexer->end && in_name(*at) && !space_at(lexer, at)) {
        at++;
    }
    return at;
}

/* ----------------------------------------------------------------------------------------- what is passed over -- */

/* Block comments nest. */
static bool skip_comment(lr_rust_lexer *lexer)
{
    const char *start = lexer->next;
    uint32_t line = lexer->line;
    size_t depth = 0;
    while (lexer->next < lexer->end) {
        if (follows(lexer, lexer->next, "/*")) {
            depth++;
            lexer->next += 2;
        } else if (follows(lexer, lexer->next, "*/")) {
            lexer->next += 2;
            if (--depth == 0) {
                return true;
            }
        } else {
            lexer->line += *lexer->next == '\n';
            lexer->next++;
        }
    }
    return LR_AS_FALSE(lr_rust_fail(lexer, REC_E_FORMAT, start, line, "the comment that begins here has no end `*/`"));
}

/* @return whether something was passed over; on failure the source has ended. */
static bool skip_spaces(lr_rust_lexer *lexer)
{
    const char *start = lexer->next;
    for (;;) {
        size_t space = space_at(lexer, lexer->next);
        if (space) {
            lexer->line += *lexer->next == '\n';
            lexer->next += space;
        } else if (follows(lexer, lexer->next, "//")) {
            const char *stop = memchr(lexer->next, '\n', left(lexer, lexer->next));
            lexer->next = stop ? stop : lexer->end;
        } else if (!follows(lexer, lexer->next, "/*") || !skip_comment(lexer)) {
            return lexer->next != start;
        }
    }
}

/* ---------------------------------------------------------------------------------------------------- literals -- */

/* Skips from after the opening quote to after the closing one. */
static void read_quoted(lr_rust_lexer *lexer, char quote, const char *what)
{
    const char *start = lexer->token.start;
    while (lexer->next < lexer->end) {
        char c = *lexer->next++;
        if (c == quote) {
            return;
        }
        if (c == '\\' && lexer->next < lexer->end) {
            c = *lexer->next++;
        }
        lexer->line += c == '\n';
    }
    (void)lr_rust_fail(lexer, REC_E_FORMAT, start, lexer->token.line, "the %s that begins here has no end", what);
}

/* `next` is at the first `#` or at the quote. @return false if this is no raw string. */
static bool read_raw(lr_rust_lexer *lexer)
{
    const char *at = lexer->next;
    size_t hashes = 0, found = 0;
    while (at < lexer->end && *at == '#') {
        at++;
        hashes++;
    }
    if (at == lexer->end || *at != '"') {
        return false;
    }
    for (at++; at < lexer->end; at++) {
        lexer->line += *at == '\n';
        if (*at != '"') {
            continue;
        }
        for (found = 0; found < hashes && at + 1 + found < lexer->end && at[1 + found] == '#'; found++) {
        }
        if (found == hashes) {
            lexer->next = at + 1 + hashes;
            return true;
        }
    }
    (void)lr_rust_fail(lexer, REC_E_FORMAT, lexer->token.start, lexer->token.line,
                       "the raw string that begins here has no end: a quote and %zu `#`", hashes);
    return true;
}

/* At an apostrophe: 'x' or '\n', else a lifetime. */
static void read_apostrophe(lr_rust_lexer *lexer)
{
    const char *at = ++lexer->next;
    size_t size;
    lexer->token.kind = LR_RUST_TEXT;
    if (at == lexer->end) {
        (void)lr_rust_fail(lexer, REC_E_FORMAT, at - 1, lexer->token.line, "expected a character after the apostrophe");
        return;
    }
    if (*at == '\\') {
        read_quoted(lexer, '\'', "character");
        return;
    }
    size = (unsigned char)*at < 0x80 ? 1 : lr_utf8_sequence((const uint8_t *)at, left(lexer, at));
    if (left(lexer, at) > size && at[size] == '\'' && *at != '\n') {
        lexer->next = at + size + 1;
        return;
    }
    if (!starts_name(*at)) {
        (void)lr_rust_fail(lexer, REC_E_FORMAT, at - 1, lexer->token.line,
                           "expected a character or a lifetime after the apostrophe");
        return;
    }
    lexer->token.kind = LR_RUST_LIFETIME;
    lexer->next = name_end(lexer, follows(lexer, at, "r#") ? at + 2 : at);
}

/* `1..2` is three tokens, `1.0` one, `1.max` three. */
static void read_number(lr_rust_lexer *lexer)
{
    const char *at = lexer->next;
    bool decimal = !(follows(lexer, at, "0x") || follows(lexer, at, "0o") || follows(lexer, at, "0b"));
    bool exponent = false;
    lexer->token.kind = LR_RUST_NUMBER;
    for (at++; at < lexer->end; at++) {
        if (in_name(*at) && (unsigned char)*at < 0x80) {
            exponent = decimal && (*at == 'e' || *at == 'E');
        } else if (*at == '.' && decimal && (left(lexer, at) < 2 || (at[1] != '.' && !starts_name(at[1])))) {
            exponent = false;
        } else if ((*at == '+' || *at == '-') && exponent) {
            exponent = false;
        } else {
            break;
        }
    }
    lexer->next = at;
}

/* A name, or a literal with letters before its quote. */
static void read_name(lr_rust_lexer *lexer)
{
    lr_rust_token *token = &lexer->token;
    const char *stop = name_end(lexer, lexer->next);
    size_t length = (size_t)(stop - lexer->next);
    char after = stop < lexer->end ? *stop : '\0';
    bool raw = lr_text_is(lexer->next, length, "r");
    bool plain = lr_text_is(lexer->next, length, "b") || lr_text_is(lexer->next, length, "c");
    if (raw && after == '#' && left(lexer, stop) > 1 && starts_name(stop[1]) && !space_at(lexer, stop + 1)) {
        token->raw = true;
        token->text = stop + 1;
        stop = name_end(lexer, stop + 1);
    } else if (raw || lr_text_is(lexer->next, length, "br") || lr_text_is(lexer->next, length, "cr")) {
        const char *start = lexer->next;
        token->kind = LR_RUST_TEXT;
        lexer->next = stop;
        if ((after == '#' || after == '"') && read_raw(lexer)) {
            return;
        }
        lexer->next = start;
    } else if (plain && after == '"') {
        token->kind = LR_RUST_TEXT;
        lexer->next = stop + 1;
        read_quoted(lexer, '"', "string");
        return;
    } else if (after == '\'' && lr_text_is(lexer->next, length, "b")) {
        token->kind = LR_RUST_TEXT;
        lexer->next = stop + 1;
        read_quoted(lexer, '\'', "byte");
        return;
    }
    token->kind = LR_RUST_NAME;
    lexer->next = stop;
}

/* ------------------------------------------------------------------------------------------------------ tokens -- */

static void read_sign(lr_rust_lexer *lexer)
{
    static const char *const wide[] = {"::", "->", "=>"};
    unsigned char c = (unsigned char)*lexer->next;
    lexer->token.kind = LR_RUST_SIGN;
    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++) {
        if (follows(lexer, lexer->next, wide[i])) {
            lexer->next += 2;
            return;
        }
    }
    if (c < ' ' || c == 0x7F || c == '`' || c == '\\') {
        (void)lr_rust_fail(lexer, REC_E_FORMAT, lexer->next, lexer->line, "a character that Rust does not use (0x%02x)",
                           c);
        return;
    }
    lexer->next++;
}

void lr_rust_next(lr_rust_lexer *lexer)
{
    lr_rust_token *token = &lexer->token;
    lexer->last = lexer->next;
    *token = (lr_rust_token){.spaced = skip_spaces(lexer)};
    token->start = lexer->next;
    token->text = lexer->next;
    token->line = lexer->line;
    if (lexer->next == lexer->end) {
        token->kind = LR_RUST_END;
        return;
    }
    if (starts_name(*lexer->next)) {
        read_name(lexer);
    } else if (lr_is_digit(*lexer->next)) {
        read_number(lexer);
    } else if (*lexer->next == '\'') {
        read_apostrophe(lexer);
    } else if (*lexer->next == '"') {
        token->kind = LR_RUST_TEXT;
        lexer->next++;
        read_quoted(lexer, '"', "string");
    } else {
        read_sign(lexer);
    }
    token->length = (size_t)(lexer->next - token->text);
}

void lr_rust_begin(lr_rust_lexer *lexer, rec_job *job, const char *text, uint64_t length, const char *file,
                   uint32_t line, bool expression)
{
    size_t valid;
    *lexer = (lr_rust_lexer){.job = job,
                             .file = file,
                             .expression = expression,
                             .begin = text,
                             .end = text,
                             .next = text,
                             .last = text,
                             .line = line};
    if (length > LR_RUST_SOURCE_MOST) {
        (void)lr_rust_fail(lexer, REC_E_LIMIT, text, line, "the source is larger than 16 MiB");
        return;
    }
    lexer->end = text + length;
    valid = lr_utf8_valid(text, (size_t)length);
    if (valid < length) {
        for (size_t i = 0; i < valid; i++) {
            line += text[i] == '\n';
        }
        (void)lr_rust_fail(lexer, REC_E_FORMAT, text + valid, line, "invalid UTF-8 (0x%02x)",
                           (unsigned char)text[valid]);
        rec_fail_hint(job, "Rust source is UTF-8 text.");
        return;
    }
    if (!expression && follows(lexer, lexer->next, "\xEF\xBB\xBF")) {
        lexer->next += 3;
    }
    if (!expression && follows(lexer, lexer->next, "#!")) { /* unless it is an attribute of the whole file, `#![…]` */
        lr_rust_lexer after = *lexer;
        after.next += 2;
        (void)skip_spaces(&after);
        if (after.next == after.end || *after.next != '[') {
            const char *stop = memchr(lexer->next, '\n', left(lexer, lexer->next));
            lexer->next = stop ? stop : lexer->end;
        }
    }
    lr_rust_next(lexer);
}

/* -------------------------------------------------------------------------------------------- what parsers ask -- */

bool lr_rust_is(const lr_rust_lexer *lexer, const char *word)
{
    const lr_rust_token *token = &lexer->token;
    return (token->kind == LR_RUST_SIGN || (token->kind == LR_RUST_NAME && !token->raw)) &&
           lr_text_is(token->text, token->length, word);
}

bool lr_rust_take(lr_rust_lexer *lexer, const char *word)
{
    bool is = lr_rust_is(lexer, word);
    if (is) {
        lr_rust_next(lexer);
    }
    return is;
}

bool lr_rust_need(lr_rust_lexer *lexer, const char *sign, const char *place)
{
    if (!lr_rust_is(lexer, sign)) {
        return LR_AS_FALSE(lr_rust_expected(lexer, "`%s` %s", sign, place));
    }
    lr_rust_next(lexer);
    return !lr_job_failed(lexer->job);
}

bool lr_rust_keyword(const char *text, size_t length)
{
    static const char *const words[] = {
        "as",     "async",  "await",  "break", "const", "continue", "dyn",    "else", "enum",  "extern", "false", "fn",
        "for",    "if",     "impl",   "in",    "let",   "loop",     "match",  "mod",  "move",  "mut",    "pub",   "ref",
        "return", "static", "struct", "trait", "true",  "type",     "unsafe", "use",  "where", "while"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (lr_text_is(text, length, words[i])) {
            return true;
        }
    }
    return false;
}

bool lr_rust_is_name(const lr_rust_lexer *lexer)
{
    const lr_rust_token *token = &lexer->token;
    return token->kind == LR_RUST_NAME && (token->raw || !lr_rust_keyword(token->text, token->length));
}

void lr_rust_skip(lr_rust_lexer *lexer)
{
    struct {
        char closing;
        uint32_t line;
    } open[BRACKETS_MOST];
    size_t depth = 0;
    do {
        char c = lexer->token.kind == LR_RUST_SIGN && lexer->token.length == 1 ? *lexer->token.text : '\0';
        if (c == '(' || c == '[' || c == '{') {
            if (depth == BRACKETS_MOST) {
                (void)lr_rust_fail(lexer, REC_E_LIMIT, NULL, 0, "brackets are nested deeper than %d levels",
                                   BRACKETS_MOST);
                return;
            }
            open[depth].closing = c == '(' ? ')' : c == '[' ? ']' : '}';
            open[depth++].line = lexer->token.line;
        } else if (depth && (c == ')' || c == ']' || c == '}')) {
            if (c != open[depth - 1].closing) {
                (void)lr_rust_expected(lexer, "`%c` to close what line %" PRIu32 " opened", open[depth - 1].closing,
                                       open[depth - 1].line);
                return;
            }
            depth--;
        } else if (depth && lexer->token.kind == LR_RUST_END) {
            (void)lr_rust_expected(lexer, "`%c` to close what line %" PRIu32 " opened", open[depth - 1].closing,
                                   open[depth - 1].line);
            return;
        }
        lr_rust_next(lexer);
    } while (depth);
}

bool lr_rust_skip_macro(lr_rust_lexer *lexer)
{
    if (!lr_rust_is(lexer, "(") && !lr_rust_is(lexer, "[") && !lr_rust_is(lexer, "{")) {
        return LR_AS_FALSE(lr_rust_expected(lexer, "a bracket after the name of the macro"));
    }
    lr_rust_skip(lexer);
    return true;
}

void lr_rust_skip_until(lr_rust_lexer *lexer, const char *sign)
{
    while (lexer->token.kind != LR_RUST_END && !lr_rust_is(lexer, sign) && !lr_rust_is(lexer, ")") &&
           !lr_rust_is(lexer, "]") && !lr_rust_is(lexer, "}")) {
        lr_rust_skip(lexer);
    }
}

bool lr_rust_integer(const lr_rust_token *token, uint64_t *value)
{
    static const char *const suffixes[] = {"usize", "isize", "u8",  "u16", "u32", "u64",
                                           "u128",  "i8",    "i16", "i32", "i64", "i128"};
    const char *at = token->text, *end = at + token->length;
    unsigned base = 10;
    bool any = false;
    *value = 0;
    if (token->kind != LR_RUST_NUMBER) {
        return false;
    }
    if (token->length > 2 && *at == '0' && (at[1] == 'x' || at[1] == 'o' || at[1] == 'b')) {
        base = at[1] == 'x' ? 16 : at[1] == 'o' ? 8 : 2;
        at += 2;
    }
    for (; at < end; at++) {
        unsigned digit = lr_is_digit(*at)           ? (unsigned)(*at - '0')
                         : *at >= 'a' && *at <= 'f' ? (unsigned)(*at - 'a') + 10
                         : *at >= 'A' && *at <= 'F' ? (unsigned)(*at - 'A') + 10
                                                    : 16;
        if (*at == '_') {
            continue;
        }
        if (digit >= base) {
            break;
        }
        if (!lr_mul(*value, base, value) || !lr_add(*value, digit, value)) {
            return false;
        }
        any = true;
    }
    for (size_t i = 0; at < end && i < sizeof suffixes / sizeof *suffixes; i++) {
        if (lr_text_is(at, (size_t)(end - at), suffixes[i])) {
            return any;
        }
    }
    return any && at == end;
}
