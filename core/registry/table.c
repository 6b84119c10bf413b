/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The table of the registry: plugin files in search order, and the plugins of those that have been opened. Entries are
 * only added. The lock of the registry guards all of it. */
#include "core/registry/table_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/config/config.h"
#include "os/moved.h"

#ifndef LR_PLUGIN_DIR
#error "LR_PLUGIN_DIR must be the directory of the installed plugins"
#endif

/* A table with more descriptors lacks the NULL at its end. */
enum { DESCRIPTORS_MOST = 64 };

/* What the name of a file begins with, by the plugins in it. */
static const char *const prefixes[LR_ROOMS] = {"", "source-", "scheme-"};

lr_room lr_room_of(int32_t kind)
{
    return kind == REC_PLUGIN_SOURCE   ? LR_ROOM_SOURCES
           : kind == REC_PLUGIN_SCHEME ? LR_ROOM_SCHEMES
                                       : LR_ROOM_RECORDERS;
}

static lr_room room_by_name(const char *name)
{
    lr_room room = LR_ROOM_SOURCES;
    while (room < LR_ROOMS && strncmp(name, prefixes[room], strlen(prefixes[room])) != 0) {
        room++;
    }
    return room < LR_ROOMS ? room : LR_ROOM_RECORDERS;
}

/* ------------------------------------------------------------------------------------------- what a file holds -- */

/* Adds a find to a file. @param d its descriptor, or NULL. @param refused why it is rejected, or NULL. */
static int32_t add_find(rec_job *job, lr_table *t, lr_file *file, const rec_plugin *d, const char *refused)
{
    lr_find *find;
    if (!lr_job_arena_grow(job, &t->arena, (void *)&file->finds, file->count + 1, &file->room, sizeof(lr_find *))) {
        return job->error.status;
    }
    find = lr_arena_alloc(&t->arena, sizeof *find, 16);
    if (!find) {
        return lr_fail_memory(job, sizeof *find);
    }
    *find = (lr_find){.plugin = {.file = file->path}, .file = file};
    if (d) {
        find->plugin.d = *d;
    }
    if (refused) {
        find->refused = lr_job_arena_text(job, &t->arena, refused, strlen(refused));
    } else if (d->kind != REC_PLUGIN_STACK) {
        find->use = &find->plugin;
    }
    if (!lr_job_failed(job)) {
        file->finds[file->count++] = find;
    }
    return job->error.status;
}

/* A file with source plugins is opened only for a path with a scheme, one with schemes only for encoded tensors, and
 * other files never for either. */
static bool check_file_name(const lr_file *file, const rec_plugin *d, char *reason)
{
    static const char *const words[LR_ROOMS] = {"", "source", "scheme"};
    lr_room room = lr_room_of(d->kind);
    if (!file->name || file->content == room) {
        return true;
    }
    if (room != LR_ROOM_RECORDERS) {
        (void)snprintf(reason, LR_REASON, "a %s plugin must be in a file called %sNAME.so", words[room],
                       prefixes[room]);
    } else {
        (void)snprintf(reason, LR_REASON, "a file called %sNAME.so may contain %s plugins only",
                       prefixes[file->content], words[file->content]);
    }
    return false;
}

/* @param ready its init has run: a plugin of the program. */
static int32_t add_descriptor(rec_job *job, lr_table *t, lr_file *file, const rec_plugin *foreign, bool ready)
{
    char reason[LR_REASON];
    rec_plugin d;
    bool good = lr_plugin_check(foreign, &d, reason) && check_file_name(file, &d, reason) &&
                (ready || lr_plugin_init(job->context, &d, reason));
    return add_find(job, t, file, &d, good ? NULL : reason);
}

