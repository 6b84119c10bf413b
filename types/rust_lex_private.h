/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Tokens of Rust source. Comments, strings and characters are skipped by Rust's rules, so that text in them is not
 * taken for code. An error fails the job and makes the current token the end: parsers need no checks between steps,
 * and the first failure counts. */
#ifndef LR_RUST_LEX_PRIVATE_H
#define LR_RUST_LEX_PRIVATE_H

#include "common/names.h"
#include "core/base/base.h"

enum {
    LR_RUST_END = 0,
    LR_RUST_NAME = 1,     /**< an identifier, a keyword or `_` */
    LR_RUST_LIFETIME = 2, /**< with its apostrophe */
    LR_RUST_NUMBER = 3,   /**< integer or float, with its suffix */
    LR_RUST_TEXT = 4,     /**< a string, byte string, character or byte, of any kind */
    LR_RUST_SIGN = 5      /**< `::`, `->`, `=>`, or one character; so `>>` is two */
};

typedef struct lr_rust_token {
    int32_t kind;
    bool raw;          /**< `r#name`: never a keyword */
    bool spaced;       /**< white space or a comment stands before it */
    const char *start; /**< in the source */
    const char *text;  /**< the same without `r#` */
    size_t length;     /**< of `text` */
    uint32_t line;
} lr_rust_token;

/** A place in a source. A copy of it is a bookmark. */
typedef struct lr_rust_lexer {
    rec_job *job;
    const char *file; /**< for messages; NULL: an argument */
    bool expression;  /**< messages quote the whole text and count columns in it */
    const char *begin, *end;
    const char *next; /**< after the current token */
    const char *last; /**< end of the token before it */
    uint32_t line;
    lr_rust_token token; /**< the current one */
} lr_rust_lexer;

enum { LR_RUST_SOURCE_MOST = 16 << 20, LR_RUST_DEPTH_MOST = 64 };

/** Starts at the first token, after a byte order mark and a `#!` line. The text is borrowed. */
void lr_rust_begin(lr_rust_lexer *lexer, rec_job *job, const char *text, uint64_t length, const char *file,
                   uint32_t line, bool expression);
/** Goes to the next token. */
void lr_rust_next(lr_rust_lexer *lexer);

/** @return whether the current token is this sign or keyword. */
bool lr_rust_is(const lr_rust_lexer *lexer, const char *word);
/** @return the same, and takes it. */
bool lr_rust_take(lr_rust_lexer *lexer, const char *word);
/** Takes a sign, or fails: "expected `>` PLACE". */
bool lr_rust_need(lr_rust_lexer *lexer, const char *sign, const char *place);
/** @return whether the current token can name something: no keyword. */
bool lr_rust_is_name(const lr_rust_lexer *lexer);
/** @return whether this is a keyword of Rust that cannot name anything, `self` and its like aside. */
bool lr_rust_keyword(const char *text, size_t length);

/** Takes a token with all that it opens: up to the `)`, `]` or `}` of its own. */
void lr_rust_skip(lr_rust_lexer *lexer);
/** The same where a bracket must stand: the arguments of a macro. @return false: failed. */
bool lr_rust_skip_macro(lr_rust_lexer *lexer);
/** Takes all before the sign, which stands in no bracket, or before the bracket that closes what is around. */
void lr_rust_skip_until(lr_rust_lexer *lexer, const char *sign);

/** Fails at the current token: "expected …, found …". @return the status. */
int32_t lr_rust_expected(lr_rust_lexer *lexer, const char *format, ...) REC_PRINTF(2, 3);
/** Fails with a given message. @param at,line a place in the source; NULL: the current token. @return the status. */
int32_t lr_rust_fail(lr_rust_lexer *lexer, int32_t status, const char *at, uint32_t line, const char *format, ...)
    REC_PRINTF(5, 6);

/** @return whether a number token is an integer of at most 64 bits, with its value. */
bool lr_rust_integer(const lr_rust_token *token, uint64_t *value);

#endif
