/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What the files of the regular expressions share: the parser's state, text that grows, and sets. */
#ifndef LR_REGEX_PRIVATE_H
#define LR_REGEX_PRIVATE_H

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "remap/regex/regex.h"

enum {
    LR_RE_PATTERN_MOST = 64 << 10, /**< bytes of a pattern */
    LR_RE_HEIGHT_MOST = 250,       /**< Rust's limit for nesting */
    LR_RE_CHARACTER_MOST = 0x10FFFF,
    LR_RE_TEXT_MOST = 1 << 20 /**< bytes of a pattern in PCRE2's syntax, and of a result */
};

/* text.c: patterns and results, which grow. A failure sticks, so that only the end needs to be checked. */
typedef struct lr_re_text {
    const lr_allocator *allocator;
    char *data; /**< NUL-terminated once something is in it */
    size_t used;
    uint64_t room;
    bool failed; /**< no memory */
    bool full;   /**< more than LR_RE_TEXT_MOST */
} lr_re_text;

void lr_re_text_add(lr_re_text *text, const char *bytes, size_t length);
void lr_re_text_word(lr_re_text *text, const char *word);
void lr_re_text_format(lr_re_text *text, const char *format, ...) REC_PRINTF(2, 3); /**< at most 64 bytes */
void lr_re_text_free(lr_re_text *text);

/** Ranges that are being collected, in any order. */
typedef struct lr_re_ranges {
    const lr_allocator *allocator;
    lr_re_range *list;
    size_t count;
    uint64_t room;
    bool failed;
} lr_re_ranges;

/** PCRE2's memory from an allocator. */
void *lr_re_pcre2_alloc(PCRE2_SIZE size, void *allocator);
void lr_re_pcre2_free(void *memory, void *allocator);

/* Parsing (parse.c, escape.c, class.c, alike.c). */

typedef struct lr_re_flags {
    bool icase, lines, dot_all;
} lr_re_flags;

typedef struct lr_re_name {
    const char *text;
    uint32_t length, group;
} lr_re_name;

typedef struct lr_re_parser {
    rec_job *job;
    const lr_location *place;
    lr_arena *arena;
    const char *pattern, *end;
    const char *at; /**< the next character */
    lr_re_flags flags;
    uint32_t groups;
    lr_re_name *names;
    uint32_t name_count;
    uint64_t name_room;
    lr_re_node *items; /**< those of the sequences and choices that are open, the innermost last */
    size_t item_count;
    uint64_t item_room;
    lr_re_text out; /**< in PCRE2's syntax */
} lr_re_parser;

/** Fails at a place of the pattern (fail.c). @return false. */
bool lr_re_fail(lr_re_parser *p, const char *at, const char *format, ...) REC_PRINTF(3, 4);
/** The same for the syntax of other engines. @param kind "look-ahead ", or "". @param advice what to write instead. */
bool lr_re_fail_foreign(lr_re_parser *p, const char *at, const char *kind, const char *sign, const char *advice);
void *lr_re_fail_memory(lr_re_parser *p); /**< @return NULL */
/** Memory in the arena, aligned to 8. NULL: the job has failed. */
void *lr_re_alloc(lr_re_parser *p, uint64_t size);
/** The character at a place; the pattern is valid UTF-8. @param size its bytes; may be NULL. */
uint32_t lr_re_peek(const lr_re_parser *p, const char *at, uint32_t *size);
/** UTF-8 of a character. @return its bytes, 1 to 4. */
uint32_t lr_re_encode(uint32_t character, char bytes[4]);
/** Consumes a word if the pattern continues with it. */
bool lr_re_take(lr_re_parser *p, const char *word);
/** The character after the one at `p->at`, 0 at the end. */
uint32_t lr_re_second(const lr_re_parser *p);
/** What an escape stands for. */
typedef struct lr_re_escape {
    uint32_t perl;      /**< a class: a bit of LR_SET_…, or 0 */
    int32_t anchor;     /**< an anchor, or 0 */
    uint32_t character; /**< else */
} lr_re_escape;

/** Reads the escape at `p->at`. @return false: the job has failed. */
bool lr_re_parse_escape(lr_re_parser *p, lr_re_escape *escape);
/** Reads the class whose `[` is at `p->at`. @param height levels in it. NULL: the job has failed. */
const lr_re_set *lr_re_parse_class(lr_re_parser *p, uint32_t *height);
/** A set in the arena; sorts and joins the ranges. NULL: the job has failed. */
const lr_re_set *lr_re_set_new(lr_re_parser *p, lr_re_ranges *ranges, uint32_t perl, bool negated);
/** Rejects alternatives that Rust's parser would rearrange (alike.c). @return false: the job has failed. */
bool lr_re_check_choice(lr_re_parser *p, const lr_re_node *choice);
/** Reads a pattern. NULL: the job has failed. */
const lr_re_node *lr_re_parse(lr_re_parser *p);
void lr_re_parser_free(lr_re_parser *p);

/* Writing (write.c). */

/** Writes the PCRE2 pattern that means the same; its groups have its numbers. @return false: the job has failed. */
bool lr_re_write(lr_re_parser *p, const lr_re_node *tree);

/* A pattern ready to be matched: made by regex.c, used by match.c. */

struct lr_regex {
    const lr_allocator *allocator;
    lr_arena arena;
    lr_budget budget;
    const char *pattern;
    lr_location place; /**< copies */
    const lr_re_node *tree;
    uint32_t groups;
    lr_re_name *names;
    uint32_t name_count;
    pcre2_code *code;
    uint32_t pairs; /**< of PCRE2's groups, the whole match too */
    /* Literals that every match contains, so that most other texts need no search. */
    const lr_re_node *head, *tail,
        *inside; /**< literals: it begins, ends with them, holds it; NULL: nothing is known */
};

#endif
