/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Deflates a chunk: stored, by ISA-L where matches would not help or size does not matter, otherwise by zlib. */
#include "plugins/codec/gzip/encode.h"

#include <string.h>
#include <zlib.h>

#ifdef LR_HAVE_ISAL
#include <isa-l/igzip_lib.h>
#endif

#include "plugins/codec/gzip/probe.h"

enum {
    RAW = -15,          /* zlib's window of 32 KiB, without a wrapper */
    MEMORY_LEVEL = 8,   /* zlib's default */
    STORED_MOST = 65535 /* bytes of a stored block */
};

/* Up to the first level speed is what counts, above the second one size. */
enum { FAST_LEVEL = 3, USUAL_LEVEL = 6 };

/* A sink lives within its job: all memory is the job's, zlib's too. */
struct lr_gzip_encoder {
    rec_job *job;
    int level;
    bool begun; /* zlib holds memory */
    z_stream stream;
#ifdef LR_HAVE_ISAL
    struct isal_zstream fast;
    uint8_t tables[ISAL_DEF_LVL3_DEFAULT];
#endif
};

static voidpf take_memory(voidpf job, uInt items, uInt size)
{
    return rec_job_alloc(job, (uint64_t)items * size);
}

static void give_memory(voidpf job, voidpf memory)
{
    rec_job_free(job, memory);
}

lr_gzip_encoder *lr_gzip_encoder_new(rec_job *job, int level)
{
    lr_gzip_encoder *self = rec_job_alloc(job, sizeof *self);
    if (!self) {
        return NULL;
    }
    self->job = job;
    self->level = level;
    self->stream = (z_stream){.zalloc = take_memory, .zfree = give_memory, .opaque = job};
    self->begun = deflateInit2(&self->stream, level, Z_DEFLATED, RAW, MEMORY_LEVEL, Z_DEFAULT_STRATEGY) == Z_OK;
    if (!self->begun) {
        (void)rec_fail(job, REC_E_MEMORY, REC_UNKNOWN, "out of memory while zlib was set up");
        lr_gzip_encoder_free(self);
        return NULL;
    }
    return self;
}

void lr_gzip_encoder_free(lr_gzip_encoder *self)
{
    if (self) {
        if (self->begun) {
            (void)deflateEnd(&self->stream);
        }
        rec_job_free(self->job, self);
    }
}

/* Bytes that the piece takes in stored blocks. One block of nothing ends an empty piece. */
static size_t stored_size(size_t size)
{
    size_t blocks = size ? (size + STORED_MOST - 1) / STORED_MOST : 1;
    return size + 5 * blocks;
}

/* A stored block is as good an end as a flush: the next one begins at a byte, and need not look back. */
static size_t put_stored(const uint8_t *in, size_t size, bool last, uint8_t *out)
{
    uint8_t *next = out;
    do {
        size_t block = size < STORED_MOST ? size : STORED_MOST;
        size -= block;
        *next++ = last && size == 0;
        *next++ = (uint8_t)block;
        *next++ = (uint8_t)(block >> 8);
        *next++ = (uint8_t)~block;
        *next++ = (uint8_t)(~block >> 8);
        memcpy(next, in, block);
        next += block;
        in += block;
    } while (size > 0);
    return (size_t)(next - out);
}

/* @return 0: it could not. */
static size_t by_zlib(lr_gzip_encoder *self, const uint8_t *in, size_t size, bool last, int strategy, uint8_t *out)
{
    z_stream *stream = &self->stream;
    int result;
    if (deflateReset(stream) != Z_OK || deflateParams(stream, self->level, strategy) != Z_OK) {
        return 0;
    }
    stream->next_in = (z_const Bytef *)in;
    stream->avail_in = (uInt)size;
    stream->next_out = out;
    stream->avail_out = LR_GZIP_ROOM;
    result = deflate(stream, last ? Z_FINISH : Z_FULL_FLUSH);
    if (result != (last ? Z_STREAM_END : Z_OK) || stream->avail_in > 0 || stream->avail_out == 0) {
        return 0;
    }
    return LR_GZIP_ROOM - stream->avail_out;
}

