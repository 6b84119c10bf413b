/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Bytes produced on demand: inflates a member and checks its checksum; rearranges elements. Reads may come long after
 * the load, from any thread, one at a time: the source keeps nothing of the job, and all memory is from malloc. The
 * inflater lives only while a member is read sequentially. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "common/crc32.h"
#include "plugins/codec/npy/npy.h"

enum {
    PIECE = 64 * 1024,
    PART = 256 * 1024, /* stays in a cache */
    LEAP = 1024 * 1024,
    GLANCE = 4096 /* a reader that stops before has only read the header */
};

static int32_t no_memory(rec_job *job)
{
    return rec_fail(job, REC_E_MEMORY, REC_UNKNOWN, "out of memory while a member was read");
}

/* ------------------------------------------------------------------------------------------- members, inflated -- */

/* While it is read. */
typedef struct inflater {
    z_stream stream;
    uint64_t taken; /* of the stored bytes */
    uint8_t stored[PIECE];
} inflater;

typedef struct bytes {
    rec_source *file;
    lr_npz_member member;
    lr_codec_excerpt name;
    uint64_t next; /* byte that comes next, all before it are in `sum` */
    uint32_t sum;
    inflater *inflater;
} bytes;

static void rest(bytes *b)
{
    if (b->inflater) {
        (void)inflateEnd(&b->inflater->stream);
        free(b->inflater);
        b->inflater = NULL;
    }
    b->next = 0;
    b->sum = 0;
}

static int32_t fail(rec_job *job, const bytes *b, const char *what)
{
    int32_t status = rec_fail(job, REC_E_FORMAT, b->member.local, "%s: %s", b->name.text, what);
    rec_fail_hint(job, "The file is damaged: copy it again from its source.");
    return status;
}

static int32_t begin(rec_job *job, bytes *b)
{
    rest(b);
    if (b->member.method == LR_ZIP_STORED) {
        return REC_OK;
    }
    b->inflater = malloc(sizeof *b->inflater);
    if (!b->inflater) {
        return no_memory(job);
    }
    b->inflater->stream = (z_stream){0};
    b->inflater->taken = 0;
    if (inflateInit2(&b->inflater->stream, -MAX_WBITS) != Z_OK) {
        free(b->inflater);
        b->inflater = NULL;
        return no_memory(job);
    }
    return REC_OK;
}

/* Inflates the next bytes. @param got (out) how many came: fewer only at the end of the stream, which sets `ended`. */
static int32_t inflate_some(rec_job *job, bytes *b, uint8_t *target, uint64_t size, uint64_t *got, bool *ended)
{
    inflater *f = b->inflater;
    *got = 0;
    while (*got < size && !*ended) {
        uint64_t left = size - *got;
        uInt room = left < UINT_MAX ? (uInt)left : UINT_MAX;
        int result;
        if (!f->stream.avail_in && f->taken < b->member.stored) {
            uint64_t more = b->member.stored - f->taken < PIECE ? b->member.stored - f->taken : PIECE;
            int32_t status = rec_source_read_at(job, b->file, b->member.data + f->taken, f->stored, more);
            if (status != REC_OK) {
                return status;
            }
            f->stream.next_in = f->stored;
            f->stream.avail_in = (uInt)more;
            f->taken += more;
        }
        f->stream.next_out = target + *got;
        f->stream.avail_out = room;
        result = inflate(&f->stream, Z_NO_FLUSH);
        *got += room - f->stream.avail_out;
        *ended = result == Z_STREAM_END;
        if (result == Z_MEM_ERROR) {
            return no_memory(job);
        }
        if (result != Z_OK && result != Z_STREAM_END) { /* Z_BUF_ERROR: all input is used, and no output was made */
            return fail(job, b,
                        result == Z_BUF_ERROR ? "its compressed data end too early"
                                              : "its compressed data are damaged");
        }
    }
    return REC_OK;
}

/* The next bytes, whatever the method: a part at a time, which is summed up while it is in a cache. */
static int32_t take(rec_job *job, bytes *b, uint8_t *target, uint64_t size)
{
    int32_t status = REC_OK;
    for (uint64_t done = 0; done < size && status == REC_OK;) {
        uint64_t n = size - done < PART ? size - done : PART, got = n;
        bool ended = false;
        status = b->inflater ? inflate_some(job, b, target + done, n, &got, &ended)
                             : rec_source_read_at(job, b->file, b->member.data + b->next + done, target + done, n);
        if (status == REC_OK && got < n) {
            status = fail(job, b, "it inflates to fewer bytes than the directory says");
        }
        if (status == REC_OK) {
            b->sum = lr_crc32(b->sum, target + done, (size_t)n);
        }
        done += n;
    }
    b->next += size;
    return status;
}

/* All bytes were taken: whether they are all, and the right ones. */
static int32_t check_end(rec_job *job, bytes *b)
{
    uint8_t one;
    uint64_t got = 0;
    bool ended = false;
    int32_t status = b->inflater ? inflate_some(job, b, &one, 1, &got, &ended) : REC_OK;
    if (status == REC_OK && got) {
        status = fail(job, b, "it inflates to more bytes than the directory says");
    } else if (status == REC_OK && b->inflater &&
               (b->inflater->taken != b->member.stored || b->inflater->stream.avail_in)) {
        status = fail(job, b, "its compressed data end before their place does");
    } else if (status == REC_OK && b->sum != b->member.crc) {
        status = fail(job, b, "its bytes do not have the checksum that the directory says");
    }
    return status;
}

