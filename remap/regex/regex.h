/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Regular expressions of remap rules: syntax and semantics of Rust's `regex` crate, executed by PCRE2. Patterns that
 * Rust's engine rejects are rejected. Patterns that PCRE2 would interpret differently are translated or, if rare,
 * rejected by name. Matching is bounded in time and memory. The tree of a pattern lies in one arena and lives as long
 * as its lr_regex; results belong to the matcher. Regexes and templates are immutable; a matcher is for one thread at
 * a time. */
#ifndef LR_REGEX_H
#define LR_REGEX_H

#include "core/base/base.h"

typedef struct lr_regex lr_regex;

/** Compiles a pattern in Rust's syntax (at most 64 KiB). NULL: the job has failed; the message shows the pattern, the
 *  place in it and what to write instead. Memory from the context's allocator. */
lr_regex *lr_regex_new(rec_job *job, const char *pattern, const lr_location *place);
void lr_regex_free(lr_regex *regex); /**< NULL is ignored */
/** @return the source text of the pattern. */
const char *lr_regex_pattern(const lr_regex *regex);
/** @return the number of groups, the whole match not counted. */
uint32_t lr_regex_groups(const lr_regex *regex);
/** @return the number of the group of that name; 0: unknown. */
uint32_t lr_regex_group(const lr_regex *regex, const char *name, size_t length);

/** A replacement in Rust's syntax: `$1`, `${name}`, `$$`; parsed once. */
typedef struct lr_template lr_template;
/** @param strict false: a group that the pattern lacks is empty, as in Rust, with a note (REC_NOTE_RULE) that suggests
 * the correct form (`$1x`: write `${1}x`; `\1`: write `$1`); true: it is rejected. NULL: the job has failed. */
lr_template *lr_template_new(rec_job *job, const char *text, const lr_regex *regex, bool strict,
                             const lr_location *place);
void lr_template_free(lr_template *replacement);
/** Whether a group, by number or by its name, stands in it. */
bool lr_template_uses(const lr_template *replacement, uint32_t group);

/** State for matching; serves any number of patterns, one thread at a time. */
typedef struct lr_matcher lr_matcher;
lr_matcher *lr_matcher_new(rec_job *job);
void lr_matcher_free(lr_matcher *matcher);

/** Whether the pattern matches anywhere. @return 1, 0, or -1: the job has failed: a limit was met, or the text is not
 *  UTF-8. */
int lr_regex_match(rec_job *job, const lr_regex *regex, lr_matcher *matcher, const char *text, size_t length);
/** The place of a group in the last match of that matcher. @return false if it took no part. */
bool lr_match_group(const lr_matcher *matcher, uint32_t group, size_t *begin, size_t *end);
/** Appends the replacement for the last match to the matcher's output; see lr_matcher_output().
 *  `%` in it becomes `part` where that is not NULL. @param text what was matched; not the output. */
int32_t lr_match_expand(rec_job *job, lr_matcher *matcher, const char *text, const lr_template *replacement,
                        const char *part);
void lr_matcher_clear(lr_matcher *matcher); /**< empties the output */
/** The output so far, NUL-terminated; valid until the matcher is used again. */
const char *lr_matcher_output(const lr_matcher *matcher, size_t *length);

/** Replaces all matches as Rust's `replace_all`: no empty match right after a match. The result is the matcher's
 *  output; `text` may be the output of the call before.
 *  @return the number of matches; 0: the output is what it was; -1: the job has failed. */
int64_t lr_regex_replace(rec_job *job, const lr_regex *regex, lr_matcher *matcher, const char *text, size_t length,
                         const lr_template *replacement);

/* A pattern as a tree, and a replacement as pieces. The tree is what the pattern means: flags are resolved into its
 * nodes, classes are sets. The PCRE2 pattern is written from it (write.c),
 * and a rule that runs backwards is made from it (remap/reverse/invert.c). */

/** What a node is. */
enum {
    LR_RE_EMPTY = 1,    /**< matches the empty text: `()`, an alternative without anything */
    LR_RE_LITERAL = 2,  /**< characters; neighbours of one sequence are one node */
    LR_RE_CLASS = 3,    /**< one character of a set: `[…]`, `.`, `\d` */
    LR_RE_ANCHOR = 4,   /**< a condition on the place */
    LR_RE_GROUP = 5,    /**< `(…)`, `(?<name>…)`, `(?:…)`: one child */
    LR_RE_SEQUENCE = 6, /**< two children and more */
    LR_RE_CHOICE = 7,   /**< `a|b|c`: two children and more, the first that fits wins */
    LR_RE_REPEAT = 8    /**< one child, `least` to `most` times */
};

