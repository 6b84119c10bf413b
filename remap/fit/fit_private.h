/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What the files share that fit a plan's tree to its destination. */
#ifndef LR_FIT_PRIVATE_H
#define LR_FIT_PRIVATE_H

#include "burn/layout/layout.h"
#include "remap/fit/fit.h"

/* place.c: a piece at its place. */

/** The part of the path that the rules of a source see: without its prefix. */
const char *lr_place_rule_path(const lr_fitter *f, const lr_plan_source *source, uint64_t *length);
/** Places a piece: a tensor or a copy of a value, and its line. @param cast the required kind of element,
 * REC_FIELD_FLOATS…; 0: any. @param parameter gives it an id if it has none. @param type,why for the line. */
int32_t lr_fit_put(lr_fitter *f, lr_piece *piece, bool transpose, int32_t cast, bool parameter, const char *why,
                   rec_value *out);
/** The path where the walk is; never NULL. */
static inline const char *lr_fit_here(const lr_fitter *f)
{
    return f->path.text ? f->path.text : "";
}
/** A problem of the place where the walk is. */
#define LR_FIT_PROBLEM(f, kind, fatal, ...) \
    lr_plan_problem((f)->job, (f)->plan, (kind), (fatal), lr_fit_here(f), __VA_ARGS__)
/** A name as a key of the record. Those that come again and again, in each layer, are there once. */
int32_t lr_fit_name(lr_fitter *f, const char *name, uint64_t length, rec_value *key);
/** Appends a value under such a name. */
int32_t lr_fit_append(lr_fitter *f, lr_map *map, const char *name, uint64_t length, const rec_value *value);
/** A line for the place where the walk is that has no piece. */
int32_t lr_place_line(lr_fitter *f, int32_t action, const char *why);

/* A fit to a type. */

/** Something the type asks for that is not there. */
typedef struct lr_missing {
    struct lr_missing *next;
    const char *path;
    const char *what;
    const rec_layout *layout; /**< of the missing place */
    unsigned dots;            /**< in the path */
    bool bare;                /**< a module that may have no tensors: it is missing only if a key is left for it */
} lr_missing;

/** An Option that the tree has nothing for. */
typedef struct lr_absent {
    struct lr_absent *next;
    const char *path;
    const rec_layout *layout; /**< of what it may hold */
    size_t parent;            /**< length of the path of the module it is a field of, with the dot */
} lr_absent;

/** A tensor that is left over in a module of Burn's. */
typedef struct lr_foreign {
    struct lr_foreign *next;
    lr_piece *piece;
    const char *module;
} lr_foreign;

typedef struct lr_fit {
    lr_fitter *f;
    lr_foreign *foreign, **last_foreign;
    lr_absent *absent; /**< the last one first */
    lr_missing *first_missing, *last_missing;
    char why_not[256];     /**< of the last trial: what did not fit first */
    uint64_t count;        /**< of the last trial: tensors it would take */
    const lr_piece *table; /**< the weight of the Embedding of most rows */
    uint64_t compared;     /**< comparisons between keys and missing paths */
    unsigned states;       /**< levels of an optimizer's or scheduler's record that the walk is in */
    bool conv1d;           /**< some weights of the file are stored [in, out] */
    unsigned assuming;     /**< the values are assumed, and a note lists them */
} lr_fit;

/** How a place was filled. */
enum {
    LR_FIT_FILLED,
    LR_FIT_OMITTED,
    LR_FIT_ASSUMED /**< with a value that the file does not have */
};

/* fit.c */

bool lr_fit_is_tensor(const rec_layout *layout);
/** Whether a node holds anything: a nil of the base is nothing. */
bool lr_fit_has_content(const lr_node *node);
/** Whether a type holds no data at all: constants, and what is made of them. */
bool lr_fit_holds_nothing(const rec_layout *layout);
/** Whether a type is a module whose tensors are all Options, as a norm with affine = false has none. */
bool lr_fit_may_be_bare(const rec_layout *layout);
/** Whether the adapter acts on a piece. */
bool lr_fit_adapts(const lr_fitter *f, const lr_piece *piece);
/** What the adapter takes a struct for: by a module rule for its path, else by the name of its type. @param ruled (out)
 *  a rule says it. */
