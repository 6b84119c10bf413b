/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Which plugin is meant: by a name, an extension, a file's first bytes; and what to say where there is none. */
#include <stdio.h>
#include <string.h>

#include "core/base/base.h"
#include "core/config/config.h"
#include "core/registry/stack_private.h"
#include "core/registry/table_private.h"

/* A look-up: the registry is held from its beginning to its end. */
typedef struct look {
    lr_registry *registry;
    lr_table *t; /**< NULL: the job has failed */
} look;

static look look_begin(rec_job *job)
{
    look l = {.registry = lr_job_failed(job) ? NULL : lr_registry_of(job)};
    if (l.registry) {
        (void)pthread_mutex_lock(&l.registry->lock);
        l.t = lr_registry_table(job, l.registry);
    }
    return l;
}

static void look_end(look l)
{
    if (l.registry) {
        (void)pthread_mutex_unlock(&l.registry->lock);
    }
}

/* ------------------------------------------------------------------------------------------------------- names -- */

static const lr_plugin *named(rec_job *job, lr_table *t, int32_t kind, const char *name, lr_direction direction)
{
    lr_find *find;
    while (!lr_job_failed(job) && (find = lr_table_named(job, t, kind, name, direction))) {
        const lr_plugin *plugin = lr_table_use(job, t, find);
        if (plugin) {
            return plugin;
        }
    }
    return NULL;
}

const lr_plugin *lr_registry_raw(rec_job *job, int32_t kind, const char *name)
{
    look l = look_begin(job);
    const lr_plugin *plugin = l.t ? named(job, l.t, kind, name, LR_CAN_ANY) : NULL;
    look_end(l);
    return plugin;
}

const lr_plugin *lr_registry_for(rec_job *job, const lr_plugin *plugin, lr_direction direction)
{
    const lr_plugin *other = plugin;
    if (!lr_plugin_can(&plugin->d, direction)) {
        look l = look_begin(job);
        other = l.t ? named(job, l.t, plugin->d.kind, plugin->d.name, direction) : NULL;
        look_end(l);
    }
    return other;
}

/* One of that very name in a file that is called so, or is linked in. @param installed only of the installed folder. */
static lr_find *find_own(rec_job *job, lr_table *t, const char *name, bool installed)
{
    for (uint64_t i = 0; i < t->file_count && !lr_job_failed(job); i++) {
        lr_file *file = t->files[i];
        bool counts = file->name ? lr_file_called(file, name) && (file->installed || !installed) : file->builtin;
        if (!counts || lr_table_see(job, t, file, true) != REC_OK) {
            continue;
        }
        for (uint64_t j = 0; j < file->count; j++) {
            if (!file->finds[j]->refused && strcmp(file->finds[j]->plugin.d.name, name) == 0) {
                return file->finds[j];
            }
        }
    }
    return NULL;
}

const lr_plugin *lr_registry_own(rec_job *job, const char *name)
{
    look l = look_begin(job);
    lr_find *find = l.t ? find_own(job, l.t, name, true) : NULL;
    const lr_plugin *plugin;
    find = find || !l.t ? find : find_own(job, l.t, name, false);
    plugin = find ? lr_table_use(job, l.t, find) : NULL;
    look_end(l);
    return plugin;
}

const lr_plugin *lr_registry_next_of(rec_job *job, int32_t kind, const lr_plugin *before, lr_wanted_fn wanted,
                                     const void *user)
{
    look l = look_begin(job);
    const lr_plugin *plugin = NULL;
    lr_place at = {0, 0};
    lr_find *find;
    while (l.t && !plugin && (find = lr_table_next(job, l.t, &at))) {
        if (before) {
            before = find->use == before ? NULL : before;
        } else if (find->plugin.d.kind == kind && (!wanted || wanted(&find->plugin.d, user))) {
            bool told = find->told;
            plugin = lr_table_use(job, l.t, find);
            at.find -= told; /* what was opened may begin with something else */
        }
    }
    look_end(l);
    return plugin;
}

const lr_plugin *lr_registry_next(rec_job *job, int32_t kind, const lr_plugin *before)
{
    return lr_registry_next_of(job, kind, before, NULL, NULL);
}

/* -------------------------------------------------------------------------------------------------- extensions -- */

