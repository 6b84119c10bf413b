/* SPDX-License-Identifier: MIT OR Apache-2.0
 * A record as a tree that is folded and unfolded. Nodes stand level by level, so that children are side by side and
 * what lies below a node is added up in one pass from the end; rows of siblings are summed by Fenwick trees, so that no
 * key costs more than the depth of the tree times the logarithm of the siblings. */
#include <stdlib.h>
#include <string.h>

#include "tools/browse/browse_private.h"

/* -------------------------------------------------------------------------------------------- rows of siblings -- */

/* Adds to the rows of child `k` in the sums of its siblings. */
static void add_rows(tree *t, const node *parent, uint32_t k, uint32_t more)
{
    uint32_t *sums = t->sums + parent->first;

    for (uint64_t i = (uint64_t)k + 1; i <= parent->count; i += i & (~i + 1)) {
        sums[i - 1] += more; /* may be negative: it wraps, and back */
    }
}

/* @return rows of the first `k` children. */
static uint32_t rows_before(const tree *t, const node *parent, uint32_t k)
{
    const uint32_t *sums = t->sums + parent->first;
    uint32_t rows = 0;

    for (uint32_t i = k; i > 0; i &= i - 1) {
        rows += sums[i - 1];
    }
    return rows;
}

/* @return the child that holds row `*row` of all children's rows, which becomes the row within it. */
static uint32_t child_at(const tree *t, const node *parent, uint32_t *row)
{
    const uint32_t *sums = t->sums + parent->first;
    uint32_t at = 0, step = 1;

    while (step <= parent->count / 2) {
        step *= 2;
    }
    for (; step; step /= 2) {
        if (at + step <= parent->count && at + step >= step && sums[at + step - 1] <= *row) {
            at += step;
            *row -= sums[at - 1];
        }
    }
    return parent->first + at;
}

static bool is_hidden(const tree *t, const node *n)
{
    return !t->all && n->live == 0;
}

static uint32_t rows_of(const tree *t, const node *n)
{
    return is_hidden(t, n) ? 0 : 1 + (n->open ? rows_before(t, n, n->count) : 0);
}

/* Recomputes all row counts. */
static void count_rows(tree *t)
{
    memset(t->sums, 0, t->count * sizeof *t->sums);
    for (uint32_t i = t->count; i-- > 0;) {
        node *n = &t->nodes[i];
        /* Its children have been seen and put their rows into their places; each hands its sum on. */
        for (uint32_t k = 0; k < n->count; k++) {
            uint64_t next = (uint64_t)k + 1 + (((uint64_t)k + 1) & (~(uint64_t)k));
            t->sums[n->first + k] += t->nodes[n->first + k].rows;
            if (next <= n->count) {
                t->sums[n->first + next - 1] += t->sums[n->first + k];
            }
        }
        n->rows = rows_of(t, n);
    }
}

/* ------------------------------------------------------------------------------------------------------ making -- */

static uint64_t children_of(const rec_value *value)
{
    int32_t kind = rec_value_kind(value);

    return kind == REC_KIND_LIST || kind == REC_KIND_MAP || kind == REC_KIND_VARIANT ? rec_value_count(value) : 0;
}

static void add_node(tree *t, uint32_t parent, const rec_value *value)
{
    t->nodes = tool_grown(t->nodes, t->count, sizeof *t->nodes);
    t->nodes[t->count++] = (node){.value = value, .parent = parent};
}

/* Adds up what is below each, and gives each its place in the order of the files. */
static void add_up(tree *t)
{
    uint32_t *sizes = xmalloc(t->count * sizeof *sizes);

    for (uint32_t i = t->count; i-- > 0;) {
        node *n = &t->nodes[i];
        const rec_tensor *tensor = n->value ? rec_value_tensor(n->value) : NULL;
        sizes[i] = 1;
        if (tensor) {
            n->tensors = 1;
            n->elements = rec_tensor_count(tensor);
            n->nbytes = rec_tensor_nbytes(tensor);
        }
        n->live = n->count == 0 && n->value && rec_value_kind(n->value) != REC_KIND_NIL;
        for (uint32_t k = n->first; k < n->first + n->count; k++) {
            n->tensors += t->nodes[k].tensors;
            n->live += t->nodes[k].live;
            n->elements += t->nodes[k].elements;
            n->nbytes += t->nodes[k].nbytes;
            sizes[i] += sizes[k];
        }
    }
    for (uint32_t i = 0; i < t->count; i++) {
        uint32_t order = t->nodes[i].order + 1;
        for (uint32_t k = t->nodes[i].first; k < t->nodes[i].first + t->nodes[i].count; k++) {
            t->nodes[k].order = order;
            order += sizes[k];
        }
    }
    free(sizes);
}

