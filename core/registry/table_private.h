/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The table of the registry: plugin files in search order, and the plugins of those that have been opened. */
#ifndef LR_REGISTRY_TABLE_PRIVATE_H
#define LR_REGISTRY_TABLE_PRIVATE_H

#include <stdatomic.h>

#include "core/registry/open_private.h"
#include "core/registry/registry.h"

struct lr_file;

/** Plugins that files contain together. A file of source or scheme plugins is opened only when one is needed. */
typedef enum lr_room { LR_ROOM_RECORDERS, LR_ROOM_SOURCES, LR_ROOM_SCHEMES, LR_ROOMS } lr_room;
/** Returns the room of a kind of plugin. */
lr_room lr_room_of(int32_t kind);

/** A plugin, or the entry of a rejected file or directory. */
typedef struct lr_find {
    lr_plugin plugin;     /**< a copy of its descriptor */
    struct lr_file *file; /**< the file it is in */
    const lr_plugin *use; /**< the usable plugin: `plugin`, or the combined stack; NULL: not yet combined */
    const char *refused;  /**< why it is rejected, or NULL */
} lr_find;

typedef struct lr_file {
    const char *path; /**< absolute; "the program", "built in" */
    const char *name; /**< "mpk.so"; NULL: not a file */
    bool installed, builtin;
    lr_room content;     /**< which plugins it may contain, by its name */
    bool open;           /**< opened or rejected: `finds` is complete */
    const char *refused; /**< why it must not be opened, or NULL */
    lr_find **finds;
    uint64_t count, room;
} lr_file;

typedef struct lr_table {
    struct lr_table *older;
    lr_arena arena;
    lr_file **files; /**< in search order */
    uint64_t file_count, file_room;
    bool complete;          /**< all files are open and `infos` is complete */
    rec_plugin_info *infos; /**< one for each find */
    uint64_t info_count, info_room;
    const char *folders;  /**< the first directories that were searched, for messages; "" if none */
    const char *narrowed; /**< why other directories were not searched, for messages, or NULL */
} lr_table;

/** An iterator over a table. If all of it is zero, it starts and visits formats, codecs and stacks. */
typedef struct lr_place {
    lr_room room;        /**< visit plugins of this room alone */
    const lr_file *near; /**< visit this file and plugins that are not in a file; NULL: all files */
    uint64_t file, find;
} lr_place;

/** A look-up, which holds the lock of the registry. */
typedef struct lr_look {
    struct lr_registry *registry;
    lr_table *t; /**< NULL: the job has failed */
} lr_look;

/** A directory of rec_context_add_plugin_path(). */
typedef struct lr_folder {
    struct lr_folder *next;
    const char *path;
} lr_folder;

/** A plugin of rec_context_add_plugin(). */
typedef struct lr_own {
    struct lr_own *next;
    const rec_plugin *plugin;
} lr_own;

/** The information about one plugin, made at its first request. */
typedef struct lr_told {
    struct lr_told *next;
    const lr_plugin *plugin;
    rec_plugin_info info;
} lr_told;

/** The registry of a context, attached to it. */
typedef struct lr_registry {
    lr_attached attached; /**< the first member */
    rec_context *context;
    pthread_mutex_t lock;        /**< of the members below; recursive, taken before that of the context */
    lr_arena arena;              /**< holds the folders, plugins, combinations and information below */
    _Atomic(lr_table *) current; /**< NULL: must be made */
    lr_table *tables;            /**< all, newest first */
    lr_folder *folders;          /**< last added first */
    lr_own *own;                 /**< last added first */
    struct lr_pair *pairs;       /**< combinations of formats and codecs */
    lr_told *told;
} lr_registry;

/** Takes the lock and returns the current table, which it makes if necessary. */
lr_look lr_look_begin(rec_job *job);
void lr_look_end(lr_look look);

/** Lists the plugin directories. NULL: the job has failed. */
lr_table *lr_table_make(rec_job *job, const lr_registry *registry);
void lr_table_free(const lr_allocator *allocator, lr_table *table);

