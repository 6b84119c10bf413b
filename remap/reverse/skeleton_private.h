/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What an inverse rule is made of: shared by those who make it (invert.c) and who look with it (invert_find.c). */
#ifndef LR_SKELETON_PRIVATE_H
#define LR_SKELETON_PRIVATE_H

#include "remap/reverse/invert_private.h"

/* Part of a text to build: literal text, a group, or the part's name. */
typedef struct piece {
    const char *text; /* NULL: a group, or the part */
    uint32_t length;
    uint32_t group;
    bool part;
} piece;

/* A text with groups in it. */
typedef struct skeleton {
    uint32_t count;
    const piece *pieces;
} skeleton;

typedef struct skeletons {
    uint32_t count;
    uint64_t room;
    skeleton *list;
} skeletons;

struct lr_back {
    const lr_allocator *allocator;
    const lr_regex *regex;
    const lr_template *replacement;
    lr_arena arena;
    uint32_t fixed;
    bool whole, parts;
    skeleton form;            /* the replacement */
    const skeletons *sources; /* the pattern written out */
    const char *reason;
    bool trace;
    bool at_start, at_end;     /* a match begins, ends where the text does */
    skeleton needle;           /* (one piece, or none) what a text must hold to be of the form */
    const lr_re_node **groups; /* by number; NULL: none of that number */
    bool *may_miss;            /* a group that may take no part in a match */
    uint32_t group_count;
};

#endif
