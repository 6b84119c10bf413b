/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Plugin files: which folders and files are safe to open, opening them, and checking what they bring. */
#ifndef LR_REGISTRY_OPEN_PRIVATE_H
#define LR_REGISTRY_OPEN_PRIVATE_H

#include <sys/types.h>

#include "core/base/base.h"

/** Room for the reason of a refusal. */
enum { LR_REASON = 512 };

/** One find. @param file absolute path or "built in", valid during the call. @param plugins what it exports, or NULL:
 *  @param refused says why. @return other than REC_OK: the job has failed, nothing further is opened. */
typedef int32_t (*lr_found_fn)(void *user, rec_job *job, const char *file, const rec_plugin *const *plugins,
                               const char *refused);

/** A folder that was looked into, so that none is read twice. */
typedef struct lr_seen {
    dev_t device;
    ino_t inode;
} lr_seen;

/** Where finds go. */
typedef struct lr_opener {
    lr_found_fn found;
    void *user;
    lr_arena *arena; /**< for what lives as long as the finds */
    lr_seen *seen;
    uint64_t seen_count, seen_room;
} lr_opener;

/** Opens every plugin of a folder, in the order of their names. @param required whether its absence is worth a line. */
int32_t lr_open_folder(rec_job *job, lr_opener *opener, const char *folder, bool required);
/** Opens the plugins that are linked into a static librecord; a shared one has none. */
int32_t lr_open_builtin(rec_job *job, lr_opener *opener);
/** @return whether this librecord is a static one, which opens no files. */
bool lr_static_build(void);

/** Checks a descriptor. @param copy (out) all of it, with members that it does not have zero. @return false with a
 *  reason. Name and description of `copy` are valid or NULL then. */
bool lr_plugin_check(const rec_plugin *plugin, rec_plugin *copy, char *reason);

#endif
