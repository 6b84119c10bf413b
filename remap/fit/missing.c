/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What a type asks for and the tree lacks, and what the tree has that the type does not ask for. */
#include "remap/fit/fit_private.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* A partial load leaves what is absent to the caller. */
bool lr_fit_is_partial(const rec_plan *plan)
{
    for (uint64_t i = 0; i < plan->source_count; i++) {
        if (plan->sources[i].partial) {
            return true;
        }
    }
    return false;
}

int32_t lr_fit_miss(lr_fit *t, const char *what, int *how)
{
    rec_plan *plan = t->f->plan;
    lr_missing *m = lr_arena_alloc(&plan->arena, sizeof *m, 8);
    const char *path = lr_arena_text(&plan->arena, lr_fit_here(t), t->f->path.used);
    bool partial = false;
    *how = LR_FIT_OMITTED;
    if (!m || !path) {
        return lr_fail_memory(t->f->job, sizeof *m);
    }
    for (uint64_t i = 0; i < plan->source_count; i++) {
        partial = partial || plan->sources[i].partial;
    }
    if (!partial) {
        *m = (lr_missing){.path = path, .what = lr_plan_text(t->f->job, plan, "%s", what)};
        if (!m->what) {
            return t->f->job->error.status;
        }
        for (const char *c = path; *c; c++) {
            m->dots += *c == '.';
        }
        if (t->last_missing) {
            t->last_missing->next = m;
        } else {
            t->first_missing = m;
        }
        t->last_missing = m;
    }
    return lr_place_line(t->f, REC_PLAN_MISSING, what);
}

/* Whether a name differs from another by white space around it alone. */
static bool same_trimmed(const char *name, const char *other)
{
    size_t length;
    name += strspn(name, " \t\r\n");
    length = strlen(name);
    while (length && strchr(" \t\r\n", name[length - 1])) {
        length--;
    }
    return length == strlen(other) && memcmp(name, other, length) == 0;
}

/* Where a missing path stands below another name: `fc1` in `model.fc1.weight`. @param below (out) the name, or left. */
static void find_below(const lr_piece *piece, const char *path, char *below, size_t room)
{
    size_t length = strlen(path);
    const char *at = piece->key;
    while (length && (at = strstr(at, path)) != NULL) {
        size_t head = (size_t)(at - piece->key);
        if (head > 1 && at[-1] == '.' && (at[length] == '.' || !at[length]) && head - 1 < room) {
            memcpy(below, piece->key, head - 1);
            below[head - 1] = '\0';
            return;
        }
        at += length;
    }
}

