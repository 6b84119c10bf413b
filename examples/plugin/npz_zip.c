/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The directory of a zip file, as far as archives of arrays have one. Nothing that it says is believed before it was
 * held against the file: places, sizes, the members' own headers, and that no two members share a byte. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "npz.h"

enum {
    LOCAL = 30,   /* bytes of a member's header before its name */
    ENTRY = 46,   /* of an entry of the directory */
    END = 22,     /* of what is at the end of the file, before the comment */
    END_64 = 56,  /* of the same in 64 bits */
    LOCATOR = 20, /* of what says where that is */
    COMMENT = 65535,
    ENCRYPTED = 1,
    LATER = 8, /* flag: checksum and sizes stand behind the data */
    UTF8 = 2048,
    BEST_RATIO = 1032 /* deflate cannot do better */
};
#define HERE UINT32_C(0xffffffff) /* a size that stands elsewhere in 64 bits */

const char *npz_shown(npz_name *buffer, const char *name, uint64_t length)
{
    size_t used = 0;
    for (uint64_t i = 0; i < length && used < sizeof buffer->text - 4; i++) {
        unsigned char c = (unsigned char)name[i];
        buffer->text[used++] = (char)(c < ' ' || c >= 0x7f ? '?' : c);
    }
    memcpy(buffer->text + used, used < length ? "..." : "", used < length ? 4 : 1);
    return buffer->text;
}

static int32_t damaged(rec_job *job, int32_t status)
{
    rec_fail_hint(job, "Copy the file again from where it came from; `unzip -t` says what is left of it.");
    return status;
}

/* A failure about a member, whose name stands before it. */
static int32_t fail_member(rec_job *job, int32_t status, uint64_t at, const npz_member *m, const char *what)
{
    npz_name name;
    status = rec_fail(job, status, at, "%s: %s", npz_shown(&name, m->name, m->name_length), what);
    return status == REC_E_FORMAT ? damaged(job, status) : status;
}

/* ---------------------------------------------------------------------------------------------- the file's end -- */

typedef struct ending {
    uint64_t at; /* where the directory must end */
    uint64_t count, size, offset;
} ending;

/* The same in 64 bits, which must not say anything else. */
static int32_t read_64(rec_job *job, rec_source *source, uint64_t locator_at, const uint8_t *locator, ending *e)
{
    uint8_t record[END_64];
    uint64_t at = npz_get_64(locator + 8);
    ending narrow = *e;
    int32_t status;
    if (npz_get(locator + 4, 4) != 0 || npz_get(locator + 16, 4) > 1 || locator_at < END_64 ||
        at > locator_at - END_64) {
        return damaged(job, rec_fail(job, REC_E_FORMAT, locator_at, "the end of the zip file in 64 bits is not in it"));
    }
    status = rec_source_read_at(job, source, at, record, sizeof record);
    if (status != REC_OK) {
        return status;
    }
    e->at = at;
    e->count = npz_get_64(record + 32);
    e->size = npz_get_64(record + 40);
    e->offset = npz_get_64(record + 48);
    if (npz_get(record, 4) != 0x06064b50 || npz_get_64(record + 4) + 12 != locator_at - at ||
        npz_get_64(record + 24) != e->count || npz_get(record + 16, 4) != 0 || npz_get(record + 20, 4) != 0 ||
        (narrow.count != 0xffff && narrow.count != e->count) || (narrow.size != HERE && narrow.size != e->size) ||
        (narrow.offset != HERE && narrow.offset != e->offset)) {
        return damaged(job, rec_fail(job, REC_E_FORMAT, at,
                                     "the end of the zip file in 64 bits does not say what the one in 32 bits does"));
    }
    return REC_OK;
}

