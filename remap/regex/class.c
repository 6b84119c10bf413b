/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Classes of Rust's pattern syntax: characters, ranges, `\d`, `\s`, `\w` and their opposites. Classes in classes,
 * `[:alpha:]`, and `&&`, `--` and `~~` between them are rejected by name. A set holds ranges, and `\d`, `\s`, `\w` and
 * their opposites, whose characters beyond ASCII PCRE2 knows. */
#include <stdlib.h>
#include <string.h>

#include "remap/regex/regex_private.h"

/* -------------------------------------------------------------------------------------------------------- sets -- */

/* UTF-16 has its surrogates here, which are no characters: those before and after them are neighbours. */
enum { SURROGATE_FIRST = 0xD800, SURROGATE_LAST = 0xDFFF };

static uint32_t after(uint32_t character)
{
    return character + 1 == SURROGATE_FIRST ? SURROGATE_LAST + 1 : character + 1;
}

static void ranges_add(lr_re_ranges *ranges, uint32_t first, uint32_t last)
{
    if (!lr_grow(ranges->allocator, &ranges->list, ranges->count + 1, &ranges->room, sizeof *ranges->list)) {
        ranges->failed = true;
        return;
    }
    ranges->list[ranges->count++] = (lr_re_range){first, last};
}

static int by_first(const void *a, const void *b)
{
    const lr_re_range *x = a, *y = b;
    return (x->first > y->first) - (x->first < y->first);
}

/* Sorts and joins them. */
static void order(lr_re_ranges *ranges)
{
    size_t kept = 0;
    if (ranges->count < 2) {
        return;
    }
    qsort(ranges->list, ranges->count, sizeof *ranges->list, by_first);
    for (size_t i = 1; i < ranges->count; i++) {
        lr_re_range *last = &ranges->list[kept];
        lr_re_range next = ranges->list[i];
        if (next.first <= last->last || next.first == after(last->last)) {
            last->last = next.last > last->last ? next.last : last->last;
        } else {
            ranges->list[++kept] = next;
        }
    }
    ranges->count = kept + 1;
}

const lr_re_set *lr_re_set_new(lr_re_parser *p, lr_re_ranges *ranges, uint32_t perl, bool negated)
{
    lr_re_set *set = ranges->failed ? lr_re_fail_memory(p) : lr_re_alloc(p, sizeof *set);
    lr_re_range *list = set ? lr_re_alloc(p, ranges->count * sizeof *list) : NULL;
    if (!list) {
        return NULL;
    }
    order(ranges);
    if (ranges->count) {
        memcpy(list, ranges->list, ranges->count * sizeof *list);
    }
    *set = (lr_re_set){.negated = negated, .perl = perl, .count = (uint32_t)ranges->count, .ranges = list};
    return set;
}

/* Which of `\d`, `\s` and `\w` a character of ASCII is in. */
static uint32_t perl_of(uint32_t c)
{
    bool digit = c >= '0' && c <= '9', letter = (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
    return (digit ? LR_SET_DIGIT : LR_SET_NOT_DIGIT) |
           (c == ' ' || (c >= '\t' && c <= '\r') ? LR_SET_SPACE : LR_SET_NOT_SPACE) |
           (digit || letter || c == '_' ? LR_SET_WORD : LR_SET_NOT_WORD);
}

int lr_re_set_has(const lr_re_set *set, uint32_t character)
{
    bool has = character < 0x80 && (set->perl & perl_of(character));
    for (uint32_t i = 0; i < set->count && !has; i++) {
        has = character >= set->ranges[i].first && character <= set->ranges[i].last;
    }
    if (!has && set->perl && character >= 0x80) {
        return -1;
    }
    return has != set->negated;
}

/* ----------------------------------------------------------------------------------------------------- parsing -- */

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
                ranges_add(ranges, c ^ 0x20, c ^ 0x20);
            }
            if (lower == 'k') {
                ranges_add(ranges, 0x212A, 0x212A); /* KELVIN SIGN */
            } else if (lower == 's') {
                ranges_add(ranges, 0x17F, 0x17F); /* LATIN SMALL LETTER LONG S */
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
            ranges_add(ranges, first.character, first.character);
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
    ranges_add(ranges, first.character, last.character);
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
        ranges_add(ranges, (unsigned char)c, (unsigned char)c);
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
