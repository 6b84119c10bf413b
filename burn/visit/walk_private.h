/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What the files of the walk share. */
#ifndef LR_WALK_PRIVATE_H
#define LR_WALK_PRIVATE_H

#include "burn/visit/visit.h"

/** Notes of one kind, combined in one line (walk_told.c). */
typedef struct lr_told {
    int32_t kind;   /**< REC_NOTE_… */
    uint64_t count; /**< values or elements */
    uint64_t places;
    size_t used;    /**< of `named` */
    char path[256]; /**< of the first */
    char sentence[256];
    char value[192]; /**< of the first */
    char named[512]; /**< the paths and values of the next few */
} lr_told;

enum { LR_TOLD_MOST = 16 };

/** A list or map that is open, for a writer that keeps only what holds something. */
typedef struct lr_held {
    bool list;
    uint64_t keys, numbers;      /**< of a map: that were walked, and those that are places of a list */
    uint64_t count, next, index; /**< elements; one after the last that holds something; the one that is being walked */
} lr_held;

struct lr_walk {
    rec_job *job;
    const rec_record *record;
    rec_precision precision; /**< not DEFAULT */
    bool clamp;
    bool keep; /**< the layout the record came with, else that of job->burn.minor */
    bool ids;  /**< ids become those of that version */
    /** Any value as its layout says: lr_walk_typed(), for modules within a record without a type. */
    int32_t (*typed)(lr_walk *walk, const rec_value *value, const rec_layout *layout);
    bool optimizer; /**< the record is an optimizer's state */
    bool flat;      /**< the writer has all under paths (REC_TRAIT_PATHS) */
    bool paths;     /**< the record is a foreign model in its own layout, nothing but tensors under dotted paths */
    uint64_t tensor_count; /**< of such a record */
    /** Puts somebody between the walk and a writer; NULL: there is nobody. */
    void (*overhear)(void *listener, rec_visitor *visitor, void **self);
    void *listener;
    uint64_t walks; /**< that were begun, of one call of `save` */
    bool again;     /**< a repeated walk: its notes were made before */
    bool walking;
    /* While a walk is on: */
    rec_visitor visitor; /**< the writer's, of full size: what it lacks is NULL */
    void *self;
    bool tensors;
    bool aside; /**< a value of the metadata: nothing in it is of Burn */
    bool types; /**< the types of the metadata are an entry (LR_METADATA_TYPES) */
    unsigned depth;
    lr_held *held; /**< for each level, NULL: the writer keeps all */
    size_t used;   /**< of the path */
    bool named;    /**< it has a name, which may be empty */
    char *path;    /**< `near`, or longer memory */
    uint64_t path_room;
    char near[1024];
    size_t told_count;
    lr_told told[LR_TOLD_MOST];
};

/** @return whether the format has no names: everything is identified by position. */
static inline bool lr_walk_nameless(const lr_walk *walk)
{
    return walk->job->plugin && walk->job->plugin->traits & (REC_TRAIT_NO_NAMES | REC_TRAIT_NEEDS_TYPE);
}

/* walk_emit.c: events, or what a writer that lacks one gets instead. All return a status. */

int32_t lr_walk_scalar(lr_walk *walk, const rec_scalar *scalar);
int32_t lr_walk_text(lr_walk *walk, const char *text, uint64_t length);
int32_t lr_walk_key(lr_walk *walk, const char *name);
int32_t lr_walk_list(lr_walk *walk, int32_t form, uint64_t count);
int32_t lr_walk_map(lr_walk *walk, int32_t form, uint64_t count);
int32_t lr_walk_end(lr_walk *walk);
int32_t lr_walk_option(lr_walk *walk, bool present);
int32_t lr_walk_variant(lr_walk *walk, uint64_t index, const char *name, uint64_t length, bool payload);
/** @param payload as of lr_walk_variant(). */
int32_t lr_walk_variant_end(lr_walk *walk, bool payload);
int32_t lr_walk_bytes(lr_walk *walk, const rec_blob *blob);
int32_t lr_walk_numbers(lr_walk *walk, rec_dtype dtype, const void *data, uint64_t count);
/** A value or tensor is walked: every list that is open holds something. */
void lr_walk_hold(lr_walk *walk);
/** Appends a part to the path; @return what to give to lr_walk_leave. */
size_t lr_walk_enter_index(lr_walk *walk, uint64_t index);
size_t lr_walk_enter_key(lr_walk *walk, const rec_value *key);
/** The same for the first part, which is a path already. */
size_t lr_walk_enter_path(lr_walk *walk, const char *path, uint64_t length);
void lr_walk_leave(lr_walk *walk, size_t before);
/** The path where a walk is: for lr_job.where. */
uint64_t lr_walk_where(void *user, char *path, size_t room);

/* walk_paths.c: a record taken apart to paths */

typedef struct lr_paths lr_paths;
/** Puts itself between the walk and the writer, and begins the flat map. @param paths (out) to be ended; NULL: the job
 * has failed. */
int32_t lr_walk_paths_begin(lr_walk *walk, lr_paths **paths);
/** Ends the map, after a failure only frees. NULL is ignored. @param status of the walk. @return it. */
int32_t lr_walk_paths_end(lr_walk *walk, lr_paths *paths, int32_t status);

/* walk_told.c: what is lost or made on the way. */

/** Tells, when the walk is done, of something at the walk's path. @param kind REC_NOTE_… @param count values or
 * elements.
 *  @param value what it is there, NULL: nothing to add. @param format one sentence, the same for all of a kind. */
void lr_walk_tell(lr_walk *walk, int32_t kind, uint64_t count, const char *value, const char *format, ...)
    REC_PRINTF(5, 6);
/** Makes the notes. */
void lr_walk_tell_all(lr_walk *walk);
/** "0.001", "a tensor [2, 3] of f32". @return text. */
const char *lr_walk_value_words(const rec_value *value, char *text, size_t room);

/* walk_value.c */

/** Any value without a type. */
int32_t lr_walk_value(lr_walk *walk, const rec_value *value);
/** A tensor in the layout that is written. */
int32_t lr_walk_tensor(lr_walk *walk, const rec_tensor *tensor);

/** Converts an id for the version to write, and notes a loss. @param buffer LR_ID_ROOM bytes. @return id or buffer. */
const char *lr_walk_id(lr_walk *walk, const char *id, char *buffer);
/** Fails if two keys of a map would become the same id. */
int32_t lr_walk_check_ids(lr_walk *walk, const lr_map *map);

/* walk.c */

/** A walk of core's own: rec_job_walk() without the rules for plugins. */
int32_t lr_walk_all(rec_job *job, const rec_visitor *visitor, void *self);
/** What a function of the plugin returned, where its report counts for more. @return the job's status. */
int32_t lr_plugin_returned(rec_job *job, int32_t status);

/** Any value as its layout says (walk_typed.c). */
int32_t lr_walk_typed(lr_walk *walk, const rec_value *value, const rec_layout *layout);

#endif
