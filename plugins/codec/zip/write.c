/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Writing a zip archive in one go: members are stored, their checksums follow them, as torch.save() has it too. The
 * same members always give the same bytes. */

#include "common/crc32.h"
#include "plugins/codec/zip/zip.h"
#include "plugins/codec/zip/zip_private.h"

enum {
    NARROW = 20,  /* version 2.0 of the format reads it */
    WIDE = 45,    /* 4.5: numbers of 64 bits */
    EPOCH = 0x21, /* 1 January 1980, the first day there is */
    HEADER_SIZE = 30,
    PIECE = 1 << 20,
    PART = 256 * 1024 /* stays in a cache */
};

/* Little-endian numbers, one after the other. */
typedef struct bytes {
    uint8_t data[128];
    uint32_t used;
} bytes;

static void put(bytes *b, uint64_t number, uint32_t width)
{
    for (uint32_t i = 0; i < width; i++) {
        b->data[b->used++] = (uint8_t)(number >> 8 * i);
    }
}

static uint64_t narrow(uint64_t number)
{
    return number < UINT32_MAX ? number : UINT32_MAX;
}

void lr_zip_writer_open(lr_zip_writer *writer, rec_job *job, rec_sink *sink, uint32_t alignment)
{
    *writer = (lr_zip_writer){
        .job = job, .sink = sink, .alignment = alignment, .directory.job = job, .begin = rec_sink_tell(sink)};
}

void lr_zip_writer_close(lr_zip_writer *writer)
{
    rec_job_free(writer->job, writer->directory.data);
    writer->directory = (lr_buffer){0};
}

/* Before the bytes: sizes and checksum are 0, they come after them. An extra field of no meaning fills up to where the
 * bytes are to begin. */
static int32_t put_header(lr_zip_writer *w, const char *name, uint64_t length, uint64_t size, uint64_t at)
{
    bool wide = size >= UINT32_MAX;
    uint64_t extra = wide ? 20 : 0, gap = 0;
    bytes b = {.used = 0};
    int32_t status;
    if (w->alignment > 1) {
        /* The field takes at least the four bytes of its own head. */
        gap = 4 + (w->alignment - (at + HEADER_SIZE + length + extra + 4) % w->alignment) % w->alignment;
    }
    put(&b, LR_ZIP_HEADER, 4);
    put(&b, wide ? WIDE : NARROW, 2);
    put(&b, LR_ZIP_SIZES_AFTER | LR_ZIP_NAME_UTF8, 2);
    put(&b, LR_ZIP_STORED, 2);
    put(&b, 0, 2);
    put(&b, EPOCH, 2);
    put(&b, 0, 4);
    put(&b, wide ? UINT32_MAX : 0, 4);
    put(&b, wide ? UINT32_MAX : 0, 4);
    put(&b, length, 2);
    put(&b, extra + gap, 2);
    status = rec_sink_write(w->sink, b.data, b.used);
    status = status == REC_OK ? rec_sink_write(w->sink, name, length) : status;
    b.used = 0;
    if (wide) {
        put(&b, LR_ZIP_EXTRA64, 2);
        put(&b, 16, 2);
        put(&b, 0, 8);
        put(&b, 0, 8);
    }
    if (gap) {
        put(&b, UINT64_C(0x4246), 2); /* "FB" */
        put(&b, gap - 4, 2);
    }
    status = status == REC_OK ? rec_sink_write(w->sink, b.data, b.used) : status;
    for (gap = gap ? gap - 4 : 0; gap && status == REC_OK;) {
        static const uint8_t fill[64] = {0};
        uint64_t piece = gap < sizeof fill ? gap : sizeof fill;
        status = rec_sink_write(w->sink, fill, piece);
        gap -= piece;
    }
    return status;
}

static int32_t put_after(lr_zip_writer *w, const char *name, uint64_t length, uint64_t size, uint64_t at, uint32_t crc)
{
    bool wide = size >= UINT32_MAX;
    uint64_t extra = (wide ? UINT64_C(16) : 0) + (at >= UINT32_MAX ? UINT64_C(8) : 0);
    bytes b = {.used = 0};
    int32_t status;
    put(&b, LR_ZIP_AFTER, 4);
    put(&b, crc, 4);
    put(&b, size, wide ? 8 : 4);
    put(&b, size, wide ? 8 : 4);
    status = rec_sink_write(w->sink, b.data, b.used);
    b.used = 0;
    put(&b, LR_ZIP_ENTRY, 4);
    put(&b, extra ? WIDE : NARROW, 2);
    put(&b, extra ? WIDE : NARROW, 2);
    put(&b, LR_ZIP_SIZES_AFTER | LR_ZIP_NAME_UTF8, 2);
    put(&b, LR_ZIP_STORED, 2);
    put(&b, 0, 2);
    put(&b, EPOCH, 2);
    put(&b, crc, 4);
    put(&b, narrow(size), 4);
    put(&b, narrow(size), 4);
    put(&b, length, 2);
    put(&b, extra ? extra + 4 : 0, 2);
    put(&b, 0, 2); /* comment */
    put(&b, 0, 2); /* volume */
    put(&b, 0, 2); /* attributes */
    put(&b, 0, 4);
    put(&b, narrow(at), 4);
    lr_put(&w->directory, b.data, b.used);
    lr_put(&w->directory, name, length);
    b.used = 0;
    if (extra) {
        put(&b, LR_ZIP_EXTRA64, 2);
        put(&b, extra, 2);
    }
    if (wide) {
        put(&b, size, 8);
        put(&b, size, 8);
    }
    if (at >= UINT32_MAX) {
        put(&b, at, 8);
    }
    w->count++;
    lr_put(&w->directory, b.data, b.used);
    return status == REC_OK ? w->directory.status : status;
}

