/* SPDX-License-Identifier: MIT OR Apache-2.0
 * record ls: the tensors and values of a record. */
#include <stdlib.h>
#include <string.h>

#include "tools/tool.h"

enum { VALUES_SHOWN = 20, VALUE_WIDTH = 48 };

/* All that a listing needs, copied out of the iterator. */
typedef struct listing {
    entry *tensors;
    size_t tensor_count, tensor_room;
    struct leaf {
        const char *path;
        const rec_value *value;
    } * values;
    size_t value_count, value_room;
    size_t nils; /* values that hold nothing: not listed for people unless --all */
    text paths;
    uint64_t elements, nbytes;
} listing;

static void add_tensor(listing *l, const rec_tensor *tensor)
{
    if (l->tensor_count == l->tensor_room) {
        l->tensor_room = l->tensor_room ? l->tensor_room * 2 : 64;
        l->tensors = xrealloc(l->tensors, l->tensor_room * sizeof *l->tensors);
    }
    l->tensors[l->tensor_count++] = (entry){
        .dtype = rec_tensor_dtype_name(tensor),
        .shape = rec_tensor_shape(tensor),
        .rank = rec_tensor_rank(tensor),
        .count = rec_tensor_count(tensor),
    };
    l->elements += rec_tensor_count(tensor);
    l->nbytes += rec_tensor_nbytes(tensor);
}

static void add_value(listing *l, const rec_value *value)
{
    if (l->value_count == l->value_room) {
        l->value_room = l->value_room ? l->value_room * 2 : 64;
        l->values = xrealloc(l->values, l->value_room * sizeof *l->values);
    }
    l->nils += rec_value_kind(value) == REC_KIND_NIL;
    l->values[l->value_count++] = (struct leaf){NULL, value};
}

/* @return EXIT_OK, or EXIT_ERROR with the error printed. */
static int collect(listing *l, const rec_record *record)
{
    rec_iterator *iterator = rec_iterate(record);
    const rec_value *value;
    const char *path;
    text value_paths = {0};

    if (!iterator) {
        return tool_fail_library();
    }
    while ((value = rec_iterator_next(iterator, &path))) {
        const rec_tensor *tensor = rec_value_tensor(value);
        if (tensor) {
            add_tensor(l, tensor);
        } else {
            add_value(l, value);
        }
        tool_text_add(tensor ? &l->paths : &value_paths, path, strlen(path) + 1);
    }
    rec_iterator_free(iterator);

    /* The texts have stopped moving: tensors' paths first, then those of values. */
    if (value_paths.length) {
        tool_text_add(&l->paths, value_paths.at, value_paths.length);
    }
    tool_text_free(&value_paths);
    path = l->paths.at;
    for (size_t i = 0; i < l->tensor_count; i++, path += strlen(path) + 1) {
        l->tensors[i].path = path;
    }
    for (size_t i = 0; i < l->value_count; i++, path += strlen(path) + 1) {
        l->values[i].path = path;
    }
    return EXIT_OK;
}

static void free_listing(listing *l)
{
    free(l->tensors);
    free(l->values);
    tool_text_free(&l->paths);
}

/* -------------------------------------------------------------------------------------------------- for programs -- */

static int print_json(const rec_record *record, bool by_position)
{
    rec_iterator *iterator = rec_iterate(record);
    const rec_tensor *tensor;
    const rec_value *value;
    const char *path;
    json j;

    if (!iterator) {
        return tool_fail_library();
    }
    tool_json_begin(&j, stdout, 2);
    tool_json_object(&j, NULL);
    tool_json_array(&j, "tensors");
    while ((tensor = rec_iterator_next_tensor(iterator, &path))) {
        tool_json_object(&j, NULL);
        tool_json_string(&j, "key", path);
        tool_json_string(&j, "dtype", rec_tensor_dtype_name(tensor));
        tool_json_shape(&j, "shape", rec_tensor_shape(tensor), rec_tensor_rank(tensor));
        tool_json_uint(&j, "nbytes", rec_tensor_nbytes(tensor));
        tool_json_string(&j, "id", rec_tensor_id(tensor));
        if (rec_tensor_assumed(tensor)) {
            tool_json_bool(&j, "assumed", true);
        }
        if (by_position && rec_tensor_offset(tensor) != REC_UNKNOWN) {
            tool_json_uint(&j, "offset", rec_tensor_offset(tensor));
        }
        tool_json_close(&j, '}');
    }
    rec_iterator_free(iterator);
    tool_json_close(&j, ']');
    iterator = rec_iterate(record);
    if (!iterator) {
        return tool_fail_library();
    }
    tool_json_array(&j, "values");
    while ((value = rec_iterator_next(iterator, &path))) {
        if (rec_value_kind(value) == REC_KIND_TENSOR) {
            continue;
        }
        tool_json_object(&j, NULL);
        tool_json_string(&j, "key", path);
        tool_json_string(&j, "kind", tool_kind_word(rec_value_kind(value)));
        tool_json_leaf(&j, "value", value);
        tool_json_close(&j, '}');
    }
    rec_iterator_free(iterator);
    tool_json_close(&j, ']');
    if (by_position) {
        tool_json_bool(&j, "named", false);
    }
    tool_json_close(&j, '}');
    tool_json_end(&j);
    return EXIT_OK;
}

/* ---------------------------------------------------------------------------------------------------- for people -- */

static void key_cell(table *t, const char *key)
{
    text safe = {0};

    tool_text_safe(&safe, key, strlen(key));
    tool_table_cell(t, *safe.at ? safe.at : "(root)");
    tool_text_free(&safe);
}

