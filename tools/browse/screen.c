/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The tree on the screen, and what its keys do. */
#include <stdlib.h>
#include <string.h>

#include "tools/browse/browse_private.h"

typedef struct view {
    session *s;
    tree *t;
    const notes *n;
    gauge *g;
    uint32_t at, top; /* the node the cursor is on, and the row of the tree that is the screen's first */
    int names;        /* columns that the longest name needed so far */
    int widest[4];    /* of the other columns */
    int widths[4];    /* those that are shown */
    int columns;      /* of the screen for which that holds */
    found found;
    char *said; /* for the foot, until the next key */
} view;

static const char help_text[] = "MOVE\n"
                                "  ↑ ↓  k j      up, down\n"
                                "  PgUp PgDn     a screen (also b, space)\n"
                                "  Home End  g G first, last\n"
                                "  →  l          unfold; open a tensor\n"
                                "  ←  h          fold; to the parent\n"
                                "  Enter         fold, unfold; open\n"
                                "  e  c          unfold, fold all below\n"
                                "\n"
                                "FIND\n"
                                "  /             part of a key; capitals\n"
                                "                count if there is one\n"
                                "  n  N          next, previous\n"
                                "  a             show nil values, too\n"
                                "\n"
                                "LOOK\n"
                                "  s             all figures; the whole key\n"
                                "  p             the plan of the file\n"
                                "  t             the type as Rust source\n"
                                "  i             the file: writer, metadata\n"
                                "\n"
                                "IN A TENSOR\n"
                                "  arrows        to an element, whose value\n"
                                "                is shown above\n"
                                "  Home End      first, last of the row\n"
                                "  [  ]          the other tables\n"
                                "  g             go to an index: 3, 0, -1\n"
                                "  s             all figures, histogram\n"
                                "\n"
                                "  q  Esc        back; q in the tree ends\n"
                                "  ^L            redraw\n";

/* ----------------------------------------------------------------------------------------------------- drawing -- */

enum { CELLS = 4, GAP = 2, MARK = 2 };
static const char *const marks[] = {"  ", "▸ ", "▾ "};

/* A row as text: element type or kind, shape or number of tensors, parameters, bytes. Of a value the second is what it
 * holds, and goes on to the right edge. */
typedef struct row {
    uint32_t at;
    char *cells[CELLS];
    bool runs; /* the second goes on */
} row;

static row make_row(const view *v, uint32_t at)
{
    const node *n = &v->t->nodes[at];
    const rec_tensor *tensor = n->value ? rec_value_tensor(n->value) : NULL;
    char number[NUMBER_ROOM];
    row r = {.at = at};
    text t = {0};

    if (tensor) {
        tool_text_safe(&t, rec_tensor_dtype_name(tensor), strlen(rec_tensor_dtype_name(tensor)));
        r.cells[0] = t.at;
        t = (text){0};
        tool_text_shape(&t, rec_tensor_shape(tensor), rec_tensor_rank(tensor));
        r.cells[1] = t.at;
    } else if (n->count) {
        r.cells[1] = n->tensors ? xasprintf("%s tensor%s", tool_grouped(n->tensors, number), tool_plural(n->tensors))
                                : xasprintf("%s value%s", tool_grouped(n->live, number), tool_plural(n->live));
    } else {
        r.cells[0] = xstrdup(tool_kind_word(rec_value_kind(n->value)));
        tool_leaf_text(&t, n->value, 256);
        r.cells[1] = t.at;
        r.runs = true;
    }
    if (n->tensors) {
        r.cells[2] = xstrdup(tool_counted(n->elements, number));
        r.cells[3] = xstrdup(tool_sized(n->nbytes, number));
    }
    return r;
}

/* A node's own name, safe to print. To be freed. */
static char *name_words(const view *v, uint32_t at)
{
    text name = {0}, safe = {0};

    tool_tree_name(v->t, at, &name);
    tool_text_safe(&safe, name.at, name.length);
    tool_text_free(&name);
    return safe.at;
}

static int indent_of(const view *v, uint32_t at)
{
    return 2 * tool_tree_depth(v->t, at);
}

/* Works out the columns: no narrower than they were, so that they stay where they are while one moves about. Those that
 * a narrow screen has no room for become 0. @return where the first one begins. */
