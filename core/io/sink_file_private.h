/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What the files of the atomic file sink share: the sink's struct, its target and its temporary file. */
#ifndef LR_SINK_FILE_PRIVATE_H
#define LR_SINK_FILE_PRIVATE_H

#include <limits.h>
#include <sys/stat.h>

#include "core/io/io_private.h"

/** The letters that a temporary file is known by. */
enum { LR_LETTERS = 6 };

/** What a file's access control list (ACL) allows. */
typedef struct lr_access {
    uint8_t *acl; /**< as the system stores it, NULL: none */
    size_t size;
    mode_t plain;   /**< the mode that grants nobody more, for a file without the list */
    char lost[192]; /**< why the list cannot be kept, for a note; "": it can */
} lr_access;

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
    bool listed;   /**< the temporary file has the old one's access control list */
    struct stat old;
    lr_access access;   /**< of the old file; without its list */
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
    char letters[LR_LETTERS + 1];
    char temporary[NAME_MAX + 1];
    char parked[NAME_MAX + 1]; /**< where the old index is while an empty one is in its place; "": it is not */
};

/** What its temporary files are known by: a file that is renamed by its plugin keeps to the name that the caller will
 * use again. */
static inline const char *lr_file_mark(const lr_file_sink *self)
{
    return self->mark ? self->mark : self->base;
}

/** Fails as the system's errno says, in the name of the file. @param hint what to do, or NULL. */
int32_t lr_file_failed(lr_file_sink *self, const char *doing, const char *hint);
int32_t lr_file_is_folder(lr_file_sink *self);
int32_t lr_file_has_changed(lr_file_sink *self);

/** Finds the file behind `name`, opens its folder, looks at what is there: `path`, `base`, `folder`, `where`, `old`. */
int32_t lr_target_open(lr_file_sink *self);
/** The old file's owner and mode for the temporary one. */
int32_t lr_target_keep_attributes(lr_file_sink *self);

/* Access control lists: sink_access.c. */

/** Reads what a file's list allows. @param info of that file. @param access (out) to be given to lr_access_free().
 *  @return other than REC_OK: out of memory. */
int32_t lr_access_read(rec_job *job, int folder, const char *name, const struct stat *info, lr_access *access);
void lr_access_free(rec_job *job, lr_access *access);
/** Reduces `access` to what both allow. Frees `more`. */
void lr_access_join(rec_job *job, lr_access *access, lr_access *more);
/** Gives the temporary file `fd`, whose mode is 0600, the list and the attributes of the old file, or the list of the
 * old files of a set. It stays private until lr_target_keep_attributes(). */
int32_t lr_access_keep(lr_file_sink *self, int fd, const lr_access *of_set);
/** Takes the list away again. */
void lr_access_drop(lr_file_sink *self, int fd);

/* Names and the disk: sink_rename.c. */

int lr_file_sync(int fd);
/** Of renameat2(); the C library's headers need not have them. */
enum { LR_RENAME_NOREPLACE = 1, LR_RENAME_EXCHANGE = 2 };
int lr_rename_with(int folder, const char *from, const char *to, unsigned flags);
/** Whether it failed because the system or the file system has no such rename. */
bool lr_rename_cannot(int error);
/** Renames, but never over another file. @return as renameat(); EEXIST: there is one. */
int lr_rename_new(int folder, const char *from, const char *to);

/** The names in an open folder, whose offset is not moved, until `on` says false. @return false: it has no list. */
bool lr_folder_names(int folder, bool (*on)(void *user, const char *name), void *user);
/** Removes temporary files that dead writers left. */
void lr_temporary_sweep(lr_file_sink *self);
/** Makes `temporary` in the folder. */
int32_t lr_temporary_create(lr_file_sink *self, int *fd);
/** Whether no other save of the same target is under way, or may be. */
bool lr_temporary_is_alone(const lr_file_sink *self);
/** Calls `sweep` with those of sets that were left behind, and their letters; they are locked meanwhile. */
void lr_temporary_sweep_sets(const lr_file_sink *self,
                             void (*sweep)(void *user, const char *letters, const char *temporary), void *user);
/** Gives it the name of a set's. */
int32_t lr_temporary_becomes_set(lr_file_sink *self);
/** The name of the temporary file of part `part` of a lead. */
void lr_temporary_part_name(const lr_file_sink *lead, unsigned part, char name[NAME_MAX + 1]);
/** Whether these are LR_LETTERS characters that letters are made of. */
bool lr_are_letters(const char *text);

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
