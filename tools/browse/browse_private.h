/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What the files of `record browse` share: the terminal, the tree, what fills the screen. */
#ifndef RECORD_BROWSE_PRIVATE_H
#define RECORD_BROWSE_PRIVATE_H

#include "tools/browse/browse.h"

/* ---------------------------------------------------------------------------------------------------- terminal -- */

/* Keys that are no characters; those are their code points. */
enum {
    KEY_IS_NOTHING = 0x200000, /* the time is over */
    KEY_IS_GONE,               /* there is no terminal any more */
    KEY_IS_RESIZE,
    KEY_IS_UP,
    KEY_IS_DOWN,
    KEY_IS_LEFT,
    KEY_IS_RIGHT,
    KEY_IS_PAGE_UP,
    KEY_IS_PAGE_DOWN,
    KEY_IS_HOME,
    KEY_IS_END,
    KEY_IS_ENTER,
    KEY_IS_BACK, /* backspace */
    KEY_IS_ESCAPE,
    KEY_IS_CLICK, /* at tool_terminal_clicked() */
    KEY_IS_WHEEL_UP,
    KEY_IS_WHEEL_DOWN,
    KEY_IS_OTHER
};

enum { INK_PLAIN, INK_BOLD, INK_DIM, INK_BAR, INK_BRANCH, INK_TENSOR, INK_VALUE, INK_BARS, INK_ALARM, INK_COUNT };

/* What to do without a screen. */
#define BROWSE_INSTEAD "record ls, show and stats print the same; record browse --json prints the tree."

/* @return EXIT_OK if there is a terminal to draw on, or EXIT_ERROR with the error printed. */
int tool_terminal_check(void);
/* Opens the terminal: keys come from it even if standard input is a pipe. Output to standard error is held back from
 * here on. @return EXIT_OK, or EXIT_ERROR with the error printed. Closed with tool_terminal_close(). */
int tool_terminal_open(bool colors, bool mouse);
/* Restores the terminal and prints the text held back. May be called again. */
void tool_terminal_close(void);
int tool_terminal_rows(void);
int tool_terminal_columns(void);
/* Begins a new screen, an empty one. */
void tool_terminal_clear(void);
/* Prints UTF-8, as much as fits in `room` columns; unprintable characters become question marks. Positions outside the
 * screen are ignored. @return columns printed. */
int tool_terminal_put(int row, int column, int room, int ink, const char *string);
/* A whole line in one ink, the text in it. */
void tool_terminal_bar(int row, int ink, const char *string);
/* @return columns that a text takes. */
int tool_terminal_width(const char *string);
/* @return what follows the first columns of a text. */
const char *tool_terminal_skip(const char *string, int columns);
/* Shows the screen. @param row,column where the cursor stands; row -1: it is not seen. */
void tool_terminal_show(int row, int column);
/* Waits for a key. @param milliseconds at most; -1: no limit. @return its code point, or KEY_IS_…. */
int tool_terminal_key(int milliseconds);
/* Where the mouse was when a KEY_IS_CLICK came. */
int tool_terminal_clicked(void);
/* To be called after what shows progress, which sets signals back. */
void tool_terminal_guard(void);
/* Takes what was printed since the last time, to be freed. @param error on standard error, else on standard output. */
char *tool_terminal_said(bool error);

/* -------------------------------------------------------------------------------------------------------- tree -- */

enum { NO_NODE = UINT32_MAX };

/* A value of a record, or a whole file. */
typedef struct node {
    const rec_value *value; /* NULL: what holds the files */
    uint32_t parent;        /* of the first one itself */
    uint32_t end;           /* the first node that is not below it */
    uint32_t place, count;  /* its index among the children of its parent; its own children */
    uint32_t tensors, live; /* below it or it itself; `live` are values that are not nil */
    bool open;
    uint64_t elements, nbytes; /* of the tensors */
} node;

typedef struct opened_file {
    const char *path;   /* from the command line */
    rec_record *record; /* owned by who opened it */
} opened_file;

