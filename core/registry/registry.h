/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The registry: which plugins a context can use, which one is meant by a name, an extension or a file's first bytes,
 * what options a plugin has, and what files are that no plugin knows.
 * It never loads or saves a record, and knows no format by itself.
 * The context owns the registry and all it gives out: plugins and their descriptions are valid as long as the context.
 * Options that were set belong to who set them; a job borrows them (job->options). */
#ifndef LR_REGISTRY_H
#define LR_REGISTRY_H

#include "core/base/base.h"

enum { LR_BURN_FIRST = 7 /**< the first 0.x of Burn with recorders: no descriptor names an earlier one */ };

/** One usable plugin. `d` is a copy of full size: members its file does not know are zero. */
typedef struct lr_plugin {
    rec_plugin d;
    const char *file; /**< absolute path, "built in" or "the program" */
    /** Of a format in a codec, which is put together (stack.c): both. NULL of all else. */
    const struct lr_plugin *format, *codec;
} lr_plugin;

/** What a plugin is wanted for. */
typedef enum lr_direction { LR_CAN_ANY = 0, LR_CAN_LOAD = 1, LR_CAN_SAVE = 2 } lr_direction;

/* --------------------------------------------------------------------------------------- descriptors (describe.c) --
 */

/** The kind under which it has its names: formats and stacks are recorders, and have theirs together. */
int32_t lr_kind_of_name(int32_t kind);
/** @return whether the plugin has that name or alias. */
bool lr_plugin_has_name(const rec_plugin *plugin, const char *name);
bool lr_plugin_can(const rec_plugin *plugin, lr_direction direction);
/** @return whether some Burn has this format: its descriptor names a recorder of Burn or the versions that load it. */
bool lr_plugin_is_burns(const lr_plugin *plugin);
/** @return the bits of the longest of its magic bytes that stand in a file; 0: it has none, or stands on none that can
 * be seen; -1: the file is none of its own. */
int32_t lr_plugin_magic(const rec_plugin *plugin, const rec_head *head);
/** @return the length of the longest of its extensions that the name of `path` ends in, after a dot that is not the
 *  first of the name; 0: none. */
size_t lr_plugin_extension(const rec_plugin *plugin, const char *path);

/* ------------------------------------------------------------------------------------------------ the registry -- */

/** Adds a folder in front of the others; the next look-up reads it. Copied. */
int32_t lr_registry_add_folder(rec_job *job, const char *folder);

/** Adds a plugin of the program's own in front of all others. Borrowed for as long as the context lives. */
int32_t lr_registry_add_plugin(rec_job *job, const rec_plugin *plugin);

/** All of these open the folders first if that was not done, and give recorders: formats, alone or in a codec. Names
 *  compare without case and without `-`, `_`, `.`, so that `mpk-gz`, `mpk.gz` and `MpkGz` are one. NULL: the job has
 *  failed (unknown: REC_E_NOT_FOUND with the names that exist and near misses; a refused file of that name: why it was
 *  refused). */
const lr_plugin *lr_registry_find(rec_job *job, const char *name);
/** As above but NULL without a failure if there is none. */
const lr_plugin *lr_registry_look(rec_job *job, const char *name);
/** The plugin that is surest of a head (ties: the one whose extension `path` has); NULL without failure if none. The
 *  head of a folder is shown to those that read folders only. */
const lr_plugin *lr_registry_recognise(rec_job *job, const rec_head *head, const char *path);
/** Of a file that looks like something else a plugin must be so sure: a byte or two may agree by chance. */
enum { LR_SURE_BITS = 16 };
/** What a plugin may be surer than the bits of the magic that core saw itself. */
enum { LR_BITS_MORE = 32 };

/** How a source was recognised. */
typedef struct lr_recognised {
    const lr_plugin *plugin; /**< NULL: nobody knows it */
    rec_head head;           /**< of the source; valid as long as that is not read */
    const lr_plugin *codec;  /**< whose file it is by its first bytes, or NULL… */
    const char *inside;      /**< …and what it holds that is no record, a sentence, or NULL */
    lr_error why;            /**< …and why its first bytes could not be had, or REC_OK */
} lr_recognised;

