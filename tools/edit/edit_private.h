/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What the files of `record edit` share: the record that is edited, its operations, keys and values. */
#ifndef RECORD_EDIT_PRIVATE_H
#define RECORD_EDIT_PRIVATE_H

#include "tools/edit/edit.h"

/* -------------------------------------------------------------------------------------------------------- work -- */

/* The record that is edited. Others whose bytes it uses, or that a plan was made of, live as long. */
typedef struct work {
    session *s;
    rec_record *record;
    struct {
        rec_record **at;
        rec_plan **plans;
        size_t count, plan_count;
    } held;
    const rec_recorder *to; /* that will write it */
    notes notes;
} work;
/* Makes `next` the record that is edited; the one before it stays for its bytes. Takes `next` and `plan` (or NULL). */
void tool_edit_replace(work *w, rec_record *next, rec_plan *plan);
/* @return a copy of the current record, which lives as long as the work; NULL with the error printed. */
const rec_record *tool_edit_before(work *w);
/* Takes away what is below a value that is replaced as a whole, if it is there. */
void tool_edit_clear(work *w, const char *path);
/* Keeps a record as long as the work. */
void tool_edit_hold(work *w, rec_record *record);
/* Opens the recorder of the input at an operand's position, from 1. @param adapt converts a foreign file to Burn's
 * layout; otherwise it is read unchanged, unless an option adapts it. */
rec_recorder *tool_edit_reader(session *s, size_t place, bool adapt);

/* What an operation did. */
typedef struct outcome {
    uint64_t changed;                       /* tensors and values */
    uint64_t tensors, nbytes;               /* of them tensors, their bytes */
    uint64_t elements;                      /* of tensors that were cast or set */
    uint64_t rounded, overflowed, vanished; /* of these */
    text said;                              /* for people */
} outcome;

/* Adds a leaf to an outcome: the `user`. */
void tool_edit_count_leaf(void *user, const char *path, const rec_value *leaf);

/* An operation: a word, followed by operands. */
typedef struct step step;
typedef struct operation {
    const char *name;
    size_t operands;
    bool more;                                         /* or that many and more, up to the word of the next operation */
    int (*run)(work *w, const step *todo, outcome *o); /* errors are printed */
} operation;
/* One on the command line. */
struct step {
    const operation *what;
    const char *const *operands;
    size_t count;
    size_t place; /* of the operation's word among the operands, from 1 */
};
int tool_edit_set(work *w, const step *todo, outcome *o);
int tool_edit_cast(work *w, const step *todo, outcome *o);
int tool_edit_merge(work *w, const step *todo, outcome *o);
int tool_edit_remove(work *w, const step *todo, outcome *o);
int tool_edit_move(work *w, const step *todo, outcome *o);
int tool_edit_metadata(work *w, const step *todo, outcome *o);

/* -------------------------------------------------------------------------------------------------------- keys -- */

/* Keys that were found, owned. */
typedef struct found {
    char **at;
    size_t count;
    bool exact; /* the key itself, not a pattern */
} found;
/* Finds the value at a key, or otherwise the values that a pattern matches (look.h), in the order of the record. A
 * match includes everything below it. No match is an error, which is printed. @param f {0}, or what was found before.
 */
int tool_edit_find(const rec_record *record, const char *key, found *f);
void tool_edit_found_free(found *f);
/* Adds the name of child `index` of a container to its path, escaped. @return the length that the path had. */
size_t tool_edit_add_child(text *path, const rec_value *value, uint64_t index);
/* @return a copy of a record without its tree: where it came from, and its metadata, stay. NULL with the library's
 * error. */
rec_record *tool_edit_husk(const rec_record *record);
/* Calls `each` for all tensors, values, empty lists and maps at and below a path. */
typedef void (*leaf_fn)(void *user, const char *path, const rec_value *leaf);
void tool_edit_leaves(const rec_record *record, const char *path, leaf_fn each, void *user);

/* ------------------------------------------------------------------------------------------------------ values -- */

