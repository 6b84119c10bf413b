/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Writing a zip archive in one go: members are stored, their checksums follow them, as torch.save() has it too. The
 * same members always give the same bytes. */

#include "common/crc32.h"
#include "plugins/codec/zip/zip.h"

enum {
    NARROW = 20,  /* version 2.0 of the format reads it */
    EPOCH = 0x21, /* 1 January 1980, the first day there is */
    HEADER_SIZE = 30,
    PIECE = 1 << 20,
    PART = 256 * 1024 /* stays in a cache */
};

/* ----------------------------------------------------------------------------------------------------- records -- */

static uint64_t narrow(uint64_t number)
{
    return number < UINT32_MAX ? number : UINT32_MAX;
}

/* The part that a member's header and its entry in the directory have in common. */
static void put_common(lr_buffer *b, const lr_zip_record *r, uint64_t extra)
{
    lr_put_little(b, r->version, 2);
    lr_put_little(b, r->flags, 2);
    lr_put_little(b, r->method, 2);
    lr_put_little(b, 0, 2);
    lr_put_little(b, EPOCH, 2);
    lr_put_little(b, r->crc, 4);
    lr_put_little(b, r->stored, 4);
    lr_put_little(b, r->size, 4);
    lr_put_little(b, r->name_length, 2);
    lr_put_little(b, extra, 2);
}

void lr_zip_put_header(lr_buffer *b, const lr_zip_record *r, uint64_t extra)
{
    lr_put_little(b, LR_ZIP_HEADER, 4);
    put_common(b, r, extra);
    lr_put(b, r->name, r->name_length);
}

void lr_zip_put_entry(lr_buffer *b, const lr_zip_record *r, uint64_t limit)
{
    bool wide = r->size >= limit || r->stored >= limit, far = r->at >= limit;
    uint64_t extra = (wide ? UINT64_C(16) : 0) + (far ? UINT64_C(8) : 0);
    lr_zip_record shown = *r;
    shown.stored = wide ? UINT32_MAX : r->stored;
    shown.size = wide ? UINT32_MAX : r->size;
    lr_put_little(b, LR_ZIP_ENTRY, 4);
    lr_put_little(b, (r->mode ? 3u << 8 : 0) | r->version, 2); /* 3: made on Unix */
    put_common(b, &shown, extra ? extra + 4 : 0);
    lr_put_little(b, 0, 6); /* comment, volume, attributes */
    lr_put_little(b, (uint64_t)r->mode << 16, 4);
    lr_put_little(b, far ? UINT32_MAX : r->at, 4);
    lr_put(b, r->name, r->name_length);
    if (extra) {
        lr_put_little(b, extra << 16 | LR_ZIP_EXTRA64, 4);
    }
    if (wide) {
        lr_put_little(b, r->size, 8);
        lr_put_little(b, r->stored, 8);
    }
    if (far) {
        lr_put_little(b, r->at, 8);
    }
}

void lr_zip_put_end(lr_buffer *b, uint64_t at, uint64_t size, uint64_t count, bool wide, uint64_t comment)
{
    if (wide) {
        lr_put_little(b, LR_ZIP_END64, 4);
        lr_put_little(b, 44, 8); /* what follows */
        lr_put_little(b, LR_ZIP_WIDE << 16 | LR_ZIP_WIDE, 4);
        lr_put_little(b, 0, 8); /* volumes */
        lr_put_little(b, count, 8);
        lr_put_little(b, count, 8);
        lr_put_little(b, size, 8);
        lr_put_little(b, at, 8);
        lr_put_little(b, LR_ZIP_LOCATOR, 4);
        lr_put_little(b, 0, 4);
        lr_put_little(b, at + size, 8);
        lr_put_little(b, 1, 4);
    }
    lr_put_little(b, LR_ZIP_END, 4);
    lr_put_little(b, 0, 4); /* volumes */
    lr_put_little(b, count < UINT16_MAX ? count : UINT16_MAX, 2);
    lr_put_little(b, count < UINT16_MAX ? count : UINT16_MAX, 2);
    lr_put_little(b, narrow(size), 4);
    lr_put_little(b, narrow(at), 4);
    lr_put_little(b, comment, 2);
}

/* ----------------------------------------------------------------------------------------------------- members -- */

void lr_zip_writer_open(lr_zip_writer *writer, rec_job *job, rec_sink *sink, uint32_t alignment)
{
    *writer = (lr_zip_writer){.job = job,
                              .sink = sink,
                              .alignment = alignment,
                              .directory.job = job,
                              .record.job = job,
                              .begin = rec_sink_tell(sink)};
}

void lr_zip_writer_close(lr_zip_writer *writer)
{
    rec_job_free(writer->job, writer->directory.data);
    rec_job_free(writer->job, writer->record.data);
    writer->directory = writer->record = (lr_buffer){0};
}

/* Writes the record that was made. */
static int32_t write_record(lr_zip_writer *w)
{
    int32_t status =
        w->record.status == REC_OK ? rec_sink_write(w->sink, w->record.data, w->record.size) : w->record.status;
    w->record.size = 0;
    return status;
}

/* Before the bytes: sizes and checksum are 0, they come after them. An extra field of no meaning fills up to where the
 * bytes are to begin. */
