/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Output of the command: text, numbers, tables, JSON, values, folded listings, errors, notes of the library and
 * progress. It opens no files or recorders and does not know the command line: callers pass in settings. Callers free
 * memory with the matching function or free(). Out of memory ends the command. */
#ifndef RECORD_PRINT_H
#define RECORD_PRINT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define REC_NO_SHORT_NAMES
#include <librecord.h>

/* Exit status. EXIT_DIFFERS is for what compares: a difference, a check that failed. EXIT_UNSYNCED: all is done, but a
 * file that was saved may not outlast a crash of the system, or the report of it could not be printed. */
enum { EXIT_OK = 0, EXIT_DIFFERS = 1, EXIT_ERROR = 2, EXIT_UNSYNCED = 3 };

/* ------------------------------------------------------------------------------------------------------ memory -- */

/* Ends the command with a message if `memory` is NULL. @return it. */
void *tool_enough(void *memory);
/* A line of a plan that is made; likewise. */
const rec_plan_line *tool_plan_line(rec_plan *plan, uint64_t index);
/* As malloc, realloc, strdup, printf, and then as above. */
void *xmalloc(size_t size);
void *xrealloc(void *old, size_t size);
char *xstrdup(const char *text);
char *xasprintf(const char *format, ...) REC_PRINTF(1, 2);
char *xvasprintf(const char *format, va_list args);
/* Room for one more item of `size` bytes in an array of `count` that grows by this alone. @return the array. */
void *tool_grown(void *at, size_t count, size_t size);

/* Things that are looked up by what they hold, however many there are (known.c). They stay their owner's. */
typedef int tool_compare(const void *a, const void *b);
/* What a tree has that is the same as `thing`; else that, which is in it then. */
void *tool_known_add(void **tree, const void *thing, tool_compare *compare);
/* Finds an entry without adding one. NULL: not found. */
void *tool_known_find(void *const *tree, const void *thing, tool_compare *compare);
/* Empties it, before the things are freed. */
void tool_known_free(void **tree, tool_compare *compare);

/* A text that grows. Zero it to begin. */
typedef struct text {
    char *at; /* NUL-terminated once anything was added, else NULL */
    size_t length, room;
} text;
void tool_text_add(text *t, const char *bytes, size_t length);
void tool_text_put(text *t, const char *string);
void tool_text_format(text *t, const char *format, ...) REC_PRINTF(2, 3);
/* Adds all of a file. @return false with errno set. */
bool tool_text_read(text *t, const char *path);
void tool_text_free(text *t);

/* A list of strings; borrowed from argv unless a comment says otherwise. */
typedef struct words {
    const char **at;
    size_t count;
} words;

/* ------------------------------------------------------------------------------------------------------- names -- */

/* An operand that is an address holds secrets: the command has its name, and opens what the name stands for. */

/* The name to show for an operand: unchanged, except for addresses. Each address has a unique name. */
const char *tool_name_shown(const char *operand);
/* What a name stands for. `secret` is given to the library, never printed or written; a struct cannot be printed by
 * mistake. */
typedef struct tool_address {
    const char *secret;
} tool_address;
tool_address tool_name_opened(const char *name);
/* The functions of the library that open a file, by its name. */
rec_record *tool_load(rec_recorder *recorder, const char *name);
const char *tool_recognise(rec_context *context, const char *name);
rec_status tool_plan_add(rec_plan *plan, rec_recorder *recorder, const char *name);
rec_families *tool_families(const rec_record *record, const char *name, uint64_t *count);
/* A path without the directories before its last part; one that ends in a slash is whole. */
const char *tool_base_name(const char *path);
/* Whether an address was named. */
bool tool_names_any(void);
void tool_names_free(void);

/* ------------------------------------------------------------------------------------------------------ errors -- */

/* Prints the library's last error. @return EXIT_ERROR. */
int tool_fail_library(void);
/* Handles the status of a save. @return EXIT_OK, also for a save that was not synced, which is printed and remembered;
 * otherwise EXIT_ERROR with the error printed. */
int tool_saved(rec_status status);
/* Another process has saved to a folder that it could not sync: printed and remembered as that. */
void tool_saved_unsynced(const char *folder);
/* Something was: whoever runs out of memory from here on says that. */
void tool_memory_saved(void);
bool tool_memory_was_saved(void);
/* @return the command's status: EXIT_UNSYNCED in place of EXIT_OK if something that was saved was not synced. */
int tool_saved_status(int status);
/* Prints an error of the command itself; further lines of the text are hints. @return EXIT_ERROR. */
int tool_fail(const char *format, ...) REC_PRINTF(1, 2);
/* Appends errors to a text, without "record: ", in place of printing them. @param to NULL: prints them.
 * @return where they went before, NULL if they were printed. */
