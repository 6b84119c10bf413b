/* SPDX-License-Identifier: MIT OR Apache-2.0
 * A plan as a table: from which key, to which, what happens on the way and why. Repeated layers are folded. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/plan/plan.h"

/* A line of the plan. */
typedef struct row {
    const rec_plan_line *line;
    const char *source;
    char *path, *form; /* for folding: both keys, and all that must be equal */
} row;

static const char *short_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash && slash[1] ? slash + 1 : path;
}

static size_t common_start(const char *a, const char *b)
{
    size_t length = 0;

    while (a[length] && a[length] == b[length]) {
        length++;
    }
    return length;
}

static size_t common_end(const char *a, size_t length_a, const char *b, size_t length_b)
{
    size_t length = 0;

    while (length < length_a && length < length_b && a[length_a - 1 - length] == b[length_b - 1 - length]) {
        length++;
    }
    return length;
}

static bool is_number(const char *at, size_t length)
{
    return length > 0 && length < 10 && strspn(at, "0123456789") >= length;
}

/* Several keys as one, `experts.{0-7}.w1.weight`, where they differ in one place only and it stays short. */
static bool braces(text *t, const char *const *keys, uint64_t count)
{
    enum { MOST = 48 };
    size_t start = strlen(keys[0]), end = start, length = start, before = t->length, first_length;
    uint64_t first, last;
    bool run = true;

    for (uint64_t i = 1; i < count; i++) {
        size_t same = common_start(keys[0], keys[i]);
        start = same < start ? same : start;
    }
    while (start && keys[0][start - 1] != '.' && keys[0][start - 1] != '_') {
        start--;
    }
    for (uint64_t i = 1; i < count; i++) {
        size_t same = common_end(keys[0] + start, length - start, keys[i] + start, strlen(keys[i]) - start);
        end = same < end ? same : end;
    }
    while (end && keys[0][length - end] != '.' && keys[0][length - end] != '_') {
        end--;
    }
    first_length = length - start - end;
    first = last = is_number(keys[0] + start, first_length) ? strtoull(keys[0] + start, NULL, 10) : 0;
    for (uint64_t i = 0; i < count && run; i++) {
        size_t middle = strlen(keys[i]) - start - end;
        run = is_number(keys[i] + start, middle) && strtoull(keys[i] + start, NULL, 10) == first + i;
        last = first + i;
    }
    tool_text_safe(t, keys[0], start);
    if (run) {
        tool_text_format(t, "{%" PRIu64 "-%" PRIu64 "}", first, last);
    } else {
        size_t open = t->length;
        for (uint64_t i = 0; i < count && t->length - open < MOST; i++) {
            tool_text_put(t, i ? "," : "{");
            tool_text_safe(t, keys[i] + start, strlen(keys[i]) - start - end);
        }
        if (t->length - open >= MOST) {
            t->length = before;
            return false;
        }
        tool_text_put(t, "}");
    }
    tool_text_safe(t, keys[0] + length - end, end);
    return true;
}

/* Whether a line has a tensor of the destination. */
static bool arrives(const rec_plan_line *line)
{
    return line->action != REC_PLAN_DROPPED && line->action != REC_PLAN_UNEXPECTED;
}

static void put_from(text *t, const rec_plan_line *line, bool all)
{
    char number[NUMBER_ROOM];

    if (line->action == REC_PLAN_MISSING || line->action == REC_PLAN_KEPT || line->action == REC_PLAN_DEFAULT) {
        tool_text_put(t, line->action == REC_PLAN_MISSING ? "(missing)"
                         : line->action == REC_PLAN_KEPT  ? "(kept from the base)"
                                                          : "(default)");
    } else if (line->input_count > 1 && all) {
        for (uint64_t i = 0; i < line->input_count; i++) {
            tool_text_put(t, i ? ", " : "");
            tool_text_name(t, line->inputs[i]);
        }
    } else if (line->input_count < 2 || !braces(t, line->inputs, line->input_count)) {
        tool_text_name(t, line->from);
        if (line->input_count > 1) {
            tool_text_format(t, " and %s more", tool_grouped(line->input_count - 1, number));
        }
    }
}

