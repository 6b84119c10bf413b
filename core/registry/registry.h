/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The registry: finds plugins by name, by extension and by the first bytes of a file, describes them and their options,
 * and names files that no plugin recognises.
 * It never loads or saves a record, and contains no format.
 * The context owns the registry. Plugins and their descriptions are valid as long as the context. The caller owns the
 * options it sets; a job borrows them (job->options). */
#ifndef LR_REGISTRY_H
#define LR_REGISTRY_H

#include "core/base/base.h"

enum { LR_BURN_FIRST = 7 /**< the first 0.x of Burn with recorders, the earliest that a descriptor may name */ };

/** A usable plugin. `d` is a copy of full size; members that the plugin was built without are zero. */
typedef struct lr_plugin {
    rec_plugin d;
    const char *file; /**< absolute path, "built in" or "the program" */
    /** The parts of a combination of a format and a codec (stack.c), else NULL. */
    const struct lr_plugin *format, *codec;
} lr_plugin;

/** What a plugin must be able to do. */
typedef enum lr_direction { LR_CAN_ANY = 0, LR_CAN_LOAD = 1, LR_CAN_SAVE = 2 } lr_direction;

/* -------------------------------------------------------------------------------------- descriptors (describe.c) -- */

/** Returns the kind that names of this kind belong to: formats and stacks share a namespace. */
int32_t lr_kind_of_name(int32_t kind);
/** Returns whether the plugin has this name or alias. */
bool lr_plugin_has_name(const rec_plugin *plugin, const char *name);
bool lr_plugin_can(const rec_plugin *plugin, lr_direction direction);
/** @return whether some Burn has this format: its descriptor names a recorder of Burn or the versions that load it. */
bool lr_plugin_is_burns(const lr_plugin *plugin);
/** Returns the number of bits of its longest magic that is found in the file. 0: it has no magic, or one that matches
 * any file; -1: no magic is found. */
int32_t lr_plugin_magic(const rec_plugin *plugin, const rec_head *head);
/** Returns the length of its longest extension that `path` ends in, or 0. The dot before it must not be the first
 * character of the file name. */
size_t lr_plugin_extension(const rec_plugin *plugin, const char *path);

/* ------------------------------------------------------------------------------------------------ the registry -- */

/** Finds a recorder: a format, or a format in a codec. All look-ups list the plugin directories first if necessary.
 * Names compare without case and without `-`, `_`, `.`: `mpk-gz`, `mpk.gz` and `MpkGz` are equal. NULL: the job has
 * failed. The error of an unknown name (REC_E_NOT_FOUND) lists the known names; that of a rejected file has the reason.
 */
const lr_plugin *lr_registry_find(rec_job *job, const char *name);
/** Returns the plugin with the highest bid for the beginning of a file, of equals that with the extension of `path`.
 * Only plugins that read directories are asked about a directory. NULL: none, without a failure. */
const lr_plugin *lr_registry_recognise(rec_job *job, const rec_head *head, const char *path);
/** The least bid for a file that looks like another kind of file: one or two bytes may match by chance. */
enum { LR_SURE_BITS = 16 };
/** The most that a bid counts beyond the bits of the magic that was found. */
enum { LR_BITS_MORE = 32 };

/** The result of recognising a source. */
typedef struct lr_recognised {
    const lr_plugin *plugin; /**< NULL: unknown */
    rec_head head;           /**< of the source; valid until the source is read */
    const lr_plugin *codec;  /**< the codec that recognises it, or NULL */
    const char *inside;      /**< a sentence about decoded bytes that are not a record, or NULL */
    lr_error why;            /**< why it cannot be decoded, or REC_OK */
} lr_recognised;

/** As lr_registry_recognise() for a source, which is decoded if a codec recognises it, and rewound afterwards. */
int32_t lr_registry_recognise_source(rec_job *job, rec_source *source, const char *path, lr_recognised *found);
/** Returns the bid of a plugin, in bits. */
int32_t lr_registry_bid(const rec_plugin *plugin, const rec_head *head);

/** Reports that no recorder has this name. @param format the part before the codec, or "". */
void lr_registry_missing(rec_job *job, const char *name, const char *format);
/** Returns the next plugin of a kind. @param before NULL: the first. NULL: the end, or the job has failed. */
const lr_plugin *lr_registry_next(rec_job *job, int32_t kind, const lr_plugin *before);

/** Returns the plugin of librecord with this exact name, whatever plugins come first in search order. @param file the
 * name of its file without `.so`; one in the installed directory is preferred. NULL: none, or the job has failed. */
const lr_plugin *lr_registry_own(rec_job *job, const char *file, const char *name);
/** Returns the plugin if it can load or save as `direction` demands, else the next of its name that can. NULL: none, or
 * the job has failed. */
const lr_plugin *lr_registry_for(rec_job *job, const lr_plugin *plugin, lr_direction direction);
/** Fails if no recorder is usable, with the reason. */
int32_t lr_registry_fail_empty(rec_job *job);
/** Adds hints about rejected files and empty directories to a failure. */
void lr_registry_refused_hint(rec_job *job);

/** Writes the names of the plugins that read directories. Returns whether there are any. */
bool lr_registry_folder_names(rec_job *job, char *names, size_t room);
/** Returns the recorder for the extension of a path, or the combination of a format and a codec with a longer one.
 * NULL: none, without a failure. */
const lr_plugin *lr_registry_by_extension(rec_job *job, const char *path, lr_direction direction);
/** Reports that no recorder has the extension of the path. */
int32_t lr_registry_fail_extension(rec_job *job);

/** Returns the information about a plugin. */
const rec_plugin_info *lr_registry_info_of(rec_job *job, const lr_plugin *plugin);

/* --------------------------------------------------------------------------------- what a path says (source.c) -- */

/** Returns the length of the scheme of a path ("https" of https://host/name), or 0 for a file. */
size_t lr_path_scheme(const char *path);
/** As lr_source_open(); a path with a scheme is opened by the source plugin for it. */
rec_source *lr_registry_open(rec_job *job, const char *path, bool map);

/* ------------------------------------------------------------------------------------------ options (option.c) -- */

/** An option with its value. */
struct lr_option_set {
    struct lr_option_set *next;
    const char *value;
    char name[];
};

/** Returns whether an option allows a value. @param why (out) the allowed values. */
bool lr_option_check(const rec_option *option, const char *value, char *why, size_t room);
/** Returns an option of a plugin, or NULL. */
const rec_option *lr_option_find(const rec_plugin *plugin, const char *name);

/* --------------------------------------------------------------------- files that are no records (signature.c) -- */

/** Returns a sentence that names the kind of file, by its first bytes, or NULL. */
const char *lr_foreign_words(const rec_head *head);
/** Adds a hint to a failure to recognise a file: the kind of file, or what to do. */
void lr_foreign_hint(rec_job *job, const rec_head *head);

#endif
