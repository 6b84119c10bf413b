/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The directory of a zip archive: what is in it and where, checked against the headers before the members (APPNOTE 4.3,
 * 4.5.3 for what needs 64 bits). */
#include <inttypes.h>
#include <stdlib.h>

#include "common/names.h"
#include "plugins/codec/excerpt.h"
#include "plugins/codec/zip/zip.h"

enum {
    END_SIZE = 22, /* of the record at the end, without its comment */
    COMMENT_MOST = 65535,
    END64_SIZE = 56,
    LOCATOR_SIZE = 20,
    ENTRY_SIZE = 46,
    HEADER_SIZE = 30,
    BEST_RATIO = 1032 /* deflate cannot do better */
};

/* Where the directory is. */
typedef struct place {
    uint64_t offset, size, count;
    uint64_t end; /* of the data before the end records */
} place;

static int32_t fail_cut(rec_job *job, uint64_t at, const char *what)
{
    int32_t status = rec_fail(job, REC_E_FORMAT, at, "%s", what);
    rec_fail_hint(job, "The file is truncated or damaged: copy it again from its source.");
    return status;
}

/* ------------------------------------------------------------------------------------------ records at the end -- */

/* Finds the record whose comment ends where the file does. */
static int32_t find_end(const lr_zip *zip, uint64_t size, uint64_t *at, uint8_t *record)
{
    uint64_t length = size < END_SIZE + COMMENT_MOST ? size : END_SIZE + COMMENT_MOST;
    uint8_t *tail;
    int32_t status;
    if (size < END_SIZE) {
        return fail_cut(zip->job, size, "a zip archive of less than 22 bytes");
    }
    tail = rec_job_alloc(zip->job, length);
    if (!tail) {
        return rec_fail(zip->job, REC_E_MEMORY, REC_UNKNOWN, "out of memory for the end of a zip archive");
    }
    status = rec_source_read_at(zip->job, zip->source, size - length, tail, length);
    *at = REC_UNKNOWN;
    for (uint64_t i = length - END_SIZE + 1; i-- > 0 && status == REC_OK && *at == REC_UNKNOWN;) {
        if (lr_little(tail + i, 4) == LR_ZIP_END && lr_little(tail + i + 20, 2) == length - i - END_SIZE) {
            *at = size - length + i;
            memcpy(record, tail + i, END_SIZE);
        }
    }
    rec_job_free(zip->job, tail);
    if (status == REC_OK && *at == REC_UNKNOWN) {
        status = fail_cut(zip->job, size, "a zip archive without the end of its directory");
    }
    return status;
}

static int32_t fail_volumes(const lr_zip *zip, uint64_t at)
{
    return rec_fail(zip->job, REC_E_UNSUPPORTED, at, "a zip archive in several volumes");
}

/* Whether another archive precedes this one: offsets in this one are too small by its size. @param said,found stated
 * and actual offset. @return true with the failure reported. */
static bool fail_several(const lr_zip *zip, uint64_t said, uint64_t found)
{
    uint8_t head[4];
    uint64_t before = found - said;
    if (found <= said || rec_source_read_at(zip->job, zip->source, before, head, sizeof head) != REC_OK) {
        return found > said; /* it could not be read */
    }
    if (lr_little(head, 4) != LR_ZIP_HEADER) {
        return false;
    }
    (void)rec_fail(zip->job, REC_E_FORMAT, before,
                   "several archives in one file: the last one begins after %" PRIu64 " other bytes", before);
    rec_fail_hint(zip->job, "Save each in a file of its own.");
    return true;
}

/* Fails where the record of 64 bits is not. */
static int32_t fail_end64(const lr_zip *zip, uint64_t at, uint64_t end)
{
    return fail_several(zip, at, end - LOCATOR_SIZE - END64_SIZE)
               ? REC_E_FORMAT
               : rec_fail(zip->job, REC_E_FORMAT, at, "no valid 64-bit record where the zip archive announces it");
}

/* The record of 64 bits, if there is one before the end. What both records say must agree, but where the narrow one is
 * full of ones. */
