/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Filling the registry's table: which folders count, what each find says in the list, and which names are taken. */
#include "core/registry/table_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/config/config.h"
#include "core/base/base.h"
#include "core/registry/open_private.h"
#include "core/registry/stack_private.h"

#ifndef LR_PLUGIN_DIR
#error "LR_PLUGIN_DIR must be the folder of the installed plugins"
#endif

/* ------------------------------------------------------------------------------------------ the lines of a table -- */

static const char *keep(rec_job *job, lr_arena *arena, const char *text, size_t length)
{
    char *kept = lr_arena_text(arena, text, length);
    if (!kept) {
        (void)lr_fail_memory(job, length + 1);
    }
    return kept;
}

/* Two passes of the same printing, the first one without room: `print` returns how much it wants. */
typedef size_t (*print_fn)(const rec_plugin *d, char *target, size_t room);

static const char *keep_printed(rec_job *job, lr_arena *arena, const rec_plugin *d, print_fn print)
{
    size_t length = print(d, NULL, 0);
    char *text = lr_arena_alloc(arena, length + 1, 1);
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

static size_t print_extensions(const rec_plugin *d, char *target, size_t room)
{
    size_t used = 0;
    PRINT("%s", d->extension ? d->extension : "");
    for (size_t i = 0; d->extensions && d->extensions[i]; i++) {
        PRINT(", %s", d->extensions[i]);
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
static const char *base_name(rec_job *job, lr_table *t, const char *file)
{
    const char *slash = strrchr(file, '/');
    const char *name = slash && slash[1] ? slash + 1 : file;
    size_t length = strlen(name);
    if (length > 3 && strcmp(name + length - 3, ".so") == 0) {
        length -= 3;
    }
    return keep(job, &t->arena, name, length);
}

/* Formats and stacks are recorders, and have names together. */
static int32_t kind_of_name(int32_t kind)
{
    return kind == REC_PLUGIN_STACK ? REC_PLUGIN_FORMAT : kind;
}

/* What is told of a usable plugin alone. */
void lr_info_details(rec_job *job, lr_arena *arena, rec_plugin_info *info, const rec_plugin *d)
{
    info->aliases = keep_printed(job, arena, d, print_aliases);
    info->options = keep_printed(job, arena, d, print_options);
    info->extensions = keep_printed(job, arena, d, print_extensions);
    info->adapter = d->adapter == REC_ADAPTER_PYTORCH  ? "pytorch"
                    : d->adapter == REC_ADAPTER_EITHER ? "either"
                                                       : "none";
    info->kind = d->kind;
    info->can_load = d->load || d->decode;
    info->can_save = d->save || d->encode;
    info->needs_type = (d->traits & REC_TRAIT_NEEDS_TYPE) != 0;
    info->has_names = kind_of_name(d->kind) == REC_PLUGIN_FORMAT && !(d->traits & REC_TRAIT_NO_NAMES);
    info->reads_folders = (d->traits & REC_TRAIT_FOLDER) != 0;
    info->version = d->version ? d->version : "";
    info->license = d->license ? d->license : "";
    info->option_list = d->options;
    info->option_count = 0;
    while (d->options && d->options[info->option_count]) {
        info->option_count++;
    }
}

rec_plugin_info lr_info_of(const rec_plugin *d, const char *file)
{
    return (rec_plugin_info){.size = sizeof(rec_plugin_info),
                             .usable = 1,
                             .name = d ? d->name : NULL,
                             .extension = d && d->extension ? d->extension : "",
                             .description = d && d->description ? d->description : "",
                             .file = file,
                             .refused = "",
                             .aliases = "",
                             .options = "",
                             .adapter = "none",
                             .version = "",
                             .license = "",
                             .extensions = "",
                             .hidden = ""};
}

/* Adds the line of a plugin or of what was refused. @param d may lack any member if `refused`. */
static int32_t add_info(rec_job *job, lr_table *t, const rec_plugin *d, const char *file, const char *refused)
{
    rec_plugin_info info;
    if (!lr_job_arena_grow(job, &t->arena, &t->infos, t->info_count + 1, &t->info_room, sizeof info)) {
        return job->error.status;
    }
    info = lr_info_of(d, keep(job, &t->arena, file, strlen(file)));
    info.usable = !refused;
    info.name = d && d->name ? d->name : base_name(job, t, file);
    info.refused = keep(job, &t->arena, refused ? refused : "", strlen(refused ? refused : ""));
    if (!refused) {
        lr_info_details(job, &t->arena, &info, d);
    }
    if (!lr_job_failed(job)) {
        t->infos[t->info_count++] = info;
    }
    return job->error.status;
}

/* ----------------------------------------------------------------------------------------------- filling a table -- */

const lr_plugin *lr_table_find(const lr_table *t, int32_t kind, const char *name)
{
    for (uint64_t i = 0; i < t->plugin_count; i++) {
        const rec_plugin *d = &t->plugins[i]->d;
        if (kind_of_name(d->kind) == kind_of_name(kind) && lr_plugin_has_name(d, name)) {
            return t->plugins[i];
        }
    }
    return NULL;
}

/* @return the plugin that has one of these names already; @param name (out) which. */
static const lr_plugin *find_rival(const lr_table *t, const rec_plugin *d, const char **name)
{
    const lr_plugin *rival;
    *name = d->name;
    rival = lr_table_find(t, d->kind, d->name);
    for (size_t i = 0; !rival && d->aliases && d->aliases[i]; i++) {
        *name = d->aliases[i];
        rival = lr_table_find(t, d->kind, d->aliases[i]);
    }
    return rival;
}

static int32_t add_plugin(rec_job *job, lr_table *t, const rec_plugin *foreign, const char *file)
{
    char reason[LR_REASON];
    const char *name;
    const lr_plugin *rival;
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
    if (!lr_job_arena_grow(job, &t->arena, (void *)&t->plugins, t->plugin_count + 1, &t->plugin_room,
                           sizeof(lr_plugin *))) {
        return job->error.status;
    }
    plugin = lr_arena_alloc(&t->arena, sizeof *plugin, 16);
    if (!plugin) {
        return lr_fail_memory(job, sizeof *plugin);
    }
    if (add_info(job, t, &d, file, NULL) == REC_OK) {
        plugin->d = d;
        plugin->format = plugin->codec = NULL;
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
    lr_table *t = user;
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

static int32_t on_builtin(void *user, rec_job *job, const rec_plugin *const *plugins)
{
    return on_found(user, job, "built in", plugins, NULL);
}

/* ------------------------------------------------------------------------------------------------ formats in codecs -- */

/* The plugin that a stack names. NULL: there is none of that kind; why is in `reason`. */
static const lr_plugin *find_part(const lr_table *t, const char *name, int32_t kind, char *reason)
{
    const lr_plugin *part = lr_table_find(t, kind, name);
    const char *word = kind == REC_PLUGIN_CODEC ? "codec" : "format";
    if (!part) {
        (void)snprintf(reason, LR_REASON, "its %s \"%s\" is not there", word, name);
    } else if (part->d.kind != kind) {
        (void)snprintf(reason, LR_REASON, "\"%s\" of %s is no %s", name, part->file, word);
        part = NULL;
    }
    return part;
}

/* Puts the stack of that index together, or takes it out: its line says why. @return whether it stays. */
static bool put_together(rec_job *job, lr_table *t, uint64_t index)
{
    const lr_plugin *named = t->plugins[index];
    rec_plugin_info *info = t->infos;
    char reason[LR_REASON] = "";
    const lr_plugin *format = find_part(t, named->d.format, REC_PLUGIN_FORMAT, reason);
    const lr_plugin *codec = format ? find_part(t, named->d.codec, REC_PLUGIN_CODEC, reason) : NULL;
    const lr_plugin *made = codec ? lr_stack_make(job, &t->arena, named, format, codec, reason) : NULL;
    while (info->name != named->d.name) {
        info++;
    }
    if (made) {
        t->plugins[index] = made;
        lr_info_details(job, &t->arena, info, &made->d);
    } else if (!lr_job_failed(job)) {
        *info = lr_info_of(&named->d, info->file);
        info->usable = 0;
        info->refused = keep(job, &t->arena, reason, strlen(reason));
    }
    return made != NULL;
}

/* What stacks name may come behind them. */
static int32_t put_all_together(rec_job *job, lr_table *t)
{
    for (uint64_t i = 0; i < t->plugin_count && !lr_job_failed(job);) {
        if (t->plugins[i]->d.kind != REC_PLUGIN_STACK || put_together(job, t, i)) {
            i++;
        } else {
            t->plugin_count--;
            memmove((void *)(t->plugins + i), (const void *)(t->plugins + i + 1),
                    (size_t)(t->plugin_count - i) * sizeof *t->plugins);
        }
    }
    return job->error.status;
}

/** A table on its way. */
typedef struct maker {
    rec_job *job;
    lr_table *t;
    lr_opener opener;
} maker;

/* Bytes of a message that list folders. */
enum { FOLDERS_SHOWN = 600 };

static int32_t open_folder(maker *m, const char *path)
{
    lr_table *t = m->t;
    size_t used = strlen(t->folders), more = strlen(path);
    bool installed = strcmp(path, LR_PLUGIN_DIR) == 0;
    char *folders;
    if (lr_static_build()) {
        return installed ? REC_OK
                         : add_info(m->job, t, NULL, path, "this librecord is a static one, which opens no plugins");
    }
    if (used == 0 || used + more < FOLDERS_SHOWN) {
        folders = lr_arena_alloc(&t->arena, used + more + 3, 1);
        if (!folders) {
            return lr_fail_memory(m->job, used + more + 3);
        }
        (void)snprintf(folders, used + more + 3, "%s%s%s", t->folders, used ? ", " : "", path);
        t->folders = folders;
    }
    return lr_open_folder(m->job, &m->opener, path, installed);
}

/* Folders separated by colons; empty ones are skipped, as in other search paths of the environment. */
static int32_t open_list(maker *m, const char *list)
{
    while (list && *list && !lr_job_failed(m->job)) {
        size_t length = strcspn(list, ":");
        const char *path = keep(m->job, &m->t->arena, list, length);
        if (path && *path) {
            (void)open_folder(m, path);
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

static int32_t fill(maker *m, const lr_registry *registry)
{
    int32_t which = which_folders(m);
    if (lr_job_failed(m->job)) {
        return m->job->error.status;
    }
    for (const lr_own *own = registry->own; own && !lr_job_failed(m->job); own = own->next) {
        (void)add_plugin(m->job, m->t, own->plugin, "the program");
    }
    (void)lr_modules_builtin(m->job, on_builtin, m->t);
    if (which == REC_PLUGINS_ALL) {
        for (const lr_folder *f = registry->folders; f && !lr_job_failed(m->job); f = f->next) {
            (void)open_folder(m, f->path);
        }
        (void)open_list(m, secure_getenv("LIBRECORD_PLUGIN_PATH"));
        (void)open_list(m, lr_config_plugin_path(m->job->context->config));
    }
    if (which != REC_PLUGINS_NONE && !lr_job_failed(m->job)) {
        (void)open_folder(m, LR_PLUGIN_DIR);
    }
    return lr_job_failed(m->job) ? m->job->error.status : put_all_together(m->job, m->t);
}

lr_table *lr_table_make(rec_job *job, const lr_registry *registry)
{
    const lr_allocator *allocator = &registry->context->allocator;
    lr_table *t = lr_zalloc(allocator, sizeof *t);
    maker m = {.job = job, .t = t};
    if (!t) {
        (void)lr_fail_memory(job, sizeof *t);
        return NULL;
    }
    lr_arena_init(&t->arena, allocator);
    t->folders = "";
    m.opener = (lr_opener){.found = on_found, .user = t, .arena = &t->arena};
    if (fill(&m, registry) != REC_OK) {
        lr_table_free(allocator, t);
        return NULL;
    }
    return t;
}

void lr_table_free(const lr_allocator *allocator, lr_table *t)
{
    lr_arena_free(&t->arena);
    lr_release(allocator, t);
}
