/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Sets of characters. Where only ranges are in play, union, difference and the rest are worked out; where properties
 * are, whose characters are not listed, the operation is kept as it is written. */
#include <stdlib.h>
#include <string.h>

#include "remap/regex/regex_private.h"

/* No characters: UTF-16 has its surrogates there. The characters beside them are neighbours. */
enum { SURROGATE_FIRST = 0xD800, SURROGATE_LAST = 0xDFFF };

static uint32_t after(uint32_t character)
{
    return character + 1 == SURROGATE_FIRST ? SURROGATE_LAST + 1 : character + 1;
}

static uint32_t before(uint32_t character)
{
    return character - 1 == SURROGATE_LAST ? SURROGATE_FIRST - 1 : character - 1;
}

/* -------------------------------------------------------------------------------------------------- collecting -- */

void lr_re_ranges_add(lr_re_ranges *ranges, uint32_t first, uint32_t last)
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

void lr_re_ranges_order(lr_re_ranges *ranges)
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

void lr_re_ranges_free(lr_re_ranges *ranges)
{
    lr_release(ranges->allocator, ranges->list);
    *ranges = (lr_re_ranges){.allocator = ranges->allocator};
}

void lr_re_write_character(lr_re_text *out, uint32_t c)
{
    char sign[3] = {'\\', (char)c, 0};
    if (c > ' ' && c < 0x7F) {
        bool plain = c == '_' || (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
        lr_re_text_word(out, plain ? sign + 1 : sign);
    } else {
        lr_re_text_format(out, "\\x{%x}", (unsigned)c);
    }
}

void lr_re_write_ranges(lr_re_text *out, const lr_re_range *ranges, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        lr_re_write_character(out, ranges[i].first);
        if (ranges[i].last > ranges[i].first) {
            lr_re_text_word(out, "-");
            lr_re_write_character(out, ranges[i].last);
        }
    }
}

/* -------------------------------------------------------------------------------------------------------- sets -- */

static lr_re_set *new_set(lr_arena *arena, int32_t kind)
{
    lr_re_set *set = lr_arena_alloc(arena, sizeof *set, _Alignof(lr_re_set));
    if (set) {
        *set = (lr_re_set){.kind = kind};
    }
    return set;
}

const lr_re_set *lr_re_set_ranges(lr_arena *arena, lr_re_ranges *ranges)
{
    lr_re_set *set = new_set(arena, LR_SET_RANGES);
    lr_re_range *list = NULL;
    if (!set || ranges->failed) {
        return NULL;
    }
    lr_re_ranges_order(ranges);
    if (ranges->count) {
        list = lr_arena_alloc(arena, ranges->count * sizeof *list, _Alignof(lr_re_range));
        if (!list) {
            return NULL;
        }
        memcpy(list, ranges->list, ranges->count * sizeof *list);
    }
    set->ranges = list;
    set->count = (uint32_t)ranges->count;
    return set;
}

const lr_re_set *lr_re_set_range(lr_arena *arena, uint32_t first, uint32_t last)
{
    lr_re_range one = {first, last};
    lr_re_ranges ranges = {.list = &one, .count = 1, .room = 1};
    return lr_re_set_ranges(arena, &ranges);
}

const lr_re_set *lr_re_set_property(lr_arena *arena, const char *property, const uint64_t ascii[2])
{
    lr_re_set *set = new_set(arena, LR_SET_PROPERTY);
    if (!set) {
        return NULL;
    }
    set->property = lr_arena_text(arena, property, strlen(property));
    set->ascii[0] = ascii[0];
    set->ascii[1] = ascii[1];
    return set->property ? set : NULL;
}

const lr_re_set *lr_re_set_not(lr_arena *arena, const lr_re_set *set)
{
    lr_re_ranges rest = {.allocator = arena->allocator};
    lr_re_set *opposite;
    uint32_t next = 0;
    if (!set) {
        return NULL;
    }
    if (set->kind != LR_SET_RANGES) {
        opposite = new_set(arena, set->kind);
        if (opposite) {
            *opposite = *set;
            opposite->negated = !set->negated;
        }
        return opposite;
    }
    for (uint32_t i = 0; i < set->count; i++) {
        if (set->ranges[i].first > next) {
            lr_re_ranges_add(&rest, next, before(set->ranges[i].first));
        }
        next = after(set->ranges[i].last);
    }
    if (next <= LR_RE_CHARACTER_MOST) {
        lr_re_ranges_add(&rest, next, LR_RE_CHARACTER_MOST);
    }
    const lr_re_set *made = lr_re_set_ranges(arena, &rest);
    lr_re_ranges_free(&rest);
    return made;
}

