/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Folds a listing: repeated layers into `layers.#.attention.wq.weight`, then siblings into `{wq,wo}`. A line may have
 * two keys, as a plan has: what differs in both is folded in both, `{q,k}_proj` and `{wq,wk}`. */
#include <stdlib.h>
#include <string.h>

#include "tools/print/fold_private.h"

/* ----------------------------------------------------------------------------------------------- equal but for -- */

/* Compares keys except for list indices. */
static int by_pattern(const void *one, const void *other)
{
    const group *a = one, *b = other;
    int order = (a->count > b->count) - (a->count < b->count);

    for (size_t i = 0; i < a->count && !order; i++) {
        bool index = tool_fold_is_index(&a->parts[i]), both = tool_fold_is_index(&b->parts[i]) == index;
        order = !both ? (index ? -1 : 1) : index ? 0 : tool_fold_compare_text(&a->parts[i], &b->parts[i]);
    }
    return order;
}

/* The same, and element types and shapes. */
static int by_layer(const void *one, const void *other)
{
    int order = tool_fold_compare_form(((const group *)one)->entry, ((const group *)other)->entry);

    return order ? order : by_pattern(one, other);
}

/* --------------------------------------------------------------------------------------------- repeated layers -- */

/* @param groups (out) one group for each set of entries with one dtype and shape whose keys differ in list indices
 * alone. @param of (out) the group of each entry. @param room all parts, in the order of the groups. @return their
 * number. */
static size_t group_layers(const entry *entries, size_t count, group *groups, size_t *of, part *room)
{
    void *known = NULL;
    size_t made = 0;

    for (size_t i = 0; i < count; i++) {
        size_t parts = tool_fold_count_parts(entries[i].path);
        group *fresh = &groups[made], *g;
        tool_fold_split(entries[i].path, room);
        *fresh = (group){.entry = &entries[i], .parts = room, .count = parts, .names = 1};
        g = tool_known_add(&known, fresh, by_layer);
        g->repeats++;
        of[i] = (size_t)(g - groups);
        if (g == fresh) {
            while (g->middle < parts && !tool_fold_is_between(&room[g->middle])) {
                g->middle++;
            }
            made++;
            room += parts;
            continue;
        }
        for (size_t p = 0; p < parts; p++) {
            g->parts[p].varies = g->parts[p].varies || !tool_fold_same_text(&g->parts[p], &room[p]);
        }
    }
    tool_known_free(&known, by_layer);
    return made;
}

/* -------------------------------------------------------------------------------------------- ranges of layers -- */

enum { RUNS_SHOWN = 3 };

/* @return the one level of that key whose index varies, SIZE_MAX if there are more or none. @param none (out) */
static size_t varying_level(const group *g, int key, bool *none)
{
    size_t level = SIZE_MAX, end = key ? g->count : g->middle;

    *none = true;
    for (size_t i = key ? g->middle + 1 : 0; i < end; i++) {
        if (g->parts[i].varies) {
            level = *none ? i : SIZE_MAX;
            *none = false;
        }
    }
    return level;
}

/* Finds the levels of both keys whose indices vary. @return false if there are several in one of them. */
static bool varying_levels(const group *g, size_t levels[2])
{
    bool none[2];

    for (int key = 0; key < 2; key++) {
        levels[key] = varying_level(g, key, &none[key]);
    }
    return (none[0] || levels[0] != SIZE_MAX) && (none[1] || levels[1] != SIZE_MAX);
}

static void close_run(runs *r)
{
    if (r->count && r->count <= RUNS_SHOWN) {
        tool_text_format(&r->shown, r->first == r->last ? "%s%llu" : "%s%llu-%llu", r->count > 1 ? "," : "",
                         (unsigned long long)r->first, (unsigned long long)r->last);
    }
}

static void add_index(runs *r, uint64_t index)
{
    if (r->count && (index == r->last + 1 || index == r->last)) {
        r->last = index;
        return;
    }
    close_run(r);
    r->count++;
    r->first = r->last = index;
}

/* Whether the indices of both keys are worth showing: they are not the same (gaps were closed, layers shifted). */
static bool differ(const group *g)
{
    const runs *a = &g->runs[0], *b = &g->runs[1];

    return a->count && b->count && a->count <= RUNS_SHOWN && b->count <= RUNS_SHOWN &&
           strcmp(a->shown.at, b->shown.at) != 0;
}

static void show_runs(group *g, int key, size_t level)
{
    runs *r = &g->runs[key];

    if (level != SIZE_MAX && r->count && r->count <= RUNS_SHOWN) {
        char *range = xasprintf("{%s}", r->shown.at);
        tool_text_free(&r->shown);
        tool_text_put(&r->shown, range);
        free(range);
        g->parts[level] = (part){r->shown.at, r->shown.length, false};
    }
}

