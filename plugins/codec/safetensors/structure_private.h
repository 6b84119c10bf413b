/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What the files that tell a record as text share. */
#ifndef LR_SAFETENSORS_STRUCTURE_PRIVATE_H
#define LR_SAFETENSORS_STRUCTURE_PRIVATE_H

#include "plugins/codec/json/number.h"
#include "plugins/codec/safetensors/safetensors.h"

enum { IN_LIST, IN_MAP, IN_VARIANT, IN_OPTION };

/** A value that is not complete. */
typedef struct lr_st_level {
    int kind;
    bool wrapped;   /**< in ["form", … ] */
    uint64_t count; /**< of elements or entries so far */
    uint64_t path;  /**< where the path ended before the entry or element that is on */
} lr_st_level;

typedef struct lr_st_structure_writer {
    lr_st_tree *tree;
    lr_st_path path;
    lr_buffer name; /**< of a key that is a path */
    lr_st_level *levels;
    uint64_t depth, room;
    lr_st_keys keys;
    uint64_t keys_room;
    lr_float_reader floats;
    lr_buffer others; /**< of the metadata those that are not Burn's */
    uint64_t pairs, other_pairs;
    bool has_format;      /**< a metadata entry says whose the tensors are */
    const char *reserved; /**< a metadata entry has this name, which is that of a text; NULL: none has */
    /* Within a metadata value: */
    bool entry;
    uint64_t entry_at; /**< where it begins in the text */
    uint64_t entry_left_out;
    bool entry_other;
    bool other; /**< something that a flat map does not hold */
} lr_st_structure_writer;

/** A value begins that others are in. */
int32_t lr_st_push(lr_st_structure_writer *t, int kind, bool wrapped);
/** @return the first failure of what the teller writes to. */
int32_t lr_st_structure_state(const lr_st_structure_writer *t);
/** Before each value: in a list its place. */
void lr_st_value_begins(lr_st_structure_writer *t);
/** After each value: it is complete, and so is the option that it was the value of. */
void lr_st_value_ends(lr_st_structure_writer *t);

void lr_st_put_hex(lr_buffer *b, const uint8_t *bytes, uint64_t size);
/** A number in digits that read back to the bit. */
void lr_st_put_number(lr_st_structure_writer *t, lr_buffer *b, const rec_scalar *s);
/** Any scalar, with its width where necessary. */
void lr_st_put_scalar(lr_st_structure_writer *t, lr_buffer *b, const rec_scalar *s);
const char *lr_st_nil_word(unsigned form);

/** The name in the file of a tensor of the tree; for lr_st_keys. */
const char *lr_st_structure_name(const void *self, uint64_t number, uint64_t *length);
/** Adds a tensor of type `type`. @param own (out) whether its name is its path. */
int32_t lr_st_structure_add(lr_st_structure_writer *t, int type, const uint64_t *shape, uint32_t rank,
                            const rec_blob *blob, bool *own);
/** The event of a tensor. */
int32_t lr_st_structure_tensor(void *self, uint64_t at, const rec_tensor_event *e);

#endif
