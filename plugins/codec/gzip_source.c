/* SPDX-License-Identifier: MIT OR Apache-2.0
 * gzip reader: a source that inflates another one. */
#include "gzip.h"

#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* zlib's window of 32 KiB, and no other wrapper than gzip's. */
#define GZIP_ONLY (15 + 16)
/* Deflate cannot do better than this (zlib's technical notes): a size hint beyond it is a lie. */
#define BEST_RATIO 1032

/* The whole compressed input is one view, which is a map or is in memory anyway, so it is read without a copy. All of
 * this comes from malloc, not from the job: the source outlives its job when a record keeps bytes of it, and is
 * released without one. */
typedef struct inflater {
    z_stream stream;
    const uint8_t *data;
    uint64_t size;
    uint64_t given;     /* input handed to zlib so far */
    uint64_t member_at; /* where the current member begins */
    uint64_t full;      /* members that had data */
    bool between;       /* at the end of a member */
    bool ended;
    bool noted;
} inflater;

/* Where in the input zlib is. */
static uint64_t place(const inflater *self)
{
    return self->given - self->stream.avail_in;
}

/* zlib counts in 32 bits: input goes in by pieces. */
static void feed(inflater *self)
{
    uint64_t left = self->size - self->given;
    if (self->stream.avail_in == 0 && left > 0) {
        uint32_t piece = left < UINT_MAX ? (uint32_t)left : UINT_MAX;
        self->stream.next_in = (z_const Bytef *)(self->data + self->given);
        self->stream.avail_in = piece;
        self->given += piece;
    }
}

static int32_t fail_memory(rec_job *job)
{
    return rec_fail(job, REC_E_MEMORY, REC_UNKNOWN, "out of memory while zlib was set up");
}

static int32_t fail_cut(rec_job *job, const inflater *self)
{
    int32_t status = rec_fail(job, REC_E_FORMAT, self->size, "the compressed file ends before its data do");
    rec_fail_hint(job, "The file is cut short: copy it again from where it came from.");
    return status;
}

static int32_t fail_data(rec_job *job, const inflater *self)
{
    const char *words = self->stream.msg ? self->stream.msg : "no reason given";
    int32_t status;
    if (strcmp(words, "incorrect data check") == 0) {
        status = rec_fail(job, REC_E_FORMAT, place(self),
                          "the checksum of the compressed file does not fit the data: one of them is damaged");
    } else if (strcmp(words, "incorrect length check") == 0) {
        status = rec_fail(job, REC_E_FORMAT, place(self),
                          "the length at the end of the compressed file does not fit the data: one of them is damaged");
    } else {
        status = rec_fail(job, REC_E_FORMAT, place(self), "the compressed data are damaged (zlib: %s)", words);
    }
    rec_fail_hint(job, "Copy the file again from where it came from.");
    return status;
}

/* After the end of a member: begins the next one, or finds that nothing but padding is left. */
static int32_t next_member(rec_job *job, inflater *self)
{
    uint64_t at = place(self);
    const uint8_t *rest = self->data + at;
    uint64_t left = self->size - at, zeros = 0;
    self->full += self->stream.total_out > 0;
    if (left >= 2 && rest[0] == 0x1f && rest[1] == 0x8b) {
        if (inflateReset(&self->stream) != Z_OK) {
            return fail_memory(job);
        }
        self->member_at = at;
        self->between = false;
        return REC_OK;
    }
    while (zeros < left && rest[zeros] == 0) { /* as tapes are padded; gzip(1) accepts it too */
        zeros++;
    }
    if (zeros < left) {
        int32_t status = rec_fail_found(job, REC_E_FORMAT, at + zeros, "the end of the compressed file",
                                        "%" PRIu64 " bytes more that are not gzip", left - zeros);
        rec_fail_hint(job, "Cut them off if they do not belong to it.");
        return status;
    }
    self->ended = true;
    if (self->full > 1 && !self->noted) {
        rec_job_note(job, REC_NOTE_LAYOUT, "", "%" PRIu64 " gzip members with data; Burn reads only the first",
                     self->full);
        self->noted = true;
    }
    return REC_OK;
}

