/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What the files of `record diff` share: the two sides, pairs of what belongs together, and figures of a pair. */
#ifndef RECORD_DIFF_PRIVATE_H
#define RECORD_DIFF_PRIVATE_H

#include "tools/diff/diff.h"
#include "tools/measure/measure.h"

enum { SIDE_A, SIDE_B, SIDES };

/* ------------------------------------------------------------------------------------------------------ wishes -- */

/* How the two are brought together. */
enum { MATCH_NAME, MATCH_POSITION, MATCH_ID };

/* The options. */
typedef struct wishes {
    double atol, rtol, ulp; /* 0 each: values must be the same numbers */
    bool bits, nan_differs, ids, order, noise, brief;
    bool hurry; /* only the exit status counts */
    int match;  /* MATCH_… */
    /* What counts for nothing. */
    bool no_dtype, no_metadata, no_data, no_values, no_added, no_removed, no_renamed;
} wishes;

/* ------------------------------------------------------------------------------------------------------- sides -- */

/* A tensor or another value of one side. */
typedef struct item {
    const char *key;          /* its path */
    const rec_tensor *tensor; /* NULL: another value */
    const rec_value *value;
    size_t place;      /* in the order of the record */
    struct item *twin; /* on the other side, or NULL */
    bool kept;         /* its key or that of its twin is selected */
} item;
typedef struct items {
    item **at; /* in the order of the record */
    size_t count;
} items;

typedef struct side {
    const char *path, *name; /* the operand, and that as people should see it */
    rec_recorder *recorder;
    rec_record *record;
    bool by_position;
    item *room; /* of all items */
    items tensors, values;
    uint64_t elements; /* known once all is added up */
    listing l;         /* its keys are those of the items */
} side;

/* Loads both and lists what is in them (sides.c). @param match (in, out) becomes MATCH_POSITION where one has no names.
 * @return EXIT_OK, or EXIT_ERROR with the error printed. To be given back with tool_diff_close(), in either case. */
int tool_diff_open(session *s, const char *const *operands, side sides[SIDES], int *match, notes *n);
void tool_diff_close(side sides[SIDES]);

/* ----------------------------------------------------------------------------------------------------- figures -- */

/* What two tensors of the same shape have of differences. Sums are over places where both are finite. */
typedef struct figures {
    uint64_t count;
    uint64_t differing;      /* places that are not the same number */
    uint64_t beyond;         /* of those, beyond all tolerances */
    uint64_t odd;            /* of those, where one or both are not finite */
    uint64_t odd_at;         /* the first of them */
    uint64_t rounded[SIDES]; /* places that differ once the other side is rounded to this side's element type */
    uint64_t nan[SIDES], inf[SIDES];
    double max_abs, max_rel; /* of finite ones; relative: to the larger of both */
    uint64_t max_abs_at, max_rel_at;
    double dd, aa, bb, ab; /* sums of (a-b)², a², b², ab, each number times `scale` */
    double scale;
} figures;

typedef struct tolerance {
    double atol, rtol;
    bool nan_differs;
} tolerance;

/* Adds elements from `first` on to figures that begin as {.scale = …} (numbers.c), in ascending order. The result is
 * the same to the last bit on every processor. */
void tool_diff_f32(figures *f, const float *a, const float *b, uint64_t first, size_t count, const tolerance *t);
void tool_diff_f64(figures *f, const double *a, const double *b, uint64_t first, size_t count, const tolerance *t);
/* The same, without vectors of the processor's own. For tests. */
void tool_diff_f32_plain(figures *f, const float *a, const float *b, uint64_t first, size_t count, const tolerance *t);
void tool_diff_i64(figures *f, const int64_t *a, const int64_t *b, uint64_t first, size_t count, const tolerance *t);
/* Adds the figures of the next range. */
void tool_diff_figures_add(figures *sum, const figures *more);
/* @return |a-b| / max(|a|, |b|), the norms of both sides: 0 if nothing differs, infinite if something that is not
 * finite does. */
double tool_diff_change(const figures *f);
/* @return the cosine of the angle between both, NaN if one of them is 0. */
double tool_diff_cosine(const figures *f);
/* Returns the normalised mean squared error of B: the sum of (a-b)² divided by that of a². Infinite if something that
 * is not finite differs, or if all of A is 0. */
double tool_diff_nmse(const figures *f);
/* Returns the ratio of signal to quantisation noise in dB, of such an error: infinite without an error. */
double tool_diff_sqnr(double nmse);

/* @return whether two numbers of whatever kinds (REC_KIND_BOOL, _INT, _UINT, _FLOAT) are the same number. NaN is the
 * same as NaN. */
bool tool_diff_same_number(const rec_scalar *a, const rec_scalar *b);
/* Adds one place, of whatever kinds. */
void tool_diff_number(figures *f, const rec_scalar *a, const rec_scalar *b, uint64_t at, const tolerance *t);

/* ------------------------------------------------------------------------------------------------------- pairs -- */

