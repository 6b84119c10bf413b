/* SPDX-License-Identifier: MIT OR Apache-2.0
 * record diff: options, and the steps of a comparison. */
#include <stdlib.h>
#include <string.h>

#include "tools/diff/diff_private.h"

const tool_option tool_diff_options[] = {
    {"atol", "X", 0, "ignore differences up to X"},
    {"rtol", "X", 0, "ignore those up to X times the larger number"},
    {"ulp", "N", 0, "ignore floats at most N steps of their type apart"},
    {"bits", NULL, 0, "-0 differs from 0, and NaNs with different bits"},
    {"nan-differs", NULL, 0, "NaN differs from NaN"},
    {"ignore", "WHAT", 0, "ignore dtype, added, removed, renamed, metadata\nor values; data: read no tensors"},
    {"ids", NULL, 0, "compare parameter ids"},
    {"order", NULL, 0, "compare the order of tensors"},
    {"by", "WHAT", 0, "pair tensors by name, position or id"},
    {"noise", NULL, 0, "add NMSE and SQNR, the error relative to A"},
    {"brief", NULL, 0, "print only whether they differ"},
    {0},
};

/* ------------------------------------------------------------------------------------------------------ wishes -- */

static int fail_word(const char *option, const char *found, size_t length, const char *const *list)
{
    char *word = xasprintf("%.*s", (int)length, found);
    const char *near = tool_nearest(word, list);
    text all = {0};
    int status;

    for (size_t i = 0; list[i]; i++) {
        tool_text_format(&all, "%s%s", i == 0 ? "" : list[i + 1] ? ", " : " or ", list[i]);
    }
    status = near ? tool_fail("--%s: expected %s, found \"%s\"\nDid you mean %s?", option, all.at, word, near)
                  : tool_fail("--%s: expected %s, found \"%s\"", option, all.at, word);
    tool_text_free(&all);
    free(word);
    return status;
}

/* @return the index of the word that equals the first `length` bytes; SIZE_MAX: none does. The list ends in NULL. */
static size_t word_index(const char *found, size_t length, const char *const *list)
{
    for (size_t i = 0; list[i]; i++) {
        if (strlen(list[i]) == length && strncmp(list[i], found, length) == 0) {
            return i;
        }
    }
    return SIZE_MAX;
}

/* `dtype,metadata` */
static int read_ignored(wishes *w, const char *value)
{
    static const char *const ignorable[] = {"dtype", "metadata", "data", "values", "added", "removed", "renamed", NULL};
    bool *const flags[] = {&w->no_dtype, &w->no_metadata, &w->no_data,   &w->no_values,
                           &w->no_added, &w->no_removed,  &w->no_renamed};

    for (;;) {
        size_t length = strcspn(value, ","), index = word_index(value, length, ignorable);
        if (index == SIZE_MAX) {
            return fail_word("ignore", value, length, ignorable);
        }
        *flags[index] = true;
        if (!value[length]) {
            return EXIT_OK;
        }
        value += length + 1;
    }
}

static int read_wishes(const options *o, wishes *w)
{
    static const char *const matches[] = {
        [MATCH_NAME] = "name", [MATCH_POSITION] = "position", [MATCH_ID] = "id", NULL};
    const char *by = tool_own(o, "by"), *ignored;
    size_t at = 0, index = by ? word_index(by, strlen(by), matches) : MATCH_NAME;

    *w = (wishes){.bits = tool_own(o, "bits") != NULL,
                  .nan_differs = tool_own(o, "nan-differs") != NULL,
                  .ids = tool_own(o, "ids") != NULL,
                  .order = tool_own(o, "order") != NULL,
                  .noise = tool_own(o, "noise") != NULL,
                  .brief = tool_own(o, "brief") != NULL,
                  .hurry = o->quiet};
    if (index == SIZE_MAX) {
        return fail_word("by", by, strlen(by), matches);
    }
    w->match = (int)index;
    while ((ignored = tool_own_next(o, "ignore", &at))) {
        if (read_ignored(w, ignored) != EXIT_OK) {
            return EXIT_ERROR;
        }
    }
    if (tool_own_number(o, "atol", 0, &w->atol) != EXIT_OK || tool_own_number(o, "rtol", 0, &w->rtol) != EXIT_OK ||
        tool_own_number(o, "ulp", 0, &w->ulp) != EXIT_OK) {
        return EXIT_ERROR;
    }
    if (w->bits && (w->atol > 0 || w->rtol > 0 || w->ulp > 0)) {
        return tool_fail("--bits and a tolerance exclude each other");
    }
    return EXIT_OK;
}

/* ----------------------------------------------------------------------------------------------------- running -- */

/* Both records, and whether all processes that look at them see the same. */
static int open_both(session *s, const char *const *operands, side sides[SIDES], int *match, notes *n)
{
    uint64_t sum = 0;
    int status;

    for (size_t i = 0; i < SIDES; i++) {
        if (!s->shared->together(s->shared->self, operands[i], 0, NULL)) {
            return EXIT_ERROR;
        }
    }
    status = tool_diff_open(s, operands, sides, match, n);
    for (size_t i = 0; i < SIDES && status == EXIT_OK; i++) {
        for (size_t k = 0; k < sides[i].tensors.count; k++) {
            sum = tool_measure_mark(sum, sides[i].tensors.at[k]->tensor);
        }
    }
    if (!s->shared->together(s->shared->self, NULL, status == EXIT_OK ? sum : 1, NULL)) {
        return EXIT_ERROR;
    }
    return status;
}

int tool_run_diff(session *s, const char *const *operands, size_t count)
{
    side sides[SIDES] = {{0}};
    wishes w;
    comparison c = {.w = &w, .sides = sides};
    notes n = {0};
    int status = read_wishes(s->o, &w);

    if (status == EXIT_OK && count > SIDES && !(c.keys = tool_patterns_make(operands + SIDES, count - SIDES))) {
        status = EXIT_ERROR;
    }
    if (status == EXIT_OK) {
        tool_progress_begin(s->context, s->o->quiet);
        tool_session_streams(s);
        status = open_both(s, operands, sides, &w.match, &n);
        if (status == EXIT_OK) {
            tool_diff_match(&c, w.match);
            if (w.match != MATCH_POSITION && !w.no_data) {
                status = tool_diff_find_renamed(s, &c);
            }
        }
        if (status == EXIT_OK && c.keys) {
            status = tool_diff_restrict(&c);
        }
        if (status == EXIT_OK) {
            tool_diff_values(&c);
            status = tool_diff_tensors(s, &c);
        }
        tool_progress_end();
    }
    if (status == EXIT_OK) {
        tool_diff_sum(&c);
        if (s->o->json) {
            tool_diff_print_json(&c, s->o->all, &n);
        } else if (!s->o->quiet) {
            tool_diff_print(s, &c);
            tool_notes_print(&n, s->o->quiet);
        }
        status = c.differs ? EXIT_DIFFERS : EXIT_OK;
    }
    tool_diff_free(&c);
    tool_patterns_free(c.keys);
    tool_diff_close(sides);
    tool_notes_free(&n);
    return status;
}
