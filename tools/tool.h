/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What the files of the command share: options, the session with the library, output. */
#ifndef RECORD_TOOL_H
#define RECORD_TOOL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define REC_NO_SHORT_NAMES
#include <librecord.h>

/* Exit status. EXIT_DIFFERS is for what compares: a difference, a check that failed. */
enum { EXIT_OK = 0, EXIT_DIFFERS = 1, EXIT_ERROR = 2 };

/* ------------------------------------------------------------------------------------------------------ options -- */

/* The subcommands, as bits of a set. */
enum {
    COMMAND_INFO = 1,
    COMMAND_LS = 2,
    COMMAND_SHOW = 4,
    COMMAND_CONVERT = 8,
    COMMAND_PLUGINS = 16,
    COMMAND_HELP = 32,
    COMMAND_TYPES = 64,
    COMMAND_EMBED = 128,
    COMMAND_PLAN = 256,
    COMMAND_PROFILES = 512,
    COMMAND_ALL = 1023
};

/* A list of strings that are borrowed from argv. */
typedef struct words {
    const char **at;
    size_t count;
} words;

/* What is said about reading an input. With several inputs it matters where it stands. */
enum { READING_FROM, READING_OPTION, READING_LOAD };
typedef struct reading {
    int kind;
    const char *key, *value; /* key NULL: the value is KEY=VALUE */
    const char *option;      /* its word on the command line */
    size_t before;           /* operands that were read before it, the subcommand included */
} reading;
typedef struct readings {
    reading *at;
    size_t count;
} readings;

/* What `record embed` alone is asked for; NULL if not given. */
typedef struct embed_wishes {
    const char *output, *name, *as;
    bool structs;
    const char *given; /* one of these options that was given */
} embed_wishes;

typedef struct options {
    const char *to, *config;                            /* NULL if not given */
    rec_precision precision;                            /* REC_PRECISION_KEEP if not given */
    int color;                                          /* COLOR_… */
    const char *type_of, *burn, *base, *max_shard_size; /* NULL if not given */
    bool json, all, why, clamp, quiet, no_map, help, version, self_describing, positional, recursive, check;
    bool debug, strict; /* also among the readings */
    words type, types;
    words to_options, metadata; /* NAME=VALUE */
    readings readings;
    words operands;     /* the first one is the subcommand */
    embed_wishes embed; /* set by main() */
    uint64_t given;     /* a bit for each option that was given, in the order of the table */
} options;