/** Anchors. Words are sequences of `\w`. */
enum {
    LR_RE_TEXT_START = 1, /**< `^` or `\A` */
    LR_RE_TEXT_END = 2,   /**< `$` or `\z` */
    LR_RE_LINE_START = 3, /**< `^` of `(?m)` */
    LR_RE_LINE_END = 4,   /**< `$` of `(?m)` */
    LR_RE_WORD = 5,       /**< `\b` */
    LR_RE_NOT_WORD = 6    /**< `\B` */
};

enum { LR_RE_UNLIMITED = UINT32_MAX };

/** Characters from `first` to `last`; both belong to it. */
typedef struct lr_re_range {
    uint32_t first, last;
} lr_re_range;

/** Classes of Rust's, as bits. */
enum {
    LR_SET_DIGIT = 1,      /**< `\d` */
    LR_SET_SPACE = 2,      /**< `\s` */
    LR_SET_WORD = 4,       /**< `\w` */
    LR_SET_NOT_DIGIT = 8,  /**< `\D` */
    LR_SET_NOT_SPACE = 16, /**< `\S` */
    LR_SET_NOT_WORD = 32   /**< `\W` */
};

/** A set of characters: those of the ranges and of the classes. Case is resolved: what `(?i)` adds is in it. */
typedef struct lr_re_set {
    bool negated;              /**< all characters but these */
    uint32_t perl;             /**< LR_SET_… */
    uint32_t count;            /**< of `ranges` */
    const lr_re_range *ranges; /**< ascending, apart from each other */
} lr_re_set;

typedef struct lr_re_node {
    int32_t kind;        /**< LR_RE_… */
    uint32_t begin, end; /**< bytes of the pattern it was written in */
    /* LITERAL */
    const char *text; /**< UTF-8, not NUL-terminated */
    uint32_t length;  /**< bytes of `text`; 1 at least */
    bool icase;       /**< of LITERAL: characters that differ in case match too, by Unicode's simple case folding */
    /* ANCHOR */
    int32_t anchor; /**< LR_RE_TEXT_START… */
    /* CLASS */
    const lr_re_set *set;
    /* GROUP */
    uint32_t group;   /**< its number from 1; 0: `(?:…)` and flags alone */
    const char *name; /**< NUL-terminated, or NULL */
    /* REPEAT */
    uint32_t least, most; /**< `most`: LR_RE_UNLIMITED for none */
    bool lazy;            /**< tries few before many */
    /* SEQUENCE, CHOICE, GROUP, REPEAT */
    uint32_t count;
    const struct lr_re_node *const *nodes;
    /* Properties of every node. */
    bool nullable;   /**< can match the empty text */
    bool no_text;    /**< can match nothing else */
    bool empty_last; /**< the empty text is what it tries last, if at all */
    bool captures;   /**< there are numbered groups in it */
    uint32_t height; /**< levels below it, as Rust's limit of 250 counts them */
    uint64_t weight; /**< about what it takes in Rust's engine, in bytes; never less */
} lr_re_node;

/** The tree of a pattern. Borrowed from the regex. */
const lr_re_node *lr_regex_tree(const lr_regex *regex);
/** @return 1 if a character is in a set, 0 if not, -1 if that is not known: it is not of ASCII and the set has
 *          classes that decide. */
int lr_re_set_has(const lr_re_set *set, uint32_t character);

/** Part of a replacement: literal text, or a group of the pattern. */
typedef struct lr_template_piece {
    const char *text; /**< LITERAL: not NUL-terminated; NULL: a group */
    uint32_t length;
    uint32_t group; /**< 0: the whole match. One that the pattern lacks is no piece at all: it is empty */
} lr_template_piece;

/** The pieces of a replacement, in order. Borrowed. */
const lr_template_piece *lr_template_pieces(const lr_template *replacement, uint32_t *count);

/** The pattern that one text alone has. @return false: it has no room. */
bool lr_regex_quote(const char *text, size_t length, char *pattern, size_t room);

#endif
