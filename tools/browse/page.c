/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What screens have in common: their foot, a line that is typed there, and text to be paged through. */
#include <stdlib.h>
#include <string.h>

#include "tools/browse/browse_private.h"

void tool_flow(text *t, int width, const char *string)
{
    const char *newline = t->length ? memrchr(t->at, '\n', t->length) : NULL, *line = newline ? newline + 1 : t->at;

    if (t->length && *line) {
        bool fits = tool_terminal_width(line) + 2 + tool_terminal_width(string) <= width;
        tool_text_put(t, fits ? "  " : "\n");
    }
    /* Wraps text that is wider than the line. */
    while (width > 0) {
        const char *rest = tool_terminal_skip(string, width);
        if (!*rest || rest == string) {
            break;
        }
        tool_text_add(t, string, (size_t)(rest - string));
        tool_text_put(t, "\n");
        string = rest;
    }
    tool_text_put(t, string);
}

void tool_foot(const char *help, const char *said)
{
    int row = tool_terminal_rows() - 1;
    bool says = said && *said;

    if (row > 0) { /* the title has row 0 */
        (void)tool_terminal_put(row, 0, tool_terminal_columns(), says ? INK_BOLD : INK_DIM, says ? said : help);
    }
}

/* ------------------------------------------------------------------------------------------------- typed lines -- */

/* Removes the last character. */
static void shorten(text *line)
{
    while (line->length && ((unsigned char)line->at[--line->length] & 0xC0) == 0x80) {
    }
    line->at[line->length] = '\0';
}

char *tool_ask(const char *label)
{
    enum { MOST = 4096 };
    text line = {0};
    int key;

    tool_text_put(&line, "");
    for (;;) {
        int row = tool_terminal_rows() - 1, columns = tool_terminal_columns(), room, width;
        const char *shown = line.at;
        tool_terminal_bar(row, INK_PLAIN, "");
        room = columns - tool_terminal_put(row, 0, columns, INK_BOLD, label) - 1;
        width = tool_terminal_width(shown);
        shown = width > room ? tool_terminal_skip(shown, width - room) : shown;
        width = tool_terminal_put(row, columns - room - 1, room, INK_PLAIN, shown);
        tool_terminal_show(row, columns - room - 1 + width);
        key = tool_terminal_key(-1);
        if (key == KEY_IS_ENTER) {
            return line.at;
        }
        if (key == KEY_IS_ESCAPE || key == KEY_IS_GONE || (key == KEY_IS_BACK && line.length == 0)) {
            break;
        }
        if (key == KEY_IS_BACK) {
            shorten(&line);
        } else if (key == 0x15) { /* ^U */
            line.length = 0;
            line.at[0] = '\0';
        } else if (key >= ' ' && key < KEY_IS_NOTHING && line.length < MOST) {
            tool_text_character(&line, (uint32_t)key);
        } else if (key == KEY_IS_RESIZE) {
            tool_terminal_clear();
        }
    }
    tool_text_free(&line);
    return NULL;
}

/* ------------------------------------------------------------------------------------------------------- pages -- */

typedef struct page {
    const char **lines;
    size_t count, top;
    int left, widest;
} page;

static void split(page *p, char *string)
{
    for (char *at = string; *at;) {
        size_t length = strcspn(at, "\n");
        bool last = at[length] == '\0';
        p->lines = tool_grown(p->lines, p->count, sizeof *p->lines);
        at[length] = '\0';
        p->lines[p->count++] = at;
        p->widest = tool_terminal_width(at) > p->widest ? tool_terminal_width(at) : p->widest;
        at += length + !last;
    }
}