static int32_t find_end64(const lr_zip *zip, uint64_t end, place *p)
{
    uint8_t locator[LOCATOR_SIZE], record[END64_SIZE];
    uint64_t at;
    int32_t status;
    if (end < LOCATOR_SIZE) {
        return REC_OK;
    }
    status = rec_source_read_at(zip->job, zip->source, end - LOCATOR_SIZE, locator, sizeof locator);
    if (status != REC_OK || lr_little(locator, 4) != LR_ZIP_LOCATOR) {
        return status;
    }
    at = lr_little(locator + 8, 8);
    if (lr_little(locator + 4, 4) != 0 || lr_little(locator + 16, 4) > 1) {
        return fail_volumes(zip, end - LOCATOR_SIZE);
    }
    if (at > end - LOCATOR_SIZE || end - LOCATOR_SIZE - at < END64_SIZE) {
        return rec_fail(zip->job, REC_E_FORMAT, end - LOCATOR_SIZE,
                        "the zip archive's 64-bit record has the offset %" PRIu64 ", where it cannot be", at);
    }
    status = rec_source_read_at(zip->job, zip->source, at, record, sizeof record);
    if (status != REC_OK) {
        return status;
    }
    if (lr_little(record, 4) != LR_ZIP_END64 || lr_little(record + 4, 8) < END64_SIZE - 12 ||
        lr_little(record + 4, 8) != end - LOCATOR_SIZE - at - 12) {
        return fail_end64(zip, at, end);
    }
    if (lr_little(record + 16, 4) != 0 || lr_little(record + 20, 4) != 0) {
        return fail_volumes(zip, at);
    }
    if ((p->count != UINT16_MAX && p->count != lr_little(record + 32, 8)) ||
        (p->size != UINT32_MAX && p->size != lr_little(record + 40, 8)) ||
        (p->offset != UINT32_MAX && p->offset != lr_little(record + 48, 8))) {
        return rec_fail(zip->job, REC_E_FORMAT, at,
                        "the two records at the end of the zip archive contradict each other");
    }
    *p = (place){.count = lr_little(record + 32, 8),
                 .size = lr_little(record + 40, 8),
                 .offset = lr_little(record + 48, 8),
                 .end = at};
    return REC_OK;
}

static int32_t find_directory(const lr_zip *zip, uint64_t size, place *p)
{
    uint8_t record[END_SIZE] = {0};
    uint64_t end = 0;
    int32_t status = find_end(zip, size, &end, record);
    if (status != REC_OK) {
        return status;
    }
    *p = (place){.count = lr_little(record + 10, 2),
                 .size = lr_little(record + 12, 4),
                 .offset = lr_little(record + 16, 4),
                 .end = end};
    if (lr_little(record + 4, 2) != 0 || lr_little(record + 6, 2) != 0 ||
        lr_little(record + 8, 2) != lr_little(record + 10, 2)) {
        return fail_volumes(zip, end);
    }
    status = find_end64(zip, end, p);
    if (status != REC_OK) {
        return status;
    }
    if (p->size <= p->end && p->offset < p->end - p->size && fail_several(zip, p->offset, p->end - p->size)) {
        return REC_E_FORMAT;
    }
    if (p->size > p->end || p->offset != p->end - p->size) {
        return rec_fail(zip->job, REC_E_FORMAT, end,
                        "the directory of the zip archive has the offset %" PRIu64 " with %" PRIu64
                        " bytes, but it must end at %" PRIu64,
                        p->offset, p->size, p->end);
    }
    return rec_job_check_count(zip->job, end, p->count, ENTRY_SIZE, p->size);
}

/* ----------------------------------------------------------------------------------------------------- members -- */

/* Takes a number of 64 bits out of an entry's extra field, where the narrow one is full of ones. */
static bool widen(const uint8_t **next, const uint8_t *end, uint64_t *number)
{
    if (*number != UINT32_MAX) {
        return true;
    }
    if (end - *next < 8) {
        return false;
    }
    *number = lr_little(*next, 8);
    *next += 8;
    return true;
}

/* Finds what the extra field `extra` says in 64 bits. @return false if it is not sound. */
static bool read_extra(const uint8_t *extra, uint64_t length, uint64_t *size, uint64_t *stored, uint64_t *at)
{
    while (length >= 4) {
        uint64_t id = lr_little(extra, 2), own = lr_little(extra + 2, 2);
        if (own > length - 4) {
            return false;
        }
        if (id == LR_ZIP_EXTRA64) {
            const uint8_t *next = extra + 4, *end = next + own;
            return widen(&next, end, size) && widen(&next, end, stored) && widen(&next, end, at);
        }
        extra += 4 + own;
        length -= 4 + own;
    }
    return true; /* files of 2^32 - 1 bytes need none */
}

/* A failure about a member, whose name stands before it. */
static int32_t fail_member(const lr_zip *zip, const lr_zip_member *m, const char *what)
{
    lr_codec_excerpt shown;
    int32_t status =
        rec_fail(zip->job, REC_E_FORMAT, m->at, "%s: %s", lr_codec_shown(&shown, m->name, m->name_length), what);
    rec_fail_hint(zip->job, "The file is truncated or damaged: copy it again from its source.");
    return status;
}

