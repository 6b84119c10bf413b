/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The subcommands, and what they share: the options they know, plans, conversions, what is in a record, slices. */
#ifndef RECORD_TOOL_H
#define RECORD_TOOL_H

#include "tools/session/session.h"

/* ------------------------------------------------------------------------------------------------------- options -- */

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

/* Reads the command line. Options may stand before and after operands; `--` ends them. Mistakes are printed.
 * @return EXIT_OK or EXIT_ERROR. The words are to be given back with tool_options_free(), in either case. */
int tool_options_parse(options *o, int argc, char **argv);
void tool_options_free(options *o);
/* Checks that the options given belong to a subcommand. */
int tool_options_check(const options *o, int command, const char *name);
/* Prints the options of a subcommand (0: all there are), one a line. */
void tool_options_help(int command, FILE *out);
/* @return the word nearest to a mistyped one, NULL if none is near. `names` ends in NULL. */
const char *tool_nearest(const char *typed, const char *const *names);

/* --------------------------------------------------------------------------------------------------- subcommands -- */

int tool_run_info(session *s, const char *const *operands, size_t count);
int tool_run_ls(session *s, const char *const *operands, size_t count);
int tool_run_show(session *s, const char *const *operands, size_t count);
int tool_run_convert(session *s, const char *const *operands, size_t count);
int tool_run_types(session *s, const char *const *operands, size_t count);
int tool_run_plugins(session *s, const char *const *operands, size_t count);
int tool_run_plan(session *s, const char *const *operands, size_t count);
int tool_run_profiles(session *s, const char *const *operands, size_t count);

/* Prints the parameters of a record that was read by position, and what it is. */
void tool_print_positions(const rec_record *record, const char *path);

/* --------------------------------------------------------------------------------------------------- conversions -- */

/* One conversion: what is said about it when it is done (convert_one.c). */
typedef struct conversion {
    char *out; /* the file that was written */
    uint64_t tensors, written;
    bool checked; /* it was read back */
} conversion;
/* @return the size of a regular file, or REC_UNKNOWN. */
uint64_t tool_size_of_file(const char *path);
/* @return the name of the index if a file was written in several parts, to be freed; NULL if it was not. An index that
 * is older than the file is of another model. */
char *tool_index_beside(const char *path);
/** Notes that a file was written whole where the index of an older set of files stands beside it. */
void tool_note_old_index(const char *path, notes *n);
/* Sets what --metadata asks for. */
int tool_set_metadata(const session *s, rec_record *record);
/* Sets the type that a record with names shows on a recorder that writes for another version of Burn: what that version
 * has more, less or in another order goes by the types of the modules. Assumptions about the rest change nothing in a
 * file that has names. Without one the record is written as it is. */
int tool_set_shown_type(session *s, const rec_record *record, rec_recorder *to);
/* Converts the record at `in` to `out` with the recorder `to`. @param expression its type, NULL: none.
 * @param foreign whether Burn did not write it, so that load arguments are for it.
 * @return EXIT_OK; EXIT_ERROR with the error in rec_error_message(), not printed. */
int tool_convert_one(session *s, const char *in, const char *to, const char *out, const char *expression, bool foreign,
                     conversion *c, notes *n);
/* All records of a folder (recursive.c). */
int tool_run_recursive(session *s, const char *in, const char *out);

/* -------------------------------------------------------------------------------------------------------- plans -- */

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
/* Makes the plan that the options ask for, and the record if it can. @param p zeroed but for `stream`. @param to NULL:
 * for a record in memory. To be given back with tool_plan_free(), in either case.
 * @return EXIT_OK, or EXIT_ERROR with the error printed. */
int tool_plan_make(session *s, const char *const *inputs, size_t count, const rec_recorder *to, planned *p);
void tool_plan_free(planned *p);
/* Lists fatal problems on standard error. @return EXIT_OK if there are none. */
int tool_plan_refuse(const planned *p);
/* Tells what was noted and the first problems that are none, on standard error; nothing if --quiet. */
void tool_plan_notes(const session *s, const planned *p);
/* Tells what of the base an input replaced and what was kept, in two lines that begin with `indent`; nothing without one. */
void tool_plan_base(const planned *p, const char *indent, FILE *out);
/* @return whether nothing happens to anything. */
bool tool_plan_is_plain(const planned *p);
/* Adds "122 tensors: 102 mapped, 20 dropped; 0 unexpected, 0 missing". */
void tool_plan_sum(const planned *p, text *t);
/* Adds what is done to tensors and why, the most frequent first; nothing if nothing is. */
void tool_plan_operations(const planned *p, text *t);
void tool_json_totals(json *j, const char *key, const rec_plan_totals *totals);
void tool_json_problems(json *j, const char *key, const planned *p);
/* Prints the keys as Burn's import does. */
void tool_plan_debug(const planned *p, FILE *out);
/* Prints the table (plan_table.c). @return whether lines were folded. */
bool tool_print_plan(const planned *p, bool all);
/* @return REC_PLAN_… as a word. */
const char *tool_action_word(int32_t action);

/* ------------------------------------------------------------------------------------------------------- records -- */

/* What is in a record, added up. */
typedef struct summary {
    uint64_t tensors, elements, nbytes, values, nils, assumed;
    uint64_t ids, id_shortest, id_longest; /* tensors that have one, its characters */
    uint64_t dtypes[32];                   /* tensors by rec_dtype; unknown ones at REC_DTYPE_NONE */
    const rec_tensor *largest;             /* NULL without tensors */
    text largest_path;
} summary;
/* Adds up. @return EXIT_OK, or EXIT_ERROR with the error printed. To be given back with tool_summary_free(). */
int tool_summarise(const rec_record *record, summary *s);
void tool_summary_free(summary *s);
/* @return the version of Burn that wrote a record, borrowed; NULL if that is not known, or it was another program. */
const char *tool_burn_version(const rec_record *record);
/* @return the precision that the metadata speaks of: "half", "full", "double"; NULL if it is none of them. */
const char *tool_precision_word(const rec_record *record);
/* @return the element type in the metadata `float` or `int` without its Rust path: "f16"; NULL if it is not there. */
const char *tool_element_word(const rec_record *record, const char *key);

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
size_t tool_slice_find(const char *operand);
/* Reads `[…]`. Mistakes are printed. */
int tool_slice_parse(slice *s, const char *string);
/* Applies a slice to a shape. Indices out of range are printed as errors of `key`; ranges are clamped. */
int tool_slice_apply(const slice *s, const char *key, const uint64_t *shape, uint32_t rank, window *w);

#endif
