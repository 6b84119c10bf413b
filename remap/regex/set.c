/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Sets of characters: ranges, and `\d`, `\s`, `\w` and their opposites, whose characters beyond ASCII PCRE2 knows. */
#include <stdlib.h>
#include <string.h>

#include "remap/regex/regex_private.h"

/* UTF-16 has its surrogates here, which are no characters: those before and after them are neighbours. */
enum { SURROGATE_FIRST = 0xD800, SURROGATE_LAST = 0xDFFF };

static uint32_t after(uint32_t character)
{
    return character + 1 == SURROGATE_FIRST ? SURROGATE_LAST + 1 : character + 1;
}

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
