/* SPDX-License-Identifier: MIT OR Apache-2.0
 * A plan's data: its sources and their keys, the pieces that rules make of them, the tree of the pieces' keys, lines
 * and problems; and the operations that a rule asks for at a piece's place.
 * It never decides where a key goes: remap/forward, remap/reverse and remap/fit do, and no recorder is known here.
 * A plan owns its sources, pieces, nodes and texts, nearly all of them in its arena, and the count of each piece's
 * operation; rec_plan_free() frees them. */
#ifndef LR_PLAN_H
#define LR_PLAN_H

#include "remap/ops/ops.h"
#include "remap/rules/rules.h"

/* There may be millions of keys, pieces, nodes and lines: each is as small as it can be. */

/** A tensor or value of a source. */
typedef struct lr_key {
    const char *text;       /**< a path: names and indices joined by dots, in which dots and backslashes are escaped;
                                 NUL-terminated */
    const rec_value *value; /**< in the source's record */
    const char *module; /**< backwards: the module of Burn's that holds it, by its fields; NULL: not known for sure */
    uint32_t length;
    uint32_t source : 31;
    uint32_t used : 1; /**< some piece is made of it */
} lr_key;

/** What the rules made of one or several keys. */
typedef struct lr_piece {
    struct lr_piece *next;  /**< in the order they were made */
    const char *key;        /**< destination key, dotted, before adapters rename its last part; NUL-terminated */
    const rec_value *value; /**< unchanged value of the source, possibly a tensor; NULL: `op` computes it */
    lr_op *op;              /**< a tensor in the source's layout: before rope, transpose and the like; or NULL */
    union {
        lr_key *one; /**< if it is made of one key */
        lr_key *const *many;
    } of;                   /**< lr_piece_inputs() */
    const char *operations; /**< those so far, "split"; "" none */
    const char *why;        /**< "rules 2, 4"; "" none */
    uint64_t length;
    uint32_t input_count;
    uint32_t source : 25; /**< whose rules and numbers count */
    uint32_t linear : 1;  /**< it is a Linear's weight, as the module around it shows */
    uint32_t taken : 1;   /**< some place at the destination has it */
    uint32_t adapted : 1; /**< in Burn's layout already: no adapter and no operation acts on it any more */
    uint32_t dead : 1;    /**< a stack or a join has it */
    uint32_t kept : 1;    /**< of the base: it gives way to any other */
    uint32_t named : 1;   /**< it has the parameter id of its first key's tensor, if that has one */
} lr_piece;

/** The keys that a piece is made of, in order: input_count of them. */
static inline lr_key *const *lr_piece_inputs(const lr_piece *piece)
{
    return piece->input_count == 1 ? &piece->of.one : piece->of.many;
}

/** The most sources that a plan may have, for their numbers are kept short; all bits of one. */
enum { LR_SOURCES_MOST = (1 << 25) - 1 };

/* What an import leaves in a record's metadata for the way back, since no tensor shows it: lines of a word and a value.
 * memory.c reads it, remap/remember.c writes it. */

#define LR_MEMORY_KEY LR_METADATA_IMPORT
#define LR_MEMORY_HEAD "1\n" /**< the version of the lines */

enum { LR_MEMORY_DIGITS = 20 }; /**< the most of a number that a list gave up */

/** A text, or a place and what it was called. Borrowed. */
typedef struct lr_memory_entry {
    const char *text; /**< NUL-terminated */
    const char *value;
} lr_memory_entry;

/** Sorted by their texts, by lr_memory_sort(). */
typedef struct lr_memory_list {
    lr_memory_entry *at;
    uint64_t count, room;
} lr_memory_list;

typedef struct lr_memory {
    lr_memory_list moved;        /**< places whose number changed when gaps were closed, with that number */
    lr_memory_list levels;       /**< places that are the variant of an enum */
    lr_memory_list linear;       /**< weights that were transposed, folded */
    lr_memory_list attention;    /**< paths of modules that were nn.MultiheadAttention */
    lr_memory_list parametrized; /**< weights of weight_norm that the file had as original0 and original1 */
    lr_memory_list cells;        /**< keys of nn.LSTMCell and its like that the file had, folded */
    lr_memory_list keys;         /**< keys that the file had, folded */
    lr_memory_list kinds;        /**< metadata that were numbers, with which: "u32" */
    lr_memory_list dropped;      /**< keys that were left out, folded, in their order */
    const char *prefix;          /**< or NULL */
    lr_rules *rules;             /**< with adapter, select and lets */
    lr_rules *recognised;        /**< what recognition added to them, as rules */
} lr_memory;

