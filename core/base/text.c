/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What people type. Names: comparing, checking, near misses; and the values of settings. ASCII only, so that no locale
 * has a say. */
#include "core/base/base.h"

#include "common/utf8.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool is_joint(char c)
{
    return c == '-' || c == '_' || c == '.';
}

bool lr_name_same(const char *a, const char *b)
{
    for (;;) {
        while (is_joint(*a)) {
            a++;
        }
        while (is_joint(*b)) {
            b++;
        }
        if (lower(*a) != lower(*b)) {
            return false;
        }
        if (!*a) {
            return true;
        }
        a++;
        b++;
    }
}

bool lr_name_valid(const char *name)
{
    size_t length = 0;
    bool solid = false;
    for (; name[length]; length++) {
        char c = name[length];
        if (length == LR_NAME_MOST || (!is_letter(c) && !lr_is_digit(c) && !is_joint(c))) {
            return false;
        }
        solid = solid || !is_joint(c);
    }
    return solid;
}

bool lr_key_valid(const char *key)
{
    size_t length = 0;
    for (; key[length]; length++) {
        char c = key[length];
        if (length == LR_NAME_MOST || !((c >= 'a' && c <= 'z') || lr_is_digit(c) || c == '-' || c == '_')) {
            return false;
        }
    }
    return length > 0;
}

/* ------------------------------------------------------------------------------------------------- near misses -- */

/* As names compare. @return the length, or 0 if it is empty or too long to be a name. */
static size_t fold(const char *name, char *folded)
{
    size_t length = 0;
    for (; *name; name++) {
        if (is_joint(*name)) {
            continue;
        }
        if (length == LR_NAME_MOST) {
            return 0;
        }
        folded[length++] = lower(*name);
    }
    return length;
}

void lr_suggestion_begin(lr_suggestion *near, const char *asked)
{
    near->asked = asked;
    near->best = NULL;
    near->distance = SIZE_MAX;
}

void lr_suggestion_try(lr_suggestion *near, const char *candidate)
{
    char a[LR_NAME_MOST], b[LR_NAME_MOST];
    size_t a_length = fold(near->asked, a), b_length = fold(candidate, b);
    size_t away;
    if (!a_length || !b_length) {
        return;
    }
    away = lr_distance(a, a_length, b, b_length);
    /* A third of the letters may be wrong: more is another word. */
    if (away < near->distance && away * 3 <= (a_length > b_length ? a_length : b_length)) {
        near->best = candidate;
        near->distance = away;
    }
}

/* ------------------------------------------------------------------------------------------------------- texts -- */

size_t lr_utf8_valid(const char *text, size_t length)
{
    return (size_t)lr_utf8_until((const uint8_t *)text, length);
}

const char *lr_excerpt_text(lr_excerpt *brief, const char *text)
{
    size_t length = strnlen(text, LR_NAME_MOST + 1);
    bool cut = length > LR_NAME_MOST;
    if (cut) {
        length = lr_character_begin(text, LR_NAME_MOST);
    }
    memcpy(brief->text, text, length);
    memcpy(brief->text + length, cut ? "..." : "", cut ? 4 : 1);
    return brief->text;
}

bool lr_bool_read(const char *text, bool *value)
{
    static const char *const yes[] = {"yes", "true", "on", "1"};
    static const char *const no[] = {"no", "false", "off", "0"};
    for (size_t i = 0; i < 4; i++) {
        if (strcasecmp(text, yes[i]) == 0 || strcasecmp(text, no[i]) == 0) {
            *value = strcasecmp(text, yes[i]) == 0;
            return true;
        }
    }
    return false;
}

bool lr_int_read(const char *text, int64_t *value)
{
    char *end;
    errno = 0;
    *value = strtoll(text, &end, 10);
    return *text && !*end && errno == 0 && text[0] != ' ';
}

