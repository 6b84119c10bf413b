/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The registry: which plugins a context has, which were refused and why, and which one is meant.
 *
 * Folders are read at the first look-up, all of them, into a table that never changes after that; readers take it
 * without a lock. Adding a folder or turning the switch puts the table aside, and the next look-up makes another one.
 * Old tables live as long as the context, so that plugins and their descriptions stay valid for who holds them. */
#include "core/registry/table_private.h"

#include <stdio.h>
#include <string.h>

#include "core/config/config.h"
#include "core/base/base.h"
#include "core/registry/open_private.h"
#include "core/registry/stack_private.h"

/* Bits that agreed: nobody can be surer than that. */
enum { PROBE_MOST = 1024 };

/* ----------------------------------------------------------------------------------------------- making, freeing -- */

static void release(lr_attached *what)
{
    lr_registry *registry = (lr_registry *)what;
    const lr_allocator *allocator = &registry->context->allocator;
    while (registry->tables) {
        lr_table *t = registry->tables;
        registry->tables = t->older;
        lr_table_free(allocator, t);
    }
    lr_pairs_free(allocator, registry->pairs);
    while (registry->folders) {
        lr_folder *f = registry->folders;
        registry->folders = f->next;
        lr_release(allocator, f->path);
        lr_release(allocator, f);
    }
    while (registry->own) {
        lr_own *own = registry->own;
        registry->own = own->next;
        lr_release(allocator, own);
    }
    lr_release(allocator, registry);
}

/* The context's registry, made when it is first asked for. NULL: the job has failed. */
lr_registry *lr_registry_of(rec_job *job)
{
    rec_context *context = job->context;
    lr_attached *have = lr_context_attached(context, release);
    if (!have) {
        lr_registry *registry = lr_zalloc(&context->allocator, sizeof *registry);
        if (!registry) {
            (void)lr_fail_memory(job, sizeof *registry);
            return NULL;
        }
        registry->attached.release = release;
        registry->context = context;
        atomic_init(&registry->current, NULL);
        have = lr_context_attach(context, &registry->attached);
    }
    return (lr_registry *)have;
}

/* @return the table, made if needed; NULL: the job has failed. */
static const lr_table *get(rec_job *job)
{
    lr_registry *registry;
    lr_table *t;
    registry = lr_job_failed(job) ? NULL : lr_registry_of(job);
    if (!registry) {
        return NULL;
    }
    t = atomic_load_explicit(&registry->current, memory_order_acquire);
    if (!t) {
        (void)pthread_mutex_lock(&registry->context->lock);
        t = atomic_load_explicit(&registry->current, memory_order_acquire);
        if (!t) {
            t = lr_table_make(job, registry);
            if (t) {
                t->older = registry->tables;
                registry->tables = t;
                atomic_store_explicit(&registry->current, t, memory_order_release);
            }
        }
        (void)pthread_mutex_unlock(&registry->context->lock);
    }
    return t;
}

