/* SPDX-License-Identifier: MIT OR Apache-2.0
 * One model read and written by several processes: headers that one process reads for all, windows of a file that each
 * writes, and files whose bytes others wrote. It sends and receives nothing, and knows no MPI: the caller does that.
 * Rooms below know of it the table lr_parallel of core/io/io.h. What it gives is its caller's. */
#ifndef LR_PARALLEL_H
#define LR_PARALLEL_H

#include "librecord/parallel.h"

#include "core/io/io.h"

/* seen.c: what one process reads of files, for others. */

typedef struct lr_seen lr_seen;
/** Begins to note what the job reads of files. NULL: the job has failed. */
lr_seen *lr_seen_begin(rec_job *job);
/** Ends it, also after a failure, when no source of the job is left. @param data (out) from malloc. */
int32_t lr_seen_end(rec_job *job, lr_seen *seen, void **data, uint64_t *size);
/** Gives the job's context what another process noted: REC_E_ARGUMENT if these are other bytes. No bytes: removes all
 * of it. */
int32_t lr_seen_show(rec_job *job, const void *data, uint64_t size);

/* window_sink.c: a sink that passes one range of a save on. */

/** The range, and the size of the whole save. Companion files count as parts of one long file; the main file is last.
 */
typedef struct lr_window {
    uint64_t from, to;
    uint64_t total; /**< (out) bytes of all of it… */
    uint64_t sum;   /**< checksum of everything except tensor data: equal sums mean equal files up to tensor data */
    const char *letters; /**< in the names of a set's files; NULL: none */
    rec_file *files;     /**< (out) in the order of their bytes; freed by lr_window_end() */
    uint64_t count, room;
} lr_window;
void lr_window_end(rec_job *job, lr_window *window);
/** Skips bytes outside the range without reading or producing them, where possible (lr_stepping). @param name of the
 * file. @param target taken, also on failure; NULL: fill `window` only. @param window filled in at the end. */
rec_sink *lr_sink_window(rec_job *job, const char *name, rec_sink *target, lr_window *window);

/* filled.c: files whose bytes others write. */

/** rec_save_filled() to a path. */
int32_t lr_save_filled(rec_job *job, const char *path, bool sync, const rec_filling *filling, rec_fill_fn fill,
                       void *user);

#endif