/** A source with its load arguments. */
typedef struct lr_plan_source {
    const char *name;  /**< as messages call it */
    const char *path;  /**< of the file, NULL for a record in memory */
    rec_record *owned; /**< to be freed with the plan, or NULL */
    const rec_record *record;
    lr_rules *rules; /**< profile and arguments together */
    lr_variables numbers;
    const char *prefix; /**< or NULL */
    int32_t adapter;    /**< LR_ADAPTER_NONE, LR_ADAPTER_PYTORCH */
    bool foreign;       /**< its layout is neither Burn's nor PyTorch's: rules decide */
    bool hints;         /**< what its reader knows of the weights of linear layers counts */
    bool close_gaps;
    bool gaps_given; /**< an argument or a profile said so, or said otherwise */
    bool partial, strict, reverse, debug;
    bool stored;   /**< Burn's own store wrote it: the variant of an enum may be a part of its keys */
    bool doubted;  /**< whether the adapter acts is to be decided: Burn's own store wrote it (decide.c) */
    bool chosen;   /**< the profile was chosen by its keys */
    bool presumed; /**< it is taken for PyTorch's though nothing says so: no profile, no rule, no argument */
    bool lent;     /**< rules and numbers are another plan's */
    bool works;    /**< there are rules that act at the destination: lr_rule_works() */
    lr_key *keys;
    uint64_t key_count;
    lr_key **sorted;   /**< the keys by their text, once one was looked for */
    lr_memory *memory; /**< backwards: what the import left in the record; NULL: nothing */
    lr_type_ref type;  /**< backwards: of the source's record, or none */
} lr_plan_source;

/** A part of a destination path. */
typedef struct lr_node {
    const char *name; /**< not NUL-terminated where it is part of a key: see length */
    struct lr_node *parent;
    struct lr_node *first, *last, *next; /**< children in the order they came */
    lr_piece *piece;                     /**< that ends here, or NULL */
    lr_piece *base; /**< the base's that ends here, whether or not another took its place; or NULL */
    uint64_t index; /**< REC_UNKNOWN for names that are no index */
    uint32_t length;
    uint32_t offset; /**< of the name in the keys that pass through it */
    uint32_t child_count;
    uint32_t index_count : 31; /**< of children */
    uint32_t in_base : 1;      /**< the base has something here or below */
} lr_node;

/** The outcome for a piece, or for a place without one: becomes a rec_plan_line. */
typedef struct lr_line {
    const lr_piece *piece;    /**< or NULL */
    const rec_tensor *tensor; /**< at the destination, or NULL */
    const char *to;           /**< its path at the destination */
    const char *operations, *why;
    int32_t action;
} lr_line;

/** A key that goes nowhere. */
typedef struct lr_lost {
    const lr_key *key;
    const char *why;
    int32_t action;
} lr_lost;

/** What a trial found that speaks for or against the adapter, of sources that are doubted. */
enum {
    LR_SIGN_CLASH = 1, /**< tensors are inconsistent under this assumption */
    LR_SIGN_BURN = 2,  /**< it is in Burn's layout */
    LR_SIGN_TORCH = 3, /**< it is in PyTorch's */
    LR_SIGN_HINT = 4   /**< it is probably in Burn's */
};
typedef struct lr_sign {
    struct lr_sign *next;
    int32_t kind;
    const char *path; /**< at the destination */
    const char *text; /**< "fc: weight [3, 2] with bias [2]" */
} lr_sign;

