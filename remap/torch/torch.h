/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Modules of several tensors that PyTorch names and lays out differently from Burn: recurrent networks, attention,
 * transformer layers, parametrized weights. One table (kinds.c) gives their names on both sides; it is read forwards
 * and backwards.
 * This room never decides where a module stands: a type, or keys that only one module has, do. A linear layer or a norm
 * is the adapter's (remap/rules/adapter.c).
 * The pieces it makes are the plan's. */
#ifndef LR_TORCH_H
#define LR_TORCH_H

#include "remap/plan/plan.h"

/** A tensor, a module or a list of modules of a kind. */
typedef struct lr_torch_field {
    const char *torch;      /**< PyTorch's name; `#` stands for the number of the layer; NULL: the end of the table */
    const char *burn;       /**< Burn's path below the module; `%` stands for the part; NULL: Burn has no such field */
    const char *norm_first; /**< the path in layers that apply their norms first; NULL: the same */
    const char *kind;       /**< of the module it holds; NULL: none of these */
    bool parts;             /**< its rows are the kind's parts, one after the other */
    bool each;              /**< a list of modules of `kind` */
    bool linear;            /**< its weight is that of a Linear */
} lr_torch_field;

typedef struct lr_torch_kind {
    const char *name;         /**< Burn's */
    const char *proof;        /**< a field of Burn's module: a struct of that name without it is another one */
    const char *const *parts; /**< NULL-terminated; NULL: none */
    const lr_torch_field *fields;
    bool recurrent; /**< its tensors have the number of a layer: a list of these modules may stand in one place */
    bool both;      /**< it runs in both directions */
} lr_torch_kind;

/* kinds.c */

/** Finds a kind by its name in Burn; NULL: unknown. */
const lr_torch_kind *lr_torch_kind_find(const char *name);
/** The kind that a struct of a type is, or NULL. */
const lr_torch_kind *lr_torch_kind_of(const rec_layout *layout);
/** The recurrent kind with so many gates, or NULL. */
const lr_torch_kind *lr_torch_kind_of_gates(uint64_t gates, bool both);
uint64_t lr_torch_part_count(const lr_torch_kind *kind);
/** Finds a field by its name in PyTorch. @param layer (out) the layer's number, 0 if the name has none. @param reversed
 * (out) of the reverse direction. NULL: unknown. */
const lr_torch_field *lr_torch_field_find(const lr_torch_kind *kind, const char *name, uint64_t length, uint64_t *layer,
                                          bool *reversed);
/** Finds a field that holds modules of these kinds by its name in Burn; NULL: unknown. */
const lr_torch_field *lr_torch_holder_find(const lr_torch_kind *kind, const char *name, uint64_t length);

/** Where a tensor of Burn's module stands in PyTorch's. */
typedef struct lr_torch_place {
    char *text;        /**< PyTorch's path below the module */
    uint64_t room;     /**< of it */
    const char *whole; /**< the last part of `text` where it is one of several parts of a tensor; else NULL */
    const lr_torch_kind *kind;
    uint64_t part, part_count; /**< count 1: a separate tensor */
    bool linear, unsure;       /**< it is of a Linear; its name depends on the order of norms, which nothing says */
} lr_torch_place;

/** Finds PyTorch's place for a tensor of Burn's module. @param path below the module. @param layer of a recurrent
 * module. @param norm_first as lr_torch_norm_first(). @param place the caller sets its text and room. @return false:
 * not found. */
bool lr_torch_back(const lr_torch_kind *kind, const char *path, uint64_t layer, int norm_first, lr_torch_place *place);

/** Whether the layers of a source apply their norms first, as `norm_first` says: 1, 0; -1: nothing says. */
int lr_torch_norm_first(lr_plan_source *source);

/* modules.c, weights.c */

/**
 * Makes the weights that PyTorch's parametrizations compute: weight_norm and pruning. Rejects those that cannot be
 * computed. @param changed (out) whether pieces have other keys now: the tree must be rebuilt. */
int32_t lr_torch_weights(rec_job *job, rec_plan *plan, const rec_layout *layout, bool *changed);
/**
 * Splits and renames the tensors of PyTorch's modules, where the adapter acts on them. With a type the modules are
 * those of its kinds, whatever their paths; without one those whose keys no other module has.
 * @param layout of the destination, or NULL. @param changed (out) as above. */
int32_t lr_torch_modules(rec_job *job, rec_plan *plan, const rec_layout *layout, bool *changed);

#endif