const char *lr_fit_module(lr_fit *t, const rec_layout *layout, const lr_node *node, bool *ruled);
/** The tensor of a source in a field of a module; the base is no evidence of what a source's module is. NULL: none. */
const lr_piece *lr_fit_tensor_of(const lr_node *node, const char *name);
/** Whether some weight of a source is plainly stored [in, out], or a load argument says that one is (signs.c). */
bool lr_fit_has_conv1d(const rec_plan *plan);
/** Whether a Linear of the type may be a Conv1D like others of the file, and nothing shows it: it is square. */
bool lr_fit_doubts_linear(const lr_fit *t, const char *type, const lr_node *node);
/** The node of a field: under PyTorch's name where the adapter acts, else under its own. */
lr_node *lr_fit_field(const lr_fit *t, const char *type, const lr_node *node, const char *field, bool *transpose);
/** The children of a node in the order of their indices, to be released. NULL: the job has failed. @param ok (out)
 *  false: two have one index, a problem with that hint. */
lr_node **lr_fit_in_order(lr_fitter *f, const lr_node *node, const char *hint, bool *ok);
/** Assigns children to the elements of a tuple or array: by index if all fit; otherwise gaps are closed over the
 * elements with data. @param slots (out) for each element, may hold NULL; released
 * by the caller. @return false: too many children, or the job has failed. */
bool lr_fit_elements(lr_fit *t, const rec_layout *layout, lr_node *const *list, uint64_t count, lr_node ***slots);
/** The variant that is a level of the paths, as in records and where Burn's store wrote them; REC_UNKNOWN: none is. */
uint64_t lr_fit_level(const lr_fit *t, const rec_layout *layout, const lr_node *node);
/** Whether a node fits a type. */
bool lr_fit_fits(lr_fit *t, const rec_layout *layout, lr_node *node);
/** @return the number of tensors a variant would take, REC_UNKNOWN if it does not fit; why_not says why. */
uint64_t lr_fit_variant(lr_fit *t, const rec_layout *layout, uint64_t index, lr_node *node);

/* assume.c */

/** A kind of values that are no tensors. */
typedef struct lr_fit_value {
    int32_t layout;     /**< REC_LAYOUT_… */
    const char *wanted; /**< "a bool" */
    const char *zero;   /**< what is assumed where it is absent, as Rust prints it; NULL: nothing */
    int32_t kind;       /**< REC_KIND_… of a scalar, else 0 */
} lr_fit_value;
/** Returns the kind of a type's values, or NULL. */
const lr_fit_value *lr_fit_value_of(const rec_layout *layout);

/** Decides about an absent place of that layout. @param how (out) LR_FIT_ASSUMED: a zero is built and a note lists it;
 *  LR_FIT_OMITTED: it is missing; LR_FIT_FILLED: it is as any other place. */
int32_t lr_fit_absent(lr_fit *t, const rec_layout *layout, int *how);

/* base.c */

/** What the base says that the module at a node is, as the adapter calls it. NULL: nothing for sure.
 *  @param by_shape whether the weight's shape may tell a Conv1D from a Linear. @param why (out) */
const char *lr_fit_base_module(const lr_node *node, bool by_shape, const char **why);
/** Whether a value of the base leaves its place open: a nil, an empty list or map. */
bool lr_fit_is_nothing(const rec_value *value);
/** Holds the tensor that is placed where the walk is against the base's: another shape or kind of elements is a
 * problem.
 *  @param why what the adapter took its module for. */
int32_t lr_fit_against_base(lr_fitter *f, const lr_piece *piece, const char *why, const rec_tensor *tensor);
/** Holds a list against the base's, which is one: what has no place in it is a problem.
 *  @param count its elements. @param known how many of them the base has, too. */
int32_t lr_fit_list_against_base(lr_fitter *f, uint64_t count, uint64_t known);

/* modules.c */

/** Remembers a problem of the module where the walk is. @param key the same for all modules that it is one problem of;
 *  copied once. @param text NULL: the key. @param hint not copied, nor is the text. */
int32_t lr_fit_doubt(lr_fitter *f, lr_doubts *doubts, const char *key, const char *text, const char *hint);
/** Makes problems of them. @param more of a second module and others: "more". @param others of those beyond the most.
 */
int32_t lr_fit_report_doubts(lr_fitter *f, const lr_doubts *doubts, int32_t kind, const char *more, const char *others);
/** Leaves out a tensor that the module has no field for in Burn. @param needed PyTorch's module computes with it: a
 *  problem, unless its source is partial. */