text *tool_fail_divert(text *to);
/* As tool_fail(), with the hint that names the help of a subcommand. */
int tool_fail_usage(const char *command, const char *format, ...) REC_PRINTF(2, 3);

/* @return the word nearest to a mistyped one, NULL if none is near. `names` ends in NULL. */
const char *tool_nearest(const char *typed, const char *const *names);
/* The order of names, in which numbers count as numbers: model-2 comes before model-10. */
int tool_compare_names(const char *a, const char *b);
/* The same of keys, where a level ends before anything else. */
int tool_compare_keys(const char *a, const char *b);
/* The same of an array of names, for qsort(). */
int tool_by_name(const void *a, const void *b);

/* ------------------------------------------------------------------------------------------------------ output -- */

enum { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };
/* Sets colours up. @param color COLOR_… */
void tool_output_setup(int color);
/* Checks that all of standard output was written. @return EXIT_OK, or EXIT_ERROR with the error printed. */
int tool_output_finish(void);
/* @return the width of the terminal on standard output; 80 without one. */
size_t tool_output_width(void);
/* Standard output is no terminal, whatever it looks like. */
void tool_output_plain(void);
/* @return true if standard output is a terminal. */
bool tool_output_is_terminal(void);

/* Escape sequences, "" without colours. */
enum { STYLE_PLAIN, STYLE_BOLD, STYLE_DIM, STYLE_ERROR, STYLE_NOTE };
const char *tool_style(int which);       /* for standard output */
const char *tool_style_error(int which); /* for standard error */

enum { NUMBER_ROOM = 48 };
/* "1,199,882" */
const char *tool_grouped(uint64_t number, char *buffer);
/* "525 M", "4,096": exact up to a million, three digits above. */
const char *tool_counted(uint64_t number, char *buffer);
/* "4.58 MiB", "512 bytes" */
const char *tool_sized(uint64_t bytes, char *buffer);
/* @return "s" unless it is one. */
const char *tool_plural(uint64_t number);
/* Reads one character. @param code (out) its number. @return its bytes, 0 if they are no UTF-8. */
size_t tool_utf8_next(const char *bytes, size_t length, uint32_t *code);
/* Adds a character in UTF-8. */
void tool_text_character(text *t, uint32_t code);
/* @return columns that UTF-8 text takes. */
size_t tool_text_width(const char *string);
/* @return whether a character must not be printed: it controls a terminal, changes the direction of text, is invisible,
 * or looks like a space. */
bool tool_text_steers(uint32_t code);
/* @return whether text with this character may look like other text. */
bool tool_text_combines(uint32_t code);
/* Adds text so that it is safe to print: both kinds of characters and broken UTF-8 as \xNN. */
void tool_text_safe(text *t, const char *bytes, size_t length);
/* Prints such text. */
void tool_print_safe(FILE *out, const char *string);
/* The same of several lines: the first after `lead`, each other one after `further`. */
void tool_print_lines(FILE *out, const char *lead, const char *further, const char *string);
/* The same for a value, whose characters may combine, as many languages need. */
void tool_text_value(text *t, const char *bytes, size_t length);
/* The same for a key, which looks like no other key and like nothing else that stands in its place: a space at its
 * beginning or end is \x20, and the parenthesis of "(root)" belongs to the command. */
void tool_text_name(text *t, const char *name);
/* The same as a word of the shell: in single quotes unless it needs none. */
void tool_text_quoted(text *t, const char *string);
/* Adds what the library says to do, its load arguments (`profile = llama`) written as options. Not made safe to print.
 */
void tool_text_hint(text *t, const char *hint);
/* Adds what fits in `width` columns, the middle or the end replaced by an ellipsis. In keys the end tells more than
 * the middle: layers.0.…tion.weight. */
void tool_text_shortened(text *t, const char *string, size_t width, bool middle);
/* Adds `head` columns from its beginning, an ellipsis, and of its end what fills `width` columns; it must be wider. */
void tool_text_cut(text *t, const char *string, size_t width, size_t head);
/* Adds a shape, "[64, 3]". */
void tool_text_shape(text *t, const uint64_t *shape, uint32_t rank);
/* Adds "[12, 3]": the place of element `at`. */
void tool_text_place(text *t, const rec_tensor *tensor, uint64_t at);

