/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The writers: visitors that write tensors as they come and tell what else the record held. The bytes are those of
 * numpy.savez and numpy.save.
 *
 * A member's checksum and compressed size stand before its bytes and are known after them. Where the sink can be
 * written to again they are filled in when all is done; for a stream they are found on a walk of their own. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>

#include "common/crc32.h"
#include "plugins/codec/burns.h"
#include "plugins/codec/flat.h"
#include "plugins/codec/npy/npy.h"
#include "plugins/codec/pass.h"
#include "plugins/codec/room.h"
#include "plugins/codec/little.h"

enum { TILE = 256 * 1024, LOCAL = 30, EXTRA = 20, NARROW = 0x7fffffff };

/* A member that is written. */
typedef struct written {
    uint64_t local; /* where its header is */
    uint64_t stored, size;
    uint32_t crc;
} written;

typedef struct writer {
    rec_job *job;
    rec_sink *sink;
    bool array;   /* an .npy */
    bool measure; /* this walk finds checksums and sizes */
    bool fixed;   /* another one has found them */
    bool compress;
    int method_level;
    bool aside; /* inside a metadata entry */
    uint64_t aside_depth;
    lr_flat at; /* `told`: a list whose numbers were counted */
    written *members;
    lr_flat_place *places; /* of their names */
    uint64_t count, member_room, place_room, next;
    lr_buffer names;
    lr_buffer record;                      /* what is written next */
    uint64_t ids, values, metadata, bools; /* bools: of Bool(U8) */
    lr_codec_excerpt value, entry;         /* the first of them */
    uint8_t *tile;                         /* two; one for compressed data */
    z_stream stream;
    bool streaming;
} writer;

static int32_t no_memory(writer *w)
{
    return rec_fail(w->job, REC_E_MEMORY, REC_UNKNOWN, "out of memory while arrays were written");
}

/* --------------------------------------------------------------------------------------------------------- zip -- */

static lr_zip_record record_of(const writer *w, const written *m)
{
    const lr_flat_place *place = &w->places[m - w->members];
    const char *name = w->names.data + place->at;
    return (lr_zip_record){.name = name,
                           .name_length = place->length,
                           .at = m->local,
                           .stored = m->stored,
                           .size = m->size,
                           .crc = m->crc,
                           .version = LR_ZIP_WIDE,
                           .flags = lr_npz_is_ascii(name, place->length) ? 0 : LR_ZIP_NAME_UTF8,
                           .method = w->compress ? LR_ZIP_DEFLATED : LR_ZIP_STORED,
                           .mode = 0600};
}

/* Writes the record that was made. */
static int32_t write_record(writer *w)
{
    lr_buffer *b = &w->record;
    return b->status == REC_OK ? rec_sink_write(w->sink, b->data, b->size) : b->status;
}

static int32_t put_local(writer *w, const written *m)
{
    lr_buffer *b = &w->record;
    lr_zip_record r = record_of(w, m);
    r.stored = r.size = UINT32_MAX; /* they stand in the extra field */
    b->size = 0;
    lr_zip_put_header(b, &r, EXTRA);
    lr_put_little(b, 16 << 16 | LR_ZIP_EXTRA64, 4);
    lr_put_little(b, m->size, 8);
    lr_put_little(b, m->stored, 8);
    return write_record(w);
}

/* Writes the fields that were unknown before. */
static int32_t patch_local(writer *w, const written *m)
{
    uint8_t crc[4], stored[8];
    int32_t status;
    lr_little_put(crc, m->crc, 4);
    lr_little_put(stored, m->stored, 8);
    status = rec_sink_patch(w->sink, m->local + 14, crc, sizeof crc);
    return status == REC_OK && w->compress
               ? rec_sink_patch(w->sink, m->local + LOCAL + w->places[m - w->members].length + 12, stored,
                                sizeof stored)
               : status;
}