#ifdef LR_HAVE_ISAL
/* @param level 1 or 3. @param window matches reach back over 2^window bytes; 0: 32 KiB. @return 0: it could not. */
static size_t by_isal(lr_gzip_encoder *self, const uint8_t *in, size_t size, bool last, uint32_t level, uint16_t window,
                      uint8_t *out)
{
    struct isal_zstream *fast = &self->fast;
    /* It leaves data of the chunk before in both, and would refer to it where that fits. */
    memset(fast, 0, sizeof *fast);
    memset(self->tables, 0, level == 1 ? ISAL_DEF_LVL1_REQ : ISAL_DEF_LVL3_REQ);
    isal_deflate_stateless_init(fast);
    fast->level = level;
    fast->hist_bits = window;
    fast->level_buf = self->tables;
    fast->level_buf_size = level == 1 ? ISAL_DEF_LVL1_DEFAULT : ISAL_DEF_LVL3_DEFAULT;
    fast->flush = last ? NO_FLUSH : FULL_FLUSH;
    fast->end_of_stream = last;
    fast->next_in = (uint8_t *)(uintptr_t)in;
    fast->avail_in = (uint32_t)size;
    fast->next_out = out;
    fast->avail_out = LR_GZIP_ROOM;
    if (isal_deflate_stateless(fast) != COMP_OK || fast->avail_in > 0) {
        return 0;
    }
    return LR_GZIP_ROOM - fast->avail_out;
}

/* By its level 3. Among the digits of JSON a distant match takes more bits than the characters that it replaces: the
 * window is the smaller one where it is better for a stretch of the chunk. */
static size_t by_isal_windows(lr_gzip_encoder *self, const uint8_t *in, size_t size, bool last, uint8_t *out)
{
    enum { STRETCH = 16 << 10, NARROW = 10, WIDE = 0 };
    size_t length = size < STRETCH ? size : STRETCH;
    const uint8_t *stretch = in + (size - length) / 2;
    size_t narrow = by_isal(self, stretch, length, false, 3, NARROW, out);
    size_t wide = by_isal(self, stretch, length, false, 3, WIDE, out);
    return by_isal(self, in, size, last, 3, narrow < wide ? NARROW : WIDE, out);
}
#endif

/* Chooses zlib's strategy: run-length alone if a trial on part of the chunk shows that it is as good. @param out is
 * overwritten. */
static int choose_strategy(lr_gzip_encoder *self, const uint8_t *in, size_t size, lr_gzip_kind kind, uint8_t *out)
{
    enum { STRETCH = 48 << 10 };
    size_t length = size < STRETCH ? size : STRETCH;
    int strategy = kind == LR_GZIP_NOISE ? Z_HUFFMAN_ONLY : Z_DEFAULT_STRATEGY;
    if (kind == LR_GZIP_RUNS && self->level <= USUAL_LEVEL) {
        const uint8_t *stretch = in + (size - length) / 2;
        size_t runs = by_zlib(self, stretch, length, false, Z_RLE, out);
        strategy = runs <= by_zlib(self, stretch, length, false, strategy, out) ? Z_RLE : strategy;
    }
    return strategy;
}

/* @return 0: nothing smaller than stored blocks. */
static size_t compress_piece(lr_gzip_encoder *self, const uint8_t *in, size_t size, bool last, uint8_t *out)
{
    lr_gzip_kind kind;
    if (self->level == 0 || size == 0) {
        return 0;
    }
#ifdef LR_HAVE_ISAL
    if (self->level <= FAST_LEVEL) {
        return self->level == FAST_LEVEL ? by_isal_windows(self, in, size, last, out)
                                         : by_isal(self, in, size, last, 1, 0, out);
    }
#endif
    kind = lr_gzip_probe(in, size);
#ifdef LR_HAVE_ISAL
    if (kind == LR_GZIP_NOISE) {
        return by_isal(self, in, size, last, 1, 0, out);
    }
#endif
    return by_zlib(self, in, size, last, choose_strategy(self, in, size, kind, out), out);
}

size_t lr_gzip_encode(lr_gzip_encoder *self, const uint8_t *in, size_t size, bool last, uint8_t *out)
{
    size_t made = compress_piece(self, in, size, last, out);
    return made > 0 && made <= stored_size(size) ? made : put_stored(in, size, last, out);
}