static int32_t read_some(void *user, rec_job *job, void *target, uint64_t room, uint64_t *got)
{
    inflater *self = user;
    uint64_t filled = 0;
    int32_t status = REC_OK;
    while (filled < room && !self->ended && status == REC_OK) {
        if (self->between) {
            status = next_member(job, self);
            continue;
        }
        uint64_t left = room - filled;
        uint32_t piece = left < UINT_MAX ? (uint32_t)left : UINT_MAX;
        feed(self);
        self->stream.next_out = (Bytef *)target + filled;
        self->stream.avail_out = piece;
        int result = inflate(&self->stream, Z_NO_FLUSH);
        filled += piece - self->stream.avail_out;
        switch (result) {
        case Z_OK:
            break;
        case Z_STREAM_END:
            self->between = true;
            break;
        case Z_BUF_ERROR: /* no step was possible, and there was room: the input is at its end */
            status = fail_cut(job, self);
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

static int32_t rewind_all(void *user, rec_job *job)
{
    inflater *self = user;
    if (inflateReset(&self->stream) != Z_OK) {
        return fail_memory(job);
    }
    self->stream.avail_in = 0;
    self->given = self->member_at = self->full = 0;
    self->between = self->ended = false;
    return REC_OK;
}

/* The last four bytes of a member are its length modulo 2^32. They are trusted if this could be the only member and
 * the length was not cut: data that deflate cannot make smaller take hardly more space than before. */
static uint64_t size_hint(void *user)
{
    const inflater *self = user;
    if (self->size < 18) { /* of an empty member */
        return REC_UNKNOWN;
    }
    const uint8_t *tail = self->data + self->size - 4;
    uint64_t length = (uint64_t)tail[0] | (uint64_t)tail[1] << 8 | (uint64_t)tail[2] << 16 | (uint64_t)tail[3] << 24;
    return length / BEST_RATIO > self->size || length + length / 1024 + 1024 < self->size ? REC_UNKNOWN : length;
}

static void release(void *user)
{
    inflater *self = user;
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
    const void *view = NULL;
    uint64_t size = 0;
    int32_t status = rec_source_view(job, parent, &view, &size);
    if (status != REC_OK) {
        return status;
    }
    const uint8_t *data = view;
    if (size == 0) {
        return rec_fail_found(job, REC_E_FORMAT, 0, "a gzip file", "an empty file");
    }
    if (data[0] != 0x1f || (size > 1 && data[1] != 0x8b)) {
        unsigned second = size > 1 ? data[1] : 0;
        return rec_fail_found(job, REC_E_FORMAT, 0, "a gzip file (0x1f 0x8b)", size > 1 ? "0x%02x 0x%02x" : "0x%02x",
                              (unsigned)data[0], second);
    }
    inflater *self = calloc(1, sizeof *self);
    if (!self || inflateInit2(&self->stream, GZIP_ONLY) != Z_OK) {
        free(self);
        return fail_memory(job);
    }
    self->data = data;
    self->size = size;
    return rec_source_filter(job, parent, &inflating, self, out);
}

uint64_t lr_gzip_peek(const rec_head *head, uint8_t *out, uint32_t room)
{
    if (head->length < 18 || head->data[0] != 0x1f || head->data[1] != 0x8b) {
        return 0;
    }
    z_stream stream = {.next_in = (z_const Bytef *)head->data,
                       .avail_in = head->length < UINT_MAX ? (uint32_t)head->length : UINT_MAX,
                       .next_out = out,
                       .avail_out = room};
    if (inflateInit2(&stream, GZIP_ONLY) != Z_OK) {
        return 0;
    }
    (void)inflate(&stream, Z_SYNC_FLUSH); /* an error leaves what came before it, and that counts */
    (void)inflateEnd(&stream);
    return room - stream.avail_out;
}
