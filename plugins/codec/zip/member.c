/* SPDX-License-Identifier: MIT OR Apache-2.0
 * A member of a zip archive as a source: copied or inflated, and verified by the time its end is reached. Reads may
 * come long after the job has ended: nothing of it is kept, and all memory is from malloc. */
#include <limits.h>
#include <stdlib.h>
#include <zlib.h>

#include "common/crc32.h"
#include "plugins/codec/excerpt.h"
#include "plugins/codec/zip/zip.h"

enum {
    PIECE = 128 * 1024,
    PART = 256 * 1024, /* stays in a cache */
    LEAP = 1024 * 1024,
    GLANCE = 4096 /* a reader that stops before has only read the header */
};

typedef struct reader {
    lr_zip_member member; /* its name goes with the directory */
    lr_codec_excerpt name;
    rec_source *parent; /* counted */
    uint64_t taken;     /* bytes of it that were read */
    uint64_t given;     /* bytes inflated so far */
    uint32_t crc;
    bool ended; /* and verified */
    z_stream stream;
    uint8_t *buffer; /* allocated while it is inflated: an archive may have many members that are never read */
} reader;

static void end_stream(reader *r)
{
    if (r->buffer) {
        (void)inflateEnd(&r->stream);
        free(r->buffer);
        r->buffer = NULL;
    }
}

static int32_t begin_stream(rec_job *job, reader *r)
{
    r->buffer = malloc(PIECE);
    r->stream = (z_stream){.avail_in = 0};
    if (!r->buffer || inflateInit2(&r->stream, -MAX_WBITS) != Z_OK) {
        free(r->buffer);
        r->buffer = NULL;
        return rec_fail(job, REC_E_MEMORY, REC_UNKNOWN, "out of memory while zlib was set up");
    }
    return REC_OK;
}

static int32_t fail_damaged(rec_job *job, const reader *r, const char *what)
{
    int32_t status = rec_fail(job, REC_E_FORMAT, r->member.at, "%s: %s", r->name.text, what);
    rec_fail_hint(job, "The file is damaged: copy it again from its source.");
    return status;
}

static int32_t verify(rec_job *job, reader *r)
{
    if (r->given != r->member.size) {
        return fail_damaged(job, r, "it inflates to fewer bytes than the directory says");
    }
    if (r->taken - r->stream.avail_in != r->member.stored) {
        return fail_damaged(job, r, "its compressed data end before their place does");
    }
    if (r->crc != r->member.crc) {
        return fail_damaged(job, r, "its bytes do not have the checksum that the directory says");
    }
    r->ended = true;
    end_stream(r);
    return REC_OK;
}

static int32_t feed(rec_job *job, reader *r)
{
    uint64_t left = r->member.stored - r->taken;
    uint64_t piece = left < PIECE ? left : PIECE;
    int32_t status = rec_source_read_at(job, r->parent, r->member.offset + r->taken, r->buffer, piece);
    if (status == REC_OK) {
        r->stream.next_in = r->buffer;
        r->stream.avail_in = (uInt)piece;
        r->taken += piece;
    }
    return status;
}

/* The next bytes; *got is 0 only at the end. */
static int32_t inflate_some(rec_job *job, reader *r, uint8_t *target, uint64_t room, uint64_t *got)
{
    int result = Z_OK;
    int32_t status = r->buffer ? REC_OK : begin_stream(job, r);
    *got = 0;
    r->stream.next_out = target;
    r->stream.avail_out = room < UINT_MAX ? (uInt)room : UINT_MAX;
    room = r->stream.avail_out;
    while (status == REC_OK && r->stream.avail_out && result != Z_STREAM_END) {
        if (!r->stream.avail_in && r->taken < r->member.stored) {
            status = feed(job, r);
        }
        if (status != REC_OK) {
            break;
        }
        result = inflate(&r->stream, Z_NO_FLUSH);
        if (result == Z_BUF_ERROR) {
            status = fail_damaged(job, r, "its compressed data end too early");
        } else if (result == Z_MEM_ERROR) {
            status = rec_fail(job, REC_E_MEMORY, REC_UNKNOWN, "out of memory while zlib inflated");
        } else if (result != Z_OK && result != Z_STREAM_END) {
            status = fail_damaged(job, r, "its compressed data are damaged");
        }
    }
    *got = room - r->stream.avail_out;
    return status;
}

static int32_t copy_some(rec_job *job, reader *r, uint8_t *target, uint64_t room, uint64_t *got)
{
    uint64_t left = r->member.stored - r->taken;
    int32_t status;
    *got = room < left ? room : left;
    status = rec_source_read_at(job, r->parent, r->member.offset + r->taken, target, *got);
    r->taken += *got;
    return status;
}

static int32_t read_some(void *self, rec_job *job, void *target, uint64_t room, uint64_t *got)
{
    reader *r = self;
    int32_t status;
    *got = 0;
    if (r->ended || !room) {
        return REC_OK;
    }
    status = r->member.method == LR_ZIP_STORED ? copy_some(job, r, target, room, got)
                                               : inflate_some(job, r, target, room, got);
    if (status == REC_OK && *got > r->member.size - r->given) {
        status = fail_damaged(job, r, "it inflates to more bytes than the directory says");
    }
    if (status == REC_OK) {
        r->crc = lr_crc32(r->crc, target, (size_t)*got);
        r->given += *got;
    }
    return status == REC_OK && *got == 0 ? verify(job, r) : status;
}

