/* SPDX-License-Identifier: MIT OR Apache-2.0
 * How two records differ in structure, for people: what is there on one side only, what has another name, another
 * shape, another element type. Repeated layers are folded. */
#include <stdlib.h>
#include <string.h>

#include "tools/diff/diff_private.h"

/* What a row is about, in their order. */
enum { ROW_REMOVED, ROW_ADDED, ROW_RENAMED, ROW_SHAPE, ROW_DTYPE, ROW_ID, ROW_KINDS };

static const char *const words_of[] = {[ROW_REMOVED] = "removed", [ROW_ADDED] = "added", [ROW_RENAMED] = "renamed",
                                       [ROW_SHAPE] = "shape",     [ROW_DTYPE] = "dtype", [ROW_ID] = "id"};

enum { TYPES = 32 }; /* numbers of element types are less */

static char *form_of(const rec_tensor *tensor)
{
    text t = {0};

    tool_text_safe(&t, rec_tensor_dtype_name(tensor), strlen(rec_tensor_dtype_name(tensor)));
    tool_text_put(&t, " ");
    tool_text_shape(&t, rec_tensor_shape(tensor), rec_tensor_rank(tensor));
    return t.at;
}

/* Entries for one kind of rows. All other entries of that side follow without a shape, so that folded patterns exclude
 * them. */
typedef struct entries {
    entry *at;
    struct {
        char *forms[SIDES]; /* NULL both: no row */
        char *both;         /* the forms as one word, for folding */
        char *key;          /* made here; NULL where it is borrowed */
    } *rows;
    size_t count;
} entries;

/* @param a,b (taken) forms; NULL both: no row. */
static void add_entry(entries *e, const char *key, char *made_key, char *a, char *b)
{
    size_t i = e->count++;

    e->rows[i].forms[SIDE_A] = a;
    e->rows[i].forms[SIDE_B] = b;
    e->rows[i].both = a || b ? xasprintf("%s|%s", a ? a : "", b ? b : "") : NULL;
    e->rows[i].key = made_key;
    e->at[i] = (entry){.path = made_key ? made_key : key, .dtype = a || b ? e->rows[i].both : ""};
}

static void free_entries(entries *e)
{
    for (size_t i = 0; i < e->count; i++) {
        free(e->rows[i].forms[SIDE_A]);
        free(e->rows[i].forms[SIDE_B]);
        free(e->rows[i].both);
        free(e->rows[i].key);
    }
    free(e->rows);
    free(e->at);
}

static void alone_entries(entries *e, const side *d, int which)
{
    for (size_t i = 0; i < d->tensors.count; i++) {
        const item *it = d->tensors.at[i];
        char *form = it->twin ? NULL : form_of(it->tensor);
        add_entry(e, it->key, NULL, which == SIDE_A ? form : NULL, which == SIDE_B ? form : NULL);
    }
}

static bool is_told(const bool told[TYPES], const rec_tensor *tensor)
{
    size_t dtype = (size_t)rec_tensor_dtype(tensor);

    return dtype < TYPES && told[dtype];
}

/* What a tensor is, where the other one is something else. @param other what is printed where both are parameters. */
static char *id_form(const pair *p, const rec_tensor *tensor, const char *other)
{
    return xstrdup(!p->bare ? other : rec_tensor_id(tensor) ? "parameter" : "bare tensor");
}

static void pair_entries(entries *e, const comparison *c, int kind, const bool told[TYPES])
{
    for (size_t i = 0; i < c->pair_count; i++) {
        const pair *p = &c->pairs[i];
        const item *a = p->of[SIDE_A], *b = p->of[SIDE_B];
        bool row = kind == ROW_RENAMED ? p->renamed
                   : kind == ROW_SHAPE ? p->verdict == PAIR_SHAPE
                   : kind == ROW_ID    ? tool_diff_id_counts(c, p) && !p->renamed
                                       : p->dtype && p->verdict != PAIR_SHAPE && !is_told(told, a->tensor);
        if (kind == ROW_RENAMED && row) {
            add_entry(e, NULL, xasprintf("%s.%s.%s", a->key, FOLD_BETWEEN, b->key), form_of(a->tensor), NULL);
        } else if (kind == ROW_ID) {
            add_entry(e, tool_diff_key(c, p), NULL, row ? id_form(p, a->tensor, "") : NULL,
                      row ? id_form(p, b->tensor, "another id") : NULL);
        } else if (kind != ROW_RENAMED) {
            char *form = row ? form_of(b->tensor) : NULL;
            if (row && p->transposed) {
                char *plain = form;
                form = xasprintf("%s, transposed", plain);
                free(plain);
            }
            add_entry(e, tool_diff_key(c, p), NULL, row ? form_of(a->tensor) : NULL, form);
        }
    }
}

