/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Who comes before whom: whose an extension is, and what of a plugin is hidden by others. */
#include <stdio.h>
#include <string.h>

#include "core/base/base.h"
#include "core/registry/table_private.h"

lr_find *lr_table_by_extension(rec_job *job, lr_table *t, const char *path, lr_direction direction)
{
    lr_find *best = NULL, *find;
    size_t best_length = 0;
    lr_place at = {0, 0};
    while ((find = lr_table_next(job, t, &at))) {
        size_t length = lr_find_records(find) ? lr_plugin_extension(lr_find_is(find), path) : 0;
        if (length > best_length ||
            (length && length == best_length && !lr_find_can(best, direction) && lr_find_can(find, direction))) {
            best = find;
            best_length = length;
        }
    }
    return lr_job_failed(job) ? NULL : best;
}

/** The lines of one plugin as they grow. */
typedef struct veil {
    rec_job *job;
    lr_table *t;
    const lr_find *find;
    char text[2048];
    size_t used;
    uint64_t asked, hidden; /**< names and extensions, for each direction */
    const lr_find *by;      /**< who hides what is hidden, if it is one */
    bool several;
} veil;

static void veil_add(veil *v, const char *what, const char *name, const char *doing, const lr_find *by)
{
    size_t room = sizeof v->text - v->used;
    int length = snprintf(v->text + v->used, room, "%s%s %s%s: %s of %s", v->used ? "\n" : "", what, name, doing,
                          by->plugin.d.name, by->plugin.file);
    if (length > 0 && (size_t)length < room) {
        v->used += (size_t)length;
    } else {
        v->text[v->used] = '\0'; /* a line that has no room is left out whole */
    }
}

/* One name or extension, in the directions that the plugin can do. */
static void veil_ask(veil *v, bool extension, const char *name)
{
    static const lr_direction directions[] = {LR_CAN_LOAD, LR_CAN_SAVE};
    static const char *const doing[] = {", to load", ", to save"};
    const lr_find *by[2] = {NULL, NULL};
    bool can[2];
    char path[64];
    (void)snprintf(path, sizeof path, "x.%s", name);
    for (int i = 0; i < 2; i++) {
        const lr_find *owner;
        can[i] = lr_find_can(v->find, directions[i]);
        if (!can[i] || lr_job_failed(v->job)) {
            continue;
        }
        owner = extension ? lr_table_by_extension(v->job, v->t, path, directions[i])
                          : lr_table_named(v->job, v->t, v->find->plugin.d.kind, name, directions[i]);
        by[i] = owner != v->find ? owner : NULL;
        v->asked++;
        v->hidden += by[i] != NULL;
        v->several = v->several || (by[i] && v->by && by[i] != v->by);
        v->by = by[i] ? by[i] : v->by;
    }
    for (int i = 0; i < 2; i++) {
        bool both = (by[0] || !can[0]) && (by[1] || !can[1]) && (!by[0] || !by[1] || by[0] == by[1]);
        if (by[i] && !(both && i == 1 && by[0])) {
            veil_add(v, extension ? "the extension" : "the name", name, both ? "" : doing[i], by[i]);
        }
    }
}

const char *lr_hidden_text(rec_job *job, lr_table *t, const lr_find *find)
{
    veil v = {.job = job, .t = t, .find = find};
    const rec_plugin *d = lr_find_is(find);
    const char *kept;
    if (find->refused || d->kind == REC_PLUGIN_SOURCE) {
        return "";
    }
    veil_ask(&v, false, d->name);
    for (size_t i = 0; d->aliases && d->aliases[i]; i++) {
        veil_ask(&v, false, d->aliases[i]);
    }
    if (lr_find_records(find) && d->extension) {
        veil_ask(&v, true, d->extension);
        for (size_t i = 0; d->extensions && d->extensions[i]; i++) {
            veil_ask(&v, true, d->extensions[i]);
        }
    }
    if (v.hidden && v.hidden == v.asked && !v.several) {
        v.used = 0;
        veil_add(&v, "all", "of it", "", v.by);
    }
    kept = v.used ? lr_arena_text(&t->arena, v.text, v.used) : "";
    if (!kept) {
        (void)lr_fail_memory(job, v.used + 1);
    }
    return kept;
}
