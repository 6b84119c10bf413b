/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Runs of numbers being read: packed as they come, integers as narrow as their values allow, so that a list of millions
 * takes no more memory than its file. */
#ifndef LR_RUN_H
#define LR_RUN_H

#include "core/record/tree.h"

/** A run that grows; one per builder, its memory is used again. */
typedef struct lr_runner {
    lr_pages pages;
    uint64_t taken; /**< of the budget */
    uint64_t count;
    uint64_t nils;   /**< of them */
    rec_dtype dtype; /**< NONE while empty */
} lr_runner;

/**
 * Appends a chunk. @param data host byte order, any alignment.
 * @return 1 done, 0 the chunk cannot join this run (other kind of number), -1 the job has failed.
 */
int lr_runner_add(rec_job *job, lr_runner *runner, rec_dtype dtype, const void *data, uint64_t count);
/** Appends a nil, which only a run of f64 can hold; as lr_runner_add(). */
int lr_runner_add_nil(rec_job *job, lr_runner *runner);
/** Whether a number of an f64 run stands for nil. */
bool lr_float_nil(double number);
/** Ends the run: its numbers become a run of the record. NULL: the job has failed. The runner is empty again. */
lr_run *lr_runner_take(rec_job *job, lr_runner *runner, rec_record *record, int32_t form);
/** Number `index` of the unfinished run. */
rec_scalar lr_runner_number(const lr_runner *runner, uint64_t index);
void lr_runner_clear(lr_runner *runner);
void lr_runner_free(rec_job *job, lr_runner *runner);

#endif