int tool_tree_make(tree *t, const opened_file *files, uint32_t count)
{
    *t = (tree){.files = files, .file_count = count};
    add_node(t, 0, NULL);
    t->nodes[0].first = 1;
    t->nodes[0].count = count;
    t->nodes[0].open = true;
    for (uint32_t i = 0; i < count; i++) {
        add_node(t, 0, rec_root(files[i].record));
    }
    for (uint32_t i = 1; i < t->count; i++) {
        const rec_value *value = t->nodes[i].value;
        uint64_t children = children_of(value);
        if (children >= NO_NODE - t->count) {
            return tool_fail("browse: more than four billion values cannot be listed");
        }
        t->nodes[i].first = t->count;
        t->nodes[i].count = (uint32_t)children;
        for (uint64_t k = 0; k < children; k++) {
            add_node(t, i, rec_value_item(value, k));
        }
    }
    add_up(t);
    t->sums = xmalloc(t->count * sizeof *t->sums);
    /* Of a single file its name need not be seen, unless there is nothing else. */
    t->top = count == 1 && t->nodes[1].count > 0;
    t->all = t->nodes[t->top].live == 0;
    t->nodes[t->top].open = true;
    count_rows(t);
    return EXIT_OK;
}

void tool_tree_free(tree *t)
{
    free(t->nodes);
    free(t->sums);
    *t = (tree){0};
}

/* ----------------------------------------------------------------------------------------------------- folding -- */

uint32_t tool_tree_rows(const tree *t)
{
    const node *top = &t->nodes[t->top];

    return rows_before(t, top, top->count);
}

uint32_t tool_tree_at(const tree *t, uint32_t row)
{
    uint32_t at = t->top;

    if (row >= tool_tree_rows(t)) {
        return NO_NODE;
    }
    for (;;) {
        at = child_at(t, &t->nodes[at], &row);
        if (row == 0) {
            return at;
        }
        row--;
    }
}

uint32_t tool_tree_row(const tree *t, uint32_t at)
{
    uint32_t row = 0;

    while (at != t->top) {
        uint32_t parent = t->nodes[at].parent;
        row += rows_before(t, &t->nodes[parent], at - t->nodes[parent].first) + (parent != t->top);
        at = parent;
    }
    return row;
}

int tool_tree_depth(const tree *t, uint32_t at)
{
    int depth = -1;

    for (; at != t->top; at = t->nodes[at].parent) {
        depth++;
    }
    return depth;
}

void tool_tree_fold(tree *t, uint32_t at, bool open)
{
    t->nodes[at].open = open && t->nodes[at].count > 0;
    while (at != t->top) {
        node *n = &t->nodes[at], *parent = &t->nodes[n->parent];
        uint32_t rows = rows_of(t, n);
        if (rows == n->rows) {
            return;
        }
        add_rows(t, parent, at - parent->first, rows - n->rows);
        n->rows = rows;
        at = n->parent;
    }
}

/* @return the place in order of the first node that is not below this one. */
static uint32_t order_behind(const tree *t, uint32_t at)
{
    while (at != 0) {
        const node *parent = &t->nodes[t->nodes[at].parent];
        if (at + 1 < parent->first + parent->count) {
            return t->nodes[at + 1].order;
        }
        at = t->nodes[at].parent;
    }
    return t->count;
}

/* The next node in the order of the files, folded or not. @return NO_NODE at the end. */
static uint32_t next_node(const tree *t, uint32_t at)
{
    if (t->nodes[at].count) {
        return t->nodes[at].first;
    }
    while (at != 0) {
        const node *parent = &t->nodes[t->nodes[at].parent];
        if (at + 1 < parent->first + parent->count) {
            return at + 1;
        }
        at = t->nodes[at].parent;
    }
    return NO_NODE;
}

