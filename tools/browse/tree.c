/* SPDX-License-Identifier: MIT OR Apache-2.0
 * A record as a tree that is folded and unfolded. Nodes stand in the order of the files, each before what lies below
 * it; those that are listed are found again after each key, in one pass. */
#include <stdlib.h>
#include <string.h>

#include "tools/browse/browse_private.h"

/* Finds what is listed: what is not hidden and not below something folded. */
static void list(tree *t)
{
    t->rows = 0;
    for (uint32_t i = t->top + 1; i < t->nodes[t->top].end;) {
        const node *n = &t->nodes[i];
        bool hidden = tool_tree_hides(t, n);
        if (!hidden) {
            t->listed[t->rows++] = i;
        }
        i = n->open && !hidden ? i + 1 : n->end;
    }
}

/* ------------------------------------------------------------------------------------------------------ making -- */

static uint64_t children_of(const rec_value *value)
{
    int32_t kind = rec_value_kind(value);

    return kind == REC_KIND_LIST || kind == REC_KIND_MAP || kind == REC_KIND_VARIANT ? rec_value_count(value) : 0;
}

/* Adds a value and all below it. @return false: there are too many. */
static bool add_node(tree *t, uint32_t parent, uint32_t place, const rec_value *value)
{
    uint64_t count = children_of(value);
    uint32_t at = t->count;

    if (count >= NO_NODE - t->count) {
        return false;
    }
    t->nodes = tool_grown(t->nodes, t->count, sizeof *t->nodes);
    t->nodes[t->count++] = (node){.value = value, .parent = parent, .place = place, .count = (uint32_t)count};
    for (uint32_t k = 0; k < count; k++) {
        if (!add_node(t, at, k, rec_value_item(value, k))) {
            return false;
        }
    }
    t->nodes[at].end = t->count;
    return true;
}

/* Adds up what is below each. */
static void add_up(tree *t)
{
    for (uint32_t i = t->count; i-- > 1;) {
        node *n = &t->nodes[i], *parent = &t->nodes[n->parent];
        const rec_tensor *tensor = rec_value_tensor(n->value);
        if (tensor) {
            n->tensors = 1;
            n->elements = rec_tensor_count(tensor);
            n->nbytes = rec_tensor_nbytes(tensor);
        }
        n->live += n->count == 0 && rec_value_kind(n->value) != REC_KIND_NIL;
        parent->tensors += n->tensors;
        parent->live += n->live;
        parent->elements += n->elements;
        parent->nbytes += n->nbytes;
    }
}

int tool_tree_make(tree *t, const opened_file *files, uint32_t count)
{
    *t = (tree){.files = files, .file_count = count, .count = 1};
    t->nodes = tool_grown(NULL, 0, sizeof *t->nodes);
    t->nodes[0] = (node){.count = count, .open = true};
    for (uint32_t i = 0; i < count; i++) {
        if (!add_node(t, 0, i, rec_root(files[i].record))) {
            return tool_fail("browse: more than four billion values cannot be listed");
        }
    }
    t->nodes[0].end = t->count;
    add_up(t);
    t->listed = xmalloc(t->count * sizeof *t->listed);
    /* Of a single file its name need not be seen, unless there is nothing else. */
    t->top = count == 1 && t->nodes[1].count > 0;
    t->nodes[t->top].open = true;
    tool_tree_show_all(t, false);
    return EXIT_OK;
}

void tool_tree_free(tree *t)
{
    free(t->nodes);
    free(t->listed);
    *t = (tree){0};
}

/* ----------------------------------------------------------------------------------------------------- folding -- */

bool tool_tree_hides(const tree *t, const node *n)
{
    return !t->all && n->live == 0;
}

uint32_t tool_tree_at(const tree *t, uint32_t row)
{
    return row < t->rows ? t->listed[row] : NO_NODE;
}

uint32_t tool_tree_row(const tree *t, uint32_t at)
{
    uint32_t low = 0, high = t->rows;

    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        *(t->listed[middle] <= at ? &low : &high) = middle;
    }
    return low;
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
    list(t);
}

void tool_tree_fold_all(tree *t, uint32_t at, bool open)
{
    for (uint32_t i = at; i < t->nodes[at].end; i++) {
        t->nodes[i].open = open && t->nodes[i].count > 0;
    }
    list(t);
}

void tool_tree_reveal(tree *t, uint32_t at)
{
    while (at != t->top) {
        at = t->nodes[at].parent;
        t->nodes[at].open = true;
    }
    list(t);
}

void tool_tree_show_all(tree *t, bool all)
{
    t->all = all || t->nodes[t->top].live == 0; /* something is always there to be on */
    list(t);
}

