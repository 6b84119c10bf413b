/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Inspects records: totals, slices of tensors, selection of keys; and finds the input files. It opens no record,
 * prints only errors, and its results borrow from the record. */
#ifndef RECORD_LOOK_H
#define RECORD_LOOK_H

#include "tools/session/session.h"

/* ----------------------------------------------------------------------------------------------------- records -- */

typedef struct key_patterns key_patterns;

/* Tensors that a scheme stores in the same way. */
typedef struct scheme_count {
    const char *label; /* "FP8 E4M3, 128x128 blocks" */
    uint64_t tensors;
} scheme_count;

/* Totals of a record. */
typedef struct summary {
    uint64_t tensors, elements, nbytes, values, nils, assumed;
    uint64_t ids, id_shortest, id_longest; /* tensors that have one, its characters */
    uint64_t dtypes[32];                   /* tensors by rec_dtype; unknown ones at REC_DTYPE_NONE */
    const char *encoded;                   /* the name of the opaque types, "encoded" if they are several */
    const rec_tensor *largest;             /* NULL without tensors */
    text largest_path;
    scheme_count schemes[8]; /* in the order of the record; what there are more of is counted with the last one */
    size_t scheme_count;
} summary;

/* Values of a record, with their paths. Zero it to begin. */
typedef struct listed_value {
    const char *path;
    const rec_value *value;
} listed_value;
typedef uint8_t sum_bytes[32]; /* a SHA-256 */
typedef struct listing {
    entry *tensors;             /* in the order of the record */
    const rec_tensor **handles; /* of each */
    sum_bytes *sums;            /* of each; NULL: not requested */
    size_t tensor_count;
    listed_value *values; /* that are no tensors, in the order of the record */
    size_t value_count;
    size_t nils; /* values that hold nothing */
    text paths;
    uint64_t elements, nbytes;
    uint64_t tensors_in_all, values_in_all; /* with those that patterns leave out; values without nils */
} listing;
/* Gathers what patterns match. @param values false: tensors alone. @return EXIT_OK, or EXIT_ERROR with the error
 * printed. To be given back with tool_listing_free() in either case. */
int tool_listing_gather(const rec_record *record, key_patterns *keys, bool values, listing *l);
void tool_listing_free(listing *l);
/* An order of tensors by their element types, then by their shapes; 0: they are alike. */
int tool_compare_forms(const rec_tensor *a, const rec_tensor *b);
/* @return the length of the first level of a key: the text up to a dot without a backslash. */
size_t tool_level_length(const char *key);

/* The type for reading elements without loss: f64, i64, u64 or bool; REC_DTYPE_NONE for encoded elements. */
rec_dtype tool_exact_dtype(rec_dtype dtype);
/* @return the element type of the numbers: schemes make f32 of what they decode. */
rec_dtype tool_number_dtype(const rec_tensor *tensor);
/* Adds up. @return EXIT_OK, or EXIT_ERROR with the error printed. To be given back with tool_summary_free(). */
int tool_summarise(const rec_record *record, summary *s);
void tool_summary_free(summary *s);
/* @return whether its keys are those of another framework: then its metadata say nothing of Burn. */
bool tool_is_of_others(const rec_record *record);
/* @return whether metadata of this name say how a record of Burn was written. */
bool tool_is_burns_key(const char *key);
/* @return the version of Burn that wrote a record, borrowed; NULL if that is not known, or it was another program. */
const char *tool_burn_version(const rec_record *record);
/* @return the precision in the metadata: "half", "full", "double"; NULL for any other text. */
const char *tool_precision_word(const rec_record *record);
/* @return the element type in the metadata `float` or `int` without its Rust path: "f16"; NULL if it is not there. */
const char *tool_element_word(const rec_record *record, const char *key);

/* Adds "tiny.bin carries no names (BinFile record, Burn 0.18.0)". @param path as people should see it. */
void tool_text_nameless(text *t, const rec_record *record, const char *path);

/* ---------------------------------------------------------------------------------------------------- families -- */

/* The families of models that a foreign file may be of. */
typedef struct families {
    rec_families *at; /* NULL: it is no foreign file, or it failed */
    uint64_t count;
    char *failed; /* why they could not be found, or NULL */
    char *whole;  /* the index of the files that the file is one of, if it is they that are of a family; or NULL */
} families;
/* Finds them; of one file of several, those of them all. @param path of its file, "-" for standard input. To be given
 * back with tool_families_free(). */
