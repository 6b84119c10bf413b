/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Classes of Rust's pattern syntax: characters, ranges, `\d`, `\s`, `\w` and their opposites. Classes in classes,
 * `[:alpha:]`, and `&&`, `--` and `~~` between them are rejected by name. */

#include "remap/regex/regex_private.h"

static bool unclosed(lr_re_parser *p, const char *start)
{
    return lr_re_fail(p, start, "the class that begins here has no end: write `]`, or `\\[` for the character itself");
}

/* Adds the characters that differ in case alone. Beyond ASCII only PCRE2 knows them, which lists none. */
static bool fold(lr_re_parser *p, const char *at, lr_re_ranges *ranges)
{
    size_t count = ranges->count;
    for (size_t i = 0; p->flags.icase && i < count; i++) {
        lr_re_range range = ranges->list[i];
        if (range.last > 0x7F) {
            return lr_re_fail(
                p, at,
                "a class of `(?i)` with characters beyond ASCII is not supported: write both cases of each "
                "without `(?i)`");
        }
        for (uint32_t c = range.first; c <= range.last; c++) {
            uint32_t lower = c | 0x20;
            if (lower >= 'a' && lower <= 'z') {
                lr_re_ranges_add(ranges, c ^ 0x20, c ^ 0x20);
            }
            if (lower == 'k') {
                lr_re_ranges_add(ranges, 0x212A, 0x212A); /* KELVIN SIGN */
            } else if (lower == 's') {
                lr_re_ranges_add(ranges, 0x17F, 0x17F); /* LATIN SMALL LETTER LONG S */
            }
        }
    }
    return true;
}

static bool class_item(lr_re_parser *p, lr_re_escape *item)
{
    const char *at = p->at;
    uint32_t size;
    if (*at == '\\') {
        if (!lr_re_parse_escape(p, item)) {
            return false;
        }
        if (item->anchor) {
            (void)lr_re_fail(p, at, "`%.*s` is not a character: it cannot stand in a class", (int)(p->at - at), at);
        }
        return !item->anchor;
    }
    *item = (lr_re_escape){.character = lr_re_peek(p, at, &size)};
    p->at += size;
    return true;
}

/* A character, a range or a class such as `\d`. */
static bool class_range(lr_re_parser *p, lr_re_ranges *ranges, uint32_t *perl, const char *start)
{
    lr_re_escape first, last;
    const char *at = p->at, *to;
    if (!class_item(p, &first)) {
        return false;
    }
    if (p->at == p->end) {
        return unclosed(p, start);
    }
    if (*p->at != '-' || lr_re_second(p) == ']' || lr_re_second(p) == '-') { /* no range */
        *perl |= first.perl;
        if (!first.perl) {
            lr_re_ranges_add(ranges, first.character, first.character);
        }
        return true;
    }
    to = ++p->at;
    if (to == p->end) {
        return unclosed(p, start);
    }
    if (!class_item(p, &last)) {
        return false;
    }
    if (first.perl || last.perl) {
        return lr_re_fail(p, first.perl ? at : to,
                          "a range goes from one character to another, `a-z`: write `\\-` for the character `-`");
    }
    if (first.character > last.character) {
        return lr_re_fail(p, at, "the range goes backwards: its first character comes after its last");
    }
    lr_re_ranges_add(ranges, first.character, last.character);
    return true;
}

/* Syntax of Rust's classes that is not supported, at `p->at`. */
static bool refuse_syntax(lr_re_parser *p)
{
    char c = *p->at;
    if (c == '[') {
        return lr_re_fail(
            p, p->at,
            "a class in a class, such as `[:alpha:]`, is not supported: write its characters, or `\\[` for "
            "the character itself");
    }
    if ((c == '&' || c == '-' || c == '~') && lr_re_second(p) == (uint32_t)c) {
        return lr_re_fail(
            p, p->at,
            "the operator `%c%c` between classes is not supported: write the characters of the result, or "
            "`\\%c` for the character itself",
            c, c, c);
    }
    return true;
}

/* Passes `[`, `^`, and the `-` and `]` that are characters at the beginning. @return false: the job has failed. */
static bool open_class(lr_re_parser *p, lr_re_ranges *ranges, bool *negated)
{
    const char *start = p->at++;
    *negated = lr_re_take(p, "^");
    while (p->at < p->end && (*p->at == '-' || (*p->at == ']' && !ranges->count))) {
        char c = *p->at++;
        lr_re_ranges_add(ranges, (unsigned char)c, (unsigned char)c);
        if (c == ']') {
            break;
        }
    }
    return p->at < p->end || unclosed(p, start);
}

const lr_re_set *lr_re_parse_class(lr_re_parser *p, uint32_t *height)
{
    const char *start = p->at;
    lr_re_ranges ranges = {.allocator = p->job->allocator};
    const lr_re_set *set = NULL;
    uint32_t perl = 0, items = 0;
    bool negated = false, good = open_class(p, &ranges, &negated);
    items = (uint32_t)ranges.count;
    while (good && *p->at != ']') {
        good = refuse_syntax(p) && class_range(p, &ranges, &perl, start);
        good = good && (p->at < p->end || unclosed(p, start));
        items++;
    }
    p->at += good;
    *height = items == 1 ? 1 : 2; /* as Rust counts: the class, and a list in it */
    if (good && fold(p, start, &ranges)) {
        set = lr_re_set_new(p, &ranges, perl, negated);
    }
    lr_release(p->job->allocator, ranges.list);
    return set;
}
