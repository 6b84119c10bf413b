/* SPDX-License-Identifier: MIT OR Apache-2.0
 * record edit rm, mv, meta: removes values, renames them, edits metadata. */
#include <stdlib.h>
#include <string.h>

#include "tools/edit/edit_private.h"

void tool_edit_count_leaf(void *user, const char *path, const rec_value *leaf)
{
    outcome *o = user;
    const rec_tensor *tensor = rec_value_tensor(leaf);

    (void)path;
    o->changed++;
    o->tensors += tensor != NULL;
    o->nbytes += tensor ? rec_tensor_nbytes(tensor) : 0;
}

/* "3 tensors, 4.58 MiB and 2 values" */
static void say_what(outcome *o, const char *verb)
{
    char number[NUMBER_ROOM];
    uint64_t values = o->changed - o->tensors;

    if (o->tensors) {
        tool_text_format(&o->said, "%s tensor%s", tool_grouped(o->tensors, number), tool_plural(o->tensors));
        tool_text_format(&o->said, ", %s", tool_sized(o->nbytes, number));
    }
    if (values || !o->tensors) {
        tool_text_format(&o->said, "%s%s value%s", o->tensors ? ", and " : "", tool_grouped(values, number),
                         tool_plural(values));
    }
    tool_text_format(&o->said, " %s", verb);
}

/* ---------------------------------------------------------------------------------------------------------- rm -- */

/* @return the last dot that ends a name, or NULL. */
static char *last_dot(char *path)
{
    char *dot = NULL;

    for (char *at = path; *at; at++) {
        if (*at == '\\' && at[1]) {
            at++;
        } else if (*at == '.') {
            dot = at;
        }
    }
    return dot;
}

/* In the file of another framework there is nothing but tensors: levels that hold none are gone. */
static int prune(rec_record *record, char *path)
{
    while (tool_is_of_others(record)) {
        char *dot = last_dot(path);
        const rec_value *above;
        if (!dot) {
            return EXIT_OK;
        }
        *dot = '\0';
        above = rec_value_at(record, path);
        if (!above || rec_value_count(above) || rec_value_tensor(above)) {
            return EXIT_OK;
        }
        if (rec_remove(record, path) != REC_OK) {
            return tool_fail_library();
        }
    }
    return EXIT_OK;
}

/* Whether a key is one before it again, or lies below one: sorted, they are in this order. */
static bool goes_with_another(const found *keys, size_t index)
{
    char *above = xstrdup(keys->at[index]), *dot = above;
    bool goes = false;

    while (!goes && dot) {
        goes = index && bsearch(&above, keys->at, index, sizeof *keys->at, tool_by_name) != NULL;
        dot = last_dot(above);
        if (dot) {
            *dot = '\0';
        }
    }
    free(above);
    return goes;
}

/* Finds all keys before any is removed, as removal moves the items of lists up. */
static int find_all(const work *w, const step *todo, found *keys)
{
    int status = EXIT_OK;

    for (size_t i = 0; i < todo->count && status == EXIT_OK; i++) {
        const char *key = todo->operands[i];
        if (todo->count > 1 && *key == '!' && !rec_value_at(w->record, key)) {
            status = tool_fail("rm: %s stands for all other keys: it cannot be one of several", key);
        } else {
            status = tool_edit_find(w->record, key, keys);
        }
    }
    if (keys->count > 1) {
        qsort(keys->at, keys->count, sizeof *keys->at, tool_by_name);
    }
    return status;
}

int tool_edit_remove(work *w, const step *todo, outcome *o)
{
    found keys = {0};
    int status = find_all(w, todo, &keys);

    /* From the end, so that items of lists keep their numbers until it is their turn. */
    for (size_t i = keys.count; i-- > 0 && status == EXIT_OK;) {
        if (goes_with_another(&keys, i)) {
            continue;
        }
        tool_edit_leaves(w->record, keys.at[i], tool_edit_count_leaf, o);
        if (rec_remove(w->record, keys.at[i]) != REC_OK) {
            status = tool_fail_library();
        } else {
            status = prune(w->record, keys.at[i]);
        }
    }
    if (status == EXIT_OK) {
        say_what(o, "removed");
    }
    tool_edit_found_free(&keys);
    return status;
}

