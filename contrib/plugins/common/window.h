/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Reads the heads of a file through a small buffer, so that neither a mapping nor a copy of the file is needed. */
#ifndef CONTRIB_WINDOW_H
#define CONTRIB_WINDOW_H

#include <librecord/plugin.h>

enum { WINDOW_BYTES = 4096 };

typedef struct window {
    rec_job *job;
    rec_source *source;
    uint64_t size;          /**< of the source */
    uint64_t begin, length; /**< the range in `bytes` */
    uint8_t bytes[WINDOW_BYTES];
} window;

/** Begins to read `source`; reads a stream to its end first, to learn its size. */
rec_status window_open(window *w, rec_job *job, rec_source *source);

/** Gets up to `size` bytes at `offset`, of which at least one must exist.
 * @param size 1 to WINDOW_BYTES. @param bytes (out) valid until the next call. @param got (out) how many, fewer than
 * `size` only at the end of the source. */
rec_status window_get(window *w, uint64_t offset, uint64_t size, const uint8_t **bytes, uint64_t *got);

#endif
