/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Keys forwards: what the rules make of the keys of a source, and of one key that several sources have.
 * It never looks at the destination's type: which module a piece is of, beyond what module rules say, is remap/fit's.
 * The pieces made are the plan's. */
#ifndef LR_FORWARD_H
#define LR_FORWARD_H

#include "remap/plan/plan.h"

/** Makes the pieces of a source: drops, splits, weight_norm, renames, the prefix. */
int32_t lr_plan_forward(rec_job *job, rec_plan *plan, uint32_t source);
/** Whether a key is the direction of a weight of weight_norm, by one of the two spellings, BASE.NAME_v or
 *  BASE.parametrizations.NAME.original1. @param base (out) its length @param parametrized (out) the latter */
bool lr_is_direction(const char *text, size_t length, size_t *base, const char **name, size_t *name_length,
                     bool *parametrized);
/** A weight_norm rule for a direction, whose axis is that of its length: `^BASE$ | 2`. @param base what it matches,
 *  a pattern. @return false: there is not room for it. */
bool lr_norm_rule(const char *base, const rec_tensor *length, const rec_tensor *direction, char *text, size_t room);
/** Merges what several sources have under one key, where a rule says so. Before the tree. */
int32_t lr_plan_merge(rec_job *job, rec_plan *plan);

#endif
