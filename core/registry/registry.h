/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The plugins a context can use: found in folders, opened with libltdl, checked, kept for good. */
#ifndef LR_REGISTRY_H
#define LR_REGISTRY_H

#include "core/config/context.h"

/** One usable plugin. `d` is a copy of full size: members its file does not know are zero. */
typedef struct lr_plugin {
    rec_plugin d;
    const char *file; /**< absolute path, or "built in" */
} lr_plugin;

lr_registry *lr_registry_new(rec_context *context);
void lr_registry_free(lr_registry *registry);

/** Adds a folder in front of the others; the next look-up reads it. Copied. */
int32_t lr_registry_add_folder(rec_job *job, const char *folder);

/** All of these open the folders first if that was not done. Names compare without case and without `-`, `_`, `.`,
 *  so that `mpk-gz`, `mpk.gz` and `MpkGz` are one. NULL: the job has failed (unknown: REC_E_NOT_FOUND with the names
 *  that exist and near misses; a refused file of that name: why it was refused). */
const lr_plugin *lr_registry_find(rec_job *job, const char *name);
/** As above but NULL without a failure if there is none. */
const lr_plugin *lr_registry_look(rec_job *job, const char *name);
/** The plugin that is surest of a head (ties: the one whose extension `path` has); NULL without failure if none. The
 *  head of a folder is shown to those that read folders only. */
const lr_plugin *lr_registry_recognise(rec_job *job, const rec_head *head, const char *path);
/** Writes the names of the plugins that read folders, "SafeTensors, Other". @return whether there are any. */
bool lr_registry_folder_names(rec_job *job, char *names, size_t room);
/** The plugin with the longest extension that `path` ends in; NULL without failure if none. */
const lr_plugin *lr_registry_by_extension(rec_job *job, const char *path);

/** For rec_plugin_count and rec_plugin_get; indices are stable until the next lr_registry_add_folder. */
uint64_t lr_registry_count(rec_job *job);
const rec_plugin_info *lr_registry_info(rec_job *job, uint64_t index);

#endif
