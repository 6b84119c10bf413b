/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Classes of Rust's pattern syntax: `[…]`, with classes, `&&`, `--` and `~~` in them. */
#include <string.h>

#include "remap/regex/regex_private.h"

/* ----------------------------------------------------------------------------------------------------- classes -- */

/* A class that is being read: what stands between two operators, and what is before them. */
typedef struct class_state {
    lr_re_ranges ranges;
    const lr_re_set **sets;
    uint32_t count;
    uint64_t room;
    uint32_t items, height; /* of what stands here; nested levels */
} class_state;

static const lr_re_set *parse_bracket(lr_re_parser *p, uint32_t depth, uint32_t *height);

static bool keep_set(lr_re_parser *p, class_state *s, const lr_re_set *set)
{
    if (set && !lr_job_grow(p->job, (void *)&s->sets, (uint64_t)s->count + 1, &s->room, sizeof set)) {
        return false;
    }
    if (set) {
        s->sets[s->count++] = set;
        s->items++;
    }
    return set != NULL;
}

/* What differs in case joins: all of Unicode's, or ASCII's alone where Unicode is off. */
static bool fold(lr_re_parser *p, lr_re_ranges *ranges)
{
    size_t count = ranges->count;
    if (!p->flags.icase) {
        return true;
    }
    if (p->flags.unicode) {
        return lr_re_unicode_fold(p, ranges) > 0;
    }
    for (size_t i = 0; i < count; i++) {
        for (uint32_t c = ranges->list[i].first; c <= ranges->list[i].last; c++) {
            if ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') {
                lr_re_ranges_add(ranges, c ^ 0x20, c ^ 0x20);
            }
        }
    }
    return true;
}

/* What was collected, as one set; ready for the next. NULL: the job has failed. */
static const lr_re_set *collect(lr_re_parser *p, class_state *s)
{
    const lr_re_set *set = NULL;
    lr_re_ranges_order(&s->ranges);
    if (fold(p, &s->ranges) && keep_set(p, s, lr_re_set_ranges(p->arena, &s->ranges))) {
        set = lr_re_set_union(p->arena, s->sets, s->count);
    }
    s->ranges.count = s->count = s->items = 0;
    return set ? set : (lr_job_failed(p->job) ? NULL : lr_re_fail_memory(p));
}

/* One of the class's literals, as it may stand at either end of a range. */
static bool class_character(lr_re_parser *p, const char *at, const lr_re_escape *escape)
{
    if (!p->flags.unicode && escape->character > 0x7F) {
        (void)lr_re_fail(p, at, "a class without Unicode (`(?-u)`) has characters of ASCII only: leave out `-u`");
        return false;
    }
    return true;
}

static bool class_item(lr_re_parser *p, lr_re_escape *item)
{
    uint32_t size;
    const char *at = p->at;
    if (*at == '\\') {
        if (!lr_re_parse_escape(p, item)) {
            return false;
        }
        if (item->anchor) {
            (void)lr_re_fail(p, at, "`%.*s` is no character: it cannot stand in a class", (int)(p->at - at), at);
            return false;
        }
        return true;
    }
    *item = (lr_re_escape){.character = lr_re_peek(p, at, &size)};
    p->at += size;
    return true;
}

static bool unclosed(lr_re_parser *p, const char *start)
{
    (void)lr_re_fail(p, start, "the class that begins here has no end: write `]`, or `\\[` for the character itself");
    return false;
}

static bool class_range(lr_re_parser *p, class_state *s, const char *start)
{
    lr_re_escape first, last;
    const char *at = p->at, *to;
    uint32_t next;
    if (!class_item(p, &first)) {
        return false;
    }
    lr_re_skip_spaces(p);
    if (p->at == p->end) {
        return unclosed(p, start);
    }
    next = *p->at == '-' ? lr_re_second_spaced(p) : ']';
    if (next == ']' || next == '-') { /* no range */
        if (first.set) {
            return keep_set(p, s, first.set);
        }
        lr_re_ranges_add(&s->ranges, first.character, first.character);
        s->items++;
        return class_character(p, at, &first);
    }
    if (!lr_re_step(p)) {
        return unclosed(p, start);
    }
    to = p->at;
    if (!class_item(p, &last)) {
        return false;
    }
    if (first.set || last.set) {
        (void)lr_re_fail(p, first.set ? at : to,
                         "a range goes from one character to another, `a-z`: write `\\-` for the "
                         "character `-`");
        return false;
    }
    if (first.character > last.character) {
        (void)lr_re_fail(p, at, "the range goes backwards: its first character comes behind its last");
        return false;
    }
    if (!class_character(p, at, &first) || !class_character(p, to, &last)) {
        return false;
    }
    lr_re_ranges_add(&s->ranges, first.character, last.character);
    s->items++;
    return true;
}

