/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What the registry found: a table that is filled once and never changes after that. */
#ifndef LR_REGISTRY_TABLE_PRIVATE_H
#define LR_REGISTRY_TABLE_PRIVATE_H

#include <stdatomic.h>

#include "core/registry/registry.h"

typedef struct lr_table {
    struct lr_table *older;
    lr_arena arena;
    const lr_plugin **plugins; /**< the usable ones, in the order in which they were found */
    uint64_t plugin_count, plugin_room;
    rec_plugin_info *infos; /**< all of them */
    uint64_t info_count, info_room;
    const char *folders;  /**< the first of those that were looked into, for messages; "" if none */
    const char *narrowed; /**< what kept other folders out, for messages; NULL if nothing did */
} lr_table;

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
    _Atomic(lr_table *) current; /**< NULL: to be made */
    lr_table *tables;            /**< all, newest first; under the context's lock, as is what follows */
    lr_folder *folders;          /**< last added first */
    lr_own *own;                 /**< last added first */
    struct lr_pair *pairs;       /**< stack_private.h: what was put together for a name or a file */
} lr_registry;

/** NULL: the job has failed. */
lr_registry *lr_registry_of(rec_job *job);
/** Reads the folders, under the context's lock. NULL: the job has failed. */
lr_table *lr_table_make(rec_job *job, const lr_registry *registry);
void lr_table_free(const lr_allocator *allocator, lr_table *table);
/** The line of a plugin without its details. @param file kept by the caller. */
rec_plugin_info lr_info_of(const rec_plugin *d, const char *file);
/** What is told of a usable plugin alone; texts are of the arena. */
void lr_info_details(rec_job *job, lr_arena *arena, rec_plugin_info *info, const rec_plugin *d);
/** The plugin with that name or alias, or NULL. */
const lr_plugin *lr_table_find(const lr_table *table, int32_t kind, const char *name);

#endif
