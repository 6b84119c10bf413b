/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Events and records: the builder makes a record from a reader's events, the walk makes events from a record, the
 * check compares a save with its result. This room knows no format. A finished record belongs to the caller; the walk
 * belongs to the job until lr_walk_free(). */
#ifndef LR_VISIT_H
#define LR_VISIT_H

#include "burn/layout/layout.h"

/* The builder: a visitor that makes a record of the events of a reader. */

typedef struct lr_builder lr_builder;

extern const rec_visitor lr_builder_visitor;

/** Calls the job's plugin to load. What it tells is looked at before the visitor gets it, and what it leaves behind is
 *  given back. @return the job's status. */
int32_t lr_plugin_load(rec_job *job, rec_source *source, const rec_visitor *visitor, void *self);
/** Calls it to save, within lr_walk_begin(): it must walk the record and close what it made. @return the same. */
int32_t lr_plugin_save(rec_job *job, rec_sink *sink);

/**
 * A builder for one load. The job's `where` is its until it is freed.
 * @param tensors the format speaks tensors itself (REC_TRAIT_TENSORS).
 * @param burn what is known of the layout from a first pass, NULL in the first.
 * NULL: the job has failed. */
lr_builder *lr_builder_new(rec_job *job, rec_precision precision, bool tensors, const lr_burn *burn);
/** Takes no bytes: what it builds has the structure alone. */
void lr_builder_blind(lr_builder *builder);
/** What the metadata said so far. */
const lr_burn *lr_builder_burn(const lr_builder *builder);
/** True if metadata came too late to read the tensors before it: rewind and build again with lr_builder_burn(). */
bool lr_builder_again(const lr_builder *builder);
/** Ends the load. @return the record, NULL: the job has failed. */
rec_record *lr_builder_finish(lr_builder *builder);
void lr_builder_free(lr_builder *builder);

/* The walk: a record to the events of a writer (rec_job_walk), at a precision, in the layout of a Burn version. */

/** Prepares a save: layout, metadata's version and precision. The job's walk until lr_walk_free().
 *  @param target 0.MINOR or LR_TARGET_…. */
int32_t lr_walk_begin(rec_job *job, const rec_record *record, rec_precision precision, bool clamp, int32_t target);
void lr_walk_free(rec_job *job);

/** Checks a value of a record against the job's type, of that layout, at job->burn: fields that are missing or that the
 *  type lacks, ranks, kinds, variants, counts. Reads no element. Fails with the path below the value. */
int32_t lr_check_type(rec_job *job, const rec_record *record, const rec_value *value, const rec_layout *layout);

/* The check: compares the walk's events to the writer with a reader's events from the result. For each value it keeps
 * place, kind and contents; for bytes that stay in place a reference, for bytes produced on the way a hash. */

typedef struct lr_check lr_check;

/** For the walks of a job that follow. To be freed before the walk. NULL: the job has failed. */
lr_check *lr_check_new(rec_job *job);
/** Makes of a record as its reader reported it what a load returns. */
typedef int32_t (*lr_check_finish)(rec_job *job, rec_record *record);
/** Reads the result once, like a load, within the limits of a load. Any difference, and anything that a load rejects,
 * fails the job with its path. */
int32_t lr_check_read(lr_check *check, rec_source *source, lr_check_finish finish);
void lr_check_free(lr_check *check);

#endif
