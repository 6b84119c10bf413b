/* SPDX-License-Identifier: MIT OR Apache-2.0
 * gzip writer: a sink that deflates into another one, one member in chunks, with an index of them if they are many.
 * Chunks are filled one after the other, deflated by all threads that there are, and written in their order. */
#include "plugins/codec/gzip/gzip.h"

#include <string.h>
#include <zlib.h>

#include "common/crc32.h"
#include "common/team.h"
#include "plugins/codec/gzip/encode.h"
#include "plugins/codec/gzip/index.h"
#include "plugins/codec/little.h"

enum {
    SPARE = 2, /* chunks to work on while the oldest is written and the newest filled, besides one a thread */
    /* Data of so many chunks and more have an index, where the target can be patched. Until then nothing is written,
     * because the header comes first. One thread holds so many, less one. */
    INDEXED_FROM = SPARE + 2
};

/* A chunk: filled, deflated by any thread, and written in its turn. */
typedef struct piece {
    lr_task task; /* first, so that the chunk is known by it */
    struct deflater *owner;
    uint8_t *in;  /* room for LR_GZIP_PIECE bytes */
    size_t size;  /* bytes filled */
    bool last;    /* of the stream */
    uint8_t *out; /* deflated */
    size_t made;  /* bytes of it */
    uint32_t crc; /* of the bytes filled */
} piece;

typedef struct deflater {
    rec_job *job; /* a sink lives within its job */
    int level;
    uint32_t most; /* threads that may work, the caller's included */
    uint32_t room; /* chunks in the ring: number n, from 0 on, is ring[n % room] */
    lr_team *team;
    piece *ring;
    lr_gzip_encoder *encoders[LR_TEAM_WORKERS]; /* one a thread */
    uint64_t given, taken;                      /* chunks that were, to be deflated and to be written */
    piece *piece;                               /* what is filled, or NULL */
    bool many;                                  /* there are INDEXED_FROM chunks, or will be */
    bool begun;                                 /* the header is written */
    bool indexed;
    uint64_t at; /* where in the target the header is */
    uint64_t size;
    uint32_t crc;
    lr_gzip_index index;
} deflater;

/* ------------------------------------------------------------------------------------------------------ chunks -- */

static piece *piece_of(const deflater *self, uint64_t number)
{
    return &self->ring[number % self->room];
}

/* Deflates a chunk, on any thread. */
static void deflate_piece(lr_task *task, unsigned worker)
{
    piece *p = (piece *)task; /* whose first member it is */
    p->crc = lr_crc32(0, p->in, p->size);
    p->made = lr_gzip_encode(p->owner->encoders[worker], p->in, p->size, p->last, p->out);
}

/* Has the chunk that is filled deflated. Starts a thread where one more may be had; one that cannot be started is no
 * failure, and nobody deflates before a second chunk is there. */
static int32_t give_piece(deflater *self, bool last)
{
    uint32_t threads = self->given + 1 < self->most ? (uint32_t)self->given + 1 : self->most;
    lr_gzip_encoder **encoder = &self->encoders[threads - 1];
    self->piece->last = last;
    if (!*encoder) {
        *encoder = lr_gzip_encoder_new(self->job, self->level);
        if (!*encoder) {
            return REC_E_MEMORY;
        }
    }
    (void)lr_team_post(self->team, &self->piece->task, threads);
    self->piece = NULL;
    self->given++;
    return REC_OK;
}

/* The oldest chunk that was given. Where it is not deflated, this thread deflates what is waiting until it is. */
static const piece *take_piece(deflater *self)
{
    piece *oldest = piece_of(self, self->taken++);
    lr_team_wait(self->team, &oldest->task);
    return oldest;
}

/* ----------------------------------------------------------------------------------------------------- writing -- */

/* Ten bytes as Burn's: no name, no time, no system. */
static const uint8_t plain[] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff};

/* Or the room for the index. */
static int32_t write_header(deflater *self, rec_sink *target)
{
    uint8_t header[LR_GZIP_HEADER];
    self->begun = true;
    self->at = rec_sink_tell(target);
    self->indexed = self->many && rec_sink_can_patch(target);
    if (!self->indexed) {
        return rec_sink_write(target, plain, sizeof plain);
    }
    lr_gzip_index_begin(&self->index, LR_GZIP_PIECE);
    lr_gzip_index_put(NULL, header);
    return rec_sink_write(target, header, sizeof header);
}

static int32_t write_piece(deflater *self, rec_sink *target)
{
    const piece *p = take_piece(self);
    int32_t status = self->begun ? REC_OK : write_header(self, target);
    if (self->indexed) {
        self->indexed = lr_gzip_index_add(&self->index, p->size, p->made);
    }
    self->crc = (uint32_t)crc32_combine(self->crc, p->crc, (z_off_t)p->size);
    self->size += p->size;
    return status == REC_OK ? rec_sink_write(target, p->out, p->made) : status;
}

