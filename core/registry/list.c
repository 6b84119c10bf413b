/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Lists all plugins, also rejected and hidden ones, and writes the error messages about missing plugins. */
#include <stdio.h>
#include <string.h>

#include "core/config/config.h"
#include "core/registry/table_private.h"

/* ------------------------------------------------------------------------------------------ what others hide -- */

/** Which names and extensions of a plugin are hidden by others: the text for rec_plugin_info. */
typedef struct veil {
    rec_job *job;
    lr_table *t;
    const lr_find *find;
    char text[2048];
    size_t used;
    uint64_t asked, hidden; /**< names and extensions, for each direction */
    const lr_find *by;      /**< the plugin that hides them, if it is one */
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
        v->text[v->used] = '\0'; /* no room: omit the line */
    }
}

/* Adds a name or an extension, for loading and for saving. */
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

static const char *hidden_text(rec_job *job, lr_table *t, const lr_find *find)
{
    veil v = {.job = job, .t = t, .find = find};
    const rec_plugin *d = lr_find_is(find);
    const char *kept;
    if (find->refused || lr_room_of(d->kind) != LR_ROOM_RECORDERS) {
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

/* --------------------------------------------------------------------------------------------------- all lines -- */

/* "mpk" of "/usr/lib/mpk.so", "plugins" of "/srv/plugins". */
static const char *base_name(rec_job *job, lr_table *t, const char *file)
{
    const char *slash = strrchr(file, '/');
    const char *name = slash && slash[1] ? slash + 1 : file;
    size_t length = strlen(name);
    if (length > 3 && strcmp(name + length - 3, ".so") == 0) {
        length -= 3;
    }
    return lr_job_arena_text(job, &t->arena, name, length);
}

static int32_t add_line(rec_job *job, lr_table *t, lr_find *find)
{
    const lr_plugin *plugin = find->use ? find->use : &find->plugin;
    rec_plugin_info info;
    if (!lr_job_arena_grow(job, &t->arena, &t->infos, t->info_count + 1, &t->info_room, sizeof info)) {
        return job->error.status;
    }
    info = lr_info_of(&plugin->d, plugin->file);
    info.usable = !find->refused;
    info.name = plugin->d.name ? plugin->d.name : base_name(job, t, plugin->file);
    info.refused = find->refused ? find->refused : "";
    if (!find->refused) {
        lr_info_details(job, &t->arena, &info, &plugin->d);
        info.hidden = hidden_text(job, t, find);
    }
    if (!lr_job_failed(job)) {
        t->infos[t->info_count++] = info;
    }
    return job->error.status;
}

/* Opens all files of a room, and combines all stacks. */
static int32_t use_all(rec_job *job, lr_table *t, lr_room room)
{
    (void)lr_table_see_all(job, t, room);
    for (uint64_t i = 0; i < t->file_count; i++) {
        for (uint64_t j = 0; j < t->files[i]->count && !lr_job_failed(job); j++) {
            (void)lr_table_use(job, t, t->files[i]->finds[j]);
        }
    }
    return job->error.status;
}

/* Opens all files and makes the list. */
static int32_t complete(rec_job *job, lr_table *t)
{
    for (lr_room room = LR_ROOM_RECORDERS; !t->complete && room < LR_ROOMS && !lr_job_failed(job); room++) {
        (void)use_all(job, t, room);
    }
    if (t->complete || lr_job_failed(job)) {
        return job->error.status;
    }
    t->info_count = 0;
    for (uint64_t i = 0; i < t->file_count; i++) {
        for (uint64_t j = 0; j < t->files[i]->count && !lr_job_failed(job); j++) {
            (void)add_line(job, t, t->files[i]->finds[j]);
        }
    }
    t->complete = !lr_job_failed(job);
    return job->error.status;
}

/* ------------------------------------------------------------------------------------------- the line of one -- */

/* Makes the information about a plugin. NULL: the job has failed. */
static lr_told *tell(rec_job *job, lr_registry *registry, const lr_plugin *plugin)
{
    rec_plugin_info info = lr_info_of(&plugin->d, plugin->file);
    lr_told *told = NULL;
    lr_info_details(job, &registry->arena, &info, &plugin->d);
    if (!lr_job_failed(job) && !(told = lr_arena_alloc(&registry->arena, sizeof *told, 16))) {
        (void)lr_fail_memory(job, sizeof *told);
    }
    if (told) {
        *told = (lr_told){registry->told, plugin, info};
        registry->told = told;
    }
    return told;
}

const rec_plugin_info *lr_registry_info_of(rec_job *job, const lr_plugin *plugin)
{
    lr_look l = lr_look_begin(job);
    lr_told *told = l.registry ? l.registry->told : NULL;
    while (told && told->plugin != plugin) {
        told = told->next;
    }
    told = told || !l.t ? told : tell(job, l.registry, plugin);
    lr_look_end(l);
    return told ? &told->info : NULL;
}

uint64_t rec_plugin_count(rec_context *context)
{
    rec_job job;
    uint64_t count;
    lr_look l;
    lr_job_open(&job, context, "plugins", NULL);
    l = lr_look_begin(&job);
    count = l.t && complete(&job, l.t) == REC_OK ? l.t->info_count : 0;
    lr_look_end(l);
    (void)lr_job_end(&job);
    return count;
}

const rec_plugin_info *rec_plugin_get(rec_context *context, uint64_t index)
{
    rec_job job;
    const rec_plugin_info *info = NULL;
    lr_look l;
    lr_job_open(&job, context, "plugins", NULL);
    l = lr_look_begin(&job);
    if (l.t && complete(&job, l.t) == REC_OK && index < l.t->info_count) {
        info = &l.t->infos[index];
    } else if (!lr_job_failed(&job)) {
        (void)rec_fail(&job, REC_E_ARGUMENT, REC_UNKNOWN, "there is no plugin %llu: there are %llu",
                       (unsigned long long)index, (unsigned long long)l.t->info_count);
    }
    lr_look_end(l);
    (void)lr_job_end(&job);
    return info;
}

/* ------------------------------------------------------------------------------------------- what is not there -- */

/** A list of names. */
typedef struct names {
    char text[768];
    size_t used;
    uint64_t left_out;
} names;

static void names_add(names *list, const char *name)
{
    size_t room = sizeof list->text - list->used;
    if (list->left_out || strlen(name) + 3 > room) {
        list->left_out++;
        return;
    }
    list->used += (size_t)snprintf(list->text + list->used, room, "%s%s", list->used ? ", " : "", name);
}

bool lr_registry_folder_names(rec_job *job, char *text, size_t room)
{
    lr_look l = lr_look_begin(job);
    names list = {.text = ""};
    lr_place at = {0};
    lr_find *find;
    while (l.t && (find = lr_table_next(job, l.t, &at))) {
        if (lr_find_records(find) && (find->plugin.d.traits & REC_TRAIT_FOLDER)) {
            names_add(&list, find->plugin.d.name);
        }
    }
    lr_look_end(l);
    (void)snprintf(text, room, "%s", list.text);
    return list.used > 0;
}

/* Returns the first usable or the first rejected recorder. @param name its name or the name of its file, or NULL. */
static const lr_find *first_of(const lr_table *t, bool usable, const char *name)
{
    for (uint64_t i = 0; i < t->file_count; i++) {
        for (uint64_t j = 0; t->files[i]->content == LR_ROOM_RECORDERS && j < t->files[i]->count; j++) {
            const lr_find *find = t->files[i]->finds[j];
            bool named = !name || (find->plugin.d.name && lr_name_same(find->plugin.d.name, name)) ||
                         lr_file_called(find->file, name);
            if (named && (find->refused == NULL) == usable) {
                return find;
            }
        }
    }
    return NULL;
}

static void names_of(names *all, lr_suggestion *near, const lr_find *find)
{
    const rec_plugin *d = &find->plugin.d;
    lr_suggestion_try(near, d->name);
    for (size_t i = 0; d->aliases && d->aliases[i]; i++) {
        lr_suggestion_try(near, d->aliases[i]);
    }
    names_add(all, d->name);
}

/* All format plugins of the table must be open. */
static void hint_names(rec_job *job, const lr_table *t, const char *name)
{
    const lr_config *config = job->context->config;
    names all = {.text = ""};
    lr_suggestion near;
    lr_suggestion_begin(&near, name);
    for (uint64_t i = 0; i < lr_config_recorder_count(config); i++) {
        if (!lr_name_same(lr_config_recorder_at(config, i)->name, name)) {
            lr_suggestion_try(&near, lr_config_recorder_at(config, i)->name);
        }
        names_add(&all, lr_config_recorder_at(config, i)->name);
    }
    for (uint64_t i = 0; i < t->file_count; i++) {
        for (uint64_t j = 0; j < t->files[i]->count; j++) {
            const lr_find *find = t->files[i]->finds[j];
            if (!find->refused && lr_find_records(find)) {
                names_of(&all, &near, find);
            }
        }
    }
    if (near.best) {
        rec_fail_hint(job, "Did you mean \"%s\"?", near.best);
    }
    if (all.left_out) {
        rec_fail_hint(job, "Known: %s and %llu more.", all.text, (unsigned long long)all.left_out);
    } else if (all.used) {
        rec_fail_hint(job, "Known: %s.", all.text);
    }
}

/* Names the first rejected file, and whether there are more. */
static void hint_refused(rec_job *job, const lr_table *t)
{
    const lr_find *first = first_of(t, false, NULL);
    uint64_t refused = 0;
    for (uint64_t i = 0; i < t->file_count; i++) {
        for (uint64_t j = 0; j < t->files[i]->count; j++) {
            refused += t->files[i]->finds[j]->refused != NULL;
        }
    }
    if (first) {
        rec_fail_hint(job, "Refused: %s: %s%s", first->plugin.file, first->refused,
                      refused > 1 ? "; for the others see `record plugins --why`." : ".");
    }
}

static void hint_folders(rec_job *job, const lr_table *t)
{
    if (!first_of(t, true, NULL)) {
        if (*t->folders) {
            rec_fail_hint(job, "No usable plugin was found in %s; LIBRECORD_PLUGIN_PATH may name another directory.",
                          t->folders);
        } else {
            rec_fail_hint(job, "No directory was searched for plugins.");
        }
    }
    if (t->narrowed) {
        rec_fail_hint(job, "%s", t->narrowed);
    }
    hint_refused(job, t);
}

/* Opens all format plugins. It uses another job, since this one has failed. */
static bool open_all(rec_job *job, lr_table *t)
{
    rec_job quiet;
    bool opened;
    lr_job_begin(&quiet, job->context, "plugins", NULL);
    opened = use_all(&quiet, t, LR_ROOM_RECORDERS) == REC_OK;
    lr_job_drop(&quiet);
    return opened;
}

int32_t lr_registry_fail_empty(rec_job *job)
{
    lr_look l = lr_look_begin(job);
    if (l.t && use_all(job, l.t, LR_ROOM_RECORDERS) == REC_OK && !first_of(l.t, true, NULL)) {
        const lr_find *first = first_of(l.t, false, NULL);
        if (first) {
            (void)rec_fail(job, REC_E_PLUGIN, REC_UNKNOWN, "no recorder can be used: %s was rejected: %s",
                           first->plugin.file, first->refused);
        } else {
            (void)rec_fail(job, REC_E_PLUGIN, REC_UNKNOWN, "no recorder was found");
        }
        hint_folders(job, l.t);
    }
    lr_look_end(l);
    return job->error.status;
}

void lr_registry_refused_hint(rec_job *job)
{
    rec_job quiet;
    lr_look l;
    lr_job_begin(&quiet, job->context, "plugins", NULL);
    l = lr_look_begin(&quiet);
    lr_job_drop(&quiet);
    if (l.t && open_all(job, l.t)) {
        hint_folders(job, l.t);
    }
    lr_look_end(l);
}

void lr_registry_missing(rec_job *job, const char *name, const char *format)
{
    lr_look l = lr_look_begin(job);
    const lr_find *refused;
    lr_excerpt brief;
    if (l.t && use_all(job, l.t, LR_ROOM_RECORDERS) == REC_OK) {
        refused = first_of(l.t, false, *format ? format : name);
        if (refused) {
            (void)rec_fail(job, REC_E_PLUGIN, REC_UNKNOWN, "the recorder \"%s\" cannot be used: %s was rejected: %s",
                           lr_excerpt_text(&brief, name), refused->plugin.file, refused->refused);
        } else {
            (void)rec_fail(job, REC_E_NOT_FOUND, REC_UNKNOWN,
                           *format ? "no recorder is called \"%s\": the name before the codec is not a format"
                                   : "no recorder is called \"%s\"",
                           lr_excerpt_text(&brief, name));
            if (lr_config_find_recorder(job->context->config, name)) {
                rec_fail_hint(
                    job, "plugin takes the name of a plugin; [recorder %s] cannot be extended by another one.", name);
            }
            hint_names(job, l.t, *format ? format : name);
            hint_folders(job, l.t);
        }
    }
    lr_look_end(l);
}