/* Whether checksum and sizes in the header of a member are those of the directory, or follow the member. */
static bool same_sizes(const lr_zip_member *m, const uint8_t *header, const uint8_t *extra, uint64_t length)
{
    uint64_t stored = lr_little(header + 18, 4), size = lr_little(header + 22, 4), at = 0;
    if (lr_little(header + 6, 2) & LR_ZIP_SIZES_AFTER) {
        return true;
    }
    return lr_little(header + 14, 4) == m->crc && read_extra(extra, length, &size, &stored, &at) &&
           stored == m->stored && size == m->size;
}

/* Whether the header of a member says the same as the directory. @param rest its name and its extra field. */
static bool same_header(const lr_zip_member *m, uint16_t flags, const uint8_t *header, const uint8_t *rest)
{
    return lr_little(header + 8, 2) == m->method && ((lr_little(header + 6, 2) ^ flags) & 1) == 0 &&
           memcmp(rest, m->name, m->name_length) == 0 &&
           same_sizes(m, header, rest + m->name_length, lr_little(header + 28, 2));
}

/* Reads the header before a member, which must say the same as the directory. */
static int32_t check_header(const lr_zip *zip, const place *p, lr_zip_member *m, uint16_t flags)
{
    uint8_t header[HEADER_SIZE], *rest;
    uint64_t length;
    bool same;
    int32_t status;
    if (m->at > p->offset || p->offset - m->at < HEADER_SIZE + (uint64_t)m->name_length) {
        return fail_member(zip, m, "it has an invalid offset");
    }
    status = rec_source_read_at(zip->job, zip->source, m->at, header, sizeof header);
    if (status != REC_OK) {
        return status;
    }
    if (lr_little(header, 4) != LR_ZIP_HEADER || lr_little(header + 26, 2) != m->name_length) {
        return fail_member(zip, m, "its header differs from the directory of the zip archive");
    }
    length = (uint64_t)m->name_length + lr_little(header + 28, 2);
    m->offset = m->at + HEADER_SIZE + length;
    if (m->offset > p->offset || m->stored > p->offset - m->offset) {
        return fail_member(zip, m, "it reaches into the directory of the zip archive");
    }
    rest = rec_job_alloc(zip->job, length);
    if (!rest) {
        return rec_fail(zip->job, REC_E_MEMORY, REC_UNKNOWN, "out of memory for a name in a zip archive");
    }
    status = rec_source_read_at(zip->job, zip->source, m->at + HEADER_SIZE, rest, length);
    same = status == REC_OK && same_header(m, flags, header, rest);
    rec_job_free(zip->job, rest);
    if (status == REC_OK && !same) {
        status = fail_member(zip, m, "its header differs from the directory of the zip archive");
    }
    if (status != REC_OK) {
        return status;
    }
    if (m->method == LR_ZIP_STORED && m->stored != m->size) {
        return rec_fail(zip->job, REC_E_FORMAT, m->at,
                        "a stored member of %" PRIu64 " bytes with a stated size of %" PRIu64, m->stored, m->size);
    }
    if (m->method == LR_ZIP_DEFLATED && m->size / BEST_RATIO > m->stored) {
        return rec_fail(zip->job, REC_E_FORMAT, m->at,
                        "a member of %" PRIu64 " bytes with a stated decompressed size of %" PRIu64
                        ", which deflate cannot do",
                        m->stored, m->size);
    }
    return REC_OK;
}

static int32_t read_entry(const lr_zip *zip, const place *p, uint64_t *at, lr_zip_member *m)
{
    const uint8_t *entry = zip->directory + *at;
    uint64_t left = p->size - *at, place_of = p->offset + *at, extra, comment;
    uint16_t flags;
    if (left < ENTRY_SIZE || lr_little(entry, 4) != LR_ZIP_ENTRY) {
        return rec_fail(zip->job, REC_E_FORMAT, place_of, "no entry where the directory of the zip archive has one");
    }
    flags = (uint16_t)lr_little(entry + 8, 2);
    extra = lr_little(entry + 30, 2);
    comment = lr_little(entry + 32, 2);
    *m = (lr_zip_member){.name = (const char *)entry + ENTRY_SIZE,
                         .name_length = (uint16_t)lr_little(entry + 28, 2),
                         .method = (uint16_t)lr_little(entry + 10, 2),
                         .crc = (uint32_t)lr_little(entry + 16, 4),
                         .stored = lr_little(entry + 20, 4),
                         .size = lr_little(entry + 24, 4),
                         .at = lr_little(entry + 42, 4),
                         .encrypted = (flags & 1) != 0,
                         .utf8 = (flags & LR_ZIP_NAME_UTF8) != 0};
    if (ENTRY_SIZE + m->name_length + extra + comment > left ||
        !read_extra(entry + ENTRY_SIZE + m->name_length, extra, &m->size, &m->stored, &m->at)) {
        return rec_fail(zip->job, REC_E_FORMAT, place_of, "an entry of the zip archive's directory that is not whole");
    }
    if (lr_little(entry + 34, 2) != 0) {
        return fail_volumes(zip, place_of);
    }
    if (m->name_length == 0 || memchr(m->name, '\0', m->name_length)) {
        return rec_fail(zip->job, REC_E_FORMAT, place_of, "a member of the zip archive %s",
                        m->name_length ? "has a NUL byte in its name" : "has no name");
    }
    *at += ENTRY_SIZE + m->name_length + extra + comment;
    return check_header(zip, p, m, flags);
}

