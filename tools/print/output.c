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
    return errno ? tool_fail("standard output: cannot write: %s", strerror(errno))
                 : tool_fail("standard output: cannot write");
}

bool tool_output_is_terminal(void)
{
    return isatty(STDOUT_FILENO);
}

size_t tool_output_width(void)
{
    struct winsize size;

    if (tool_output_is_terminal() && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 20) {
        return size.ws_col;
    }
    return STANDARD_WIDTH;
}

/* ------------------------------------------------------------------------------------------------------- tables -- */

void tool_table_begin(table *t, const char *align)
{
    *t = (table){.columns = strlen(align), .align = align, .shrink = SIZE_MAX, .shrink_too = SIZE_MAX};
}

void tool_table_cell(table *t, const char *string)
{
    tool_text_add(&t->cells, string, strlen(string) + 1);
    t->cell_count++;
}

static void spaces(FILE *out, size_t count)
{
    while (count--) {
        putc_unlocked(' ', out);
    }
}

/* Widths of the columns; 0 for one whose cells are all empty but for the header. */
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

void tool_table_print(table *t, FILE *out)
{
    size_t *widths = xmalloc((t->columns + 1) * sizeof *widths), total;
    const char *cell = t->cells.at;

    measure(t, widths);
    total = add_up(t, widths);
    if (t->shrink < t->columns && tool_output_is_terminal() && total > tool_output_width()) {
        shrink(t, widths, total - tool_output_width());
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
                text shorter = {0};
                tool_text_shortened(&shorter, cell, widths[column], true);
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
    free(widths);
    tool_text_free(&t->cells);
}
