/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What the files of the atomic file sink share: the sink's struct, its target and its temporary file. */
#ifndef LR_SINK_FILE_PRIVATE_H
#define LR_SINK_FILE_PRIVATE_H

#include <limits.h>
#include <sys/stat.h>

#include "core/io/io_private.h"

typedef struct lr_file_sink lr_file_sink;
struct lr_file_sink {
    lr_fd_sink out;
    bool sync;
    bool straight; /**< a FIFO or a device: neither temporary file nor rename */
    bool replaces; /**< there is an old file, and `old` says what it is */
    bool linked;   /**< the temporary file is there and has to go */
    struct stat old;
    int folder;         /**< everything is done relative to it: it may be renamed meanwhile */
    struct stat where;  /**< of that folder */
    char *name;         /**< as the caller wrote it, or that with a name beside it */
    char *path;         /**< the target behind all links */
    const char *base;   /**< its last part */
    char *mark;         /**< of a renamed one: the first `base`, which its temporary files are known by; else NULL */
    lr_file_sink *lead; /**< of a part: the file whose folder and whose temporary file's lock it shares; else NULL */
    uint32_t part;      /**< its number, from 1 on */
    uint64_t reserved;  /**< bytes that the file was made long beforehand */
    char temporary[NAME_MAX + 1];
};

/** Fails as the system's errno says, in the name of the file. @param hint what to do, or NULL. */
int32_t lr_file_failed(lr_file_sink *self, const char *doing, const char *hint);
int32_t lr_file_is_folder(lr_file_sink *self);
int32_t lr_file_has_changed(lr_file_sink *self);

/** Finds the file behind `name`, opens its folder and looks at what is there: `path`, `base`, `folder`, `where`, `old`. */
int32_t lr_target_open(lr_file_sink *self);
/** The old file's owner and mode for the temporary one. */
int32_t lr_target_keep_attributes(lr_file_sink *self);

/** Removes temporary files that who wrote them left behind. */
void lr_temporary_sweep(const lr_file_sink *self);
/** Makes `temporary` in the folder. */
int32_t lr_temporary_create(lr_file_sink *self, int *fd);

#endif