static int lay_out(view *v, const row *rows, int count)
{
    static const int drop[] = {3, 2, 0}; /* the first to go */
    enum { SHAPES = 26 };
    int columns = tool_terminal_columns(), right = 0, least = columns < 52 ? columns / 2 : 26, room;

    if (v->columns != columns) {
        memset(v->widest, 0, sizeof v->widest);
        v->names = 0;
        v->columns = columns;
    }
    for (int i = 0; i < count; i++) {
        char *name = name_words(v, rows[i].at);
        int width = indent_of(v, rows[i].at) + MARK + tool_terminal_width(name) + GAP;
        v->names = width > v->names ? width : v->names;
        free(name);
        for (int k = 0; k < CELLS; k++) {
            width = rows[i].cells[k] && !(rows[i].runs && k == 1) ? tool_terminal_width(rows[i].cells[k]) : 0;
            width = k == 1 && width > SHAPES ? SHAPES : width;
            v->widest[k] = width > v->widest[k] ? width : v->widest[k];
        }
    }
    memcpy(v->widths, v->widest, sizeof v->widths);
    for (int k = 0; k < CELLS; k++) {
        right += v->widths[k] ? v->widths[k] + GAP : 0;
    }
    for (size_t i = 0; i < sizeof drop / sizeof *drop && columns - right < least; i++) {
        right -= v->widths[drop[i]] ? v->widths[drop[i]] + GAP : 0;
        v->widths[drop[i]] = 0;
    }
    if (columns - right < least) {
        v->widths[1] -= v->widths[1] < least - (columns - right) ? v->widths[1] : least - (columns - right);
        right = columns - least;
    }
    room = v->names < least ? least : v->names;
    return room < columns - right ? room : columns - right;
}

/* Prints the name. A truncated name is followed by its number among its siblings, so that names stay distinct. */
static void put_name(const view *v, int line, uint32_t at, int room, bool selected)
{
    const node *n = &v->t->nodes[at];
    int indent = indent_of(v, at), left, ink;
    char *name = name_words(v, at);
    text shown = {0};

    indent = indent < room / 2 ? indent : room / 2;
    left = room - indent - MARK - 1;
    if (tool_terminal_width(name) > left) {
        enum { LEAST = 6 };
        char *place = xasprintf(" #%u", (unsigned)n->place);
        int rest = left - (int)strlen(place);
        if (rest < LEAST) {
            rest += indent;
            indent = 0;
        }
        tool_text_format(&shown, "%*s%s", indent, "", marks[n->count ? 1 + n->open : 0]);
        tool_text_shortened(&shown, name, (size_t)(rest > 3 ? rest : 3), true);
        tool_text_put(&shown, place);
        free(place);
    } else {
        tool_text_format(&shown, "%*s%s%s", indent, "", marks[n->count ? 1 + n->open : 0], name);
    }
    ink = selected ? INK_BAR : n->count ? INK_BRANCH : INK_PLAIN;
    (void)tool_terminal_put(line, 0, room - 1, ink, shown.at);
    free(name);
    tool_text_free(&shown);
}

static void draw_row(const view *v, int line, const row *r, int room)
{
    bool selected = r->at == v->at;
    const node *n = &v->t->nodes[r->at];
    int column = room, ink = selected ? INK_BAR : n->count ? INK_DIM : r->runs ? INK_VALUE : INK_TENSOR;

    if (selected) {
        tool_terminal_bar(line, INK_BAR, "");
    }
    put_name(v, line, r->at, room, selected);
    for (int k = 0; k < CELLS; k++) {
        const char *cell = r->cells[k] ? r->cells[k] : "";
        int width = k == 1 && r->runs ? tool_terminal_columns() - column : v->widths[k],
            taken = tool_terminal_width(cell);
        text cut = {0};
        if (!v->widths[k] && !(k == 1 && r->runs)) {
            continue;
        }
        if (taken > width) {
            tool_text_shortened(&cut, cell, (size_t)width, false);
            cell = cut.at;
            taken = tool_terminal_width(cell);
        }
        (void)tool_terminal_put(line, column + (k >= 2 && taken < width ? width - taken : 0), width, ink, cell);
        tool_text_free(&cut);
        if (k == 1 && r->runs) {
            break;
        }
        column += v->widths[k] + GAP;
    }
}