void tool_families_find(session *s, const rec_record *record, const char *path, families *f);
void tool_families_free(families *f);
/* Adds "Llama: --profile llama", or nothing for an empty list. */
void tool_families_text(const families *f, text *t);
void tool_json_families(json *j, const char *key, const families *f);

/* ------------------------------------------------------------------------------------------------------ slices -- */

/* `[0, 1:3, ::2, -1]` of numpy. A part is either an index (its dimension goes) or a range. */
typedef struct slice_part {
    bool range;
    bool has_start, has_stop;
    int64_t start, stop; /* an index is in start */
    int64_t step;        /* of a range, 1 or more */
} slice_part;
enum { SLICE_PARTS = 32 };
typedef struct slice {
    slice_part parts[SLICE_PARTS];
    size_t count;
} slice;

/* What a slice leaves. */
typedef struct window {
    uint64_t first; /* element of the whole */
    uint32_t rank;
    uint64_t shape[SLICE_PARTS];
    uint64_t strides[SLICE_PARTS]; /* elements from one to the next of a dimension */
} window;

/* Finds where a slice begins in `KEY[…]`. @return the length of the key, strlen(operand) without a slice. */
size_t tool_slice_find(const char *operand);
/* Reads `[…]`. Mistakes are printed. */
int tool_slice_parse(slice *s, const char *string);
/* Applies a slice to a shape. Indices out of range are printed as errors of `key`; ranges are clamped. */
int tool_slice_apply(const slice *s, const char *key, const uint64_t *shape, uint32_t rank, window *w);

/* ------------------------------------------------------------------------------------------------------ inputs -- */

/* The selected keys. A pattern is a key, or a glob over whole keys: * is any text including dots, ? a character, # a
 * number, [a-z] a set, {wq,wk} and {0-3,7} alternatives, so that a line of a folded listing is a pattern. A pattern
 * that matches a key selects everything below it. An exclamation mark before a pattern excludes its keys. */
/* @param given borrowed. @return NULL with the error printed. */
key_patterns *tool_patterns_make(const char *const *given, size_t count);
/* @param p NULL: selects all keys. */
bool tool_patterns_match(key_patterns *p, const char *key);
/* @return the first pattern without a match, or NULL. */
const char *tool_patterns_idle(const key_patterns *p);
/* @return EXIT_OK, or EXIT_ERROR with the error printed: a pattern has no match. */
int tool_patterns_check(const key_patterns *p);
void tool_patterns_free(key_patterns *p);

/* What the operands FILE... [PATTERN...] are. */
typedef struct input_files {
    char **files;
    size_t count;
    bool several;       /* print the name of each: there are several, or there was a directory */
    bool ended;         /* of several processes: they are at their end */
    size_t passed_over; /* files of directories with a record's extension that are no records */
    key_patterns *keys; /* NULL: all */
} input_files;
/* The first operand is a file; a further one is a file if one of that name exists, or if it is "-" or an address, and
 * otherwise a pattern. A directory that is no model stands for all records in it and below it, sorted by name. @param
 * keys false: all operands are files. @param in (out) freed with tool_inputs_free(), also after a failure. Errors are
 * printed. */
int tool_inputs_find(session *s, const char *const *operands, size_t count, bool keys, input_files *in);
/* Adds the records of a folder and those below it in the order of their names. What begins with a dot, links to
 * folders, parts of a model that has an index and what is no record are passed over. Errors are printed. */
int tool_inputs_add_folder(session *s, input_files *in, const char *folder);
/* At the end: @return EXIT_OK, or EXIT_ERROR with the error printed if a pattern matched nothing in any file. */
int tool_inputs_check(const input_files *in);
/* @return whether several processes have found the same files, if there are several: else all know, and are at their
 * end. */
bool tool_inputs_same(const session *s, const input_files *in);
void tool_inputs_free(input_files *in);
/* Tells of each file in turn; for programs in JSON, which of several files is an object with the array `files`. A file
 * that fails stands there with its name and the library's last error. @param indent of the JSON of one file. @param
 * tell tells of one: an EXIT_… @return the largest of them. */
int tool_inputs_each(const session *s, const input_files *in, unsigned indent, json *j,
                     int (*tell)(void *user, const char *path), void *user);
/* @return the index NAME.EXT.index.json of the part NAME-00001-of-00005.EXT (also with six letters,
 * NAME-abcdef-00001-…); the caller frees it. NULL: not a part. */
char *tool_index_of_part(const char *path);

#endif