void tool_tree_fold_all(tree *t, uint32_t at, bool open)
{
    uint32_t behind = order_behind(t, at);

    for (uint32_t i = at; i != NO_NODE && t->nodes[i].order < behind; i = next_node(t, i)) {
        t->nodes[i].open = open && t->nodes[i].count > 0;
    }
    t->nodes[t->top].open = true;
    count_rows(t);
}

void tool_tree_reveal(tree *t, uint32_t at)
{
    while (at != t->top) {
        at = t->nodes[at].parent;
        if (!t->nodes[at].open) {
            tool_tree_fold(t, at, true);
        }
    }
}

void tool_tree_show_all(tree *t, bool all)
{
    t->all = all || t->nodes[t->top].live == 0; /* something is always there to be on */
    count_rows(t);
}

void tool_tree_begin(tree *t, uint32_t rows)
{
    for (uint32_t i = t->top + 1; i < t->count; i++) {
        node *n = &t->nodes[i];
        if (n->count == 0 || is_hidden(t, n) || !t->nodes[n->parent].open) {
            continue;
        }
        /* A single child is always unfolded. */
        uint64_t all = (uint64_t)tool_tree_rows(t) + rows_before(t, n, n->count);
        if (all <= rows || (t->nodes[n->parent].count == 1 && rows_before(t, n, n->count) < t->count)) {
            tool_tree_fold(t, i, true);
        } else if (all > rows) {
            break;
        }
    }
}

/* ------------------------------------------------------------------------------------------------------- names -- */

uint32_t tool_tree_file(const tree *t, uint32_t at)
{
    while (t->nodes[at].parent != 0) {
        at = t->nodes[at].parent;
    }
    return at ? at - 1 : 0;
}

void tool_tree_name(const tree *t, uint32_t at, text *name)
{
    const node *n = &t->nodes[at], *parent = &t->nodes[n->parent];
    char number[NUMBER_ROOM];
    rec_scalar key;

    if (n->parent == 0) {
        tool_text_put(name, t->file_count == 1 ? "(root)" : tool_input_name(t->files[at - 1].path));
    } else if (rec_value_kind(parent->value) == REC_KIND_LIST) {
        tool_text_format(name, "%u", (unsigned)(at - parent->first));
    } else {
        key = rec_value_key(parent->value, at - parent->first);
        if (key.kind == REC_KIND_STRING) {
            tool_text_add(name, key.text, (size_t)key.v.length);
        } else {
            tool_text_put(name, tool_scalar_text(&key, number));
        }
    }
}

/* Adds a name as it stands in a path. */
static void add_name(text *path, const char *name, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (name[i] == '.' || name[i] == '\\') {
            tool_text_put(path, "\\");
        }
        tool_text_add(path, name[i] ? name + i : "?", 1);
    }
}

void tool_tree_path(const tree *t, uint32_t at, text *path)
{
    uint32_t *above = NULL;
    size_t depth = 0;

    for (uint32_t i = at; t->nodes[i].parent != 0; i = t->nodes[i].parent) {
        depth++;
    }
    above = xmalloc(depth * sizeof *above);
    for (size_t i = depth; i-- > 0; at = t->nodes[at].parent) {
        above[i] = at;
    }
    tool_text_add(path, "", 0);
    for (size_t i = 0; i < depth; i++) {
        text name = {0};
        tool_tree_name(t, above[i], &name);
        tool_text_put(path, i ? "." : "");
        add_name(path, name.at, name.length);
        tool_text_free(&name);
    }
    free(above);
}

/* ------------------------------------------------------------------------------------------------------ search -- */