static int32_t begin_again(void *self, rec_job *job)
{
    reader *r = self;
    (void)job;
    end_stream(r);
    r->taken = r->given = 0;
    r->crc = 0;
    r->ended = false;
    r->stream.avail_in = 0;
    return REC_OK;
}

/* The next bytes, all of them. */
static int32_t read_all(rec_job *job, reader *r, uint8_t *target, uint64_t size)
{
    int32_t status = REC_OK;
    for (uint64_t done = 0, got; done < size && status == REC_OK; done += got) {
        status = read_some(r, job, target + done, size - done < PART ? size - done : PART, &got);
        if (status == REC_OK && !got) { /* the end was verified, and came too early for this */
            status = fail_damaged(job, r, "it inflates to fewer bytes than the directory says");
        }
    }
    return status;
}

/* Skips to an offset. */
static int32_t go_to(rec_job *job, reader *r, uint64_t offset)
{
    uint8_t *passed;
    int32_t status = REC_OK;
    if (offset < r->given) {
        (void)begin_again(r, job);
    }
    if (offset == r->given) {
        return REC_OK;
    }
    passed = malloc(PIECE);
    if (!passed) {
        return rec_fail(job, REC_E_MEMORY, REC_UNKNOWN, "out of memory while a member of a zip archive was read");
    }
    while (status == REC_OK && r->given < offset) {
        status = read_all(job, r, passed, offset - r->given < PIECE ? offset - r->given : PIECE);
    }
    free(passed);
    return status;
}

static int32_t read_at(void *self, rec_job *job, uint64_t offset, void *target, uint64_t size)
{
    reader *r = self;
    uint8_t one;
    uint64_t none;
    int32_t status;
    if (r->member.method == LR_ZIP_STORED && offset - r->given > LEAP) { /* here and there, also before it */
        return rec_source_read_at(job, r->parent, r->member.offset + offset, target, size);
    }
    status = go_to(job, r, offset);
    status = status == REC_OK ? read_all(job, r, target, size) : status;
    if (status == REC_OK && r->given == r->member.size) {
        status = read_some(r, job, &one, 1, &none); /* which verifies it */
    }
    if (status != REC_OK || r->ended || r->given <= GLANCE) {
        (void)begin_again(r, job);
    }
    return status;
}

static uint64_t size_of(void *self)
{
    return ((const reader *)self)->member.size;
}

static void release(void *self)
{
    reader *r = self;
    end_stream(r);
    rec_source_release(r->parent);
    free(r);
}

static int32_t check_readable(rec_job *job, const lr_zip_member *member)
{
    if (member->encrypted) {
        return rec_fail(job, REC_E_UNSUPPORTED, member->at, "a member of the zip archive that is encrypted");
    }
    if (member->method != LR_ZIP_STORED && member->method != LR_ZIP_DEFLATED) {
        int32_t status =
            rec_fail(job, REC_E_UNSUPPORTED, member->at, "a member of the zip archive that is compressed by method %u",
                     (unsigned)member->method);
        rec_fail_hint(job, "Stored (0) and deflated (8) ones can be read: pack the archive again.");
        return status;
    }
    return REC_OK;
}

static int32_t open_member(const lr_zip *zip, const lr_zip_member *member, reader **out)
{
    int32_t status = check_readable(zip->job, member);
    *out = status == REC_OK ? calloc(1, sizeof **out) : NULL;
    if (!*out) {
        return status != REC_OK
                   ? status
                   : rec_fail(zip->job, REC_E_MEMORY, REC_UNKNOWN, "out of memory for a member of a zip archive");
    }
    (*out)->member = *member;
    (*out)->member.name = NULL;
    (*out)->parent = rec_source_retain(zip->source);
    (void)lr_codec_shown(&(*out)->name, member->name, member->name_length);
    return REC_OK;
}

int32_t lr_zip_source(const lr_zip *zip, const lr_zip_member *member, rec_source **out)
{
    static const rec_source_ops ops = {
        .size = sizeof ops, .read = read_some, .rewind = begin_again, .size_hint = size_of, .release = release};
    reader *r;
    int32_t status = open_member(zip, member, &r);
    *out = NULL;
    return status == REC_OK ? rec_source_filter(zip->job, zip->source, &ops, r, out) : status;
}

int32_t lr_zip_source_lazy(const lr_zip *zip, const lr_zip_member *member, rec_source **out)
{
    static const rec_source_ops ops = {.size = sizeof ops, .read_at = read_at, .total = size_of, .release = release};
    reader *r;
    int32_t status = open_member(zip, member, &r);
    *out = NULL;
    return status == REC_OK ? rec_source_make(zip->job, rec_source_name(zip->source), &ops, r, out) : status;
}

int32_t lr_zip_check(const lr_zip *zip, const lr_zip_member *member)
{
    rec_source *source;
    uint64_t got = 1, done = 0;
    uint8_t *piece = rec_job_alloc(zip->job, PIECE);
    int32_t status = piece ? lr_zip_source(zip, member, &source)
                           : rec_fail(zip->job, REC_E_MEMORY, REC_UNKNOWN, "out of memory to verify a zip archive");
    if (status == REC_OK) {
        while (got && status == REC_OK) {
            status = rec_source_read(zip->job, source, piece, PIECE, &got);
            done += got;
            if (status == REC_OK && done % (UINT64_C(4) << 20) < got) {
                status = rec_job_progress(zip->job, member->offset + done, rec_source_size(zip->source));
            }
        }
        rec_source_release(source);
    }
    rec_job_free(zip->job, piece);
    return status;
}
