/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Plans: made from the inputs of the command line, told as a table, summed up, their problems with what to do; record
 * plan. It reads no data and writes no file. A plan owns the recorders and records that it was made of. */
#ifndef RECORD_PLAN_H
#define RECORD_PLAN_H

#include "tools/look/look.h"

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
/* Makes the plan from the options, and the record if possible. @param p zeroed except for `stream`. @param to NULL: for
 * a record in memory. Freed with tool_plan_free(), also after a failure. @return EXIT_OK, or EXIT_ERROR with the error
 * printed. */
int tool_plan_make(session *s, const char *const *inputs, size_t count, const rec_recorder *to, planned *p);
void tool_plan_free(planned *p);
/* Prints fatal problems on standard error, if there are any. */
void tool_plan_refuse(const planned *p);
enum { TOOL_PROBLEMS_SHOWN = 20, TOOL_PROBLEM_NOTES_SHOWN = 5 };
/* Prints the problems of one sort, folded. @param most lines; what is beyond is only counted. UINT64_MAX: all of them,
 * not folded. @param lead what each begins with. @param last what the line begins with that counts the rest. */
void tool_problems_print(const planned *p, bool fatal, uint64_t most, const char *lead, const char *last, FILE *out);
/* Prints notes and the first non-fatal problems on standard error, unless --quiet. */
void tool_plan_notes(const session *s, const planned *p);
/* Tells what of the base an input replaced and what was kept, in two lines that begin with `indent`; nothing without
 * one. */
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
/* Prints the table. @return whether lines were folded. */
bool tool_print_plan(const planned *p, bool all);
int tool_run_plan(session *s, const char *const *operands, size_t count);

#endif
