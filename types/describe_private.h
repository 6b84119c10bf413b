/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The type of a record: what is seen of it (infer.c), which of Burn's own it is (describe_match.c). */
#ifndef LR_DESCRIBE_PRIVATE_H
#define LR_DESCRIBE_PRIVATE_H

#include "types/types.h"

enum {
    LR_SEEN_NOTHING = 1, /**< nothing is known: the element of an empty list */
    LR_SEEN_NIL = 2,
    LR_SEEN_OPTION = 3, /**< was there and was not: children[0] */
    LR_SEEN_PARAMETER = 4,
    LR_SEEN_TENSOR = 5,
    LR_SEEN_LIST = 6, /**< children[0], `length` times */
    LR_SEEN_TUPLE = 7,
    LR_SEEN_STRUCT = 8,
    LR_SEEN_ENUM = 9, /**< the variants that were seen; a NULL child: without payload */
    LR_SEEN_IDS = 10, /**< a map from parameter id to one enum each */
    LR_SEEN_MAP = 11, /**< children: key, value */
    LR_SEEN_BOOL = 12,
    LR_SEEN_UINT = 13,
    LR_SEEN_INT = 14,
    LR_SEEN_FLOAT = 15,
    LR_SEEN_STRING = 16,
    LR_SEEN_BYTES = 17
};

/** Observations at one place of a record, or at several places that share a type. */
typedef struct lr_seen {
    int32_t kind;
    int32_t form;     /**< of a list: REC_FORM_LIST, _ARRAY, _TUPLE; 0 if the format does not say */
    int32_t elements; /**< of a tensor: REC_FIELD_FLOATS, _INTS, _BOOLS */
    bool assumed;     /**< of a tensor: `elements` was assumed */
    bool varies;      /**< of a list: its length does */
    bool unsure;      /**< of a UINT: the format does not say whether it has a sign */
    uint32_t bits;    /**< of a number, 0 if unknown */
    uint64_t rank;
    uint64_t length;
    uint64_t count;
    const char **names;
    struct lr_seen **children;
    const char *module; /**< of a struct: Burn's module that an import took it for, or NULL */
} lr_seen;

/** @param flat the record came from a flat file, which has the tensors alone, in any order.
 *  @return in the arena; names are the record's. NULL: the job has failed. */
lr_seen *lr_see(rec_job *job, lr_arena *arena, const rec_value *value, bool flat);
/** @return the number of the child with that name, or `count`. */
uint64_t lr_seen_child(const lr_seen *seen, const char *name);
/** Whether it holds anything that only a record of data has: scalars, text, tensors without id, maps. */
bool lr_seen_data(const lr_seen *seen);
/** Whether a name can name a field: a letter or `_`, then letters, digits and `_`. */
bool lr_seen_name(const char *name);

/* describe_match.c */

/** One of Burn's types at the job's version. */
typedef struct lr_own_type {
    const lr_def *def;
    const rec_layout *layout;
} lr_own_type;

typedef struct lr_own_types {
    lr_own_type *list; /**< in the order of their files */
    uint64_t count;
    bool flat; /**< what holds no tensor is not in the record: a constant, an Option that is None */
} lr_own_types;

/** Lays out Burn's structs, enums and optimizers. @return false: the job has failed. */
bool lr_own_types_make(rec_job *job, lr_arena *arena, const rec_types *types, lr_own_types *own);
/** @return the type that was observed before, or NULL. @param field its name may decide between two. @param other (out)
 * one with the same fields, or NULL. */
const lr_def *lr_own_types_find(const lr_own_types *own, const lr_seen *seen, const char *field, const lr_def **other);
/** @return where Burn keeps a module of its own below `burn`: "nn::conv::". */
const char *lr_own_type_home(const char *name);

#endif
