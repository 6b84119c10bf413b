/* SPDX-License-Identifier: MIT OR Apache-2.0
 * gzip writer: a sink that deflates into another one. */
#include "plugins/codec/gzip/gzip.h"

#include <limits.h>
#include <stdbool.h>
#include <zlib.h>

#define GZIP_ONLY (15 + 16)
#define MEMORY_LEVEL 8 /* zlib's default */
#define OS_UNKNOWN 255

/* A sink lives within its job: all memory is the job's, zlib's too. */
typedef struct deflater {
    rec_job *job;
    z_stream stream;
    gz_header header;
    bool begun; /* zlib holds memory */
    uint8_t buffer[64 * 1024];
} deflater;

static voidpf take_memory(voidpf job, uInt items, uInt size)
{
    return rec_job_alloc(job, (uint64_t)items * size);
}

static void give_memory(voidpf job, voidpf memory)
{
    rec_job_free(job, memory);
}

/* Deflates what the stream holds and hands on what comes of it. */
static int32_t pump(deflater *self, rec_sink *target, int flush)
{
    int result;
    do {
        self->stream.next_out = self->buffer;
        self->stream.avail_out = sizeof self->buffer;
        result = deflate(&self->stream, flush);
        if (result == Z_STREAM_ERROR) {
            return rec_fail(self->job, REC_E_PLUGIN, REC_UNKNOWN, "zlib lost the state of the compressed stream");
        }
        uint64_t made = sizeof self->buffer - self->stream.avail_out;
        int32_t status = made > 0 ? rec_sink_write(target, self->buffer, made) : REC_OK;
        if (status != REC_OK) {
            return status;
        }
    } while (self->stream.avail_out == 0 || (flush == Z_FINISH && result != Z_STREAM_END));
    return REC_OK;
}

static int32_t write_some(void *user, rec_sink *target, const void *data, uint64_t size)
{
    deflater *self = user;
    const uint8_t *next = data;
    while (size > 0) { /* zlib counts in 32 bits */
        uint32_t piece = size < UINT_MAX ? (uint32_t)size : UINT_MAX;
        self->stream.next_in = (z_const Bytef *)next;
        self->stream.avail_in = piece;
        int32_t status = pump(self, target, Z_NO_FLUSH);
        if (status != REC_OK) {
            return status;
        }
        next += piece;
        size -= piece;
    }
    return REC_OK;
}

static int32_t finish(void *user, rec_sink *target)
{
    deflater *self = user;
    self->stream.avail_in = 0;
    return pump(self, target, Z_FINISH);
}

static void release(void *user)
{
    deflater *self = user;
    if (self->begun) {
        (void)deflateEnd(&self->stream);
    }
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
    self->job = job;
    self->stream = (z_stream){.zalloc = take_memory, .zfree = give_memory, .opaque = job};
    self->header = (gz_header){.os = OS_UNKNOWN};
    self->begun = deflateInit2(&self->stream, level, Z_DEFLATED, GZIP_ONLY, MEMORY_LEVEL, Z_DEFAULT_STRATEGY) == Z_OK;
    if (!self->begun) {
        (void)rec_fail(job, REC_E_MEMORY, REC_UNKNOWN, "out of memory while zlib was set up");
        release(self);
        return NULL;
    }
    /* Ten bytes as Burn's: no name, no time, no system. */
    (void)deflateSetHeader(&self->stream, &self->header);
    return rec_sink_filter(job, target, &deflating, self);
}