/* Only letters of ASCII have their case changed. */
static char small(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool contains(const char *string, size_t length, const char *pattern, size_t size, bool exact)
{
    for (size_t i = 0; size <= length && i <= length - size; i++) {
        size_t k = 0;
        while (k < size && (exact ? string[i + k] == pattern[k] : small(string[i + k]) == pattern[k])) {
            k++;
        }
        if (k == size) {
            return true;
        }
    }
    return false;
}

void tool_tree_search(const tree *t, found *f, const char *pattern)
{
    size_t size = strlen(pattern), *ends = NULL, ends_room = 0;
    bool exact = false;
    text path = {0}, name = {0};

    for (size_t i = 0; i < size; i++) {
        exact = exact || small(pattern[i]) != pattern[i];
    }
    tool_found_free(f);
    f->pattern = xstrdup(pattern);
    for (uint32_t at = next_node(t, t->top); at != NO_NODE; at = next_node(t, at)) {
        const node *n = &t->nodes[at];
        size_t depth = (size_t)tool_tree_depth(t, at), begin;
        if (depth + 1 >= ends_room) {
            ends_room = 2 * depth + 16;
            ends = xrealloc(ends, ends_room * sizeof *ends);
        }
        /* The path so far is that of a neighbour: what it shares with this one is kept. */
        path.length = depth ? ends[depth - 1] : 0;
        tool_text_put(&path, depth && path.length ? "." : "");
        begin = path.length;
        name.length = 0;
        tool_tree_name(t, at, &name);
        if (n->parent == 0) {
            tool_text_add(&path, name.at, name.length);
        } else {
            add_name(&path, name.at, name.length);
        }
        ends[depth] = path.length;
        if (is_hidden(t, n)) {
            continue;
        }
        begin = begin < size ? 0 : begin - size + 1;
        if (size && contains(path.at + begin, path.length - begin, f->pattern, size, exact)) {
            f->at = tool_grown(f->at, f->count, sizeof *f->at);
            f->at[f->count++] = at;
        }
    }
    free(ends);
    tool_text_free(&path);
    tool_text_free(&name);
}

uint32_t tool_found_next(const tree *t, const found *f, uint32_t at, bool forwards)
{
    uint32_t low = 0, high = f->count, order = at == NO_NODE ? 0 : t->nodes[at].order;

    /* The first one that is not before it. */
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (t->nodes[f->at[middle]].order < order) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (!forwards) {
        return low ? low - 1 : f->count - 1;
    }
    low += low < f->count && f->at[low] == at;
    return low < f->count ? low : 0;
}

void tool_found_free(found *f)
{
    free(f->pattern);
    free(f->at);
    *f = (found){0};
}

/* -------------------------------------------------------------------------------------------------------- JSON -- */

static void json_node(json *j, const tree *t, uint32_t at)
{
    const node *n = &t->nodes[at];
    const rec_tensor *tensor = rec_value_tensor(n->value);
    text name = {0};

    tool_tree_name(t, at, &name);
    tool_json_object(j, NULL);
    if (n->parent == 0) {
        tool_json_string(j, "name", NULL);
    } else {
        tool_json_text(j, "name", name.at, name.length);
    }
    tool_text_free(&name);
    tool_json_string(j, "kind", tool_kind_word(rec_value_kind(n->value)));
    if (tensor) {
        tool_json_string(j, "dtype", rec_tensor_dtype_name(tensor));
        tool_json_shape(j, "shape", rec_tensor_shape(tensor), rec_tensor_rank(tensor));
    } else if (n->count == 0) {
        tool_json_leaf(j, "value", n->value);
    }
    tool_json_uint(j, "tensors", n->tensors);
    tool_json_uint(j, "parameters", n->elements);
    tool_json_uint(j, "nbytes", n->nbytes);
    if (n->count) {
        tool_json_array(j, "children");
        for (uint32_t k = 0; k < n->count; k++) {
            json_node(j, t, n->first + k);
        }
        tool_json_close(j, ']');
    }
    tool_json_close(j, '}');
}

void tool_tree_json(const tree *t)
{
    json j;

    tool_json_open(&j, stdout, UINT32_MAX);
    tool_json_array(&j, "files");
    for (uint32_t i = 0; i < t->file_count; i++) {
        tool_json_object(&j, NULL);
        tool_json_string(&j, "file", t->files[i].path);
        tool_json_key(&j, "tree", 4);
        json_node(&j, t, 1 + i);
        tool_json_close(&j, '}');
    }
    tool_json_close(&j, ']');
    tool_json_finish(&j);
}
