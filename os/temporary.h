/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Temporary files next to the file that they will replace: names, locks, and removal after a killed process.
 *
 * `.NAME.LETTERS.librecord-tmp` is locked while it is written. A save that finds another one of the same target tries
 * its lock; if that succeeds the writer is dead, and the file is removed. Parts of a model,
 * `.NAME.LETTERS-00001.librecord-tmp`, have no lock, which would need a descriptor each until the end: they are stale
 * when the file with their letters is missing or not locked. That file is made before them and renamed after them.
 * `.NAME.LETTERS.librecord-set` needs more than removal, and `.NAME.librecord-resume` is kept for a save that resumes.
 * Where a function has a `base`, it is the NAME: a long one is truncated to what file systems allow. */
#ifndef LR_OS_TEMPORARY_H
#define LR_OS_TEMPORARY_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

/** The letters that a temporary file is known by. */
enum { LR_LETTERS = 6 };
/** Names have NAME_MAX + 1 bytes. Functions that return `int` return 0 or an errno. */
typedef struct lr_temporary {
    char letters[LR_LETTERS + 1]; /**< "": of a part, or of a file that is kept */
    char name[NAME_MAX + 1];
} lr_temporary;

/** Makes a new file with a new name, and locks it until its descriptor is closed. @param fd (out) for writing. */
int lr_temporary_create(int folder, const char *base, mode_t mode, lr_temporary *made, int *fd);
/** Makes a part of it. @param part its number, up to 99,999. */
int lr_temporary_create_part(int folder, const lr_temporary *of, unsigned part, mode_t mode, lr_temporary *made,
                             int *fd);
/** Opens the file that an earlier save left, or makes it; its lock comes later, after it was checked. @param fd (out)
 * for reading and writing. */
int lr_temporary_create_kept(int folder, const char *base, mode_t mode, lr_temporary *made, int *fd);
/** Locks an open file. Between its making and its locking a sweep may have removed it. @return whether it is locked and
 * there; always true where the file system has no locks, for then there are no sweeps. */
bool lr_temporary_lock(int folder, const char *name, int fd);
/** The name of part `part` of a temporary file. */
void lr_temporary_part_name(const lr_temporary *of, unsigned part, char name[NAME_MAX + 1]);
/** Renames it: a set's, whose removal is the caller's. */
int lr_temporary_becomes_set(int folder, lr_temporary *made);

/** Removes files that dead writers left, except sets. Those that cannot be removed stay. @param kept also the one that
 * was kept to be resumed. */
void lr_temporary_sweep(int folder, const char *base, bool kept);
/** Calls `sweep` with each set that a dead writer left, and its letters. It is locked meanwhile. */
void lr_temporary_sweep_sets(int folder, const char *base,
                             void (*sweep)(void *user, const char *letters, const char *temporary), void *user);
/** @return whether there is no other temporary file of the same target, as far as the directory can be listed. */
bool lr_temporary_is_alone(int folder, const char *base, const lr_temporary *made);
/** @return whether these are LR_LETTERS characters that letters are made of. */
bool lr_temporary_are_letters(const char *text);

#endif