/* Where the directory is. */
static int32_t find_end(rec_job *job, rec_source *source, uint64_t size, ending *e)
{
    uint64_t length = size < COMMENT + END + LOCATOR ? size : COMMENT + END + LOCATOR, at = REC_UNKNOWN;
    uint8_t *tail = rec_job_alloc(job, length ? length : 1), *end = NULL;
    int32_t status = tail ? rec_source_read_at(job, source, size - length, tail, length)
                          : rec_fail(job, REC_E_MEMORY, 0, "out of memory for the end of the file");
    for (uint64_t i = length >= END ? length - END + 1 : 0; status == REC_OK && i-- > 0 && !end;) {
        if (npz_get(tail + i, 4) == 0x06054b50 && i + END + npz_get(tail + i + 20, 2) == length) {
            end = tail + i;
            at = size - length + i;
        }
    }
    if (status == REC_OK && !end) {
        status = rec_fail_found(job, REC_E_FORMAT, size, "the directory of a zip file at its end",
                                "none before the end of the file");
        rec_fail_hint(job, "The file is cut short, or no .npz: copy it again from where it came from.");
    }
    if (status == REC_OK) {
        *e = (ending){
            .at = at, .count = npz_get(end + 10, 2), .size = npz_get(end + 12, 4), .offset = npz_get(end + 16, 4)};
        if (npz_get(end + 4, 2) != 0 || npz_get(end + 6, 2) != 0 || npz_get(end + 8, 2) != e->count) {
            status = rec_fail(job, REC_E_UNSUPPORTED, at, "a zip file in several parts");
        } else if (end - tail >= LOCATOR && npz_get(end - LOCATOR, 4) == 0x07064b50) {
            status = read_64(job, source, at - LOCATOR, end - LOCATOR, e);
        }
    }
    if (status == REC_OK && (e->offset > e->at || e->size != e->at - e->offset || e->count > e->size / ENTRY)) {
        status = damaged(job, rec_fail(job, REC_E_FORMAT, at,
                                       "a directory of %" PRIu64 " entries in %" PRIu64 " bytes at %" PRIu64
                                       ", which must end at %" PRIu64,
                                       e->count, e->size, e->offset, e->at));
    }
    rec_job_free(job, tail);
    return status;
}

/* ----------------------------------------------------------------------------------------------- the directory -- */

/* What stands in 64 bits because it was too large, or because the writer could not know: of the sizes and the place
 * that are HERE, in that order. @return false if it does not fit. */
static bool read_wide(const uint8_t *extra, uint64_t length, uint64_t **wide, int count)
{
    const uint8_t *found = NULL, *end = extra + length;
    uint64_t size = 0;
    while (end - extra >= 4) {
        uint64_t each = npz_get(extra + 2, 2);
        if (each > (uint64_t)(end - extra - 4)) {
            return count == 0; /* what is no field is nobody's business, unless one is needed */
        }
        if (npz_get(extra, 2) == 1) {
            found = extra + 4;
            size = each;
            break;
        }
        extra += 4 + each;
    }
    for (int i = 0; i < count; i++, found += 8, size -= 8) {
        if (!found || size < 8) {
            return false;
        }
        *wide[i] = npz_get_64(found);
    }
    return true;
}

static bool is_text(const char *text, uint64_t length)
{
    const uint8_t *p = (const uint8_t *)text, *end = p + length;
    while (p < end) {
        int more = *p < 0x80                 ? 0
                   : *p >= 0xc2 && *p < 0xe0 ? 1
                   : *p >= 0xe0 && *p < 0xf0 ? 2
                   : *p >= 0xf0 && *p < 0xf5 ? 3
                                             : -1;
        if (more < 0 || more >= end - p || *p == 0 || (*p == 0xe0 && p[1] < 0xa0) || (*p == 0xed && p[1] > 0x9f) ||
            (*p == 0xf0 && p[1] < 0x90) || (*p == 0xf4 && p[1] > 0x8f)) {
            return false;
        }
        for (p++; more > 0; more--, p++) {
            if ((*p & 0xc0) != 0x80) {
                return false;
            }
        }
    }
    return true;
}

static bool is_ascii(const char *text, uint64_t length)
{
    while (length > 0 && (unsigned char)text[length - 1] < 0x80) {
        length--;
    }
    return length == 0;
}

static const char *method_name(uint16_t method)
{
    return method == 9    ? "deflate64"
           : method == 12 ? "bzip2"
           : method == 14 ? "lzma"
           : method == 93 ? "zstd"
                          : "unknown";
}

