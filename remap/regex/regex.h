/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Regular expressions of remap rules: the syntax and meaning of Rust's `regex` crate, run by PCRE2.
 *
 * A pattern that Rust's engine would refuse is refused; one that PCRE2 would read otherwise is translated or, where
 * that cannot be done, refused too: never misread. Matching is bounded, so that no pattern can hang or eat memory. */
#ifndef LR_REGEX_H
#define LR_REGEX_H

#include "core/base/job.h"

/** Where a rule stands, for messages: "FILE:LINE: " or "rule 2: ". Borrowed. */
typedef struct lr_place {
    const char *file; /**< INI file, or NULL */
    uint32_t line;    /**< in that file */
    const char *what; /**< "rule 2", "[profile llama]"; what the message calls it */
} lr_place;

/** REC_E_CONFIG with file and line, or REC_E_ARGUMENT without a file. @return the status. */
int32_t lr_fail_place(rec_job *job, const lr_place *place, const char *format, ...) REC_PRINTF(3, 4);

typedef struct lr_regex lr_regex;

/** Compiles a pattern in Rust's syntax (at most 64 KiB). NULL: the job has failed; the message shows the pattern, the
 *  place in it and what to write instead. Memory from the context's allocator. */
lr_regex *lr_regex_new(rec_job *job, const char *pattern, const lr_place *place);
void lr_regex_free(lr_regex *regex); /**< NULL is ignored */
/** @return the pattern as it was written. */
const char *lr_regex_pattern(const lr_regex *regex);
/** @return the number of groups, the whole match not counted. */
uint32_t lr_regex_groups(const lr_regex *regex);
/** @return the number of the group of that name, 0 if there is none. */
uint32_t lr_regex_group(const lr_regex *regex, const char *name, size_t length);

/** A replacement in Rust's syntax: `$1`, `${name}`, `$$`; parsed once. */
typedef struct lr_template lr_template;
/**
 * @param strict false: a group that the pattern lacks is empty, as in Rust, with a note (REC_NOTE_RULE) that says what
 *        was probably meant (`$1x`: write `${1}x`; `\1`: write `$1`); true: it is refused.
 * NULL: the job has failed.
 */
lr_template *lr_template_new(rec_job *job, const char *text, const lr_regex *regex, bool strict, const lr_place *place);
void lr_template_free(lr_template *replacement);
const char *lr_template_text(const lr_template *replacement);
/** Whether a group, by number or by its name, stands in it. */
bool lr_template_uses(const lr_template *replacement, uint32_t group);

/** What matching needs beside the pattern; used for any number of patterns, by one thread at a time. */
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

#endif
