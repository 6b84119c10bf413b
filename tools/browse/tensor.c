/* SPDX-License-Identifier: MIT OR Apache-2.0
 * A tensor on the screen: its figures, and its elements as a table of its last two dimensions to walk about in. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/browse/browse_private.h"

/* ----------------------------------------------------------------------------------------------------- figures -- */

static char *number_words(const char *label, double value)
{
    return xasprintf("%s %.6g", label, value);
}

static char *count_words(uint64_t count, const char *what)
{
    char number[NUMBER_ROOM];

    return xasprintf("%s %s", tool_grouped(count, number), what);
}

/* Adds a word that is freed. */
static void flow(text *t, int width, char *word)
{
    tool_flow(t, width, word);
    free(word);
}

static void facts(text *t, int width, const rec_tensor *tensor)
{
    const char *id = rec_tensor_id(tensor);
    char number[NUMBER_ROOM], size[NUMBER_ROOM];
    uint64_t offset = rec_tensor_offset(tensor);
    text form = {0};

    tool_text_safe(&form, rec_tensor_dtype_name(tensor), strlen(rec_tensor_dtype_name(tensor)));
    tool_text_put(&form, " ");
    tool_text_shape(&form, rec_tensor_shape(tensor), rec_tensor_rank(tensor));
    tool_text_put(&form, rec_tensor_assumed(tensor) ? " (the type was assumed)" : "");
    tool_flow(t, width, form.at);
    flow(t, width,
         xasprintf("%s element%s", tool_grouped(rec_tensor_count(tensor), number),
                   tool_plural(rec_tensor_count(tensor))));
    tool_flow(t, width, tool_sized(rec_tensor_nbytes(tensor), size));
    if (id) {
        form.length = 0;
        tool_text_put(&form, "id ");
        tool_text_safe(&form, id, strlen(id));
        tool_flow(t, width, form.at);
    }
    if (offset != REC_UNKNOWN) {
        flow(t, width, xasprintf("at byte %s", tool_grouped(offset, number)));
    }
    tool_text_free(&form);
}

static void moments(text *t, int width, const measured *m)
{
    flow(t, width, number_words("min", m->min));
    flow(t, width, number_words("mean", m->mean));
    flow(t, width, number_words("max", m->max));
    flow(t, width, number_words("std", m->std));
    flow(t, width, number_words("norm", m->norm));
}

static void oddities(text *t, int width, const measured *m)
{
    flow(t, width, count_words(m->zeros, m->zeros == 1 ? "zero" : "zeros"));
    flow(t, width, count_words(m->nan, "NaN"));
    flow(t, width, count_words(m->inf, "infinite"));
    flow(t, width, count_words(m->subnormal, "subnormal"));
    flow(t, width, count_words(m->half_overflow, "beyond half precision"));
    flow(t, width, count_words(m->half_underflow, "zero at half"));
}

static bool has_range(const measured *m)
{
    return m->low < m->high && m->min < m->max;
}

/* The histogram between its edges. */
static void bars(text *t, int width, const measured *m)
{
    char *low = xasprintf("%.4g ", m->low), *high = xasprintf(" %.4g", m->high);
    int room = width - tool_terminal_width(low) - tool_terminal_width(high);

    tool_text_put(t, low);
    tool_text_sparkline(t, m->histogram, MEASURE_BINS, (size_t)(room < MEASURE_BINS && room > 4 ? room : MEASURE_BINS));
    tool_text_put(t, high);
    free(low);
    free(high);
}

/* Returns why the figures are missing, or not yet there; NULL: they are there. */
static const char *excuse(const rec_tensor *tensor, const reading_of *r)
{
    return !r                              ? "measuring…"
           : r->status != EXIT_OK          ? (r->why && *r->why ? r->why : "it cannot be read")
           : rec_tensor_count(tensor) == 0 ? "no elements"
           : !r->numeric                   ? "not numbers that could be measured"
                                           : NULL;
}

