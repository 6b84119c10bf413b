/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Foreign models made into records, and back: a plan of what goes where, worked out and carried out step by step.
 * It never opens a file of a model and knows no recorder: it is given records, load arguments and a type.
 * A plan owns what it took and what it made, until rec_plan_free(); load arguments own their rules and numbers; a type
 * and a record that was not given away belong to who gave them, and outlive the plan.
 *
 * 0. what is doubted is decided: the plan is made both ways (decide.c);
 * 1. keys (remap/plan/keys.c): each source's tensors and values under their dotted keys;
 * 2. pieces (remap/forward, or remap/reverse backwards): what the rules make of them: a key and an operation;
 * 3. a tree of the pieces' keys (remap/plan/tree.c), in which PyTorch's modules of several tensors become Burn's
 *    (remap/torch);
 * 4. fitted to a type, or without one to module rules or shapes (remap/fit): adapters act here;
 * 5. lines and problems (remap/plan/plan.c), and a record (make.c). */
#ifndef LR_REMAP_H
#define LR_REMAP_H

#include "remap/plan/plan.h"

/* -------------------------------------------------------------------------------- load arguments (arguments.c) -- */

/** Load arguments, as they were set (docs/reference/rules.md). Rules and profile are parsed by then. */
typedef struct lr_arguments {
    lr_rules *rules;      /**< rules, lets, adapter, gaps and select of its own; NULL: none */
    lr_rules *profile;    /**< the profile with what it includes; NULL: none */
    char *prefix;         /**< in front of destination keys; NULL: none */
    char *config;         /**< the model's configuration; NULL: what lies beside the model */
    lr_variables numbers; /**< those that were set; without a configuration */
    bool automatic;       /**< the profile is the one that fits the file */
    bool partial, strict, debug, reverse;
} lr_arguments;

void lr_arguments_init(lr_arguments *arguments, const lr_allocator *allocator);
void lr_arguments_free(lr_arguments *arguments);
/** @param place of an INI file's line, or NULL. */
int32_t lr_arguments_set(rec_job *job, lr_arguments *arguments, const char *name, const char *value,
                         const lr_location *place);
/** Whether anything was given that a load without a plan would not do. The plugin's default adapter does not count. */
bool lr_arguments_any(const lr_arguments *arguments);
/** All rules that count, in order: the profile's, then the arguments' own; adapter, gaps and select are the arguments'
 *  own where they have them, else the profile's, else unset. `strict` counts as it is now. To be freed with
 *  lr_rules_free(); empty if there are none. NULL: the job has failed. */
lr_rules *lr_arguments_rules(rec_job *job, const lr_arguments *arguments);
/** All numbers that count: those that were set, and (if some rule needs a name that was not set, or a file was named)
 *  the model's configuration. @param rules of lr_arguments_rules(). @param model_path NULL: a record in memory.
 *  @param numbers (out) initialised here, to be freed with lr_variables_free() also on failure. */
int32_t lr_arguments_variables(rec_job *job, const lr_arguments *arguments, const lr_rules *rules,
                               const char *model_path, lr_variables *numbers);

/* ------------------------------------------------------------------------------------------------------ a plan -- */

/** What a plan is made of: a record and how it is to be taken. */
typedef struct lr_plan_input {
    const rec_record *record;
    rec_record *owned;             /**< the same, where the plan is to have it; NULL: it stays the caller's */
    const char *name;              /**< as messages call it */
    const char *path;              /**< the file it was read from; NULL: a record in memory */
    const lr_arguments *arguments; /**< NULL: none */
    lr_type_ref type;              /**< what it is to become, or backwards what it is; or none */
    int32_t minor;                 /**< 0.MINOR whose modules the type's are; not above 0: it does not say */
} lr_plan_input;

/** Adds a source (source.c). What is owned is taken, also on failure. */
int32_t lr_plan_add(rec_job *job, rec_plan *plan, const lr_plan_input *input);
/** Fails: nothing goes backwards into a format of Burn. */
int32_t lr_fail_burns(rec_job *job);
/** Works it out, once: rec_plan_make() within a job. First it decides (decide.c) whether the adapter acts on what is
 * doubted, by what goes together with it and without. */
