/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Patterns of keys: what the shell's globs are to files, and what a folded listing shows, `layers.#.{wq,wk}` say. */
#include <errno.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "tools/look/look.h"

struct key_patterns {
    struct pattern {
        const char *text; /* without the exclamation mark */
        bool excludes;
        bool used; /* a key matched */
        regex_t regex;
    } *at;
    size_t count;
    bool includes; /* some do */
};

/* @return the brace that closes the one at `open`, or NULL. */
static const char *closing(const char *open)
{
    size_t level = 0;

    for (const char *at = open; *at; at++) {
        level += *at == '{';
        level -= *at == '}';
        if (level == 0) {
            return at;
        }
    }
    return NULL;
}

/* Adds the numbers from `first` to `last`, by their digits: 8-123 is ([8-9]|[1-9][0-9]|1[0-1][0-9]|12[0-3]). */
static void add_numbers(text *regex, uint64_t first, uint64_t last)
{
    const char *before = "(";

    while (first <= last) {
        uint64_t unit = 1, digit, high;
        /* As many digits as are free, all numbers being of one length. */
        while (first >= unit * 10 && first % (unit * 10) == 0 && first + unit * 10 - 1 <= last) {
            unit *= 10;
        }
        digit = first / unit % 10;
        high = digit;
        while (high < 9 && first + (high - digit + 2) * unit - 1 <= last) {
            high++;
        }
        tool_text_put(regex, before);
        before = "|";
        if (first / unit >= 10) {
            tool_text_format(regex, "%llu", (unsigned long long)(first / unit / 10));
        }
        tool_text_format(regex, "[%c-%c]", (char)('0' + digit), (char)('0' + high));
        for (uint64_t rest = unit; rest > 1; rest /= 10) {
            tool_text_put(regex, "[0-9]");
        }
        first += (high - digit + 1) * unit;
    }
    tool_text_put(regex, ")");
}

/* Adds `0-3` between braces. @return its length, 0 for other text. */
static size_t add_range(text *regex, const char *at)
{
    size_t digits = strspn(at, "0123456789"), more = at[digits] == '-' ? strspn(at + digits + 1, "0123456789") : 0;
    size_t length = digits + 1 + more;
    uint64_t first, last;

    if (!digits || !more || digits > 15 || more > 15 || (at[length] != ',' && at[length] != '}')) {
        return 0;
    }
    first = strtoull(at, NULL, 10);
    last = strtoull(at + digits + 1, NULL, 10);
    if (first > last) {
        return 0;
    }
    add_numbers(regex, first, last);
    return length;
}

/* Adds `[a-z]` or `[!a-z]`. @return its length, 0 if it is no such thing. */
static size_t add_class(text *regex, const char *at)
{
    size_t begin = at[1] == '!' || at[1] == '^' ? 2 : 1;
    const char *end = at[begin] ? strchr(at + begin + 1, ']') : NULL;

    if (!end) {
        return 0;
    }
    tool_text_put(regex, begin == 2 ? "[^" : "[");
    tool_text_add(regex, at + begin, (size_t)(end + 1 - at) - begin);
    return (size_t)(end + 1 - at);
}

/* A regular expression that matches the keys, and what is below them. */
static void translate(text *regex, const char *pattern)
{
    size_t open = 0; /* braces */

    tool_text_put(regex, "^(");
    for (const char *at = pattern; *at;) {
        bool begins = open && (at[-1] == '{' || at[-1] == ',');
        size_t length = begins ? add_range(regex, at) : 0;
        length = !length && *at == '[' ? add_class(regex, at) : length;
        if (length) {
            at += length;
            continue;
        }
        if (*at == '*') {
            tool_text_put(regex, ".*");
        } else if (*at == '?') {
            tool_text_put(regex, ".[\x80-\xbf]*"); /* a character, of however many bytes */
        } else if (*at == '#') {
            tool_text_put(regex, "[0-9]+");
        } else if (*at == '{' && closing(at)) {
            tool_text_put(regex, "(");
            open++;
        } else if (*at == ',' && open) {
            tool_text_put(regex, "|");
        } else if (*at == '}' && open) {
            tool_text_put(regex, ")");
            open--;
        } else {
            tool_text_format(regex, strchr(".^$()|+\\{}[]", *at) ? "\\%c" : "%c", *at);
        }
        at++;
    }
    tool_text_put(regex, ")(\\..*)?$");
}

key_patterns *tool_patterns_make(const char *const *given, size_t count)
{
    key_patterns *p = xmalloc(sizeof *p);

    *p = (key_patterns){.at = xmalloc(count * sizeof *p->at)};
    for (size_t i = 0; i < count; i++) {
        struct pattern *each = &p->at[p->count];
        text regex = {0};
        int failed;
        *each = (struct pattern){.text = given[i] + (*given[i] == '!'), .excludes = *given[i] == '!'};
        translate(&regex, each->text);
        failed = *each->text ? regcomp(&each->regex, regex.at, REG_EXTENDED | REG_NOSUB) : REG_BADPAT;
        tool_text_free(&regex);
        if (failed == REG_ESPACE) {
            (void)tool_enough(NULL);
        }
        if (failed) {
            (void)tool_fail("\"%s\": no pattern of keys\nA pattern is like layers.0, *.weight, layers.#.{wq,wk} or "
                            "'!*.bias'.",
                            given[i]);
            tool_patterns_free(p);
            return NULL;
        }
        p->includes = p->includes || !each->excludes;
        p->count++;
    }
    return p;
}

static bool matches(struct pattern *p, const char *key)
{
    size_t length = strlen(p->text);
    bool fits = strncmp(key, p->text, length) == 0 && (!key[length] || key[length] == '.');

    if (!fits) {
        errno = 0;
        fits = regexec(&p->regex, key, 0, NULL, 0) == 0;
        if (!fits && errno == ENOMEM) {
            (void)tool_enough(NULL); /* glibc calls that no match */
        }
    }
    p->used = p->used || fits;
    return fits;
}

bool tool_patterns_match(key_patterns *p, const char *key)
{
    bool wanted = !p || !p->includes;

    for (size_t i = 0; p && i < p->count; i++) {
        if (matches(&p->at[i], key)) {
            if (p->at[i].excludes) {
                return false;
            }
            wanted = true;
        }
    }
    return wanted;
}

const char *tool_patterns_idle(const key_patterns *p)
{
    for (size_t i = 0; p && i < p->count; i++) {
        if (!p->at[i].used) {
            return p->at[i].text;
        }
    }
    return NULL;
}

int tool_patterns_check(const key_patterns *p)
{
    const char *idle = tool_patterns_idle(p);

    return idle ? tool_fail("no key matches \"%s\"", idle) : EXIT_OK;
}

void tool_patterns_free(key_patterns *p)
{
    for (size_t i = 0; p && i < p->count; i++) {
        regfree(&p->at[i].regex);
    }
    if (p) {
        free(p->at);
    }
    free(p);
}
