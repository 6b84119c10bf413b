/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The registry: which plugins a context has, which were refused and why, and which one is meant.
 *
 * Folders are read at the first look-up, all of them, into a table that never changes after that; readers take it
 * without a lock. Adding a folder or turning the switch puts the table aside, and the next look-up makes another one.
 * Old tables live as long as the context, so that plugins and their descriptions stay valid for who holds them. */
#include "registry.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "names.h"
#include "registry_open.h"

#ifndef LR_PLUGIN_DIR
#error "LR_PLUGIN_DIR must be the folder of the installed plugins"
#endif

/* Bits that agreed: nobody can be surer than that. */
enum { PROBE_MOST = 1024 };

/** What was found, once and for all. */
typedef struct table {
    struct table *older;
    lr_arena arena;
    lr_plugin **plugins; /**< the usable ones, in the order in which they were found */
    uint64_t plugin_count, plugin_room;
    rec_plugin_info *infos; /**< all of them */
    uint64_t info_count, info_room;
    const char *folders;  /**< those that were looked into, for messages; "" if none */
    const char *narrowed; /**< what kept other folders out, for messages; NULL if nothing did */
} table;

/** A folder of rec_context_add_plugin_path(). */
typedef struct folder {
    struct folder *next;
    char *path;
} folder;

struct lr_registry {
    rec_context *context;
    _Atomic(table *) current; /**< NULL: to be made */
    table *tables;            /**< all, newest first; under the context's lock, as is what follows */
    folder *folders;          /**< last added first */
};

/* ----------------------------------------------------------------------------------------------- making, freeing -- */

lr_registry *lr_registry_new(rec_context *context)
{
    lr_registry *registry = lr_zalloc(&context->allocator, sizeof *registry);
    if (registry) {
        registry->context = context;
        atomic_init(&registry->current, NULL);
    }
    return registry;
}

static void table_free(const lr_allocator *allocator, table *t)
{
    lr_arena_free(&t->arena);
    lr_release(allocator, t);
}

void lr_registry_free(lr_registry *registry)
{
    const lr_allocator *allocator = &registry->context->allocator;
    while (registry->tables) {
        table *t = registry->tables;
        registry->tables = t->older;
        table_free(allocator, t);
    }
    while (registry->folders) {
        folder *f = registry->folders;
        registry->folders = f->next;
        lr_release(allocator, f->path);
        lr_release(allocator, f);
    }
    lr_release(allocator, registry);
}

/* ------------------------------------------------------------------------------------------ the lines of a table -- */

/* The arena keeps the smaller arrays too: together they are no larger than the last one. */
static void *one_more(rec_job *job, table *t, void *old, uint64_t count, uint64_t *room, size_t each)
{
    uint64_t larger = *room ? *room * 2 : 8;
    void *memory;
    if (count < *room) {
        return old;
    }
    memory = lr_arena_alloc(&t->arena, larger * each, 8);
    if (!memory) {
        (void)lr_fail_memory(job, larger * each);
        return NULL;
    }
    if (count) {
        memcpy(memory, old, (size_t)count * each);
    }
    *room = larger;
    return memory;
}

static const char *keep(rec_job *job, table *t, const char *text, size_t length)
{
    char *kept = lr_arena_text(&t->arena, text, length);
    if (!kept) {
        (void)lr_fail_memory(job, length + 1);
    }
    return kept;
}

/* Two passes of the same printing, the first one without room: `print` returns how much it wants. */
typedef size_t (*print_fn)(const rec_plugin *d, char *target, size_t room);

static const char *keep_printed(rec_job *job, table *t, const rec_plugin *d, print_fn print)
{
    size_t length = print(d, NULL, 0);
    char *text = lr_arena_alloc(&t->arena, length + 1, 1);
    if (!text) {
        (void)lr_fail_memory(job, length + 1);
        return NULL;
    }
    text[0] = '\0';
    (void)print(d, text, length + 1);
    return text;
}

#define PRINT(...) used += (size_t)snprintf(target ? target + used : NULL, target ? room - used : 0, __VA_ARGS__)

static size_t print_aliases(const rec_plugin *d, char *target, size_t room)
{
    size_t used = 0;
    for (size_t i = 0; d->aliases && d->aliases[i]; i++) {
        PRINT("%s%s", i ? ", " : "", d->aliases[i]);
    }
    return used;
}

