/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Foreign models made into records, and back: a plan worked out and carried out, step by step.
 *
 * 1. keys (remap/plan/keys.c): each source's tensors and values under their dotted keys;
 * 2. pieces (remap/forward, or remap/reverse backwards): what the rules make of them: a destination key and an operation;
 * 3. a tree of the pieces' keys (remap/plan/tree.c);
 * 4. fitted to a type, or without one to module rules or shapes (remap/fit): adapters act here;
 * 5. lines and problems (remap/plan/plan.c), and a record (make.c). */
#ifndef LR_REMAP_H
#define LR_REMAP_H

#include "recorder/recorder.h"
#include "remap/plan/plan.h"

/** What a load makes of a raw record: itself, or what its plan makes of it. Takes the record. NULL: the job has failed. */
rec_record *lr_import(rec_job *job, rec_recorder *recorder, rec_record *raw, const char *path);
/** Takes the dotted keys of a flat map apart (unflatten.c): numbers 0, 1, 2… become a list, all else stays as it is. */
int32_t lr_unflatten(rec_job *job, rec_record *record);
/** Whether a raw record needs a plan to become what the recorder's load arguments ask for. */
bool lr_import_needed(const rec_recorder *recorder, const rec_record *raw);
int32_t lr_plan_work(rec_job *job, rec_plan *plan); /**< rec_plan_make() within a job */
/** An empty plan within a job. @param foreign the destination is a foreign file. NULL: the job has failed. */
rec_plan *lr_plan_new(rec_job *job, const rec_recorder *to, bool foreign);
/** Carries it out into a file, within a job. */
int32_t lr_plan_save(rec_job *job, rec_plan *plan, rec_recorder *to, const char *out);
/** Adds a record that is loaded already as a source (plan.c). It is taken, also on failure. @param path a name for it. */
int32_t lr_plan_take(rec_job *job, rec_plan *plan, const rec_recorder *from, rec_record *record, const char *path);

#endif