struct rec_plan {
    rec_context *context;
    lr_arena arena;
    lr_arena tree; /**< of nodes: freed once the plan is made */
    lr_plan_source *sources;
    uint64_t source_count, source_room;
    const rec_record *base;
    uint32_t base_source; /**< the number of the base's source, once it has one */
    bool made;
    rec_status failed;       /**< what making it ended with */
    lr_type_ref type;        /**< the destination's, or none */
    int32_t minor;           /**< 0.MINOR whose modules the type's are */
    rec_precision precision; /**< the first source's: what tensors have when loaded */
    rec_precision written;   /**< what they are written at, KEEP if that is not known */
    bool backward;           /**< a source's profile goes backwards: the destination is its foreign file */
    bool burns;              /**< the destination is a format of Burn, which nothing goes backwards into */
    bool paths;              /**< the destination stores a tensor under the path of its fields */
    bool foreign;            /**< the destination is a foreign file: no parameter ids are made, a flat map of paths */
    bool clamp;
    lr_piece *pieces, *last_piece;
    uint64_t piece_count;
    lr_node *root;          /**< NULL once the plan is made */
    rec_record *result;     /**< the destination: deferred tensors; NULL if there are fatal problems */
    lr_memory_list modules; /**< of Burn's that the keys show where there is no type, by their paths at the destination;
                                 sorted once all are found */
    lr_line *lines;
    uint64_t line_count, line_room;
    lr_lost *lost; /**< their lines come after the others */
    uint64_t lost_count, lost_room;
    rec_plan_line *shown; /**< all lines for those who want to see them: lr_plan_lines(); NULL: nobody did */
    rec_plan_problem *problems;
    uint64_t problem_count, problem_room;
    struct lr_refusal *refusals; /**< of encoded tensors, each with all tensors that it is for */
    uint64_t mapped, kept;       /**< tensors and values placed */
    const char *guessed;         /**< what the adapter took modules for without being told; NULL: nothing */
    bool trial;                  /**< it is made to see what speaks for the adapter: signs are noted */
    lr_sign *signs;              /**< the last one first */
    bool advises;                /**< reports the family of models of its sources */
    bool quiet;                  /**< while variants are tried: problems are not kept */
    rec_plan_totals totals;
    struct lr_plan_held {
        void (*release)(void *what);
        void *what;
    } *held; /**< what outlives the plan's sources and its result, and goes with it */
    uint64_t held_count, held_room;
};

/* plan.c. NULL or a status: the job has failed (out of memory). All strings are copied into the plan's arena. */

/** An empty plan. @param type of the destination, or none. @param minor 0.MINOR whose modules the type's are; not above
 *  0: the last one. @param written the precision that the result is written at, KEEP if that is not known. @param
 * foreign the destination is a foreign file. */
rec_plan *lr_plan_new(rec_job *job, lr_type_ref type, int32_t minor, rec_precision written, bool foreign);
/** Keeps something for as long as the plan lives, and releases it then; not if it fails. */
int32_t lr_plan_hold(rec_job *job, rec_plan *plan, void (*release)(void *what), void *what);
/** Appends a source that has nothing yet. Pointers to others are not valid any more. */
lr_plan_source *lr_plan_source_new(rec_job *job, rec_plan *plan);
/** Takes the last source away again, with all it has. */
void lr_plan_source_drop(rec_plan *plan);
/** A copy of a text in the plan's arena. */
const char *lr_plan_keep(rec_job *job, rec_plan *plan, const char *text, uint64_t length);
/** A text made by a format, in the plan's arena, however long it is: keys are made so. */
#define lr_plan_text(job, plan, ...) ((const char *)lr_job_arena_format((job), &(plan)->arena, __VA_ARGS__))
/** "a", "b" -> "a.b"; where `a` is NULL or "" it is `b` itself. NULL: the job has failed. */
const char *lr_plan_join(rec_job *job, rec_plan *plan, const char *a, const char *b);
int32_t lr_plan_problem(rec_job *job, rec_plan *plan, int32_t kind, bool fatal, const char *key, const char *hint,
                        const char *format, ...) REC_PRINTF(7, 8);
/** What an operation refused on a tensor is a problem of the plan: the failure becomes one. @param doing what was done.
 *  @return REC_OK, or what was no such failure. */
int32_t lr_plan_refused(rec_job *job, rec_plan *plan, const char *key, const char *doing);
/** Notes a sign, in a trial. */
int32_t lr_plan_sign(rec_job *job, rec_plan *plan, int32_t kind, const char *path, const char *format, ...)
    REC_PRINTF(5, 6);
/** A line for a source key that goes nowhere. @param action REC_PLAN_DROPPED, REC_PLAN_UNEXPECTED. */
int32_t lr_plan_lost(rec_job *job, rec_plan *plan, int32_t action, lr_key *key, const char *why);
/** The line of a piece, or of a place without one (NULL) at the path `to`, which is copied if it is not the piece's
 * key. `operations` and `why` live as long as the plan. @param tensor at the destination, or NULL. */