/* Bytes that are in memory: summed up and written a part at a time, while they are in the cache. */
static int32_t put_at_hand(lr_zip_writer *w, const rec_blob *blob, uint32_t *crc)
{
    int32_t status = REC_OK;
    for (uint64_t done = 0; done < blob->length && status == REC_OK;) {
        rec_blob part = *blob;
        part.size = sizeof part;
        part.length = blob->length - done < PART ? blob->length - done : PART;
        part.data = done ? (const uint8_t *)blob->data + done : blob->data;
        part.offset += part.offset == REC_UNKNOWN ? 0 : done;
        *crc = lr_crc32(*crc, part.data, (size_t)part.length);
        status = rec_sink_put(w->sink, &part);
        done += part.length;
    }
    return status;
}

/* Writes a blob and sums it up. */
static int32_t put_blob(lr_zip_writer *w, const rec_blob *blob, uint32_t *crc)
{
    uint64_t room = blob->length < PIECE ? blob->length : PIECE;
    uint8_t *piece;
    int32_t status = REC_OK;
    if (blob->kind == REC_BLOB_VIEW || blob->kind == REC_BLOB_TEMPORARY) {
        return put_at_hand(w, blob, crc);
    }
    if (!room) {
        return REC_OK;
    }
    piece = rec_job_alloc(w->job, room);
    if (!piece) {
        return rec_fail(w->job, REC_E_MEMORY, REC_UNKNOWN, "out of memory to write a member of a zip archive");
    }
    for (uint64_t done = 0; done < blob->length && status == REC_OK;) {
        uint64_t some = blob->length - done < room ? blob->length - done : room;
        status = rec_blob_read(w->job, blob, done, piece, some);
        if (status == REC_OK) {
            *crc = lr_crc32(*crc, piece, (size_t)some);
            status = rec_sink_write(w->sink, piece, some);
        }
        done += some;
    }
    rec_job_free(w->job, piece);
    return status;
}

int32_t lr_zip_put(lr_zip_writer *writer, const char *name, const rec_blob *blobs, uint64_t count)
{
    uint64_t length = strlen(name), at = rec_sink_tell(writer->sink) - writer->begin, size = 0;
    uint32_t crc = 0;
    int32_t status;
    if (length == 0 || length > UINT16_MAX) {
        return rec_fail(writer->job, REC_E_ARGUMENT, REC_UNKNOWN,
                        "a name of %llu bytes; those of a zip archive's members have 1 to 65535",
                        (unsigned long long)length);
    }
    for (uint64_t i = 0; i < count; i++) {
        size += blobs[i].length;
    }
    status = put_header(writer, name, length, size, at);
    for (uint64_t i = 0; i < count && status == REC_OK; i++) {
        status = put_blob(writer, &blobs[i], &crc);
    }
    return status == REC_OK ? put_after(writer, name, length, size, at, crc) : status;
}

int32_t lr_zip_put_bytes(lr_zip_writer *writer, const char *name, const void *data, uint64_t size)
{
    rec_blob blob = {.size = sizeof blob, .kind = REC_BLOB_TEMPORARY, .length = size, .data = data};
    return lr_zip_put(writer, name, &blob, 1);
}

int32_t lr_zip_finish(lr_zip_writer *writer)
{
    uint64_t at = rec_sink_tell(writer->sink) - writer->begin, count = writer->count;
    bool wide = at >= UINT32_MAX || count >= UINT16_MAX || writer->directory.size >= UINT32_MAX;
    bytes b = {.used = 0};
    int32_t status =
        writer->directory.size ? rec_sink_write(writer->sink, writer->directory.data, writer->directory.size) : REC_OK;
    if (wide) {
        put(&b, LR_ZIP_END64, 4);
        put(&b, 44, 8); /* what follows */
        put(&b, WIDE, 2);
        put(&b, WIDE, 2);
        put(&b, 0, 8); /* volumes */
        put(&b, count, 8);
        put(&b, count, 8);
        put(&b, writer->directory.size, 8);
        put(&b, at, 8);
        put(&b, LR_ZIP_LOCATOR, 4);
        put(&b, 0, 4);
        put(&b, at + writer->directory.size, 8);
        put(&b, 1, 4);
    }
    put(&b, LR_ZIP_END, 4);
    put(&b, 0, 4); /* volumes */
    put(&b, count < UINT16_MAX ? count : UINT16_MAX, 2);
    put(&b, count < UINT16_MAX ? count : UINT16_MAX, 2);
    put(&b, narrow(writer->directory.size), 4);
    put(&b, narrow(at), 4);
    put(&b, 0, 2); /* comment */
    return status == REC_OK ? rec_sink_write(writer->sink, b.data, b.used) : status;
}
