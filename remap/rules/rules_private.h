/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What the files of rules share: rules taken apart, and the files that have profiles. */
#ifndef LR_RULES_PRIVATE_H
#define LR_RULES_PRIVATE_H

#include "core/config/config.h"
#include "remap/rules/rules.h"

/* rule_parse.c, expression.c */

/** Part of a text. */
typedef struct lr_extract {
    const char *at;
    size_t length;
} lr_extract;
static inline bool lr_is_blank(char c)
{
    return c == ' ' || c == '\t';
}
/** The text between, without blanks around it. */
lr_extract lr_extract_trim(const char *at, const char *end);
/** Splits a text at the first `mark` with blanks (or an end of the text) on both sides. @return false: not found. */
bool lr_extract_cut(lr_extract text, const char *mark, lr_extract *left, lr_extract *right);

/** Takes the value of a rule apart. `rule` has its kind, text and place, and frees what was made. */
int32_t lr_rule_parse(rec_job *job, lr_rules *rules, lr_rule *rule, bool strict);
/** Parses a `let`, and appends it to the rules. */
int32_t lr_definition_add(rec_job *job, lr_rules *rules, const char *text, const lr_location *place);
/** Parses an amount. In the rules' arena. NULL: the job has failed. */
const lr_amount *lr_amount_new(rec_job *job, lr_rules *rules, const char *text, size_t length,
                               const lr_location *place);

#endif
