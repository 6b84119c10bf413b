/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Plugin files: finding them, opening them, and checking what they bring. */
#ifndef LR_REGISTRY_OPEN_PRIVATE_H
#define LR_REGISTRY_OPEN_PRIVATE_H

#include <sys/stat.h>
#include <sys/types.h>

#include "core/base/base.h"
#include "os/trust.h"

/** A file of a folder, or a folder that is not opened. */
typedef struct lr_listed {
    const char *path;    /**< absolute */
    const char *name;    /**< the file's own; NULL of a folder */
    bool installed;      /**< in the folder that librecord was installed with */
    const char *refused; /**< why it is not to be opened, or NULL */
} lr_listed;

/** @param listed valid during the call. @return other than REC_OK: the job has failed. */
typedef int32_t (*lr_listed_fn)(void *user, rec_job *job, const lr_listed *listed);

/** A folder that was looked into, so that none is read twice. */
typedef struct lr_seen {
    dev_t device;
    ino_t inode;
} lr_seen;

/** Receives the files found. */
typedef struct lr_opener {
    lr_listed_fn file;
    void *user;
    lr_arena *arena; /**< for what lives as long as they count */
    lr_seen *seen;
    uint64_t seen_count, seen_room;
} lr_opener;

/** Tells the files of a folder, in the order of their names, and opens none. @param installed the one that librecord
 * was installed with, which need not be there, and is trusted as librecord is. */
int32_t lr_list_folder(rec_job *job, lr_opener *opener, const char *folder, bool installed);

/* ------------------------------------------------------------------------------------------ libltdl (module.c) -- */

/** @return whether it is for want of memory: no refusal that may last. */
bool lr_reason_is_memory(const char *reason);
/** Opens a plugin's file, once per process. @param state its current state. @return its exports, which stay valid until
 * the process ends; NULL with the reason. */
const rec_plugin *const *lr_module_open(const char *path, const struct stat *state, char *reason);
/** One plugin that is linked in. @return other than REC_OK: the job has failed. */
typedef int32_t (*lr_builtin_fn)(void *user, rec_job *job, const rec_plugin *const *plugins);
/** Tells the plugins that are linked into a static librecord; a shared one has none. */
int32_t lr_modules_builtin(rec_job *job, lr_builtin_fn found, void *user);
/** @return whether this librecord is a static one, which opens no files. */
bool lr_static_build(void);

/* --------------------------------------------------------------------------------------- descriptors (check.c) -- */

/** Checks a descriptor. @param copy (out) all of it, with members that it does not have zero. @return false with a
 *  reason. Name and description of `copy` are valid or NULL then. */
bool lr_plugin_check(const rec_plugin *plugin, rec_plugin *copy, char *reason);
/** Lets a plugin prepare itself. @param reason (out) LR_REASON bytes. @return false: it must not be used. */
bool lr_plugin_init(rec_context *context, const rec_plugin *plugin, char *reason);

#endif
