/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Access rights of a file that replaces another: its owner, group, mode and access control list (ACL), and the extended
 * attributes that users set. A new file grants nobody more than the old one did; the caller reports what was lost. */
#ifndef LR_OS_ACCESS_H
#define LR_OS_ACCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

/** Why a new file does not have the old one's list. */
typedef enum lr_access_loss {
    LR_ACCESS_KEPT,    /**< it has, or there was none */
    LR_ACCESS_LOST,    /**< the list cannot be read, or the file system does not take it: `error` */
    LR_ACCESS_DIFFERS, /**< the lists of the old files differ */
    LR_ACCESS_GROUP,   /**< the new file has another group, which the list would give the old group's rights */
    LR_ACCESS_DEFAULT  /**< the list that its directory gave the new file cannot be removed: `error` */
} lr_access_loss;

/** What the list of a file allows. */
typedef struct lr_access {
    void *list;   /**< of an old file: as the system stores it; NULL: none */
    size_t size;  /**< of the list */
    bool listed;  /**< of a new file: it has the list */
    mode_t plain; /**< the mode that grants nobody more than the list, for a file without it */
    lr_access_loss loss;
    int error; /**< the errno of the loss; 0: none */
} lr_access;

/** The extended attributes that could not be copied. */
typedef struct lr_attribute_loss {
    uint64_t count; /**< with an error and 0: all, since they cannot be listed */
    int error;      /**< 0: nothing was lost */
    char name[256]; /**< the first one */
} lr_attribute_loss;

/* Functions return 0 or an errno. */

/** Reads what the list of a file allows. A list that cannot be read leaves rights to the owner only, which is no
 * failure. @param state of that file. @param access (out) to be given to lr_access_free(), also after a failure. */
int lr_access_read(int folder, const char *name, const struct stat *state, lr_access *access);
void lr_access_free(lr_access *access);
/** Reduces `access` to what both allow. Frees `more`. */
void lr_access_join(lr_access *access, lr_access *more);

/** Gives a new file, which its owner alone may use, the list of `old`. The file stays private until
 * lr_access_settle(). @param access (out) what the new file has; it owns nothing. */
int lr_access_give(int fd, const lr_access *old, lr_access *access);
/** The same with the list, and if `attributes` is not NULL the attributes, of a file that another program may replace
 * meanwhile. @param state (in, out) of the file; then of the one whose rights were taken. */
int lr_access_copy(int folder, const char *name, int fd, struct stat *state, lr_access *access,
                   lr_attribute_loss *attributes);
/** Gives the new file owner, group and mode of the old one. Without permission to change the owner, the caller remains
 * it. The group gains no rights of the old group, nor do members of the old group gain those of others. Set-ID bits
 * vouch for the old bytes and are cleared, as the system clears them on writes. @param is,was state of the new and the
 * old file. @param access of lr_access_give() or lr_access_copy(); says then what was lost. @param mode (out) the mode
 * that it has now. */
int lr_access_settle(int fd, const struct stat *is, const struct stat *was, lr_access *access, mode_t *mode);

#endif