static void add_row(table *t, int kind, const char *key, uint64_t repeats, const char *a, const char *b)
{
    const char *between = kind == ROW_RENAMED ? strstr(key, "." FOLD_BETWEEN ".") : NULL;
    char *name = between ? xasprintf("%.*s", (int)(between - key), key) : xstrdup(key);
    text cell = {0};

    tool_table_cell(t, words_of[kind]);
    tool_table_key(t, name, repeats);
    free(name);
    tool_table_cell(t, a ? a : "");
    if (between) {
        tool_text_put(&cell, "as ");
        tool_text_name(&cell, between + 3);
        tool_table_take(t, &cell);
    } else {
        tool_table_cell(t, b ? b : "");
    }
}

/* @return whether lines were left out or folded. */
static bool add_rows(table *t, const comparison *c, int kind, bool all, const bool told[TYPES], size_t *left)
{
    enum { BESIDE = 20 }; /* columns next to two keys */
    size_t room = c->sides[SIDE_A].tensors.count + c->sides[SIDE_B].tensors.count;
    entries e = {xmalloc(room * sizeof *e.at), xmalloc(room * sizeof *e.rows), 0};
    size_t width = tool_output_width(), count, rows = 0;
    bool shortened = false;
    fold *folds;

    if (kind == ROW_REMOVED || kind == ROW_ADDED) {
        int which = kind == ROW_REMOVED ? SIDE_A : SIDE_B;
        alone_entries(&e, &c->sides[which], which);
    } else {
        pair_entries(&e, c, kind, told);
    }
    width = all ? FOLD_NOTHING : kind == ROW_RENAMED ? width - BESIDE : width;
    folds = tool_folds_make(e.at, e.count, width, kind == ROW_RENAMED, &count, NULL);
    for (size_t i = 0; i < count; i++) {
        size_t first = folds[i].first;
        if (!e.rows[first].both) {
            continue;
        }
        shortened = shortened || folds[i].repeats * folds[i].names > 1;
        if (all || rows < ROWS_SHOWN) {
            add_row(t, kind, folds[i].key, folds[i].repeats, e.rows[first].forms[SIDE_A], e.rows[first].forms[SIDE_B]);
            rows++;
        } else {
            (*left)++;
        }
    }
    tool_folds_free(folds, count);
    free_entries(&e);
    return shortened || *left;
}

/* Element types: where all tensors of one became the same other one, one row says so. @param told (out) those types. */
static bool add_uniform(table *t, const comparison *c, bool told[TYPES])
{
    size_t pairs[TYPES][TYPES] = {{0}}, of[TYPES] = {0};
    char number[NUMBER_ROOM];
    bool any = false;
    text key = {0};

    for (size_t i = 0; i < c->pair_count; i++) {
        const pair *p = &c->pairs[i];
        size_t a = (size_t)rec_tensor_dtype(p->of[SIDE_A]->tensor);
        size_t b = (size_t)rec_tensor_dtype(p->of[SIDE_B]->tensor);
        if (a < TYPES && b < TYPES) {
            pairs[a][b] += p->dtype && p->verdict != PAIR_SHAPE;
            of[a] += p->verdict != PAIR_SHAPE;
        }
    }
    for (size_t a = 0; a < TYPES; a++) {
        for (size_t b = 0; b < TYPES; b++) {
            if (pairs[a][b] > 1 && pairs[a][b] == of[a] && a != b) {
                tool_text_format(&key, "all %s tensors of %s", tool_grouped(of[a], number),
                                 rec_dtype_name((rec_dtype)a));
                add_row(t, ROW_DTYPE, key.at, 1, rec_dtype_name((rec_dtype)a), rec_dtype_name((rec_dtype)b));
                tool_text_free(&key);
                told[a] = any = true;
            }
        }
    }
    return any;
}

bool tool_diff_print_structure(const comparison *c, bool all)
{
    const size_t counts[] = {
        [ROW_REMOVED] = c->removed, [ROW_ADDED] = c->added,  [ROW_RENAMED] = c->renamed,
        [ROW_SHAPE] = c->shapes,    [ROW_DTYPE] = c->dtypes, [ROW_ID] = c->w->ids ? c->ids : c->bares};
    bool shortened = false, told[TYPES] = {false};
    char number[NUMBER_ROOM];
    size_t left = 0;
    table t;

    tool_table_begin(&t, "llrll", "|KEY||A|B");
    t.shrink = 1;
    t.shrink_too = 4;
    for (int kind = 0; kind < ROW_KINDS; kind++) {
        if (counts[kind]) {
            shortened = (kind == ROW_DTYPE && !all && add_uniform(&t, c, told)) || shortened;
            shortened = add_rows(&t, c, kind, all, told, &left) || shortened;
        }
    }
    if (t.cell_count == t.columns) {
        tool_table_drop(&t);
        return false;
    }
    tool_table_print(&t, stdout);
    if (left) {
        printf("… and %s more\n", tool_grouped(left, number));
    }
    putchar('\n');
    return shortened;
}
