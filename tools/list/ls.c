/* SPDX-License-Identifier: MIT OR Apache-2.0
 * record ls: the tensors and values of a record. */
#include <stdlib.h>
#include <string.h>

#include "tools/list/list_private.h"

enum { VALUES_SHOWN = 20, VALUE_WIDTH = 48 };

const tool_option tool_ls_options[] = {
    {"long", NULL, 'l', "one line each, with size, offset and id"},
    {"sort", "BY", 0, "name, size, dtype, shape, offset; minus reverses"},
    {"tree", NULL, 0, "print a tree of keys with totals"},
    {"depth", "N", 0, "add up everything deeper than N levels"},
    {"sha256", NULL, 0, "like -l, with the SHA-256 of each tensor"},
    {0},
};

/* ------------------------------------------------------------------------------------------------ for programs -- */

static void json_tensor(json *j, const listing *l, size_t i, const manner *m, bool by_position)
{
    const rec_tensor *tensor = l->handles[i];
    uint64_t offset = rec_tensor_offset(tensor);
    char hex[2 * MEASURE_SUM_BYTES + 1];

    tool_json_object(j, NULL);
    tool_json_string(j, "key", l->tensors[i].path);
    tool_json_string(j, "dtype", l->tensors[i].dtype);
    tool_json_shape(j, "shape", l->tensors[i].shape, l->tensors[i].rank);
    tool_json_uint(j, "nbytes", rec_tensor_nbytes(tensor));
    tool_json_string(j, "id", rec_tensor_id(tensor));
    if (rec_tensor_assumed(tensor)) {
        tool_json_bool(j, "assumed", true);
    }
    if (m->each || (by_position && offset != REC_UNKNOWN)) {
        tool_json_size(j, "offset", offset);
    }
    if (m->sums) {
        tool_json_string(j, "sha256", tool_sum_text(l->sums[i], MEASURE_SUM_BYTES, hex));
    }
    tool_json_close(j, '}');
}

static void print_json(json *j, const char *path, const listing *l, const manner *m, bool by_position)
{
    tool_json_object(j, NULL);
    if (path) {
        tool_json_string(j, "file", path);
    }
    if (m->depth) {
        tool_json_array(j, "groups");
        tool_json_groups(j, l, m);
        tool_json_close(j, ']');
    } else {
        tool_json_array(j, "tensors");
        for (size_t i = 0; i < l->tensor_count; i++) {
            json_tensor(j, l, i, m, by_position);
        }
        tool_json_close(j, ']');
    }
    tool_json_array(j, "values");
    for (size_t i = 0; i < l->value_count; i++) {
        const rec_value *value = l->values[i].value;
        tool_json_object(j, NULL);
        tool_json_string(j, "key", l->values[i].path);
        tool_json_string(j, "kind", tool_kind_word(rec_value_kind(value)));
        tool_json_leaf(j, "value", value);
        tool_json_close(j, '}');
    }
    tool_json_close(j, ']');
    if (by_position) {
        tool_json_bool(j, "named", false);
    }
    tool_json_close(j, '}');
}

/* -------------------------------------------------------------------------------------------------- for people -- */

static void tensor_row(table *t, const fold *f, const entry *e)
{
    char number[NUMBER_ROOM];
    text cell = {0};

    tool_table_key(t, f->key, f->repeats);
    tool_table_cell_safe(t, e->dtype);
    tool_table_shape(t, e->shape, e->rank);
    if (f->names > 1) {
        tool_text_format(&cell, "%s × ", tool_grouped(f->names, number));
    }
    tool_text_put(&cell, tool_counted(e->count, number));
    tool_table_take(t, &cell);
}

/* A line each, with all that is known without reading them. */
static void print_each(const listing *l, const manner *m)
{
    char number[NUMBER_ROOM], hex[2 * MEASURE_SUM_BYTES + 1];
    table t;

    tool_table_begin(&t, "lllrrrll", "KEY|DTYPE|SHAPE|PARAMETERS|BYTES|OFFSET|ID|SHA-256");
    for (size_t i = 0; i < l->tensor_count; i++) {
        const entry *e = &l->tensors[i];
        uint64_t offset = rec_tensor_offset(l->handles[i]);
        const char *id = rec_tensor_id(l->handles[i]);
        tool_table_name(&t, e->path);
        tool_table_cell_safe(&t, e->dtype);
        tool_table_shape(&t, e->shape, e->rank);
        tool_table_cell(&t, tool_grouped(e->count, number));
        tool_table_cell(&t, tool_grouped(rec_tensor_nbytes(l->handles[i]), number));
        tool_table_cell(&t, offset == REC_UNKNOWN ? "-" : tool_grouped(offset, number));
        tool_table_cell_safe(&t, id ? id : "");
        tool_table_cell(&t, m->sums ? tool_sum_text(l->sums[i], SUM_SHOWN, hex) : "");
    }
    tool_table_print(&t, stdout);
}

/* @return true if fewer lines were printed than there are tensors. */
static bool print_tensors(const listing *l, const manner *m)
{
    fold *folds;
    size_t count;
    table t;

    if (m->tree || m->depth) {
        return tool_print_tree(l, m);
    }
    if (m->each) {
        print_each(l, m);
        return false;
    }
    tool_table_begin(&t, "lrllr", "KEY||DTYPE|SHAPE|PARAMETERS");
    folds =
        tool_folds_make(l->tensors, l->tensor_count, m->all ? FOLD_NOTHING : tool_output_width(), false, &count, NULL);
    tool_listing_sort_folds(l, m, folds, count);
    for (size_t i = 0; i < count; i++) {
        tensor_row(&t, &folds[i], &l->tensors[folds[i].first]);
    }
    tool_table_print(&t, stdout);
    tool_folds_free(folds, count);
    return count < l->tensor_count;
}