/* `[:alpha:]`, of ASCII. @return 1, 0 if it is none (nothing is passed), -1: the job has failed. */
static int ascii_class(lr_re_parser *p, class_state *s)
{
    static const struct {
        const char *name;
        lr_re_range ranges[4];
        size_t count;
    } classes[] = {{"alnum", {{'0', '9'}, {'A', 'Z'}, {'a', 'z'}}, 3},
                   {"alpha", {{'A', 'Z'}, {'a', 'z'}}, 2},
                   {"ascii", {{0, 0x7F}}, 1},
                   {"blank", {{'\t', '\t'}, {' ', ' '}}, 2},
                   {"cntrl", {{0, 0x1F}, {0x7F, 0x7F}}, 2},
                   {"digit", {{'0', '9'}}, 1},
                   {"graph", {{'!', '~'}}, 1},
                   {"lower", {{'a', 'z'}}, 1},
                   {"print", {{' ', '~'}}, 1},
                   {"punct", {{'!', '/'}, {':', '@'}, {'[', '`'}, {'{', '~'}}, 4},
                   {"space", {{'\t', '\r'}, {' ', ' '}}, 2},
                   {"upper", {{'A', 'Z'}}, 1},
                   {"word", {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}}, 4},
                   {"xdigit", {{'0', '9'}, {'A', 'F'}, {'a', 'f'}}, 3}};
    const char *start = p->at, *at = p->at + 2;
    bool negated = at < p->end && *at == '^';
    if (p->end - p->at < 2 || p->at[1] != ':') {
        return 0;
    }
    at += negated;
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
        size_t length = strlen(classes[i].name);
        if ((size_t)(p->end - at) >= length + 2 && memcmp(at, classes[i].name, length) == 0 &&
            memcmp(at + length, ":]", 2) == 0) {
            lr_re_ranges ranges = {.allocator = p->job->allocator};
            const lr_re_set *set = NULL;
            p->at = at + length + 2;
            if (negated && !p->flags.unicode) {
                (void)lr_re_fail(p, start, "a class without Unicode (`(?-u)`) cannot be negated: leave out `-u`");
                return -1;
            }
            for (size_t r = 0; r < classes[i].count; r++) {
                lr_re_ranges_add(&ranges, classes[i].ranges[r].first, classes[i].ranges[r].last);
            }
            if (fold(p, &ranges)) {
                set = lr_re_set_ranges(p->arena, &ranges);
                set = negated ? lr_re_set_not(p->arena, set) : set;
                if (!set) {
                    (void)lr_re_fail_memory(p);
                }
            }
            lr_re_ranges_free(&ranges);
            return keep_set(p, s, set) ? 1 : -1;
        }
    }
    return 0;
}

/* The operator at `p->at`, or 0. */
static int32_t operator_at(const lr_re_parser *p)
{
    char c = *p->at;
    if ((c != '&' && c != '-' && c != '~') || lr_re_second(p) != (uint32_t)c) {
        return 0;
    }
    return c == '&' ? LR_SET_AND : (c == '-' ? LR_SET_MINUS : LR_SET_XOR);
}

/* Behind `[`, `^` and what may stand at the beginning alone. @return false: the job has failed. */
static bool open_bracket(lr_re_parser *p, class_state *s, const char *start, bool *negated)
{
    if (!lr_re_step(p)) {
        return unclosed(p, start);
    }
    *negated = *p->at == '^';
    if (*negated && !lr_re_step(p)) {
        return unclosed(p, start);
    }
    if (*negated && !p->flags.unicode) {
        (void)lr_re_fail(p, start, "a class without Unicode (`(?-u)`) cannot be negated: leave out `-u`");
        return false;
    }
    while (*p->at == '-' || (*p->at == ']' && !s->items)) {
        char c = *p->at;
        lr_re_ranges_add(&s->ranges, (unsigned char)c, (unsigned char)c);
        s->items++;
        if (!lr_re_step(p)) {
            return unclosed(p, start);
        }
        if (c == ']') {
            break;
        }
    }
    return true;
}

/* Levels of what was collected: Rust counts a list of other than one item as one. */
static uint32_t collected_height(const class_state *s)
{
    return s->height + (s->items != 1 && s->items != 0);
}

static const lr_re_set *parse_bracket(lr_re_parser *p, uint32_t depth, uint32_t *height)
{
    const char *start = p->at;
    class_state s = {.ranges = {.allocator = p->job->allocator}};
    const lr_re_set *left = NULL, *right, *result = NULL;
    int32_t pending = 0, next;
    uint32_t left_height = 0, nested;
    bool negated = false;
    int taken;
    if (depth > LR_RE_HEIGHT_MOST) {
        return lr_re_fail(p, start, "more than %d levels in one another", LR_RE_HEIGHT_MOST);
    }
    if (!open_bracket(p, &s, start, &negated)) {
        goto done;
    }
    for (;;) {
        lr_re_skip_spaces(p);
        if (p->at == p->end) {
            (void)unclosed(p, start);
            goto done;
        }
        next = operator_at(p);
        if (next || *p->at == ']') {
            nested = collected_height(&s);
            s.height = 0;
            right = collect(p, &s);
            left_height = pending ? 1 + (left_height > nested ? left_height : nested) : nested;
            left = !right ? NULL : (pending ? lr_re_set_operate(p->arena, pending, left, right) : right);
            if (!left) {
                (void)(lr_job_failed(p->job) ? NULL : lr_re_fail_memory(p));
                goto done;
            }
            pending = next;
            p->at += next ? 2 : 1;
            if (!next) {
                break;
            }
        } else if (*p->at == '[') {
            taken = ascii_class(p, &s);
            if (taken == 0) {
                taken = keep_set(p, &s, parse_bracket(p, depth + 1, &nested)) ? 1 : -1;
                s.height = taken > 0 && nested > s.height ? nested : s.height;
            }
            if (taken < 0) {
                goto done;
            }
        } else if (!class_range(p, &s, start)) {
            goto done;
        }
        if (s.ranges.failed) {
            (void)lr_re_fail_memory(p);
            goto done;
        }
    }
    *height = left_height + 1;
    result = negated ? lr_re_set_not(p->arena, left) : left;
    if (!result) {
        (void)lr_re_fail_memory(p);
    }
done:
    lr_re_ranges_free(&s.ranges);
    lr_release(p->job->allocator, s.sets);
    return result;
}

const lr_re_set *lr_re_parse_class(lr_re_parser *p, uint32_t *height)
{
    return parse_bracket(p, 1, height);
}