int32_t lr_registry_add_folder(rec_job *job, const char *path)
{
    const lr_allocator *allocator = &job->context->allocator;
    lr_registry *registry;
    lr_folder *f;
    if (*path != '/') {
        (void)rec_fail(job, REC_E_ARGUMENT, REC_UNKNOWN, "the plugin folder \"%s\" is no absolute path", path);
        return job->error.status;
    }
    if (lr_static_build()) {
        return rec_fail(job, REC_E_UNSUPPORTED, REC_UNKNOWN,
                        "the plugin folder %s: this librecord is a static one, which opens no plugins", path);
    }
    registry = lr_registry_of(job);
    if (!registry) {
        return job->error.status;
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

/* Under the lock. @return the plugin of the program's own that has one of these names; @param name (out) which. */
static const rec_plugin *own_rival(const lr_registry *registry, const rec_plugin *d, const char **name)
{
    for (const lr_own *own = registry->own; own; own = own->next) {
        *name = d->name;
        if (lr_plugin_has_name(own->plugin, *name)) {
            return own->plugin;
        }
        for (size_t i = 0; d->aliases && d->aliases[i]; i++) {
            *name = d->aliases[i];
            if (lr_plugin_has_name(own->plugin, *name)) {
                return own->plugin;
            }
        }
    }
    return NULL;
}

int32_t lr_registry_add_plugin(rec_job *job, const rec_plugin *plugin)
{
    const lr_allocator *allocator = &job->context->allocator;
    lr_registry *registry = lr_registry_of(job);
    char reason[LR_REASON];
    const rec_plugin *rival;
    const char *name;
    rec_plugin d;
    lr_own *own;
    if (!registry) {
        return job->error.status;
    }
    if (!lr_plugin_check(plugin, &d, reason)) {
        return rec_fail(job, REC_E_PLUGIN, REC_UNKNOWN, "the program's plugin%s%s was refused: %s", d.name ? " " : "",
                        d.name ? d.name : "", reason);
    }
    own = lr_zalloc(allocator, sizeof *own);
    if (!own) {
        return lr_fail_memory(job, sizeof *own);
    }
    own->plugin = plugin;
    (void)pthread_mutex_lock(&registry->context->lock);
    rival = own_rival(registry, &d, &name);
    if (!rival) {
        own->next = registry->own;
        registry->own = own;
        atomic_store_explicit(&registry->current, NULL, memory_order_release);
    }
    (void)pthread_mutex_unlock(&registry->context->lock);
    if (rival) {
        (void)rec_fail(job, REC_E_PLUGIN, REC_UNKNOWN,
                       "the program's plugin %s was refused: the name \"%s\" belongs to its plugin %s already", d.name,
                       name, rival->name);
        lr_release(allocator, own);
    }
    return job->error.status;
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
    for (uint64_t i = 0; i < t->plugin_count; i++) {
        const rec_plugin *d = &t->plugins[i]->d;
        if (d->kind != REC_PLUGIN_FORMAT && d->kind != REC_PLUGIN_STACK) {
            continue;
        }
        lr_suggestion_try(&near, d->name);
        for (size_t j = 0; d->aliases && d->aliases[j]; j++) {
            lr_suggestion_try(&near, d->aliases[j]);
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

static void hint_folders(rec_job *job, const lr_table *t)
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

const lr_plugin *lr_registry_raw(rec_job *job, int32_t kind, const char *name)
{
    const lr_table *t = get(job);
    return t ? lr_table_find(t, kind, name) : NULL;
}

const lr_plugin *lr_registry_next(rec_job *job, int32_t kind, const lr_plugin *before)
{
    const lr_table *t = get(job);
    for (uint64_t i = 0; t && i < t->plugin_count; i++) {
        if (before) {
            before = t->plugins[i] == before ? NULL : before;
        } else if (t->plugins[i]->d.kind == kind) {
            return t->plugins[i];
        }
    }
    return NULL;
}

void lr_registry_missing(rec_job *job, const char *name, const char *format)
{
    const lr_table *t = get(job);
    const rec_plugin_info *refused = t ? find_refused(t, *format ? format : name) : NULL;
    lr_excerpt brief;
    if (refused) {
        (void)rec_fail(job, REC_E_PLUGIN, REC_UNKNOWN, "the recorder \"%s\" cannot be used: %s was refused: %s",
                       lr_excerpt_text(&brief, name), refused->file, refused->refused);
    } else if (t) {
        (void)rec_fail(job, REC_E_NOT_FOUND, REC_UNKNOWN,
                       *format ? "no recorder is called \"%s\": what stands before the codec is no format"
                               : "no recorder is called \"%s\"",
                       lr_excerpt_text(&brief, name));
        hint_names(job, t, *format ? format : name);
        hint_folders(job, t);
    }
}

int32_t lr_registry_bid(const rec_plugin *d, const rec_head *head)
{
    bool asked = d->probe && d->kind == REC_PLUGIN_FORMAT && (!head->names || (d->traits & REC_TRAIT_FOLDER));
    int32_t bits = asked ? d->probe(head) : 0;
    return bits > PROBE_MOST ? PROBE_MOST : bits;
}

const lr_plugin *lr_registry_recognise(rec_job *job, const rec_head *head, const char *path)
{
    const lr_table *t = get(job);
    const lr_plugin *best = NULL;
    int32_t best_bits = 0;
    size_t best_length = 0;
    for (uint64_t i = 0; t && i < t->plugin_count; i++) {
        const rec_plugin *d = &t->plugins[i]->d;
        int32_t bits = lr_registry_bid(d, head);
        size_t length = path ? lr_plugin_extension(d, path) : 0;
        if (bits > best_bits || (bits > 0 && bits == best_bits && length > best_length)) {
            best = t->plugins[i];
            best_bits = bits;
            best_length = length;
        }
    }
    return best;
}

bool lr_registry_folder_names(rec_job *job, char *text, size_t room)
{
    const lr_table *t = get(job);
    names list = {.text = ""};
    for (uint64_t i = 0; t && i < t->plugin_count; i++) {
        if (t->plugins[i]->d.traits & REC_TRAIT_FOLDER) {
            names_add(&list, t->plugins[i]->d.name);
        }
    }
    (void)snprintf(text, room, "%s", list.text);
    return list.used > 0;
}

const lr_plugin *lr_registry_by_own_extension(rec_job *job, const char *path)
{
    const lr_table *t = get(job);
    const lr_plugin *best = NULL;
    size_t best_length = 0;
    for (uint64_t i = 0; t && i < t->plugin_count; i++) {
        const rec_plugin *d = &t->plugins[i]->d;
        bool recorder = d->kind == REC_PLUGIN_FORMAT || d->kind == REC_PLUGIN_STACK;
        size_t length = recorder ? lr_plugin_extension(d, path) : 0;
        if (length > best_length) {
            best = t->plugins[i];
            best_length = length;
        }
    }
    return best;
}

int32_t lr_registry_fail_extension(rec_job *job)
{
    (void)rec_fail(job, REC_E_ARGUMENT, REC_UNKNOWN, "its name does not end in the extension of any recorder");
    rec_fail_hint(job, "Name the recorder; `record plugins` lists those there are with their extensions.");
    return job->error.status;
}

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
    const lr_table *t = get(job);
    for (uint64_t i = 0; t && i < t->info_count; i++) {
        if (t->infos[i].name == plugin->d.name && t->infos[i].usable) {
            return &t->infos[i];
        }
    }
    return t ? info_of_pair(job, plugin) : NULL;
}

uint64_t lr_registry_count(rec_job *job)
{
    const lr_table *t = get(job);
    return t ? t->info_count : 0;
}

const rec_plugin_info *lr_registry_info(rec_job *job, uint64_t index)
{
    const lr_table *t = get(job);
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

rec_status rec_context_add_plugin_path(rec_context *context, const char *folder)
{
    rec_job job;
    if (LR_NULL(folder)) {
        return REC_E_ARGUMENT;
    }
    lr_job_open(&job, context, "plugins", NULL);
    if (!lr_job_failed(&job)) {
        if (*folder) {
            (void)lr_registry_add_folder(&job, folder);
        } else {
            (void)rec_fail(&job, REC_E_ARGUMENT, REC_UNKNOWN, "rec_context_add_plugin_path: a folder is needed");
        }
    }
    return lr_job_end(&job);
}

rec_status rec_context_add_plugin(rec_context *context, const rec_plugin *plugin)
{
    rec_job job;
    if (LR_NULL(plugin)) {
        return REC_E_ARGUMENT;
    }
    lr_job_open(&job, context, "plugins", NULL);
    if (!lr_job_failed(&job)) {
        (void)lr_registry_add_plugin(&job, plugin);
    }
    return lr_job_end(&job);
}

rec_status rec_context_set_plugins(rec_context *context, int32_t which)
{
    rec_job job;
    lr_registry *registry;
    lr_job_open(&job, context, "plugins", NULL);
    if (!lr_job_failed(&job)) {
        if (which >= REC_PLUGINS_ALL && which <= REC_PLUGINS_NONE) {
            context = job.context;
            (void)pthread_mutex_lock(&context->lock);
            context->plugins = which;
            registry = (lr_registry *)lr_context_attached(context, release);
            if (registry) {
                atomic_store_explicit(&registry->current, NULL, memory_order_release);
            }
            (void)pthread_mutex_unlock(&context->lock);
        } else {
            (void)rec_fail(&job, REC_E_ARGUMENT, REC_UNKNOWN, "rec_context_set_plugins: %d is none of REC_PLUGINS_...",
                           (int)which);
        }
    }
    return lr_job_end(&job);
}