/* Stacks without an extension get one when they are put together. */
static void use_stacks(rec_job *job, lr_table *t)
{
    lr_place at = {0, 0};
    lr_find *find;
    while ((find = lr_table_next(job, t, &at))) {
        if (find->plugin.d.kind == REC_PLUGIN_STACK && !find->use && !find->plugin.d.extension) {
            bool told = find->told;
            (void)lr_table_use(job, t, find);
            at.find -= told;
        }
    }
}

const lr_plugin *lr_registry_by_own_extension(rec_job *job, const char *path, lr_direction direction)
{
    look l = look_begin(job);
    const lr_plugin *plugin = NULL;
    lr_find *find;
    if (l.t) {
        use_stacks(job, l.t);
    }
    while (l.t && !plugin && !lr_job_failed(job) && (find = lr_table_by_extension(job, l.t, path, direction))) {
        plugin = lr_table_use(job, l.t, find);
        if (plugin && !lr_plugin_can(&plugin->d, direction) &&
            find != lr_table_by_extension(job, l.t, path, direction)) {
            plugin = NULL; /* a stack turned out to be able to do less: there is another one */
        }
    }
    look_end(l);
    return plugin;
}

int32_t lr_registry_fail_extension(rec_job *job)
{
    (void)rec_fail(job, REC_E_ARGUMENT, REC_UNKNOWN, "its name does not end in the extension of any recorder");
    rec_fail_hint(job, "Name the recorder; `record plugins` lists those there are with their extensions.");
    lr_registry_refused_hint(job);
    return job->error.status;
}

/* ------------------------------------------------------------------------------------------------- recognising -- */

int32_t lr_registry_bid(const rec_plugin *d, const rec_head *head)
{
    bool asked = d->probe && d->kind == REC_PLUGIN_FORMAT && (!head->names || (d->traits & REC_TRAIT_FOLDER));
    int32_t magic = asked && !head->names ? lr_plugin_magic(d, head) : 0;
    int32_t bits = asked && magic >= 0 ? d->probe(head) : 0;
    return bits > magic + LR_BITS_MORE ? magic + LR_BITS_MORE : bits;
}

/* Whether the name of a plugin that loads is another's. */
static bool is_hidden(rec_job *job, lr_table *t, const lr_find *find)
{
    return lr_find_can(find, LR_CAN_LOAD) &&
           lr_table_named(job, t, find->plugin.d.kind, find->plugin.d.name, LR_CAN_LOAD) != find;
}

/* The surest of those whose files are open. */
typedef struct surest {
    const lr_find *find; /**< NULL: none has anything to say */
    int32_t bits;
    size_t length; /**< of its extension that the path has */
    bool loads;
} surest;

static surest ask_open(rec_job *job, lr_table *t, const rec_head *head, const char *path)
{
    surest best = {NULL, 0, 0, false};
    lr_place at = {0, 0};
    lr_find *find;
    while ((find = lr_table_next(job, t, &at))) {
        const rec_plugin *d = &find->plugin.d;
        int32_t bits = find->told ? 0 : lr_registry_bid(d, head);
        size_t length = bits > 0 && path ? lr_plugin_extension(d, path) : 0;
        bool loads = d->load != NULL;
        bool better = loads != best.loads ? loads : bits > best.bits || (bits == best.bits && length > best.length);
        if (bits > 0 && (better || !best.find) && !is_hidden(job, t, find)) {
            best = (surest){find, bits, length, loads};
        }
    }
    return best;
}

/* The one that may say most, by what its index has of it, of those that are not open and may still be surer than the
 * surest, or as sure. NULL: none may. */
static lr_find *next_to_ask(rec_job *job, lr_table *t, const rec_head *head, const surest *best)
{
    lr_find *most = NULL, *find;
    int32_t most_bits = 0;
    lr_place at = {0, 0};
    while ((find = lr_table_next(job, t, &at))) {
        const rec_plugin *d = &find->plugin.d;
        bool asked = d->probe && d->kind == REC_PLUGIN_FORMAT && (!head->names || (d->traits & REC_TRAIT_FOLDER));
        int32_t magic = asked && !head->names ? lr_plugin_magic(d, head) : 0;
        bool loads = d->load != NULL;
        bool may = find->told && asked && magic >= 0 &&
                   (!best->find || (loads != best->loads ? loads : magic + LR_BITS_MORE >= best->bits));
        if (may && (!most || magic > most_bits)) {
            most = find;
            most_bits = magic;
        }
    }
    return most;
}