int32_t lr_fit_drop(lr_fitter *f, lr_piece *piece, const char *type, bool needed);
/** A map that was built without a type: marked as the module that it is, and checked. @param type what the adapter took
 * it for, or NULL. @param name of the field that holds it. */
int32_t lr_fit_module_built(lr_fitter *f, const lr_node *node, const char *type, const char *name, rec_value *value);
/** The same where there is a type: it is checked. @param named the name of its type, or NULL. */
int32_t lr_fit_module_typed(lr_fitter *f, const lr_node *node, const char *type, const char *named,
                            const rec_value *value, bool transposed);

/* signs.c: what speaks for the adapter or against it, while that is to be decided (remap/decide.c). */

/** Whether it is to be decided if the adapter acts on what stands below a node. */
bool lr_fit_doubted(const lr_fitter *f, const lr_node *node);
/** Notes what the names in a module show about its layout. @param type of the module for the adapter. @param sure there
 * is more evidence than those names. */
int32_t lr_fit_sign_names(lr_fitter *f, const lr_node *node, const char *type, bool sure);
/** Notes a Linear in Burn's layout, by its shapes. */
int32_t lr_fit_sign_linear(lr_fitter *f, const lr_node *node, const uint64_t *weight, uint64_t bias);
/** Notes a transposed module whose tensors go together, as they would not otherwise. */
int32_t lr_fit_sign_held(lr_fitter *f, const lr_node *node, const char *module, const rec_value *value);

/* missing.c */

/** Remembers that the place where the walk is has nothing. @param bare it is a module that may have no tensors. */
int32_t lr_fit_remember(lr_fit *t, const rec_layout *layout, const char *what, bool bare);
/** The same, and makes its line. */
int32_t lr_fit_miss(lr_fit *t, const rec_layout *layout, const char *what, int *how);
/* suggest.c: load arguments that would fill the missing place, in backticks. @return false: none found. */

enum {
    LR_RENAME_TENSOR = 0,   /**< the key is that of a tensor */
    LR_RENAME_MODULE = 1,   /**< the begin of keys */
    LR_RENAME_NUMBERED = 3, /**< a module that has a number where the place has a name */
    LR_RENAME_LEAVES = 2    /**< the same, but only keys directly below it: siblings stay */
};
/** A rename of a key, or of a module by the begin of one, to a place. @param what LR_RENAME_… */
bool lr_suggest_rename(const char *from, size_t from_length, const char *to, int32_t what, char *rule, size_t room);
/** A module rule for a path; the numbers in it stand for any. */
bool lr_suggest_module(const char *path, const char *type, char *rule, size_t room);
/** A tie of the weight of a module that is missing to a tensor that is there; none for a module in a list. */
bool lr_suggest_tie(const char *path, const char *to, char *rule, size_t room);
/** A rename of the numbered modules next to a list of the type to its elements. @param parent length of the path of
 * what holds both, with its dot. */
bool lr_suggest_list(const char *path, size_t parent, char *rule, size_t room);
/** A stack of tensors below a path that needs a tensor of a higher rank, with the module rule for its layout. */
bool lr_suggest_stack(const lr_node *node, const char *path, uint64_t rank, char *rules, size_t room);
/** A split of queries, keys and values that are one tensor. @param to a place of one of them; NULL: where it stands. */
bool lr_suggest_split(const lr_piece *piece, const char *to, char *rule, size_t room);
/** A prefix for all keys, with a sentence. */
bool lr_suggest_prefix(const rec_plan *plan, const lr_missing *m, char *hint, size_t room);

/** Makes problems of all missing places, with suggestions. */
int32_t lr_fit_report_missing(lr_fit *t);
/** Remembers that the Option where the walk is has nothing. */
int32_t lr_fit_note_absent(lr_fit *t, const rec_layout *layout);
/** Makes problems of keys that are left next to an absent Option which they would fit: it is likely that Option. */
int32_t lr_fit_report_absent(lr_fit *t);
/** Remembers tensors that are left over in the module at a node, if that is one of remap/torch and Burn's. */
int32_t lr_fit_note_foreign(lr_fit *t, const rec_layout *layout, const char *type, const lr_node *node);
/** Leaves them out, as what PyTorch's modules compute with; where there are other problems, those come first. */
int32_t lr_fit_drop_foreign(lr_fit *t);
/** Makes lines and a problem of the unused keys. @param where "the type" */
int32_t lr_fit_report_left(lr_fitter *f, const char *where);

#endif
