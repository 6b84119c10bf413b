/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The rules of a source backwards: from keys of Burn's layout to those of the foreign file, in its layout. Ambiguities
 * are problems of the plan; nothing is guessed. The pieces belong to the plan. */
#ifndef LR_REVERSE_H
#define LR_REVERSE_H

#include "remap/plan/plan.h"

/** Makes the pieces of a source in a reverse conversion: the source has keys of Burn's layout, and the pieces get the
 * keys and layout of the foreign file; no adapter acts on them afterwards. It reverses the forward steps in order:
 * `back` rules, ties (a tied tensor that equals its origin is left out), stacks and joins, modules (by type of the
 * record or `module` rules) to PyTorch's names and layouts, rope, squeeze, add, renames, splits. Each candidate key is
 * put through the rules, and dropped unless it returns to its beginning; `export` rules choose among several. A rule
 * without an inverse is REC_PROBLEM_NO_INVERSE, which names it. */
int32_t lr_plan_backward(rec_job *job, rec_plan *plan, uint32_t source);
/** Rules for what a base that is another framework's file shows: the weights of weight_norm. Before the above. */
int32_t lr_back_learn(rec_job *job, rec_plan *plan, lr_plan_source *source);

#endif