static int32_t put_directory(writer *w)
{
    lr_buffer *b = &w->record;
    uint64_t at = rec_sink_tell(w->sink), size, comment = w->at.paths ? sizeof LR_NPZ_FOREIGN - 1 : 0;
    int32_t status = REC_OK;
    for (uint64_t i = 0; i < w->count && status == REC_OK; i++) { /* entry by entry: it may be as long as all names */
        lr_zip_record r = record_of(w, &w->members[i]);
        b->size = 0;
        lr_zip_put_entry(b, &r, UINT64_C(1) + NARROW);
        status = write_record(w);
    }
    size = rec_sink_tell(w->sink) - at;
    b->size = 0;
    lr_zip_put_end(b, at, size, w->count, w->count > UINT16_MAX || at > NARROW || size > NARROW, comment);
    lr_put(b, LR_NPZ_FOREIGN, comment);
    return status == REC_OK ? write_record(w) : status;
}

/* ------------------------------------------------------------------------------------------------------- bytes -- */

/* Compresses what there is; `last`: there is no more. */
static int32_t deflate_some(writer *w, written *m, const uint8_t *data, uint64_t size, bool last)
{
    int result = Z_OK;
    int32_t status = REC_OK;
    w->stream.next_in = (z_const Bytef *)data;
    w->stream.avail_in = (uInt)size; /* at most TILE */
    do {
        uint64_t made;
        w->stream.next_out = w->tile + TILE;
        w->stream.avail_out = TILE;
        result = deflate(&w->stream, last ? Z_FINISH : Z_NO_FLUSH);
        made = TILE - w->stream.avail_out;
        m->stored += made;
        if (made && !w->measure) {
            status = rec_sink_write(w->sink, w->tile + TILE, made);
        }
    } while (status == REC_OK && (w->stream.avail_out == 0 || (last && result != Z_STREAM_END)) && result >= Z_OK);
    return status == REC_OK && result < Z_OK && result != Z_BUF_ERROR
               ? rec_fail(w->job, REC_E_PLUGIN, REC_UNKNOWN, "zlib lost the state of the compressed stream")
               : status;
}

/* At most TILE bytes. */
static int32_t put_bytes(writer *w, written *m, const uint8_t *data, uint64_t size)
{
    m->crc = lr_crc32(m->crc, data, (size_t)size);
    if (w->compress) {
        return deflate_some(w, m, data, size, false);
    }
    m->stored += size;
    return w->measure ? REC_OK : rec_sink_write(w->sink, data, size); /* while it is in a cache */
}

static int32_t put_blob(writer *w, written *m, const rec_blob *blob)
{
    bool at_hand = blob->kind == REC_BLOB_VIEW || blob->kind == REC_BLOB_TEMPORARY;
    int32_t status = REC_OK;
    for (uint64_t done = 0, n; done < blob->length && status == REC_OK; done += n) {
        const uint8_t *data = at_hand ? (const uint8_t *)blob->data + done : w->tile;
        n = blob->length - done < TILE ? blob->length - done : TILE;
        status = at_hand ? REC_OK : rec_blob_read(w->job, blob, done, w->tile, n);
        status = status == REC_OK ? put_bytes(w, m, data, n) : status;
    }
    return status;
}

static voidpf take_memory(voidpf job, uInt items, uInt size)
{
    return rec_job_alloc(job, (uint64_t)items * size);
}

static void give_memory(voidpf job, voidpf memory)
{
    rec_job_free(job, memory);
}