int32_t lr_plan_line(rec_job *job, rec_plan *plan, int32_t action, const lr_piece *piece, const rec_tensor *tensor,
                     const char *to, uint64_t length, const char *operations, const char *why);
/** All lines, line_count and lost_count of them, the latter after the others. NULL: out of memory. It is no operation,
 * which would replace the error and report. */
const rec_plan_line *lr_plan_lines(rec_plan *plan);
/** Makes a piece of `count` keys and appends it. Takes a count of `op`. @param value where `op` is NULL: what it is. */
lr_piece *lr_plan_piece(rec_job *job, rec_plan *plan, uint32_t source, const char *key, uint64_t length, lr_op *op,
                        const rec_value *value, lr_key *const *inputs, uint64_t count, const char *operations,
                        const char *why);
bool lr_piece_is_tensor(const lr_piece *piece);
/** What a piece is that is no tensor; NULL of a tensor. */
const rec_value *lr_piece_value(const lr_piece *piece);
/* Of a piece that is a tensor, in the source's layout. */
uint32_t lr_piece_rank(const lr_piece *piece);
const uint64_t *lr_piece_shape(const lr_piece *piece);
rec_dtype lr_piece_dtype(const lr_piece *piece);
/** Its operation, with a count more. NULL: the job has failed. */
lr_op *lr_piece_op(rec_job *job, const lr_piece *piece);
/** What the reader of a piece's only tensor knows of it: REC_TRANSPOSED_…; unknown where that does not count. */
int32_t lr_piece_turned(const rec_plan *plan, const lr_piece *piece);
/** Whether a tensor needs no operation: its piece has none until one is requested. */
bool lr_tensor_is_plain(const rec_tensor *tensor);
/** The parameter id that a piece came with, or NULL. */
const char *lr_piece_id(const lr_piece *piece);
/** "a", "b" -> "a, b"; where one is "" the other is given back itself, so both must live as long as the plan. */
const char *lr_plan_and(rec_job *job, rec_plan *plan, const char *a, const char *b);

/* keys.c */
/** Lists the tensors and values of a source. */
int32_t lr_plan_keys(rec_job *job, rec_plan *plan, uint32_t source);

/** Whether a name has the form of a raw identifier in Burn's store: the field r#type is `type` in a record. */
bool lr_plan_is_raw(const char *name, uint64_t length);
/** A key of a source by its text. NULL: it has none, or the job has failed. */
lr_key *lr_plan_find_key(rec_job *job, lr_plan_source *source, const char *text, uint64_t length);

/* memory.c: texts are in the arena. */
/** What a record's metadata say. @param memory (out) NULL: nothing, or the job has failed. To be freed. */
int32_t lr_memory_read(rec_job *job, lr_arena *arena, const rec_record *record, lr_variables *numbers,
                       lr_memory **memory);
void lr_memory_free(const lr_allocator *allocator, lr_memory *memory); /**< NULL is ignored */
/** Appends an entry. */
int32_t lr_memory_add(rec_job *job, lr_memory_list *list, const char *text, const char *value);
void lr_memory_sort(lr_memory_list *list);
/** Returns the entry of a text, or NULL. */
const lr_memory_entry *lr_memory_find(const lr_memory_list *list, const char *text, uint64_t length);
/** Restores an entry of the metadata: a number that a format stores as text. */
rec_value lr_memory_value(const lr_memory *memory, const char *key, const rec_value *value);
/** Whether a list has a key, whatever its numbers. */
bool lr_memory_has(const lr_memory_list *list, const char *key, uint64_t length);
/** @return whether a text is one digit or more, and nothing else. */
bool lr_memory_is_digits(const char *text, uint64_t length);
/** Folds a key: parts that are numbers become `#`. @param folded room for `length` + 1 bytes. @return its length. */
uint64_t lr_memory_fold(const char *key, uint64_t length, char *folded);
/** Restores the original key of a record before rules: indices of lists, and if `levels` without added levels. @param
 * out NULL: unchanged. Released by the caller. */
int32_t lr_memory_restore(rec_job *job, const lr_memory *memory, bool moved, bool levels, const char *key,
                          uint64_t length, char **out);

