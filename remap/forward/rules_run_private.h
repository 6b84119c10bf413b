/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What the files that carry out rules share. */
#ifndef LR_RULES_RUN_PRIVATE_H
#define LR_RULES_RUN_PRIVATE_H

#include "remap/forward/forward.h"

/** The rules of one source on their way through its keys. */
typedef struct lr_rules_run {
    rec_job *job;
    rec_plan *plan;
    lr_plan_source *source;
    uint32_t number;
    lr_matcher *matcher;
    lr_piece *before;   /* the last piece of the sources before */
    uint64_t fired[64]; /* numbers of the rules that acted on the key at hand */
    uint32_t fired_count;
    char why[512];
    uint64_t why_one; /* it says that rule alone; 0: it says something else */
} lr_rules_run;

/** What an operation refused becomes a problem that names the rule. @return REC_OK, or a real failure. */
int32_t lr_rules_refused(lr_rules_run *r, const char *key, const lr_rule *rule);
/** The first piece of this source. */
lr_piece *lr_rules_pieces(const lr_rules_run *r);
/** The key that rules see: without the prefix. */
const char *lr_rules_key_of(const lr_rules_run *r, const lr_piece *piece, size_t *length);
/** Carries out a stack or a join (gather.c). @param number the rule's index. */
int32_t lr_rules_gather(lr_rules_run *r, const lr_rule *rule, uint64_t number);

#endif
