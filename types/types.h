/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Types by name: definitions from Rust source, INI files and Burn's own modules, expressions over them in Rust's
 * grammar, what they look like in a file of one Burn version, and a record described as a type.
 * Nothing here reads or writes records or knows of foreign models: core asks for a layout through lr_type_ref.
 * A set of types owns its definitions, their names and their expressions; an expression that was parsed is in the arena
 * it was given; layouts are the job's. */
#ifndef LR_TYPES_H
#define LR_TYPES_H

#include "burn/layout/layout.h"

/** A type expression: `Vec<Option<nn::Linear<B>>>`, `[usize; 2]`, `(A, B)`, `Param<Tensor<B, 3, Int>>`. */
enum {
    LR_EXPR_NAME = 1,   /**< a path; `name` is its last part; `args` its generic arguments, types and numbers */
    LR_EXPR_NUMBER = 2, /**< a constant generic argument; `number` */
    LR_EXPR_ARRAY = 3,  /**< args[0], `number` times; if the length was given by a name that stands for no number
                             yet, args[1] is that name and `number` its default, else LR_LENGTH_UNKNOWN */
    LR_EXPR_TUPLE = 4   /**< args; none: the unit type */
};
typedef struct lr_expr {
    int32_t kind;
    const char *name;
    uint64_t number;
    uint64_t count;
    const struct lr_expr *const *args;
    const char *path; /**< of a NAME: what stood before it, imports followed: "burn::nn"; NULL: nothing */
    bool unsure;      /**< of a NAME: LR_UNSURE_SIGN follows it */
} lr_expr;

/** Behind an unsigned integer in a type that was made of a record: it may as well be a signed one. */
#define LR_UNSURE_SIGN "/* or i64 */"

#define LR_LENGTH_UNKNOWN UINT64_MAX

/** A field of a struct, a variant of an enum. */
typedef struct lr_type_field {
    const char *name;    /**< tuple structs: "0", "1"… */
    const lr_expr *type; /**< NULL: a unit variant */
    const char *initial; /**< value that a record gets which lacks it, or NULL: the name of a variant, or "zeros(NAME)":
                              a parameter of zeros in the shape of its sibling NAME */
    const char *from;    /**< path below the struct where another version keeps it, "." for the struct; or NULL */
    uint64_t from_element; /**< of an alias: one-based element of an older version's tuple that it is now; 0: none */
    bool skip;             /**< #[module(skip)] */
    uint32_t line;
} lr_type_field;

/** A type or constant parameter: "B". */
typedef struct lr_type_generic {
    const char *name;
    bool constant;          /**< Burn counts no mention of it */
    const lr_expr *initial; /**< its default, or NULL */
} lr_type_generic;

enum {
    LR_DEF_STRUCT = 1,    /**< fields */
    LR_DEF_ENUM = 2,      /**< fields are the variants; each has one payload at most */
    LR_DEF_ALIAS = 3,     /**< fields[0].type: what it stands for */
    LR_DEF_STATELESS = 4, /**< a module of Burn without data: a constant wherever it stands */
    LR_DEF_OPTIMIZER = 5  /**< fields: the state of one parameter; the record is a map from parameter id to states */
};
enum {
    LR_DERIVE_NONE = 0,
    LR_DERIVE_MODULE = 1, /**< fields that are no modules or parameters are constants */
    LR_DERIVE_RECORD = 2  /**< fields are data */
};

typedef struct lr_def {
    const char *name;
    int32_t kind;
    int32_t derive;
    int32_t since; /**< 0.MINOR from which this definition holds; 0: always */
    bool implicit; /**< generics are left out (INI): a field mentions them if it holds a module or tensor */
    bool rust;     /**< from Rust source, which has two dialects: dialect.c */
    uint64_t generic_count;
    const lr_type_generic *generics; /**< in order */
    uint64_t field_count;
    const lr_type_field *fields;
    const char *file; /**< for messages */
    uint32_t line;
    struct lr_def *next;
} lr_def;

/** What the dimensions of one tensor of a module are. */
typedef struct lr_shape_rule {
    const char *path;         /**< below the module, "hidden_transform.weight"; a part `_` is each child */
    uint64_t count;           /**< its rank: the rule speaks of tensors of that rank only */
    const char *const *words; /**< for each dimension: a word, "_" for any number, "*word" for a multiple of it */
} lr_shape_rule;

