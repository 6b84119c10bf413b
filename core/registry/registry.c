/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The registry: the plugins of a context, the rejected ones with reasons, and lookup. The first lookup lists the
 * directories into a table; a file is opened when a question needs it. Adding a directory or changing the switch
 * retires the table, and the next lookup makes a new one. Retired tables live as long as the context, so that plugins
 * and their descriptions stay valid. */
#include "core/registry/table_private.h"

#include <string.h>

#include "core/config/config.h"

/* --------------------------------------------------------------------------------------------- making, freeing -- */

static void release(lr_attached *what)
{
    lr_registry *registry = (lr_registry *)what;
    const lr_allocator *allocator = &registry->context->allocator;
    while (registry->tables) {
        lr_table *t = registry->tables;
        registry->tables = t->older;
        lr_table_free(allocator, t);
    }
    lr_arena_free(&registry->arena);
    (void)pthread_mutex_destroy(&registry->lock);
    lr_release(allocator, registry);
}

/* Recursive: lookups are nested. */
static void lock_init(pthread_mutex_t *lock)
{
    pthread_mutexattr_t attributes;
    (void)pthread_mutexattr_init(&attributes);
    (void)pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    (void)pthread_mutex_init(lock, &attributes);
    (void)pthread_mutexattr_destroy(&attributes);
}

/* Returns the registry of the context of a job, which it makes if necessary. NULL: the job has failed. */
static lr_registry *registry_of(rec_job *job)
{
    rec_context *context = job->context;
    lr_attached *have = lr_context_attached(context, release);
    if (!have) {
        lr_registry *registry = lr_job_zalloc(job, sizeof *registry);
        if (!registry) {
            return NULL;
        }
        registry->attached.release = release;
        registry->context = context;
        lr_arena_init(&registry->arena, &context->allocator);
        atomic_init(&registry->current, NULL);
        lock_init(&registry->lock);
        have = lr_context_attach(context, &registry->attached);
    }
    return (lr_registry *)have;
}

/* Under the lock. */
static lr_table *table_now(rec_job *job, lr_registry *registry)
{
    lr_table *t = atomic_load_explicit(&registry->current, memory_order_acquire);
    if (!t) {
        t = lr_table_make(job, registry);
        if (t) {
            t->older = registry->tables;
            registry->tables = t;
            atomic_store_explicit(&registry->current, t, memory_order_release);
        }
    }
    return t;
}

lr_look lr_look_begin(rec_job *job)
{
    lr_look l = {.registry = lr_job_failed(job) ? NULL : registry_of(job)};
    if (l.registry) {
        (void)pthread_mutex_lock(&l.registry->lock);
        l.t = table_now(job, l.registry);
    }
    return l;
}

void lr_look_end(lr_look l)
{
    if (l.registry) {
        (void)pthread_mutex_unlock(&l.registry->lock);
    }
}

/* What changed counts from the next look-up on. */
static void retire(lr_registry *registry)
{
    atomic_store_explicit(&registry->current, NULL, memory_order_release);
}

static int32_t add_folder(rec_job *job, const char *path)
{
    lr_registry *registry;
    const char *copy;
    lr_folder *f;
    if (!*path) {
        return rec_fail(job, REC_E_ARGUMENT, REC_UNKNOWN, "rec_context_add_plugin_path: a directory is needed");
    }
    if (*path != '/') {
        return rec_fail(job, REC_E_ARGUMENT, REC_UNKNOWN, "the plugin directory \"%s\" is not an absolute path", path);
    }
    if (lr_static_build()) {
        return rec_fail(job, REC_E_UNSUPPORTED, REC_UNKNOWN,
                        "the plugin directory %s: this librecord is a static one, which opens no plugins", path);
    }
    registry = registry_of(job);
    if (!registry) {
        return job->error.status;
    }
    (void)pthread_mutex_lock(&registry->lock);
    copy = lr_arena_text(&registry->arena, path, strlen(path));
    f = copy ? lr_arena_alloc(&registry->arena, sizeof *f, 16) : NULL;
    if (f) {
        *f = (lr_folder){registry->folders, copy};
        registry->folders = f;
        retire(registry);
    } else {
        (void)lr_fail_memory(job, sizeof *f + strlen(path) + 1);
    }
    (void)pthread_mutex_unlock(&registry->lock);
    return job->error.status;
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

static int32_t add_plugin(rec_job *job, const rec_plugin *plugin)
{
    lr_registry *registry = registry_of(job);
    char reason[LR_REASON];
    const rec_plugin *rival;
    const char *name;
    rec_plugin d;
    lr_own *own;
    if (!registry) {
        return job->error.status;
    }
    if (!lr_plugin_check(plugin, &d, reason) || !lr_plugin_init(job->context, &d, reason)) {
        return rec_fail(job, REC_E_PLUGIN, REC_UNKNOWN, "the program's plugin%s%s was rejected: %s", d.name ? " " : "",
                        d.name ? d.name : "", reason);
    }
    (void)pthread_mutex_lock(&registry->lock);
    rival = own_rival(registry, &d, &name);
    own = rival ? NULL : lr_arena_alloc(&registry->arena, sizeof *own, 16);
    if (own) {
        *own = (lr_own){registry->own, plugin};
        registry->own = own;
        retire(registry);
    } else if (rival) {
        (void)rec_fail(job, REC_E_PLUGIN, REC_UNKNOWN,
                       "the program's plugin %s was rejected: the name \"%s\" belongs to its plugin %s already", d.name,
                       name, rival->name);
    } else {
        (void)lr_fail_memory(job, sizeof *own);
    }
    (void)pthread_mutex_unlock(&registry->lock);
    return job->error.status;
}

/* --------------------------------------------------------------------------------------------- the public part -- */

rec_status rec_context_add_plugin_path(rec_context *context, const char *folder)
{
    rec_job job;
    if (LR_NULL(folder)) {
        return REC_E_ARGUMENT;
    }
    lr_job_open(&job, context, "plugins", NULL);
    if (!lr_job_failed(&job)) {
        (void)add_folder(&job, folder);
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
        (void)add_plugin(&job, plugin);
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
            registry = registry_of(&job);
            if (registry) { /* under whose lock tables are made by it */
                (void)pthread_mutex_lock(&registry->lock);
                job.context->plugins = which;
                retire(registry);
                (void)pthread_mutex_unlock(&registry->lock);
            }
        } else {
            (void)rec_fail(&job, REC_E_ARGUMENT, REC_UNKNOWN,
                           "rec_context_set_plugins: %d is not one of REC_PLUGINS_...", (int)which);
        }
    }
    return lr_job_end(&job);
}