enum { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

/* Reads the command line. Options may stand before and after operands; `--` ends them. Mistakes are printed.
 * @return EXIT_OK or EXIT_ERROR. The words are to be given back with options_free(), in either case. */
int options_parse(options *o, int argc, char **argv);
void options_free(options *o);
/* Takes those of `record embed` out of the command line, if it has that word; the rest is for options_parse(). */
int embed_options(embed_wishes *e, int *argc, char **argv);
extern const char embed_options_help[];
/* Checks that the options given belong to a subcommand. */
int options_check(const options *o, int command, const char *name);
/* Prints the options of a subcommand (0: all there are), one a line. */
void options_help(int command, FILE *out);
/* @return the word nearest to a mistyped one, NULL if none is near. `names` ends in NULL. */
const char *nearest(const char *typed, const char *const *names);

/* -------------------------------------------------------------------------------------------------- subcommands -- */

typedef struct session {
    const options *o;
    rec_context *context;
    size_t inputs;     /* how many the operands begin with */
    uint64_t expected; /* bytes that a save will be about, where the library cannot know; 0: unknown */
    rec_types *types;  /* made when a type is needed */
    char *type;        /* the expression that the options ask for, once session_type() was called; NULL: none */
} session;

int run_info(session *s, const char *const *operands, size_t count);
int run_ls(session *s, const char *const *operands, size_t count);
int run_show(session *s, const char *const *operands, size_t count);
int run_convert(session *s, const char *const *operands, size_t count);
int run_embed(session *s, const char *const *operands, size_t count);
int run_types(session *s, const char *const *operands, size_t count);
int run_plugins(session *s, const char *const *operands, size_t count);
int run_plan(session *s, const char *const *operands, size_t count);
int run_profiles(session *s, const char *const *operands, size_t count);

/* ------------------------------------------------------------------------------------------------------ session -- */

/* Opens the context that the options ask for. Errors are printed. */
int session_open(session *s, const options *o);
void session_close(session *s);
/* Opens the recorder of the input, with its options, load arguments and the type. @return NULL with the error printed. */
rec_recorder *session_input(session *s);
/* The same for input `index` of several, from 1. */
rec_recorder *session_input_at(session *s, size_t index);
/* The same without the type and load arguments: a foreign file is not adapted. */
rec_recorder *session_raw(session *s, size_t index);
/* The same as session_input() for a look at what is in the file: unless a load argument, a type or a recorder of the
 * configuration is given, a foreign file is not adapted. */
rec_recorder *session_look(session *s);
/* A recorder with options alone, without load arguments and without the type. @param name NULL: --from or Auto. */
rec_recorder *session_reader(session *s, const char *name);
/* @return the recorder that --from gives to input `index`, NULL if none. */
const char *session_from(const session *s, size_t index);
/* @return the first option of that kind (READING_…) that was given, NULL if none. */
const char *given_reading(const options *o, int kind);
/* @return whether a recorder's name is one that the configuration made, with load arguments perhaps. */
bool is_configured(const session *s, const char *name);
/* @return whether the files of a recorder (by its own name) hold modules as another framework lays them out. */
bool is_foreign(const session *s, const char *recorder);
/* @return whether the type goes to the recorder (by its own name) that writes: not to the names of another framework, and
 * not where fields may be missing and names say which. */
bool writes_type(const session *s, const char *recorder);
/* Opens the recorder of the output, with its options. */
rec_recorder *session_output(session *s, const char *name);
/* Loads a file, or standard input for "-". Notes are not printed yet. @return NULL with the error printed. */
rec_record *session_load(rec_recorder *recorder, const char *path);
/* The same; for a file without names it is said how to give the type. */
rec_record *session_load_typed(session *s, rec_recorder *recorder, const char *path);
/* The same; a file that has no names and whose type was not given is read by position instead.
 * @param by_position (out) whether it was. */
rec_record *session_load_any(session *s, rec_recorder *recorder, const char *path, bool *by_position);
/* @return the file's name as people should see it: "standard input" for "-". */
const char *input_name(const char *path);

/* Finds the type that --type, --types and --type-of ask for (types.c): s->types and s->type. Called by
 * session_input() and session_output(). */
int session_type(session *s);
/* Gives a recorder the session's type, if there is one. */
int session_set_type(session *s, rec_recorder *recorder);
/* Gives a recorder the type that a record shows, if it shows one. */
int session_set_shown_type(session *s, const rec_record *record, rec_recorder *recorder);
/* Reads `EXPRESSION` or `FILE.rs:EXPRESSION`; the file is added to s->types. @return the expression, NULL with the error
 * printed. */
const char *session_add_type(session *s, const char *type);
/* @return whether a recorder's files have no names. */
bool needs_type(const session *s, const char *recorder);
/* After a load that failed: whether it did because the type is not known. Then @param recorder (out) whose file it is. */
bool lacks_type(const session *s, const char *path, const char **recorder);
/* Prints what a file without names needs to be read. @return EXIT_ERROR. */
int fail_no_type(session *s, const char *path, const char *recorder);
/* Prints the parameters of a record that was read by position, and what it is. */
void print_positions(const rec_record *record, const char *path);

/* Prints the library's last error. @return EXIT_ERROR. */
int fail_library(void);
/* Prints an error of the command itself; further lines of the text are hints. @return EXIT_ERROR. */
int fail(const char *format, ...) REC_PRINTF(1, 2);
/* As fail(), with the hint that names the help of a subcommand. */
int fail_usage(const char *command, const char *format, ...) REC_PRINTF(2, 3);

/* Shows progress on a terminal once the work has taken a second, until progress_end(). */
void progress_begin(session *s);
/* From here to progress_end() an interrupt lets the library clean up after itself. */
void progress_guard(void);
/* Wipes the line. If a signal asked to stop, and the work did, the program ends by that signal. May be called again. */
void progress_end(session *s);

/* Notes of the thread's last report, copied: the report itself dies with the next operation. */
typedef struct notes {
    struct note {
        int32_t kind;
        uint64_t count;
        char *path, *text;
    } * at;
    size_t kept;
    uint64_t made; /* all of them; those beyond `kept` are only counted */
} notes;
void notes_take(notes *n);
/* Moves the notes of the second behind those of the first. */
void notes_append(notes *n, notes *more);
/* To standard error, many of a kind shortened; nothing if --quiet. */
void notes_print(const notes *n, const session *s);
/* @return REC_NOTE_… as a word: "assumed". */
const char *note_word(int32_t kind);
void notes_free(notes *n);

/* One conversion: what is said about it when it is done (convert.c). */
typedef struct conversion {
    char *out; /* the file that was written */
    uint64_t tensors, written;
} conversion;
/* Converts the record at `in` to `out` with the recorder `to`. @param expression its type, NULL: none.
 * @param foreign whether Burn did not write it, so that load arguments are for it.
 * @return EXIT_OK; EXIT_ERROR with the error in rec_error_message(), not printed. */
int convert_one(session *s, const char *in, const char *to, const char *out, const char *expression, bool foreign,
                conversion *c, notes *n);
/* All records of a folder (recursive.c). */
int run_recursive(session *s, const char *in, const char *out);

/* -------------------------------------------------------------------------------------------------------- plans -- */

typedef struct text text;
typedef struct json json;

/* A plan of one or several inputs, with all that must live as long as it. */
typedef struct planned {
    rec_plan *plan;
    rec_plan_totals totals;
    rec_recorder **readers; /* one an input */
    size_t count;
    rec_record *stream; /* what standard input held, if it is an input; may be set before */
    rec_record *base;
    bool made;
    rec_record *record; /* what it makes; NULL if it has fatal problems */
    notes notes, debug; /* of making it; `debug` are the REC_NOTE_KEY */
} planned;
/* Makes the plan that the options ask for, and the record if it can. @param p zeroed but for `stream`. @param to NULL: for a record in memory. To be given back with plan_free(), in
 * either case. @return EXIT_OK, or EXIT_ERROR with the error printed. */
int plan_make(session *s, const char *const *inputs, size_t count, const rec_recorder *to, planned *p);
void plan_free(planned *p);
/* Lists fatal problems on standard error. @return EXIT_OK if there are none. */
int plan_refuse(const planned *p);
/* Tells what was noted and the first problems that are none, on standard error; nothing if --quiet. */
void plan_notes(const session *s, const planned *p);
/* @return whether nothing happens to anything. */
bool plan_is_plain(const planned *p);
/* Adds "122 tensors: 102 mapped, 20 dropped; 0 unexpected, 0 missing". */
void plan_sum(const planned *p, text *t);
/* Adds what is done to tensors and why, the most frequent first; nothing if nothing is. */
void plan_operations(const planned *p, text *t);
/* Prints the keys as Burn's import does. */
void plan_debug(const planned *p, FILE *out);
/* Prints the table (plan_table.c). @return whether lines were folded. */
bool print_plan(const planned *p, bool all);
/* @return REC_PLAN_… as a word. */
const char *action_word(int32_t action);

/* ------------------------------------------------------------------------------------------------------- memory -- */

/* As malloc, realloc, strdup, printf; out of memory the command ends with a message. */
void *take(size_t size);
void *retake(void *old, size_t size);
char *copy(const char *text);
char *print(const char *format, ...) REC_PRINTF(1, 2);

/* A text that grows. Zero it to begin. */
struct text {
    char *at; /* NUL-terminated once anything was added, else NULL */
    size_t length, room;
};
void text_add(text *t, const char *bytes, size_t length);
void text_put(text *t, const char *string);
void text_format(text *t, const char *format, ...) REC_PRINTF(2, 3);
void text_free(text *t);

/* ------------------------------------------------------------------------------------------------------- output -- */

/* Sets colours up. */
void output_setup(const options *o);
/* Checks that all of standard output was written. @return EXIT_OK, or EXIT_ERROR with the error printed. */
int output_finish(void);
/* @return columns of the terminal that standard output is; 80 if it is none. */
size_t output_width(void);
/* @return true if standard output is a terminal. */
bool output_is_terminal(void);

/* Escape sequences, "" without colours. */
enum { STYLE_PLAIN, STYLE_BOLD, STYLE_DIM, STYLE_ERROR, STYLE_NOTE };
const char *style(int which);       /* for standard output */
const char *style_error(int which); /* for standard error */

enum { NUMBER_ROOM = 48 };
/* "1,199,882" */
const char *grouped(uint64_t number, char *buffer);
/* "525 M", "4,096": exact up to a million, three digits above. */
const char *counted(uint64_t number, char *buffer);
/* "4.58 MiB", "512 bytes" */
const char *sized(uint64_t bytes, char *buffer);
/* @return "s" unless it is one. */
const char *plural(uint64_t number);
/* Reads one character. @param code (out) its number. @return its bytes, 0 if they are no UTF-8. */
size_t utf8_next(const char *bytes, size_t length, uint32_t *code);
/* @return columns that UTF-8 text takes. */
size_t text_width(const char *string);
/* Adds text so that it is safe to print: control characters and broken UTF-8 as \xNN. */
void text_safe(text *t, const char *bytes, size_t length);
/* Adds what fits in `width` columns, the middle or the end replaced by an ellipsis. In keys the end tells more than
 * the middle: layers.0.…tion.weight. */
void text_shortened(text *t, const char *string, size_t width, bool middle);
/* Adds a shape, "[64, 3]". */
void text_shape(text *t, const uint64_t *shape, uint32_t rank);

/* Rows of aligned columns. */
typedef struct table {
    size_t columns;
    const char *align; /* a letter a column: l or r */
    text cells;        /* NUL-terminated, one after another */
    size_t cell_count;
    size_t shrink;     /* the column that is shortened to fit a terminal; columns or more: none */
    size_t shrink_too; /* another one; the wider of them goes first */
    bool header;       /* the first row is one */
} table;
void table_begin(table *t, const char *align);
void table_cell(table *t, const char *string);
/* Prints it without the columns that are empty but for their header, and frees it. */
void table_print(table *t, FILE *out);
/* @return columns that it takes if nothing is shortened. */
size_t table_width(const table *t);
/* Frees it unprinted. */
void table_drop(table *t);

/* JSON. Containers are broken into lines down to `depth`; what is below stays on one line. */
struct json {
    FILE *out;
    unsigned level, depth;
    bool first; /* nothing in the innermost container yet */
    bool keyed; /* a key was written: its value follows */
};
void json_begin(json *j, FILE *out, unsigned depth);
void json_object(json *j, const char *key); /* key NULL: an item of an array or the value of json_key() */
void json_array(json *j, const char *key);
void json_close(json *j, char bracket);
/* Ends the line after the outermost value. */
void json_end(json *j);
void json_key(json *j, const char *bytes, size_t length);
void json_text(json *j, const char *key, const char *bytes, size_t length);
void json_string(json *j, const char *key, const char *string); /* NULL: null */
void json_uint(json *j, const char *key, uint64_t number);
void json_int(json *j, const char *key, int64_t number);
/* A token that is JSON already: "true", "1.5". */
void json_token(json *j, const char *key, const char *token);
void json_bool(json *j, const char *key, bool value);
/* Bytes in base64. */
void json_bytes(json *j, const char *key, const void *bytes, uint64_t size);
void json_shape(json *j, const char *key, const uint64_t *shape, uint32_t rank);
void json_notes(json *j, const char *key, const notes *n);
/* The same as items of an array that is open. */
void json_note_items(json *j, const notes *n);
void json_totals(json *j, const char *key, const rec_plan_totals *totals);
void json_problems(json *j, const char *key, const planned *p);
/* A float as a number, or as the string NaN, Infinity or -Infinity. */
void json_float(json *j, const char *key, double value, rec_dtype dtype);

/* ------------------------------------------------------------------------------------------------------- values -- */

/* The shortest decimal that reads back as the same `dtype` (f64, f32, f16, bf16): "0.1", "65500.0", "1e-8", "NaN",
 * "Infinity". Independent of the locale. @param buffer NUMBER_ROOM bytes. */
const char *float_text(double value, rec_dtype dtype, char *buffer);
/* A scalar of any kind but string; "null" for nil. */
const char *scalar_text(const rec_scalar *scalar, char *buffer);
void json_scalar(json *j, const char *key, const rec_scalar *scalar);
/* @return a kind as a word: "uint". */
const char *kind_word(int32_t kind);
/* A leaf that is no tensor, whole, as the value of `key`. */
void json_leaf(json *j, const char *key, const rec_value *value);
/* The same for people, not longer than about `limit` columns. */
void leaf_text(text *t, const rec_value *value, size_t limit);

/* What is in a record, added up. */
typedef struct summary {
    uint64_t tensors, elements, nbytes, values, nils, assumed;
    uint64_t ids, id_shortest, id_longest; /* tensors that have one, its characters */
    uint64_t dtypes[32];                   /* tensors by rec_dtype; unknown ones at REC_DTYPE_NONE */
    const rec_tensor *largest;             /* NULL without tensors */
    text largest_path;
} summary;
/* Adds up. @return EXIT_OK, or EXIT_ERROR with the error printed. To be given back with summary_free(). */
int summarise(const rec_record *record, summary *s);
void summary_free(summary *s);
/* @return the precision that the metadata speaks of: "half", "full", "double"; NULL if it is none of them. */
const char *precision_word(const rec_record *record);
/* @return the element type in the metadata `float` or `int` without its Rust path: "f16"; NULL if it is not there. */
const char *element_word(const rec_record *record, const char *key);

/* ------------------------------------------------------------------------------------------------------- slices -- */

/* `[0, 1:3, ::2, -1]` of numpy. A part is either an index (its dimension goes) or a range. */
typedef struct slice_part {
    bool range;
    bool has_start, has_stop;
    int64_t start, stop; /* an index is in start */
    int64_t step;        /* of a range, 1 or more */
} slice_part;
enum { SLICE_PARTS = 32 };
typedef struct slice {
    slice_part parts[SLICE_PARTS];
    size_t count;
} slice;

/* One dimension of what a slice leaves. */
typedef struct window_dim {
    uint64_t count;
    uint64_t stride; /* elements from one to the next */
} window_dim;
typedef struct window {
    uint64_t first; /* element of the whole */
    uint32_t rank;
    window_dim dims[SLICE_PARTS];
} window;

/* Finds where a slice begins in `KEY[…]`. @return the length of the key, strlen(operand) without a slice. */
size_t slice_find(const char *operand);
/* Reads `[…]`. Mistakes are printed. */
int slice_parse(slice *s, const char *string);
/* Applies a slice to a shape. Indices out of range are printed as errors of `key`; ranges are clamped. */
int slice_apply(const slice *s, const char *key, const uint64_t *shape, uint32_t rank, window *w);

/* ------------------------------------------------------------------------------------------------------ folding -- */

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

/* Between two keys in a path: "conv.weight.\x1f.conv1.weight". */
#define FOLD_BETWEEN "\x1f"
/* Folds entries that differ in list indices or in one name. Near linear in their number.
 * @param width columns that the listing should not exceed because of braces.
 * @param two_keys the paths have two keys; `width` is then for both of them.
 * @param count (out) lines. @return them, in the order of their first entries, to be freed with folds_free(). */
fold *folds_make(const entry *entries, size_t entry_count, size_t width, bool two_keys, size_t *count);
void folds_free(fold *folds, size_t count);

#endif