void tool_tensor_figures(text *t, const rec_tensor *tensor, const char *path, const reading_of *r)
{
    int width = tool_terminal_columns();
    const char *why = excuse(tensor, r);

    tool_flow(t, width, *path ? path : "(root)");
    tool_text_put(t, "\n\n");
    facts(t, width, tensor);
    tool_text_put(t, "\n\n");
    if (why) {
        tool_text_put(t, why);
        return;
    }
    moments(t, width, &r->m);
    tool_text_put(t, "\n");
    oddities(t, width, &r->m);
    if (has_range(&r->m)) {
        uint64_t most = 1;
        tool_text_put(t, "\n\n");
        for (size_t i = 0; i < MEASURE_BINS; i++) {
            most = r->m.histogram[i] > most ? r->m.histogram[i] : most;
        }
        for (size_t i = 0; i < MEASURE_BINS; i++) {
            char count[NUMBER_ROOM];
            double low = r->m.low + (r->m.high - r->m.low) * (double)i / MEASURE_BINS;
            int room = width - 12 - 16;
            int length = room > 0 ? (int)((double)r->m.histogram[i] / (double)most * room + 0.5) : 0;
            length += length == 0 && r->m.histogram[i] > 0;
            tool_text_format(t, "%11.4g ", low);
            while (length-- > 0) {
                tool_text_put(t, "█");
            }
            tool_text_format(t, " %s\n", tool_grouped(r->m.histogram[i], count));
        }
    }
}

/* -------------------------------------------------------------------------------------------------------- grid -- */

enum { CELL_ROOM = NUMBER_ROOM, COLUMNS_MOST = 128 };

/* The position in a tensor's elements. One dimension, and plain bytes, are wrapped into lines. */
typedef struct grid {
    const rec_tensor *tensor;
    const char *path;
    rec_dtype dtype, read;  /* of its numbers, and what they are read as; NONE: bytes */
    const uint8_t *bytes;   /* of a type that is not numeric */
    uint64_t count;         /* elements, or bytes */
    uint64_t rows, columns; /* of a table; there may be several, one behind another */
    bool wraps;             /* rows are lines of a one-dimensional tensor */
    uint64_t at;            /* the element that the cursor is on */
    uint64_t top, left;     /* the row and column that are shown first */
    uint64_t shown;         /* rows */
    char *said;
} grid;

static void grid_begin(grid *g, const rec_tensor *tensor, const char *path)
{
    uint32_t rank = rec_tensor_rank(tensor);
    const uint64_t *shape = rec_tensor_shape(tensor);

    *g = (grid){.tensor = tensor, .path = path, .dtype = tool_number_dtype(tensor), .count = rec_tensor_count(tensor)};
    g->read = g->count ? tool_exact_dtype(g->dtype) : REC_DTYPE_F64;
    if (g->read == REC_DTYPE_NONE) {
        g->bytes = rec_tensor_bytes(tensor, &g->count);
        g->count = g->bytes ? g->count : 0;
    }
    g->wraps = rank < 2 || g->read == REC_DTYPE_NONE;
    g->rows = g->wraps ? 1 : shape[rank - 2];
    g->columns = g->wraps ? 1 : shape[rank - 1];
}

/* An element that was read. */
static void cell_text(const grid *g, const void *elements, size_t i, bool exact, char *cell)
{
    char buffer[NUMBER_ROOM];
    const char *digits = tool_element_text(elements, i, g->read, g->dtype, buffer);

    if (g->read == REC_DTYPE_F64 && !exact && strlen(digits) > 7) {
        (void)snprintf(cell, CELL_ROOM, "%.4g", ((const double *)elements)[i]);
    } else {
        (void)snprintf(cell, CELL_ROOM, "%s", digits);
    }
}

