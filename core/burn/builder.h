/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The builder: a visitor that makes a record of the events of a reader. */
#ifndef LR_BUILDER_H
#define LR_BUILDER_H

#include "core/burn/burn.h"

typedef struct lr_builder lr_builder;

extern const rec_visitor lr_builder_visitor;

/**
 * A builder for one load. The job's `where` is its until it is freed.
 * @param tensors the format speaks tensors itself (REC_TRAIT_TENSORS).
 * @param burn what is known of the layout from a first pass, NULL in the first.
 * NULL: the job has failed.
 */
lr_builder *lr_builder_new(rec_job *job, rec_precision precision, bool tensors, const lr_burn *burn);
/** What the metadata said so far. */
const lr_burn *lr_builder_burn(const lr_builder *builder);
/** True if metadata came too late to read the tensors before it: rewind and build again with lr_builder_burn(). */
bool lr_builder_again(const lr_builder *builder);
/** Ends the load. @return the record, NULL: the job has failed. */
rec_record *lr_builder_finish(lr_builder *builder);
void lr_builder_free(lr_builder *builder);

#endif
