/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef RECORD_CONVERT_PRIVATE_H
#define RECORD_CONVERT_PRIVATE_H

#include "tools/convert/convert.h"

/* One conversion: the request, and the result (one.c). */
typedef struct conversion {
    const char *const *inputs;
    size_t count;        /* of the inputs */
    const char *out;     /* "-": standard output */
    const char *to_name; /* the recorder that writes, as the user calls it */
    rec_recorder *to;    /* the same, opened by the caller */
    bool dry;            /* nothing is written */

    rec_record *record;
    planned plan; /* .plan is NULL if it went without */
    summary sums;
    notes load_notes, save_notes;
    char *path;       /* the file written, or the index of several; NULL: none */
    uint64_t written; /* bytes; REC_UNKNOWN into a pipe or several files */
    bool checked;     /* it was read back */
} conversion;
/* Loads the inputs and saves the output as the options say. Errors are printed, except for the problems of a plan
 * (tool_plan_refuse()). @param c freed with tool_conversion_free(), also after a failure. @return EXIT_OK or
 * EXIT_ERROR. */
int tool_convert(session *s, conversion *c);
void tool_conversion_free(conversion *c);
/* All records of a folder (recursive.c). */
int tool_run_recursive(session *s, const char *in, const char *out);
/* Several files, each by itself, into a folder, which is made if it is not there (recursive.c). */
int tool_run_each(session *s, const char *const *inputs, size_t count, const char *out);

/* ---------------------------------------------------------------------------------------- files that are there -- */

/* What the options ask for if a file is there already. LEFT: whom was asked said no. */
enum { EXISTING_WRITE, EXISTING_SKIP, EXISTING_REFUSE, EXISTING_LEFT };
/* Checks that they ask for one thing. Errors are printed. */
int tool_existing_check(const session *s);
/* Asks where the options say nothing and there is somebody to ask. @param all (in, out) whether everything may be
 * overwritten. @param there (out) unless it may be written, the file that is there, to be freed: the path, or the index
 * of the files that would be replaced; else NULL. @return EXISTING_… */
int tool_existing(const session *s, const char *path, bool *all, char **there);
/* Saves, but writes nothing: what cannot be written fails as it else would. @param written (out) bytes, REC_UNKNOWN if
 * they would go to several files, which is not tried. */
rec_status tool_save_nowhere(const session *s, rec_recorder *to, const rec_record *record, uint64_t *written);

#endif