static void tensor_row(table *t, const char *key, const entry *e, uint64_t repeats, uint64_t names)
{
    char number[NUMBER_ROOM];
    text cell = {0};

    key_cell(t, key);
    if (repeats > 1) {
        tool_text_format(&cell, "×%s", tool_grouped(repeats, number));
    }
    tool_table_cell(t, cell.at ? cell.at : "");
    tool_text_free(&cell);
    tool_table_cell(t, e->dtype);
    tool_text_shape(&cell, e->shape, e->rank);
    tool_table_cell(t, cell.at);
    tool_text_free(&cell);
    if (names > 1) {
        tool_text_format(&cell, "%s × ", tool_grouped(names, number));
    }
    tool_text_put(&cell, tool_counted(e->count, number));
    tool_table_cell(t, cell.at);
    tool_text_free(&cell);
}

/* @return true if fewer lines were printed than there are tensors. */
static bool print_tensors(const listing *l, bool all)
{
    fold *folds = NULL;
    size_t count = l->tensor_count;
    table t;

    tool_table_begin(&t, "lrllr");
    t.header = true;
    t.shrink = 0;
    for (const char *const *name = (const char *const[]){"KEY", "", "DTYPE", "SHAPE", "PARAMETERS", NULL}; *name;
         name++) {
        tool_table_cell(&t, *name);
    }
    if (!all) {
        folds = tool_folds_make(l->tensors, l->tensor_count, tool_output_width(), false, &count);
    }
    for (size_t i = 0; i < count; i++) {
        if (all) {
            tensor_row(&t, l->tensors[i].path, &l->tensors[i], 1, 1);
        } else {
            tensor_row(&t, folds[i].key, &l->tensors[folds[i].first], folds[i].repeats, folds[i].names);
        }
    }
    tool_table_print(&t, stdout);
    if (folds) {
        tool_folds_free(folds, count);
    }
    return count < l->tensor_count;
}

/* @return true if some were left out. */
static bool print_values(const listing *l, bool all)
{
    size_t shown = 0, listed = l->value_count - (all ? 0 : l->nils);
    char number[NUMBER_ROOM];
    text cell = {0};
    table t;

    tool_table_begin(&t, "lll");
    t.header = true;
    t.shrink = 0;
    tool_table_cell(&t, "KEY");
    tool_table_cell(&t, "KIND");
    tool_table_cell(&t, "VALUE");
    for (size_t i = 0; i < l->value_count && (all || shown < VALUES_SHOWN); i++) {
        const struct leaf *leaf = &l->values[i];
        int32_t kind = rec_value_kind(leaf->value);
        if (kind == REC_KIND_NIL && !all) {
            continue;
        }
        key_cell(&t, leaf->path);
        tool_table_cell(&t, tool_kind_word(kind));
        tool_leaf_text(&cell, leaf->value, VALUE_WIDTH);
        tool_table_cell(&t, cell.at);
        tool_text_free(&cell);
        shown++;
    }
    tool_table_print(&t, stdout);
    if (shown < listed) {
        printf("… and %s more\n", tool_grouped(listed - shown, number));
    }
    return shown < listed;
}

static void print_count(const char **between, uint64_t number, const char *what, const char *ending)
{
    char digits[NUMBER_ROOM];

    printf("%s%s%s%s", *between, tool_grouped(number, digits), what, ending);
    *between = "; ";
}

static void print_people(const listing *l, bool all)
{
    size_t listed = l->value_count - l->nils;
    const char *between = "";
    bool shortened = false;

    if (l->tensor_count) {
        shortened = print_tensors(l, all);
    }
    if (l->tensor_count && (listed || (all && l->nils))) {
        putchar('\n');
    }
    if (listed || (all && l->nils)) {
        shortened = print_values(l, all) || shortened;
    }
    if (l->tensor_count) {
        print_count(&between, l->tensor_count, " tensor", tool_plural(l->tensor_count));
        between = ", ";
        print_count(&between, l->elements, " parameter", tool_plural(l->elements));
        printf(", %s", tool_sized(l->nbytes, (char[NUMBER_ROOM]){0}));
        between = "; ";
    }
    if (listed || !(l->tensor_count || l->nils)) {
        print_count(&between, listed, " value", tool_plural(listed));
    }
    if (l->nils) {
        print_count(&between, l->nils, " nil", "");
    }
    if (shortened || (l->nils && !all)) {
        printf("      %s(--all lists every one)%s", tool_style(STYLE_DIM), tool_style(STYLE_PLAIN));
    }
    putchar('\n');
}

int tool_run_ls(session *s, const char *const *operands, size_t count)
{
    rec_recorder *recorder = tool_session_look(s);
    bool by_position = false;
    rec_record *record = NULL;
    listing l = {0};
    notes n = {0};
    int status = EXIT_ERROR;

    (void)count;
    if (recorder) {
        tool_progress_begin(s->context, s->o->quiet);
        record = tool_session_load_any(s, recorder, operands[0], &by_position);
        tool_progress_end();
    }
    if (record) {
        tool_notes_take(&n);
        status = s->o->json ? print_json(record, by_position) : by_position ? EXIT_OK : collect(&l, record);
        if (by_position && !s->o->json) {
            tool_print_positions(record, tool_input_name(operands[0]));
        } else if (status == EXIT_OK && !s->o->json) {
            print_people(&l, s->o->all);
        }
        if (!by_position) {
            tool_notes_print(&n, s->o->quiet);
        }
    }
    free_listing(&l);
    tool_notes_free(&n);
    rec_record_free(record);
    rec_close_recorder(recorder);
    return status;
}