typedef struct tree {
    node *nodes; /* in the order of the files; the first one holds these */
    uint32_t count;
    uint32_t top;     /* what is listed is below it */
    uint32_t *listed; /* the node of each row */
    uint32_t rows;
    bool all; /* values that are nil are shown */
    const opened_file *files;
    uint32_t file_count;
} tree;

/* Reads the files' trees. @return EXIT_OK, or EXIT_ERROR with the error printed. To be freed in either case. */
int tool_tree_make(tree *t, const opened_file *files, uint32_t count);
void tool_tree_free(tree *t);
/* Unfolds what fits into so many rows, the outermost first. */
void tool_tree_begin(tree *t, uint32_t rows);
/* @return whether a node takes no row: it holds nothing but nil. */
bool tool_tree_hides(const tree *t, const node *n);
/* @return the node in a row; NO_NODE after the last one. */
uint32_t tool_tree_at(const tree *t, uint32_t row);
/* @return the row of a node; of one that is not listed that of the last one before it. */
uint32_t tool_tree_row(const tree *t, uint32_t at);
/* @return levels below the outermost that is listed. */
int tool_tree_depth(const tree *t, uint32_t at);
void tool_tree_fold(tree *t, uint32_t at, bool open);
/* Folds or unfolds all that is below a node, and it. */
void tool_tree_fold_all(tree *t, uint32_t at, bool open);
/* Unfolds what is above a node. */
void tool_tree_reveal(tree *t, uint32_t at);
/* Whether values that are nil are shown. */
void tool_tree_show_all(tree *t, bool all);
/* @return the file that a node is of. */
uint32_t tool_tree_file(const tree *t, uint32_t at);
/* Adds a node's own name unchanged, with control characters. */
void tool_tree_name(const tree *t, uint32_t at, text *name);
/* Adds its path, as the command takes it. */
void tool_tree_path(const tree *t, uint32_t at, text *path);

/* A search and its hits. Zero it before use. */
typedef struct found {
    char *pattern;
    uint32_t *at; /* in the order of the files */
    uint32_t count;
} found;
/* Searches for paths whose last name contains the end of a match of the pattern; without capitals in the pattern case
 * does not matter. Hidden nodes are left out. */
void tool_tree_search(const tree *t, found *f, const char *pattern);
/* @return the index of the first one behind (or the last one before) a node, around the end if need be. */
uint32_t tool_found_next(const found *f, uint32_t at, bool forwards);
void tool_found_free(found *f);

/* Prints it for programs. */
void tool_tree_json(const tree *t);

/* -------------------------------------------------------------------------------------------------- the screen -- */

/* A line that is typed at the foot of the screen. @return it, to be freed; NULL if it was given up. */
char *tool_ask(const char *label);
/* Shows text until a key ends it. @param title one line. */
void tool_page(const char *title, const char *string);
/* Prints the last line of a screen: help, or a message. */
void tool_foot(const char *help, const char *said);
/* Adds a sentence or figure to lines of `width` columns, behind two spaces or on a new line. */
void tool_flow(text *t, int width, const char *string);

/* Figures of tensors, computed on a separate thread. */
typedef struct gauge gauge;
gauge *tool_gauge_new(session *s);
void tool_gauge_free(gauge *g);
/* Gives up what is being measured. */
void tool_gauge_stop(gauge *g);
/* Returns the figures of a tensor; starts the measurement if necessary, and cancels one of another tensor. @return NULL
 * while it is being measured. */
typedef struct reading_of {
    const rec_tensor *tensor;
    measured m;
    bool numeric;
    int status;
    char *why; /* of what could not be read; NULL: nothing to say */
} reading_of;
const reading_of *tool_gauge_read(gauge *g, const rec_tensor *tensor);

/* Shows a tensor until a key ends it. @param path its own. */
void tool_tensor_view(gauge *g, const rec_tensor *tensor, const char *path);
/* Adds all figures of a tensor, a line each. @param r NULL: not measured yet. */
void tool_tensor_figures(text *t, const rec_tensor *tensor, const char *path, const reading_of *r);
/* Takes the terminal and shows the tree until a key ends it. @param n what was noted of the files.
 * @return EXIT_OK, or EXIT_ERROR with the error printed. */
int tool_browse_screen(session *s, tree *t, const notes *n);

#endif