/* Skips to the requested offset. */
static int32_t go_to(rec_job *job, bytes *b, uint64_t offset)
{
    uint8_t *passed;
    int32_t status = REC_OK;
    if (offset < b->next || (!b->inflater && b->member.method == LR_ZIP_DEFLATED)) {
        status = begin(job, b);
    }
    if (status != REC_OK || offset == b->next) {
        return status;
    }
    passed = malloc(PIECE);
    if (!passed) {
        return no_memory(job);
    }
    while (status == REC_OK && b->next < offset) {
        status = take(job, b, passed, offset - b->next < PIECE ? offset - b->next : PIECE);
    }
    free(passed);
    return status;
}

static int32_t bytes_read_at(void *self, rec_job *job, uint64_t offset, void *target, uint64_t size)
{
    bytes *b = self;
    int32_t status;
    if (b->member.method == LR_ZIP_STORED && offset - b->next > LEAP) { /* here and there, also before it */
        return rec_source_read_at(job, b->file, b->member.data + offset, target, size);
    }
    status = go_to(job, b, offset);
    status = status == REC_OK ? take(job, b, target, size) : status;
    if (status == REC_OK && b->next == b->member.size) {
        status = check_end(job, b);
        rest(b);
    } else if (status != REC_OK || b->next <= GLANCE) {
        rest(b);
    }
    return status;
}

static uint64_t bytes_total(void *self)
{
    return ((const bytes *)self)->member.size;
}

static void bytes_release(void *self)
{
    bytes *b = self;
    rest(b);
    rec_source_release(b->file);
    free(b);
}

int32_t lr_npz_member_open(rec_job *job, rec_source *file, const lr_npz_member *member, rec_source **out)
{
    static const rec_source_ops ops = {
        .size = sizeof ops, .read_at = bytes_read_at, .total = bytes_total, .release = bytes_release};
    bytes *b = malloc(sizeof *b);
    *out = NULL;
    if (!b) {
        return no_memory(job);
    }
    *b = (bytes){.file = rec_source_retain(file), .member = *member};
    (void)lr_codec_shown(&b->name, member->name, member->name_length);
    b->member.name = NULL; /* it goes with the directory */
    rest(b);
    return rec_source_make(job, rec_source_name(file), &ops, b, out);
}

/* -------------------------------------------------------------------------------------------- elements, turned -- */

typedef struct turned {
    rec_source *from;
    uint64_t begin; /* of the elements in it */
    lr_npz_array array;
} turned;

static void swap(uint8_t *data, uint32_t width, uint64_t count)
{
    for (; count-- > 0; data += width) {
        for (uint32_t i = 0; i < width / 2; i++) {
            uint8_t byte = data[i];
            data[i] = data[width - 1 - i];
            data[width - 1 - i] = byte;
        }
    }
}

/* Elements `first` and those after it, as they follow each other when the last index runs fastest. */
static int32_t gather(rec_job *job, const turned *t, uint64_t first, uint8_t *target, uint64_t count)
{
    const lr_npz_array *a = &t->array;
    uint64_t index[LR_NPY_RANK], step[LR_NPY_RANK], at = 0, size;
    const uint8_t *data;
    const void *view;
    int32_t status = rec_source_view(job, t->from, &view, &size);
    if (status != REC_OK) {
        return status;
    }
    data = (const uint8_t *)view + t->begin;
    for (uint32_t i = 0; i < a->rank; i++) {
        step[i] = i ? step[i - 1] * a->shape[i - 1] : 1;
    }
    for (uint32_t i = a->rank; i-- > 0; first /= a->shape[i]) {
        index[i] = first % a->shape[i];
        at += index[i] * step[i];
    }
    for (uint64_t done = 0; done < count; done++) {
        memcpy(target + done * a->width, data + at * a->width, a->width);
        for (uint32_t i = a->rank; i-- > 0;) {
            at += step[i];
            if (++index[i] < a->shape[i]) {
                break;
            }
            at -= step[i] * a->shape[i];
            index[i] = 0;
        }
    }
    return REC_OK;
}

static int32_t elements(rec_job *job, const turned *t, uint64_t first, uint8_t *target, uint64_t count)
{
    uint32_t width = t->array.width;
    int32_t status = t->array.fortran
                         ? gather(job, t, first, target, count)
                         : rec_source_read_at(job, t->from, t->begin + first * width, target, count * width);
    if (status == REC_OK && t->array.big) {
        swap(target, width, count);
    }
    return status;
}

static int32_t turned_read_at(void *self, rec_job *job, uint64_t offset, void *target, uint64_t size)
{
    const turned *t = self;
    uint32_t width = t->array.width;
    uint8_t *to = target, one[8];
    int32_t status = REC_OK;
    while (size && status == REC_OK) {
        uint64_t first = offset / width, skip = offset % width, n;
        if (skip || size < width) {
            status = elements(job, t, first, one, 1);
            n = width - skip < size ? width - skip : size;
            memcpy(to, one + skip, (size_t)(status == REC_OK ? n : 0));
        } else {
            n = size - size % width;
            status = elements(job, t, first, to, n / width);
        }
        to += n;
        offset += n;
        size -= n;
    }
    return status;
}

static uint64_t turned_total(void *self)
{
    return ((const turned *)self)->array.size;
}

static void turned_release(void *self)
{
    turned *t = self;
    rec_source_release(t->from);
    free(t);
}

int32_t lr_npz_turned_open(rec_job *job, rec_source *from, uint64_t base, const lr_npz_array *array, rec_source **out)
{
    static const rec_source_ops ops = {
        .size = sizeof ops, .read_at = turned_read_at, .total = turned_total, .release = turned_release};
    turned *t = malloc(sizeof *t);
    *out = NULL;
    if (!t) {
        return no_memory(job);
    }
    *t = (turned){.from = rec_source_retain(from), .begin = base + array->header, .array = *array};
    return rec_source_make(job, rec_source_name(from), &ops, t, out);
}