/* Where layers of one name differ in shape, `#` would say the same of each: name their indices instead. */
static void name_ranges(const entry *entries, size_t count, const size_t *of, group *groups, size_t made)
{
    void *known = NULL;
    bool *ambiguous = xmalloc(made);
    size_t most = 0;
    part *parts;

    memset(ambiguous, 0, made);
    for (size_t i = 0; i < made; i++) {
        const group *first = tool_known_add(&known, &groups[i], by_pattern);
        most = groups[i].count > most ? groups[i].count : most;
        if (first != &groups[i]) {
            ambiguous[i] = ambiguous[first - groups] = true;
        }
    }
    tool_known_free(&known, by_pattern);
    parts = xmalloc(most * sizeof *parts);
    for (size_t i = 0; i < count; i++) {
        group *g = &groups[of[i]];
        size_t levels[2];
        if (g->repeats < 2 || !(ambiguous[of[i]] || g->middle < g->count) || !varying_levels(g, levels)) {
            continue;
        }
        tool_fold_split(entries[i].path, parts);
        for (int key = 0; key < 2; key++) {
            if (levels[key] != SIZE_MAX) {
                add_index(&g->runs[key], strtoull(parts[levels[key]].at, NULL, 10));
            }
        }
    }
    for (size_t i = 0; i < made; i++) {
        group *g = &groups[i];
        size_t levels[2];
        close_run(&g->runs[0]);
        close_run(&g->runs[1]);
        if ((ambiguous[i] || differ(g)) && varying_levels(g, levels)) {
            show_runs(g, 0, levels[0]);
            show_runs(g, 1, levels[1]);
        }
    }
    free(parts);
    free(ambiguous);
}

/* ------------------------------------------------------------------------------------------------------ public -- */

static char *key_of(const group *g)
{
    text key = {0};

    tool_text_add(&key, "", 0);
    for (size_t i = 0; i < g->count; i++) {
        tool_text_put(&key, i ? "." : "");
        if (g->parts[i].varies) {
            tool_text_put(&key, "#");
        } else {
            tool_text_add(&key, g->parts[i].at, g->parts[i].length);
        }
    }
    return key.at;
}

static fold *make(const entry *entries, size_t entry_count, size_t width, bool two_keys, bool siblings, size_t *count,
                  size_t *of)
{
    size_t all_parts = 0, most = 0, made;
    group *groups = xmalloc(entry_count * sizeof *groups);
    words kept = {0};
    fold *folds;
    part *parts;

    for (size_t i = 0; i < entry_count; i++) {
        size_t parts_here = tool_fold_count_parts(entries[i].path);
        all_parts += parts_here;
        most = parts_here > most ? parts_here : most;
    }
    parts = xmalloc(all_parts * sizeof *parts);
    made = group_layers(entries, entry_count, groups, of, parts);
    name_ranges(entries, entry_count, of, groups, made);
    if (siblings && width) {
        width = two_keys ? width : tool_fold_key_width(entries, entry_count, groups, made, width);
        tool_fold_siblings(groups, made, most, two_keys, width, &kept);
    }
    folds = xmalloc(made * sizeof *folds);
    *count = 0;
    for (size_t i = 0; i < made; i++) {
        if (!groups[i].into) {
            groups[i].line = *count;
            folds[(*count)++] =
                (fold){key_of(&groups[i]), (size_t)(groups[i].entry - entries), groups[i].repeats, groups[i].names};
        }
        tool_text_free(&groups[i].runs[0].shown);
        tool_text_free(&groups[i].runs[1].shown);
    }
    for (size_t i = 0; i < entry_count; i++) {
        const group *g = &groups[of[i]];
        while (g->into) {
            g = g->into;
        }
        of[i] = g->line;
    }
    for (size_t i = 0; i < kept.count; i++) {
        free((char *)kept.at[i]);
    }
    free(kept.at);
    free(parts);
    free(groups);
    return folds;
}

fold *tool_folds_make_of(const entry *entries, size_t entry_count, size_t width, size_t *count, size_t *of)
{
    return make(entries, entry_count, width, false, width > 0, count, of);
}

fold *tool_folds_make(const entry *entries, size_t entry_count, size_t width, bool two_keys, size_t *count)
{
    size_t *of = xmalloc(entry_count * sizeof *of);
    fold *folds = make(entries, entry_count, width, two_keys, true, count, of);

    free(of);
    return folds;
}

void tool_folds_free(fold *folds, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free(folds[i].key);
    }
    free(folds);
}