static size_t print_options(const rec_plugin *d, char *target, size_t room)
{
    size_t used = 0;
    for (size_t i = 0; d->options && d->options[i]; i++) {
        const rec_option *option = d->options[i];
        PRINT("%s%s (", i ? "\n" : "", option->name);
        switch (option->type) {
        case REC_OPTION_BOOL:
            PRINT("yes|no");
            break;
        case REC_OPTION_INT:
            PRINT("%lld to %lld", (long long)option->minimum, (long long)option->maximum);
            break;
        case REC_OPTION_FLOAT:
            PRINT("number");
            break;
        case REC_OPTION_CHOICE:
            for (size_t j = 0; option->choices[j]; j++) {
                PRINT("%s%s", j ? "|" : "", option->choices[j]);
            }
            break;
        default:
            PRINT("text");
            break;
        }
        PRINT(", %s): %s", *option->initial ? option->initial : "empty", option->help);
    }
    return used;
}

/* "mpk" of "/usr/lib/mpk.so", "plugins" of "/srv/plugins". */
static const char *base_name(rec_job *job, table *t, const char *file)
{
    const char *slash = strrchr(file, '/');
    const char *name = slash && slash[1] ? slash + 1 : file;
    size_t length = strlen(name);
    if (length > 3 && strcmp(name + length - 3, ".so") == 0) {
        length -= 3;
    }
    return keep(job, t, name, length);
}

/* Adds the line of a plugin or of what was refused. @param d may lack any member if `refused`. */
static int32_t add_info(rec_job *job, table *t, const rec_plugin *d, const char *file, const char *refused)
{
    rec_plugin_info info = {.size = sizeof info, .usable = !refused, .aliases = "", .options = ""};
    rec_plugin_info *infos = one_more(job, t, t->infos, t->info_count, &t->info_room, sizeof info);
    if (!infos) {
        return job->error.status;
    }
    t->infos = infos;
    info.name = d && d->name ? d->name : base_name(job, t, file);
    info.extension = d && d->extension ? d->extension : "";
    info.description = d && d->description ? d->description : "";
    info.file = keep(job, t, file, strlen(file));
    info.refused = keep(job, t, refused ? refused : "", strlen(refused ? refused : ""));
    if (!refused) {
        info.aliases = keep_printed(job, t, d, print_aliases);
        info.options = keep_printed(job, t, d, print_options);
    }
    if (!lr_job_failed(job)) {
        t->infos[t->info_count++] = info;
    }
    return job->error.status;
}

/* ----------------------------------------------------------------------------------------------- filling a table -- */

static bool has_name(const rec_plugin *d, const char *name)
{
    if (lr_name_same(d->name, name)) {
        return true;
    }
    for (size_t i = 0; d->aliases && d->aliases[i]; i++) {
        if (lr_name_same(d->aliases[i], name)) {
            return true;
        }
    }
    return false;
}

static const lr_plugin *find_in(const table *t, const char *name)
{
    for (uint64_t i = 0; i < t->plugin_count; i++) {
        if (has_name(&t->plugins[i]->d, name)) {
            return t->plugins[i];
        }
    }
    return NULL;
}

/* @return the plugin that has one of these names already; @param name (out) which. */
static const lr_plugin *find_rival(const table *t, const rec_plugin *d, const char **name)
{
    const lr_plugin *rival;
    *name = d->name;
    rival = find_in(t, d->name);
    for (size_t i = 0; !rival && d->aliases && d->aliases[i]; i++) {
        *name = d->aliases[i];
        rival = find_in(t, d->aliases[i]);
    }
    return rival;
}

static int32_t add_plugin(rec_job *job, table *t, const rec_plugin *foreign, const char *file)
{
    char reason[LR_REASON];
    const char *name;
    const lr_plugin *rival;
    lr_plugin **plugins;
    rec_plugin d;
    lr_plugin *plugin;
    if (!lr_plugin_check(foreign, &d, reason)) {
        return add_info(job, t, &d, file, reason);
    }
    rival = find_rival(t, &d, &name);
    if (rival) {
        (void)snprintf(reason, sizeof reason, "the name \"%s\" belongs to %s of %s already", name, rival->d.name,
                       rival->file);
        return add_info(job, t, &d, file, reason);
    }
    plugins = one_more(job, t, t->plugins, t->plugin_count, &t->plugin_room, sizeof(lr_plugin *));
    plugin = plugins ? lr_arena_alloc(&t->arena, sizeof *plugin, 16) : NULL;
    if (!plugin) {
        return lr_fail_memory(job, sizeof *plugin);
    }
    t->plugins = plugins;
    if (add_info(job, t, &d, file, NULL) == REC_OK) {
        plugin->d = d;
        plugin->file = t->infos[t->info_count - 1].file;
        t->plugins[t->plugin_count++] = plugin;
    }
    return job->error.status;
}