/** Returns whether a file has this name, compared as plugin names are. */
bool lr_file_called(const lr_file *file, const char *name);
/** Opens a file unless it is open. */
int32_t lr_table_see(rec_job *job, lr_table *table, lr_file *file);
/** Opens all files of source plugins, or all others. */
int32_t lr_table_see_all(rec_job *job, lr_table *table, lr_room room);
/** Returns the next usable find. NULL: the end, or the job has failed. */
lr_find *lr_table_next(rec_job *job, lr_table *table, lr_place *at);
/** Returns the find for a name that can load or save as `direction` demands. A stack may not be combined yet. */
lr_find *lr_table_named(rec_job *job, lr_table *table, int32_t kind, const char *name, lr_direction direction);
/** Combines a stack, and returns the usable plugin. NULL: the stack is rejected, or the job has failed. */
const lr_plugin *lr_table_use(rec_job *job, lr_table *table, lr_find *find);
bool lr_find_can(const lr_find *find, lr_direction direction);

/** Returns the plugin file named after the extension of a path: `mpk-gz.so` for x.mpk.gz, or else `gz.so`. Of several
 * files of that name it is the first in search order with a usable plugin. @param length (out) the length of the
 * extension. NULL: no such file, or the job has failed. */
const lr_file *lr_table_near(rec_job *job, lr_table *table, const char *path, size_t *length);
/** Returns the recorder with the longest extension that a path ends in. Of recorders with the same extension it is the
 * first that can load or save as `direction` demands, or else the first. @param near the result of lr_table_near(), to
 * search that file alone; NULL: search all files. NULL: none, or the job has failed. */
lr_find *lr_table_ending(rec_job *job, lr_table *table, const char *path, lr_direction direction, const lr_file *near);
/** The same, but a stack may not be combined yet. @param format formats alone. @param length (out) of the extension. */
lr_find *lr_table_longest(rec_job *job, lr_table *table, const char *path, lr_direction direction, const lr_file *near,
                          bool format, size_t *length);
/** Returns the recorder for the extension of a path: from the file of lr_table_near(), or else from all files. */
lr_find *lr_table_by_extension(rec_job *job, lr_table *table, const char *path, lr_direction direction);

static inline bool lr_find_records(const lr_find *find)
{
    return lr_kind_of_name(find->plugin.d.kind) == REC_PLUGIN_FORMAT;
}
/** Returns the descriptor, of a combined stack that of the combination. */
static inline const rec_plugin *lr_find_is(const lr_find *find)
{
    return find->use ? &find->use->d : &find->plugin.d;
}

/* ---------------------------------------------------------------------------- formats in codecs (stack.c) -- */

/** Puts a format and a codec together. @param named what a plugin of the kind STACK says of the pair; NULL: it is
 * called by the format's name and the codec's extension, "NamedMpk.zst". @param reason (out) LR_REASON bytes: why the
 * two cannot be put together, else "". @return of the arena; NULL with a reason, or the job has failed. */
const lr_plugin *lr_stack_make(rec_job *job, lr_arena *arena, const lr_plugin *named, const lr_plugin *format,
                               const lr_plugin *codec, char *reason);

/** A pair that was requested by name or by file; belongs to the registry. */
typedef struct lr_pair {
    struct lr_pair *next;
    const lr_plugin *plugin;
} lr_pair;

/** What a codec makes of a source, by the defaults of its options. @param out counted. */
int32_t lr_stack_decode(rec_job *job, const lr_plugin *codec, rec_source *stored, rec_source **out);

/* ------------------------------------------------------------------------------- rec_plugin_info (describe.c) -- */

/** Returns the basic information about a plugin. @param file is not copied. */
rec_plugin_info lr_info_of(const rec_plugin *d, const char *file);
/** Adds the details of a usable plugin. The arena holds the texts. */
void lr_info_details(rec_job *job, lr_arena *arena, rec_plugin_info *info, const rec_plugin *d);

#endif
