/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What the files that go backwards share. */
#ifndef LR_REVERSE_PRIVATE_H
#define LR_REVERSE_PRIVATE_H

#include "burn/visit/visit.h"
#include "remap/reverse/invert_private.h"
#include "remap/reverse/reverse.h"

/* retrace.c: from a key of Burn's layout to the key of the foreign file that the rules make into it. */

/** A key of the foreign file that a key may have been. */
typedef struct lr_candidate {
    const char *text; /**< NUL-terminated; without what `select` leaves out */
    uint64_t length;
    uint64_t split;         /**< rule that splits it, by index + 1; 0: it is not split */
    uint32_t part;          /**< which part this is */
    uint32_t inside;        /**< ends of matches within a name: see lr_origin */
    uint64_t blocked;       /**< rule by index + 1 that has no inverse and acts on it (weight_norm); 0: none */
    const uint8_t *fired;   /**< how often each rename acted; the first counts the adapter */
    struct lr_whole *whole; /**< what it is a part of: lr_back_make_wholes(); NULL: not known, or of none */
} lr_candidate;

typedef struct lr_candidates {
    lr_candidate *list;
    uint64_t count;
    uint64_t lost;     /**< index + 1 of a rename that may have made an ambiguous key; 0: none */
    uint64_t overflow; /**< a rename by index + 1 that may have made it of too many texts; 0: none */
    bool split;        /**< some are split */
    bool dropped;      /**< there were others, but a rule drops them */
} lr_candidates;

typedef struct lr_trace lr_trace;

/** NULL: the job has failed. */
lr_trace *lr_trace_new(rec_job *job, rec_plan *plan, uint32_t source, lr_matcher *matcher);
void lr_trace_free(lr_trace *retracer); /**< NULL is ignored */

/**
 * Finds all keys that the rules make into one of some texts.
 * @param starts the text before and after the adapter renamed its last part; the first counts as adapted if there are
 *        two. @param op the tensor: drop rules ask for its dtype and rank.
 * @param out borrowed from the retracer until it is asked again. */
int32_t lr_retrace(lr_trace *retracer, const char *const *starts, uint32_t start_count, const lr_op *op,
                   lr_candidates *out);

/** How a choice ended. */
enum {
    LR_CHOICE_ONE = 1,
    LR_CHOICE_NONE = 2,       /**< there is no candidate */
    LR_CHOICE_NO_INVERSE = 3, /**< `rule` has none */
    LR_CHOICE_SEVERAL = 4,    /**< those that are left have `left` set; `rule` tells the first two apart */
    LR_CHOICE_TOO_MANY = 5    /**< by `rule` */
};
typedef struct lr_choice_made {
    int result;
    uint64_t index; /**< of the one */
    uint64_t rule;  /**< by index + 1; 0: none in particular */
} lr_choice_made;

/**
 * Chooses among the candidates of a key. In this order, each as far as it leaves one:
 * those that match an `export` rule, one rule after the other, load arguments before profiles; those whose renames are
 * not a part of another's, for a rule that leaves a trace in the key has made it; those whose matches end at dots. A
 * rule that leaves no trace (`^model\. => `) is never guessed.
 * @param dead candidates to leave out, or NULL. @param left (out) which are left at the end: room for all. */
int32_t lr_retrace_choose(lr_trace *retracer, const lr_candidates *candidates, const bool *dead, bool *left,
                          lr_choice_made *made);
/** Counts the rules that made a candidate, and names them: "rules 2, 4". NULL: the job has failed. */
const char *lr_retrace_why(lr_trace *retracer, const lr_candidate *candidate);
/** Why a rename or split has no inverse; NULL if it has one. @param rule by index. */
const char *lr_retrace_reason(const lr_trace *retracer, uint64_t rule);
/** Bytes of `fired`. */
uint64_t lr_retrace_width(const lr_trace *retracer);

/* reverse.c and those below */

/** Room for keys of modules that are joined: longer ones stay unchanged. */
enum { LR_BACK_NAME_ROOM = 1024 };

/** A module of PyTorch's in the record (parts.c). */
typedef struct lr_back_site {
    const struct lr_torch_kind *kind; /**< may be NULL */
    bool listed;                      /**< it is an element of a list */
    uint32_t length;                  /**< of the module's path, or of the list's that has the layers of one */
    uint32_t below;                   /**< where the path below Burn's module begins in the key */
    uint32_t layer;
} lr_back_site;

/** A tensor on its way back. */
typedef struct lr_back_item {
    lr_back_site site;
    const char *text;  /**< its key in Burn's layout, without prefix and variants, before gaps were closed */
    const char *place; /**< the same with closed gaps, as in the record: for rules on places */
    lr_op *op;
    lr_key *const *inputs;
    uint64_t input_count;
    const char *operations, *why;
    const char *module;    /**< what the record's type says it is a field of; NULL: no type */
    const char *starts[2]; /**< its key before the adapter acted: by PyTorch's name of the field, then by its own */
    uint32_t start_count;
    int linear;                 /**< the import transposed it: 1, or did not: 2; 0: it is not known */
    bool gone;                  /**< it was taken apart, or is tied to another */
    bool waits;                 /**< it may be a part: the choice is made when all parts are known */
    lr_candidates candidates;   /**< of one that waits */
    const lr_candidate *chosen; /**< in the plan's arena; NULL: there is a problem */
    const char *rules;          /**< that made it: "rules 2, 4" */
} lr_back_item;