/** Which dimensions of a module's tensors must be equal, in all versions: [shapes NAME]. */
typedef struct lr_shapes {
    const char *name; /**< of the module */
    uint64_t rule_count;
    lr_shape_rule *rules;
    const char *file; /**< for messages */
    uint32_t line;
    struct lr_shapes *next;
} lr_shapes;

/** A set of definitions. All its memory is in its arena. */
struct rec_types {
    lr_attached attached; /**< of the context's own set, the first member */
    rec_context *context;
    bool holds;                /**< it holds the context: it is not the context's own */
    atomic_uint_fast64_t held; /**< recorders that hold it, besides its owner */
    lr_arena arena;
    lr_shapes *shapes; /**< the newest first, as definitions */
    lr_def *defs;      /**< the newest first; what the user gives hides what Burn has */
    bool builtin;      /**< Burn's own were read */
};

/** Keeps a set, and gives that up (rec_types_free). @return `types`. */
const rec_types *lr_types_retain(const rec_types *types);
/** A set that knows Burn's own types, for the context itself. NULL: the job has failed. */
rec_types *lr_types_new(rec_job *job);
/** Adds a definition (copied shallowly: names, fields and expressions must be in the arena). */
int32_t lr_types_add(rec_job *job, rec_types *types, const lr_def *def);
/** @return the definition of a name for a Burn version, or NULL. */
const lr_def *lr_types_find(const rec_types *types, const char *name, int32_t minor);
/** The same for a NAME expression: a path of Burn's (`nn::Linear`, `burn::nn::Linear`) goes by what the user called so.
 */
const lr_def *lr_types_find_path(const rec_types *types, const lr_expr *expr, int32_t minor);

/** Parses a type expression. Paths lose all parts except the last; references, lifetimes, `dyn` and `impl` types and
 * function pointers become a NAME of their text without arguments (they hold no data). Numbers may have `_` and a
 * suffix. @param text,length the expression, parsed completely except for white space and comments. @param file,line
 * for messages (file NULL: an argument). @return in the arena; NULL: the job has failed (with the expected token and
 * the place). */
const lr_expr *lr_expr_parse(rec_job *job, lr_arena *arena, const char *text, uint64_t length, const char *file,
                             uint32_t line);
/** Writes an expression in its plain form. @return its whole length. */
size_t lr_expr_print(const lr_expr *expr, char *text, size_t room);

/** The layout of an expression in the job's Burn version (type_layout.c). NULL: the job has failed. */
const rec_layout *lr_layout_of_expr(rec_job *job, const rec_types *types, const lr_expr *expr);
/** A type by name, both parts borrowed. @param expr NULL: no type, but definitions for what a plugin asks for. */
lr_type_ref lr_type_of_expr(const rec_types *types, const lr_expr *expr);

/** Reads the `struct`, `enum` and `type` items of Rust source (rust.c). @param text NUL-terminated. */
int32_t lr_types_add_rust(rec_job *job, rec_types *types, const char *text, uint64_t length, const char *file);
/** Reads the type sections of INI files (types_ini.c): all of them or, with a mistake in one, none. */
int32_t lr_types_add_inis(rec_job *job, rec_types *types, const char *const *paths, uint64_t count);
/** Reads Burn's own modules, once: the *.ini files that lr_ini_files_find() names (types.c). */
int32_t lr_types_add_builtin(rec_job *job, rec_types *types);

/* shapes.c */

enum { LR_SHAPES_WORDS = 16 }; /**< different words of a section; the parser refuses more */
/** Rules for a module's shapes; may be NULL. */
const lr_shapes *lr_types_shapes(const rec_types *types, const char *name);
/** Whether a module's tensors go together. Tensors of another rank, and what is not there, do not count. @param clash
 * (out) the first two that do not. */
bool lr_shapes_hold(const lr_shapes *shapes, const rec_value *module, lr_module_clash *clash);

/** Knowledge about Burn's own modules (modules.c). */
extern const lr_modules lr_types_modules;
/** Whether a field's name speaks of a type, the letters of either in the other: `bn1` does not, `embedding`,
 *  `decoder_2` of TransformerDecoder do. */
bool lr_field_speaks_of(const char *field, const char *type);

#endif