const lr_plugin *lr_registry_recognise(rec_job *job, const rec_head *head, const char *path)
{
    look l = look_begin(job);
    surest best = {NULL, 0, 0, false};
    lr_find *next = NULL;
    if (l.t) {
        do {
            if (next) {
                (void)lr_table_use(job, l.t, next);
            }
            best = ask_open(job, l.t, head, path);
        } while (!lr_job_failed(job) && (next = next_to_ask(job, l.t, head, &best)));
    }
    look_end(l);
    return best.find && !lr_job_failed(job) ? best.find->use : NULL;
}

bool lr_registry_needs_tail(rec_job *job)
{
    look l = look_begin(job);
    bool needs = false;
    lr_place at = {0, 0};
    lr_find *find;
    while (l.t && !needs && (find = lr_table_next(job, l.t, &at))) {
        const rec_plugin *d = &find->plugin.d;
        needs = (d->traits & REC_TRAIT_TAIL) != 0;
        for (size_t i = 0; !needs && d->magic && d->magic[i]; i++) {
            needs = d->magic[i]->offset < 0;
        }
    }
    look_end(l);
    return needs;
}

/** A list of names as it grows in a buffer. */
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
    look l = look_begin(job);
    names list = {.text = ""};
    lr_place at = {0, 0};
    lr_find *find;
    while (l.t && (find = lr_table_next(job, l.t, &at))) {
        if (lr_find_records(find) && (find->plugin.d.traits & REC_TRAIT_FOLDER)) {
            names_add(&list, find->plugin.d.name);
        }
    }
    look_end(l);
    (void)snprintf(text, room, "%s", list.text);
    return list.used > 0;
}

/* ------------------------------------------------------------------------------------------- what is not there -- */

