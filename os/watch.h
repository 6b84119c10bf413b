/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Watched maps of files. Reading past the end of a truncated mapped file raises SIGBUS, which kills the process. With
 * the guard, zeros are read there instead, and the map is marked as truncated. Callers check that before they use what
 * they read. */
#ifndef LR_OS_WATCH_H
#define LR_OS_WATCH_H

#include <stdbool.h>
#include <stdint.h>

/** A watched map. */
typedef struct lr_watch lr_watch;

/** Handles SIGBUS from now on; signals that concern no watched map go to the handler that was there before.
 * @return 0 or an errno. */
int lr_watch_guard(void);
/** @return whether lr_watch_guard() was called. */
bool lr_watch_guards(void);

/** Watches a map. @param of whose map it is, for lr_watch_find(). @param fd of the file. @param end how many bytes the
 * file must have. @param name its path, borrowed until the end. @return NULL: there is no memory for it. */
lr_watch *lr_watch_begin(const void *of, const void *map, uint64_t size, int fd, uint64_t end, const char *name);
/** To be called before the map goes. NULL is ignored. */
void lr_watch_end(lr_watch *watch);
/** Someone else reads the bytes whenever they like: lr_watch_end() compares the file's size. NULL is ignored. */
void lr_watch_lend(lr_watch *watch);
/** Marks it as truncated: the system reported it otherwise than by the signal. NULL is ignored. */
void lr_watch_mark(lr_watch *watch);

/** @return whether it was truncated, as far as a read met that. NULL: no. */
bool lr_watch_cut(const lr_watch *watch);
/** @return how many maps were truncated so far. */
uint32_t lr_watch_cuts(void);
/** The same as lr_watch_cut(). @param sizes_too with the guard, also compares the size of the file, which shows a
 * truncation that no read has met. @param name (out) if it was: the file's name, to be freed; NULL: out of memory. */
bool lr_watch_look(lr_watch *watch, bool sizes_too, char **name);
/** Finds the first map that was truncated after `since` others. @param of whose; NULL: anybody's. @param sizes_too,name
 * as above. @return whether there is one. */
bool lr_watch_find(const void *of, uint32_t since, bool sizes_too, char **name);

#endif
