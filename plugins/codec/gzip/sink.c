/* SPDX-License-Identifier: MIT OR Apache-2.0
 * gzip writer: a sink that deflates into another one, one member in pieces, with an index of them if they are many. */
#include "plugins/codec/gzip/gzip.h"

#include <string.h>
#include <zlib.h>

#include "plugins/codec/gzip/index.h"
#include "plugins/codec/gzip/pool.h"
#include "plugins/codec/little.h"

/* Data of so many pieces and more have an index, where the target can be patched. Until then nothing is written,
 * because the header comes first. */
enum { INDEXED_FROM = LR_GZIP_HELD + 1 };

typedef struct deflater {
    rec_job *job; /* a sink lives within its job */
    lr_gzip_pool *pool;
    lr_gzip_piece *piece; /* what is filled, or NULL */
    uint64_t count;       /* pieces that were given */
    bool many;            /* there are INDEXED_FROM pieces, or will be */
    bool begun;           /* the header is written */
    bool indexed;
    uint64_t at; /* where in the target the header is */
    uint64_t size;
    uint32_t crc;
    lr_gzip_index index;
} deflater;

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

static int32_t write_piece(deflater *self, rec_sink *target, const lr_gzip_piece *piece)
{
    int32_t status = self->begun ? REC_OK : write_header(self, target);
    if (self->indexed) {
        self->indexed = lr_gzip_index_add(&self->index, piece->size, piece->made);
    }
    self->crc = (uint32_t)crc32_combine(self->crc, piece->crc, (z_off_t)piece->size);
    self->size += piece->size;
    return status == REC_OK ? rec_sink_write(target, piece->out, piece->made) : status;
}

/* The next piece to be filled, after those that are ready were written. */
static int32_t next_piece(deflater *self, rec_sink *target)
{
    int32_t status = REC_OK;
    self->many = self->count + 1 >= INDEXED_FROM;
    while (status == REC_OK && self->many && (lr_gzip_pool_full(self->pool) || lr_gzip_pool_ready(self->pool))) {
        status = write_piece(self, target, lr_gzip_pool_take(self->pool));
    }
    if (status == REC_OK) {
        self->piece = lr_gzip_pool_filling(self->pool);
        status = self->piece ? REC_OK : REC_E_MEMORY;
    }
    if (status == REC_OK) {
        self->piece->size = 0;
    }
    return status;
}

static int32_t give_piece(deflater *self, bool last)
{
    self->piece->last = last;
    self->piece = NULL;
    self->count++;
    return lr_gzip_pool_give(self->pool);
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
    if (status == REC_OK) {
        status = give_piece(self, true);
    }
    for (const lr_gzip_piece *piece; status == REC_OK && (piece = lr_gzip_pool_take(self->pool)) != NULL;) {
        status = write_piece(self, target, piece);
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
    lr_gzip_pool_free(self->pool);
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
    if (!self) {
        return NULL;
    }
    memset(self, 0, sizeof *self);
    self->job = job;
    self->pool = lr_gzip_pool_new(job, level);
    if (!self->pool) {
        release(self);
        return NULL;
    }
    return rec_sink_filter(job, target, &deflating, self);
}