int32_t lr_plan_work(rec_job *job, rec_plan *plan);
/** The same with the adapters as they are (make.c). */
int32_t lr_plan_make(rec_job *job, rec_plan *plan);
/** Leaves in the result of an import what the way back needs (remember.c). */
int32_t lr_plan_remember(rec_job *job, rec_plan *plan);
/** Carries it out (carry_out.c): its warnings are noted, its fatal problems fail the job. After REC_OK plan->result is
 *  what it leads to. @param file that a failure is about, or NULL. */
int32_t lr_plan_carry_out(rec_job *job, rec_plan *plan, const char *file);

/* ------------------------------------------------------------------------------------------- a load (import.c) -- */

/** Whether a record as it was read needs more to become what load arguments and its type ask for. */
bool lr_import_needed(const lr_plan_input *input);
/** What a load makes of it. Takes the record, which is owned, and has arguments. @param file that a failure is about.
 *  NULL: the job has failed. */
rec_record *lr_import(rec_job *job, const lr_plan_input *input, const char *file);
/** Takes the dotted keys of a flat map apart (unflatten.c): numbers 0, 1, 2… become a list, all else stays as it is. In
 *  Burn's layout it is a record of Burn then; a foreign model's names still are paths. */
int32_t lr_unflatten(rec_job *job, rec_record *record);

/* ------------------------------------------------------------------------------------- families (recognise.c) -- */

/** A family of models that a file's tensors are of. Texts are the list's; "" where there is none. */
typedef struct lr_family {
    const char *profile; /**< the one for it */
    const char *name;    /**< "Llama" */
    const char *others;  /**< profiles for the same files with another destination */
    const char *select;  /**< what its keys stand below */
    const char *but;     /**< why it is not for sure; "": it fits */
    bool confirmed;      /**< the configuration names it */
} lr_family;

typedef struct lr_families {
    lr_arena arena;
    lr_family *at;
    uint64_t count;
    bool fits;  /**< those there are fit; else none does, and they nearly do */
    bool known; /**< a family has the profile that was asked about */
    bool typed; /**< the configuration names the model's type */
} lr_families;

/** Finds the families that a record's tensors are of, by the profiles' `has` and `knows`, for a note or a hint: a
 * failure is no reason to fail, and finds none. @param file that the record was read from, and @param config the
 * model's configuration, as in lr_variables_read(). @param select below which it is looked; NULL: at the top, and below
 * one name that all keys have in common. @param asked a profile, or NULL. @param typed without the model's type in a
 * configuration none is looked for. @param families (out) to be given back with lr_families_free(). */
void lr_families_guess(rec_context *context, const rec_record *record, const char *file, const char *config,
                       const char *select, const char *asked, bool typed, lr_families *families);
/** How a file differs from the family that a profile is for. */
typedef struct lr_family_rest {
    bool known;                       /**< the profile says what its family's files look like */
    char name[100];                   /**< of the family */
    uint64_t strangers;               /**< keys that the family has not */
    char stranger[200];               /**< the first of them */
    char model_type[100], types[200]; /**< what the configuration calls the model, and the family's words, where that is
                                           none of them; "": it is, or nothing says */
} lr_family_rest;
/** Compares a record with the family of a profile, or of the profile for the same files with another destination. */
int32_t lr_family_compare(rec_job *job, const rec_record *record, const char *file, const char *config,
                          const char *select, const char *profile, lr_family_rest *rest);
/** Whether one of the profiles for a family, or for its files with another destination, has that name. */
bool lr_family_has(const char *profile, const char *others, const char *name);
void lr_families_free(const rec_job *job, lr_families *families);

/** The profile for a record where the load arguments leave that to the library: the only one that fits, to
 * be freed with lr_rules_free(). @param path of the file it was read from, or NULL.
 *  @param family (out) what it was chosen for; its texts are the rules'. NULL: the job has failed. */
lr_rules *lr_profile_choose(rec_job *job, const rec_record *record, const lr_arguments *arguments, const char *path,
                            lr_family *family);

/** Says whether profiles are those of the models' families, and which numbers were set in vain (family.c). */
int32_t lr_plan_report_family(rec_job *job, rec_plan *plan);

#endif
