/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The index of a folder of plugins. What it tells stands in for a file that was not opened, and is as its arena lives.
 */
#ifndef LR_REGISTRY_INDEX_PRIVATE_H
#define LR_REGISTRY_INDEX_PRIVATE_H

#include <stdio.h>

#include "core/registry/open_private.h"

#define LR_INDEX_NAME "plugins.index"

/** What a file holds; no plugins: none that could be used. */
typedef struct lr_index_file {
    const char *name;
    uint64_t size;
    long long seconds, nanoseconds;
    rec_plugin *plugins; /**< checked; their functions only say which there are */
    uint64_t count, room;
} lr_index_file;

/** All of a folder's. */
typedef struct lr_index {
    lr_index_file *files;
    uint64_t count, room;
} lr_index;

/** Reads the index of a folder, by its path without links. Without one, or if any of it is wrong, it is empty.
 *  @return other than REC_OK: out of memory. */
int32_t lr_index_read(rec_job *job, lr_arena *arena, const char *folder, bool installed, lr_index *index);
/** What it has of a file that is `state` now; NULL: nothing that counts. */
const lr_index_file *lr_index_find(const lr_index *index, const char *name, const struct stat *state);

/** Writing one: the beginning, then each file with its plugins, and the end, for which all that was written is given.
 */
void lr_index_begin(FILE *out);
void lr_index_add_file(FILE *out, const char *name, const struct stat *state);
void lr_index_add_plugin(FILE *out, const rec_plugin *d);
void lr_index_end(FILE *out, const char *text, size_t size);

#endif