static int by_place(const void *a, const void *b)
{
    const lr_zip_member *x = *(const lr_zip_member *const *)a, *y = *(const lr_zip_member *const *)b;
    return x->at < y->at ? -1 : x->at > y->at;
}

static int by_name(const void *a, const void *b)
{
    const lr_zip_member *x = *(const lr_zip_member *const *)a, *y = *(const lr_zip_member *const *)b;
    return lr_text_order(x->name, x->name_length, y->name, y->name_length);
}

/* Members must not share bytes, or a small file has as many large ones as it likes, nor names. */
static int32_t check_apart(lr_zip *zip)
{
    qsort(zip->by_name, (size_t)zip->count, sizeof *zip->by_name, by_place);
    for (uint64_t i = 1; i < zip->count; i++) {
        const lr_zip_member *before = zip->by_name[i - 1], *m = zip->by_name[i];
        if (m->at < before->offset + before->stored) {
            return rec_fail(zip->job, REC_E_FORMAT, m->at, "two members of the zip archive overlap here");
        }
    }
    qsort(zip->by_name, (size_t)zip->count, sizeof *zip->by_name, by_name);
    for (uint64_t i = 1; i < zip->count; i++) {
        if (by_name(&zip->by_name[i - 1], &zip->by_name[i]) == 0) {
            lr_codec_excerpt shown;
            return rec_fail(zip->job, REC_E_FORMAT, zip->by_name[i]->at,
                            "two members of the zip archive have one name, at bytes %" PRIu64 " and %" PRIu64 ": `%s`",
                            zip->by_name[i - 1]->at, zip->by_name[i]->at,
                            lr_codec_shown(&shown, zip->by_name[i]->name, zip->by_name[i]->name_length));
        }
    }
    return REC_OK;
}

/* --------------------------------------------------------------------------------------------------- the whole -- */

int32_t lr_zip_open(lr_zip *zip, rec_job *job, rec_source *source)
{
    uint64_t size = rec_source_size(source), at = 0;
    const void *all;
    place p = {0};
    int32_t status = REC_OK;
    *zip = (lr_zip){.job = job, .source = source};
    if (size == REC_UNKNOWN) {
        status = rec_source_view(job, source, &all, &size);
    }
    if (status == REC_OK) {
        status = find_directory(zip, size, &p);
    }
    if (status != REC_OK) {
        return status;
    }
    zip->directory = rec_job_alloc(job, p.size ? p.size : 1);
    zip->members = rec_job_alloc(job, (p.count ? p.count : 1) * sizeof *zip->members);
    zip->by_name = rec_job_alloc(job, (p.count ? p.count : 1) * sizeof *zip->by_name);
    if (!zip->directory || !zip->members || !zip->by_name) {
        return rec_fail(job, REC_E_MEMORY, REC_UNKNOWN, "out of memory for the directory of a zip archive");
    }
    status = rec_source_read_at(job, source, p.offset, zip->directory, p.size);
    for (uint64_t i = 0; i < p.count && status == REC_OK; i++) {
        status = read_entry(zip, &p, &at, &zip->members[i]);
        zip->by_name[i] = &zip->members[i];
        zip->count = i + 1;
        if (status == REC_OK && i % 4096 == 4095) {
            status = rec_job_progress(job, zip->members[i].at, size);
        }
    }
    if (status == REC_OK && at != p.size) {
        status = rec_fail(job, REC_E_FORMAT, p.offset + at,
                          "the directory of the zip archive has %" PRIu64 " bytes more than its %" PRIu64 " entries",
                          p.size - at, p.count);
    }
    return status == REC_OK ? check_apart(zip) : status;
}

void lr_zip_close(lr_zip *zip)
{
    rec_job_free(zip->job, zip->directory);
    rec_job_free(zip->job, zip->members);
    rec_job_free(zip->job, (void *)zip->by_name);
    *zip = (lr_zip){.job = zip->job};
}

const lr_zip_member *lr_zip_find(const lr_zip *zip, const char *name, uint64_t length)
{
    uint64_t low = 0, high = zip->count;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        const lr_zip_member *m = zip->by_name[middle];
        int order = lr_text_order(m->name, m->name_length, name, length);
        if (order == 0) {
            return m;
        }
        if (order < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return NULL;
}
