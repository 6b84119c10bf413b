/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Siblings of a folded listing: lines that differ in the name at one level become one with braces. */
#include <stdlib.h>
#include <string.h>

#include "tools/print/fold_private.h"

static size_t other_level(const group *g, const place *p)
{
    return p->other < g->count ? g->count - 1 - p->other : SIZE_MAX;
}

static int compare_numbers(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/* Compares groups except for the names where siblings differ. */
static int by_sibling(const void *one, const void *another)
{
    const group *a = one, *b = another;
    size_t other = other_level(a, a->where);
    int order = compare_numbers(a->count, b->count);

    order = order ? order : compare_numbers(a->repeats, b->repeats);
    order = order ? order : compare_numbers(a->names, b->names);
    order = order ? order : tool_fold_compare_form(a->entry, b->entry);
    for (size_t i = 0; i < a->count && !order; i++) {
        const part *x = &a->parts[i], *y = &b->parts[i];
        if (i != a->where->level && i != other) {
            order = compare_numbers(x->varies, y->varies);
            order = order || x->varies ? order : tool_fold_compare_text(x, y);
        }
    }
    return order;
}

size_t tool_fold_key_width(const entry *entries, size_t count, const group *groups, size_t made, size_t width)
{
    enum { GAP = 2, PARAMETERS = 10 };
    size_t dtype = 5, shape = 5, most = 0, beside;
    uint64_t repeats = 1;
    char number[NUMBER_ROOM];

    for (size_t i = 0; i < count; i++) {
        size_t length = 2 + (entries[i].rank ? 2 * (size_t)(entries[i].rank - 1) : 0);
        for (uint32_t d = 0; d < entries[i].rank; d++) {
            length += (size_t)snprintf(number, sizeof number, "%llu", (unsigned long long)entries[i].shape[d]);
        }
        shape = length > shape ? length : shape;
        dtype = strlen(entries[i].dtype) > dtype ? strlen(entries[i].dtype) : dtype;
    }
    for (size_t i = 0; i < made; i++) {
        repeats = groups[i].repeats > repeats ? groups[i].repeats : repeats;
    }
    most = repeats > 1 ? GAP + 1 + strlen(tool_grouped(repeats, number)) : 0;
    beside = most + GAP + dtype + GAP + shape + GAP + PARAMETERS;
    return width > beside ? width - beside : 0;
}

/* @return columns of the key of a group, roughly: bytes. */
static size_t key_length(const group *g)
{
    size_t length = g->count - 1;

    for (size_t i = 0; i < g->count; i++) {
        length += g->parts[i].varies ? 1 : g->parts[i].length;
    }
    return length;
}

static bool is_name(const group *g, size_t level)
{
    return level < g->count && level != g->middle && !g->parts[level].varies && !tool_fold_is_index(&g->parts[level]);
}

/* Chains groups that differ in the names there only. */
static void gather_siblings(group *groups, size_t made, const place *p)
{
    void *known = NULL;

    for (size_t i = 0; i < made; i++) {
        group *g = &groups[i];
        g->next = NULL;
        g->last = NULL;
        size_t other = other_level(g, p);
        if (g->into || !is_name(g, p->level) ||
            (p->other != SIZE_MAX && (p->level >= g->middle || other <= g->middle || !is_name(g, other)))) {
            continue;
        }
        g->where = p;
        group *first = tool_known_add(&known, g, by_sibling);
        if (first != g) {
            first->last->next = g;
        }
        first->last = g;
    }
    tool_known_free(&known, by_sibling);
}

/* Where a key is too long already, braces that add little still save lines. */
enum { BRACES_LITTLE = 12 };

/* How many siblings, at most `most`, go into the braces of one key of that width. At least one. */
static size_t fitting(const group *first, const place *p, size_t most, size_t width)
{
    size_t other = other_level(first, p);
    size_t count = 1, length = key_length(first) + 2;

    width = length - 2 > width ? length + BRACES_LITTLE : width;
    for (const group *g = first->next; g && count < most; g = g->next, count++) {
        length += g->parts[p->level].length + 1 + (other == SIZE_MAX ? 0 : g->parts[other].length + 1);
        if (length > width) {
            break;
        }
    }
    return count;
}

/* Puts the names that the first `count` siblings of a chain have at a level into braces. */
static void brace(group *first, size_t level, size_t count, words *kept)
{
    text braces = {0};
    group *g = first;
    bool same = true;

    for (size_t i = 0; i < count; i++, g = g->next) {
        tool_text_put(&braces, i ? "," : "{");
        tool_text_add(&braces, g->parts[level].at, g->parts[level].length);
        same = same && tool_fold_same_text(&g->parts[level], &first->parts[level]);
    }
    if (same) {
        tool_text_free(&braces);
        return;
    }
    tool_text_put(&braces, "}");
    kept->at = tool_grown(kept->at, kept->count, sizeof *kept->at);
    kept->at[kept->count++] = braces.at;
    first->parts[level] = (part){braces.at, braces.length, false};
}

/* Makes one group of the first `count` siblings of a chain. @param kept (out) takes the new names.
 * @return the next sibling. */
static group *join(group *first, const place *p, size_t count, words *kept)
{
    size_t other = other_level(first, p);
    group *g = first;

    if (count > 1) {
        brace(first, p->level, count, kept);
        if (other != SIZE_MAX) {
            brace(first, other, count, kept);
        }
    }
    for (size_t i = 0; i < count; i++, g = g->next) {
        g->into = i > 0 ? first : NULL;
    }
    first->names *= count;
    return g;
}

/* Puts chains of siblings into braces. Where one key would get too long they are spread evenly over several:
 * {gamma,beta} and {running_mean,running_var} rather than three and one. */
static void make_braces(group *groups, size_t made, const place *p, size_t width, words *kept)
{
    for (size_t i = 0; i < made; i++) {
        size_t total = 0, lines = 0, each;
        if (!groups[i].last) {
            continue;
        }
        for (group *g = &groups[i]; g; g = g->next) {
            total++;
        }
        for (group *g = &groups[i]; g; lines++) {
            for (size_t fit = fitting(g, p, SIZE_MAX, width); fit; fit--) {
                g = g->next;
            }
        }
        each = (total + lines - 1) / lines;
        for (group *g = &groups[i]; g;) {
            g = join(g, p, fitting(g, p, each, width), kept);
        }
    }
}

static void fold_at(group *groups, size_t made, place p, size_t width, words *kept)
{
    gather_siblings(groups, made, &p);
    make_braces(groups, made, &p, width, kept);
}

/* Folds groups that differ in one name, the last level first. */
static void fold_pairs(group *groups, size_t made, size_t width, words *kept)
{
    enum { LEVELS = 12 }; /* deeper names stay apart: each pair of levels is a pass */
    size_t first = 0, second = 0;

    for (size_t i = 0; i < made; i++) {
        size_t behind = groups[i].count - groups[i].middle;
        first = groups[i].middle > first ? groups[i].middle : first;
        second = behind > second ? behind : second;
    }
    for (size_t level = first < LEVELS ? first : LEVELS; level-- > 0;) {
        for (size_t other = 0; other < second && other < LEVELS; other++) {
            fold_at(groups, made, (place){level, other}, width, kept);
        }
    }
}

void tool_fold_siblings(group *groups, size_t made, size_t most, bool two_keys, size_t width, words *kept)
{
    if (two_keys) {
        fold_pairs(groups, made, width, kept);
    }
    /* Names of the top level are separate models: they are not folded. */
    for (size_t level = most; level-- > 1;) {
        fold_at(groups, made, (place){level, SIZE_MAX}, width, kept);
    }
}
