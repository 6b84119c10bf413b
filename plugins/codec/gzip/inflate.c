/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Raw Deflate data by whichever library is configured. */
#include "plugins/codec/gzip/inflate.h"

#include <stdlib.h>

#include "common/crc32.h"

/* The checksum is computed of bytes that are still in the cache. It also keeps each step within 32 bits. */
enum { CACHED = 256 << 10, INPUT_MOST = 1 << 30 };

static size_t at_most(ptrdiff_t size, size_t most)
{
    return (size_t)size < most ? (size_t)size : most;
}

#ifdef LR_HAVE_ISAL
#include <isa-l/igzip_lib.h>

static void *state_new(void)
{
    return malloc(sizeof(struct inflate_state));
}

static void state_free(void *state)
{
    free(state);
}

static bool state_begin(void *state)
{
    isal_inflate_init(state);
    return true;
}

static lr_inflate_stop step(lr_inflater *self, size_t in, size_t out)
{
    struct inflate_state *state = self->state;
    int result;
    state->next_in = (uint8_t *)(uintptr_t)self->in;
    state->avail_in = (uint32_t)in;
    state->next_out = self->out;
    state->avail_out = (uint32_t)out;
    result = isal_inflate(state);
    self->in = state->next_in;
    self->out = state->next_out;
    if (state->block_state == ISAL_BLOCK_FINISH) { /* whole bytes that it has loaded but not used */
        self->in -= state->read_in_length / 8;
        state->read_in_length = 0;
        return LR_INFLATE_END;
    }
    if (result != ISAL_DECOMP_OK) {
        return LR_INFLATE_BAD;
    }
    return state->avail_out ? LR_INFLATE_INPUT : LR_INFLATE_ROOM;
}

static bool is_between_blocks(const lr_inflater *self)
{
    const struct inflate_state *state = self->state;
    return state->block_state == ISAL_BLOCK_NEW_HDR && state->read_in_length == 0 && state->tmp_in_size == 0;
}
#else
#include <zlib.h>

/* zlib's window of 32 KiB, without a wrapper. */
enum { RAW = -15 };
/* What zlib tells in z_stream.data_type: unused bits of the last byte, the last block, between two blocks. */
enum { UNUSED_BITS = 63, LAST_BLOCK = 64, BETWEEN_BLOCKS = 128 };

static void *state_new(void)
{
    z_stream *state = calloc(1, sizeof *state);
    if (state && inflateInit2(state, RAW) != Z_OK) {
        free(state);
        state = NULL;
    }
    return state;
}

static void state_free(void *state)
{
    (void)inflateEnd(state);
    free(state);
}

static bool state_begin(void *state)
{
    return inflateReset(state) == Z_OK;
}

static lr_inflate_stop step(lr_inflater *self, size_t in, size_t out)
{
    z_stream *state = self->state;
    int result;
    state->next_in = (z_const Bytef *)(uintptr_t)self->in;
    state->avail_in = (uInt)in;
    state->next_out = self->out;
    state->avail_out = (uInt)out;
    result = inflate(state, Z_NO_FLUSH);
    self->in = state->next_in;
    self->out = state->next_out;
    if (result == Z_STREAM_END) {
        return LR_INFLATE_END;
    }
    if (result != Z_OK && result != Z_BUF_ERROR) {
        return LR_INFLATE_BAD;
    }
    return state->avail_out ? LR_INFLATE_INPUT : LR_INFLATE_ROOM;
}

static bool is_between_blocks(const lr_inflater *self)
{
    const z_stream *state = self->state;
    return (state->data_type & (UNUSED_BITS | LAST_BLOCK | BETWEEN_BLOCKS)) == BETWEEN_BLOCKS;
}
#endif

lr_inflater *lr_inflater_new(void)
{
    lr_inflater *self = calloc(1, sizeof *self);
    if (self) {
        self->state = state_new();
    }
    if (self && !self->state) {
        free(self);
        self = NULL;
    }
    return self;
}

void lr_inflater_free(lr_inflater *self)
{
    if (self) {
        state_free(self->state);
        free(self);
    }
}

void lr_inflate_begin(lr_inflater *self)
{
    self->crc = 0;
    (void)state_begin(self->state); /* fails for no state of state_new() */
}

lr_inflate_stop lr_inflate(lr_inflater *self)
{
    lr_inflate_stop stop;
    const uint8_t *in;
    uint8_t *out;
    do {
        in = self->in;
        out = self->out;
        stop = step(self, at_most(self->in_end - in, INPUT_MOST), at_most(self->out_end - out, CACHED));
        self->crc = lr_crc32(self->crc, out, (size_t)(self->out - out));
    } while ((stop == LR_INFLATE_ROOM && self->out < self->out_end) ||
             (stop == LR_INFLATE_INPUT && self->in < self->in_end));
    return stop;
}

bool lr_inflate_whole(lr_inflater *self, bool last)
{
    lr_inflate_stop stop;
    lr_inflate_begin(self);
    stop = lr_inflate(self);
    if (stop == LR_INFLATE_ROOM && self->in < self->in_end) { /* the end of the last block has no output */
        stop = step(self, at_most(self->in_end - self->in, INPUT_MOST), 0);
    }
    if (self->in != self->in_end || self->out != self->out_end) {
        return false;
    }
    return last ? stop == LR_INFLATE_END : stop != LR_INFLATE_BAD && stop != LR_INFLATE_END && is_between_blocks(self);
}