/* The files, and what is in them. */
static void draw_title(const view *v)
{
    const tree *t = v->t;
    char number[NUMBER_ROOM];
    text line = {0};

    tool_text_put(&line, " ");
    if (t->file_count == 1) {
        const rec_record *record = t->files[0].record;
        const char *name = tool_base_name(tool_input_name(t->files[0].path)), *burn = tool_burn_version(record);
        tool_text_safe(&line, name, strlen(name));
        tool_text_format(&line, "  %s", rec_record_origin(record)->recorder);
        if (burn) {
            tool_text_put(&line, ", Burn ");
            tool_text_safe(&line, burn, strlen(burn));
        }
    } else {
        tool_text_format(&line, "%u files", (unsigned)t->file_count);
    }
    tool_text_format(&line, "  %s tensor%s", tool_grouped(t->nodes[0].tensors, number),
                     tool_plural(t->nodes[0].tensors));
    if (t->nodes[0].tensors) {
        tool_text_format(&line, ", %s parameter%s", tool_counted(t->nodes[0].elements, number),
                         tool_plural(t->nodes[0].elements));
        tool_text_format(&line, ", %s", tool_sized(t->nodes[0].nbytes, number));
    }
    tool_terminal_bar(0, INK_BAR, line.at);
    tool_text_free(&line);
}

static char *path_words(const view *v)
{
    text path = {0}, safe = {0};

    tool_tree_path(v->t, v->at, &path);
    tool_text_safe(&safe, path.at, path.length);
    tool_text_free(&path);
    return safe.at;
}

/* The whole key and where it is. */
static void draw_place(const view *v, int line)
{
    int columns = tool_terminal_columns(), taken;
    char at[NUMBER_ROOM], all[NUMBER_ROOM];
    char *place = xasprintf(" %s of %s", tool_grouped((uint64_t)tool_tree_row(v->t, v->at) + 1, at),
                            tool_grouped(v->t->rows, all));
    char *path = path_words(v);
    text shown = {0};

    taken = tool_terminal_width(place);
    tool_text_shortened(&shown, path, (size_t)(columns - taken > 8 ? columns - taken : columns), true);
    (void)tool_terminal_put(line, 0, columns, INK_BOLD, shown.at);
    if (columns - taken > 8) {
        (void)tool_terminal_put(line, columns - taken, taken, INK_DIM, place);
    }
    tool_text_free(&shown);
    free(path);
    free(place);
}

static int list_rows(void)
{
    int rows = tool_terminal_rows();

    return rows >= 6 ? rows - 3 : rows > 1 ? rows - 1 : 1;
}

static void draw(view *v)
{
    int lines = list_rows(), count = 0, room;
    uint32_t cursor = tool_tree_row(v->t, v->at), all = v->t->rows;
    row *rows = xmalloc((size_t)lines * sizeof *rows);

    v->top = cursor < v->top ? cursor : cursor - v->top >= (uint32_t)lines ? cursor - (uint32_t)lines + 1 : v->top;
    v->top = all > (uint32_t)lines ? (v->top < all - (uint32_t)lines ? v->top : all - (uint32_t)lines) : 0;
    tool_terminal_clear();
    draw_title(v);
    for (uint32_t i = v->top; count < lines && i < all; i++) {
        rows[count++] = make_row(v, tool_tree_at(v->t, i));
    }
    room = lay_out(v, rows, count);
    for (int i = 0; i < count; i++) {
        draw_row(v, 1 + i, &rows[i], room);
        for (int k = 0; k < CELLS; k++) {
            free(rows[i].cells[k]);
        }
    }
    free(rows);
    if (tool_terminal_rows() >= 6) {
        draw_place(v, tool_terminal_rows() - 2);
        tool_foot("? help  q quit  / search  Enter look  ←→ fold  s figures  p plan  i file", v->said);
    } else if (v->said) {
        tool_foot("", v->said);
    }
    free(v->said);
    v->said = NULL;
    tool_terminal_show(-1, 0);
}

/* ------------------------------------------------------------------------------------------------------ moving -- */

static void say(view *v, char *sentence)
{
    text safe = {0};

    tool_text_safe(&safe, sentence, strcspn(sentence, "\n"));
    free(sentence);
    free(v->said);
    v->said = safe.at;
}

/* To another row, as far as there are any. */
static void step(view *v, int64_t rows)
{
    int64_t last = (int64_t)v->t->rows - 1, to = (int64_t)tool_tree_row(v->t, v->at) + rows;

    to = to < 0 ? 0 : to > last ? last : to;
    v->at = tool_tree_at(v->t, (uint32_t)to);
}