/* Reads elements as texts. @return false with `said` set if it cannot. */
static bool read_cells(grid *g, uint64_t first, size_t count, bool exact, char (*cells)[CELL_ROOM])
{
    uint64_t elements[COLUMNS_MOST];

    if (g->read == REC_DTYPE_NONE) {
        for (size_t i = 0; i < count; i++) {
            (void)snprintf(cells[i], CELL_ROOM, "%02x", g->bytes[first + i]);
        }
        return true;
    }
    if (rec_tensor_read(g->tensor, g->read, first, count, elements) != REC_OK) {
        free(g->said);
        g->said = xstrdup(rec_error_message());
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        cell_text(g, elements, i, exact, cells[i]);
    }
    return true;
}

/* "[0, 3, 1] = 0.25", the value whole. */
static void place_words(grid *g, text *t)
{
    char cell[1][CELL_ROOM];

    if (g->read == REC_DTYPE_NONE) {
        tool_text_format(t, "byte %" PRIu64, g->at);
    } else {
        tool_text_place(t, g->tensor, g->at);
    }
    if (read_cells(g, g->at, 1, true, cell)) {
        tool_text_format(t, " = %s", cell[0]);
    }
}

static int digits_of(uint64_t number)
{
    char digits[24];

    return snprintf(digits, sizeof digits, "%" PRIu64, number);
}

/* Lines for what wraps, as wide as they fit. */
static void wrap_lines(grid *g, int width)
{
    int cell = g->read == REC_DTYPE_NONE ? 3 : g->read == REC_DTYPE_BOOL ? 7 : 12;
    int fit = (width - digits_of(g->count) - 1) / cell;
    uint64_t columns = 1;

    /* Round numbers of columns are easier to count in. */
    static const uint64_t round[] = {64, 32, 16, 10, 8, 5, 4, 2, 1};
    for (size_t i = 0; i < sizeof round / sizeof *round && columns == 1; i++) {
        columns = (uint64_t)(fit > 1 ? fit : 1) >= round[i] ? round[i] : 1;
    }
    g->columns = columns < g->count ? columns : g->count ? g->count : 1;
    g->rows = g->count ? (g->count - 1) / columns + 1 : 0;
}

/* Draws the rows from `row` of the screen on; how many columns fit shows itself. @return columns that were shown. */
static uint64_t draw_table(grid *g, int row, int rows)
{
    uint64_t plane = g->wraps || !g->rows || !g->columns ? 0 : g->at / (g->rows * g->columns);
    uint64_t in_plane = g->at - plane * g->rows * g->columns, most = g->columns - g->left, shown = 0;
    int label = digits_of(g->wraps ? g->count : g->rows), column = label + 2, width = tool_terminal_columns();
    size_t lines = (size_t)(g->rows - g->top < (uint64_t)rows ? g->rows - g->top : (uint64_t)rows);
    char(*cells)[CELL_ROOM], name[24];

    most = most < COLUMNS_MOST ? most : COLUMNS_MOST;
    most = most < (uint64_t)width ? most : (uint64_t)width;
    cells = xmalloc((lines * (size_t)most + 1) * sizeof *cells);
    for (size_t i = 0; i < lines; i++) {
        uint64_t first = plane * g->rows * g->columns + (g->top + i) * g->columns + g->left;
        size_t count = (size_t)(g->count - first < most ? g->count - first : most);
        memset(cells[i * most], 0, (size_t)most * sizeof *cells);
        if (!read_cells(g, first, count, false, &cells[i * most])) {
            lines = i;
            break;
        }
        (void)snprintf(name, sizeof name, "%" PRIu64, g->wraps ? first - g->left : g->top + i);
        (void)tool_terminal_put(row + 1 + (int)i, label - (int)strlen(name), label, INK_DIM, name);
    }
    for (uint64_t k = 0; k < most && lines; k++, shown++) {
        int wide = snprintf(name, sizeof name, "%" PRIu64, g->left + k);
        for (size_t i = 0; i < lines; i++) {
            int length = (int)strlen(cells[i * most + k]);
            wide = length > wide ? length : wide;
        }
        if (column + wide > width && k) {
            break;
        }
        (void)tool_terminal_put(row, column + wide - (int)strlen(name), wide, INK_DIM, name);
        for (size_t i = 0; i < lines; i++) {
            const char *cell = cells[i * most + k];
            bool here = (g->top + i) * g->columns + g->left + k == in_plane;
            (void)tool_terminal_put(row + 1 + (int)i, column + wide - (int)strlen(cell), wide,
                                    here ? INK_BAR : INK_PLAIN, cell);
        }
        column += wide + (g->read == REC_DTYPE_NONE ? 1 : 2);
    }
    free(cells);
    return shown;
}

