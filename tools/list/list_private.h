/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What the files of `record ls` share: what is listed, and how. */
#ifndef RECORD_LIST_PRIVATE_H
#define RECORD_LIST_PRIVATE_H

#include "tools/list/list.h"

enum { SORT_FILE, SORT_NAME, SORT_SIZE, SORT_DTYPE, SORT_SHAPE, SORT_OFFSET };

/* What the options ask for. */
typedef struct manner {
    int sort; /* SORT_… */
    bool backwards;
    bool tree, each, sums; /* each: a line each, with all columns */
    bool all;              /* --all: nothing is folded */
    size_t depth;          /* 0: not given */
} manner;
/* Reads them. Mistakes are printed. */
int tool_manner_read(const options *o, manner *m);

/* Gathers the selected entries of a record in the requested order. Errors are printed. */
int tool_listing_make(session *s, const rec_record *record, key_patterns *keys, const manner *m, listing *l);
/* Sorts the lines of a folded listing as requested. */
void tool_listing_sort_folds(const listing *l, const manner *m, fold *folds, size_t count);

/* Bytes of a sum that people are shown: they tell those of one record apart. */
enum { SUM_SHOWN = 8 };
/* @return the first bytes of a sum in hexadecimal digits. @param hex room for them. */
const char *tool_sum_text(const sum_bytes sum, size_t bytes, char *hex);
/* Prints the tensors as a tree, or added up at a level. @return whether lines stand for several tensors. */
bool tool_print_tree(const listing *l, const manner *m);
/* The same sums for programs, as items of an array that is open. */
void tool_json_groups(json *j, const listing *l, const manner *m);
/* Prints the parameters of a record that was read by position, and what it is. @param path as people should see it. */
void tool_print_positions(const rec_record *record, const listing *l, const manner *m, const char *path);

#endif