/* More descriptors in one file are a table without its NULL at the end. */
enum { DESCRIPTORS_MOST = 64 };

static int32_t on_found(void *user, rec_job *job, const char *file, const rec_plugin *const *plugins,
                        const char *refused)
{
    table *t = user;
    if (!plugins) {
        return add_info(job, t, NULL, file, refused);
    }
    if (!plugins[0]) {
        return add_info(job, t, NULL, file, "it holds no recorder");
    }
    for (size_t i = 0; plugins[i] && !lr_job_failed(job); i++) {
        if (i == DESCRIPTORS_MOST) {
            return add_info(job, t, NULL, file, "it holds more than 64 recorders, or no NULL after the last");
        }
        (void)add_plugin(job, t, plugins[i], file);
    }
    return job->error.status;
}

/** A table on its way. */
typedef struct maker {
    rec_job *job;
    table *t;
    lr_opener opener;
} maker;

static int32_t open_folder(maker *m, const char *path, bool required)
{
    table *t = m->t;
    size_t used = strlen(t->folders), more = strlen(path);
    char *folders;
    if (lr_static_build()) {
        return !required ? REC_OK
                         : add_info(m->job, t, NULL, path, "this librecord is a static one, which opens no plugins");
    }
    folders = lr_arena_alloc(&t->arena, used + more + 3, 1);
    if (!folders) {
        return lr_fail_memory(m->job, used + more + 3);
    }
    (void)snprintf(folders, used + more + 3, "%s%s%s", t->folders, used ? ", " : "", path);
    t->folders = folders;
    return lr_open_folder(m->job, &m->opener, path, required);
}

/* Folders separated by colons; empty ones are skipped, as in other search paths of the environment. */
static int32_t open_list(maker *m, const char *list)
{
    while (list && *list && !lr_job_failed(m->job)) {
        size_t length = strcspn(list, ":");
        const char *path = keep(m->job, m->t, list, length);
        if (path && *path) {
            (void)open_folder(m, path, true);
        }
        list += length + (list[length] == ':');
    }
    return m->job->error.status;
}

/* The context's switch, narrowed by the environment's. @return REC_PLUGINS_…, -1: the job has failed. */
static int32_t which_folders(maker *m)
{
    static const char *const words[] = {"all", "installed", "none"};
    const char *narrow = secure_getenv("LIBRECORD_PLUGINS");
    int32_t which = m->job->context->plugins;
    if (which != REC_PLUGINS_ALL) {
        m->t->narrowed =
            which == REC_PLUGINS_NONE ? "The context opens no plugins." : "The context opens installed plugins only.";
    }
    if (!narrow || !*narrow) {
        return which;
    }
    for (int32_t i = 0; i <= REC_PLUGINS_NONE; i++) {
        if (strcmp(words[i], narrow) == 0) {
            if (i > which) {
                m->t->narrowed = i == REC_PLUGINS_NONE ? "LIBRECORD_PLUGINS=none keeps all of them out."
                                                       : "LIBRECORD_PLUGINS=installed keeps others out.";
            }
            return i > which ? i : which;
        }
    }
    (void)rec_fail(m->job, REC_E_CONFIG, REC_UNKNOWN, "the environment variable LIBRECORD_PLUGINS is \"%.64s\"",
                   narrow);
    rec_fail_hint(m->job, "It may be all, installed or none.");
    return -1;
}

static int32_t fill(maker *m, lr_registry *registry)
{
    int32_t which = which_folders(m);
    if (lr_job_failed(m->job)) {
        return m->job->error.status;
    }
    (void)lr_open_builtin(m->job, &m->opener);
    if (which == REC_PLUGINS_ALL) {
        for (folder *f = registry->folders; f && !lr_job_failed(m->job); f = f->next) {
            (void)open_folder(m, f->path, true);
        }
        (void)open_list(m, secure_getenv("LIBRECORD_PLUGIN_PATH"));
        (void)open_list(m, lr_config_plugin_path(m->job->context->config));
    }
    if (which != REC_PLUGINS_NONE && !lr_job_failed(m->job)) {
        (void)open_folder(m, LR_PLUGIN_DIR, false);
    }
    return m->job->error.status;
}