static int32_t add_descriptors(rec_job *job, lr_table *t, lr_file *file, const rec_plugin *const *plugins)
{
    if (!plugins[0]) {
        return add_find(job, t, file, NULL, "it holds no recorder");
    }
    for (size_t i = 0; plugins[i] && !lr_job_failed(job); i++) {
        if (i == DESCRIPTORS_MOST) {
            return add_find(job, t, file, NULL, "it holds more than 64 recorders, or no NULL after the last");
        }
        (void)add_descriptor(job, t, file, plugins[i], false);
    }
    return job->error.status;
}

/* Opens a file and adds its plugins. */
static int32_t look_into(rec_job *job, lr_table *t, lr_file *file)
{
    char reason[LR_REASON];
    const rec_plugin *const *plugins = NULL;
    struct stat state;
    if (file->refused) {
        (void)snprintf(reason, sizeof reason, "%s", file->refused);
    } else if (!*lr_trust_file(file->path, file->installed, &state, reason)) {
        plugins = lr_module_open(file->path, &state, reason);
    }
    file->open = true;
    if (plugins) {
        return add_descriptors(job, t, file, plugins);
    }
    if (lr_reason_is_memory(reason)) {
        return rec_fail(job, REC_E_MEMORY, REC_UNKNOWN, "out of memory while opening the plugin %s", file->path);
    }
    return add_find(job, t, file, NULL, reason);
}

int32_t lr_table_see(rec_job *job, lr_table *t, lr_file *file)
{
    lr_file before = *file;
    if (!file->open && look_into(job, t, file) != REC_OK) {
        *file = before; /* the next look-up tries again */
    }
    return job->error.status;
}

/* The program and a static library may have plugins of all kinds. */
static bool may_have(const lr_file *file, lr_room room)
{
    return !file->name || file->content == room;
}

int32_t lr_table_see_all(rec_job *job, lr_table *t, lr_room room)
{
    for (uint64_t i = 0; i < t->file_count && !lr_job_failed(job); i++) {
        if (may_have(t->files[i], room)) {
            (void)lr_table_see(job, t, t->files[i]);
        }
    }
    return job->error.status;
}

lr_find *lr_table_next(rec_job *job, lr_table *t, lr_place *at)
{
    while (at->file < t->file_count && !lr_job_failed(job)) {
        lr_file *file = t->files[at->file];
        bool visits = may_have(file, at->room) && (!at->near || !file->name || file == at->near);
        if (visits && lr_table_see(job, t, file) != REC_OK) {
            return NULL;
        }
        while (visits && at->find < file->count) {
            lr_find *find = file->finds[at->find++];
            if (!find->refused) {
                return find;
            }
        }
        at->file++;
        at->find = 0;
    }
    return NULL;
}

/* ------------------------------------------------------------------------------------------ handing a find out -- */

/* Finds the format or the codec of a stack. NULL with the reason, or the job has failed. */
static const lr_plugin *find_part(rec_job *job, lr_table *t, const char *name, int32_t kind, char *reason)
{
    const char *word = kind == REC_PLUGIN_CODEC ? "codec" : "format";
    lr_find *part = lr_table_named(job, t, kind, name, LR_CAN_ANY);
    if (lr_job_failed(job)) {
        return NULL;
    }
    if (!part) {
        (void)snprintf(reason, LR_REASON, "its %s \"%s\" is not there", word, name);
        return NULL;
    }
    if (part->plugin.d.kind != kind) {
        (void)snprintf(reason, LR_REASON, "\"%s\" of %s is not a %s", name, part->plugin.file, word);
        return NULL;
    }
    return part->use;
}

/* Combines the parts of a stack, or rejects it. */
static void put_together(rec_job *job, lr_table *t, lr_find *find)
{
    const lr_plugin *named = &find->plugin;
    char reason[LR_REASON] = "";
    const lr_plugin *format = find_part(job, t, named->d.format, REC_PLUGIN_FORMAT, reason);
    const lr_plugin *codec = format ? find_part(job, t, named->d.codec, REC_PLUGIN_CODEC, reason) : NULL;
    const lr_plugin *made = codec ? lr_stack_make(job, &t->arena, named, format, codec, reason) : NULL;
    if (made) {
        find->use = made;
    } else if (!lr_job_failed(job)) {
        find->refused = lr_job_arena_text(job, &t->arena, reason, strlen(reason));
    }
}