/** The same thing wrong with several keys is one problem. */
typedef struct lr_issue {
    struct lr_issue *next;
    int32_t kind;     /**< REC_PROBLEM_… */
    uint64_t rule;    /**< by index + 1; 0: none */
    const char *what; /**< other words part two troubles of one rule */
    const char *key, *text, *hint;
    uint64_t count;
    bool told; /**< a note, no problem */
} lr_issue;

/** Parts of one tensor of the file. */
typedef struct lr_whole {
    const lr_rule *rule;
    uint64_t index; /**< of the rule */
    const char *text;
    uint64_t *parts;   /**< items by number + 1; 0: it is not there */
    const char *wrong; /**< why they do not make a whole; NULL: they do */
    bool made;
} lr_whole;

typedef struct lr_reverse {
    rec_job *job;
    rec_plan *plan;
    lr_plan_source *source;
    uint32_t number;
    lr_matcher *matcher;
    lr_trace *retracer;
    const rec_layout *type; /**< of the record; NULL: none */
    lr_back_item *items;
    uint64_t count, room;
    lr_issue *troubles, *last_trouble;
    uint64_t batch_norms; /**< with running statistics */
    bool torch;           /**< the file is PyTorch's: modules are put back */
} lr_reverse;

/* trouble.c. Statuses are those of the job: a problem of the plan is no failure. */

const lr_rule *lr_back_rule(const lr_reverse *b, uint64_t index);
lr_back_item *lr_back_item_new(lr_reverse *b); /**< NULL: the job has failed. Items move. */
/** Notes what is wrong with a key. @param rule by index + 1, 0: none. @param what other words part two troubles of one
 *  rule. */
int32_t lr_back_issue(lr_reverse *b, int32_t kind, uint64_t rule, const char *key, const char *what, const char *text,
                      const char *hint);
/** A rule that is undone in function, but not to the last bit: a note, under strict a problem. */
int32_t lr_back_inexact(lr_reverse *b, uint64_t rule, const char *key, const char *why);
/** A rule that has no inverse. @param rule by index. */
int32_t lr_back_no_inverse(lr_reverse *b, uint64_t rule, const char *key, const char *why, const char *hint);
int32_t lr_back_refused_by(lr_reverse *b, const char *key, const lr_rule *rule);
int32_t lr_back_report(lr_reverse *b); /**< makes problems of all that was noted */

/* apart.c */
int32_t lr_back_take_apart(lr_reverse *b, uint64_t rule); /**< what a stack or join rule put together */

/* module.c */
int32_t lr_back_unadapt(lr_reverse *b, lr_back_item *one); /**< a tensor in Burn's layout becomes PyTorch's */
/** A tensor that the rule would make of another again is left out, as save_pretrained() does. */
int32_t lr_back_untie(lr_reverse *b, uint64_t rule);

/* parts.c: PyTorch's modules of several tensors (remap/torch). */

/** Finds the module that each item is a part of: by the type, or by what the record shows. */
int32_t lr_back_find_sites(lr_reverse *b);
/** Joins the items of these modules under PyTorch's names, unless rules match their contents. */
int32_t lr_back_put_together(lr_reverse *b);
/* gaps.c */

/** Learns from a base that is another framework's file which numbers closed lists had, if the import left nothing. */
int32_t lr_back_learn_gaps(rec_job *job, rec_plan *plan, lr_plan_source *source);

/* normed.c */

/** Whether the file had the key of a cell's tensor, nn.LSTMCell's or its like's. */
bool lr_back_had_cell(const lr_reverse *b, const char *key);
/** Whether a weight that a weight_norm rule may have made was made by it: by the keys that the file had, if they are
 *  known. */
bool lr_back_is_normed(const lr_reverse *b, const lr_candidate *weight);
/** The keys of its length and its direction, in the arena: by the keys that the file had, else as torch.nn.utils'
 *  weight_norm has them. */
int32_t lr_back_normed_names(lr_reverse *b, const lr_candidate *weight, const char *names[2]);

/* whole.c */
int32_t lr_back_retrace(lr_reverse *b, lr_back_item *one); /**< finds an item's key, or that it may be a part */
int32_t lr_back_make_wholes(lr_reverse *b);                /**< makes the wholes, and settles whether their parts fit */
int32_t lr_back_choose(lr_reverse *b, lr_back_item *one);  /**< for an item that may be a part */
int32_t lr_back_emit(lr_reverse *b, lr_back_item *one);    /**< makes its piece, or that of its whole */

#endif