/* Under the lock. @return the new table, or NULL: the job has failed, and the next look-up tries again. */
static table *make(rec_job *job, lr_registry *registry)
{
    const lr_allocator *allocator = &registry->context->allocator;
    table *t = lr_zalloc(allocator, sizeof *t);
    maker m = {.job = job, .t = t};
    if (!t) {
        (void)lr_fail_memory(job, sizeof *t);
        return NULL;
    }
    lr_arena_init(&t->arena, allocator);
    t->folders = "";
    m.opener = (lr_opener){.found = on_found, .user = t, .arena = &t->arena};
    if (fill(&m, registry) != REC_OK) {
        table_free(allocator, t);
        return NULL;
    }
    t->older = registry->tables;
    registry->tables = t;
    atomic_store_explicit(&registry->current, t, memory_order_release);
    return t;
}

/* @return the table, made if needed; NULL: the job has failed. */
static const table *get(rec_job *job)
{
    lr_registry *registry;
    table *t;
    if (lr_job_failed(job)) {
        return NULL;
    }
    registry = job->context->registry;
    t = atomic_load_explicit(&registry->current, memory_order_acquire);
    if (!t) {
        (void)pthread_mutex_lock(&registry->context->lock);
        t = atomic_load_explicit(&registry->current, memory_order_acquire);
        if (!t) {
            t = make(job, registry);
        }
        (void)pthread_mutex_unlock(&registry->context->lock);
    }
    return t;
}

int32_t lr_registry_add_folder(rec_job *job, const char *path)
{
    lr_registry *registry = job->context->registry;
    const lr_allocator *allocator = &registry->context->allocator;
    folder *f;
    if (*path != '/') {
        (void)rec_fail(job, REC_E_ARGUMENT, REC_UNKNOWN, "the plugin folder \"%s\" is no absolute path", path);
        return job->error.status;
    }
    if (lr_static_build()) {
        return rec_fail(job, REC_E_UNSUPPORTED, REC_UNKNOWN,
                        "the plugin folder %s: this librecord is a static one, which opens no plugins", path);
    }
    f = lr_zalloc(allocator, sizeof *f);
    if (f) {
        f->path = lr_strdup(allocator, path);
    }
    if (!f || !f->path) {
        lr_release(allocator, f);
        return lr_fail_memory(job, sizeof *f + strlen(path) + 1);
    }
    (void)pthread_mutex_lock(&registry->context->lock);
    f->next = registry->folders;
    registry->folders = f;
    atomic_store_explicit(&registry->current, NULL, memory_order_release);
    (void)pthread_mutex_unlock(&registry->context->lock);
    return REC_OK;
}

/* ------------------------------------------------------------------------------------------------------ look-ups -- */

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

/* What is refused under that name. NULL if nothing is. */
static const rec_plugin_info *find_refused(const table *t, const char *name)
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

