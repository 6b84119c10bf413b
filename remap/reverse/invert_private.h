/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Inverts a rule `PATTERN => REPLACEMENT`: finds the texts that it turns into a given one. The form of the replacement
 * is searched in the text, and the contents of its groups must match their parts of the pattern. The pattern is then
 * written out with those groups. The rest of it must be one of few texts (`[kv]`, `(?:bert|roberta)`, an optional
 * part); a `.` outside of groups stands for a dot. Each candidate is put through the rule, and counts only if the
 * given text results. */
#ifndef LR_INVERT_PRIVATE_H
#define LR_INVERT_PRIVATE_H

#include "remap/regex/regex.h"

/** Part of a text to build: literal text, a group, or the part's name. */
typedef struct lr_back_piece {
    const char *text; /**< NULL: a group, or the part */
    uint32_t length;
    uint32_t group;
    uint32_t order; /**< of a group: its number among those of the replacement */
    bool again;     /**< the replacement has it before, too */
    bool part;
} lr_back_piece;

/** A text with groups in it. */
typedef struct lr_back_form {
    uint32_t count;
    const lr_back_piece *pieces;
} lr_back_form;

typedef struct lr_back_forms {
    uint32_t count;
    uint64_t room;
    lr_back_form *list;
} lr_back_forms;

/** A rule backwards. */
typedef struct lr_back {
    const lr_allocator *allocator;
    const lr_regex *regex;
    const lr_template *replacement;
    lr_arena arena;
    uint32_t fixed;
    bool whole, parts;
    lr_back_form form;            /**< the replacement */
    const lr_back_forms *sources; /**< the pattern written out */
    const char *reason; /**< why it has no inverse, in words that go on from "rule 2 has no inverse: "; NULL: it has */
    bool trace; /**< the replacement leaves a trace: some text that a key had not anyway. If not (`^model\. => `),
                   nothing in a text shows whether the rule made it */
    bool at_start, at_end;     /**< a match begins, ends where the text does */
    lr_back_form needle;       /**< (one piece, or none) what a text must hold to be of the form */
    const lr_re_node **groups; /**< by number; NULL: none of that number */
    bool *may_miss;            /**< a group that may take no part in a match */
    uint32_t group_count;
} lr_back;

/** What a rule makes. */
enum {
    LR_BACK_PLACES = 1, /**< replaces what it matches: `rename`, `back` */
    LR_BACK_WHOLE = 2,  /**< all of the new text: `stack`, `join` */
    LR_BACK_PARTS = 3   /**< so too, and `%` in it is a part's name: `split` */
};

enum {
    LR_BACK_TEXT_MOST = 2048,   /**< the longest text that is looked at, in bytes */
    LR_BACK_ORIGINS_MOST = 4096 /**< the most answers */
};

/** A text that the rule makes the given one of. */
typedef struct lr_origin {
    size_t at, length; /**< its place in lr_origins.text */
    uint32_t places;   /**< how many matches the rule has in it */
    uint32_t inside;   /**< ends of those matches that lie within a name, not at a dot: the more, the less likely */
} lr_origin;

/** Answers. `{.allocator = …}` at first. */
typedef struct lr_origins {
    const lr_allocator *allocator;
    char *text;
    size_t used;
    uint64_t room;
    lr_origin *list;
    uint64_t count, list_room;
    bool lost;     /**< the text has the replacement's form, but lr_back.reason does not allow to find its origin */
    bool overflow; /**< there may be too many; none is in the list */
} lr_origins;

void lr_origins_free(lr_origins *origins);

/**
 * @param regex,replacement of the rule; borrowed.
 * @param fixed a group whose text the caller gives though the replacement lacks it, 0: none.
 * @param makes LR_BACK_PLACES…
 * NULL: the job has failed (memory). */
lr_back *lr_back_new(rec_job *job, const lr_regex *regex, const lr_template *replacement, uint32_t fixed,
                     int32_t makes);
void lr_back_free(lr_back *back); /**< NULL is ignored */
/** @return whether a text may be of the form of a group's part of the pattern, all of it. */
bool lr_back_group_fits(const lr_back *back, uint32_t group, const char *text, size_t length);

/**
 * Finds what the rule makes the text of; the text itself, where the rule does not act on it, is not among it.
 * @param part what `%` stands for in the replacement, or NULL. @param fixed the text of the fixed group.
 * @param origins what was in it is gone. */
int32_t lr_back_find(rec_job *job, const lr_back *back, lr_matcher *matcher, const char *text, size_t length,
                     const char *part, const char *fixed, lr_origins *origins);
/** @return 1 if the rule leaves the text alone, 2 if it acts on it and makes it of itself, 0 if neither, -1: the job
 * has failed. */
int lr_back_leaves(rec_job *job, const lr_back *back, lr_matcher *matcher, const char *text, size_t length);

#endif