/* Draws lines of text. @return how many, at most `most`. */
static int draw_lines(int row, int most, const char *string, int ink)
{
    int drawn = 0;

    for (const char *at = string; *at && drawn < most; drawn++) {
        size_t length = strcspn(at, "\n");
        char *line = xasprintf("%.*s", (int)length, at);
        (void)tool_terminal_put(row + drawn, 0, tool_terminal_columns(), ink, line);
        free(line);
        at += length + (at[length] == '\n');
    }
    return drawn;
}

/* Prints the figures above the table, as many as fit. @return the row after them. */
static int draw_figures(const grid *g, int row, int most, const reading_of *r)
{
    const char *why = excuse(g->tensor, r);
    int width = tool_terminal_columns(), first = row;
    text t = {0};

    facts(&t, width, g->tensor);
    row += draw_lines(row, most, t.at, INK_PLAIN);
    tool_text_free(&t);
    if (why) {
        return row + draw_lines(row, most - (row - first), why, INK_DIM);
    }
    moments(&t, width, &r->m);
    row += draw_lines(row, most - (row - first), t.at, INK_PLAIN);
    tool_text_free(&t);
    if (has_range(&r->m) && row - first < most) {
        bars(&t, width, &r->m);
        row += draw_lines(row, 1, t.at, INK_BARS);
        tool_text_free(&t);
    }
    oddities(&t, width, &r->m);
    row += draw_lines(row, most - (row - first), t.at, r->m.nan || r->m.inf ? INK_ALARM : INK_PLAIN);
    tool_text_free(&t);
    return row;
}

static void draw(grid *g, const reading_of *r)
{
    int rows = tool_terminal_rows(), width = tool_terminal_columns(), row, left;
    uint64_t line, column, shown;
    text line_text = {0};

    tool_terminal_clear();
    tool_text_put(&line_text, " ");
    tool_text_shortened(&line_text, *g->path ? g->path : "(root)", (size_t)(width > 4 ? width - 1 : 3), true);
    tool_terminal_bar(0, INK_BAR, line_text.at);
    line_text.length = 0;
    row = draw_figures(g, 1, rows > 12 ? rows - 10 : rows > 8 ? rows - 7 : 1, r);
    row += rows > 14;
    if (g->wraps) {
        wrap_lines(g, width);
    }
    left = rows - 1 - (row + 2);
    if (g->count && left > 0) {
        line = (g->wraps ? g->at : g->at % (g->rows * g->columns)) / g->columns;
        column = g->at % g->columns;
        g->shown = (uint64_t)left;
        g->top = line < g->top ? line : line >= g->top + g->shown ? line - g->shown + 1 : g->top;
        g->left = g->wraps || column < g->left ? (g->wraps ? 0 : column) : g->left;
        place_words(g, &line_text);
        (void)tool_terminal_put(row, 0, width, INK_BOLD, line_text.at);
        shown = draw_table(g, row + 1, left);
        if (column >= g->left + shown && shown) {
            /* The cursor is to the right of what fits: the last column that does is its. */
            g->left = column - (shown - 1);
            for (;;) {
                for (int i = row + 1; i < rows - 1; i++) {
                    tool_terminal_bar(i, INK_PLAIN, "");
                }
                shown = draw_table(g, row + 1, left);
                if (column < g->left + shown || shown == 0) {
                    break;
                }
                g->left++;
            }
        }
    }
    tool_foot("q back  arrows move  [ ] next table  g index  s all figures", g->said);
    free(g->said);
    g->said = NULL;
    tool_text_free(&line_text);
    tool_terminal_show(-1, 0);
}

