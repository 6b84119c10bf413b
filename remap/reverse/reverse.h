/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The rules of a source backwards: from keys of Burn's layout to those of the foreign file, in its layout.
 * It never guesses: what cannot be told for sure is a problem of the plan.
 * The pieces made are the plan's. */
#ifndef LR_REVERSE_H
#define LR_REVERSE_H

#include "remap/plan/plan.h"

/**
 * Makes the pieces of a source whose rules go backwards: the keys are those of Burn's layout, the pieces' keys those of
 * the foreign file, in its layout; no adapter acts on them afterwards. In the reverse order of the forward way: `back`
 * rules, ties undone (a tied tensor that equals what it would be tied to is left out), stacks and joins taken apart,
 * modules (by type of the record, `module` rules) back to PyTorch's names and layouts, rope, squeeze, add, renames,
 * splits joined. A key's candidates are tried forwards, and one that does not come out where it began is none; several
 * that do are told apart by the `export` rules. What has no inverse is REC_PROBLEM_NO_INVERSE and names the rule.
 */
int32_t lr_plan_backward(rec_job *job, rec_plan *plan, uint32_t source);
/** Rules for what a base that is another framework's file shows: the weights of weight_norm. Before the above. */
int32_t lr_back_learn(rec_job *job, rec_plan *plan, lr_plan_source *source);

#endif
