/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What the files share that lay types out by name: where an expression stands, and what names in it mean there. */
#ifndef LR_TYPE_LAYOUT_PRIVATE_H
#define LR_TYPE_LAYOUT_PRIVATE_H

#include "types/types.h"

/** The dialects of Rust source. What the outermost module has counts for those within it. */
enum {
    LR_DIALECT_NONE,    /**< no module of Rust source yet */
    LR_DIALECT_BACKEND, /**< up to 0.21: `struct Net<B: Backend> { fc: Linear<B> }` */
    LR_DIALECT_PLAIN    /**< from 0.22 on: `struct Net { fc: Linear }` */
};

/** The generic arguments a definition was used with. */
typedef struct lr_scope {
    const lr_def *def;
    const lr_expr *use; /**< its arguments, in order */
    const struct lr_scope *outer;
    const lr_expr *rank; /**< of an optimizer's state: what its second parameter stands for */
    int dialect;         /**< LR_DIALECT_… */
} lr_scope;

/** Bounds on a type: how deep it is nested, and how much it is made of in all. */
enum { LR_DEPTH_MOST = 64, LR_NESTING_MOST = 256, LR_PARTS_MOST = 1 << 20 };

/** A layout that is being made. */
typedef struct lr_layer {
    rec_job *job;
    const rec_types *types;
    int32_t minor;
    unsigned depth;   /**< definitions */
    unsigned nesting; /**< expressions */
    uint64_t parts;
    bool constant; /**< what is laid out is a constant, whatever it is */
} lr_layer;

/* dialect.c */

/** A number or text by its name in Rust. */
typedef struct lr_type_scalar {
    const char *name;
    int32_t kind; /**< REC_LAYOUT_… */
    uint32_t bits;
} lr_type_scalar;
/** Returns the scalar of a name, or NULL. */
const lr_type_scalar *lr_scalar_of(const lr_expr *expr);

bool lr_is_name(const lr_expr *expr, const char *name);
/** @param names NULL-terminated. */
bool lr_is_one_of(const lr_expr *expr, const char *const *names);
/** Returns the definition of a name for the version, or NULL. */
const lr_def *lr_layer_find(const lr_layer *l, const lr_expr *expr);
/** Returns what a name stands for if it is a type parameter of the scope. @param where (out) the scope that is of. */
const lr_expr *lr_scope_parameter(const lr_expr *expr, const lr_scope *in, const lr_scope **where);
/** Returns the number that an expression is or names, or NULL. */
const lr_expr *lr_scope_number(const lr_expr *expr, const lr_scope *in);
/** Makes the scope of a definition that is used within another. @param in NULL: it is the outermost. */
lr_scope lr_scope_of(const lr_def *def, const lr_expr *use, const lr_scope *in);
/** Whether an expression mentions a type parameter of its definition; where the backend is left out (INI, source for
 *  0.22), whether it has a tensor or a module with one anywhere. */
bool lr_mentions(lr_layer *l, const lr_scope *in, const lr_expr *expr);
/** Whether a module can hold data: up to 0.21 by its parameter, from 0.22 on by its contents. */
bool lr_can_hold(lr_layer *l, const lr_def *def, const lr_scope *in);
/** Whether Burn takes a type for a primitive, from 0.22 on: a number, a text, or a container that it knows of such. */
bool lr_is_primitive(const lr_expr *expr);

#endif