/* Rows of aligned columns. */
typedef struct table {
    size_t columns;
    const char *align; /* a letter a column: l or r */
    text cells;        /* NUL-terminated, one after another */
    size_t cell_count;
    size_t shrink;     /* the column that is shortened to fit a terminal, the first one where there is a header;
                          `columns` or more: none. What differs stays different */
    size_t shrink_too; /* another one; the wider of them goes first */
    bool header;       /* the first row is one */
} table;
/* @param header the names of the columns, "KEY||SHAPE", each before a bar or the end; NULL: none. */
void tool_table_begin(table *t, const char *align, const char *header);
void tool_table_cell(table *t, const char *string);
/* The same of a text that is freed, perhaps empty. */
void tool_table_take(table *t, text *cell);
/* The same of so many empty cells. */
void tool_table_skip(table *t, size_t cells);
void tool_table_shape(table *t, const uint64_t *shape, uint32_t rank);
/* The same of a text that a file has: see tool_text_safe(). */
void tool_table_cell_safe(table *t, const char *string);
/* A key, "(root)" for the empty one. */
void tool_table_name(table *t, const char *key);
/* The same, and how many there are like it. */
void tool_table_key(table *t, const char *key, uint64_t repeats);
/* Prints it without columns whose cells are empty, and frees it. */
void tool_table_print(table *t, FILE *out);
/* @return columns that it takes if nothing is shortened. */
size_t tool_table_width(const table *t);
/* Frees it unprinted. */
void tool_table_drop(table *t);

/* JSON. Containers are broken into lines down to `depth`; what is below stays on one line. */
typedef struct json {
    FILE *out;
    unsigned level, depth;
    bool first; /* nothing in the innermost container yet */
    bool keyed; /* a key was written: its value follows */
} json;
void tool_json_begin(json *j, FILE *out, unsigned depth);
/* The same with an object, which tool_json_finish() closes, with the line. */
void tool_json_open(json *j, FILE *out, unsigned depth);
void tool_json_finish(json *j);
void tool_json_object(json *j, const char *key); /* key NULL: an item of an array or the value of tool_json_key() */
void tool_json_array(json *j, const char *key);
void tool_json_close(json *j, char bracket);
/* Ends the line after the outermost value. */
void tool_json_end(json *j);
void tool_json_key(json *j, const char *bytes, size_t length);
void tool_json_text(json *j, const char *key, const char *bytes, size_t length);
void tool_json_string(json *j, const char *key, const char *string); /* NULL: null */
void tool_json_uint(json *j, const char *key, uint64_t number);
void tool_json_int(json *j, const char *key, int64_t number);
/* A number of bytes; REC_UNKNOWN: null. */
void tool_json_size(json *j, const char *key, uint64_t size);
/* A token that is JSON already: "true", "1.5". */
void tool_json_token(json *j, const char *key, const char *token);
void tool_json_bool(json *j, const char *key, bool value);
/* Bytes in base64; and without a JSON. */
void tool_print_base64(FILE *out, const void *bytes, uint64_t size);
void tool_json_bytes(json *j, const char *key, const void *bytes, uint64_t size);
void tool_json_shape(json *j, const char *key, const uint64_t *shape, uint32_t rank);
/* A float as a number, or as the string NaN, Infinity or -Infinity. */
void tool_json_float(json *j, const char *key, double value, rec_dtype dtype);

/* ------------------------------------------------------------------------------------------------------- notes -- */

/* Notes, copied: the thread's report dies with the next operation. Zero it to begin. */
typedef struct notes {
    struct note {
        int32_t kind;
        uint64_t count;
        char *path, *text;
    } *at;
    size_t kept;
    uint64_t made; /* all of them; those beyond `kept` are only counted */
} notes;
/* Appends those of the last report. */
void tool_notes_take(notes *n);
/* Appends the notes of the second list to the first. */
void tool_notes_append(notes *n, notes *more);
/** One of the command's own. @param words are taken. */
void tool_notes_add(notes *n, int32_t kind, const char *path, char *said);
/* To standard error, many of a kind shortened; nothing if `quiet`. */
void tool_notes_print(const notes *n, bool quiet);
void tool_notes_free(notes *n);
void tool_json_notes(json *j, const char *key, const notes *n);
/* The same as items of an array that is open. */
void tool_json_note_items(json *j, const notes *n);