const lr_plugin *lr_table_use(rec_job *job, lr_table *t, lr_find *find)
{
    if (!find->use && !find->refused) {
        put_together(job, t, find);
    }
    return lr_job_failed(job) || find->refused ? NULL : find->use;
}

bool lr_find_can(const lr_find *find, lr_direction direction)
{
    const rec_plugin *d = find->use ? &find->use->d : &find->plugin.d;
    return (!find->use && d->kind == REC_PLUGIN_STACK) || lr_plugin_can(d, direction);
}

/* Returns the find of a file that has a name and can load or save as `direction` demands. */
static lr_find *named_in(const lr_file *file, int32_t kind, const char *name, lr_direction direction)
{
    for (uint64_t i = 0; i < file->count; i++) {
        lr_find *find = file->finds[i];
        if (!find->refused && lr_kind_of_name(find->plugin.d.kind) == lr_kind_of_name(kind) &&
            lr_plugin_has_name(&find->plugin.d, name) && lr_find_can(find, direction)) {
            return find;
        }
    }
    return NULL;
}

bool lr_file_called(const lr_file *file, const char *name)
{
    char stem[LR_NAME_MOST + 1];
    size_t length = file->name ? strlen(file->name) : 0;
    if (length < 4 || length - 3 >= sizeof stem) {
        return false;
    }
    (void)snprintf(stem, sizeof stem, "%.*s", (int)(length - 3), file->name);
    return lr_name_same(stem, name);
}

/* Searches all files, or plugins of the program and the files that have the name. The parts of a stack are never
 * stacks, so this does not recurse without end. */
static lr_find *pass(rec_job *job, lr_table *t, int32_t kind, const char *name, lr_direction direction, bool all)
{
    for (uint64_t i = 0; i < t->file_count && !lr_job_failed(job); i++) {
        lr_file *file = t->files[i];
        lr_find *find;
        if (!may_have(file, lr_room_of(kind)) || (!all && file->name && !lr_file_called(file, name))) {
            continue;
        }
        if (lr_table_see(job, t, file) != REC_OK) {
            return NULL;
        }
        find = named_in(file, kind, name, direction);
        if (find) {
            return find;
        }
    }
    return NULL;
}

lr_find *lr_table_named(rec_job *job, lr_table *t, int32_t kind, const char *name, lr_direction direction)
{
    while (!lr_job_failed(job)) {
        lr_find *find = pass(job, t, kind, name, direction, false);
        find = find || lr_job_failed(job) ? find : pass(job, t, kind, name, direction, true);
        if (!find) {
            return NULL;
        }
        if (find->plugin.d.kind == REC_PLUGIN_STACK && kind != REC_PLUGIN_STACK && !find->use &&
            direction == LR_CAN_ANY) {
            return find; /* the caller combines it */
        } else if (lr_table_use(job, t, find) && lr_find_can(find, direction)) {
            return find;
        }
    }
    return NULL;
}

/* -------------------------------------------------------------------------------------------------- extensions -- */

/* Returns whether a file is named after an extension, with `-` for `.`: "mpk-gz.so" for "mpk.gz". */
static bool is_called_as(const lr_file *file, const char *extension, size_t length)
{
    if (!file->name || file->content != LR_ROOM_RECORDERS || strlen(file->name) != length + 3) {
        return false;
    }
    for (size_t i = 0; i < length; i++) {
        if (file->name[i] != (extension[i] == '.' ? '-' : extension[i])) {
            return false;
        }
    }
    return true;
}

static bool has_usable(const lr_file *file)
{
    for (uint64_t i = 0; i < file->count; i++) {
        if (!file->finds[i]->refused) {
            return true;
        }
    }
    return false;
}

