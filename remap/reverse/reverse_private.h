/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What the files of plan_back share. */
#ifndef LR_PLAN_BACK_PRIVATE_H
#define LR_PLAN_BACK_PRIVATE_H

#include "remap/reverse/reverse.h"
#include "remap/reverse/invert.h"

/* retrace.c, choose.c */

/** A rename, or a split. */
typedef struct lr_step {
    const lr_rule *rule;
    uint64_t index; /**< among all rules */
    lr_back *back;
} lr_step;

typedef struct lr_steps {
    lr_step *list;
    uint64_t count;
} lr_steps;

/** A text on its way back: its place among the bytes, since they move. */
typedef struct lr_walker {
    size_t text, length, fired;
    uint32_t inside, part;
    uint64_t split, blocked;
} lr_walker;

typedef struct lr_walkers {
    lr_walker *list;
    uint64_t count, room;
} lr_walkers;

typedef struct lr_back_bytes {
    char *at;
    size_t used, room;
} lr_back_bytes;

struct lr_retracer {
    rec_job *job;
    rec_plan *plan;
    lr_plan_source *source;
    lr_matcher *matcher;
    lr_steps renames, splits;
    bool drops, norms, exports;
    lr_walkers now, next;
    lr_back_bytes bytes;
    lr_origins origins;
    lr_candidate *candidates;
    uint64_t candidate_room;
    lr_stems *stems;
    lr_stem stem; /**< of the key at hand */
    bool kept;    /**< no number of it became a part of a name */
};

/* reverse.c and those below */

/** A tensor on its way back. */
typedef struct lr_back_item {
    const char *text; /**< its key in Burn's layout, without prefix and variants; NUL-terminated */
    lr_op *op;
    lr_key *const *inputs;
    uint64_t input_count;
    const char *operations, *why;
    const char *module;    /**< what the record's type says it is a field of; NULL: no type */
    const char *starts[2]; /**< its key before the adapter acted: by PyTorch's name of the field, then by its own */
    uint32_t start_count;
    bool gone;                  /**< it was taken apart, or is tied to another */
    bool waits;                 /**< it may be a part: the choice is made when all parts are known */
    lr_candidates candidates;   /**< of one that waits */
    const lr_candidate *chosen; /**< in the plan's arena; NULL: there is a problem */
    const char *rules;          /**< that made it: "rules 2, 4" */
} lr_back_item;

/** The same thing wrong with several keys is one problem. */
typedef struct lr_trouble {
    struct lr_trouble *next;
    int32_t kind;     /**< REC_PROBLEM_… */
    uint64_t rule;    /**< by index + 1; 0: none */
    const char *what; /**< other words part two troubles of one rule */
    const char *key, *text, *hint;
    uint64_t count;
} lr_trouble;

/** Parts of one tensor of the file. */
typedef struct lr_whole {
    const lr_rule *rule;
    uint64_t index; /**< of the rule */
    const char *text;
    uint64_t *parts;   /**< items by number + 1; 0: it is not there */
    const char *wrong; /**< why they do not make a whole; NULL: they do */
    bool made;
} lr_whole;

typedef struct lr_backer {
    rec_job *job;
    rec_plan *plan;
    lr_plan_source *source;
    uint32_t number;
    lr_matcher *matcher;
    lr_retracer *retracer;
    lr_back_type type;
    lr_back_item *items;
    uint64_t count, room;
    lr_whole *wholes;
    uint64_t whole_count, whole_room;
    uint64_t *slots; /**< of wholes by rule and text: number + 1 */
    uint64_t slot_count;
    lr_trouble *troubles, *last_trouble;
    bool torch; /**< the file is PyTorch's: modules are put back */
    bool told;  /**< module rules or a type say what modules there are */
} lr_backer;

/* trouble.c. Statuses are those of the job: a problem of the plan is no failure. */

/** A text of any length in the plan's arena, NUL-terminated. NULL: the job has failed. */
const char *lr_back_keep(lr_backer *b, const char *text, uint64_t length);
const lr_rule *lr_back_rule(const lr_backer *b, uint64_t index);
/** Notes what is wrong with a key. @param rule by index + 1, 0: none. @param what other words part two troubles of one
 *  rule. */
int32_t lr_back_trouble(lr_backer *b, int32_t kind, uint64_t rule, const char *key, const char *what, const char *text,
                        const char *hint);
/** A rule that has no inverse. @param rule by index. */
int32_t lr_back_no_inverse(lr_backer *b, uint64_t rule, const char *key, const char *why, const char *hint);
int32_t lr_back_refused_by(lr_backer *b, const char *key, const lr_rule *rule);
int32_t lr_back_report(lr_backer *b); /**< makes problems of all that was noted */

/* reverse.c */
lr_back_item *lr_back_item_new(lr_backer *b); /**< NULL: the job has failed. Items move. */

/* apart.c */
int32_t lr_back_take_apart(lr_backer *b, uint64_t rule); /**< what a stack or join rule put together */

/* module.c */
int32_t lr_back_unadapt(lr_backer *b, lr_back_item *one); /**< a tensor in Burn's layout becomes PyTorch's */
/** A tensor that the rule would make of another again is left out, as save_pretrained() does. */
int32_t lr_back_untie(lr_backer *b, uint64_t rule);

/* whole.c */
int32_t lr_back_retrace(lr_backer *b, uint64_t number);      /**< finds an item's key, or that it may be a part */
int32_t lr_back_check_whole(lr_backer *b, lr_whole *w);      /**< settles whether its parts fit */
int32_t lr_back_choose(lr_backer *b, lr_back_item *one);     /**< for an item that may be a part */
int32_t lr_back_emit(lr_backer *b, const lr_back_item *one); /**< makes its piece, or that of its whole */

#endif