enum {
    PAIR_EQUAL,   /* the same numbers everywhere */
    PAIR_WITHIN,  /* not everywhere, but within the tolerances */
    PAIR_ROUNDED, /* the same once one side is rounded to the other's element type */
    PAIR_DIFFERS,
    PAIR_UNREAD, /* the data were not compared */
    PAIR_SHAPE,  /* another shape */
    PAIR_APART   /* no numbers on one side at least, and not of the same type */
};

/* Two tensors that belong together. */
typedef struct pair {
    const item *of[SIDES];
    bool renamed;
    bool dtype;      /* their element types differ */
    bool id;         /* their ids differ */
    bool bare;       /* one is a parameter with an id, the other a bare tensor */
    bool transposed; /* the one is the other with rows and columns exchanged */
    int verdict;
    figures *figures; /* if they differ; otherwise NULL */
    double change;    /* tool_diff_change() of those */
} pair;

typedef struct difference {
    const item *of[SIDES]; /* values; NULL: it is not there */
} difference;

typedef struct metadatum {
    const char *key;
    const char *value[SIDES]; /* NULL: it is not there */
    char *made[SIDES];        /* the same, if it was made here */
} metadatum;

typedef struct comparison {
    const wishes *w;
    key_patterns *keys; /* NULL: all */
    side *sides;        /* SIDES of them */
    pair *pairs;        /* in the order of the first side */
    size_t pair_count;
    size_t moved; /* tensors that stand elsewhere among those of both */
    difference *values;
    size_t value_count, values_equal;
    metadatum *metadata;
    size_t metadata_count;
    /* Results. */
    size_t removed, added, renamed, shapes, dtypes, ids, bares, verdicts[PAIR_APART + 1];
    bool differs; /* in what counts */
} comparison;

/* Finds what belongs together by its name, position or id (match.c). */
void tool_diff_match(comparison *c, int match);
/* The same, where ids of two versions of Burn name one parameter: how records call it, which each version spells in
 * its own way (ids.c). */

/* @return what an item goes by, to be freed: its id, or its key, which in an optimizer's state begins with an id. */
char *tool_diff_id_word(const item *it);
/* Compares what the tensors of a pair are and are called. */
void tool_diff_ids(pair *p);
/* @return whether the ids of a pair are reported. */
bool tool_diff_id_counts(const comparison *c, const pair *p);
/* Of the rest: what has another name and the same content (rename.c). @return EXIT_OK or EXIT_ERROR. */
int tool_diff_find_renamed(session *s, comparison *c);
/* Then restricts all to the keys (match.c): a pair stays if either key is selected. @return EXIT_OK, or EXIT_ERROR if
 * a pattern matches nothing, which is printed. */
int tool_diff_restrict(comparison *c);
/* Compares values that are no tensors, and metadata (values.c). */
void tool_diff_values(comparison *c);
/* Compares the tensors of each pair (compare.c). @return EXIT_OK or EXIT_ERROR. */
int tool_diff_tensors(session *s, comparison *c);
/* Of pairs of other shapes: whether the one is the other with rows and columns exchanged, to the last bit (hints.c).
 * @return EXIT_OK or EXIT_ERROR. */
int tool_diff_find_transposed(session *s, comparison *c);
/* @return a hint why names may differ and what to do, freed by the caller; NULL: no hint. */
char *tool_diff_hint(const comparison *c);
/* Adds up what was found. */
void tool_diff_sum(comparison *c);
void tool_diff_free(comparison *c);

/* @return the key of a pair: that of the first side, or of the one that has names. */
const char *tool_diff_key(const comparison *c, const pair *p);
/* @return whether what is found about a pair makes the records differ. */
bool tool_diff_pair_counts(const comparison *c, const pair *p);
/* Pairs that are not equal, those that changed most first; to be freed. @param count (out) */
const pair **tool_diff_sorted(const comparison *c, size_t *count);
/* @return element `at` as a number, of the kind nil if it cannot be read. */
rec_scalar tool_diff_element(const rec_tensor *tensor, uint64_t at);

/* Parts of the tree in which nothing changed although something else did, outermost first (frozen.c). */
typedef struct frozen {
    struct frozen_part {
        char *key; /* ends where the part does: a module, or a tensor among others that changed */
        size_t tensors;
        uint64_t elements;
        bool changed; /* not frozen, or below such a module: listed to distinguish its siblings */
    } *at;
    size_t count;
} frozen;
void tool_diff_frozen(const comparison *c, frozen *f);
void tool_diff_frozen_free(frozen *f);

void tool_diff_print(const session *s, const comparison *c);
/* Lines of one kind that are shown without --all. */
enum { ROWS_SHOWN = 40 };
/* Each prints its table and an empty line, or nothing. @return whether something was left out or folded. */
bool tool_diff_print_structure(const comparison *c, bool all);
bool tool_diff_print_values(const comparison *c, bool all);
void tool_diff_print_json(const comparison *c, bool all, const notes *n);

#endif
