/* SPDX-License-Identifier: MIT OR Apache-2.0
 * gzip reader: a source that inflates another one. Good data go the quick way; zlib has the last word on all others. */
#include "plugins/codec/gzip/gzip.h"
#include "plugins/codec/gzip/quick.h"
#include "plugins/codec/input.h"
#include "plugins/codec/little.h"

#include <inttypes.h>
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* zlib's window of 32 KiB, and no other wrapper than gzip's. */
#define GZIP_ONLY (15 + 16)
/* Deflate cannot do better than this (zlib's technical notes): a size hint beyond it is a lie. */
#define BEST_RATIO 1032

/* Skipped data are inflated in chunks of the size of normal reads. */
#define PASSED (UINT64_C(4) << 20)

/* All memory is from malloc, not from the job: the source outlives its job when a record keeps it, and is released
 * without one. */
typedef struct inflater {
    lr_quick *quick; /* NULL: it has given up, or there is no memory for it */
    uint64_t quick_gave;
    z_stream stream;
    uint64_t full; /* members that had data */
    uint64_t hint; /* the size to be expected, or REC_UNKNOWN */
    bool between;  /* at the end of a member */
    bool ended;
    bool noted;
    lr_input in;
} inflater;

static int32_t fail_memory(rec_job *job)
{
    return rec_fail(job, REC_E_MEMORY, REC_UNKNOWN, "out of memory while zlib was set up");
}

static int32_t fail_data(rec_job *job, const inflater *self)
{
    const char *words = self->stream.msg ? self->stream.msg : "no reason given";
    int32_t status;
    if (strcmp(words, "incorrect data check") == 0) {
        status = rec_fail(job, REC_E_FORMAT, lr_input_place(&self->in),
                          "the checksum of the compressed file does not fit the data: one of them is damaged");
    } else if (strcmp(words, "incorrect length check") == 0) {
        status = rec_fail(job, REC_E_FORMAT, lr_input_place(&self->in),
                          "the length at the end of the compressed file does not fit the data: one of them is damaged");
    } else {
        status =
            rec_fail(job, REC_E_FORMAT, lr_input_place(&self->in), "the compressed data are damaged (zlib: %s)", words);
    }
    rec_fail_hint(job, "Copy the file again from its source.");
    return status;
}

static void note_members(rec_job *job, inflater *self, uint64_t full)
{
    if (full > 1 && !self->noted) {
        rec_job_note(job, REC_NOTE_LAYOUT, "", "%" PRIu64 " gzip members with data; Burn reads only the first", full);
        self->noted = true;
    }
}

/* After the end of a member: begins the next one, or finds that nothing but padding is left. */
static int32_t next_member(rec_job *job, inflater *self)
{
    lr_input *in = &self->in;
    int32_t status = lr_input_feed(job, in, 2);
    self->full += self->stream.total_out > 0;
    if (status == REC_OK && in->left >= 2 && in->next[0] == 0x1f && in->next[1] == 0x8b) {
        self->between = false;
        return inflateReset(&self->stream) == Z_OK ? REC_OK : fail_memory(job);
    }
    self->stream.total_out = 0; /* counted; the next look at this end must not count it again */
    while (status == REC_OK && in->left && *in->next == 0) { /* as tapes are padded; gzip(1) too */
        in->next++;
        in->left--;
        status = lr_input_feed(job, in, 1);
    }
    if (status == REC_OK && in->left) {
        status = lr_input_fail_rest(job, in, "gzip");
    }
    if (status != REC_OK) {
        return status;
    }
    self->ended = true;
    note_members(job, self, self->full);
    return REC_OK;
}

/* Inflates once. @return zlib's. */
static int inflate_some(inflater *self, uint8_t *target, uint32_t room)
{
    z_stream *stream = &self->stream;
    int result;
    stream->next_in = (z_const Bytef *)(uintptr_t)self->in.next;
    stream->avail_in = (uInt)self->in.left;
    stream->next_out = target;
    stream->avail_out = room;
    result = inflate(stream, Z_NO_FLUSH);
    self->in.next = stream->next_in;
    self->in.left = stream->avail_in;
    return result;
}

static int32_t read_plain(inflater *self, rec_job *job, void *target, uint64_t room, uint64_t *got)
{
    uint64_t filled = 0;
    int32_t status = REC_OK;
    while (filled < room && !self->ended && status == REC_OK) {
        if (self->between) {
            status = next_member(job, self);
            continue;
        }
        uint64_t left = room - filled;
        uint32_t piece = left < UINT_MAX ? (uint32_t)left : UINT_MAX;
        status = lr_input_feed(job, &self->in, 1);
        if (status != REC_OK) {
            break;
        }
        int result = inflate_some(self, (uint8_t *)target + filled, piece);
        filled += piece - self->stream.avail_out;
        switch (result) {
        case Z_OK:
            break;
        case Z_STREAM_END:
            self->between = true;
            break;
        case Z_BUF_ERROR: /* no step was possible, and there was room: the input is at its end */
            status = lr_input_fail_cut(job, &self->in);
            break;
        case Z_MEM_ERROR:
            status = fail_memory(job);
            break;
        default:
            status = fail_data(job, self);
        }
    }
    *got = filled;
    return status;
}