static void draw_page(const page *p, const char *title, const char *said)
{
    static const char help[] = "q back  ↑↓ PgUp PgDn scroll  / search";
    int rows = tool_terminal_rows() - 2;
    char *place = xasprintf("%zu-%zu of %zu", p->count ? p->top + 1 : 0,
                            p->top + (size_t)rows < p->count ? p->top + (size_t)rows : p->count, p->count);
    int column = tool_terminal_columns() - tool_terminal_width(place);

    tool_terminal_clear();
    tool_terminal_bar(0, INK_BAR, title);
    for (int i = 0; i < rows && p->top + (size_t)i < p->count; i++) {
        const char *line = tool_terminal_skip(p->lines[p->top + (size_t)i], p->left);
        (void)tool_terminal_put(1 + i, 0, tool_terminal_columns(), INK_PLAIN, line);
        if (tool_terminal_width(line) > tool_terminal_columns()) {
            (void)tool_terminal_put(1 + i, tool_terminal_columns() - 1, 1, INK_DIM, "›");
        }
    }
    tool_foot(help, said);
    if (p->count > (size_t)rows && column > tool_terminal_width(said && *said ? said : help)) {
        (void)tool_terminal_put(tool_terminal_rows() - 1, column, tool_terminal_columns(), INK_DIM, place);
    }
    tool_terminal_show(-1, 0);
    free(place);
}

/* @return the line behind (or before) `from` that holds the pattern; SIZE_MAX: none. */
static size_t look_for(const page *p, const char *pattern, size_t from, bool forwards)
{
    for (size_t i = 1; i <= p->count; i++) {
        size_t at = (forwards ? from + i : from + p->count - i) % p->count;
        if (strcasestr(p->lines[at], pattern)) {
            return at;
        }
    }
    return SIZE_MAX;
}

void tool_page(const char *title, const char *string)
{
    char *copy = xstrdup(string), *pattern = NULL, *typed;
    const char *said = NULL;
    page p = {0};
    bool over = false;

    split(&p, copy);
    while (!over) {
        size_t rows = (size_t)(tool_terminal_rows() > 3 ? tool_terminal_rows() - 2 : 1), at = SIZE_MAX;
        size_t last = p.count > rows ? p.count - rows : 0;
        int far = p.widest - tool_terminal_columns(), key;
        p.top = p.top < last ? p.top : last;
        p.left = p.left < far ? p.left : far;
        p.left = p.left > 0 ? p.left : 0;
        draw_page(&p, title, said);
        said = NULL;
        key = tool_terminal_key(-1);
        switch (key) {
        case KEY_IS_UP:
        case KEY_IS_WHEEL_UP:
        case 'k':
            p.top -= p.top > 0;
            break;
        case KEY_IS_DOWN:
        case KEY_IS_WHEEL_DOWN:
        case 'j':
            p.top++;
            break;
        case KEY_IS_PAGE_UP:
        case 'b':
            p.top -= p.top < rows ? p.top : rows;
            break;
        case KEY_IS_PAGE_DOWN:
        case ' ':
            p.top += rows;
            break;
        case KEY_IS_HOME:
        case 'g':
            p.top = 0;
            break;
        case KEY_IS_END:
        case 'G':
            p.top = last;
            break;
        case KEY_IS_LEFT:
        case 'h':
            p.left -= 8;
            break;
        case KEY_IS_RIGHT:
        case 'l':
            p.left += 8;
            break;
        case '/':
            typed = tool_ask("/");
            if (typed && *typed) {
                free(pattern);
                pattern = xstrdup(typed);
            }
            free(typed);
            key = 'n';
            break;
        case 'q':
        case KEY_IS_ESCAPE:
        case KEY_IS_ENTER:
        case KEY_IS_GONE:
            over = true;
            break;
        default:
            break;
        }
        if ((key == 'n' || key == 'N') && pattern && p.count) {
            at = look_for(&p, pattern, p.top, key == 'n');
            said = at == SIZE_MAX ? "not found" : NULL;
            p.top = at == SIZE_MAX ? p.top : at;
        }
    }
    free(pattern);
    free(p.lines);
    free(copy);
}