static int32_t begin_member(writer *w)
{
    int result = Z_OK;
    if (!w->tile) {
        w->tile = rec_job_alloc(w->job, 2 * TILE);
    }
    if (w->tile && w->compress && !w->streaming) {
        w->stream = (z_stream){.zalloc = take_memory, .zfree = give_memory, .opaque = w->job};
        result = deflateInit2(&w->stream, w->method_level, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
        w->streaming = result == Z_OK;
    } else if (w->streaming) {
        result = deflateReset(&w->stream);
    }
    return w->tile && result == Z_OK ? REC_OK : no_memory(w);
}

/* ----------------------------------------------------------------------------------------------------- tensors -- */

static int32_t refuse(writer *w, const char *what, const char *hint)
{
    int32_t status = rec_fail(w->job, REC_E_UNSUPPORTED, REC_UNKNOWN, "%s", what);
    rec_fail_hint(w->job, "%s", hint);
    return status;
}

/* Makes the header of an array, or the reason why there is none. */
static int32_t header_of(writer *w, const rec_tensor_event *t, char *text, uint64_t *length)
{
    *length = lr_npz_header_write(text, t->dtype, t->rank, t->shape);
    if (*length) {
        return REC_OK;
    }
    (void)rec_fail(w->job, REC_E_UNSUPPORTED, REC_UNKNOWN, "NumPy has no element type %s",
                   t->dtype == REC_DTYPE_OPAQUE && t->dtype_name ? t->dtype_name : rec_dtype_name(t->dtype));
    rec_fail_hint(w->job, t->dtype == REC_DTYPE_BF16 || t->dtype == REC_DTYPE_FLEX32
                              ? "Save it at full precision (--precision full)."
                              : "Save it in a format that has it, such as safetensors.");
    return REC_E_UNSUPPORTED;
}

static int32_t new_member(writer *w, uint64_t header, const rec_tensor_event *t)
{
    static const char extension[] = ".npy";
    const lr_buffer *path = &w->at.path;
    uint64_t length = path->size + sizeof extension - 1;
    written *m;
    int32_t status = lr_codec_grow(w->job, &w->members, w->count + 1, &w->member_room, sizeof *w->members);
    status =
        status == REC_OK ? lr_codec_grow(w->job, &w->places, w->count + 1, &w->place_room, sizeof *w->places) : status;
    if (status == REC_OK && (length > UINT16_MAX || memchr(path->size ? path->data : "", '\0', (size_t)path->size))) {
        status = refuse(w,
                        length > UINT16_MAX ? "a name of more than 65,531 bytes, which no zip file can hold"
                                            : "a name with a NUL, where NumPy would truncate it",
                        "Rename it (record convert --rename).");
    }
    if (status != REC_OK) {
        return status;
    }
    w->places[w->count] = (lr_flat_place){w->names.size, length};
    m = &w->members[w->count++];
    *m = (written){.size = header + t->data.length};
    m->stored = w->compress ? 0 : m->size;
    lr_put(&w->names, path->data, path->size);
    lr_put_word(&w->names, extension);
    return w->names.status;
}

static int32_t put_member(writer *w, const rec_tensor_event *t)
{
    char header[LR_NPY_HEADER];
    uint64_t length;
    written *m, known;
    int32_t status = header_of(w, t, header, &length);
    status = status == REC_OK && !w->fixed ? new_member(w, length, t) : status;
    if (status == REC_OK && (!w->fixed || w->next < w->count)) {
        status = begin_member(w);
    } else if (status == REC_OK) {
        status = rec_fail(w->job, REC_E_PLUGIN, REC_UNKNOWN, "the record changed while it was saved");
    }
    if (status != REC_OK) {
        return status;
    }
    m = &w->members[w->fixed ? w->next++ : w->count - 1];
    m->local = rec_sink_tell(w->sink);
    known = *m;
    status = w->measure ? REC_OK : put_local(w, m);
    m->crc = 0;
    m->stored = 0;
    status = status == REC_OK ? put_bytes(w, m, (const uint8_t *)header, length) : status;
    status = status == REC_OK ? put_blob(w, m, &t->data) : status;
    status = status == REC_OK && w->compress ? deflate_some(w, m, NULL, 0, true) : status;
    if (status == REC_OK && w->fixed && (m->crc != known.crc || m->stored != known.stored)) {
        status = rec_fail(w->job, REC_E_PLUGIN, REC_UNKNOWN, "the record changed while it was saved");
    }
    return status;
}

static int32_t put_array(writer *w, const rec_tensor_event *t)
{
    char header[LR_NPY_HEADER];
    uint64_t length;
    int32_t status = header_of(w, t, header, &length);
    status = status == REC_OK ? rec_sink_write(w->sink, header, length) : status;
    return status == REC_OK ? rec_sink_put(w->sink, &t->data) : status;
}

/* ------------------------------------------------------------------------------------------------------ events -- */

/* Before each value: in a list its place. */
static int32_t value_begins(writer *w)
{
    return w->aside ? REC_OK : lr_flat_value(&w->at);
}

/* A value that is no array. @return what to do about it. */
static int32_t other(writer *w)
{
    if (w->aside) {
        w->aside = w->aside_depth > 0;
        return REC_OK;
    }
    if (w->array) {
        return refuse(w, "a record that is not one tensor", "An .npy file holds one array: save it as .npz.");
    }
    if (!w->values++) {
        (void)lr_codec_shown(&w->value, w->at.path.data, w->at.path.size);
    }
    return REC_OK;
}

static int32_t on_scalar(void *self, uint64_t at, const rec_scalar *scalar)
{
    writer *w = self;
    int32_t status = value_begins(w);
    (void)at;
    /* Nothing is nothing, but an .npy has to be one array. */
    return status == REC_OK && (w->aside || w->array || scalar->kind != REC_KIND_NIL) ? other(w) : status;
}

static int32_t on_numbers(void *self, uint64_t at, rec_dtype dtype, const void *data, uint64_t count)
{
    writer *w = self;
    lr_flat_level *l = w->at.depth ? &w->at.levels[w->at.depth - 1] : NULL;
    (void)at, (void)dtype, (void)data;
    if (w->aside || !l || l->told) {
        return REC_OK;
    }
    l->told = true;
    l->next += count;
    return other(w);
}

static int32_t on_bytes(void *self, uint64_t at, const rec_blob *blob)
{
    int32_t status = value_begins(self);
    (void)at, (void)blob;
    return status == REC_OK ? other(self) : status;
}

static int32_t push(writer *w, bool list)
{
    if (w->aside) {
        w->aside_depth++;
        return REC_OK;
    }
    return w->array ? other(w) : lr_flat_begin(&w->at, list);
}

static int32_t on_list(void *self, uint64_t at, int32_t form, uint64_t count)
{
    (void)at, (void)form, (void)count;
    return push(self, true);
}

static int32_t on_map(void *self, uint64_t at, int32_t form, uint64_t count)
{
    writer *w = self;
    (void)at, (void)count;
    w->at.paths = w->at.paths || (form == REC_FORM_PATHS && !w->at.depth && !w->aside);
    return push(w, false);
}

static int32_t on_key(void *self, uint64_t at, const rec_scalar *key)
{
    writer *w = self;
    (void)at;
    return w->aside ? REC_OK : lr_flat_key(&w->at, key);
}

static int32_t on_variant(void *self, uint64_t at, uint64_t index, const rec_scalar *name, int32_t payload)
{
    writer *w = self;
    int32_t status = push(w, false);
    (void)at, (void)index;
    if (status == REC_OK && !w->aside) {
        status = lr_flat_name(&w->at, name->text, name->v.length);
        status = status == REC_OK && !payload ? other(w) : status; /* its name is all there is to it */
    }
    return status;
}

static int32_t on_end(void *self, uint64_t at)
{
    writer *w = self;
    (void)at;
    if (w->aside) {
        w->aside = --w->aside_depth > 0;
    } else if (w->at.depth) {
        lr_flat_end(&w->at);
    }
    return REC_OK;
}

static int32_t on_option(void *self, uint64_t at, int32_t present)
{
    return present ? REC_OK : on_scalar(self, at, &(rec_scalar){.kind = REC_KIND_NIL});
}

/* Burn's own words about a file say nothing of arrays. */
static int32_t on_metadata(void *self, uint64_t at, const rec_scalar *key, const rec_scalar *value)
{
    writer *w = self;
    (void)at, (void)value;
    if (lr_is_burns(key->text, key->v.length)) {
        return REC_OK;
    }
    if (!w->metadata++) {
        (void)lr_codec_shown(&w->entry, key->text, key->v.length);
    }
    return REC_OK;
}

static int32_t on_metadata_value(void *self, uint64_t at, const rec_scalar *key)
{
    writer *w = self;
    w->aside = true;
    w->aside_depth = 0;
    return on_metadata(w, at, key, NULL);
}

static int32_t on_tensor(void *self, uint64_t at, const rec_tensor_event *t)
{
    writer *w = self;
    int32_t status = value_begins(w);
    (void)at;
    w->ids += t->id && !(t->flags & REC_EVENT_ID_MADE);
    w->bools += t->dtype == REC_DTYPE_BOOL8;
    if (status == REC_OK && !w->at.depth && !w->array) {
        return refuse(w, "a tensor without a name: the record is nothing else", "Save it as .npy.");
    }
    return status != REC_OK ? status : w->array ? put_array(w, t) : put_member(w, t);
}

static const rec_visitor visitor = {
    .size = sizeof visitor,
    .metadata = on_metadata,
    .scalar = on_scalar,
    .numbers = on_numbers,
    .bytes = on_bytes,
    .list_begin = on_list,
    .map_begin = on_map,
    .key = on_key,
    .variant_begin = on_variant,
    .end = on_end,
    .option = on_option,
    .tensor = on_tensor,
    .metadata_value = on_metadata_value,
    .list_of = lr_pass_list_of,
};

/* --------------------------------------------------------------------------------------------------- the whole -- */

static int32_t walk(writer *w)
{
    w->at.depth = w->at.path.size = w->ids = w->values = w->metadata = w->bools = 0;
    w->at.paths = w->aside = false;
    return rec_job_walk(w->job, &visitor, w);
}

/* What arrays do not say, and is not in the file. */
static void note_left_out(const writer *w)
{
    if (w->values) {
        rec_job_note(w->job, REC_NOTE_DROPPED, w->value.text,
                     "%" PRIu64 " value%s other than tensors%s: left out, because NumPy files hold arrays only",
                     w->values, w->values == 1 ? "" : "s", w->values == 1 ? "" : ", the first here");
    }
    if (w->ids) {
        rec_job_note(w->job, REC_NOTE_DROPPED, "",
                     "the id%s of %" PRIu64 " parameter%s: left out, because NumPy files hold arrays only",
                     w->ids == 1 ? "" : "s", w->ids, w->ids == 1 ? "" : "s");
    }
    if (w->ids && !w->at.paths) {
        rec_job_note(w->job, REC_NOTE_LAYOUT, "",
                     "written with Burn's names and layout; for a model of PyTorch's, use reverse");
    }
    if (w->bools) {
        rec_job_note(w->job, REC_NOTE_DROPPED, "", "%" PRIu64 " tensor%s of Bool(U8): written as bool", w->bools,
                     w->bools == 1 ? "" : "s");
    }
    if (w->metadata) {
        rec_job_note(w->job, REC_NOTE_DROPPED, "",
                     "%" PRIu64 " entr%s of metadata, %s`%s`: left out, because NumPy files hold arrays only",
                     w->metadata, w->metadata == 1 ? "y" : "ies", w->metadata == 1 ? "" : "the first ", w->entry.text);
    }
}

static int32_t finish(writer *w, int32_t status)
{
    if (status == REC_OK) {
        note_left_out(w);
    }
    if (w->streaming) {
        (void)deflateEnd(&w->stream);
    }
    lr_flat_free(&w->at);
    rec_job_free(w->job, w->members);
    rec_job_free(w->job, w->places);
    rec_job_free(w->job, w->names.data);
    rec_job_free(w->job, w->record.data);
    rec_job_free(w->job, w->tile);
    return status;
}

int32_t lr_npy_save(rec_job *job, rec_sink *sink)
{
    writer w = {.job = job, .sink = sink, .at.path.job = job, .array = true};
    return finish(&w, walk(&w));
}

/* Two places of a record may have one name: a field `b` in `a`, and a field `a.b`. */
static int32_t check_names(writer *w)
{
    lr_flat_text twice;
    lr_codec_excerpt name;
    int32_t status = lr_flat_twice(w->job, w->names.data, w->places, w->count, &twice);
    if (status == REC_OK && twice.text) {
        status = rec_fail(w->job, REC_E_UNSUPPORTED, REC_UNKNOWN, "two arrays would both be called `%s`",
                          lr_codec_shown(&name, twice.text, twice.length - 4));
        rec_fail_hint(w->job, "Rename one of them: in NumPy's files names are joined with dots.");
    }
    return status;
}

int32_t lr_npz_save(rec_job *job, rec_sink *sink)
{
    writer w = {.job = job,
                .sink = sink,
                .at.path.job = job,
                .names.job = job,
                .record.job = job,
                .compress = rec_job_option_int(job, "compress") != 0,
                .method_level = (int)rec_job_option_int(job, "level")};
    bool patch = rec_sink_can_patch(sink);
    int32_t status = REC_OK;
    if (!patch) {
        w.measure = true;
        status = walk(&w);
        w.measure = false;
        w.fixed = true;
    }
    status = status == REC_OK ? walk(&w) : status;
    status = status == REC_OK ? check_names(&w) : status;
    for (uint64_t i = 0; patch && i < w.count && status == REC_OK; i++) {
        status = patch_local(&w, &w.members[i]);
    }
    status = status == REC_OK ? put_directory(&w) : status;
    return finish(&w, status);
}