static bool same_shape(const rec_plan_line *line)
{
    return line->rank_before == line->rank_after &&
           (line->rank_before == 0 ||
            memcmp(line->shape_before, line->shape_after, line->rank_before * sizeof *line->shape_before) == 0);
}

/* "f32 [512, 1000]"; for the new form, only the parts that changed. */
static void put_form(text *t, const rec_plan_line *line, bool after)
{
    rec_dtype dtype = after ? line->dtype_after : line->dtype_before;
    bool new = !after || line->dtype_before == REC_DTYPE_NONE;
    bool shape = new || !same_shape(line), number = new || line->dtype_before != line->dtype_after;

    if (dtype == REC_DTYPE_NONE) {
        tool_text_put(t, !after && line->action <= REC_PLAN_UNEXPECTED ? "value" : "");
        return;
    }
    if (number) {
        tool_text_put(t, rec_dtype_name(dtype));
    }
    if (shape) {
        tool_text_put(t, number ? " " : "");
        tool_text_shape(t, after ? line->shape_after : line->shape_before,
                        after ? line->rank_after : line->rank_before);
    }
}

/* "Linear: gap, split query, transpose", "rules 2, 4". @param folded for a line that stands for several: without the
 * part's name, and without the closed gap, which its indices show. */
static void put_why(text *t, const rec_plan_line *line, bool folded)
{
    static const char split[] = "split ", gap[] = "gap";
    bool any = false;

    tool_text_safe(t, line->why, strlen(line->why));
    for (const char *at = line->operations; *at;) {
        size_t length = strcspn(at, ","), shown = length;
        if (folded && length > sizeof split - 1 && strncmp(at, split, sizeof split - 1) == 0) {
            shown = sizeof split - 2;
        }
        if (!folded || length != sizeof gap - 1 || strncmp(at, gap, length) != 0) {
            tool_text_put(t, any ? ", " : *line->why ? ": " : "");
            tool_text_safe(t, at, shown);
            any = true;
        }
        at += length;
        at += strspn(at, ", ");
    }
}

/* Whether a value is copied unchanged: records of Burn have many, and they are left out. */
static bool goes_along(const rec_plan_line *line)
{
    return line->action == REC_PLAN_MAPPED && line->dtype_before == REC_DTYPE_NONE &&
           line->dtype_after == REC_DTYPE_NONE && strcmp(line->from, line->to) == 0 && !*line->operations;
}

/* The part of a file's name that tells it from the other inputs. */
static const char *source_words(const planned *p, const char *source)
{
    for (uint64_t i = 0; i < rec_plan_count(p->plan); i++) {
        const char *other = tool_plan_line(p->plan, i)->source;
        if (strcmp(other, source) != 0 && strcmp(short_name(other), short_name(source)) == 0) {
            return source;
        }
    }
    return short_name(source);
}

static row make_row(const rec_plan_line *line, const char *source, bool all)
{
    text path = {0}, form = {0};

    put_from(&path, line, all);
    tool_text_put(&path, "." FOLD_BETWEEN);
    tool_text_format(&form, "%d %s\n", (int)line->action, source);
    put_form(&form, line, false);
    tool_text_put(&form, "\n");
    if (arrives(line)) {
        tool_text_put(&path, ".");
        tool_text_name(&path, line->to);
        put_form(&form, line, true);
    }
    tool_text_put(&form, "\n");
    put_why(&form, line, true);
    return (row){line, source, path.at, form.at};
}

enum { COLUMNS = 7 };