/* ---------------------------------------------------------------------------------------------------------- mv -- */

/* The library's rule for names does it, as in a conversion. */
static rec_plan *plan_move(work *w, const char *rule)
{
    rec_recorder *arguments = rec_open_recorder_in(w->s->context, "Auto", REC_PRECISION_KEEP);
    rec_plan *plan = arguments ? rec_plan_new(w->s->context, NULL) : NULL; /* which would forget the error */

    if (!arguments || !plan || rec_recorder_set(arguments, "adapter", "none") != REC_OK ||
        rec_recorder_set(arguments, "gaps", "keep") != REC_OK ||
        rec_recorder_set(arguments, "strict", "yes") != REC_OK ||
        rec_recorder_set(arguments, "rename", rule) != REC_OK ||
        rec_plan_add_record(plan, arguments, w->record, "the record") != REC_OK || rec_plan_make(plan) != REC_OK) {
        (void)tool_fail_library();
        rec_plan_free(plan);
        plan = NULL;
    }
    rec_close_recorder(arguments);
    return plan;
}

/* What the plan of a foreign file makes is taken for a record of Burn's: it stays what it was. */
static rec_record *carry_out(work *w, rec_plan *plan)
{
    rec_record *made = rec_plan_load(plan), *foreign = NULL;
    text path = {0};

    if (!made || !tool_is_of_others(w->record)) {
        return made;
    }
    tool_edit_hold(w, made);
    foreign = tool_edit_husk(w->record);
    for (uint64_t i = 0; foreign && i < rec_value_count(rec_root(made)); i++) {
        tool_edit_add_child(&path, rec_root(made), i);
        if (rec_set_value(foreign, path.at, rec_value_item(rec_root(made), i)) != REC_OK) {
            rec_record_free(foreign);
            foreign = NULL;
        }
        path.length = 0;
    }
    tool_text_free(&path);
    return foreign;
}

int tool_edit_move(work *w, const step *todo, outcome *o)
{
    const char *const *operands = todo->operands;
    char *rule;
    rec_plan *plan = NULL;
    rec_record *next;
    int status = EXIT_ERROR;

    if (strstr(operands[0], " => ")) {
        return tool_fail("mv: the pattern holds \" => \", which ends one\nWrite \\x20 for a blank in it.");
    }
    rule = xasprintf("%s => %s", operands[0], operands[1]);
    plan = plan_move(w, rule);
    for (uint64_t i = 0; plan && i < rec_plan_count(plan); i++) {
        const rec_plan_line *line = tool_plan_line(plan, i);
        if (strcmp(line->from, line->to) != 0) {
            o->changed++;
            o->tensors += line->dtype_before != REC_DTYPE_NONE;
        }
    }
    next = plan ? carry_out(w, plan) : NULL;
    if (plan && !next) {
        (void)tool_fail_library();
        rec_plan_free(plan);
    } else if (plan) {
        char number[NUMBER_ROOM];
        tool_edit_replace(w, next, plan);
        status = EXIT_OK;
        tool_text_format(&o->said, "%s key%s renamed", tool_grouped(o->changed, number), tool_plural(o->changed));
    }
    free(rule);
    return status;
}

/* -------------------------------------------------------------------------------------------------------- meta -- */

int tool_edit_metadata(work *w, const step *todo, outcome *o)
{
    const char *const *operands = todo->operands;
    const char *key = operands[0], *value = operands[1], *old = rec_metadata(w->record, key);
    bool lacks = !old && !*value;
    int status;

    if (old) {
        text safe = {0};
        tool_text_safe(&safe, old, strlen(old));
        tool_text_put(&o->said, "was ");
        tool_text_shortened(&o->said, safe.at, 40, false);
        tool_text_free(&safe);
    } else {
        tool_text_put(&o->said, "added");
    }
    tool_text_put(&o->said, *value ? "" : ", removed");
    o->changed = 1;
    status = tool_set_metadata(w->record, "meta", key, value);
    return status == EXIT_OK && lacks ? tool_fail("meta %s: there is no such metadata to remove", key) : status;
}
