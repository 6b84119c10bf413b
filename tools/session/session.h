/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The session with the library: turns the command line into a context, recorders, types and loaded records. It prints
 * errors only. The session owns context and types until tool_session_close(); callers own recorders and records. The
 * options stay the caller's, and live longer. */
#ifndef RECORD_SESSION_H
#define RECORD_SESSION_H

#include <stdatomic.h>

#include "tools/print/print.h"

/* ----------------------------------------------------------------------------------------------------- options -- */

/* Arguments for reading inputs. With several inputs their position counts. */
enum { READING_FROM, READING_OPTION, READING_LOAD, READING_TYPE };
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

/* An option that a subcommand brings itself, in a table that ends in one without a name. The same name takes an
 * argument in all subcommands or in none. */
typedef struct tool_option {
    const char *name;
    const char *argument; /* NULL: takes none */
    char letter;          /* 0: no short form */
    const char *help;
} tool_option;
typedef struct own_given {
    const char *name;
    const char *value; /* "" without an argument */
    size_t before;     /* operands that were read before it, the subcommand included */
} own_given;

typedef struct options {
    const char *to, *config; /* NULL if not given */
    rec_precision precision; /* REC_PRECISION_KEEP if not given */
    bool precision_given;
    int color;                                          /* COLOR_… */
    const char *type_of, *burn, *base, *max_shard_size; /* NULL if not given */
    uint32_t threads;                                   /* 0: as configured */
    bool json, all, why, clamp, quiet, no_map, no_sandbox, help, version, self_describing, positional, recursive, check,
        keep_names;
    bool debug, strict; /* also among the readings */
    words type, types;
    words to_options, metadata; /* NAME=VALUE */
    readings readings;
    words operands; /* the first one is the subcommand */
    struct {
        own_given *at;
        size_t count;
    } own;
    uint64_t given; /* a bit for each option that was given, in the order of the table */
} options;

/* @return the last value of one of the subcommand's own options; NULL if it was not given. */
const char *tool_own(const options *o, const char *name);
/* The values of a repeatable option. @param at 0 to begin. @return the next, NULL after the last. */
const char *tool_own_next(const options *o, const char *name, size_t *at);
/* Parses a numeric option, `least` or more; `value` is unchanged if the option is absent. Errors are printed. */
int tool_own_number(const options *o, const char *name, double least, double *value);

/* ----------------------------------------------------------------------------------------------------- session -- */

/* The processes that run the command together: one (tool_alone), or several (record-mpi). */
typedef struct tool_shared {
    void *self;
    bool first;           /* this is the process that asks and prints */
    bool writes;          /* this process measures an output that is not written (--dry-run) */
    bool files;           /* each of many files is for one process */
    uint32_t rank, ranks; /* which of how many this is */
    /* @return what the first process answers; -1: one of them failed, which all know. */
    int (*agree)(void *self, int answer);
    /* Whether OUT is a folder that each input goes into. */
    bool (*into_folder)(void *self, const char *out);
    /* Saves to a file. @param n gets notes. @param checked (out) it was read back. @return EXIT_OK, also if it could
     * not be synced, which is printed; EXIT_ERROR, printed or known to all. */
    int (*save)(void *self, rec_recorder *to, const rec_record *record, const char *out, notes *n, bool *checked);
    /* Whether all processes have the same outcome. @param path a file that must be the same for all, or NULL. @param
     * outcome of this process. @param said its error message, or NULL. @return false: they differ, which is known to
     * all and printed; stop. */
    bool (*together)(void *self, const char *path, uint64_t outcome, const char *said);
    /* Makes an array whole of which each process has made a part: that of process i ends at byte ends[i], the first
     * begins at 0.
     * @return false as above. */
    bool (*exchange)(void *self, void *all, const uint64_t *ends);
} tool_shared;
/* One process. */
extern const tool_shared tool_alone;

typedef struct session {
    const options *o;
    rec_context *context;
    size_t inputs;      /* how many the operands begin with */
    rec_types *types;   /* made when a type is needed */
    char *type;         /* the expression that the options ask for, once tool_session_type() was called; NULL: none */
    bool decoded;       /* decode quantised tensors, also in views that usually show the stored form */
    bool typed_by_file; /* `type` is set before each file is converted, from --type GLOB=TYPE */
    const tool_shared *shared;    /* never NULL */
    struct measured_ahead *ahead; /* of several processes: what they measured together (measure.h), or NULL */
    const atomic_bool *stop;      /* once it is set, measuring gives up; NULL: it never does */
} session;

/* Opens the context that the options ask for. Errors are printed. */
int tool_session_open(session *s, const options *o);
void tool_session_close(session *s);
/* For what reads each tensor once: what has to be inflated or parsed goes to a temporary file once it is large. */
void tool_session_streams(session *s);
/* Opens the recorder of input `index`, from 1, with its options, load arguments and type. @return NULL: the error is
 * printed. */
