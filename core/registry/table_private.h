/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What the registry knows: the files that count, in search order, and the plugins in them as far as somebody asked. */
#ifndef LR_REGISTRY_TABLE_PRIVATE_H
#define LR_REGISTRY_TABLE_PRIVATE_H

#include <stdatomic.h>

#include "core/registry/index_private.h"
#include "core/registry/registry.h"

struct lr_file;

/** One plugin, or what stands in the list in place of one. */
typedef struct lr_find {
    lr_plugin plugin;      /**< as its descriptor has it, or the index */
    struct lr_file *file;  /**< which holds it */
    bool told;             /**< by the index: its file is opened before it is used, and has finds of its own then */
    const lr_plugin *use;  /**< what is handed out: `plugin`, or the stack that was put together; NULL: nothing yet */
    const char *refused;   /**< why it cannot be used, or NULL */
    rec_plugin_info *info; /**< NULL until it is asked for */
} lr_find;

typedef enum lr_known {
    LR_FILE_UNKNOWN,
    LR_FILE_TOLD, /**< by its folder's index */
    LR_FILE_OPEN  /**< or refused */
} lr_known;

typedef struct lr_file {
    const char *path; /**< absolute; "the program", "built in" */
    const char *name; /**< "mpk.so"; NULL of what is no file */
    bool installed, builtin;
    const lr_index *index;
    const char *refused; /**< why it is not opened, or NULL */
    lr_known known;
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

/** A place in a table; both 0: the beginning. */
typedef struct lr_place {
    uint64_t file, find;
} lr_place;

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
/** The table that counts, made if needed; under the lock. NULL: the job has failed. */
lr_table *lr_registry_table(rec_job *job, lr_registry *registry);
/** Lists the folders. NULL: the job has failed. */
lr_table *lr_table_make(rec_job *job, const lr_registry *registry);
/** Lists one folder alone. @param installed as of lr_list_folder(). NULL: the job has failed. */
lr_table *lr_table_of_folder(rec_job *job, const char *folder, bool installed);
void lr_table_free(const lr_allocator *allocator, lr_table *table);

/** @return whether a file is called so, as names compare. */
bool lr_file_called(const lr_file *file, const char *name);
/** Learns what a file holds, if that is not known. @param open it is to be opened, whatever its index says. */
int32_t lr_table_see(rec_job *job, lr_table *table, lr_file *file, bool open);
/** The next find that is not refused. NULL: no more, or the job has failed. */
lr_find *lr_table_next(rec_job *job, lr_table *table, lr_place *at);
/** The find that a name belongs to, of those that can what is wanted; it is open, and a stack perhaps not put together.
 */
lr_find *lr_table_named(rec_job *job, lr_table *table, int32_t kind, const char *name, lr_direction direction);
/** Opens what was only told, and puts a stack together. @return NULL: the job has failed, or what there is has changed,
 * and is to be looked for again. */
const lr_plugin *lr_table_use(rec_job *job, lr_table *table, lr_find *find);
bool lr_find_can(const lr_find *find, lr_direction direction);

/* ---------------------------------------------------------------------------- who comes before whom (hidden.c) -- */

static inline bool lr_find_records(const lr_find *find)
{
    return lr_kind_of_name(find->plugin.d.kind) == REC_PLUGIN_FORMAT;
}
/** What is known of it: as its descriptor has it, or put together. */
static inline const rec_plugin *lr_find_is(const lr_find *find)
{
    return find->use ? &find->use->d : &find->plugin.d;
}
/** The recorder with the longest extension that a path ends in; of those with the same the first that can what is
 * wanted, or the first where none can. NULL: none, or the job has failed. */
lr_find *lr_table_by_extension(rec_job *job, lr_table *table, const char *path, lr_direction direction);
/** What of a find others hide, a line each, "" if nothing; all of the table is open. */
const char *lr_hidden_text(rec_job *job, lr_table *table, const lr_find *find);

/* ---------------------------------------------------------------------------------------------- lines (list.c) -- */

/** Opens all, and makes the lines. */
int32_t lr_table_complete(rec_job *job, lr_table *table);
/** The line of a plugin that is open; NULL: it is not of this table, or the job has failed. */
const rec_plugin_info *lr_table_line(rec_job *job, lr_table *table, const lr_plugin *plugin);
/** The line of a plugin without its details. @param file kept by the caller. */
rec_plugin_info lr_info_of(const rec_plugin *d, const char *file);
/** What is told of a usable plugin alone; texts are of the arena. */
void lr_info_details(rec_job *job, lr_arena *arena, rec_plugin_info *info, const rec_plugin *d);

#endif