/* @return how many rows the children of a node take while they are folded. */
static uint32_t rows_below(const tree *t, uint32_t at)
{
    uint32_t rows = 0;

    for (uint32_t i = at + 1; i < t->nodes[at].end; i = t->nodes[i].end) {
        rows += !tool_tree_hides(t, &t->nodes[i]);
    }
    return rows;
}

void tool_tree_begin(tree *t, uint32_t rows)
{
    /* Each pass is for one level. */
    for (uint32_t unfolded = 1; unfolded;) {
        uint64_t all = t->rows;
        unfolded = 0;
        for (uint32_t i = 0; i < t->rows; i++) {
            uint32_t at = t->listed[i];
            node *n = &t->nodes[at];
            if (n->open || n->count == 0) {
                continue;
            }
            all += rows_below(t, at);
            /* A single child is always unfolded. */
            if (all > rows && t->nodes[n->parent].count > 1) {
                list(t);
                return;
            }
            n->open = true;
            unfolded++;
        }
        list(t);
    }
}

/* ------------------------------------------------------------------------------------------------------- names -- */

uint32_t tool_tree_file(const tree *t, uint32_t at)
{
    while (t->nodes[at].parent != 0) {
        at = t->nodes[at].parent;
    }
    return t->nodes[at].place;
}

void tool_tree_name(const tree *t, uint32_t at, text *name)
{
    const node *n = &t->nodes[at], *parent = &t->nodes[n->parent];
    char number[NUMBER_ROOM];
    rec_scalar key;

    if (n->parent == 0) {
        tool_text_put(name, t->file_count == 1 ? "(root)" : tool_input_name(t->files[n->place].path));
    } else if (rec_value_kind(parent->value) == REC_KIND_LIST) {
        tool_text_format(name, "%u", (unsigned)n->place);
    } else {
        key = rec_value_key(parent->value, n->place);
        if (key.kind == REC_KIND_STRING) {
            tool_text_add(name, key.text, (size_t)key.v.length);
        } else {
            tool_text_put(name, tool_scalar_text(&key, number));
        }
    }
}

void tool_tree_path(const tree *t, uint32_t at, text *path)
{
    const node *n = &t->nodes[at];

    tool_text_put(path, "");
    if (n->parent != 0) {
        tool_tree_path(t, n->parent, path);
        tool_text_put(path, t->nodes[n->parent].parent ? "." : "");
        tool_text_child(path, t->nodes[n->parent].value, n->place);
    }
}

/* ------------------------------------------------------------------------------------------------------ search -- */

void tool_tree_search(const tree *t, found *f, const char *pattern)
{
    bool exact = strpbrk(pattern, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
    size_t size = strlen(pattern), *ends = NULL, ends_room = 0;
    text path = {0};

    tool_found_free(f);
    f->pattern = xstrdup(pattern);
    for (uint32_t at = t->top + 1; at < t->nodes[t->top].end; at++) {
        const node *n = &t->nodes[at];
        size_t depth = (size_t)tool_tree_depth(t, at), begin, own;
        if (depth >= ends_room) {
            ends_room = 2 * depth + 16;
            ends = xrealloc(ends, ends_room * sizeof *ends);
        }
        /* The path so far is that of a neighbour: what it shares with this one is kept. */
        path.length = depth ? ends[depth - 1] : 0;
        tool_text_put(&path, depth && path.length ? "." : "");
        own = path.length;
        begin = path.length < size ? 0 : path.length - size + 1;
        if (n->parent == 0) {
            tool_tree_name(t, at, &path);
        } else {
            tool_text_child(&path, t->nodes[n->parent].value, n->place);
        }
        ends[depth] = path.length;
        /* In every language: small letters of Turkish have no I. */
        for (char *c = path.at + own; !exact && *c; c++) {
            *c = *c >= 'A' && *c <= 'Z' ? (char)(*c - 'A' + 'a') : *c;
        }
        if (!tool_tree_hides(t, n) && strstr(path.at + begin, pattern)) {
            f->at = tool_grown(f->at, f->count, sizeof *f->at);
            f->at[f->count++] = at;
        }
    }
    free(ends);
    tool_text_free(&path);
}

uint32_t tool_found_next(const found *f, uint32_t at, bool forwards)
{
    uint32_t low = 0, high = f->count;

    /* The first one that is not before it. */
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (f->at[middle] < at) {
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
        for (uint32_t i = at + 1; i < n->end; i = t->nodes[i].end) {
            json_node(j, t, i);
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
    for (uint32_t i = 1; i < t->count; i = t->nodes[i].end) {
        tool_json_object(&j, NULL);
        tool_json_string(&j, "file", t->files[t->nodes[i].place].path);
        tool_json_key(&j, "tree", 4);
        json_node(&j, t, i);
        tool_json_close(&j, '}');
    }
    tool_json_close(&j, ']');
    tool_json_finish(&j);
}