/* @return true if some were left out. */
static bool print_values(const listing *l, bool all)
{
    size_t shown = 0, listed = l->value_count - (all ? 0 : l->nils);
    char number[NUMBER_ROOM];
    text cell = {0};
    table t;

    tool_table_begin(&t, "lll", "KEY|KIND|VALUE");
    for (size_t i = 0; i < l->value_count && (all || shown < VALUES_SHOWN); i++) {
        const listed_value *each = &l->values[i];
        int32_t kind = rec_value_kind(each->value);
        if (kind == REC_KIND_NIL && !all) {
            continue;
        }
        tool_table_name(&t, each->path);
        tool_table_cell(&t, tool_kind_word(kind));
        tool_leaf_text(&cell, each->value, VALUE_WIDTH);
        tool_table_take(&t, &cell);
        shown++;
    }
    tool_table_print(&t, stdout);
    if (shown < listed) {
        printf("… and %s more\n", tool_grouped(listed - shown, number));
    }
    return shown < listed;
}

/* @param in_all what of them there are, if patterns left some out. */
static void print_count(const char **between, uint64_t number, uint64_t in_all, const char *what)
{
    char digits[NUMBER_ROOM];

    printf("%s%s", *between, tool_grouped(number, digits));
    if (in_all > number) {
        printf(" of %s", tool_grouped(in_all, digits));
    }
    printf(" %s%s", what, tool_plural(in_all > number ? in_all : number));
    *between = "; ";
}

static void print_people(const listing *l, const manner *m)
{
    size_t listed = l->value_count - l->nils;
    bool every = m->all || m->each, shortened = false;
    const char *between = "";
    char digits[NUMBER_ROOM];

    if (l->tensor_count) {
        shortened = print_tensors(l, m);
    }
    if (l->tensor_count && (listed || (every && l->nils))) {
        putchar('\n');
    }
    if (listed || (every && l->nils)) {
        shortened = print_values(l, every) || shortened;
    }
    if (l->tensor_count || (l->tensors_in_all && !l->value_count)) {
        print_count(&between, l->tensor_count, l->tensors_in_all, "tensor");
        between = ", ";
        print_count(&between, l->elements, 0, "parameter");
        printf(", %s", tool_sized(l->nbytes, digits));
    }
    if (listed || !(l->tensors_in_all || l->nils)) {
        print_count(&between, listed, l->values_in_all, "value");
    }
    if (l->nils) {
        printf("%s%s nil", between, tool_grouped(l->nils, digits));
    }
    if (shortened || (l->nils && !every)) {
        printf("      %s(--all lists every one)%s", tool_style(STYLE_DIM), tool_style(STYLE_PLAIN));
    }
    putchar('\n');
}

/* State across the files. */
typedef struct run {
    session *s;
    input_files in;
    manner m;
    json j;
    bool read; /* one of them could be */
} run;

static int list(void *user, const char *path)
{
    run *r = user;
    session *s = r->s;
    const input_files *in = &r->in;
    const manner *m = &r->m;
    bool by_position = false;
    rec_record *record = tool_session_read(s, tool_session_look(s, 1), path, &by_position);
    listing l = {0};
    notes n = {0};
    int status = EXIT_ERROR;

    if (record) {
        tool_notes_take(&n);
        status = tool_listing_make(s, record, in->keys, m, &l);
    }
    if (status == EXIT_OK && s->o->json) {
        print_json(&r->j, in->several ? path : NULL, &l, m, by_position);
    } else if (status == EXIT_OK) {
        bool found = l.tensor_count + l.value_count || !in->keys || in->several;
        fputs(r->read ? "\n" : "", stdout);
        if (in->several) {
            fputs(tool_style(STYLE_BOLD), stdout);
            tool_print_safe(stdout, tool_input_name(path));
            printf(":%s\n", tool_style(STYLE_PLAIN));
        }
        if (found && by_position) {
            tool_print_positions(record, &l, m, tool_input_name(path));
        } else if (found) {
            print_people(&l, m);
        }
        if (in->several) {
            (void)fflush(stdout); /* before what is noted of this one */
        }
    }
    if (status == EXIT_OK && !by_position) {
        tool_notes_print(&n, s->o->quiet);
    }
    r->read = r->read || status == EXIT_OK;
    tool_listing_free(&l);
    tool_notes_free(&n);
    rec_record_free(record);
    return status;
}

int tool_run_ls(session *s, const char *const *operands, size_t count)
{
    run r = {.s = s};
    int status = tool_manner_read(s->o, &r.m);

    status = status == EXIT_OK ? tool_inputs_find(s, operands, count, true, &r.in) : status;
    status = status == EXIT_OK ? tool_inputs_each(s, &r.in, 2, &r.j, list, &r) : status;
    if (r.read && tool_inputs_check(&r.in) != EXIT_OK) {
        status = EXIT_ERROR;
    }
    tool_inputs_free(&r.in);
    return status;
}
