/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Files that are no records, by their first bytes: so that a refusal can say what they are. */
#ifndef LR_FOREIGN_H
#define LR_FOREIGN_H

#include "core/base/job.h"

/** @return what the file is, a sentence; NULL if it is nothing that is known here. */
const char *lr_foreign_words(const rec_head *head);
/** Says on a job that has failed to recognise a file what the file is, or else what to do. */
void lr_foreign_hint(rec_job *job, const rec_head *head);

#endif
