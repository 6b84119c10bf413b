/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Folds a listing: repeated layers into `layers.#.attention.wq.weight`, then siblings into `{wq,wo}`. */
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "tool.h"

/* A level of a key: text between dots. */
typedef struct part {
    const char *at;
    size_t length;
    bool varies; /* a list index that differs from tensor to tensor */
} part;

typedef struct group {
    const entry *entry; /* the first one */
    part *parts;
    size_t count;
    uint64_t repeats, names;
    text runs; /* the indices that vary, "0-3,5", as far as they are known to be worth showing */
    uint64_t run_first, run_last;
    unsigned run_count;
    struct group *next; /* of the siblings gathered in the running pass, in the order of the file */
    struct group *last; /* of a first sibling: the end of that chain */
    bool gone;          /* gathered into another one */
} group;

/* --------------------------------------------------------------------------------------------------- hash table -- */

/* Open addressing over indices into an array of groups. A random seed, as keys come from files of strangers. */
typedef struct index_table {
    struct slot {
        uint64_t hash;
        size_t index; /* plus one; 0: empty */
    } * slots;
    size_t mask;
} index_table;

static index_table table_of(size_t items)
{
    index_table t = {NULL, 15};

    while (t.mask < items * 2) {
        t.mask = t.mask * 2 + 1;
    }
    t.slots = take((t.mask + 1) * sizeof *t.slots);
    memset(t.slots, 0, (t.mask + 1) * sizeof *t.slots);
    return t;
}

static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t length)
{
    const unsigned char *b = bytes;

    for (size_t i = 0; i < length; i++) {
        hash = (hash ^ b[i]) * UINT64_C(0x100000001B3);
    }
    return hash ^ hash >> 29;
}

/* -------------------------------------------------------------------------------------------------------- parts -- */

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

static void split(const char *path, part *parts)
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

/* ------------------------------------------------------------------------------------------------ equal but for -- */

static uint64_t hash_form(uint64_t hash, const entry *e)
{
    hash = hash_bytes(hash, e->dtype, strlen(e->dtype) + 1);
    return hash_bytes(hash, e->shape, e->rank * sizeof *e->shape);
}

static bool same_form(const entry *a, const entry *b)
{
    return a->rank == b->rank && strcmp(a->dtype, b->dtype) == 0 &&
           memcmp(a->shape, b->shape, a->rank * sizeof *a->shape) == 0;
}

/* Equal but for list indices. */
static uint64_t hash_pattern(uint64_t hash, const part *parts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        hash = is_index(&parts[i]) ? hash_bytes(hash, "#", 2) : hash_bytes(hash, parts[i].at, parts[i].length);
        hash = hash_bytes(hash, ".", 1);
    }
    return hash;
}

static bool same_pattern(const part *a, size_t count_a, const part *b, size_t count_b)
{
    if (count_a != count_b) {
        return false;
    }
    for (size_t i = 0; i < count_a; i++) {
        if (!same_text(&a[i], &b[i]) && !(is_index(&a[i]) && is_index(&b[i]))) {
            return false;
        }
    }
    return true;
}

/* Equal but for the name at one level. */
static uint64_t hash_siblings(uint64_t hash, const group *g, size_t level)
{
    hash = hash_bytes(hash, &g->repeats, sizeof g->repeats);
    hash = hash_bytes(hash, &g->names, sizeof g->names);
    for (size_t i = 0; i < g->count; i++) {
        if (i != level) {
            hash = g->parts[i].varies ? hash_bytes(hash, "#", 2) : hash_bytes(hash, g->parts[i].at, g->parts[i].length);
        }
        hash = hash_bytes(hash, ".", 1);
    }
    return hash_form(hash, g->entry);
}

static bool same_siblings(const group *a, const group *b, size_t level)
{
    if (a->count != b->count || a->repeats != b->repeats || a->names != b->names || !same_form(a->entry, b->entry)) {
        return false;
    }
    for (size_t i = 0; i < a->count; i++) {
        const part *x = &a->parts[i], *y = &b->parts[i];
        if (i != level && (x->varies != y->varies || (!x->varies && !same_text(x, y)))) {
            return false;
        }
    }
    return true;
}

/* --------------------------------------------------------------------------------------------- repeated layers -- */

/* @param groups (out) one group for each set of entries of one dtype and shape that are equal but for list indices.
 * @param of (out) the group of each entry. @param room all parts, in the order of the groups. @return their number. */