/* A screen further the list moves as far as the cursor does. */
static void turn(view *v, int64_t rows)
{
    int64_t top = (int64_t)v->top + rows;

    v->top = top < 0 ? 0 : (uint32_t)top;
    step(v, rows);
}

/* A node that is hidden is left by the cursor, upwards. */
static void come_up(view *v)
{
    while (v->at != v->t->top && tool_tree_hides(v->t, &v->t->nodes[v->at])) {
        v->at = v->t->nodes[v->at].parent;
    }
    v->at = v->at == v->t->top ? tool_tree_at(v->t, 0) : v->at;
}

static void search(view *v, bool ask, bool forwards)
{
    char *typed = ask ? tool_ask("/") : NULL;
    uint32_t next;

    if (ask && !typed) {
        return;
    }
    if (typed && !*typed && v->found.pattern) { /* the same again: hidden nodes may be visible now */
        free(typed);
        typed = xstrdup(v->found.pattern);
    }
    if (typed && *typed) {
        tool_tree_search(v->t, &v->found, typed);
    }
    free(typed);
    if (!v->found.pattern) {
        say(v, xstrdup("no search yet: / starts one"));
    } else if (v->found.count == 0) {
        say(v, xasprintf("no key has \"%s\"", v->found.pattern));
    } else {
        uint32_t before = v->at;
        char at[NUMBER_ROOM], all[NUMBER_ROOM];
        next = tool_found_next(&v->found, v->at, forwards);
        v->at = v->found.at[next];
        tool_tree_reveal(v->t, v->at);
        say(v,
            xasprintf("/%s: %s of %s%s", v->found.pattern, tool_grouped((uint64_t)next + 1, at),
                      tool_grouped(v->found.count, all), (v->at > before) == forwards ? "" : ", from the other end"));
    }
}

/* ----------------------------------------------------------------------------------------------------- looking -- */

static const char *current_file(const view *v)
{
    return v->t->files[tool_tree_file(v->t, v->at)].path;
}

static const rec_record *current_record(const view *v)
{
    return v->t->files[tool_tree_file(v->t, v->at)].record;
}

/* Adds text whose lines are kept, each made safe. */
static void add_lines(text *t, const char *string, size_t length)
{
    for (size_t i = 0; i < length;) {
        const char *end = memchr(string + i, '\n', length - i);
        size_t line = end ? (size_t)(end - (string + i)) : length - i;
        tool_text_value(t, string + i, line);
        tool_text_put(t, end ? "\n" : "");
        i += line + 1;
    }
}

static void look_at_value(const view *v, const rec_value *value)
{
    enum { SHOWN = 1 << 20 };
    rec_scalar scalar = rec_value_scalar(value);
    text t = {0}, wrapped = {0};
    char *path = path_words(v), *title = xasprintf(" %s  %s", path, tool_kind_word(rec_value_kind(value)));

    if (scalar.kind == REC_KIND_STRING) {
        add_lines(&t, scalar.text, (size_t)scalar.v.length);
    } else {
        tool_leaf_text(&t, value, SHOWN);
    }
    for (const char *at = t.at ? t.at : ""; *at;) {
        size_t length = strcspn(at, "\n");
        char *line = xasprintf("%.*s", (int)length, at);
        tool_text_put(&wrapped, wrapped.length ? "\n" : "");
        tool_flow(&wrapped, tool_terminal_columns(), line);
        free(line);
        at += length + (at[length] == '\n');
    }
    tool_page(title, wrapped.at ? wrapped.at : "");
    tool_text_free(&wrapped);
    tool_text_free(&t);
    free(title);
    free(path);
}

static void look(view *v)
{
    const node *n = &v->t->nodes[v->at];
    const rec_tensor *tensor = n->value ? rec_value_tensor(n->value) : NULL;

    if (tensor) {
        char *path = path_words(v);
        tool_tensor_view(v->g, tensor, path);
        free(path);
    } else if (n->count == 0) {
        look_at_value(v, n->value);
    } else {
        tool_tree_fold(v->t, v->at, !n->open);
    }
}