const lr_file *lr_table_near(rec_job *job, lr_table *t, const char *path, size_t *length)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const char *dot = *name ? strchr(name + 1, '.') : NULL;
    for (; dot; dot = strchr(dot + 1, '.')) {
        *length = strlen(dot + 1);
        for (uint64_t i = 0; *length <= LR_NAME_MOST && i < t->file_count && !lr_job_failed(job); i++) {
            if (is_called_as(t->files[i], dot + 1, *length) && lr_table_see(job, t, t->files[i]) == REC_OK &&
                has_usable(t->files[i])) {
                return t->files[i];
            }
        }
    }
    return NULL;
}

lr_find *lr_table_longest(rec_job *job, lr_table *t, const char *path, lr_direction direction, const lr_file *near,
                          bool format, size_t *length)
{
    lr_find *best = NULL, *find;
    lr_place at = {.near = near};
    *length = 0;
    while ((find = lr_table_next(job, t, &at))) {
        bool stack = find->plugin.d.kind == REC_PLUGIN_STACK;
        size_t its;
        if (stack && !format && !find->use && !find->plugin.d.extension) {
            (void)lr_table_use(job, t, find); /* the combination has one */
        }
        its = lr_find_records(find) && !(stack && format) && !find->refused
                  ? lr_plugin_extension(lr_find_is(find), path)
                  : 0;
        if (its > *length || (its && its == *length && !lr_find_can(best, direction) && lr_find_can(find, direction))) {
            best = find;
            *length = its;
        }
    }
    return lr_job_failed(job) ? NULL : best;
}

lr_find *lr_table_ending(rec_job *job, lr_table *t, const char *path, lr_direction direction, const lr_file *near)
{
    size_t length;
    lr_find *best = lr_table_longest(job, t, path, direction, near, false, &length);
    while (best && !best->use) { /* a stack: combined, it may be rejected, or unable to save */
        (void)lr_table_use(job, t, best);
        best = lr_table_longest(job, t, path, direction, near, false, &length);
    }
    return best;
}

lr_find *lr_table_by_extension(rec_job *job, lr_table *t, const char *path, lr_direction direction)
{
    size_t length = 0;
    const lr_file *near = lr_table_near(job, t, path, &length);
    lr_find *find = near ? lr_table_ending(job, t, path, direction, near) : NULL;
    if (find && lr_plugin_extension(lr_find_is(find), path) >= length && lr_find_can(find, direction)) {
        return find;
    }
    return lr_job_failed(job) ? NULL : lr_table_ending(job, t, path, direction, NULL);
}

/* ---------------------------------------------------------------------------------------- the files that count -- */

static lr_file *add_file(rec_job *job, lr_table *t, const char *path)
{
    lr_file *file;
    if (!lr_job_arena_grow(job, &t->arena, (void *)&t->files, t->file_count + 1, &t->file_room, sizeof(lr_file *))) {
        return NULL;
    }
    file = lr_job_arena_alloc(job, &t->arena, sizeof *file, 16);
    if (!file) {
        return NULL;
    }
    *file = (lr_file){.path = lr_job_arena_text(job, &t->arena, path, strlen(path))};
    t->files[t->file_count++] = file;
    return lr_job_failed(job) ? NULL : file;
}

/* Adds plugins that need no opening. */
static lr_file *add_open(rec_job *job, lr_table *t, const char *what)
{
    lr_file *file = add_file(job, t, what);
    if (file) {
        file->open = true;
    }
    return file;
}

static int32_t on_builtin(void *user, rec_job *job, const rec_plugin *const *plugins)
{
    lr_table *t = user;
    lr_file *file = add_open(job, t, "built in");
    if (file) {
        file->builtin = true;
    }
    return file ? add_descriptors(job, t, file, plugins) : job->error.status;
}

