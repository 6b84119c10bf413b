/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What the functions that edit a record share. */
#ifndef LR_EDIT_PRIVATE_H
#define LR_EDIT_PRIVATE_H

#include "core/record/record.h"

/** One edit, with room for a part of its path. */
typedef struct edit {
    rec_job job;
    rec_record *record;
    char *part;
    uint8_t random[256]; /**< for ids: the last `random_left` bytes are unused */
    uint32_t random_left;
} edit;

void lr_edit_begin(edit *e, rec_record *record, const char *path);
rec_status lr_edit_end(edit *e);
int32_t lr_edit_no_memory(edit *e);
/** Puts a value at a path, and ends the edit. */
rec_status lr_edit_put(edit *e, const char *path, const rec_value *value);

/* edit_tensor.c */

/** Returns the members that the caller's size covers; all zero if that size is impossible. */
rec_tensor_spec lr_spec_known(const rec_tensor_spec *spec);
/** Releases the caller's bytes without using them. */
void lr_spec_give_back(const rec_tensor_spec *spec);
/** @param count (out) elements. */
int32_t lr_spec_check(edit *e, const char *path, const rec_tensor_spec *spec, uint64_t *count);
/** Makes the tensor. Its bytes are used or released in any case. NULL: the job has failed. */
rec_tensor *lr_spec_tensor(edit *e, const char *path, const rec_tensor_spec *spec);

#endif