bool lr_size_read(const char *text, uint64_t *bytes)
{
    static const char *const units[] = {"KiB", "MiB", "GiB"};
    const char *end = text, *unit;
    *bytes = 0;
    for (; lr_is_digit(*end); end++) {
        if (!lr_mul(*bytes, 10, bytes) || !lr_add(*bytes, (uint64_t)(*end - '0'), bytes)) {
            return false;
        }
    }
    unit = end + strspn(end, " \t");
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (strcmp(unit, units[i]) == 0) {
            return end > text && lr_mul(*bytes, UINT64_C(1024) << (10 * i), bytes);
        }
    }
    return end > text && !*end;
}

/* The decimal point of strtod() depends on the locale, so it gets digits and an exponent without a point. 767 digits,
 * and whether any later digit is not 0, decide the nearest double. */
bool lr_number_read(const char *text, size_t length, double *value)
{
    enum { DIGITS_MOST = 800, EXPONENT_ROOM = 32 };
    static const int64_t exponent_most = INT64_C(1000000000000000);
    char plain[DIGITS_MOST + EXPONENT_ROOM];
    const char *at = text, *end = text + length;
    size_t used = 0, digits = 0;
    int64_t scale = 0, exponent = 0;
    bool valid = false, point = false, more = false, down = false;
    if (at < end && (*at == '-' || *at == '+')) {
        plain[used++] = *at++;
    }
    for (; at < end && (lr_is_digit(*at) || (*at == '.' && !point)); at++) {
        if (*at == '.') {
            point = true;
            continue;
        }
        valid = true;
        scale -= point;
        if (digits == DIGITS_MOST) {
            more = more || *at != '0';
            scale++;
        } else if (digits || *at != '0') {
            plain[used++] = *at;
            digits++;
        }
    }
    if (valid && at < end && (*at == 'e' || *at == 'E')) {
        at++;
        down = at < end && *at == '-';
        at += at < end && (*at == '-' || *at == '+');
        valid = at < end && lr_is_digit(*at);
        for (; at < end && lr_is_digit(*at); at++) {
            exponent = exponent < exponent_most ? exponent * 10 + (*at - '0') : exponent;
        }
    }
    if (!valid || at != end) {
        return false;
    }
    scale += down ? -exponent : exponent;
    if (more || !digits) {
        plain[used++] = more ? '1' : '0';
        scale -= more;
    }
    (void)snprintf(plain + used, sizeof plain - used, "e%" PRId64, scale);
    *value = strtod(plain, NULL);
    return isfinite(*value);
}

const char *lr_number_put(char *text, size_t room, char form, int digits, double number)
{
    char *point;
    (void)(form == 'e' ? snprintf(text, room, "%.*e", digits, number) : snprintf(text, room, "%.*g", digits, number));
    point = text + strspn(text, "+-0123456789e");
    if (isfinite(number) && *point) { /* up to three bytes */
        size_t length = strcspn(point, "0123456789");
        *point = '.';
        memmove(point + 1, point + length, strlen(point + length) + 1);
    }
    return text;
}

size_t lr_number_name(const char *text, size_t length)
{
    size_t used = 0;
    while (used < length &&
           (is_letter(text[used]) || text[used] == '_' || (used && (lr_is_digit(text[used]) || text[used] == '.')))) {
        used++;
    }
    return used;
}

/* -------------------------------------------------------------------------------------------------------- Rust -- */

/* Words that can be names in Rust with r# alone. `gen` is one since the edition of 2024. */
int32_t rec_is_rust_word(const char *name, uint64_t length)
{
    static const char words[][9] = {"abstract", "as",      "async",  "await",   "become",   "box",    "break", "const",
                                    "continue", "do",      "dyn",    "else",    "enum",     "extern", "false", "final",
                                    "fn",       "for",     "if",     "impl",    "in",       "let",    "loop",  "macro",
                                    "match",    "mod",     "move",   "mut",     "override", "priv",   "pub",   "ref",
                                    "return",   "static",  "struct", "trait",   "true",     "try",    "type",  "typeof",
                                    "unsafe",   "unsized", "use",    "virtual", "where",    "while",  "yield"};
    char key[sizeof *words] = "";
    if (!name || length < 2 || length >= sizeof key) {
        return 0;
    }
    memcpy(key, name, (size_t)length);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (memcmp(words[i], key, 8) == 0) {
            return strlen(key) == length;
        }
    }
    return 0;
}
