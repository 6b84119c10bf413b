/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Zstandard reader: a source that decodes another one. */
#include "plugins/codec/zstd/codec.h"
#include "plugins/codec/input.h"
#include "plugins/codec/little.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>
#include <zstd_errors.h>

/* A few bytes of a header can request the window's memory: at most 128 MiB, like the zstd tool. */
#define WINDOW_LOG 27
/* Of a frame's magic, and of the header of any frame. */
#define MAGIC_SIZE 4u
#define HEADER_MOST 18u

/* All of this comes from malloc: the source outlives its job when a record keeps bytes of it. */
typedef struct decoder {
    ZSTD_DCtx *context;
    uint64_t frames;
    uint64_t hint;               /* the size to be expected, or REC_UNKNOWN */
    unsigned long long expected; /* what the frame says that it holds, or ZSTD_CONTENTSIZE_UNKNOWN, _ERROR */
    uint64_t made;               /* of it so far */
    bool within;                 /* a frame has begun and has not ended */
    bool ended;
    lr_input in;
} decoder;

static int32_t fail_memory(rec_job *job)
{
    return rec_fail(job, REC_E_MEMORY, REC_UNKNOWN, "out of memory while zstd was set up");
}

static int32_t fail_data(rec_job *job, const decoder *self, size_t result)
{
    uint64_t at = lr_input_place(&self->in);
    switch (ZSTD_getErrorCode(result)) {
    case ZSTD_error_memory_allocation:
        return fail_memory(job);
    case ZSTD_error_frameParameter_windowTooLarge:
        (void)rec_fail(job, REC_E_LIMIT, at, "decoding needs a window of more than 128 MiB");
        rec_fail_hint(job, "Decompress it with `zstd -d --long=31`, or compress it again without --long or --ultra.");
        return REC_E_LIMIT;
    case ZSTD_error_dictionary_wrong:
    case ZSTD_error_dictionary_corrupted:
        (void)rec_fail(job, REC_E_UNSUPPORTED, at, "it was compressed with a dictionary, which is not in the file");
        rec_fail_hint(job, "Decompress it with that dictionary first.");
        return REC_E_UNSUPPORTED;
    case ZSTD_error_checksum_wrong:
        (void)rec_fail(job, REC_E_FORMAT, at,
                       "the checksum of the compressed file does not fit the data: one of them is damaged");
        break;
    default:
        (void)rec_fail(job, REC_E_FORMAT, at, "the compressed data are damaged (zstd: %s)", ZSTD_getErrorName(result));
    }
    rec_fail_hint(job, "Copy the file again from its source.");
    return REC_E_FORMAT;
}

/* What begins here is no frame. */
static int32_t fail_foreign(rec_job *job, decoder *self)
{
    const uint8_t *first = self->in.next;
    if (lr_input_place(&self->in)) {
        return lr_input_fail_rest(job, &self->in, "zstd");
    }
    if (self->in.left < MAGIC_SIZE) {
        return rec_fail_found(job, REC_E_FORMAT, 0, "a zstd file (0x28 0xb5 0x2f 0xfd)", "%zu bytes in all",
                              self->in.left);
    }
    return rec_fail_found(job, REC_E_FORMAT, 0, "a zstd file (0x28 0xb5 0x2f 0xfd)", "0x%02x 0x%02x 0x%02x 0x%02x",
                          first[0], first[1], first[2], first[3]);
}

/* Whether bytes begin a frame, a skippable one or not. */
static bool is_magic(const uint8_t *bytes)
{
    uint32_t word = (uint32_t)lr_little(bytes, 4);
    return word == ZSTD_MAGICNUMBER || (word & ZSTD_MAGIC_SKIPPABLE_MASK) == ZSTD_MAGIC_SKIPPABLE_START;
}

/* Between two frames: the next one begins, or that was all. */
static int32_t next_frame(rec_job *job, decoder *self)
{
    int32_t status = lr_input_feed(job, &self->in, MAGIC_SIZE);
    if (status != REC_OK) {
        return status;
    }
    if (self->in.left == 0 && self->frames) {
        self->ended = true;
    } else if (self->in.left == 0) {
        status = rec_fail_found(job, REC_E_FORMAT, 0, "a zstd file", "an empty file");
    } else if (self->in.left < MAGIC_SIZE || !is_magic(self->in.next)) {
        status = fail_foreign(job, self);
    } else {
        self->within = true;
        self->frames++;
        self->made = 0;
        status = lr_input_feed(job, &self->in, HEADER_MOST);
        self->expected = ZSTD_getFrameContentSize(self->in.next, self->in.left);
    }
    return status;
}