/* Goes to an index that is typed: "3, 0, -1". */
static void go_to(grid *g)
{
    uint32_t rank = g->read == REC_DTYPE_NONE ? 1 : rec_tensor_rank(g->tensor);
    const uint64_t *shape = g->read == REC_DTYPE_NONE ? &g->count : rec_tensor_shape(g->tensor);
    char *typed = tool_ask("index: "), *at = typed, *end;
    uint64_t place = 0;
    uint32_t i = 0;

    for (; typed && i < rank; i++) {
        at += strspn(at, " ,[]");
        if (!*at) {
            place *= shape[i];
            continue;
        }
        long long index = strtoll(at, &end, 10);
        uint64_t back = index < 0 ? (uint64_t)0 - (uint64_t)index : 0;
        if (end == at || (index < 0 ? back > shape[i] : (uint64_t)index >= shape[i])) {
            break;
        }
        place = place * shape[i] + (index < 0 ? shape[i] - back : (uint64_t)index);
        at = end;
    }
    if (typed && (i < rank || at[strspn(at, " ,[]")])) {
        text t = {0};
        tool_text_put(&t, "an index is expected that lies within ");
        tool_text_shape(&t, shape, rank);
        g->said = t.at;
    } else if (typed && g->count) {
        g->at = place;
    }
    free(typed);
}

static void move(grid *g, int key)
{
    uint64_t size = g->wraps ? g->count : g->rows * g->columns, first = g->at - g->at % size;
    uint64_t in = g->at - first, column = in % g->columns, page = g->shown * g->columns;

    switch (key) {
    case KEY_IS_UP:
    case KEY_IS_WHEEL_UP:
    case 'k':
        in -= in >= g->columns ? g->columns : 0;
        break;
    case KEY_IS_DOWN:
    case KEY_IS_WHEEL_DOWN:
    case 'j':
        in += in + g->columns < size ? g->columns : 0;
        break;
    case KEY_IS_LEFT:
    case 'h':
        in -= g->wraps ? in > 0 : column > 0;
        break;
    case KEY_IS_RIGHT:
    case 'l':
        in += in + 1 < size && (g->wraps || column + 1 < g->columns);
        break;
    case KEY_IS_PAGE_UP:
    case 'b':
        in = in >= page ? in - page : column;
        break;
    case KEY_IS_PAGE_DOWN:
    case ' ':
        in = size - in > page ? in + page : size - 1 - (size - 1 - in) % g->columns;
        break;
    case KEY_IS_HOME:
        in -= column;
        break;
    case KEY_IS_END:
        in += g->columns - 1 - column;
        in = in < size ? in : size - 1;
        break;
    case ']':
        first += first + size < g->count ? size : 0;
        break;
    case '[':
        first -= first >= size ? size : 0;
        break;
    default:
        break;
    }
    g->at = first + in;
}

void tool_tensor_view(gauge *g, const rec_tensor *tensor, const char *path)
{
    enum { LOOK_AGAIN = 100 }; /* milliseconds */
    const reading_of *r;
    grid at;
    int key = 0;

    grid_begin(&at, tensor, path);
    /* Seen before it is measured, unless that takes no time. */
    while (key != 'q' && key != KEY_IS_ESCAPE && key != KEY_IS_GONE && key != KEY_IS_BACK) {
        r = tool_gauge_read(g, tensor);
        if (key != KEY_IS_NOTHING || r) {
            draw(&at, r);
        }
        key = tool_terminal_key(r ? -1 : LOOK_AGAIN);
        if (key == 's' || key == KEY_IS_ENTER) {
            text t = {0};
            tool_tensor_figures(&t, tensor, path, r);
            tool_page(" figures", t.at);
            tool_text_free(&t);
        } else if (key == 'g') {
            go_to(&at);
        } else if (at.count && at.columns) {
            move(&at, key);
        }
    }
    free(at.said);
}