static void figures(view *v)
{
    enum { LOOK_AGAIN = 50 }; /* milliseconds */
    const node *n = &v->t->nodes[v->at];
    const rec_tensor *tensor = n->value ? rec_value_tensor(n->value) : NULL;
    char number[NUMBER_ROOM], *path = path_words(v);
    text t = {0};

    if (tensor) {
        const reading_of *r = tool_gauge_read(v->g, tensor);
        if (!r) {
            tool_foot("", "measuring… (any key stops)");
            tool_terminal_show(-1, 0);
        }
        while (!r) {
            if (tool_terminal_key(LOOK_AGAIN) != KEY_IS_NOTHING) {
                tool_gauge_stop(v->g);
                free(path);
                return;
            }
            r = tool_gauge_read(v->g, tensor);
        }
        tool_tensor_figures(&t, tensor, path, r);
    } else {
        tool_flow(&t, tool_terminal_columns(), *path ? path : "(root)");
        tool_text_format(&t, "\n\n%s tensor%s", tool_grouped(n->tensors, number), tool_plural(n->tensors));
        tool_text_format(&t, "\n%s parameter%s", tool_grouped(n->elements, number), tool_plural(n->elements));
        tool_text_format(&t, "\n%s", tool_sized(n->nbytes, number));
        tool_text_format(&t, "\n%s value%s", tool_grouped(n->live - n->tensors, number),
                         tool_plural(n->live - n->tensors));
        tool_text_put(&t, " that are not tensors\n");
    }
    tool_page(" figures", t.at);
    tool_text_free(&t);
    free(path);
}

/* What other rooms print, on a page. */
static void show_printed(const char *what, const char *path)
{
    char *error = tool_terminal_said(true), *out = tool_terminal_said(false);
    text title = {0}, t = {0};

    tool_text_format(&title, " %s  ", what);
    tool_text_safe(&title, path, strlen(path));
    add_lines(&t, error, strlen(error));
    add_lines(&t, out, strlen(out));
    tool_page(title.at, t.at ? t.at : "nothing to tell");
    tool_text_free(&title);
    tool_text_free(&t);
    free(error);
    free(out);
}

static void plan(view *v)
{
    const char *path = current_file(v);

    if (strcmp(path, "-") == 0) {
        say(v, xstrdup("standard input was read to its end: a plan needs a file"));
        return;
    }
    tool_foot("", "planning…");
    tool_terminal_show(-1, 0);
    tool_gauge_stop(v->g);
    (void)tool_run_plan(v->s, &path, 1);
    tool_terminal_guard();
    show_printed("plan", path);
}

static void type(view *v)
{
    char *source = NULL;

    if (tool_session_describe(v->s, current_record(v), &source) == EXIT_OK && source) {
        fputs(source, stdout);
    }
    rec_free(source);
    show_printed("type", tool_input_name(current_file(v)));
}

/* Who wrote the file, what it says of itself, and what was noted while it was read. */
static void about(view *v)
{
    const rec_record *record = current_record(v);
    const rec_origin *origin = rec_record_origin(record);
    const char *path = tool_input_name(current_file(v)), *burn = tool_burn_version(record), *key, *value;
    const char *precision = tool_precision_word(record);
    char number[NUMBER_ROOM];
    text t = {0};

    tool_text_format(&t, "recorder   %s\n", origin->recorder);
    if (burn) {
        tool_text_put(&t, "Burn       ");
        tool_text_safe(&t, burn, strlen(burn));
        tool_text_put(&t, "\n");
    }
    if (precision) {
        tool_text_format(&t, "precision  %s\n", precision);
    }
    if (origin->stored != REC_UNKNOWN) {
        tool_text_format(&t, "size       %s", tool_sized(origin->stored, number));
        if (origin->inflated != origin->stored && origin->inflated != REC_UNKNOWN) {
            tool_text_format(&t, ", inflated %s", tool_sized(origin->inflated, number));
        }
        tool_text_put(&t, origin->mapped ? ", mapped\n" : ", in memory\n");
    }
    for (uint64_t i = 0; i < rec_metadata_count(record); i++) {
        if (rec_metadata_get(record, i, &key, &value) == REC_OK) {
            tool_text_put(&t, i ? "" : "\nMETADATA\n");
            tool_text_safe(&t, key, strlen(key));
            tool_text_put(&t, " = ");
            tool_text_value(&t, value, strlen(value));
            tool_text_put(&t, "\n");
        }
    }
    for (size_t i = 0; i < v->n->kept; i++) {
        const struct note *note = &v->n->at[i];
        tool_text_put(&t, i ? "" : "\nNOTES\n");
        tool_text_safe(&t, note->path, strlen(note->path));
        tool_text_put(&t, *note->path ? ": " : "");
        tool_text_safe(&t, note->text, strlen(note->text));
        tool_text_put(&t, "\n");
    }
    fputs(t.at, stdout);
    tool_text_free(&t);
    show_printed("file", path);
}

