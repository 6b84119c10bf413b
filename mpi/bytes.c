/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Arrays and bytes that grow. */
#include <stdlib.h>
#include <string.h>

#include "mpi/mpi_private.h"

void *lr_mpi_grown(void *at, uint64_t count, size_t size)
{
    /* It is full at each power of two. */
    return count & (count - 1) ? at : realloc(at, (size_t)(count ? 2 * count : 1) * size);
}

void lr_mpi_add(lr_mpi_told *t, const void *data, size_t size)
{
    if (size > t->room - t->size) {
        size_t room = (t->size + size) * 2;
        char *at = realloc(t->at, room);
        if (!at) {
            t->failed = true;
            return;
        }
        t->at = at;
        t->room = room;
    }
    if (size) {
        memcpy(t->at + t->size, data, size);
    }
    t->size += size;
}