/* tree.c */
/** Puts all pieces into plan->root. Two for one place are a problem. */
int32_t lr_plan_tree(rec_job *job, rec_plan *plan);
lr_node *lr_node_child(const lr_node *node, const char *name, uint64_t length); /**< NULL: not found */
/** Returns the first piece at or below a node, from a source if there is one, else from the base; may be NULL. */
lr_piece *lr_node_piece(const lr_node *node);
/** Lays out a type for the job. @param minor 0.MINOR whose modules it has; not above 0: the last one. NULL: the job has
 * failed. */
const rec_layout *lr_plan_layout(rec_job *job, lr_type_ref type, int32_t minor);
/** Returns the number of a struct's field, or of an enum's variant; REC_UNKNOWN: the type has none of that name. */
uint64_t lr_layout_named(const rec_layout *layout, const char *name, uint64_t length);
/** The layout below one by a part of a key, a variant's name too; NULL: it has none. */
const rec_layout *lr_layout_below(const rec_layout *layout, const char *part, uint64_t length);
/** Reads a part of a key as Burn does: 64 bits unsigned, `007` and `+1` too. */
bool lr_node_index(const char *text, uint64_t length, uint64_t *index);

/* work.c: what the rules of a source ask for at a place of the destination. */

/** The path where the walk is: names and indices joined by dots, in which dots and backslashes are escaped. */
typedef struct lr_place_path {
    char *text; /**< NUL-terminated; from the context's allocator */
    size_t used;
    uint64_t room;
    unsigned levels;
} lr_place_path;
bool lr_place_enter(rec_job *job, lr_place_path *path, const char *name, uint64_t length, size_t *before);
/** The same with a name that is a path already. */
bool lr_place_enter_path(rec_job *job, lr_place_path *path, const char *name, uint64_t length, size_t *before);
void lr_place_leave(lr_place_path *path, size_t before);

/** The part of a path that the rules of a source see: without its prefix. @param length in and out. */
const char *lr_place_without_prefix(const lr_plan_source *source, const char *path, uint64_t *length);
/** Whether rules of a kind act on tensors at the destination: squeeze, reshape, transpose, permute, rope, add. */
bool lr_rule_works(int32_t kind);
/** Whether a rule is for tensors of a rank: transpose for two axes, permute for as many as it names, reshape for those
 *  of its shape before. @param back for tensors that it made. */
bool lr_rule_fits(const lr_rule *rule, uint32_t rank, bool back);
/** Acts out a reshape rule (shape.c). @param back the other way, where the rule has both shapes.
 *  @return NULL: the job has failed. */
lr_op *lr_rule_reshape(rec_job *job, lr_plan_source *source, const lr_rule *rule, lr_op *op, bool back);
/** Acts out a rope rule. @param back the other way. @return NULL: the job has failed. */
lr_op *lr_rule_rope(rec_job *job, const lr_plan_source *source, const lr_rule *rule, lr_op *op, bool back);
/** Acts out these rules on a piece for the destination key `path`, then the transposition.
 *  @param op (out) a new count. @param operations (out) what was done. */
int32_t lr_place_work(rec_job *job, rec_plan *plan, lr_matcher *matcher, lr_piece *piece, const char *path,
                      uint64_t length, bool transpose, lr_op **op, const char **operations);
/** Finds the first rule of a kind, from index `*at` on, that matches a text. @param at (in, out) its index. @return 1
 *  found, 0 none, -1: the job has failed. */
int lr_source_rule(rec_job *job, const lr_plan_source *source, lr_matcher *matcher, int32_t kind, const char *text,
                   size_t length, uint64_t *at);
/** "rule 2", "rules 2, 4"; as many as there is room for. @return text. */
const char *lr_rules_words(char text[512], const uint64_t *numbers, uint64_t count);
/** The type that module rules give a path; NULL: none, or the job has failed. */
const char *lr_module_rule(rec_job *job, lr_plan_source *source, lr_matcher *matcher, const char *path,
                           uint64_t length);
/** The value of an amount of a source's rule. @param amount NULL: 1. */
int32_t lr_source_amount(rec_job *job, const lr_plan_source *source, const lr_rule *rule, const lr_amount *amount,
                         int64_t *value);

#endif