static size_t group_layers(const entry *entries, size_t count, uint64_t seed, group *groups, size_t *of, part *room)
{
    index_table t = table_of(count);
    size_t made = 0;

    for (size_t i = 0; i < count; i++) {
        size_t parts = count_parts(entries[i].path);
        split(entries[i].path, room);
        uint64_t hash = hash_form(hash_pattern(seed, room, parts), &entries[i]);
        size_t at = hash & t.mask;
        group *g = NULL;
        for (; t.slots[at].index; at = (at + 1) & t.mask) {
            g = &groups[t.slots[at].index - 1];
            if (t.slots[at].hash == hash && same_form(g->entry, &entries[i]) &&
                same_pattern(g->parts, g->count, room, parts)) {
                break;
            }
        }
        if (!t.slots[at].index) {
            t.slots[at] = (struct slot){hash, made + 1};
            groups[made] = (group){.entry = &entries[i], .parts = room, .count = parts, .names = 1, .repeats = 1};
            of[i] = made++;
            room += parts;
            continue;
        }
        g->repeats++;
        of[i] = (size_t)(g - groups);
        for (size_t p = 0; p < parts; p++) {
            g->parts[p].varies = g->parts[p].varies || !same_text(&g->parts[p], &room[p]);
        }
    }
    free(t.slots);
    return made;
}

/* ---------------------------------------------------------------------------------------------- ranges of layers -- */

enum { RUNS_SHOWN = 3 };

/* @return the one level whose index varies, SIZE_MAX if there are more. */
static size_t varying_level(const group *g)
{
    size_t level = SIZE_MAX;

    for (size_t i = 0; i < g->count; i++) {
        if (g->parts[i].varies) {
            if (level != SIZE_MAX) {
                return SIZE_MAX;
            }
            level = i;
        }
    }
    return level;
}

static void close_run(group *g)
{
    if (g->run_count && g->run_count <= RUNS_SHOWN) {
        text_format(&g->runs, g->run_first == g->run_last ? "%s%llu" : "%s%llu-%llu", g->run_count > 1 ? "," : "",
                    (unsigned long long)g->run_first, (unsigned long long)g->run_last);
    }
}

static void add_index(group *g, uint64_t index)
{
    if (g->run_count && index == g->run_last + 1) {
        g->run_last = index;
        return;
    }
    close_run(g);
    g->run_count++;
    g->run_first = g->run_last = index;
}

/* Where layers of one name differ in shape, `#` would say the same of each: name their indices instead. */
static void name_ranges(const entry *entries, size_t count, const size_t *of, group *groups, size_t made, uint64_t seed)
{
    index_table t = table_of(made);
    bool *ambiguous = take(made);
    size_t most = 0;
    part *parts;

    memset(ambiguous, 0, made);
    for (size_t i = 0; i < made; i++) {
        group *g = &groups[i];
        uint64_t hash = hash_pattern(seed, g->parts, g->count);
        size_t at = hash & t.mask;
        most = g->count > most ? g->count : most;
        for (; t.slots[at].index; at = (at + 1) & t.mask) {
            group *other = &groups[t.slots[at].index - 1];
            if (t.slots[at].hash == hash && same_pattern(other->parts, other->count, g->parts, g->count)) {
                ambiguous[i] = ambiguous[other - groups] = true;
                break;
            }
        }
        if (!t.slots[at].index) {
            t.slots[at] = (struct slot){hash, i + 1};
        }
    }
    parts = take(most * sizeof *parts);
    for (size_t i = 0; i < count; i++) {
        group *g = &groups[of[i]];
        size_t level = ambiguous[of[i]] ? varying_level(g) : SIZE_MAX;
        if (level != SIZE_MAX) {
            split(entries[i].path, parts);
            add_index(g, strtoull(parts[level].at, NULL, 10));
        }
    }
    for (size_t i = 0; i < made; i++) {
        close_run(&groups[i]);
        if (groups[i].run_count && groups[i].run_count <= RUNS_SHOWN) {
            part *level = &groups[i].parts[varying_level(&groups[i])];
            char *range = print("{%s}", groups[i].runs.at);
            text_free(&groups[i].runs);
            text_put(&groups[i].runs, range);
            free(range);
            *level = (part){groups[i].runs.at, groups[i].runs.length, false};
        }
    }
    free(parts);
    free(ambiguous);
    free(t.slots);
}

/* ----------------------------------------------------------------------------------------------------- siblings -- */

/* @return what a listing of that width leaves for keys beside its other columns: ×N, DTYPE, SHAPE, PARAMETERS. */
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
    most = repeats > 1 ? GAP + 1 + strlen(grouped(repeats, number)) : 0;
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

