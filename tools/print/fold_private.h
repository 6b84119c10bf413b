/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What the files that fold a listing share. */
#ifndef RECORD_FOLD_PRIVATE_H
#define RECORD_FOLD_PRIVATE_H

#include "tools/print/print.h"

/* A level of a key: text between dots. */
typedef struct part {
    const char *at;
    size_t length;
    bool varies; /* a list index that differs from tensor to tensor */
} part;

/* Indices that vary, "0-3,5". */
typedef struct runs {
    text shown; /* while there are few */
    uint64_t first, last;
    unsigned count;
} runs;

/* Where siblings differ: at a level, and at another one counted from the end; SIZE_MAX: at the first alone. */
typedef struct place {
    size_t level, other;
} place;

typedef struct group {
    const entry *entry; /* the first one */
    part *parts;
    size_t count, middle; /* parts before the one that stands between two keys; `count` if there is one key */
    uint64_t repeats, names;
    runs runs[2];       /* of the first and the second key, where they are worth showing */
    struct group *next; /* of the siblings gathered in the running pass, in the order of the file */
    struct group *last; /* of a first sibling: the end of that chain */
    struct group *into; /* gathered into another one: which */
    size_t line;        /* of the listing, if it is not */
    const place *where; /* siblings differ in the running pass */
} group;

/* How many parts a key has, and those. */
size_t tool_fold_count_parts(const char *path);
void tool_fold_split(const char *path, part *parts);
bool tool_fold_is_index(const part *p);
/* Whether it is the separator of two keys. */
bool tool_fold_is_between(const part *p);
bool tool_fold_same_text(const part *a, const part *b);
int tool_fold_compare_text(const part *a, const part *b);
/* By element type and shape. */
int tool_fold_compare_form(const entry *a, const entry *b);

/* Puts siblings into braces (fold_siblings.c). @param most parts of the longest key. @param kept (out) takes names that
 * must live as long as the groups. */
void tool_fold_siblings(group *groups, size_t made, size_t most, bool two_keys, size_t width, words *kept);
/* @return the width that a listing leaves for keys next to its other columns: ×N, DTYPE, SHAPE, PARAMETERS. */
size_t tool_fold_key_width(const entry *entries, size_t count, const group *groups, size_t made, size_t width);

#endif