/* The key that was probably meant for a missing one: a neighbour, else one that is spelled nearly so. */
static int32_t report_missing(lr_fit *t, const lr_missing *m)
{
    /* A guess is for who reads the first few of them: a file in which all is missing must not cost keys times paths. */
    enum { CANDIDATES_MOST = 20000, COMPARED_MOST = 200000 };
    rec_plan *plan = t->f->plan;
    const char *dot = strrchr(m->path, '.'), *last = dot ? dot + 1 : m->path;
    size_t parent = dot ? (size_t)(dot - m->path) + 1 : 0;
    const lr_piece *neighbour = NULL;
    const char *by_adapter = "";
    char hint[600] = "";
    lr_suggestion near;
    uint64_t seen = 0;
    const char *same = NULL;
    char below[200] = "";
    lr_suggestion_begin(&near, m->path);
    for (const lr_piece *piece = plan->pieces;
         piece && seen++ < CANDIDATES_MOST && t->compared < COMPARED_MOST && !same; piece = piece->next) {
        const char *end = piece->key;
        char *part;
        if (piece->taken || piece->dead || piece->kept) {
            continue;
        }
        t->compared++;
        /* As many parts as the missing path has: a module is missed by its own name. */
        for (unsigned dots = 0; *end; end++) {
            dots += *end == '.';
            if (dots > m->dots) {
                break;
            }
        }
        part = lr_arena_text(&plan->arena, piece->key, (uint64_t)(end - piece->key));
        if (!part) {
            return lr_fail_memory(t->f->job, piece->length);
        }
        if (lr_name_same(part, m->path) || same_trimmed(part, m->path)) {
            same = part;
        }
        if (!below[0]) {
            find_below(piece, m->path, below, sizeof below);
        }
        lr_suggestion_try(&near, part);
        if (piece->length > parent && memcmp(piece->key, m->path, parent) == 0 && !strchr(piece->key + parent, '.') &&
            (!neighbour || strcmp(piece->key + parent, strcmp(last, "beta") == 0 ? "bias" : "weight") == 0)) {
            neighbour = parent || !dot ? piece : neighbour;
        }
    }
    if (same) {
        (void)snprintf(hint, sizeof hint, "Nearest: `%.400s`", same);
    } else if (below[0]) {
        (void)snprintf(hint, sizeof hint, "It is there below %.200s: take what is below that (select = %.200s).", below,
                       below);
    } else if (neighbour && parent) {
        if (plan->sources[neighbour->source].adapter == LR_ADAPTER_NONE &&
            ((strcmp(last, "gamma") == 0 && strcmp(neighbour->key + parent, "weight") == 0) ||
             (strcmp(last, "beta") == 0 && strcmp(neighbour->key + parent, "bias") == 0))) {
            by_adapter = " (a norm of PyTorch's? The adapter pytorch renames it.)";
        }
        (void)snprintf(hint, sizeof hint, "Nearest: %.400s%s", neighbour->key, by_adapter);
    } else if (near.best) {
        (void)snprintf(hint, sizeof hint, "Nearest: %.400s", near.best);
    } else {
        (void)snprintf(hint, sizeof hint, "Is it the right type? A partial load (partial) leaves out what is missing.");
    }
    return lr_plan_problem(t->f->job, plan, REC_PROBLEM_MISSING, true, m->path, hint, "%.400s is missing: %.200s",
                           m->path, m->what);
}

int32_t lr_fit_report_missing(lr_fit *t)
{
    int32_t status = REC_OK;
    for (const lr_missing *m = t->first_missing; m && status == REC_OK; m = m->next) {
        status = report_missing(t, m);
    }
    return status;
}

/* What was not asked for. */
int32_t lr_fit_report_left(lr_fitter *f, const char *where)
{
    rec_plan *plan = f->plan;
    uint64_t left = 0;
    char names[300] = "";
    size_t used = 0;
    bool strict = false;
    int32_t status = REC_OK;
    for (lr_piece *piece = plan->pieces; piece && status == REC_OK; piece = piece->next) {
        if (piece->taken || piece->dead || piece->kept || (piece->value && piece->value->kind == REC_KIND_NIL)) {
            continue;
        }
        for (uint64_t i = 0; i < piece->input_count && status == REC_OK; i++) {
            lr_key *key = piece->inputs[i];
            bool renamed = key->length != piece->length || memcmp(key->text, piece->key, (size_t)key->length) != 0;
            const char *reason =
                renamed ? lr_plan_text(f->job, plan, "%s has no %.400s", where, piece->key)
                        : lr_plan_text(f->job, f->plan, "not in %s", where);
            status = reason ? lr_plan_lost(f->job, plan, REC_PLAN_UNEXPECTED, key, reason) : f->job->error.status;
        }
        if (left++ < 3 && used < sizeof names) {
            used += (size_t)snprintf(names + used, sizeof names - used, "%s%.80s", left > 1 ? ", " : "", piece->key);
        }
        strict = strict || plan->sources[piece->source].strict;
    }
    if (left && status == REC_OK) {
        status = lr_plan_problem(f->job, plan, REC_PROBLEM_UNEXPECTED, strict, "",
                                 strict ? "Drop them by rules, or do not ask for a strict load." : "",
                                 "%" PRIu64 " key%s not in %s, and left out: %.300s%s", left,
                                 left == 1 ? " is" : "s are", where, names, left > 3 ? ", …" : "");
    }
    return status;
}