static void hint_names(rec_job *job, const table *t, const char *name)
{
    const lr_config *config = job->context->config;
    names all = {.text = ""};
    lr_near near;
    lr_near_begin(&near, name);
    for (uint64_t i = 0; i < lr_config_recorder_count(config); i++) {
        lr_near_try(&near, lr_config_recorder_at(config, i)->name);
        names_add(&all, lr_config_recorder_at(config, i)->name);
    }
    for (uint64_t i = 0; i < t->plugin_count; i++) {
        const rec_plugin *d = &t->plugins[i]->d;
        lr_near_try(&near, d->name);
        for (size_t j = 0; d->aliases && d->aliases[j]; j++) {
            lr_near_try(&near, d->aliases[j]);
        }
        names_add(&all, d->name);
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

static void hint_folders(rec_job *job, const table *t)
{
    uint64_t refused = t->info_count - t->plugin_count;
    if (t->plugin_count == 0) {
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
    if (refused) {
        const rec_plugin_info *first = t->infos;
        while (first->usable) {
            first++;
        }
        rec_fail_hint(job, "Refused: %s: %s%s", first->file, first->refused,
                      refused > 1 ? "; for the others see `record plugins --why`." : ".");
    }
}

const lr_plugin *lr_registry_look(rec_job *job, const char *name)
{
    const table *t = get(job);
    return t ? find_in(t, name) : NULL;
}

const lr_plugin *lr_registry_find(rec_job *job, const char *name)
{
    const table *t = get(job);
    const lr_plugin *plugin = t ? find_in(t, name) : NULL;
    const rec_plugin_info *refused;
    lr_brief brief;
    if (!t || plugin) {
        return plugin;
    }
    refused = find_refused(t, name);
    if (refused) {
        (void)rec_fail(job, REC_E_PLUGIN, REC_UNKNOWN, "the recorder \"%s\" cannot be used: %s was refused: %s",
                       lr_brief_text(&brief, name), refused->file, refused->refused);
        return NULL;
    }
    (void)rec_fail(job, REC_E_NOT_FOUND, REC_UNKNOWN, "no recorder is called \"%s\"", lr_brief_text(&brief, name));
    hint_names(job, t, name);
    hint_folders(job, t);
    return NULL;
}

/* @return the length of the extension if `path` ends in it, after a dot that is not the name's first character; else 0. */
static size_t extension_length(const rec_plugin *d, const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    size_t whole = strlen(name), length = d->extension ? strlen(d->extension) : 0;
    bool ends = length && whole >= length + 2 && name[whole - length - 1] == '.' &&
                strcmp(name + whole - length, d->extension) == 0;
    return ends ? length : 0;
}

const lr_plugin *lr_registry_recognise(rec_job *job, const rec_head *head, const char *path)
{
    const table *t = get(job);
    const lr_plugin *best = NULL;
    int32_t best_bits = 0;
    size_t best_length = 0;
    for (uint64_t i = 0; t && i < t->plugin_count; i++) {
        const rec_plugin *d = &t->plugins[i]->d;
        int32_t bits = d->probe ? d->probe(head) : 0;
        size_t length = path ? extension_length(d, path) : 0;
        bits = bits > PROBE_MOST ? PROBE_MOST : bits;
        if (bits > best_bits || (bits > 0 && bits == best_bits && length > best_length)) {
            best = t->plugins[i];
            best_bits = bits;
            best_length = length;
        }
    }
    return best;
}

const lr_plugin *lr_registry_by_extension(rec_job *job, const char *path)
{
    const table *t = get(job);
    const lr_plugin *best = NULL;
    size_t best_length = 0;
    for (uint64_t i = 0; t && i < t->plugin_count; i++) {
        size_t length = extension_length(&t->plugins[i]->d, path);
        if (length > best_length) {
            best = t->plugins[i];
            best_length = length;
        }
    }
    return best;
}

uint64_t lr_registry_count(rec_job *job)
{
    const table *t = get(job);
    return t ? t->info_count : 0;
}

const rec_plugin_info *lr_registry_info(rec_job *job, uint64_t index)
{
    const table *t = get(job);
    if (!t) {
        return NULL;
    }
    if (index >= t->info_count) {
        (void)rec_fail(job, REC_E_ARGUMENT, REC_UNKNOWN, "there is no plugin %llu: there are %llu",
                       (unsigned long long)index, (unsigned long long)t->info_count);
        return NULL;
    }
    return &t->infos[index];
}

/* ----------------------------------------------------------------------------------------------- the public part -- */

uint64_t rec_plugin_count(rec_context *context)
{
    rec_job job;
    uint64_t count = 0;
    lr_job_begin(&job, context, "plugins", NULL);
    if (!lr_job_failed(&job)) {
        count = lr_registry_count(&job);
    }
    (void)lr_job_end(&job);
    return count;
}

const rec_plugin_info *rec_plugin_get(rec_context *context, uint64_t index)
{
    rec_job job;
    const rec_plugin_info *info = NULL;
    lr_job_begin(&job, context, "plugins", NULL);
    if (!lr_job_failed(&job)) {
        info = lr_registry_info(&job, index);
    }
    (void)lr_job_end(&job);
    return info;
}

rec_status rec_context_add_plugin_path(rec_context *context, const char *path)
{
    rec_job job;
    lr_job_begin(&job, context, "plugins", NULL);
    if (!lr_job_failed(&job)) {
        if (path && *path) {
            (void)lr_registry_add_folder(&job, path);
        } else {
            (void)rec_fail(&job, REC_E_ARGUMENT, REC_UNKNOWN, "rec_context_add_plugin_path: a folder is needed");
        }
    }
    return lr_job_end(&job);
}

rec_status rec_context_set_plugins(rec_context *context, int32_t which)
{
    rec_job job;
    lr_job_begin(&job, context, "plugins", NULL);
    if (!lr_job_failed(&job)) {
        if (which >= REC_PLUGINS_ALL && which <= REC_PLUGINS_NONE) {
            context = job.context;
            (void)pthread_mutex_lock(&context->lock);
            context->plugins = which;
            atomic_store_explicit(&context->registry->current, NULL, memory_order_release);
            (void)pthread_mutex_unlock(&context->lock);
        } else {
            (void)rec_fail(&job, REC_E_ARGUMENT, REC_UNKNOWN, "rec_context_set_plugins: %d is none of REC_PLUGINS_...",
                           (int)which);
        }
    }
    return lr_job_end(&job);
}