/** As lr_registry_recognise() for a source, whose beginning is decoded if it is a codec's. The source is at its first
 * byte afterwards. */
int32_t lr_registry_recognise_source(rec_job *job, rec_source *source, const char *path, lr_recognised *found);
/** How sure a plugin is of a head, in bits. */
int32_t lr_registry_bid(const rec_plugin *plugin, const rec_head *head);

/** A recorder (REC_PLUGIN_FORMAT, which stands for stacks as well) or a plugin of another kind that was found in a
 * file: kinds have names of their own. NULL: none of that name, or the job has failed. */
const lr_plugin *lr_registry_raw(rec_job *job, int32_t kind, const char *name);
/** Fails because no recorder is called so. @param format what stands before a codec in it, or "". */
void lr_registry_missing(rec_job *job, const char *name, const char *format);
/** The next of a kind. @param before NULL: the first. @return NULL: no more, or the job has failed. */
const lr_plugin *lr_registry_next(rec_job *job, int32_t kind, const lr_plugin *before);

/** Returns the plugin of librecord with this exact name, whatever plugins come first in search order. @param file the
 * name of its file without `.so`; the file in the installed directory is preferred. NULL: none, or the job has failed.
 */
const lr_plugin *lr_registry_own(rec_job *job, const char *file, const char *name);
/** The plugin itself if it can do that, else the next of its name that can. NULL: there is none, or the job has failed.
 */
const lr_plugin *lr_registry_for(rec_job *job, const lr_plugin *plugin, lr_direction direction);
/** Fails where there is no recorder at all, and says why. */
int32_t lr_registry_fail_empty(rec_job *job);
/** Adds to a failure what was refused, and where nothing was found: a format may be missing for that. */
void lr_registry_refused_hint(rec_job *job);

/** Writes the names of the plugins that read folders, "SafeTensors, Other". @return whether there are any. */
bool lr_registry_folder_names(rec_job *job, char *names, size_t room);
/** The plugin with the longest extension that `path` ends in, the first that can what is wanted (or the first where
 * none can), or the format in a codec that both end it; NULL without failure if none. */
const lr_plugin *lr_registry_by_extension(rec_job *job, const char *path, lr_direction direction);
/** Fails because there is none, and says what to do. */
int32_t lr_registry_fail_extension(rec_job *job);

/** For rec_plugin_count and rec_plugin_get; indices are stable until the next lr_registry_add_folder. */
uint64_t lr_registry_count(rec_job *job);
const rec_plugin_info *lr_registry_info(rec_job *job, uint64_t index);
/** What rec_plugin_info says of a plugin that was found. */
const rec_plugin_info *lr_registry_info_of(rec_job *job, const lr_plugin *plugin);

/* --------------------------------------------------------------------------------- what a path says (source.c) -- */

/** @return the length of the scheme that a path begins with, "https" of https://host/name; 0: it is a file's. */
size_t lr_path_scheme(const char *path);
/** As lr_source_open(); a path with a scheme is opened by the plugin of that. */
rec_source *lr_registry_open(rec_job *job, const char *path, bool map);

/* ------------------------------------------------------------------------------------------ options (option.c) -- */

/** A plugin's option that was set. */
struct lr_option_set {
    struct lr_option_set *next;
    const char *value;
    char name[];
};

/** Checks a value against an option of a plugin. @param why (out) what is allowed. @return whether the value is. */
bool lr_option_check(const rec_option *option, const char *value, char *why, size_t room);
/** NULL if the plugin has none of that name. */
const rec_option *lr_option_find(const rec_plugin *plugin, const char *name);

/* --------------------------------------------------------------------- files that are no records (signature.c) -- */

/** @return what the file is by its first bytes, a sentence; NULL if it is nothing that is known here. */
const char *lr_foreign_words(const rec_head *head);
/** Says on a job that has failed to recognise a file what the file is, or else what to do. */
void lr_foreign_hint(rec_job *job, const rec_head *head);

#endif