/* Whether the oldest chunk can be written, or must be before the next one is filled. */
static bool is_next(const deflater *self)
{
    return self->taken < self->given &&
           (self->given - self->taken == self->room || lr_team_done(self->team, &piece_of(self, self->taken)->task));
}

/* The next chunk to be filled, after those that are ready were written. */
static int32_t next_piece(deflater *self, rec_sink *target)
{
    piece *next = piece_of(self, self->given);
    int32_t status = REC_OK;
    self->many = self->given + 1 >= INDEXED_FROM;
    while (status == REC_OK && self->many && is_next(self)) {
        status = write_piece(self, target);
    }
    if (status != REC_OK) {
        return status;
    }
    next->in = next->in ? next->in : rec_job_alloc(self->job, LR_GZIP_PIECE);
    next->out = next->out ? next->out : rec_job_alloc(self->job, LR_GZIP_ROOM);
    next->size = 0;
    self->piece = next->in && next->out ? next : NULL;
    return self->piece ? REC_OK : REC_E_MEMORY;
}

/* A full piece is kept until there is one more byte: it may be the last one. */
static int32_t write_some(void *user, rec_sink *target, const void *data, uint64_t size)
{
    deflater *self = user;
    const uint8_t *next = data;
    int32_t status = REC_OK;
    while (size > 0 && status == REC_OK) {
        if (self->piece && self->piece->size == LR_GZIP_PIECE) {
            status = give_piece(self, false);
        }
        if (status == REC_OK && !self->piece) {
            status = next_piece(self, target);
        }
        if (status == REC_OK) {
            size_t room = LR_GZIP_PIECE - self->piece->size, some = size < room ? (size_t)size : room;
            memcpy(self->piece->in + self->piece->size, next, some);
            self->piece->size += some;
            next += some;
            size -= some;
        }
    }
    return status;
}

/* CRC-32 and length modulo 2^32, little-endian. */
static int32_t write_trailer(rec_sink *target, uint32_t crc, uint64_t size)
{
    uint8_t trailer[8];
    lr_little_put(trailer, crc, 4);
    lr_little_put(trailer + 4, size, 4);
    return rec_sink_write(target, trailer, sizeof trailer);
}

static int32_t finish_pieces(deflater *self, rec_sink *target)
{
    int32_t status = self->piece ? REC_OK : next_piece(self, target); /* nothing was written: one of no bytes */
    status = status == REC_OK ? give_piece(self, true) : status;
    while (status == REC_OK && self->taken < self->given) {
        status = write_piece(self, target);
    }
    return status;
}

static int32_t finish(void *user, rec_sink *target)
{
    deflater *self = user;
    uint8_t header[LR_GZIP_HEADER];
    int32_t status = finish_pieces(self, target);
    if (status == REC_OK) {
        status = write_trailer(target, self->crc, self->size);
    }
    if (status == REC_OK && self->indexed) {
        lr_gzip_index_put(&self->index, header);
        status = rec_sink_patch(target, self->at, header, sizeof header);
    }
    return status;
}

static void release(void *user)
{
    deflater *self = user;
    while (self->taken < self->given) {
        (void)take_piece(self); /* its memory is in use */
    }
    lr_team_free(self->team);
    for (uint32_t i = 0; i < LR_TEAM_WORKERS; i++) {
        lr_gzip_encoder_free(self->encoders[i]);
    }
    for (uint32_t i = 0; self->ring && i < self->room; i++) {
        rec_job_free(self->job, self->ring[i].in);
        rec_job_free(self->job, self->ring[i].out);
    }
    rec_job_free(self->job, self->ring);
    rec_job_free(self->job, self);
}

static const rec_sink_ops deflating = {
    .size = sizeof deflating,
    .write = write_some,
    .finish = finish,
    .release = release,
};

rec_sink *lr_gzip_sink(rec_job *job, rec_sink *target, int level)
{
    deflater *self = rec_job_alloc(job, sizeof *self);
    uint32_t threads = rec_job_threads(job);
    if (!self) {
        return NULL;
    }
    threads = threads < LR_TEAM_WORKERS ? threads : LR_TEAM_WORKERS;
    *self = (deflater){.job = job, .level = level, .most = threads, .room = threads + SPARE, .team = lr_team_new()};
    if (!self->team) {
        (void)rec_fail(job, REC_E_MEMORY, REC_UNKNOWN, "out of memory while the compressor was set up");
    }
    self->ring = self->team ? rec_job_alloc(job, self->room * sizeof *self->ring) : NULL;
    for (uint32_t i = 0; self->ring && i < self->room; i++) {
        self->ring[i] = (piece){.task.run = deflate_piece, .owner = self};
    }
    self->encoders[0] = self->ring ? lr_gzip_encoder_new(job, level) : NULL;
    if (!self->encoders[0]) {
        release(self);
        return NULL;
    }
    return rec_sink_filter(job, target, &deflating, self);
}
