/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The problems of a plan, for people: those that differ in the numbers of layers or in one name are one line, as keys
 * are, and what to do stands below the last one that it is for. */
#include <stdlib.h>
#include <string.h>

#include "tools/plan/plan.h"

/* "KEY: text", the key left out where the text speaks of it already. */
static void problem_line(text *t, const rec_plan_problem *p)
{
    if (*p->key && !strstr(p->text, p->key)) {
        tool_text_name(t, p->key);
        tool_text_put(t, ": ");
    }
    tool_text_safe(t, p->text, strlen(p->text));
}

/* Hints speak of rules and load arguments; how these are written as options. */
static const struct {
    const char *word, *option;
    bool several; /* only where there are several inputs */
} written[] = {
    {"module = ", "--module 'PATTERN => TYPE'", false},
    {"variant = ", "--variant 'PATTERN => NAME'", false},
    {"drop = ", "--drop PATTERN", false},
    {"export = ", "--rule 'export = PATTERN'", false},
    {"(partial)", "--partial", false},
    {"one another key", "--prefix PATH before an input", true},
};
enum { WRITTEN = sizeof written / sizeof *written };

/* What to do, a line or more, two blanks in. */
static void print_hint(const char *hint, FILE *out)
{
    text said = {0};

    tool_text_hint(&said, hint);
    tool_print_lines(out, "  ", "  ", said.at);
    tool_text_free(&said);
}

/* Problems that share one line. */
typedef struct told {
    const rec_plan_problem *problem; /* the first of them */
    char *form;                      /* what follows the key, and what to do, without numbers of layers */
    size_t hint;                     /* where the latter begins */
} told;

/* Adds a text, numbers that are a part of a key as #. */
static void put_form(text *t, const char *string)
{
    for (const char *at = string; *at;) {
        size_t digits = at > string && at[-1] == '.' ? strspn(at, "0123456789") : 0;
        tool_text_add(t, digits ? "#" : at, 1);
        at += digits ? digits : 1;
    }
}

/* What folds with others: what begins with its key. @param own makes the form of others one of its own. */
static char *form_of(const rec_plan_problem *p, size_t own, size_t *hint)
{
    size_t length = strlen(p->key);
    text form = {0};

    tool_text_put(&form, "");
    if (length && strncmp(p->text, p->key, length) == 0 && p->text[length] == ' ') {
        put_form(&form, p->text + length);
    } else {
        tool_text_format(&form, "%zu", own);
    }
    tool_text_put(&form, "\n");
    *hint = form.length;
    put_form(&form, p->hint);
    return form.at; /* taken */
}

/* Collects the problems of a sort. @return how many. */
static size_t collect(const planned *p, bool fatal, told **list, entry **entries)
{
    uint64_t count = rec_plan_problem_count(p->plan);
    size_t found = 0;

    *list = xmalloc((size_t)((count + 1) * sizeof **list));
    *entries = xmalloc((size_t)((count + 1) * sizeof **entries));
    for (uint64_t i = 0; i < count; i++) {
        const rec_plan_problem *problem = rec_plan_problem_get(p->plan, i);
        told one = {.problem = problem};
        if ((problem->fatal != 0) != fatal) {
            continue;
        }
        one.form = form_of(problem, found, &one.hint);
        (*list)[found] = one;
        (*entries)[found++] = (entry){.path = problem->key, .dtype = one.form, .count = 1};
    }
    return found;
}

static void print_line(const told *t, const fold *f, const char *lead, FILE *out)
{
    uint64_t times = f->repeats * f->names;
    char number[NUMBER_ROOM];
    text line = {0};

    if (times > 1) {
        tool_text_name(&line, f->key);
        tool_text_safe(&line, t->problem->text + strlen(t->problem->key),
                       strlen(t->problem->text + strlen(t->problem->key)));
        tool_text_format(&line, " (×%s)", tool_grouped(times, number));
    } else {
        problem_line(&line, t->problem);
    }
    fprintf(out, "%s%s\n", lead, line.at);
    tool_text_free(&line);
}

void tool_problems_print(const planned *p, bool fatal, uint64_t most, const char *lead, const char *last, FILE *out)
{
    enum { WIDTH = 4000 }; /* of keys with braces: lines may be long */
    uint64_t all = fatal ? p->totals.fatal : p->totals.warnings, told_of = 0;
    bool asked[WRITTEN] = {false}, any = false;
    char number[NUMBER_ROOM];
    told *list;
    entry *entries;
    size_t count = collect(p, fatal, &list, &entries), lines;
    fold *folds = tool_folds_make(entries, count, most < UINT64_MAX ? WIDTH : FOLD_NOTHING, false, &lines, NULL);

    for (size_t i = 0; i < lines; i++) {
        const told *t = &list[folds[i].first], *next = i + 1 < lines ? &list[folds[i + 1].first] : NULL;
        const char *hint = t->problem->hint;
        if (i >= most && t->problem->kind != REC_PROBLEM_ASSUMED) { /* no value is made up in silence */
            continue;
        }
        for (size_t k = 0; k < WRITTEN; k++) {
            const char *at = strstr(hint, written[k].word);
            bool pasted = at && at > hint && at[-1] == '`'; /* an option by itself */
            asked[k] = asked[k] || (at && !pasted && (p->count > 1 || !written[k].several));
        }
        told_of += folds[i].repeats * folds[i].names;
        print_line(t, &folds[i], lead, out);
        if (*hint && !(next && i + 1 < most && strcmp(t->form + t->hint, next->form + next->hint) == 0)) {
            print_hint(hint, out);
        }
    }
    for (size_t k = 0; k < WRITTEN; k++) {
        if (asked[k]) {
            fprintf(out, "%s%s", any ? "; " : "  As an option: ", written[k].option);
            any = true;
        }
    }
    fputs(any ? ".\n" : "", out);
    if (all > told_of) {
        fprintf(out, "%s… and %s more%s\n", last, tool_grouped(all - told_of, number), fatal ? "" : " of these notes");
    }
    for (size_t i = 0; i < count; i++) {
        free(list[i].form);
    }
    tool_folds_free(folds, lines);
    free(entries);
    free(list);
}