static int32_t on_file(void *user, rec_job *job, const lr_listed *listed)
{
    lr_table *t = user;
    lr_file *file = add_file(job, t, listed->path);
    if (!file) {
        return job->error.status;
    }
    file->installed = listed->installed;
    if (listed->name) {
        file->name = strrchr(file->path, '/') + 1;
        file->content = room_by_name(file->name);
    }
    if (listed->refused) {
        file->refused = lr_job_arena_text(job, &t->arena, listed->refused, strlen(listed->refused));
    }
    return job->error.status;
}

/** A table that is being made. */
typedef struct maker {
    rec_job *job;
    lr_table *t;
    lr_opener opener;
} maker;

/* The most bytes of a message that list directories. */
enum { FOLDERS_SHOWN = 600 };

/* @param installed whether it came with the library. */
static int32_t open_folder(maker *m, const char *path, bool installed)
{
    lr_table *t = m->t;
    size_t used = strlen(t->folders), more = strlen(path);
    char *folders;
    if (lr_static_build()) {
        lr_listed listed = {.path = path, .refused = "this librecord is a static one, which opens no plugins"};
        return installed ? REC_OK : on_file(t, m->job, &listed);
    }
    if (used == 0 || used + more < FOLDERS_SHOWN) {
        folders = lr_arena_alloc(&t->arena, used + more + 3, 1);
        if (!folders) {
            return lr_fail_memory(m->job, used + more + 3);
        }
        (void)snprintf(folders, used + more + 3, "%s%s%s", t->folders, used ? ", " : "", path);
        t->folders = folders;
    }
    return lr_list_folder(m->job, &m->opener, path, installed);
}

/* Folders separated by colons; empty ones are skipped, as in other search paths of the environment. */
static int32_t open_list(maker *m, const char *list)
{
    while (list && *list && !lr_job_failed(m->job)) {
        size_t length = strcspn(list, ":");
        const char *path = lr_job_arena_text(m->job, &m->t->arena, list, length);
        if (path && *path) {
            (void)open_folder(m, path, strcmp(path, LR_PLUGIN_DIR) == 0);
        }
        list += length + (list[length] == ':');
    }
    return m->job->error.status;
}

/* The directory of the installed plugins, or where they are after the installation was moved. */
static int32_t open_installed(maker *m)
{
    lr_moved moved;
    if (!lr_static_build() && access(LR_PLUGIN_DIR, F_OK) != 0 && lr_moved_find(LR_OWN_DIR, LR_PLUGIN_DIR, &moved)) {
        return open_folder(m, moved.path, moved.same_owner);
    }
    return open_folder(m, LR_PLUGIN_DIR, true);
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
        lr_file *file = add_open(m->job, m->t, "the program");
        if (file) {
            (void)add_descriptor(m->job, m->t, file, own->plugin, true);
        }
    }
    (void)lr_modules_builtin(m->job, on_builtin, m->t);
    if (which == REC_PLUGINS_ALL) {
        for (const lr_folder *f = registry->folders; f && !lr_job_failed(m->job); f = f->next) {
            (void)open_folder(m, f->path, strcmp(f->path, LR_PLUGIN_DIR) == 0);
        }
        (void)open_list(m, secure_getenv("LIBRECORD_PLUGIN_PATH"));
        (void)open_list(m, lr_config_plugin_path(m->job->context->config));
    }
    if (which != REC_PLUGINS_NONE && !lr_job_failed(m->job)) {
        (void)open_installed(m);
    }
    return m->job->error.status;
}

lr_table *lr_table_make(rec_job *job, const lr_registry *registry)
{
    const lr_allocator *allocator = &registry->context->allocator;
    lr_table *t = lr_zalloc(allocator, sizeof *t);
    maker m = {.job = job, .t = t};
    if (!t) {
        return LR_AS_NULL(lr_fail_memory(job, sizeof *t));
    }
    lr_arena_init(&t->arena, allocator);
    t->folders = "";
    m.opener = (lr_opener){.file = on_file, .user = t, .arena = &t->arena};
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