/* Chains groups that differ in the name at one level only. */
static void gather_siblings(group *groups, size_t made, size_t level, uint64_t seed)
{
    index_table t = table_of(made);

    for (size_t i = 0; i < made; i++) {
        group *g = &groups[i];
        g->next = NULL;
        g->last = NULL;
        if (g->gone || g->count <= level || g->parts[level].varies || is_index(&g->parts[level])) {
            continue;
        }
        uint64_t hash = hash_siblings(seed, g, level);
        size_t at = hash & t.mask;
        group *first = NULL;
        for (; t.slots[at].index; at = (at + 1) & t.mask) {
            first = &groups[t.slots[at].index - 1];
            if (t.slots[at].hash == hash && same_siblings(first, g, level)) {
                break;
            }
        }
        if (t.slots[at].index) {
            first->last->next = g;
            first->last = g;
        } else {
            t.slots[at] = (struct slot){hash, i + 1};
            g->last = g;
        }
    }
    free(t.slots);
}

/* Where a key is too long already, braces that add little still save lines. */
enum { BRACES_LITTLE = 12 };

/* How many siblings, at most `most`, go into the braces of one key of that width. At least one. */
static size_t fitting(const group *first, size_t level, size_t most, size_t width)
{
    size_t count = 1, length = key_length(first) + 2;

    width = length - 2 > width ? length + BRACES_LITTLE : width;
    for (const group *g = first->next; g && count < most; g = g->next, count++) {
        length += g->parts[level].length + 1;
        if (length > width) {
            break;
        }
    }
    return count;
}

/* Makes one group of the first `count` siblings of a chain. @param kept (out) takes the new name.
 * @return the next sibling. */
static group *join(group *first, size_t level, size_t count, words *kept)
{
    text braces = {0};
    group *g = first;

    for (size_t i = 0; i < count; i++, g = g->next) {
        text_put(&braces, i ? "," : "{");
        text_add(&braces, g->parts[level].at, g->parts[level].length);
        g->gone = i > 0;
    }
    if (count == 1) {
        text_free(&braces);
        return g;
    }
    text_put(&braces, "}");
    kept->at = retake(kept->at, (kept->count + 1) * sizeof *kept->at);
    kept->at[kept->count++] = braces.at;
    first->parts[level] = (part){braces.at, braces.length, false};
    first->names *= count;
    return g;
}

/* Puts chains of siblings into braces. Where one key would get too long they are spread evenly over several:
 * {gamma,beta} and {running_mean,running_var} rather than three and one. */
static void make_braces(group *groups, size_t made, size_t level, size_t width, words *kept)
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
            for (size_t fit = fitting(g, level, SIZE_MAX, width); fit; fit--) {
                g = g->next;
            }
        }
        each = (total + lines - 1) / lines;
        for (group *g = &groups[i]; g;) {
            g = join(g, level, fitting(g, level, each, width), kept);
        }
    }
}

/* ------------------------------------------------------------------------------------------------------- public -- */

static char *key_of(const group *g)
{
    text key = {0};

    text_add(&key, "", 0);
    for (size_t i = 0; i < g->count; i++) {
        text_put(&key, i ? "." : "");
        if (g->parts[i].varies) {
            text_put(&key, "#");
        } else {
            text_add(&key, g->parts[i].at, g->parts[i].length);
        }
    }
    return key.at;
}

fold *folds_make(const entry *entries, size_t entry_count, size_t width, size_t *count)
{
    size_t all_parts = 0, most = 0, made;
    group *groups = take(entry_count * sizeof *groups);
    size_t *of = take(entry_count * sizeof *of);
    words kept = {0};
    fold *folds;
    part *parts;
    uint64_t seed = 0;

    if (getrandom(&seed, sizeof seed, GRND_NONBLOCK) < 0) {
        seed = UINT64_C(0xCBF29CE484222325);
    }
    for (size_t i = 0; i < entry_count; i++) {
        size_t parts_here = count_parts(entries[i].path);
        all_parts += parts_here;
        most = parts_here > most ? parts_here : most;
    }
    parts = take(all_parts * sizeof *parts);
    made = group_layers(entries, entry_count, seed, groups, of, parts);
    name_ranges(entries, entry_count, of, groups, made, seed);
    width = key_width(entries, entry_count, groups, made, width);
    /* Names at the top are models of their own: they stay apart. */
    for (size_t level = most; level-- > 1;) {
        gather_siblings(groups, made, level, seed);
        make_braces(groups, made, level, width, &kept);
    }
    folds = take(made * sizeof *folds);
    *count = 0;
    for (size_t i = 0; i < made; i++) {
        if (!groups[i].gone) {
            folds[(*count)++] =
                (fold){key_of(&groups[i]), (size_t)(groups[i].entry - entries), groups[i].repeats, groups[i].names};
        }
        text_free(&groups[i].runs);
    }
    for (size_t i = 0; i < kept.count; i++) {
        free((char *)kept.at[i]);
    }
    free(kept.at);
    free(parts);
    free(of);
    free(groups);
    return folds;
}

void folds_free(fold *folds, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free(folds[i].key);
    }
    free(folds);
}