static int32_t put_header(lr_zip_writer *w, lr_zip_record r)
{
    lr_buffer *b = &w->record;
    bool wide = r.size >= UINT32_MAX;
    uint64_t extra = wide ? 20 : 0, gap = 0;
    if (w->alignment > 1) {
        /* The field takes at least the four bytes of its own head. */
        gap = 4 + (w->alignment - (r.at + HEADER_SIZE + r.name_length + extra + 4) % w->alignment) % w->alignment;
    }
    r.version = wide ? LR_ZIP_WIDE : NARROW;
    r.stored = r.size = wide ? UINT32_MAX : 0;
    lr_zip_put_header(b, &r, extra + gap);
    if (wide) {
        lr_put_little(b, 16 << 16 | LR_ZIP_EXTRA64, 4);
        lr_put_little(b, 0, 8);
        lr_put_little(b, 0, 8);
    }
    if (gap) {
        lr_put_little(b, (gap - 4) << 16 | 0x4246, 4); /* "FB" */
    }
    for (uint64_t left = gap ? gap - 4 : 0, n; left; left -= n) {
        n = left < 8 ? left : 8;
        lr_put_little(b, 0, (uint32_t)n);
    }
    return write_record(w);
}

static int32_t put_after(lr_zip_writer *w, lr_zip_record r)
{
    lr_buffer *b = &w->record;
    bool wide = r.size >= UINT32_MAX;
    lr_put_little(b, LR_ZIP_AFTER, 4);
    lr_put_little(b, r.crc, 4);
    lr_put_little(b, r.size, wide ? 8 : 4);
    lr_put_little(b, r.size, wide ? 8 : 4);
    r.version = wide || r.at >= UINT32_MAX ? LR_ZIP_WIDE : NARROW;
    lr_zip_put_entry(&w->directory, &r, UINT32_MAX);
    w->count++;
    return w->directory.status == REC_OK ? write_record(w) : w->directory.status;
}

/* Writes a blob a part at a time, and sums each up while it is in the cache. */
static int32_t put_blob(lr_zip_writer *w, const rec_blob *blob, uint32_t *crc)
{
    bool at_hand = blob->kind == REC_BLOB_VIEW || blob->kind == REC_BLOB_TEMPORARY;
    uint64_t most = at_hand ? PART : PIECE, room = blob->length < most ? blob->length : most;
    uint8_t *piece = at_hand || !room ? NULL : rec_job_alloc(w->job, room);
    int32_t status = at_hand || !room || piece ? REC_OK
                                               : rec_fail(w->job, REC_E_MEMORY, REC_UNKNOWN,
                                                          "out of memory to write a member of a zip archive");
    for (uint64_t done = 0; done < blob->length && status == REC_OK; done += room) {
        rec_blob part = {.size = sizeof part, .kind = REC_BLOB_TEMPORARY, .data = piece};
        room = blob->length - done < most ? blob->length - done : most;
        if (at_hand) {
            part = *blob;
            part.size = sizeof part;
            part.data = done ? (const uint8_t *)blob->data + done : blob->data;
            part.offset += part.offset == REC_UNKNOWN ? 0 : done;
        } else {
            status = rec_blob_read(w->job, blob, done, piece, room);
        }
        part.length = room;
        if (status == REC_OK) {
            *crc = lr_crc32(*crc, part.data, (size_t)room);
            status = rec_sink_put(w->sink, &part);
        }
    }
    rec_job_free(w->job, piece);
    return status;
}

int32_t lr_zip_put(lr_zip_writer *writer, const char *name, const rec_blob *blobs, uint64_t count)
{
    lr_zip_record r = {.name = name,
                       .name_length = strlen(name),
                       .flags = LR_ZIP_SIZES_AFTER | LR_ZIP_NAME_UTF8,
                       .at = rec_sink_tell(writer->sink) - writer->begin};
    int32_t status;
    if (r.name_length == 0 || r.name_length > UINT16_MAX) {
        return rec_fail(writer->job, REC_E_ARGUMENT, REC_UNKNOWN,
                        "a name of %llu bytes; those of a zip archive's members have 1 to 65535",
                        (unsigned long long)r.name_length);
    }
    for (uint64_t i = 0; i < count; i++) {
        r.size += blobs[i].length;
    }
    r.stored = r.size;
    status = put_header(writer, r);
    for (uint64_t i = 0; i < count && status == REC_OK; i++) {
        status = put_blob(writer, &blobs[i], &r.crc);
    }
    return status == REC_OK ? put_after(writer, r) : status;
}

int32_t lr_zip_put_bytes(lr_zip_writer *writer, const char *name, const void *data, uint64_t size)
{
    rec_blob blob = {.size = sizeof blob, .kind = REC_BLOB_TEMPORARY, .length = size, .data = data};
    return lr_zip_put(writer, name, &blob, 1);
}

int32_t lr_zip_finish(lr_zip_writer *writer)
{
    lr_buffer *b = &writer->directory;
    uint64_t at = rec_sink_tell(writer->sink) - writer->begin, size = b->size;
    bool wide = at >= UINT32_MAX || writer->count >= UINT16_MAX || size >= UINT32_MAX;
    lr_zip_put_end(b, at, size, writer->count, wide, 0);
    return b->status == REC_OK ? rec_sink_write(writer->sink, b->data, b->size) : b->status;
}