/* ---------------------------------------------------------------------------------------------------- progress -- */

/* Seconds of a clock that does not go back. */
double tool_now(void);

/* Shows progress on a terminal once the work has taken a second, until tool_progress_end(). */
void tool_progress_begin(rec_context *context, bool quiet);
/* Shows how far work of the command's own is, in bytes. @return true if a signal asks to stop (tool_progress_guard()).
 */
bool tool_progress_step(const char *operation, uint64_t done, uint64_t total);
/* Says how many bytes the work is about, where the library cannot know; 0: unknown. */
void tool_progress_expect(uint64_t bytes);
/* Whether the last thing that was done is reading back what was saved. */
bool tool_progress_checked(void);
/* @return whether a signal has stopped an operation. */
bool tool_progress_stopped(void);
/* @return whether the reader of standard output is gone: the command then ends by SIGPIPE, without a message. */
bool tool_progress_unread(void);
/* The signals that end a command unless they are handled, and that others send. */
enum { TOOL_SIGNALS = 11 };
extern const int tool_signals[TOOL_SIGNALS];
/* Sets what the next of each does, but for those that the caller ignores (nohup). */
void tool_signals_watch(void (*handler)(int));
/* From here to tool_progress_end() one of them lets the library clean up after itself. */
void tool_progress_guard(void);
/* Wipes the line, for what else is to be printed on standard error. */
void tool_progress_wipe(void);
/* Wipes the line. If a signal asked to stop, and the work did, the program ends by that signal. May be called again. */
void tool_progress_end(void);

/* ------------------------------------------------------------------------------------------------------ values -- */

/* The shortest decimal that reads back as the same `dtype` (f64, f32, f16, bf16): "0.1", "65500.0", "1e-8", "NaN",
 * "Infinity". Independent of the locale. @param buffer NUMBER_ROOM bytes. */
const char *tool_float_text(double value, rec_dtype dtype, char *buffer);
/* Element `i` of those that were read as f64, i64, u64 or bool. @param dtype their own. @param buffer NUMBER_ROOM
 * bytes.
 */
const char *tool_element_text(const void *elements, size_t i, rec_dtype read, rec_dtype dtype, char *buffer);
/* A scalar of any kind but string; "null" for nil. */
const char *tool_scalar_text(const rec_scalar *scalar, char *buffer);
void tool_json_scalar(json *j, const char *key, const rec_scalar *scalar);
bool tool_same_scalar(rec_scalar a, rec_scalar b);
/* Adds the name of child `index` of a list, map or variant as it stands in a path. */
void tool_text_child(text *path, const rec_value *parent, uint64_t index);
/* @return a kind as a word: "uint". */
const char *tool_kind_word(int32_t kind);
/* A leaf that is no tensor, whole, as the value of `key`. */
void tool_json_leaf(json *j, const char *key, const rec_value *value);
/* The same for people, not longer than about `limit` columns. */
void tool_leaf_text(text *t, const rec_value *value, size_t limit);

/* ----------------------------------------------------------------------------------------------------- folding -- */

/* A tensor to be listed. `path` and `shape` are borrowed. */
typedef struct entry {
    const char *path;
    const char *dtype;
    const uint64_t *shape;
    uint32_t rank;
    uint64_t count; /* elements */
} entry;

/* Tensors that are listed in one line. */
typedef struct fold {
    char *key;        /* "layers.#.attention.{wq,wo}.weight" */
    size_t first;     /* entry that stands for all of them */
    uint64_t repeats; /* how often the indices repeat it, 1 or more */
    uint64_t names;   /* how many names the braces hold, 1 without braces */
} fold;

/* Between two keys in a path, "conv.weight.\xff.conv1.weight": a byte that no key has, for keys are UTF-8. */
#define FOLD_BETWEEN "\xff"
#define FOLD_NOTHING SIZE_MAX
/* Folds entries that differ in list indices or in one name. Near linear in their number.
 * @param width columns that the listing should not exceed because of braces; 0: no braces; FOLD_NOTHING: a line each.
 * @param two_keys the paths have two keys; `width` is then for both of them.
 * @param count (out) lines. @param lines (out) the line of each entry; NULL: of no interest. @return the lines, in the
 * order of their first entries, to be freed with tool_folds_free(). */
fold *tool_folds_make(const entry *entries, size_t entry_count, size_t width, bool two_keys, size_t *count,
                      size_t *lines);
void tool_folds_free(fold *folds, size_t count);

#endif
