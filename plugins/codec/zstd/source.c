/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Zstandard reader: a source that decodes another one. */
#include "plugins/codec/zstd/codec.h"
#include "plugins/codec/little.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>
#include <zstd_errors.h>

/* Compressed bytes are read in pieces of this size. */
#define PIECE (128u << 10)
/* A few bytes of a header can request the window's memory: at most 128 MiB, like the zstd tool. */
#define WINDOW_LOG 27
/* Of a frame's magic, and of the header of any frame. */
#define MAGIC_SIZE 4u
#define HEADER_MOST 18u

/* All of this comes from malloc: the source outlives its job when a record keeps bytes of it. */
typedef struct decoder {
    ZSTD_DCtx *context;
    rec_source *parent; /* the filter holds it for as long as this lives */
    ZSTD_inBuffer input;
    uint64_t given; /* input that was read so far */
    uint64_t frames;
    uint64_t hint;               /* the size to be expected, or REC_UNKNOWN */
    unsigned long long expected; /* what the frame says that it holds, or ZSTD_CONTENTSIZE_UNKNOWN, _ERROR */
    uint64_t made;               /* of it so far */
    bool drained;                /* the input has no more */
    bool within;                 /* a frame has begun and has not ended */
    bool ended;
    uint8_t buffer[PIECE];
} decoder;

static uint64_t left(const decoder *self)
{
    return self->input.size - self->input.pos;
}

/* Where in the input the decoder is. */
static uint64_t place(const decoder *self)
{
    return self->given - left(self);
}

static const uint8_t *next(const decoder *self)
{
    return self->buffer + self->input.pos;
}

/* Has at least `want` bytes, which are few, or what is left before the end. */
static int32_t feed(rec_job *job, decoder *self, size_t want)
{
    int32_t status = REC_OK;
    size_t held = (size_t)left(self);
    if (held >= want || self->drained) {
        return REC_OK;
    }
    memmove(self->buffer, next(self), held);
    self->input.pos = 0;
    self->input.size = held;
    while (self->input.size < want && !self->drained && status == REC_OK) {
        uint64_t got = 0;
        status = rec_source_read(job, self->parent, self->buffer + self->input.size, PIECE - self->input.size, &got);
        self->input.size += (size_t)got;
        self->given += got;
        self->drained = status == REC_OK && got == 0;
    }
    return status;
}

static int32_t fail_memory(rec_job *job)
{
    return rec_fail(job, REC_E_MEMORY, REC_UNKNOWN, "out of memory while zstd was set up");
}

static int32_t fail_cut(rec_job *job, const decoder *self)
{
    int32_t status = rec_fail(job, REC_E_FORMAT, self->given, "the compressed file ends before its data do");
    rec_fail_hint(job, "The file is truncated: copy it again from its source.");
    return status;
}

static int32_t fail_data(rec_job *job, const decoder *self, size_t result)
{
    uint64_t at = place(self);
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
    uint64_t at = place(self);
    int32_t status = REC_OK;
    if (at == 0 && left(self) < MAGIC_SIZE) {
        return rec_fail_found(job, REC_E_FORMAT, 0, "a zstd file (0x28 0xb5 0x2f 0xfd)", "%" PRIu64 " bytes in all",
                              left(self));
    }
    if (at == 0) {
        const uint8_t *first = next(self);
        return rec_fail_found(job, REC_E_FORMAT, 0, "a zstd file (0x28 0xb5 0x2f 0xfd)", "0x%02x 0x%02x 0x%02x 0x%02x",
                              first[0], first[1], first[2], first[3]);
    }
    while (status == REC_OK && left(self)) {
        self->input.pos = self->input.size;
        status = feed(job, self, 1);
    }
    if (status == REC_OK) {
        status = rec_fail_found(job, REC_E_FORMAT, at, "the end of the compressed file",
                                "%" PRIu64 " bytes more that are not zstd", self->given - at);
        rec_fail_hint(job, "Remove them if they do not belong to it.");
    }
    return status;
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
    int32_t status = feed(job, self, MAGIC_SIZE);
    if (status != REC_OK) {
        return status;
    }
    if (left(self) == 0 && self->frames) {
        self->ended = true;
    } else if (left(self) == 0) {
        status = rec_fail_found(job, REC_E_FORMAT, 0, "a zstd file", "an empty file");
    } else if (left(self) < MAGIC_SIZE || !is_magic(next(self))) {
        status = fail_foreign(job, self);
    } else {
        self->within = true;
        self->frames++;
        self->made = 0;
        status = feed(job, self, HEADER_MOST);
        self->expected = ZSTD_getFrameContentSize(next(self), (size_t)left(self));
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
    status = rec_fail(job, REC_E_FORMAT, place(self),
                      "the compressed data are damaged: a frame of %llu bytes, as it says, holds %" PRIu64,
                      self->expected, self->made);
    rec_fail_hint(job, "Copy the file again from its source.");
    return status;
}

/* Decodes as much as there is room for. */
static int32_t step(rec_job *job, decoder *self, ZSTD_outBuffer *output)
{
    size_t before = output->pos, result;
    int32_t status = feed(job, self, 1);
    if (status != REC_OK) {
        return status;
    }
    result = ZSTD_decompressStream(self->context, output, &self->input);
    if (ZSTD_isError(result)) {
        return fail_data(job, self, result);
    }
    self->within = result != 0;
    self->made += output->pos - before;
    if (!self->within) {
        return check_size(job, self);
    }
    if (self->drained && left(self) == 0 && output->pos == before) {
        return fail_cut(job, self);
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
    self->input.pos = self->input.size = 0;
    self->given = self->frames = 0;
    self->drained = self->within = self->ended = false;
    return rec_source_rewind(job, self->parent);
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
    unsigned long long size = ZSTD_getFrameContentSize(self->buffer, self->input.size);
    return size == ZSTD_CONTENTSIZE_UNKNOWN || size == ZSTD_CONTENTSIZE_ERROR || size == 0 ? REC_UNKNOWN : size;
}

int32_t lr_zstd_source(rec_job *job, rec_source *parent, rec_source **out)
{
    decoder *self = malloc(sizeof *self);
    int32_t status;
    if (!self) {
        return fail_memory(job);
    }
    memset(self, 0, offsetof(decoder, buffer));
    self->input.src = self->buffer;
    self->parent = parent;
    self->hint = REC_UNKNOWN;
    self->context = ZSTD_createDCtx();
    if (!self->context || ZSTD_isError(ZSTD_DCtx_setParameter(self->context, ZSTD_d_windowLogMax, WINDOW_LOG))) {
        release(self);
        return fail_memory(job);
    }
    status = rewind_all(self, job);
    if (status == REC_OK) {
        status = feed(job, self, HEADER_MOST);
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
