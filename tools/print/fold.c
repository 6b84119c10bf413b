/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Folds a listing: repeated layers into `layers.#.attention.wq.weight`, then siblings into `{wq,wo}`. A line may have
 * two keys, as a plan has: what differs in both is folded in both, `{q,k}_proj` and `{wq,wk}`. */
#include <stdlib.h>
#include <string.h>

#include "tools/print/print.h"

/* A level of a key: text between dots. */
typedef struct part {
    const char *at;
    size_t length;
    bool varies; /* a list index that differs from tensor to tensor */
} part;

/* Indices that vary, "0-3,5". */
typedef struct runs {
    text shown; /* while there are few */
    uint64_t first, last;
    unsigned count;
} runs;

/* Where siblings differ: at a level, and at another one counted from the end; SIZE_MAX: at the first alone. */
typedef struct place {
    size_t level, other;
} place;

typedef struct group {
    const entry *entry; /* the first one */
    part *parts;
    size_t count, middle; /* parts before the one that stands between two keys; `count` if there is one key */
    uint64_t repeats, names;
    runs runs[2];       /* of the first and the second key, where they are worth showing */
    struct group *next; /* of the siblings gathered in the running pass, in the order of the file */
    struct group *last; /* of a first sibling: the end of that chain */
    struct group *into; /* gathered into another one: which */
    size_t line;        /* of the listing, if it is not */
    const place *where; /* siblings differ in the running pass */
} group;

/* ------------------------------------------------------------------------------------------------- parts of keys -- */

static bool is_index(const part *p)
{
    for (size_t i = 0; i < p->length; i++) {
        if (p->at[i] < '0' || p->at[i] > '9') {
            return false;
        }
    }
    return p->length > 0;
}

static bool same_text(const part *a, const part *b)
{
    return a->length == b->length && memcmp(a->at, b->at, a->length) == 0;
}

static bool is_between(const part *p)
{
    return p->length == 1 && p->at[0] == FOLD_BETWEEN[0];
}

static size_t count_parts(const char *path)
{
    size_t count = 1;

    for (; *path; path++) {
        if (*path == '\\' && path[1]) {
            path++;
        } else if (*path == '.') {
            count++;
        }
    }
    return count;
}

static void split_key(const char *path, part *parts)
{
    size_t i = 0;
    const char *begin = path;

    for (;; path++) {
        if (*path == '\\' && path[1]) {
            path++;
        } else if (*path == '.' || *path == '\0') {
            parts[i++] = (part){begin, (size_t)(path - begin), false};
            if (*path == '\0') {
                return;
            }
            begin = path + 1;
        }
    }
}

static int compare_text(const part *a, const part *b)
{
    int order = memcmp(a->at, b->at, a->length < b->length ? a->length : b->length);

    return order ? order : (a->length > b->length) - (a->length < b->length);
}

static int compare_form(const entry *a, const entry *b)
{
    int order = (a->rank > b->rank) - (a->rank < b->rank);

    order = order ? order : strcmp(a->dtype, b->dtype);
    return order || !a->rank ? order : memcmp(a->shape, b->shape, a->rank * sizeof *a->shape);
}

/* ----------------------------------------------------------------------------------------------- equal but for -- */

/* Compares keys except for list indices. */
static int by_pattern(const void *one, const void *other)
{
    const group *a = one, *b = other;
    int order = (a->count > b->count) - (a->count < b->count);

    for (size_t i = 0; i < a->count && !order; i++) {
        bool index = is_index(&a->parts[i]), both = is_index(&b->parts[i]) == index;
        order = !both ? (index ? -1 : 1) : index ? 0 : compare_text(&a->parts[i], &b->parts[i]);
    }
    return order;
}

/* The same, and element types and shapes. */
static int by_layer(const void *one, const void *other)
{
    int order = compare_form(((const group *)one)->entry, ((const group *)other)->entry);

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
        size_t parts = count_parts(entries[i].path);
        group *fresh = &groups[made], *g;
        split_key(entries[i].path, room);
        *fresh = (group){.entry = &entries[i], .parts = room, .count = parts, .names = 1};
        g = tool_known_add(&known, fresh, by_layer);
        g->repeats++;
        of[i] = (size_t)(g - groups);
        if (g == fresh) {
            while (g->middle < parts && !is_between(&room[g->middle])) {
                g->middle++;
            }
            made++;
            room += parts;
            continue;
        }
        for (size_t p = 0; p < parts; p++) {
            g->parts[p].varies = g->parts[p].varies || !same_text(&g->parts[p], &room[p]);
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
        split_key(entries[i].path, parts);
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

/* ------------------------------------------------------------------------------------------------------ siblings -- */

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
    order = order ? order : compare_form(a->entry, b->entry);
    for (size_t i = 0; i < a->count && !order; i++) {
        const part *x = &a->parts[i], *y = &b->parts[i];
        if (i != a->where->level && i != other) {
            order = compare_numbers(x->varies, y->varies);
            order = order || x->varies ? order : compare_text(x, y);
        }
    }
    return order;
}

/* @return the width that a listing leaves for keys next to its other columns: ×N, DTYPE, SHAPE, PARAMETERS. */
static size_t key_width(const entry *entries, size_t count, const group *groups, size_t made, size_t width)
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
    return level < g->count && level != g->middle && !g->parts[level].varies && !is_index(&g->parts[level]);
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
        same = same && same_text(&g->parts[level], &first->parts[level]);
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

/* @param most parts of the longest key. @param kept (out) takes names that must live as long as the groups. */
static void fold_siblings(group *groups, size_t made, size_t most, bool two_keys, size_t width, words *kept)
{
    if (two_keys) {
        fold_pairs(groups, made, width, kept);
    }
    /* Names of the top level are separate models: they are not folded. */
    for (size_t level = most; level-- > 1;) {
        fold_at(groups, made, (place){level, SIZE_MAX}, width, kept);
    }
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

/* A line for each entry. */
static fold *make_each(const entry *entries, size_t count, size_t *of)
{
    fold *folds = xmalloc(count * sizeof *folds);

    for (size_t i = 0; i < count; i++) {
        folds[i] = (fold){xstrdup(entries[i].path), i, 1, 1};
        if (of) {
            of[i] = i;
        }
    }
    return folds;
}

fold *tool_folds_make(const entry *entries, size_t entry_count, size_t width, bool two_keys, size_t *count,
                      size_t *lines)
{
    size_t all_parts = 0, most = 0, made;
    size_t *of;
    group *groups;
    words kept = {0};
    fold *folds;
    part *parts;

    if (width == FOLD_NOTHING) {
        *count = entry_count;
        return make_each(entries, entry_count, lines);
    }
    of = lines ? lines : xmalloc(entry_count * sizeof *of);
    groups = xmalloc(entry_count * sizeof *groups);
    for (size_t i = 0; i < entry_count; i++) {
        size_t parts_here = count_parts(entries[i].path);
        all_parts += parts_here;
        most = parts_here > most ? parts_here : most;
    }
    parts = xmalloc(all_parts * sizeof *parts);
    made = group_layers(entries, entry_count, groups, of, parts);
    name_ranges(entries, entry_count, of, groups, made);
    if (width) {
        width = two_keys ? width : key_width(entries, entry_count, groups, made, width);
        fold_siblings(groups, made, most, two_keys, width, &kept);
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
    if (!lines) {
        free(of);
    }
    free(kept.at);
    free(parts);
    free(groups);
    return folds;
}

void tool_folds_free(fold *folds, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free(folds[i].key);
    }
    free(folds);
}
