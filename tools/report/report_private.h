/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What the files of `record report` share: which records there are, what is in them, the parts of the page. */
#ifndef RECORD_REPORT_PRIVATE_H
#define RECORD_REPORT_PRIVATE_H

#include "tools/embed/embed.h"
#include "tools/measure/measure.h"
#include "tools/report/report.h"

/* ------------------------------------------------------------------------------------------------------ inputs -- */

/* A file of the report, in the order of the page. */
typedef struct input {
    char *path;
    char *name;     /* as short as it can be while unique */
    size_t operand; /* from which it came, from 1 */
    bool found;     /* in a folder, not named itself */
    bool numbered;  /* `step` is the one number in which the names differ */
    uint64_t step;
} input;
typedef struct inputs {
    input *at;
    size_t count;
} inputs;

/* Finds the records that the operands stand for: folders give theirs in the order of their numbers. Errors are printed.
 * To be given back with tool_report_inputs_free(), in either case. */
int tool_report_inputs(session *s, const char *const *operands, size_t count, inputs *list, notes *n);
void tool_report_inputs_free(inputs *list);

/* -------------------------------------------------------------------------------------------------- what is in -- */

/* How a tensor changed between the first record and the last. */
enum { STATE_SAME, STATE_CHANGED, STATE_ROUNDED, STATE_DTYPE, STATE_SHAPE, STATE_RENAMED, STATE_ADDED, STATE_REMOVED };

/* The form of a tensor in one record. */
typedef struct form {
    char *dtype;
    uint64_t *shape;
    uint32_t rank;
    uint64_t count, nbytes;
} form;

/* One figure of each record. */
typedef struct figure {
    double norm, change, mean, std;
} figure;

/* A tensor of any of the records. */
typedef struct row {
    char *key, *id, *was;   /* `was`: its name in the first record, if that was another one */
    form before, now;       /* in the first record and in the last that has it; `before.dtype` NULL: not in the first */
    measured *first, *last; /* NULL: not there, or no numbers */
    int state;
    diff_found change;
    figure *figures; /* one each record; NULL unless there are more than two */
    /* While records are open. */
    const rec_tensor *old, *previous, *current;
} row;

/* A value that is no tensor. */
typedef struct other {
    char *key, *kind, *first, *last; /* NULL: not there */
} other;

/* Facts about a whole record. */
typedef struct record_facts {
    char *recorder, *writer, *precision;               /* NULL: not known */
    uint64_t stored;                                   /* REC_UNKNOWN: not known */
    uint64_t tensors, parameters, nbytes, values, odd; /* `odd`: values that are NaN or infinite */
    double norm, change;
    struct pair {
        char *key, *value;
    } *metadata;
    size_t metadata_count;
} record_facts;

typedef struct gathered {
    const inputs *inputs;
    size_t room;           /* records that figures have room for */
    record_facts *records; /* one each input */
    row **rows;
    size_t row_count;
    void *known; /* the rows by their keys, while records are read */
    other *others;
    size_t other_count, others_left; /* `others_left` are counted only */
} gathered;

/* Loads and measures each record; the first stays open to the end, each other one until the next was measured. An
 * unreadable file of a directory is reported and removed from the list. Errors are printed. Freed with
 * tool_report_gathered_free(), also after a failure. */
int tool_report_gather(session *s, inputs *list, gathered *g, notes *n);
void tool_report_gathered_free(gathered *g);

/* ---------------------------------------------------------------------------------------------------- the page -- */

/* Lines of a file that is part of the page, as the build made them; the last is NULL. */
extern const char *const tool_report_css[];
extern const char *const tool_report_html[];
extern const char *const tool_report_script[];

/* Writes the whole page. @return EXIT_OK, or EXIT_ERROR with the error printed. */
int tool_report_page(const gathered *g, FILE *out);

#endif