/* Adds a set's ranges and counts what is no ranges: the rest is put into `others`. @return false: memory is out. */
static bool flatten(const lr_re_set *set, lr_re_ranges *ranges, const lr_re_set **others, uint32_t *count)
{
    if (!set) {
        return false;
    }
    if (set->kind == LR_SET_RANGES) {
        for (uint32_t i = 0; i < set->count; i++) {
            lr_re_ranges_add(ranges, set->ranges[i].first, set->ranges[i].last);
        }
    } else {
        others[(*count)++] = set;
    }
    return !ranges->failed;
}

const lr_re_set *lr_re_set_union(lr_arena *arena, const lr_re_set *const *sets, uint32_t count)
{
    lr_re_ranges ranges = {.allocator = arena->allocator};
    const lr_re_set **parts = lr_arena_alloc(arena, ((uint64_t)count + 1) * sizeof *parts, _Alignof(lr_re_set *));
    const lr_re_set *listed = NULL;
    lr_re_set *set = NULL;
    uint32_t others = 0;
    bool good = parts != NULL;
    for (uint32_t i = 0; good && i < count; i++) {
        good = flatten(sets[i], &ranges, parts, &others);
    }
    if (good) {
        listed = lr_re_set_ranges(arena, &ranges);
    }
    lr_re_ranges_free(&ranges);
    if (!listed || !others) {
        return listed;
    }
    if (listed->count) {
        parts[others++] = listed;
    } else if (others == 1) {
        return parts[0];
    }
    set = new_set(arena, LR_SET_UNION);
    if (set) {
        set->sets = parts;
        set->count = others;
    }
    return set;
}

const lr_re_set *lr_re_set_operate(lr_arena *arena, int32_t kind, const lr_re_set *a, const lr_re_set *b)
{
    if (!a || !b) {
        return NULL;
    }
    if (a->kind == LR_SET_RANGES && b->kind == LR_SET_RANGES) {
        const lr_re_set *left, *right, *both[2];
        if (kind == LR_SET_XOR) {
            both[0] = lr_re_set_operate(arena, LR_SET_MINUS, a, b);
            both[1] = lr_re_set_operate(arena, LR_SET_MINUS, b, a);
            return lr_re_set_union(arena, both, 2);
        }
        /* What is in neither opposite is in both; b itself in place of its opposite is taken away. */
        left = lr_re_set_not(arena, a);
        right = kind == LR_SET_AND ? lr_re_set_not(arena, b) : b;
        both[0] = left;
        both[1] = right;
        return lr_re_set_not(arena, lr_re_set_union(arena, both, 2));
    }
    const lr_re_set **parts = lr_arena_alloc(arena, 2 * sizeof *parts, _Alignof(lr_re_set *));
    lr_re_set *set = new_set(arena, kind);
    if (!parts || !set) {
        return NULL;
    }
    parts[0] = a;
    parts[1] = b;
    set->sets = parts;
    set->count = 2;
    return set;
}

/* --------------------------------------------------------------------------------------------------- questions -- */

static int opposite(int answer)
{
    return answer < 0 ? answer : !answer;
}

static int has(const lr_re_set *set, uint32_t character)
{
    int a, b;
    switch (set->kind) {
    case LR_SET_RANGES:
        for (uint32_t i = 0; i < set->count; i++) {
            if (character >= set->ranges[i].first && character <= set->ranges[i].last) {
                return 1;
            }
        }
        return 0;
    case LR_SET_PROPERTY:
        return character > 0x7F ? -1 : (int)(set->ascii[character / 64] >> (character % 64) & 1);
    case LR_SET_UNION:
        a = 0;
        for (uint32_t i = 0; i < set->count && a != 1; i++) {
            b = lr_re_set_has(set->sets[i], character);
            a = b ? b : a;
        }
        return a;
    default:
        a = lr_re_set_has(set->sets[0], character);
        b = lr_re_set_has(set->sets[1], character);
        if (set->kind == LR_SET_XOR) {
            return a < 0 || b < 0 ? -1 : a != b;
        }
        b = set->kind == LR_SET_MINUS ? opposite(b) : b;
        return a == 0 || b == 0 ? 0 : (a < 0 || b < 0 ? -1 : 1);
    }
}

int lr_re_set_has(const lr_re_set *set, uint32_t character)
{
    int answer = has(set, character);
    return set->negated ? opposite(answer) : answer;
}
