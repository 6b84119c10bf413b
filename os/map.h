/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Memory that comes in pages: maps of files, fresh memory in huge pages, and hints about both. Hints can fail without
 * notice. */
#ifndef LR_OS_MAP_H
#define LR_OS_MAP_H

#include <stdbool.h>
#include <stdint.h>

/** @return the size of a page, a power of two. */
uint64_t lr_map_page(void);

/** Maps a range of a file. @param offset begin of a page. @param shared false: to be read only; true: to be read and
 * written, and the file is written. @return the map, for lr_map_end(); NULL with errno. */
void *lr_map_file(int fd, uint64_t offset, uint64_t size, bool shared);
/** Ends any map, or a part of one that begins at a page. NULL is ignored. */
void lr_map_end(void *map, uint64_t size);

/** Hints that pages are not needed soon: what a file has is read again. @param data begin of a page. */
void lr_map_drop(const void *data, uint64_t size);
/** Hints that the map of a file is read at random: a missing page brings no others. @return whether the system took the
 * hint. */
bool lr_map_random(const void *map, uint64_t size, bool random);
/** Reads the pages of a map now, also those that the range only touches. */
void lr_map_populate(const void *data, uint64_t size);
/** @return whether the page of a byte is in memory. */
bool lr_map_is_resident(const void *byte);
/** Hints that the pages of memory, also those that the range only touches, are to be huge. */
void lr_map_huge(const void *data, uint64_t size);

/** Maps fresh memory at a huge page if it is large enough. @param size (in, out) rounded up to whole pages. @return
 * NULL: there is no memory. */
void *lr_map_fresh(uint64_t *size);
/** Makes fresh memory larger; it may move. @param from its size. @param size (in, out) as above. @return NULL: it could
 * not, and the old memory is unchanged. */
void *lr_map_grow(void *map, uint64_t from, uint64_t *size);
/** Gives back the pages of fresh memory that do not belong to the first `keep` bytes. @return its new size. */
uint64_t lr_map_trim(void *map, uint64_t size, uint64_t keep);

#endif