/* -------------------------------------------------------------------------------------------------------- keys -- */

static void go_left(view *v)
{
    const node *n = &v->t->nodes[v->at];

    if (n->open) {
        tool_tree_fold(v->t, v->at, false);
    } else if (n->parent != v->t->top) {
        v->at = n->parent;
    }
}

static void go_right(view *v)
{
    const node *n = &v->t->nodes[v->at];

    if (n->count == 0) {
        look(v);
    } else if (!n->open) {
        tool_tree_fold(v->t, v->at, true);
    } else if (tool_tree_at(v->t, tool_tree_row(v->t, v->at) + 1) < n->end) {
        step(v, 1);
    }
}

static void click(view *v)
{
    int line = tool_terminal_clicked() - 1;
    uint32_t at = line >= 0 && line < list_rows() ? tool_tree_at(v->t, v->top + (uint32_t)line) : NO_NODE;

    if (at == v->at) {
        look(v);
    } else if (at != NO_NODE) {
        v->at = at;
    }
}

/* @return false if it ends. */
static bool act(view *v, int key)
{
    int rows = list_rows();

    switch (key) {
    case 'q':
    case KEY_IS_GONE:
        return false;
    case KEY_IS_UP:
    case 'k':
        step(v, -1);
        break;
    case KEY_IS_DOWN:
    case 'j':
        step(v, 1);
        break;
    case KEY_IS_WHEEL_UP:
        turn(v, -3);
        break;
    case KEY_IS_WHEEL_DOWN:
        turn(v, 3);
        break;
    case KEY_IS_PAGE_UP:
    case 'b':
        turn(v, -rows);
        break;
    case KEY_IS_PAGE_DOWN:
    case ' ':
        turn(v, rows);
        break;
    case KEY_IS_HOME:
    case 'g':
        step(v, INT32_MIN);
        break;
    case KEY_IS_END:
    case 'G':
        step(v, UINT32_MAX);
        break;
    case KEY_IS_LEFT:
    case 'h':
        go_left(v);
        break;
    case KEY_IS_RIGHT:
    case 'l':
        go_right(v);
        break;
    case KEY_IS_ENTER:
        look(v);
        break;
    case KEY_IS_CLICK:
        click(v);
        break;
    case 'e':
    case 'c':
        tool_tree_fold_all(v->t, v->at, key == 'e');
        break;
    case 'a':
        tool_tree_show_all(v->t, !v->t->all);
        come_up(v);
        say(v, xstrdup(v->t->all ? "nil values are listed" : "nil values are not listed"));
        break;
    case '/':
    case 'n':
    case 'N':
        search(v, key == '/', key != 'N');
        break;
    case 's':
        figures(v);
        break;
    case 'p':
        plan(v);
        break;
    case 't':
        type(v);
        break;
    case 'i':
        about(v);
        break;
    case '?':
        tool_page(" record browse: keys", help_text);
        break;
    case KEY_IS_RESIZE:
    case KEY_IS_ESCAPE:
    case KEY_IS_NOTHING:
        break;
    default:
        say(v, xstrdup("? explains the keys"));
        break;
    }
    return true;
}

int tool_browse_screen(session *s, tree *t, const notes *n)
{
    view v = {.s = s, .t = t, .n = n};
    /* Colours were asked about for standard output, which is not the terminal's from here on. */
    bool colors = *tool_style(STYLE_BOLD) != '\0';
    bool going = true;

    if (tool_terminal_open(colors, tool_own(s->o, "mouse") != NULL) != EXIT_OK) {
        return EXIT_ERROR;
    }
    tool_output_setup(COLOR_NEVER);
    v.g = tool_gauge_new(s);
    tool_tree_begin(t, (uint32_t)list_rows());
    v.at = tool_tree_at(t, 0);
    while (going) {
        draw(&v);
        going = act(&v, tool_terminal_key(-1));
    }
    tool_terminal_close();
    tool_gauge_free(v.g);
    tool_found_free(&v.found);
    free(v.said);
    return EXIT_OK;
}
