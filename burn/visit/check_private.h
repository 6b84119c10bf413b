/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Shared by the files of the check: a hash, numbers for comparison, and the table of written leaves. */
#ifndef LR_CHECK_PRIVATE_H
#define LR_CHECK_PRIVATE_H

#include "burn/visit/event.h"
#include "burn/visit/visit.h"

/* check_hash.c: XXH64, whatever pieces the bytes come in. */

typedef struct lr_hash {
    uint64_t lanes[4];
    uint64_t total;
    uint8_t held[32]; /**< the last total % 32 bytes */
} lr_hash;

void lr_hash_begin(lr_hash *hash);
void lr_hash_add(lr_hash *hash, const void *data, uint64_t size);
uint64_t lr_hash_end(const lr_hash *hash);

/* check_numbers.c: the numbers of a list as one hash, whatever chunks they come in. Formats differ in how they hold a
 * number: what counts is its value, and of a float its value at the width that was written. */

/** Numbers so far. A list that is all bytes has the hash of those bytes. */
typedef struct lr_variables {
    lr_hash hash, loose_hash;
    uint64_t count;
    uint64_t narrow; /**< which of the first 63 are floats of 32 bits; bit 63: those after them */
    int32_t kind, loose_kind;
    bool given; /**< `narrow` comes from the writer's side */
    bool after; /**< bit 63 is decided */
    bool wide;  /**< some are no bytes: the hash is of words */
    bool loose; /**< some are NaN or infinite: `loose_hash` has them as nil, which is all that JSON can say */
} lr_variables;

void lr_numbers_begin(lr_variables *numbers);
/** @param scalar nil, a bool or a number. */
void lr_numbers_scalar(lr_variables *numbers, const rec_scalar *scalar);
/** @param data host byte order. */
void lr_numbers_add(lr_variables *numbers, rec_dtype dtype, const void *data, uint64_t count);
/** The bits of a float at a width; all NaNs are one. */
uint64_t lr_float_bits(double value, bool narrow);

/* check.c */

enum { LR_LEAF_NIL = 1, LR_LEAF_BOOL, LR_LEAF_INT, LR_LEAF_FLOAT, LR_LEAF_STRING, LR_LEAF_LIST, LR_LEAF_TENSOR };

/** A value without values of its own below it. */
typedef struct lr_leaf {
    uint8_t kind;  /**< LR_LEAF_… */
    uint8_t dtype; /**< of a tensor */
    bool narrow;   /**< of a float: 32 bits */
    bool loose;    /**< of a list: `other` counts; of nil: a struct without fields, which MessagePack has as a list */
    bool hashed;   /**< `hash` counts; of data that were not looked at yet it does not */
    bool seen;     /**< it was read back */
    bool has_id;
    bool spare;     /**< a format of tensors may have no place for it: metadata */
    uint64_t place; /**< hash of its path */
    uint64_t count; /**< of a list its elements, of a tensor its bytes, of a text its length; the bits of a number */
    uint64_t hash;  /**< of the data; of an integer whether it is negative */
    uint64_t other; /**< of a list: lr_variables.loose_hash */
    uint64_t sizes; /**< of a list: lr_variables.narrow; of a tensor: hash of shape and name of the type */
    uint64_t id;    /**< of a tensor: hash of its id */
    uint64_t exact; /**< lr_check.exact */
    const uint8_t *data; /**< the bytes themselves where they stay… */
    rec_source *source;  /**< …or where they can be read again; NULL: neither */
    uint64_t offset;
} lr_leaf;

/** What the event of a leaf says that is not kept; for messages. */
typedef struct lr_leaf_words {
    const rec_scalar *scalar;
    const rec_tensor_event *tensor;
} lr_leaf_words;

/** A container that is open. */
typedef struct lr_check_frame {
    int32_t kind;          /**< REC_KIND_LIST, _MAP, _VARIANT */
    bool root_metadata;    /**< the value that is to come is the metadata */
    uint64_t place, exact; /**< hashes of its path */
    uint64_t next, exact_next;
    uint64_t count;
    size_t used;          /**< of the path */
    lr_variables numbers; /**< those in a list */
} lr_check_frame;

struct lr_check {
    lr_listener listener; /**< passes each event to `inner`, too */
    rec_job *job;
    bool paths; /**< the outermost map's keys are paths */
    /** Handles a leaf. @param blob its data; may be NULL. */
    int32_t (*leaf)(lr_check *check, uint64_t place, uint64_t at, lr_leaf *leaf, const lr_leaf_words *words,
                    const rec_blob *blob);
    bool reading; /**< a reader's events, compared with the table; otherwise the walk's events, which build it */
    bool tensors;
    bool flat;           /**< it has all under paths */
    bool late;           /**< values are compared that a reader reported under paths */
    uint64_t entry;      /**< the place of the metadata entry whose value follows, 0: the record's own */
    bool entry_due;      /**< and that value has not begun */
    bool with_id;        /**< some tensor was read back with the id that it was written with… */
    uint64_t without_id; /**< …and the place of one that was not: a format has room for ids or has not; 0: none */
    rec_visitor inner;   /**< that each event goes to as well: of the writer, or of a builder */
    void *inner_self;
    bool with_values; /**< a format of tensors also had other values: it supports them, or announced that it drops them
                       */
    /* The table. */
    lr_leaf *leaves; /**< in the order of the walk */
    uint64_t count, room;
    uint64_t *slots;    /**< by the hash of the path, with open addressing… */
    uint64_t slot_room; /**< …a power of two, or 0 */
    uint64_t near;      /**< the leaf that was found or added last */
    /* Where the events are. */
    lr_check_frame *frames;
    uint32_t depth, frame_room;
    size_t used;
    char path[1024];
    uint64_t
        exact; /**< hash of the path of the value that came last, name by name; its place is that of its names joined */
    uint8_t *tile;
    uint64_t last;            /**< the place of the last leaf */
    uint64_t compared, total; /**< bytes, for progress */
    lr_job_burn burn;         /**< the version and layout written */
    /* A walk that looks for what belongs to a place: */
    uint64_t sought; /**< 0: none */
    char sought_path[512];
    char sought_words[256];
};

/** Fails if something that was written was not read back. All was read. */
int32_t lr_check_whole(lr_check *check);
/** Adds to a failure what it means. */
void lr_check_hint(lr_check *check);

/* check_table.c */

/** The place of the value that came last: another one where two paths are one once their names are joined (`a.b` may be
 *  two names or one). A reader may tell joined names where they were written in levels. */
uint64_t lr_check_place(lr_check *check, uint64_t place);
/** The same where `place` is taken. */
uint64_t lr_check_other_place(const lr_check *check, uint64_t place);
/** Returns the leaf written at a place, or NULL. */
lr_leaf *lr_check_find(lr_check *check, uint64_t place);
/** Of a walk: the leaf of a place; a later walk gives the same once more. NULL: the job has failed. */
lr_leaf *lr_check_take(lr_check *check, uint64_t place, const lr_leaf *leaf);

/* check_events.c */

int32_t lr_check_event(lr_check *check, const lr_event *event);

/** Compares the values of a tree that are neither tensors nor bytes: a reader reported them under paths. */
int32_t lr_check_values(lr_check *check, const rec_value *root);
/** Begins with the first event. */
void lr_check_rewind(lr_check *check);

#endif
