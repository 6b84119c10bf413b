/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Tensors as a tree by the levels of their keys, with totals for each level. */
#include <stdlib.h>
#include <string.h>

#include "tools/list/list_private.h"

/* Deeper levels are joined: keys are untrusted. */
enum { LEVELS_MOST = 64, INDENT = 2 };

/* A line of the listing on its way through the levels. */
typedef struct row {
    const char *key, *rest; /* the whole, and from this level on */
    size_t part;            /* how long its name is on this level */
    const entry *tensor;    /* that stands for all of them */
    uint64_t tensors, nbytes;
    size_t place;         /* where it stood */
    size_t group;         /* the place of the first with this name */
    uint64_t group_order; /* what goes before that */
} row;

typedef struct tree {
    const manner *m;
    table t;
    json *j; /* NULL: for people */
    bool summed;
} tree;

/* Whether the key ends at this level: such rows come first. */
static bool ends(const row *r)
{
    return !r->rest[r->part];
}

static int by_part(const void *one, const void *other)
{
    const row *a = one, *b = other;
    size_t shorter = a->part < b->part ? a->part : b->part;
    int order = memcmp(a->rest, b->rest, shorter);

    order = order ? order : (a->part > b->part) - (a->part < b->part);
    return order ? order : (a->place > b->place) - (a->place < b->place);
}

static int by_group(const void *one, const void *other)
{
    const row *a = one, *b = other;

    if (a->group_order != b->group_order) {
        return a->group_order < b->group_order ? -1 : 1;
    }
    if (a->group != b->group) {
        return a->group < b->group ? -1 : 1;
    }
    return (a->place > b->place) - (a->place < b->place);
}

static size_t run_length(const row *rows, size_t count)
{
    size_t length = 1;

    while (length < count && rows[length].part == rows->part &&
           memcmp(rows[length].rest, rows->rest, rows->part) == 0) {
        length++;
    }
    return length;
}

/* Groups rows of one name, in the order of their first rows or by total size. */
static void gather(const tree *t, row *rows, size_t count, size_t level)
{
    size_t length;

    for (size_t i = 0; i < count; i++) {
        rows[i].part = level + 1 < LEVELS_MOST ? tool_level_length(rows[i].rest) : strlen(rows[i].rest);
    }
    qsort(rows, count, sizeof *rows, by_part);
    for (size_t i = 0; i < count; i += length) {
        uint64_t sum = 0;
        length = run_length(rows + i, count - i);
        for (size_t k = i; k < i + length; k++) {
            sum += rows[k].nbytes;
        }
        for (size_t k = i; k < i + length; k++) {
            rows[k].group = rows[i].place;
            rows[k].group_order = t->m->sort != SORT_SIZE ? 0 : t->m->backwards ? sum : UINT64_MAX - sum;
        }
    }
    qsort(rows, count, sizeof *rows, by_group);
}

/* A line: of one row, or the sum of several. */
static void put_line(tree *t, const row *rows, size_t count, size_t level)
{
    const row *only = count == 1 && ends(rows) ? rows : NULL;
    uint64_t tensors = 0, elements = 0, nbytes = 0;
    char *name = xasprintf("%.*s", (int)((t->m->tree && !t->j ? 0 : rows->rest - rows->key) + (ptrdiff_t)rows->part),
                           t->m->tree && !t->j ? rows->rest : rows->key);
    char number[NUMBER_ROOM];
    text cell = {0};

    for (size_t i = 0; i < count; i++) {
        tensors += rows[i].tensors;
        elements += rows[i].tensor->count * rows[i].tensors;
        nbytes += rows[i].nbytes;
    }
    if (t->j) {
        tool_json_object(t->j, NULL);
        tool_json_string(t->j, "key", name);
        tool_json_uint(t->j, "tensors", tensors);
        tool_json_uint(t->j, "parameters", elements);
        tool_json_uint(t->j, "nbytes", nbytes);
        tool_json_close(t->j, '}');
        free(name);
        return;
    }
    t->summed = t->summed || tensors > 1;
    tool_text_format(&cell, "%*s", (int)(t->m->tree ? INDENT * level : 0), "");
    tool_text_name(&cell, name);
    tool_text_put(&cell, *name ? "" : *rows->key ? "\"\"" : "(root)"); /* a level may have no name */
    tool_table_take(&t->t, &cell);
    tool_table_cell(&t->t, tensors > 1 ? tool_grouped(tensors, number) : "");
    tool_table_cell_safe(&t->t, only ? only->tensor->dtype : "");
    tool_text_put(&cell, "");
    if (only) {
        tool_text_shape(&cell, only->tensor->shape, only->tensor->rank);
    }
    tool_table_take(&t->t, &cell);
    tool_table_cell(&t->t, tool_counted(elements, number));
    tool_table_cell(&t->t, tool_sized(nbytes, number));
    free(name);
}

/* Levels are bounded, so this recursion is too. */
static void walk(tree *t, row *rows, size_t count, size_t level)
{
    size_t length;

    gather(t, rows, count, level);
    for (size_t i = 0; i < count; i += length) {
        bool deepest = t->m->depth && level + 1 >= t->m->depth;
        size_t first = i;
        length = run_length(rows + i, count - i);
        /* What ends here although others go on: keys of other frameworks may. */
        for (size_t k = i; k < i + length && !deepest; k++) {
            if (ends(&rows[k])) {
                row kept = rows[k];
                put_line(t, &kept, 1, level);
                rows[k] = rows[first];
                rows[first++] = kept;
            }
        }
        if (first == i + length) {
            continue;
        }
        if (deepest || (t->m->tree && !t->j)) {
            put_line(t, rows + first, i + length - first, level);
        }
        if (!deepest) {
            for (size_t k = first; k < i + length; k++) {
                rows[k].rest += rows[k].part + 1;
            }
            walk(t, rows + first, i + length - first, level + 1);
        }
    }
}

/* @param width of the folded lines, as tool_folds_make() takes it */
static void walk_all(tree *t, const listing *l, size_t width)
{
    size_t count;
    fold *folds = tool_folds_make(l->tensors, l->tensor_count, width, false, &count, NULL);
    row *rows = xmalloc(count * sizeof *rows);

    tool_listing_sort_folds(l, t->m, folds, count);
    for (size_t i = 0; i < count; i++) {
        const fold *f = &folds[i];
        rows[i] = (row){.key = f->key,
                        .rest = f->key,
                        .tensor = &l->tensors[f->first],
                        .tensors = f->repeats,
                        .nbytes = rec_tensor_nbytes(l->handles[f->first]) * f->repeats,
                        .place = i};
    }
    if (count) {
        walk(t, rows, count, 0);
    }
    free(rows);
    tool_folds_free(folds, count);
}

bool tool_print_tree(const listing *l, const manner *m)
{
    tree t = {.m = m};

    tool_table_begin(&t.t, "lrllrr", "KEY|TENSORS|DTYPE|SHAPE|PARAMETERS|SIZE");
    walk_all(&t, l, m->all ? FOLD_NOTHING : 0);
    tool_table_print(&t.t, stdout);
    return t.summed;
}

void tool_json_groups(json *j, const listing *l, const manner *m)
{
    tree t = {.m = m, .j = j};

    walk_all(&t, l, FOLD_NOTHING);
}
