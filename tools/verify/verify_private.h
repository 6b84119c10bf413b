/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Files of sums: a line `SUM  KEY` each, as sha256sum writes them of files. The states of an optimizer, and the
 * parameters that they are of. */
#ifndef RECORD_VERIFY_PRIVATE_H
#define RECORD_VERIFY_PRIVATE_H

#include "tools/verify/verify.h"

/* A tensor's checksum from a file. */
typedef struct sum_line {
    const char *key; /* in `text` of the list */
    uint8_t sum[MEASURE_SUM_BYTES];
    bool seen; /* the record has such a key */
} sum_line;
typedef struct sum_list {
    sum_line *lines; /* by their keys, once they were read */
    size_t count;
    char *text;
} sum_list;

/* Reads a file of sums, whole. @return EXIT_OK, or EXIT_ERROR with the error printed. To be freed in either case. */
int tool_sums_read(sum_list *list, const char *path);
/* The same of a text. @param name what errors call it. */
int tool_sums_parse(sum_list *list, const char *lines, const char *name);
/* @return the line of that key, or NULL. */
sum_line *tool_sums_find(const sum_list *list, const char *key);
void tool_sums_free(sum_list *list);

/* Adds a line to what is to be written. */
void tool_sums_add(text *t, const char *key, const uint8_t sum[MEASURE_SUM_BYTES]);
/* Writes a file, whole or not at all. @return EXIT_OK, or EXIT_ERROR with the error printed. */
int tool_sums_write(const text *t, const char *path);

/* ------------------------------------------------------------------------------------- a model and its optimizer -- */

/* The parameters of a model, or those that an optimizer has states of. */
typedef struct state_owners {
    const char *file; /* NULL: none was read */
    struct state_owner {
        uint64_t id;
        char *key; /* of the parameter; the id of a state */
    } *at;
    size_t count;
} state_owners;

/* Lists them. @param optimizer (out) whether the record is an optimizer's. @return EXIT_OK, or EXIT_ERROR with the
 * error printed. */
int tool_states_list(const rec_record *record, const char *file, state_owners *owners, bool *optimizer);
/* @return the key of the next of `these` that `those` lack, or NULL. @param at (in, out) begins as 0. */
const char *tool_states_lacking(const state_owners *these, const state_owners *those, size_t *at);
void tool_states_free(state_owners *owners);

#endif
