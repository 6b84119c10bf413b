/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What the files of this room share. */
#ifndef LR_TORCH_PRIVATE_H
#define LR_TORCH_PRIVATE_H

#include "burn/layout/layout.h"
#include "remap/torch/torch.h"

/** The most keys that one computed piece is made of. */
enum { LR_TORCH_INPUTS_MOST = 16 };

/** A walk over the tree that rewrites pieces. */
typedef struct lr_torch_run {
    rec_job *job;
    rec_plan *plan;
    bool changed;
    lr_piece **made; /**< pieces with new keys */
    uint64_t made_count, made_room;
    const char *unsure; /**< the first layer whose order of norms is unknown; NULL: none */
    uint64_t unsure_count;
} lr_torch_run;

/* pieces.c */

/** Returns the piece of a leaf that the adapter acts on, a tensor, or NULL. */
lr_piece *lr_torch_leaf(const lr_torch_run *r, const lr_node *node, const char *name);
/** Whether the adapter acts on the first piece at or below a node. */
bool lr_torch_adapts(const lr_torch_run *r, const lr_node *node);
/** The path of a node: "" for the root. NULL: the job has failed, or keys spell the path in several ways. */
const char *lr_torch_path(lr_torch_run *r, const lr_node *node);
/** Moves all pieces at and below a child. @param to the path of its parent. @param name its new name; NULL: its own.
 *  @param why the kind of module. @param linear its weight is that of a Linear. */
int32_t lr_torch_move(lr_torch_run *r, const lr_node *child, const char *to, const char *name, const char *why,
                      bool linear);
/** Makes a piece of others, after the first of them in the list. Takes the count of `op`. The others are dead then. */
lr_piece *lr_torch_make(lr_torch_run *r, const char *key, lr_op *op, lr_piece *const *from, uint64_t count,
                        const char *operation, const char *why);
/** Cuts the rows of a piece into the parts of a kind. @param to the path of its module. */
int32_t lr_torch_split(lr_torch_run *r, lr_piece *piece, const lr_torch_kind *kind, const lr_torch_field *field,
                       const char *to);
/** Applies the renames of the load arguments that did not act on a file's own name to the name that was made of it. */
int32_t lr_torch_rename(lr_torch_run *r);

#endif