/* An entry of the directory. @param length (out) its bytes. */
static int32_t read_entry(rec_job *job, const uint8_t *at, uint64_t left, uint64_t place, npz_member *m,
                          uint64_t *length)
{
    uint64_t *wide[3];
    uint32_t extra;
    int count = 0;
    npz_name name;
    if (left < ENTRY || npz_get(at, 4) != 0x02014b50) {
        return damaged(job, rec_fail_found(job, REC_E_FORMAT, place, "an entry of the zip file's directory", "%s",
                                           left < ENTRY ? "its end" : "something else"));
    }
    *m = (npz_member){.name = (const char *)at + ENTRY,
                      .name_length = npz_get(at + 28, 2),
                      .flags = (uint16_t)npz_get(at + 8, 2),
                      .method = (uint16_t)npz_get(at + 10, 2),
                      .crc = npz_get(at + 16, 4),
                      .stored = npz_get(at + 20, 4),
                      .size = npz_get(at + 24, 4),
                      .local = npz_get(at + 42, 4)};
    extra = npz_get(at + 30, 2);
    *length = (uint64_t)ENTRY + m->name_length + extra + npz_get(at + 32, 2);
    if (*length > left) {
        return damaged(job,
                       rec_fail(job, REC_E_FORMAT, place, "an entry that goes on beyond the zip file's directory"));
    }
    if (m->size == HERE) {
        wide[count++] = &m->size;
    }
    if (m->stored == HERE) {
        wide[count++] = &m->stored;
    }
    if (m->local == HERE) {
        wide[count++] = &m->local;
    }
    if (!read_wide(at + ENTRY + m->name_length, extra, wide, count)) {
        return fail_member(job, REC_E_FORMAT, place, m, "its sizes in 64 bits are missing");
    }
    if (!is_text(m->name, m->name_length) || (!(m->flags & UTF8) && !is_ascii(m->name, m->name_length))) {
        return rec_fail(job, REC_E_UNSUPPORTED, place, "the name of a member, `%s`, is not marked as UTF-8, or none",
                        npz_shown(&name, m->name, m->name_length));
    }
    if (m->flags & ENCRYPTED) {
        return fail_member(job, REC_E_UNSUPPORTED, place, m, "it is encrypted");
    }
    if (m->method != NPZ_STORED && m->method != NPZ_DEFLATED) {
        return rec_fail(job, REC_E_UNSUPPORTED, place, "%s: compressed by method %u (%s); NumPy stores or deflates",
                        npz_shown(&name, m->name, m->name_length), (unsigned)m->method, method_name(m->method));
    }
    if (m->method == NPZ_STORED ? m->stored != m->size : m->size / BEST_RATIO > m->stored) {
        return rec_fail(job, REC_E_FORMAT, place,
                        "%s: %" PRIu64 " bytes are said to become %" PRIu64 ", which no compression of this kind does",
                        npz_shown(&name, m->name, m->name_length), m->stored, m->size);
    }
    m->key_length = m->name_length;
    if (m->name_length >= 4 && memcmp(m->name + m->name_length - 4, ".npy", 4) == 0) {
        m->key_length -= 4;
    }
    return REC_OK;
}

/* The header in front of a member's bytes, which must say the same: who reads only these would read another file. */
static int32_t read_local(rec_job *job, rec_source *source, uint64_t limit, npz_member *m)
{
    enum { READ = 512 };
    uint8_t first[READ], *header = first;
    uint64_t have, length = 0, sizes[2], *wide[2];
    uint32_t crc;
    int count = 0;
    int32_t status = REC_OK;
    bool same;
    if (m->local > limit || limit - m->local < LOCAL) {
        return fail_member(job, REC_E_FORMAT, m->local, m, "it is said to be where the directory is, or after it");
    }
    have = limit - m->local < READ ? limit - m->local : READ;
    status = rec_source_read_at(job, source, m->local, first, have);
    if (status != REC_OK) {
        return status;
    }
    length = (uint64_t)LOCAL + npz_get(first + 26, 2) + npz_get(first + 28, 2);
    if (npz_get(first, 4) != 0x04034b50 || length > limit - m->local || m->stored > limit - m->local - length) {
        return fail_member(job, REC_E_FORMAT, m->local, m,
                           npz_get(first, 4) != 0x04034b50 ? "it is not where the directory says"
                                                           : "its bytes go on beyond the directory");
    }
    if (length > have) {
        header = rec_job_alloc(job, length);
        status = header ? rec_source_read_at(job, source, m->local, header, length)
                        : rec_fail(job, REC_E_MEMORY, m->local, "out of memory for a member's header");
    }
    if (status == REC_OK) {
        crc = npz_get(header + 14, 4);
        sizes[0] = npz_get(header + 22, 4);
        sizes[1] = npz_get(header + 18, 4);
        for (int i = 0; i < 2; i++) {
            if (sizes[i] == HERE) {
                wide[count++] = &sizes[i];
            }
        }
        same = npz_get(header + 26, 2) == m->name_length && memcmp(header + LOCAL, m->name, m->name_length) == 0 &&
               npz_get(header + 8, 2) == m->method &&
               (npz_get(header + 6, 2) & (ENCRYPTED | LATER)) == (m->flags & (ENCRYPTED | LATER));
        same = same && read_wide(header + LOCAL + m->name_length, length - LOCAL - m->name_length, wide, count);
        if (m->flags & LATER) { /* nothing, or what stands behind the data */
            same = same && (!crc || crc == m->crc) && (!sizes[0] || sizes[0] == m->size) &&
                   (!sizes[1] || sizes[1] == m->stored);
        } else {
            same = same && crc == m->crc && sizes[0] == m->size && sizes[1] == m->stored;
        }
        status = same ? REC_OK : fail_member(job, REC_E_FORMAT, m->local, m, "its own header and the directory differ");
    }
    m->data = m->local + length;
    rec_job_free(job, header == first ? NULL : header);
    return status;
}