/* A frame has ended. libzstd lets one pass that holds less than it says if its last block is empty. */
static int32_t check_size(rec_job *job, const decoder *self)
{
    int32_t status;
    if (self->expected == ZSTD_CONTENTSIZE_UNKNOWN || self->expected == ZSTD_CONTENTSIZE_ERROR ||
        self->expected == self->made) {
        return REC_OK;
    }
    status = rec_fail(job, REC_E_FORMAT, lr_input_place(&self->in),
                      "the compressed data are damaged: a frame of %llu bytes, as it says, holds %" PRIu64,
                      self->expected, self->made);
    rec_fail_hint(job, "Copy the file again from its source.");
    return status;
}

/* Decodes as much as there is room for. */
static int32_t step(rec_job *job, decoder *self, ZSTD_outBuffer *output)
{
    size_t before = output->pos, result;
    ZSTD_inBuffer input;
    int32_t status = lr_input_feed(job, &self->in, 1);
    if (status != REC_OK) {
        return status;
    }
    input = (ZSTD_inBuffer){.src = self->in.next, .size = self->in.left};
    result = ZSTD_decompressStream(self->context, output, &input);
    self->in.next += input.pos;
    self->in.left -= input.pos;
    if (ZSTD_isError(result)) {
        return fail_data(job, self, result);
    }
    self->within = result != 0;
    self->made += output->pos - before;
    if (!self->within) {
        return check_size(job, self);
    }
    if (self->in.drained && self->in.left == 0 && output->pos == before) {
        return lr_input_fail_cut(job, &self->in);
    }
    return REC_OK;
}

static int32_t read_some(void *user, rec_job *job, void *target, uint64_t room, uint64_t *got)
{
    decoder *self = user;
    ZSTD_outBuffer output = {.dst = target, .size = (size_t)(room < SIZE_MAX ? room : SIZE_MAX)};
    int32_t status = REC_OK;
    while (output.pos < output.size && !self->ended && status == REC_OK) {
        status = self->within ? step(job, self, &output) : next_frame(job, self);
    }
    *got = output.pos;
    return status;
}

static int32_t rewind_all(void *user, rec_job *job)
{
    decoder *self = user;
    (void)ZSTD_DCtx_reset(self->context, ZSTD_reset_session_only);
    self->frames = 0;
    self->within = self->ended = false;
    return lr_input_rewind(job, &self->in);
}

static uint64_t size_hint(void *user)
{
    return ((const decoder *)user)->hint;
}

static void release(void *user)
{
    decoder *self = user;
    (void)ZSTD_freeDCtx(self->context);
    free(self);
}

static const rec_source_ops decoding = {
    .size = sizeof decoding,
    .read = read_some,
    .rewind = rewind_all,
    .size_hint = size_hint,
    .release = release,
};

/* What the first frame says that it holds; of a file of several frames that is too little, and does no harm. */
static uint64_t first_size(const decoder *self)
{
    unsigned long long size = ZSTD_getFrameContentSize(self->in.next, self->in.left);
    return size == ZSTD_CONTENTSIZE_UNKNOWN || size == ZSTD_CONTENTSIZE_ERROR || size == 0 ? REC_UNKNOWN : size;
}

int32_t lr_zstd_source(rec_job *job, rec_source *parent, rec_source **out)
{
    decoder *self = malloc(sizeof *self);
    int32_t status;
    if (!self) {
        return fail_memory(job);
    }
    memset(self, 0, offsetof(decoder, in.buffer));
    self->in.parent = parent;
    self->hint = REC_UNKNOWN;
    self->context = ZSTD_createDCtx();
    if (!self->context || ZSTD_isError(ZSTD_DCtx_setParameter(self->context, ZSTD_d_windowLogMax, WINDOW_LOG))) {
        release(self);
        return fail_memory(job);
    }
    status = rewind_all(self, job);
    if (status == REC_OK) {
        status = lr_input_feed(job, &self->in, HEADER_MOST);
    }
    if (status == REC_OK) {
        status = next_frame(job, self); /* is it one at all? */
    }
    if (status != REC_OK) {
        release(self);
        return status;
    }
    self->hint = first_size(self);
    return rec_source_filter(job, parent, &decoding, self, out);
}
