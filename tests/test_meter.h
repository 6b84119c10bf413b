/* SPDX-License-Identifier: MIT OR Apache-2.0
 * A context that counts the memory that it has. */
#ifndef TEST_METER_H
#define TEST_METER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "librecord.h"

typedef struct meter {
    uint64_t now, peak;
} meter;

typedef struct meter_piece {
    uint64_t size, reserved;
} meter_piece;

static meter meter_counted;
static int64_t meter_left = -1; /* allocations before one fails; negative: none does */
static rec_context *meter_context;

static inline void *meter_resize(void *user, void *old, size_t size)
{
    meter *m = user;
    meter_piece *from = old ? (meter_piece *)old - 1 : NULL;
    uint64_t had = from ? from->size : 0;
    meter_piece *to = meter_left == 0 ? NULL : realloc(from, size + sizeof *to);
    meter_left -= meter_left >= 0;
    if (!to) {
        return NULL;
    }
    to->size = size;
    m->now += size - had;
    m->peak = m->now > m->peak ? m->now : m->peak;
    return to + 1;
}

static inline void *meter_alloc(void *user, size_t size)
{
    return meter_resize(user, NULL, size);
}

static inline void meter_release(void *user, void *memory)
{
    meter_piece *from = (meter_piece *)memory - 1;
    ((meter *)user)->now -= from->size;
    free(from);
}

static inline int meter_set_up(void **state)
{
    rec_allocator allocator = {.size = sizeof allocator,
                               .alloc = meter_alloc,
                               .resize = meter_resize,
                               .release = meter_release,
                               .user = &meter_counted};
    (void)state;
    meter_context = rec_context_new(&allocator);
    return meter_context ? 0 : -1;
}

static inline int meter_tear_down(void **state)
{
    (void)state;
    rec_context_free(meter_context);
    return meter_counted.now == 0 ? 0 : -1;
}

#endif