/* Adds the cells of a line, its keys taken apart again. */
static void add_row(table *t, const row *r, const fold *f)
{
    const char *between = strstr(f->key, "." FOLD_BETWEEN), *to = between + strlen("." FOLD_BETWEEN);
    const rec_plan_line *line = r->line;
    char number[NUMBER_ROOM];
    text cell = {0};

    tool_table_cell(t, r->source);
    tool_text_add(&cell, f->key, (size_t)(between - f->key));
    tool_table_take(t, &cell);
    if (f->repeats > 1) {
        tool_text_format(&cell, "×%s", tool_grouped(f->repeats, number));
    }
    tool_table_take(t, &cell);
    put_form(&cell, line, false);
    tool_table_take(t, &cell);
    tool_table_cell(t, *to == '.' ? to + 1 : line->action == REC_PLAN_DROPPED ? "(dropped)" : "(left out)");
    if (arrives(line)) {
        put_form(&cell, line, true);
    }
    tool_table_take(t, &cell);
    put_why(&cell, line, f->names * f->repeats > 1);
    tool_table_take(t, &cell);
}

static void put_cell(const char *cell, const char *before, bool *any)
{
    if (*cell) {
        printf("%s%s", *any ? before : "", cell);
        *any = true;
    }
}

/* Prints two lines for each row, for narrow terminals: truncated keys would be useless. */
static void print_narrow(const table *t)
{
    const char *cell = t->cells.at, *row_of[COLUMNS];
    bool first = true;

    for (size_t i = 0; i < t->cell_count; i += COLUMNS, first = false) {
        bool any = false;
        for (size_t column = 0; column < COLUMNS; column++, cell += strlen(cell) + 1) {
            row_of[column] = cell;
        }
        if (first) {
            continue;
        }
        put_cell(row_of[0], "", &any);
        put_cell(row_of[1], ": ", &any);
        put_cell(row_of[2], " ", &any);
        put_cell(row_of[3], "  ", &any);
        printf("\n    %s", *row_of[4] == '(' ? "" : "-> ");
        any = false;
        put_cell(row_of[4], "", &any);
        put_cell(row_of[5], "  ", &any);
        printf("%s", tool_style(STYLE_DIM));
        put_cell(row_of[6], "  ", &any);
        printf("%s\n", tool_style(STYLE_PLAIN));
    }
}

bool tool_print_plan(const planned *p, bool all)
{
    enum { OTHER_COLUMNS = 50, LEAST = 80, UNBOUND = 160 };
    size_t count = 0, lines, most = (size_t)rec_plan_count(p->plan), width = tool_output_width();
    row *rows = xmalloc(most * sizeof *rows);
    entry *entries = xmalloc(most * sizeof *entries);
    const char *source = "", *source_name = "";
    fold *folds;
    table t;

    tool_table_begin(&t, "llrllll", "FILE|KEY||IS|BECOMES|AS|WHY");
    t.shrink = t.columns;
    for (size_t i = 0; i < most; i++) {
        const rec_plan_line *line = tool_plan_line(p->plan, i);
        if (!all && goes_along(line)) {
            continue;
        }
        if (p->count > 1 && strcmp(line->source, source) != 0) {
            source = line->source;
            source_name = source_words(p, source);
        }
        rows[count] = make_row(line, source_name, all);
        entries[count] = (entry){.path = rows[count].path, .dtype = rows[count].form};
        count++;
    }
    width = all                             ? FOLD_NOTHING
            : !tool_output_is_terminal()    ? UNBOUND
            : width > OTHER_COLUMNS + LEAST ? width - OTHER_COLUMNS
                                            : LEAST;
    folds = tool_folds_make(entries, count, width, true, &lines, NULL);
    for (size_t i = 0; i < lines; i++) {
        add_row(&t, &rows[folds[i].first], &folds[i]);
    }
    if (lines && tool_output_is_terminal() && tool_table_width(&t) > tool_output_width()) {
        print_narrow(&t);
    } else if (lines) {
        tool_table_print(&t, stdout);
    }
    tool_table_drop(&t);
    tool_folds_free(folds, lines);
    for (size_t i = 0; i < count; i++) {
        free(rows[i].path);
        free(rows[i].form);
    }
    free(entries);
    free(rows);
    return lines < most;
}
