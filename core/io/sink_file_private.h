/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What the files of the atomic file sink share: the sink's struct, its target and its temporary file. */
#ifndef LR_SINK_FILE_PRIVATE_H
#define LR_SINK_FILE_PRIVATE_H

#include "core/io/io_private.h"
#include "os/access.h"
#include "os/file.h"
#include "os/temporary.h"

typedef struct lr_file_sink lr_file_sink;
typedef struct lr_set lr_set; /* sink_set.c */
struct lr_file_sink {
    lr_fd_sink out;
    bool sync;
    bool straight; /**< a FIFO or a device: neither temporary file nor rename */
    bool replaces; /**< there is an old file, and `old` says what it is */
    bool linked;   /**< the temporary file is there and has to go… */
    bool keeps;    /**< …except the file kept for a resumed save */
    bool placed;   /**< it has its name; of a part of a set: and loses it again if the index does not get there */
    bool mixed;    /**< of a main file: companion files have replaced older ones */
    struct stat old;
    lr_access access;   /**< what the temporary file has of the old one's */
    int folder;         /**< everything is done relative to it: it may be renamed meanwhile */
    struct stat where;  /**< of that folder */
    char *name;         /**< from the caller, or next to the caller's file */
    char *path;         /**< the target behind all links */
    const char *base;   /**< its last part */
    char *mark;         /**< of a renamed one: the first `base`, which its temporary files are known by; else NULL */
    lr_file_sink *lead; /**< of a part: the file whose folder and whose temporary file's lock it shares; else NULL */
    uint32_t part;      /**< its number, from 1 on */
    uint64_t reserved;  /**< bytes that the file was made long beforehand */
    lr_set *set;        /**< of a first one: what the files that its index names are called; else NULL */
    lr_temporary made;  /**< its temporary file */
    char parked[NAME_MAX + 1]; /**< where the old index is while an empty one is in its place; "": it is not */
};

/** What its temporary files are known by: a file that is renamed by its plugin keeps to the name that the caller will
 * use again. */
static inline const char *lr_target_mark(const lr_file_sink *self)
{
    return self->mark ? self->mark : self->base;
}

/** Fails as an errno says, in the name of the file. @param hint what to do, or NULL. */
int32_t lr_target_failed(lr_file_sink *self, int error, const char *doing, const char *hint);
int32_t lr_target_is_folder(lr_file_sink *self);
int32_t lr_target_has_changed(lr_file_sink *self);

/** Finds the file behind `name`, opens its folder, looks at what is there: `path`, `base`, `folder`, `where`, `old`. */
int32_t lr_target_open(lr_file_sink *self);
/** Gives the temporary file, which nobody else may use yet, the access control list and the attributes of the old file,
 * or the list of the old files of a set. */
int32_t lr_target_keep_access(lr_file_sink *self, int fd, const lr_access *of_set);
/** Gives it the old file's owner and mode. */
int32_t lr_target_keep_attributes(lr_file_sink *self);

/** Makes the temporary file, or opens the one that an earlier save left. */
int32_t lr_target_begin(lr_file_sink *self, int *fd);
/** Removes temporary files that dead writers of this target left. */
void lr_target_sweep(const lr_file_sink *self);

/* Sets: sink_set.c. */

/** lr_sink_ops.letters. */
int32_t lr_set_letters(rec_sink *first, const char *index, const char *stem, const char *tail, bool writes,
                       const char **letters);
/** Those of its files' names; "": none. */
const char *lr_set_own_letters(const lr_file_sink *first);
/** Whose the files of a set are to be, and their mode; NULL: as new ones. */
const struct stat *lr_set_like(const lr_file_sink *first);
/** What the access control lists of all old files allow; valid where lr_set_like() is. */
const lr_access *lr_set_access(const lr_file_sink *first);
/** Gives a part its final name, which must be free… */
int32_t lr_set_place_part(lr_file_sink *part);
/** …and takes it away again unless the index is in place. */
void lr_set_take_back(lr_file_sink *part);
/** Puts the index in the place of an old one… */
int32_t lr_set_place_index(lr_file_sink *first);
/** …whose files go when that outlasts a crash. */
void lr_set_remove_old(lr_file_sink *first);
void lr_set_free(lr_file_sink *first);
/** Before files get the names of others that an index names: takes that away, and… */
void lr_set_park(lr_file_sink *first);
/** …puts it back if none was touched. */
void lr_set_unpark(lr_file_sink *first);

#endif
