/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The entries of each map of a record. MessagePack has the size of a map before its entries, and rec_job_walk_levels()
 * does not know it for the levels of paths: a walk of its own counts them. */
#ifndef FLAX_COUNTS_H
#define FLAX_COUNTS_H

#include <librecord/plugin.h>

typedef struct counts {
    rec_job *job;
    uint64_t *maps; /**< entries, by the order in which maps begin */
    uint64_t count, room;
    uint64_t *stack; /**< the maps around the current event */
    uint64_t depth;
} counts;

/** Walks the record. @param c (out) to be freed with counts_free(). */
rec_status counts_take(counts *c, rec_job *job);
void counts_free(counts *c);

#endif