/* --------------------------------------------------------------------------------------------------- the whole -- */

static int by_place(const void *a, const void *b)
{
    const npz_member *x = *(const npz_member *const *)a, *y = *(const npz_member *const *)b;
    return x->local < y->local ? -1 : x->local > y->local;
}

/* A dot comes before all else, so that `a.b` comes right after `a`. */
static int by_key(const void *a, const void *b)
{
    const npz_member *x = *(const npz_member *const *)a, *y = *(const npz_member *const *)b;
    uint32_t least = x->key_length < y->key_length ? x->key_length : y->key_length, i = 0;
    while (i < least && x->name[i] == y->name[i]) {
        i++;
    }
    if (i < least) {
        int left = x->name[i] == '.' ? -1 : (unsigned char)x->name[i],
            right = y->name[i] == '.' ? -1 : (unsigned char)y->name[i];
        return left < right ? -1 : 1;
    }
    return x->key_length < y->key_length ? -1 : x->key_length > y->key_length;
}

static int32_t check_apart(rec_job *job, npz_archive *archive, const npz_member **order)
{
    npz_name name;
    for (uint64_t i = 0; i < archive->count; i++) {
        order[i] = &archive->members[i];
    }
    qsort(order, (size_t)archive->count, sizeof *order, by_place);
    for (uint64_t i = 1; i < archive->count; i++) {
        const npz_member *before = order[i - 1];
        if (before->data + before->stored > order[i]->local) {
            return fail_member(job, REC_E_FORMAT, order[i]->local, order[i], "it lies in another member");
        }
    }
    qsort(order, (size_t)archive->count, sizeof *order, by_key);
    for (uint64_t i = 1; i < archive->count; i++) {
        const npz_member *x = order[i - 1], *y = order[i];
        bool begins = x->key_length <= y->key_length && memcmp(x->name, y->name, x->key_length) == 0;
        if (begins && x->key_length == y->key_length) {
            return damaged(job, rec_fail(job, REC_E_FORMAT, y->local, "the name `%s` is in the archive twice",
                                         npz_shown(&name, y->name, y->key_length)));
        }
        archive->nested = archive->nested || (begins && y->name[x->key_length] == '.');
    }
    return REC_OK;
}

int32_t npz_archive_open(rec_job *job, rec_source *source, npz_archive *archive)
{
    uint64_t size = rec_source_size(source), used = 0, inflated = 0;
    const npz_member **order = NULL;
    const void *view;
    ending e = {0};
    int32_t status = size == REC_UNKNOWN ? rec_source_view(job, source, &view, &size) : REC_OK;
    *archive = (npz_archive){0};
    status = status == REC_OK ? find_end(job, source, size, &e) : status;
    if (status == REC_OK) {
        archive->directory_at = e.offset;
        archive->directory = rec_job_alloc(job, e.size + 1);
        archive->members = rec_job_alloc(job, (e.count + 1) * sizeof *archive->members);
        order = rec_job_alloc(job, (e.count + 1) * sizeof *order);
        status = archive->directory && archive->members && order
                     ? rec_source_read_at(job, source, e.offset, archive->directory, e.size)
                     : rec_fail(job, REC_E_MEMORY, e.offset, "out of memory for the directory");
    }
    for (uint64_t i = 0; i < e.count && status == REC_OK; i++) {
        npz_member *m = &archive->members[archive->count];
        uint64_t length = 0;
        status = read_entry(job, archive->directory + used, e.size - used, e.offset + used, m, &length);
        used += length;
        status = status == REC_OK ? read_local(job, source, e.offset, m) : status;
        if (status == REC_OK && m->method == NPZ_DEFLATED && __builtin_add_overflow(inflated, m->size, &inflated)) {
            inflated = REC_UNKNOWN; /* refused below */
        }
        archive->count += status == REC_OK && !(m->size == 0 && m->name_length && m->name[m->name_length - 1] == '/');
    }
    if (status == REC_OK && used != e.size) {
        status = damaged(job, rec_fail(job, REC_E_FORMAT, e.offset + used,
                                       "%" PRIu64 " bytes in the directory after its last entry", e.size - used));
    }
    status = status == REC_OK ? rec_job_check_inflated(job, size, inflated) : status;
    status = status == REC_OK ? check_apart(job, archive, order) : status;
    rec_job_free(job, order);
    return status;
}

void npz_archive_close(rec_job *job, npz_archive *archive)
{
    rec_job_free(job, archive->directory);
    rec_job_free(job, archive->members);
}
