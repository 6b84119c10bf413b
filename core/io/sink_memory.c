/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Sinks that grow in memory. */
#include <stdlib.h>
#include <string.h>

#include "core/io/io_private.h"
#include "os/map.h"

/* From this size on memory uses huge pages. */
#define HUGE_FROM (UINT64_C(8) << 20)

struct memory_sink {
    rec_sink sink;
    uint8_t *data; /* from malloc: the receiver frees it with rec_free */
    uint64_t used, room;
};

static int32_t memory_grow(struct memory_sink *self, uint64_t room)
{
    uint8_t *data = room <= PTRDIFF_MAX ? realloc(self->data, (size_t)room) : NULL;
    if (!data) {
        return lr_fail_memory(self->sink.job, room);
    }
    self->data = data;
    self->room = room;
    if (room >= HUGE_FROM) {
        /* A wish: memory that is touched for the first time costs more than the copy into it. Asked for from the page's
         * beginning to a page's end, that is for all of malloc's mapping: half of one could not grow in place. */
        lr_map_huge(data, room);
    }
    return REC_OK;
}

static int32_t memory_space(rec_sink *sink, uint64_t want, uint8_t **room, uint64_t *size)
{
    struct memory_sink *self = (struct memory_sink *)sink;
    int32_t status = REC_OK;
    if (want > self->room - self->used) {
        uint64_t twice = self->room * 2;
        status = memory_grow(self, twice - self->used < want || twice < 4096 ? self->used + want + 4096 : twice);
    }
    *room = self->data + self->used;
    *size = want;
    return status;
}

static int32_t memory_filled(rec_sink *sink, uint64_t size)
{
    ((struct memory_sink *)sink)->used += size;
    return REC_OK;
}

static int32_t memory_write(rec_sink *sink, const uint8_t *data, uint64_t size)
{
    uint8_t *room;
    int32_t status = memory_space(sink, size, &room, &size);
    if (status == REC_OK) {
        memcpy(room, data, (size_t)size);
        status = memory_filled(sink, size);
    }
    return status;
}

static int32_t memory_reserve(rec_sink *sink, uint64_t size)
{
    struct memory_sink *self = (struct memory_sink *)sink;
    return size > self->room ? memory_grow(self, size) : REC_OK;
}

static int32_t memory_patch(rec_sink *sink, uint64_t offset, const uint8_t *data, uint64_t size)
{
    memcpy(((struct memory_sink *)sink)->data + offset, data, (size_t)size);
    return REC_OK;
}

static rec_source *memory_reopen(rec_sink *sink)
{
    const struct memory_sink *self = (const struct memory_sink *)sink;
    return lr_source_memory(sink->job, self->data, self->used, sink->name);
}

static void memory_release(rec_sink *sink)
{
    free(((struct memory_sink *)sink)->data);
}

static const lr_sink_ops memory_ops = {
    .write = memory_write,
    .space = memory_space,
    .filled = memory_filled,
    .reserve = memory_reserve,
    .patch = memory_patch,
    .reopen = memory_reopen,
    .release = memory_release,
};

rec_sink *lr_sink_memory(rec_job *job)
{
    return lr_sink_new(job, &memory_ops, sizeof(struct memory_sink));
}

int32_t lr_sink_take(rec_sink *sink, void **data, uint64_t *size)
{
    struct memory_sink *self = (struct memory_sink *)sink;
    uint8_t *exact;
    *data = NULL;
    *size = 0;
    if (lr_job_failed(sink->job)) {
        return sink->job->error.status;
    }
    exact = realloc(self->data, self->used ? (size_t)self->used : 1);
    if (!exact) {
        return lr_fail_memory(sink->job, self->used); /* the bytes go with the sink */
    }
    *data = exact;
    *size = self->used;
    self->data = NULL;
    self->used = self->room = 0;
    return REC_OK;
}