static int32_t rewind_plain(inflater *self, rec_job *job)
{
    if (inflateReset(&self->stream) != Z_OK) {
        return fail_memory(job);
    }
    self->full = 0;
    self->between = self->ended = false;
    return lr_input_rewind(job, &self->in);
}

/* Has zlib do it from the beginning; what was given is passed over. */
static int32_t take_over(rec_job *job, inflater *self)
{
    int32_t status = rewind_plain(self, job);
    uint64_t left = self->quick_gave, got = 1;
    uint8_t *passed = left ? malloc(PASSED) : NULL;
    lr_quick_free(self->quick);
    self->quick = NULL;
    if (left && !passed) {
        return fail_memory(job);
    }
    while (left && got && status == REC_OK) {
        status = read_plain(self, job, passed, left < PASSED ? left : PASSED, &got);
        left -= got;
        if (status == REC_OK) { /* it takes long, and may be cancelled */
            status = rec_job_progress(job, self->quick_gave, REC_UNKNOWN);
        }
    }
    free(passed);
    return status;
}

static int32_t read_some(void *user, rec_job *job, void *target, uint64_t room, uint64_t *got)
{
    inflater *self = user;
    bool gives_up = false;
    uint64_t full;
    int32_t status;
    if (!self->quick) {
        return read_plain(self, job, target, room, got);
    }
    status = lr_quick_read(self->quick, job, target, room, got, &gives_up);
    self->quick_gave += *got;
    if (lr_quick_ended(self->quick, &full)) {
        note_members(job, self, full);
    }
    if (gives_up) {
        status = take_over(job, self);
        return status == REC_OK ? read_plain(self, job, target, room, got) : status;
    }
    return status;
}

/* Both begin again; without memory for the quick way there is the other one. */
static int32_t begin(inflater *self, rec_job *job, bool quick)
{
    int32_t status = rewind_plain(self, job);
    lr_quick_free(self->quick);
    self->quick = quick ? lr_quick_new(self->in.parent) : NULL;
    self->quick_gave = 0;
    return status;
}

static int32_t rewind_all(void *user, rec_job *job)
{
    inflater *self = user;
    return begin(self, job, self->quick != NULL);
}

/* The last four bytes of a member are its length modulo 2^32. They are trusted if this could be the only member and
 * the length was not cut: data that deflate cannot make smaller take hardly more space than before. */
static int32_t look_at_length(rec_job *job, inflater *self)
{
    uint64_t size = rec_source_size(self->in.parent);
    uint8_t tail[4];
    self->hint = REC_UNKNOWN;
    if (size == REC_UNKNOWN || size < 18) { /* of an empty member */
        return REC_OK;
    }
    int32_t status = rec_source_read_at(job, self->in.parent, size - 4, tail, sizeof tail);
    if (status == REC_OK) {
        uint64_t length = lr_little(tail, sizeof tail);
        if (length / BEST_RATIO <= size && length + length / 1024 + 1024 >= size) {
            self->hint = length;
        }
    }
    return status;
}

static uint64_t size_hint(void *user)
{
    return ((const inflater *)user)->hint;
}

static void release(void *user)
{
    inflater *self = user;
    lr_quick_free(self->quick);
    (void)inflateEnd(&self->stream);
    free(self);
}

static const rec_source_ops inflating = {
    .size = sizeof inflating,
    .read = read_some,
    .rewind = rewind_all,
    .size_hint = size_hint,
    .release = release,
};

int32_t lr_gzip_source(rec_job *job, rec_source *parent, rec_source **out)
{
    return lr_gzip_source_by(job, parent, true, out);
}

int32_t lr_gzip_source_by(rec_job *job, rec_source *parent, bool quick, rec_source **out)
{
    inflater *self = malloc(sizeof *self);
    if (!self) {
        return fail_memory(job);
    }
    memset(self, 0, offsetof(inflater, in.buffer));
    self->in.parent = parent;
    if (inflateInit2(&self->stream, GZIP_ONLY) != Z_OK) {
        free(self);
        return fail_memory(job);
    }
    int32_t status = rewind_plain(self, job);
    if (status == REC_OK) {
        status = lr_input_feed(job, &self->in, 2);
    }
    if (status == REC_OK && self->in.given == 0) {
        status = rec_fail_found(job, REC_E_FORMAT, 0, "a gzip file", "an empty file");
    } else if (status == REC_OK && (self->in.buffer[0] != 0x1f || (self->in.given > 1 && self->in.buffer[1] != 0x8b))) {
        unsigned second = self->in.given > 1 ? self->in.buffer[1] : 0;
        status = rec_fail_found(job, REC_E_FORMAT, 0, "a gzip file (0x1f 0x8b)",
                                self->in.given > 1 ? "0x%02x 0x%02x" : "0x%02x", (unsigned)self->in.buffer[0], second);
    }
    if (status == REC_OK) {
        status = look_at_length(job, self);
    }
    if (status == REC_OK) {
        status = begin(self, job, quick);
    }
    if (status != REC_OK) {
        release(self);
        return status;
    }
    return rec_source_filter(job, parent, &inflating, self, out);
}
