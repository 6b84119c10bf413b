/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Rules on their way through the keys of one source: what those who carry them out share. */
#include <stdio.h>
#include <string.h>

#include "remap/forward/rules_run_private.h"

int32_t lr_rules_refused(lr_rules_run *r, const char *key, const lr_rule *rule)
{
    char doing[260];
    (void)snprintf(doing, sizeof doing, "rule %u (%.200s)", (unsigned)rule->number, rule->text);
    return lr_plan_refused(r->job, r->plan, key, doing);
}

lr_piece *lr_rules_pieces(const lr_rules_run *r)
{
    return r->before ? r->before->next : r->plan->pieces;
}

const char *lr_rules_key_of(const lr_rules_run *r, const lr_piece *piece, size_t *length)
{
    size_t skip = r->source->prefix && *r->source->prefix ? strlen(r->source->prefix) + 1 : 0;
    *length = (size_t)piece->length - skip;
    return piece->key + skip;
}
