/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Standard output: the terminal's width, aligned tables, and the check that all of it was written. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "tools/print/print.h"

enum { STANDARD_WIDTH = 80, GAP = 2 };

int tool_output_finish(void)
{
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout)) {
        return EXIT_OK;
    }
    if (!errno && fputc('\n', stdout) != EOF) { /* an earlier write failed: so does this one, with the reason */
        (void)fflush(stdout);
    }
    return errno ? tool_fail("standard output: cannot write: %s", strerror(errno))
                 : tool_fail("standard output: cannot write");
}

static bool plain;

void tool_output_plain(void)
{
    plain = true;
}

bool tool_output_is_terminal(void)
{
    return !plain && isatty(STDOUT_FILENO);
}

size_t tool_output_width(void)
{
    struct winsize size;

    if (tool_output_is_terminal() && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 20) {
        return size.ws_col;
    }
    return STANDARD_WIDTH;
}

/* ------------------------------------------------------------------------------------------------------ tables -- */

void tool_table_begin(table *t, const char *align, const char *header)
{
    *t = (table){.columns = strlen(align), .align = align, .shrink = SIZE_MAX, .shrink_too = SIZE_MAX};
    if (header) {
        t->header = true;
        t->shrink = 0;
    }
    for (size_t i = 0, length; header && i < t->columns; i++, header += length + (header[length] == '|')) {
        length = strcspn(header, "|");
        tool_text_add(&t->cells, header, length);
        tool_table_cell(t, "");
    }
}

void tool_table_cell(table *t, const char *string)
{
    tool_text_add(&t->cells, string, strlen(string) + 1);
    t->cell_count++;
}

void tool_table_take(table *t, text *cell)
{
    tool_table_cell(t, cell->at ? cell->at : "");
    tool_text_free(cell);
}

void tool_table_skip(table *t, size_t cells)
{
    while (cells--) {
        tool_table_cell(t, "");
    }
}

void tool_table_shape(table *t, const uint64_t *shape, uint32_t rank)
{
    text cell = {0};

    tool_text_shape(&cell, shape, rank);
    tool_table_take(t, &cell);
}

void tool_table_cell_safe(table *t, const char *string)
{
    text safe = {0};

    tool_text_safe(&safe, string, strlen(string));
    tool_table_take(t, &safe);
}

void tool_table_name(table *t, const char *key)
{
    text cell = {0};

    tool_text_name(&cell, key);
    tool_text_put(&cell, *key ? "" : "(root)");
    tool_table_take(t, &cell);
}

void tool_table_key(table *t, const char *key, uint64_t repeats)
{
    char number[NUMBER_ROOM];
    text cell = {0};

    tool_table_name(t, key);
    if (repeats > 1) {
        tool_text_format(&cell, "×%s", tool_grouped(repeats, number));
    }
    tool_table_take(t, &cell);
}

static void spaces(FILE *out, size_t count)
{
    while (count--) {
        putc_unlocked(' ', out);
    }
}

/* Widths of the columns; 0 for a column whose cells are empty. */
static void measure(const table *t, size_t *widths)
{
    const char *cell = t->cells.at;

    memset(widths, 0, t->columns * sizeof *widths);
    for (int pass = t->header; pass >= 0; pass--) {
        /* The header counts only in columns that hold something, so it is measured after the rest. */
        cell = t->cells.at;
        for (size_t i = 0; i < t->cell_count; i++, cell += strlen(cell) + 1) {
            bool in_header = t->header && i < t->columns;
            size_t column = i % t->columns;
            if (in_header == (t->header && pass == 0) && (!in_header || widths[column])) {
                size_t width = tool_text_width(cell);
                widths[column] = width > widths[column] ? width : widths[column];
            }
        }
    }
}

/* @return columns of all that the widths are of, gaps included. */
static size_t add_up(const table *t, const size_t *widths)
{
    size_t total = 0;

    for (size_t i = 0; i < t->columns; i++) {
        total += widths[i] ? widths[i] + (total ? GAP : 0) : 0;
    }
    return total;
}

size_t tool_table_width(const table *t)
{
    size_t *widths = xmalloc((t->columns + 1) * sizeof *widths), total;

    measure(t, widths);
    total = add_up(t, widths);
    free(widths);
    return total;
}

void tool_table_drop(table *t)
{
    tool_text_free(&t->cells);
    t->cell_count = 0;
}

/* Takes `over` columns from those that may be shortened, as far as they have more than a few. */
static void shrink(const table *t, size_t *widths, size_t over)
{
    enum { LEAST = 12 };
    size_t *a = &widths[t->shrink], *b = t->shrink_too < t->columns ? &widths[t->shrink_too] : a;

    for (; over; over--) {
        size_t *wider = *a >= *b ? a : b;
        if (*wider <= LEAST) {
            return;
        }
        --*wider;
    }
}

/* A cell of a column that is shortened. */
typedef struct cut_cell {
    const char *whole;
    char *cut;
    size_t row;
} cut_cell;