/* What is refused under that name. NULL if nothing is. */
static const rec_plugin_info *find_refused(const lr_table *t, const char *name)
{
    for (uint64_t i = 0; i < t->info_count; i++) {
        const rec_plugin_info *info = &t->infos[i];
        char stem[LR_NAME_MOST + 1];
        const char *slash = strrchr(info->file, '/');
        if (info->usable) {
            continue;
        }
        (void)snprintf(stem, sizeof stem, "%.*s", (int)strcspn(slash ? slash + 1 : "", "."), slash ? slash + 1 : "");
        if (lr_name_same(info->name, name) || lr_name_same(stem, name)) {
            return info;
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

/* Of a table whose files are all open. */
static void hint_names(rec_job *job, const lr_table *t, const char *name)
{
    const lr_config *config = job->context->config;
    names all = {.text = ""};
    lr_suggestion near;
    lr_suggestion_begin(&near, name);
    for (uint64_t i = 0; i < lr_config_recorder_count(config); i++) {
        lr_suggestion_try(&near, lr_config_recorder_at(config, i)->name);
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
        rec_fail_hint(job, "There are: %s and %llu more.", all.text, (unsigned long long)all.left_out);
    } else if (all.used) {
        rec_fail_hint(job, "There are: %s.", all.text);
    }
}

/* The first that was refused, and that there are more. */
static void hint_refused(rec_job *job, const lr_table *t)
{
    const rec_plugin_info *first = NULL;
    uint64_t refused = 0;
    for (uint64_t i = 0; i < t->info_count; i++) {
        refused += !t->infos[i].usable;
        first = first || t->infos[i].usable ? first : &t->infos[i];
    }
    if (first) {
        rec_fail_hint(job, "Refused: %s: %s%s", first->file, first->refused,
                      refused > 1 ? "; for the others see `record plugins --why`." : ".");
    }
}

static bool is_empty(const lr_table *t)
{
    for (uint64_t i = 0; i < t->info_count; i++) {
        if (t->infos[i].usable) {
            return false;
        }
    }
    return true;
}

static void hint_folders(rec_job *job, const lr_table *t)
{
    if (is_empty(t)) {
        if (*t->folders) {
            rec_fail_hint(job, "No usable plugin was found in %s; LIBRECORD_PLUGIN_PATH may name another folder.",
                          t->folders);
        } else {
            rec_fail_hint(job, "No folder was searched for plugins.");
        }
    }
    if (t->narrowed) {
        rec_fail_hint(job, "%s", t->narrowed);
    }
    hint_refused(job, t);
}

/* Opens all in a job of its own: the one that is to be told has failed already. */
static bool open_all(rec_job *job, lr_table *t)
{
    rec_job quiet;
    bool opened;
    lr_job_begin(&quiet, job->context, "plugins", NULL);
    opened = lr_table_complete(&quiet, t) == REC_OK;
    lr_job_drop(&quiet);
    return opened;
}

int32_t lr_registry_fail_empty(rec_job *job)
{
    look l = look_begin(job);
    if (l.t && lr_table_complete(job, l.t) == REC_OK && is_empty(l.t)) {
        const rec_plugin_info *first = l.t->infos;
        if (l.t->info_count) {
            (void)rec_fail(job, REC_E_PLUGIN, REC_UNKNOWN, "no recorder can be used: %s was refused: %s", first->file,
                           first->refused);
        } else {
            (void)rec_fail(job, REC_E_PLUGIN, REC_UNKNOWN, "no recorder was found");
        }
        hint_folders(job, l.t);
    }
    look_end(l);
    return job->error.status;
}

void lr_registry_refused_hint(rec_job *job)
{
    rec_job quiet;
    look l;
    lr_job_begin(&quiet, job->context, "plugins", NULL);
    l = look_begin(&quiet);
    lr_job_drop(&quiet);
    if (l.t && open_all(job, l.t)) {
        hint_folders(job, l.t);
    }
    look_end(l);
}

void lr_registry_missing(rec_job *job, const char *name, const char *format)
{
    look l = look_begin(job);
    const rec_plugin_info *refused;
    lr_excerpt brief;
    if (l.t && lr_table_complete(job, l.t) == REC_OK) {
        refused = find_refused(l.t, *format ? format : name);
        if (refused) {
            (void)rec_fail(job, REC_E_PLUGIN, REC_UNKNOWN, "the recorder \"%s\" cannot be used: %s was refused: %s",
                           lr_excerpt_text(&brief, name), refused->file, refused->refused);
        } else {
            (void)rec_fail(job, REC_E_NOT_FOUND, REC_UNKNOWN,
                           *format ? "no recorder is called \"%s\": what stands before the codec is no format"
                                   : "no recorder is called \"%s\"",
                           lr_excerpt_text(&brief, name));
            hint_names(job, l.t, *format ? format : name);
            hint_folders(job, l.t);
        }
    }
    look_end(l);
}

/* --------------------------------------------------------------------------------------------------- all lines -- */

/* What was put together has its line with it. */
static const rec_plugin_info *info_of_pair(rec_job *job, const lr_plugin *plugin)
{
    const lr_registry *registry = lr_registry_of(job);
    const lr_pair *pair = NULL;
    if (registry) {
        (void)pthread_mutex_lock(&registry->context->lock);
        for (pair = registry->pairs; pair && pair->plugin != plugin;) {
            pair = pair->next;
        }
        (void)pthread_mutex_unlock(&registry->context->lock);
    }
    return pair ? &pair->info : NULL;
}

const rec_plugin_info *lr_registry_info_of(rec_job *job, const lr_plugin *plugin)
{
    look l = look_begin(job);
    const rec_plugin_info *info = l.t ? lr_table_line(job, l.t, plugin) : NULL;
    look_end(l);
    return info || lr_job_failed(job) ? info : info_of_pair(job, plugin);
}

uint64_t lr_registry_count(rec_job *job)
{
    look l = look_begin(job);
    uint64_t count = l.t && lr_table_complete(job, l.t) == REC_OK ? l.t->info_count : 0;
    look_end(l);
    return count;
}

const rec_plugin_info *lr_registry_info(rec_job *job, uint64_t index)
{
    look l = look_begin(job);
    const rec_plugin_info *info = NULL;
    if (l.t && lr_table_complete(job, l.t) == REC_OK) {
        if (index < l.t->info_count) {
            info = &l.t->infos[index];
        } else {
            (void)rec_fail(job, REC_E_ARGUMENT, REC_UNKNOWN, "there is no plugin %llu: there are %llu",
                           (unsigned long long)index, (unsigned long long)l.t->info_count);
        }
    }
    look_end(l);
    return info;
}
