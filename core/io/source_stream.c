/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Pipes that are read as far as requested. The first bytes are kept, so that a reader that has read no further can
 * start again; the view reads to the end. */
#include <string.h>
#include <unistd.h>

#include "core/io/io_private.h"

/* Bytes that are kept, and read at a time. */
#define KEPT_MOST (UINT64_C(4) << 20)
#define KEPT_STEP (UINT64_C(128) << 10)

struct stream {
    lr_stream_fn read;
    int fd;
    bool own;       /* the descriptor is closed with it */
    lr_pages kept;  /* the first bytes… */
    uint64_t used;  /* …so many of them */
    uint64_t taken; /* bytes that were read: `used`, or more */
    bool ended;
};

/* More of the first bytes. */
static int32_t keep_more(rec_job *job, rec_source *source)
{
    struct stream *s = source->self;
    uint64_t got = 0;
    int32_t status = REC_OK;
    if (s->used == s->kept.size && !lr_pages_grow(&s->kept, s->used + (s->used > KEPT_STEP ? s->used : KEPT_STEP))) {
        return lr_fail_memory(job, s->used + KEPT_STEP);
    }
    status = s->read(job, source, &s->fd, s->taken, s->kept.data + s->used, s->kept.size - s->used, &got);
    s->ended = status == REC_OK && got == 0;
    s->used += got;
    s->taken += got;
    return status;
}

static int32_t stream_next(rec_job *job, rec_source *source, void *target, uint64_t room, uint64_t *got)
{
    struct stream *s = source->self;
    int32_t status = REC_OK;
    *got = 0;
    if (room && source->position == s->used && s->taken == s->used && !s->ended && s->used < KEPT_MOST) {
        status = keep_more(job, source);
    }
    if (status == REC_OK && source->position < s->used) {
        *got = s->used - source->position < room ? s->used - source->position : room;
        memcpy(target, s->kept.data + source->position, (size_t)*got);
    } else if (status == REC_OK && room && !s->ended) {
        status = s->read(job, source, &s->fd, s->taken, target, room, got);
        s->ended = status == REC_OK && *got == 0;
        s->taken += *got;
    }
    source->position += *got;
    if (status == REC_OK) {
        lr_job_input(job, source->position);
    }
    return status;
}

static int32_t gone(rec_job *job, const rec_source *source)
{
    return lr_io_fail(job, source->name, REC_E_UNSUPPORTED, REC_UNKNOWN, "Write it to a file first.",
                      "it must be read twice, but only the beginning of a stream is kept");
}

static int32_t stream_rewind(rec_job *job, rec_source *source)
{
    const struct stream *s = source->self;
    if (s->taken > s->used) {
        return gone(job, source);
    }
    source->position = 0;
    return REC_OK;
}

static int32_t stream_head(rec_job *job, rec_source *source, uint64_t most, const uint8_t **data, uint64_t *size)
{
    struct stream *s = source->self;
    int32_t status = REC_OK;
    while (s->used < most && !s->ended && s->taken == s->used && status == REC_OK) {
        status = keep_more(job, source);
    }
    *data = s->kept.data ? s->kept.data : (const uint8_t *)"";
    *size = s->used < most ? s->used : most;
    return status;
}

/* The lr_stream_fn of the whole. */
static int32_t next_of_all(rec_job *job, const rec_source *source, void *user, uint64_t at, void *target, uint64_t room,
                           uint64_t *got)
{
    struct stream *s = user;
    int32_t status = REC_OK;
    if (at < s->used) {
        *got = s->used - at < room ? s->used - at : room;
        memcpy(target, s->kept.data + at, (size_t)*got);
        return REC_OK;
    }
    *got = 0;
    if (!s->ended) {
        status = s->read(job, source, &s->fd, at, target, room, got);
    }
    return status;
}

static int32_t stream_view(rec_job *job, rec_source *source)
{
    struct stream *s = source->self;
    const lr_stream all = {.read = next_of_all, .user = s, .total = REC_UNKNOWN};
    int32_t status = s->taken > s->used ? gone(job, source) : lr_source_drain(job, source, &all);
    if (status == REC_OK) {
        lr_job_input(job, source->size);
    }
    return status;
}

static void stream_release(rec_source *source)
{
    struct stream *s = source->self;
    lr_pages_free(&s->kept);
    if (s->own) {
        (void)close(s->fd);
    }
    lr_release(source->allocator, s);
}

static bool stream_ended(const rec_source *source)
{
    return ((const struct stream *)source->self)->ended;
}

static const lr_source_ops stream_ops = {
    .stored = true,
    .size = lr_source_size_unknown,
    .view = stream_view,
    .next = stream_next,
    .rewind = stream_rewind,
    .head = stream_head,
    .ended = stream_ended,
    .release = stream_release,
};

int32_t lr_source_stream(rec_job *job, rec_source *source, lr_stream_fn read, int fd, bool own)
{
    struct stream *s = lr_zalloc(source->allocator, sizeof *s);
    if (!s) {
        return lr_fail_memory(job, sizeof *s);
    }
    *s = (struct stream){.read = read, .fd = fd, .own = own, .kept = {.allocator = source->allocator}};
    source->ops = &stream_ops;
    source->self = s;
    return REC_OK;
}