static int by_cut(const void *one, const void *other)
{
    const cut_cell *a = one, *b = other;
    int order = strcmp(a->cut, b->cut);

    return order ? order : strcmp(a->whole, b->whole);
}

/* Cuts all cells of a column with so much of their beginning kept. @param cells (out) as many as there are rows.
 * @return how many would look like others that they are not; those are marked to be printed whole. */
static size_t try_cut(const table *t, size_t column, size_t width, size_t head, cut_cell *cells, bool *whole)
{
    size_t count = 0, alike = 0;
    const char *cell = t->cells.at;

    for (size_t i = 0; i < t->cell_count; i++, cell += strlen(cell) + 1) {
        text cut = {0};
        if (i % t->columns != column) {
            continue;
        }
        if (tool_text_width(cell) > width) {
            tool_text_cut(&cut, cell, width, head);
        } else {
            tool_text_put(&cut, cell);
        }
        whole[count] = false;
        cells[count] = (cut_cell){cell, cut.at, count};
        count++;
    }
    qsort(cells, count, sizeof *cells, by_cut);
    for (size_t i = 0, run; i < count; i += run) {
        bool differ = false;
        for (run = 1; i + run < count && strcmp(cells[i].cut, cells[i + run].cut) == 0; run++) {
            differ = differ || strcmp(cells[i].whole, cells[i + run].whole) != 0;
        }
        for (size_t k = i; differ && k < i + run; k++) {
            whole[cells[k].row] = true;
            alike++;
        }
    }
    for (size_t i = 0; i < count; i++) {
        free(cells[i].cut);
    }
    return alike;
}

/* How a column is shortened so that cells that differ still do. */
typedef struct cut {
    size_t head;
    bool *whole; /* of each row: no cut tells it from another one */
} cut;

static cut find_cut(const table *t, size_t column, size_t width)
{
    static const size_t eighths[] = {4, 2, 6, 1, 7};
    size_t rows = t->cell_count / t->columns;
    cut_cell *cells = xmalloc(rows * sizeof *cells);
    cut c = {(width - 1) / 2, xmalloc(rows * sizeof *c.whole)};
    size_t tries = sizeof eighths / sizeof *eighths, i = 0;

    while (i < tries && try_cut(t, column, width, (width - 1) * eighths[i] / 8, cells, c.whole)) {
        i++;
    }
    if (i < tries) {
        c.head = (width - 1) * eighths[i] / 8;
    } else {
        (void)try_cut(t, column, width, c.head, cells, c.whole);
    }
    free(cells);
    return c;
}

void tool_table_print(table *t, FILE *out)
{
    cut cuts[2] = {{0}};
    size_t *widths = xmalloc((t->columns + 1) * sizeof *widths), total;
    const char *cell = t->cells.at;

    measure(t, widths);
    total = add_up(t, widths);
    if (t->shrink < t->columns && tool_output_is_terminal() && total > tool_output_width()) {
        size_t before[2] = {widths[t->shrink], t->shrink_too < t->columns ? widths[t->shrink_too] : 0};
        shrink(t, widths, total - tool_output_width());
        if (widths[t->shrink] < before[0]) {
            cuts[0] = find_cut(t, t->shrink, widths[t->shrink]);
        }
        if (before[1] && widths[t->shrink_too] < before[1]) {
            cuts[1] = find_cut(t, t->shrink_too, widths[t->shrink_too]);
        }
    }
    for (size_t i = 0; i < t->cell_count; i += t->columns) {
        size_t owed = 0; /* spaces that are printed only if something follows */
        bool in_header = t->header && i == 0;
        if (in_header) {
            fputs(tool_style(STYLE_BOLD), out);
        }
        for (size_t column = 0; column < t->columns; column++, cell += strlen(cell) + 1) {
            size_t width = tool_text_width(cell);
            if (!widths[column]) {
                continue;
            }
            if (width > widths[column]) {
                const cut *c = &cuts[column != t->shrink];
                text shorter = {0};
                if (c->whole[i / t->columns] && column == 0) { /* on a line of its own, the rest below its column */
                    fputs(cell, out);
                    putc_unlocked('\n', out);
                    owed = widths[column] + GAP;
                    continue;
                }
                if (c->whole[i / t->columns]) {
                    tool_text_put(&shorter, cell);
                } else {
                    tool_text_cut(&shorter, cell, widths[column], c->head);
                }
                spaces(out, owed);
                fputs(shorter.at, out);
                tool_text_free(&shorter);
                owed = GAP;
                continue;
            }
            size_t pad = widths[column] - width;
            if (width) {
                spaces(out, owed + (t->align[column] == 'r' ? pad : 0));
                fputs(cell, out);
                owed = GAP + (t->align[column] == 'r' ? 0 : pad);
            } else {
                owed += widths[column] + GAP;
            }
        }
        fputs(in_header ? tool_style(STYLE_PLAIN) : "", out);
        putc_unlocked('\n', out);
    }
    free(cuts[0].whole);
    free(cuts[1].whole);
    free(widths);
    tool_text_free(&t->cells);
}
