/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What the files of rules share: rules taken apart, and the files that have profiles. */
#ifndef LR_RULES_PRIVATE_H
#define LR_RULES_PRIVATE_H

#include "core/config/config.h"
#include "remap/rules/rules.h"

/* rule_parse.c, expression.c */

/** Takes the value of a rule apart. `rule` has its kind, text and place, and frees what was made. */
int32_t lr_rule_parse(rec_job *job, lr_rules *rules, lr_rule *rule, bool strict);
/** Parses a `let`, and appends it to the rules. */
int32_t lr_definition_add(rec_job *job, lr_rules *rules, const char *text, const lr_location *place);
/** Parses an amount. In the rules' arena. NULL: the job has failed. */
const lr_amount *lr_amount_new(rec_job *job, lr_rules *rules, const char *text, size_t length,
                               const lr_location *place);

/* profile.c: the profiles that can be named, those of the context's INI file and those that come with the library. */

/** Files with profiles, each read once, for one operation. */
typedef struct lr_library {
    rec_job *job;
    const lr_config *own;         /**< the context's */
    struct lr_profile_ini *files; /**< read so far */
    lr_arena arena;               /**< of the paths */
    const char *folder;           /**< of the profiles that come with the library */
    const char **paths;           /**< the files there, once they are listed */
    uint64_t path_count;
    bool listed;
    uint32_t includes;
} lr_library;

void lr_library_begin(lr_library *library, rec_job *job);
void lr_library_end(lr_library *library);
/** Calls for each profile: the context's in the order of its file, then the others in the order of their files. What is
 *  handed over lives as long as the library. @return the first status that was not REC_OK. */
int32_t lr_library_each(lr_library *library, int32_t (*call)(void *user, const lr_config *config,
                                                             const lr_profile_section *section),
                        void *user);

#endif
