/* SPDX-License-Identifier: MIT OR Apache-2.0
 * How a profile tells what its family's files look like, and whether one does. */
#ifndef LR_RECOGNISE_PRIVATE_H
#define LR_RECOGNISE_PRIVATE_H

#include "remap/remap.h"

/** A tensor of the file, by its key below what is selected. */
typedef struct lr_named {
    const char *text;
    size_t length;
    const rec_tensor *tensor;
} lr_named;

enum {
    LR_SIZE_ANY = 0,    /**< `_` */
    LR_SIZE_NUMBER = 1, /**< `3` */
    LR_SIZE_NAME =
        2, /**< `3*D`, `D`: the same D in all keys; of a lower-case letter: in all keys with the same first group */
    LR_SIZE_MULTIPLE = 3 /**< `*d`: twice d or more */
};
typedef struct lr_size {
    int32_t kind;
    uint32_t name;   /**< number of the name */
    uint64_t number; /**< of NUMBER; the factor of NAME */
} lr_size;

enum { LR_LOOK_RANK = 8, LR_LOOK_NAMES = 64 };
/** A line `has` or `knows`. */
typedef struct lr_look {
    bool always; /**< has: there is one in every file of the family */
    bool shaped;
    uint32_t rank;
    lr_size sizes[LR_LOOK_RANK];
    lr_regex *regex;
} lr_look;

typedef struct lr_looks {
    lr_look *at;
    uint64_t count;
    char names[LR_LOOK_NAMES][LR_NAME_MOST];
    uint32_t name_count;
} lr_looks;

/** Differences between the keys of a file and those of a family. */
typedef struct lr_rest {
    uint64_t strangers;       /**< keys that the family has not */
    const lr_named *stranger; /**< the first of them */
    bool aside;               /**< each stranger stands below a name at the top that none of the others has */
    bool lacks;               /**< something that the family always has is not there */
    bool misfit;              /**< shapes are not the family's */
} lr_rest;

/** Reads the lines of a profile. @param first only the first `has` one. To be given back with lr_looks_free(), also
 * after a failure. */
int32_t lr_looks_read(rec_job *job, lr_looks *looks, const char *file, const lr_profile_section *section, bool first);
void lr_looks_free(rec_job *job, lr_looks *looks);
/** Holds all tensors of a file against them. */
int32_t lr_looks_hold(rec_job *job, const lr_looks *looks, lr_matcher *matcher, const lr_named *keys, uint64_t count,
                      lr_rest *rest);

#endif
