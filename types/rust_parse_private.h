/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The parser of Rust source: what its parts, one file each, share. As in the lexer, whatever fails has failed the job
 * and put the end in place of the current token. */
#ifndef LR_RUST_PARSE_PRIVATE_H
#define LR_RUST_PARSE_PRIVATE_H

#include "types/rust_lex_private.h"
#include "types/types.h"

/** Values by scope and name. */
typedef struct lr_rust_names lr_rust_names;

enum {
    LR_SCOPE_TYPES = 0,
    LR_SCOPE_CONSTANTS = 1, /**< lr_rust_constant */
    LR_SCOPE_IMPORTS = 2,   /**< lr_rust_import */
    LR_SCOPE_FIELDS = 3     /**< and beyond: one of each struct and enum */
};

/** How sure it is that something is compiled, by its `cfg` attributes. */
enum {
    LR_CFG_NO = 0,       /**< tests alone */
    LR_CFG_UNLIKELY = 1, /**< not(feature = "…") */
    LR_CFG_LIKELY = 2,   /**< feature = "…" and whatever else there is */
    LR_CFG_YES = 3
};

/** `const NAME: usize = …;` */
typedef struct lr_rust_constant {
    struct lr_rust_constant *next;
    lr_rust_token name;
    lr_rust_lexer at; /**< after the `=` */
    int32_t cfg;
    int32_t state; /**< of the value: 0 not looked for, 1 being looked for, 2 known, 3 none */
    uint64_t value;
} lr_rust_constant;

/** `use path::name as …;` */
typedef struct lr_rust_import {
    const char *path; /**< "" for none; in the arena */
    const char *name;
    int32_t cfg;
} lr_rust_import;

/** The type and constant parameters of the definition that is being read. Lifetimes are left out. */
enum { LR_GENERICS_MOST = 64 };
typedef struct lr_rust_generics {
    lr_type_generic *at; /**< in the parser's arena */
    uint64_t count, room;
} lr_rust_generics;

typedef struct lr_rust_parser {
    rec_job *job;
    lr_rust_lexer lexer;
    lr_arena *arena;                  /**< for what lasts */
    lr_arena *scratch;                /**< for temporary data */
    lr_rust_names *names;             /**< of the file; NULL for a single expression */
    const rec_types *types;           /**< what was known before; NULL for a single expression */
    const lr_rust_generics *generics; /**< NULL outside a definition */
    unsigned depth;
    unsigned mute; /**< over 0: what is read is not kept */
    uint64_t kept; /**< expressions, fields and definitions so far */
} lr_rust_parser;

enum { LR_RUST_KEPT_MOST = 1 << 20 };

/* rust_parse.c */

/** Memory from an arena; counts as one thing kept. NULL: failed. */
void *lr_rust_keep(lr_rust_parser *parser, lr_arena *arena, size_t size);
/** As lr_grow, in the parser's arena, by one element; counts as one thing kept. */
bool lr_rust_grow(lr_rust_parser *parser, void *array, uint64_t need, uint64_t *room, size_t each);
/** A NUL-terminated copy in the parser's arena. NULL: failed. */
const char *lr_rust_copy(lr_rust_parser *parser, const char *text, size_t length);
/** One level deeper, or the limit's failure. Each true needs a lr_rust_leave(). */
bool lr_rust_enter(lr_rust_parser *parser);
void lr_rust_leave(lr_rust_parser *parser);
/** The names of a path before the last one, "a::b". Longer paths are not kept whole: real ones have some 40 bytes. */
typedef struct lr_rust_path {
    char text[128]; /**< not NUL-terminated */
    size_t length;
    size_t parent; /**< length without the last name */
    bool whole;
} lr_rust_path;
void lr_rust_path_add(lr_rust_path *path, const char *name, size_t length);
/** @return the index of a type or constant parameter of the definition that is being read, or UINT64_MAX. */
uint64_t lr_rust_generic(const lr_rust_parser *parser, const char *name, size_t length);

/* expr.c */

/** Arguments or elements as they come, in the parser's arena. */
typedef struct lr_rust_list {
    const lr_expr **at;
    uint64_t count, room;
} lr_rust_list;
/** Appends an expression, or nothing for NULL. */
void lr_rust_append(lr_rust_parser *parser, lr_rust_list *to, const lr_expr *expr);
/** Makes an expression of those values. @param args which become its own; or NULL. NULL: failed. */
const lr_expr *lr_rust_node(lr_rust_parser *parser, lr_expr values, const lr_rust_list *args);

/** Reads a type. NULL: failed. */
const lr_expr *lr_rust_type(lr_rust_parser *parser);
/** Reads a type and forgets it. */
bool lr_rust_skip_type(lr_rust_parser *parser);
/** Reads what may follow a `:`: `A + ?Sized + 'a + for<'b> Fn(&'b T)`, or nothing. @return false: failed. */
bool lr_rust_skip_bounds(lr_rust_parser *parser);
/** Reads a generic argument: a type, a number, `{…}`. A constant whose value is not known becomes a NAME of its text.
 */
const lr_expr *lr_rust_argument(lr_rust_parser *parser);

/* rust_value.c */

/** Reads a constant expression up to `closing`, which stays. Never fails. @return whether its value is known. */
bool lr_rust_value(lr_rust_parser *parser, const char *closing, uint64_t *value);
/** @return whether a name is that of an integer constant, of this file or an earlier one. */
bool lr_rust_named_value(lr_rust_parser *parser, const char *name, size_t length, uint64_t *value);

lr_rust_names *lr_rust_names_new(lr_rust_parser *parser);
/** Where the value of a name is or goes, NULL in it if it is new. NULL: failed. The name is borrowed. */
void **lr_rust_slot(lr_rust_parser *parser, uint64_t scope, const char *name, size_t length);
/** @return the value of a name, or NULL. */
void *lr_rust_look(const lr_rust_names *names, uint64_t scope, const char *name, size_t length);
/** Reads an import, behind `use`, up to its `;`. */
void lr_rust_use(lr_rust_parser *parser, int32_t cfg);

/* rust_attributes.c */

typedef struct lr_rust_attributes {
    int32_t derive; /**< LR_DERIVE_… */
    int32_t cfg;    /**< LR_CFG_… */
    bool skip;      /**< #[module(skip)] */
} lr_rust_attributes;

/** Reads the attributes in front of something, outer and inner; none is as good as some. @param cfg what is around. */
lr_rust_attributes lr_rust_attributes_read(lr_rust_parser *parser, int32_t cfg);

#endif