rec_recorder *tool_session_input(session *s, size_t index);
/* The same without the type and load arguments: a foreign file is not adapted. */
rec_recorder *tool_session_raw(session *s, size_t index);
/* The same as tool_session_input() for a look at what is in the file: unless a load argument, a type or a recorder of
 * the configuration is given, a foreign file is not adapted. */
rec_recorder *tool_session_look(session *s, size_t index);
/* Sets an option of a recorder. @param value NULL: leaves it. Errors are printed. */
int tool_session_set(rec_recorder *recorder, const char *option, const char *value);
/* @return a recorder that is as it was asked for; closes it else. */
rec_recorder *tool_session_keep(rec_recorder *recorder, bool good);
/* A recorder with options alone, without load arguments and without the type. @param name NULL: --from or Auto. */
rec_recorder *tool_session_reader(session *s, size_t index, const char *name);
/* @return the recorder that --from gives to input `index`, NULL if none. */
const char *tool_session_from(const session *s, size_t index);
/* @return the first option of that kind (READING_…) that was given, NULL if none. */
const char *tool_given_reading(const options *o, int kind);
/* @return whether a recorder's name is one that the configuration made, with load arguments perhaps. */
bool tool_is_configured(const session *s, const char *name);
/* @return whether the files of a recorder (by its own name) hold modules as another framework lays them out. */
bool tool_is_foreign(const session *s, const char *recorder);
/* Whether an option of the input is given, by whatever option of the command. */
bool tool_is_given(const session *s, const char *key);
/* @return the recorder that --to names, or that --burn implies: a version without recorders loads one format alone.
 * NULL: neither. */
const char *tool_session_to(const session *s);
/* Opens the recorder of the output, with its options. */
rec_recorder *tool_session_output(session *s, const char *name);
/* The recorder that is to write a record, on which it depends: one at half precision is written at full where a model
 * takes the element types of its file, unless the user said at which. Takes `to`, which tool_session_output() gave for
 * `name`.
 * @return NULL with the error printed. */
rec_recorder *tool_session_widen(session *s, rec_recorder *to, const char *name, const rec_record *record, notes *n);
/* Copies standard input to a temporary file, unless it is a file: so that it can be read more than once, from offset 0.
 */
int tool_session_keep_input(void);
/* Loads a file, or standard input for "-". Notes are not printed yet. @return NULL with the error printed. */
rec_record *tool_session_load(rec_recorder *recorder, const char *path);
/* The same; for a file without names the message explains how to give the type. */
rec_record *tool_session_load_typed(session *s, rec_recorder *recorder, const char *path);
/* The same, with progress, for commands that look at a file. @param recorder is closed; NULL: that failed already.
 * @param by_position not NULL: a file without names and without a type is read by position instead, and (out) whether
 * it was; without parameters it becomes a record of metadata alone. */
rec_record *tool_session_read(session *s, rec_recorder *recorder, const char *path, bool *by_position);
/* Whether a path is a directory, or names one by a slash at its end. */
bool tool_is_folder(const char *path);
/* @return the file's name as people should see it: "standard input" for "-". */
const char *tool_input_name(const char *path);

/* Finds the type that --type, --types and --type-of ask for (type.c): s->types and s->type. Called by
 * tool_session_input() and tool_session_output(). */
int tool_session_type(session *s);
/* Gives a recorder the session's type, if there is one. */
int tool_session_set_type(session *s, rec_recorder *recorder);
/* Gives a recorder the type that a record shows, if it shows one. */
int tool_session_set_shown_type(session *s, const rec_record *record, rec_recorder *recorder);
/* Reads `EXPRESSION` or `FILE.rs:EXPRESSION`; the file is added to s->types. @return the expression, NULL with the
 * error printed. */
const char *tool_session_add_type(session *s, const char *type);
/* @return the usable plugin of that name (its main name), or NULL. @param name may be NULL. */
const rec_plugin_info *tool_session_plugin(const session *s, const char *name);
/* Tells the type of a record as Rust source, to be freed with rec_free(). */
int tool_session_describe(session *s, const rec_record *record, char **source);
/* @return whether a recorder's files have no names. */
bool tool_needs_type(const session *s, const char *recorder);
/* After a load that failed: whether the type is not known. Then @param recorder (out) whose file it is. */
bool tool_lacks_type(const session *s, const char *path, const char **recorder);
/* Prints what a file without names needs to be read. @return EXIT_ERROR. */
int tool_fail_no_type(session *s, const char *path, const char *recorder);

/* An output that keeps nothing, and adds the bytes to the uint64_t that is its `user`. */
rec_output tool_nowhere(const char *name);

#endif