enum { LITERAL_NULL, LITERAL_BOOL, LITERAL_NUMBER, LITERAL_STRING, LITERAL_LIST, LITERAL_MAP };
/* A value from the command line: JSON, where numbers may have the suffix of a Rust type. */
typedef struct literal literal;
struct literal {
    int kind;
    rec_scalar number; /* also of a bool */
    bool typed;        /* the number has a suffix */
    text string;       /* of a string; of an entry of a map its key is in `key` */
    text key;
    literal *items;
    size_t count;
};
/* Parses the whole of `at`. Text that is not JSON is a string. Errors are printed. @param what names it in messages. */
int tool_edit_literal(literal *l, const char *at, const char *what);
void tool_edit_literal_free(literal *l);
/* Gives a number another kind and width (0: any). @return false: it does not fit, and is as it was. */
bool tool_edit_fit(rec_scalar *n, int32_t kind, uint32_t bits);

/* ----------------------------------------------------------------------------------------------------- tensors -- */

enum { CLASS_FLOAT = 1, CLASS_INT, CLASS_BOOL };
/* @return CLASS_…, 0 for types without plain elements (quantised, unknown). */
int tool_edit_class(rec_dtype dtype);
/* @return bytes of an element. */
size_t tool_edit_width(rec_dtype dtype);
/* Encodes numbers in host byte order as elements of `dtype`: f64 to floats, i64 or u64 to ints. A number out of range
 * is an error, which is printed. */
int tool_edit_encode(session *s, const char *key, rec_dtype from, const void *numbers, uint64_t count, rec_dtype dtype,
                     void *target);
/* Elements of a tensor as another type, of another class too. @return 0 or an errno. */
int tool_edit_read(session *s, const rec_tensor *tensor, rec_dtype dtype, uint64_t first, uint64_t count, void *target);
/* Adds a tensor that is computed from another on demand; that one must live as long as the work. @param id as in
 * rec_tensor_spec. */
int tool_edit_put(work *w, const char *path, const rec_tensor *from, rec_dtype dtype, const char *id);
/* Puts elements in host byte order, which are taken (from malloc) and changed. */
int tool_edit_put_elements(work *w, const char *path, rec_dtype dtype, uint32_t rank, const uint64_t *shape,
                           void *elements, const char *id);
/* @param id the id that a new tensor gets: "" (a new one) where parameters have them, else NULL. Errors are printed. */
int tool_edit_new_id(const work *w, const char **id);

/* ------------------------------------------------------------------------------------------------------- files -- */

/* Where a record is to be written. */
typedef struct destination {
    char *path;       /* "-" is standard output */
    bool in_folder;   /* its directory was asked for, and is made */
    const char *name; /* of the recorder */
    rec_recorder *to;
    uint64_t written; /* bytes, REC_UNKNOWN into a pipe */
    bool checked;
    notes notes;
} destination;
/* Opens the recorder that writes. @param origin of the record that was read, NULL for a new one: its version of Burn is
 * kept if the recorder can. */
int tool_edit_open(session *s, const rec_record *record, destination *d);
/* Saves, whole or not at all. */
int tool_edit_save(const rec_record *record, destination *d);
/* Sees whether it could be saved, by writing it to nowhere. */
int tool_edit_try(const rec_record *record, const destination *d);
void tool_edit_close(destination *d);

/* One of the records that a split makes. */
typedef struct part {
    char *name; /* key or element type */
    rec_record *record;
    uint64_t tensors, values;
    destination to;
} part;
/* Takes the record apart by --by. @return EXIT_OK; EXIT_ERROR with the error printed. */
int tool_edit_split(work *w, const char *by, bool strip, part **parts, size_t *count);
void tool_edit_parts_free(part *parts, size_t count);

/* ------------------------------------------------------------------------------------------------- a whole run -- */

typedef struct request {
    const char **files, **turned;
    const char **exact; /* all operands, unchanged: a value to set may look like an address */
    size_t *places;
    size_t file_count;
    step *steps;
    size_t step_count;
    const char *output, *by;
    bool in_place, dry, strip, split, is_new;
} request;

/* One file on its way. */
typedef struct job {
    const char *file; /* as people should see it */
    work w;
    outcome *outcomes;
    destination to;
    part *parts;
    size_t part_count;
    summary sums;
    double seconds;
} job;

/* Says what was done with a file, or would be (`dry`). */
void tool_edit_print(const request *r, const job *j, FILE *out);
/* The same as an element of JSON that is open. */
void tool_edit_print_json(json *out, const request *r, const job *j);

#endif
