/* SPDX-License-Identifier: MIT OR Apache-2.0
 * librecord: plans of conversions, profiles, model families. Included by librecord.h. */

/**
 * @file librecord/plan.h
 *
 * A plan tells what happens to each tensor before data are read: sources with their load arguments, lines, problems.
 */
#ifndef LIBRECORD_PLAN_H
#define LIBRECORD_PLAN_H

#include <librecord.h>

#ifdef __cplusplus
extern "C" {
#endif

/* -------------------------------------------------------------------------------------------------------- plans -- */

/** Creates an empty plan. @param to the recorder that will save: the plan then leads to its type and kind of file
 * (without adapter between two foreign files). NULL: the plan is for rec_plan_load().
 * @param context used without `to`; NULL: the default one.
 * @return to be freed; the recorders may be closed earlier. NULL with an error. */
REC_API rec_plan *rec_plan_new(rec_context *context, const rec_recorder *to);
/** Adds a source, read by `from` with its current load arguments. Only headers are read: the file must stay unchanged
 * until the plan is carried out and its results are freed. The first source with a type sets the destination's, if
 * `to` has none. */
REC_API rec_status rec_plan_add(rec_plan *plan, rec_recorder *from, const char *path);
/** Adds functions of the program as a source: see rec_load_from(). */
REC_API rec_status rec_plan_add_from(rec_plan *plan, rec_recorder *from, const rec_input *input, void *user);
/** Adds a record in memory as a source; it must outlive the plan and the records loaded from it. `arguments` may be
 * NULL. If `to` has a precision, encoded tensors are decoded, without the settings of a config.json.
 * @param name the name in messages. */
REC_API rec_status rec_plan_add_record(rec_plan *plan, const rec_recorder *arguments, const rec_record *record,
                                       const char *name);
/** Sets a record whose values are used where no source has one. Without a type it also determines the modules of the
 * sources. A tensor of another shape or kind of elements is a problem, and so are sources of which nothing fits. It
 * must outlive the plan and the records loaded from it. */
REC_API rec_status rec_plan_set_base(rec_plan *plan, const rec_record *base);
/** Computes the plan. Problems are part of the plan and do not make the function fail; a missing number or an exceeded
 * limit does. Nothing can be added afterwards. Other functions call it when needed. */
REC_API rec_status rec_plan_make(rec_plan *plan);
REC_API void rec_plan_free(rec_plan *plan); /**< NULL is ignored */

/** What happens to a tensor or value. */
enum {
    REC_PLAN_MAPPED = 1,     /**< it is stored at the destination */
    REC_PLAN_DROPPED = 2,    /**< by a rule */
    REC_PLAN_UNEXPECTED = 3, /**< the destination does not use it: left out */
    REC_PLAN_MISSING = 4,    /**< the destination requires it and no source has it */
    REC_PLAN_KEPT = 5,       /**< the base's value is used */
    REC_PLAN_DEFAULT = 6     /**< no source has it: the type's default, or an assumed zero (REC_PROBLEM_ASSUMED) */
};

/** A line of a plan. Strings and shapes live as long as the plan, and are "" or NULL if they do not apply. */
typedef struct rec_plan_line {
    uint32_t size;             /**< sizeof(rec_plan_line) of the library */
    int32_t action;            /**< REC_PLAN_… */
    const char *source;        /**< the file (or name) of the source */
    const char *from;          /**< the key there; the first of several (join, stack) */
    const char *to;            /**< the path at the destination; a split tensor has a line for each part */
    const char *operations;    /**< "rope, transpose"; "" if the bytes are unchanged */
    const char *why;           /**< the reason: "Linear", "rules 2, 4", "num_batches_tracked of a BatchNorm" */
    const char *const *inputs; /**< all keys that form it, starting with `from` */
    uint64_t input_count;
    rec_dtype dtype_before, dtype_after; /**< REC_DTYPE_NONE if it is not a tensor */
    uint32_t rank_before, rank_after;
    const uint64_t *shape_before, *shape_after;
} rec_plan_line;

enum {
    REC_PROBLEM_COLLISION = 1,  /**< several sources for one destination */
    REC_PROBLEM_DEAD_RULE = 2,  /**< a rule without a match */
    REC_PROBLEM_MISSING = 3,    /**< required and missing */
    REC_PROBLEM_UNEXPECTED = 4, /**< present and not used */
    REC_PROBLEM_SHAPE = 5,      /**< another rank, or a shape that an operation cannot handle */
    REC_PROBLEM_KIND = 6,       /**< a tensor instead of a module, names in a list, two spellings of an index… */
    REC_PROBLEM_AMBIGUOUS = 7,  /**< ambiguous: a rule or a type must decide */
    REC_PROBLEM_EMPTY = 8,      /**< no tensor is mapped; fatal unless the load is `partial` */
    REC_PROBLEM_NO_INVERSE = 9, /**< backwards: a rule without an inverse */
    REC_PROBLEM_FAMILY = 10,    /**< the family of the model, or a profile of another family */
    REC_PROBLEM_ASSUMED = 11    /**< a value that the type requires and the file lacks was assumed */
};

/** A problem or note of a plan. */
typedef struct rec_plan_problem {
    uint32_t size;    /**< sizeof(rec_plan_problem) of the library */
    int32_t kind;     /**< REC_PROBLEM_… */
    int32_t fatal;    /**< 1: needs a decision, the plan cannot be carried out; 0: a note */
    int32_t reserved; /**< 0 */
    const char *key;  /**< the key or path, "" for the whole */
    const char *text; /**< one sentence */
    const char *hint; /**< what to do, or "" */
} rec_plan_problem;

/** The numbers of lines and problems of a plan. */
typedef struct rec_plan_totals {
    uint32_t size;     /**< sizeof(rec_plan_totals) of the caller; set it before the call */
    uint32_t reserved; /**< 0 */
    uint64_t tensors;  /**< of the sources */
    uint64_t mapped, dropped, unexpected, missing, kept, defaults; /**< lines by action */
    uint64_t fatal, warnings;                                      /**< problems */
} rec_plan_totals;

/** These functions compute the plan if needed; on failure they return 0 or NULL with the error. */
REC_API uint64_t rec_plan_count(rec_plan *plan);
/** @return line `index`, in the destination's order; then dropped and unexpected tensors in the sources' order. The
 * first call builds all lines. */
REC_API const rec_plan_line *rec_plan_get(rec_plan *plan, uint64_t index);
REC_API uint64_t rec_plan_problem_count(rec_plan *plan);
REC_API const rec_plan_problem *rec_plan_problem_get(rec_plan *plan, uint64_t index);
REC_API rec_status rec_plan_total(rec_plan *plan, rec_plan_totals *totals);
/** Carries the plan out. @return a record whose tensors are computed on access, one at a time, to be freed; NULL with
 * an error, also for fatal problems. It keeps the sources' data as long as needed. */
REC_API rec_record *rec_plan_load(rec_plan *plan);

/** A profile for the load argument `profile`. Strings live as long as the context. */
typedef struct rec_profile_info {
    uint32_t size;           /**< sizeof(rec_profile_info) of the library */
    uint32_t reserved;       /**< 0 */
    const char *name;        /**< "llama" */
    const char *description; /**< one line */
    const char *source;      /**< the files it is for */
    const char *destination; /**< what it converts them to */
    const char *file;        /**< its INI file */
    const char *text;        /**< the text of this file if it is built into the library ("librecord:…"), else NULL */
} rec_profile_info;
/** @return the number of profiles of the context's INI file and of the library; 0 with an error. */
REC_API uint64_t rec_profile_count(rec_context *context);
/** @return profile `index`, sorted by name, or NULL. A NULL `context` is the default one. */
REC_API const rec_profile_info *rec_profile_get(rec_context *context, uint64_t index);

/** The model families that match the tensors of a foreign file. */
typedef struct rec_families rec_families;
/** One of them. Strings live as long as the list, and are "" if they do not apply. */
typedef struct rec_family {
    uint32_t size;       /**< sizeof(rec_family) of the library */
    int32_t fits;        /**< 1: all tensors belong to the family, in its shapes; 0: nearly, see `but` */
    const char *profile; /**< its profile: "llama" */
    const char *name;    /**< "Llama" */
    const char *others;  /**< profiles for the same files with another destination, separated by blanks */
    const char *select;  /**< the path above the tensors, for the load argument `select` */
    const char *but;     /**< why it is uncertain, half a sentence */
} rec_family;
/** Finds the families that match a record's tensors, by keys, shapes and the companion configuration. If several match,
 * the tensors do not distinguish them; if none does, the list has those that nearly match.
 * @param record loaded without an adapter. @param path of its file, to find the configuration; NULL: none. @param
 * count (out) @return the list, to be freed with rec_free() even if empty; NULL with an error. */
REC_API rec_families *rec_record_families(const rec_record *record, const char *path, uint64_t *count);
/** @return family `index` of the list, or NULL. */
REC_API const rec_family *rec_families_get(const rec_families *families, uint64_t index);

#ifdef __cplusplus
}
#endif
#endif
