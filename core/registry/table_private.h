/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What the registry knows: the files that count, in search order, and the plugins in them as far as somebody asked. */
#ifndef LR_REGISTRY_TABLE_PRIVATE_H
#define LR_REGISTRY_TABLE_PRIVATE_H

#include <stdatomic.h>

#include "core/registry/open_private.h"
#include "core/registry/registry.h"

struct lr_file;

/** One plugin, or what stands in the list in place of one. */
typedef struct lr_find {
    lr_plugin plugin;      /**< as its descriptor has it */
    struct lr_file *file;  /**< which holds it */
    const lr_plugin *use;  /**< what is handed out: `plugin`, or the stack that was put together; NULL: nothing yet */
    const char *refused;   /**< why it cannot be used, or NULL */
    rec_plugin_info *info; /**< NULL until it is asked for */
} lr_find;

typedef struct lr_file {
    const char *path; /**< absolute; "the program", "built in" */
    const char *name; /**< "mpk.so"; NULL of what is no file */
    bool installed, builtin;
    bool sources;        /**< it is called source-NAME.so: plugins for sources alone are in it */
    bool open;           /**< its finds are known: it is open, or refused */
    const char *refused; /**< why it is not opened, or NULL */
    lr_find **finds;
    uint64_t count, room;
} lr_file;

typedef struct lr_table {
    struct lr_table *older;
    lr_arena arena;
    lr_file **files; /**< in search order */
    uint64_t file_count, file_room;
    bool complete;          /**< all is open, and the lines are made */
    rec_plugin_info *infos; /**< a line for each find */
    uint64_t info_count, info_room;
    const char *folders;  /**< the first of those that were looked into, for messages; "" if none */
    const char *narrowed; /**< what kept other folders out, for messages; NULL if nothing did */
} lr_table;

/** A walk over a table; all zero: it begins, and goes to all plugins but those for sources. */
typedef struct lr_place {
    bool sources;        /**< to plugins for sources alone */
    const lr_file *near; /**< to this file and to what is no file alone; NULL: to all files */
    uint64_t file, find;
} lr_place;

/** A look-up: the registry is held from its beginning to its end. */
typedef struct lr_look {
    struct lr_registry *registry;
    lr_table *t; /**< NULL: the job has failed */
} lr_look;

/** A folder of rec_context_add_plugin_path(). */
typedef struct lr_folder {
    struct lr_folder *next;
    char *path;
} lr_folder;

/** A plugin of rec_context_add_plugin(). */
typedef struct lr_own {
    struct lr_own *next;
    const rec_plugin *plugin;
} lr_own;

/** Of a context, to which it is attached. */
typedef struct lr_registry {
    lr_attached attached; /**< the first member */
    rec_context *context;
    pthread_mutex_t lock;        /**< of all that follows; who holds it may take it again, or the context's */
    _Atomic(lr_table *) current; /**< NULL: to be made */
    lr_table *tables;            /**< all, newest first */
    lr_folder *folders;          /**< last added first */
    lr_own *own;                 /**< last added first */
    struct lr_pair *pairs;       /**< stack_private.h: what was put together for a name or a file */
} lr_registry;

/** NULL: the job has failed. */
lr_registry *lr_registry_of(rec_job *job);
/** Takes the lock and the table that counts, which is made if needed. */
lr_look lr_look_begin(rec_job *job);
void lr_look_end(lr_look look);

/** Lists the folders. NULL: the job has failed. */
lr_table *lr_table_make(rec_job *job, const lr_registry *registry);
void lr_table_free(const lr_allocator *allocator, lr_table *table);

/** @return whether a file is called so, as names compare. */
bool lr_file_called(const lr_file *file, const char *name);
/** Opens a file, if that was not done. */
int32_t lr_table_see(rec_job *job, lr_table *table, lr_file *file);
/** Opens all files of plugins for sources, or all others. */
int32_t lr_table_see_all(rec_job *job, lr_table *table, bool sources);
/** The next find that is not refused. NULL: no more, or the job has failed. */
lr_find *lr_table_next(rec_job *job, lr_table *table, lr_place *at);
/** The find that a name belongs to, of those that can what is wanted; a stack is perhaps not put together. */
lr_find *lr_table_named(rec_job *job, lr_table *table, int32_t kind, const char *name, lr_direction direction);
/** Puts a stack together. @return NULL: the job has failed, or it is refused now. */
const lr_plugin *lr_table_use(rec_job *job, lr_table *table, lr_find *find);
bool lr_find_can(const lr_find *find, lr_direction direction);

/** The file that is called as the longest extension of a path for which there is one, `mpk-gz.so` for x.mpk.gz: the
 * first in search order that can be used. @param length (out) of that extension. NULL: none, or the job has failed. */
const lr_file *lr_table_near(rec_job *job, lr_table *table, const char *path, size_t *length);
/** The recorder with the longest extension that a path ends in; of those with the same the first that can what is
 * wanted, or the first where none can. @param near of lr_table_near(); NULL: of all files. NULL: none, or the job has
 * failed. */
lr_find *lr_table_ending(rec_job *job, lr_table *table, const char *path, lr_direction direction, const lr_file *near);
/** The recorder that a path belongs to by its extension: that of the file near it, or else of all files. */
lr_find *lr_table_by_extension(rec_job *job, lr_table *table, const char *path, lr_direction direction);

static inline bool lr_find_records(const lr_find *find)
{
    return lr_kind_of_name(find->plugin.d.kind) == REC_PLUGIN_FORMAT;
}
/** What is known of it: as its descriptor has it, or put together. */
static inline const rec_plugin *lr_find_is(const lr_find *find)
{
    return find->use ? &find->use->d : &find->plugin.d;
}

/* ------------------------------------------------------------------------------- rec_plugin_info (describe.c) -- */

/** The line of a plugin without its details. @param file kept by the caller. */
rec_plugin_info lr_info_of(const rec_plugin *d, const char *file);
/** What is told of a usable plugin alone; texts are of the arena. */
void lr_info_details(rec_job *job, lr_arena *arena, rec_plugin_info *info, const rec_plugin *d);

#endif
