/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <string.h>

#include "common/text.h"

/* Continuation bytes after a first byte, or -1. */
static int following(uint8_t first)
{
    return first < 0x80 ? 0 : first < 0xc2 ? -1 : first < 0xe0 ? 1 : first < 0xf0 ? 2 : first < 0xf5 ? 3 : -1;
}

static int is_utf8(const char *bytes, uint64_t length)
{
    static const uint32_t least[] = {0, 0x80, 0x800, 0x10000};
    for (uint64_t i = 0; i < length;) {
        uint8_t first = (uint8_t)bytes[i++];
        int more = following(first);
        uint32_t code = more == 0 ? first : first & (0x3fu >> (more & 3));
        if (more < 0 || (uint64_t)more > length - i) {
            return 0;
        }
        for (int k = 0; k < more; k++, i++) {
            if (((uint8_t)bytes[i] & 0xc0) != 0x80) {
                return 0;
            }
            code = code << 6 | ((uint8_t)bytes[i] & 0x3f);
        }
        if (code < least[more] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) {
            return 0;
        }
    }
    return 1;
}

static int32_t make_room(text *t, rec_job *job, uint64_t more)
{
    uint64_t needed, wider;
    char *bytes;
    if (__builtin_add_overflow(t->length, more, &needed) || needed > UINT64_MAX / 2) {
        return rec_fail(job, REC_E_LIMIT, REC_UNKNOWN, "a text of more bytes than can be counted");
    }
    if (needed <= t->room) {
        return REC_OK;
    }
    wider = needed < 64 ? 64 : needed + needed / 2;
    bytes = rec_job_resize(job, t->bytes, wider);
    if (!bytes) {
        return rec_fail(job, REC_E_MEMORY, REC_UNKNOWN, "no memory for a text");
    }
    t->bytes = bytes;
    t->room = wider;
    return REC_OK;
}

int32_t text_read(text *t, rec_job *job, rec_source *source, uint64_t offset, uint64_t length)
{
    int32_t status;
    t->length = 0;
    status = make_room(t, job, length ? length : 1);
    status = status == REC_OK && length ? rec_source_read_at(job, source, offset, t->bytes, length) : status;
    if (status == REC_OK && !is_utf8(t->bytes, length)) {
        status = rec_fail_found(job, REC_E_FORMAT, offset, "a text in UTF-8", "other bytes");
    }
    t->length = status == REC_OK ? length : 0;
    return status;
}

int32_t text_add(text *t, rec_job *job, const char *bytes, uint64_t length)
{
    int32_t status = make_room(t, job, length);
    if (status == REC_OK && length) {
        memcpy(t->bytes + t->length, bytes, length);
        t->length += length;
    }
    return status;
}

int32_t text_escape(text *path, rec_job *job, const char *name, uint64_t length)
{
    int32_t status;
    path->length = 0;
    status = length > UINT64_MAX / 4 ? REC_E_LIMIT : make_room(path, job, 2 * length + 1);
    if (status != REC_OK) {
        return rec_fail(job, status, REC_UNKNOWN, "a name of %llu bytes", (unsigned long long)length);
    }
    path->length = rec_path_escape(name, length, path->bytes, path->room);
    return REC_OK;
}

int32_t text_push(text *path, rec_job *job, const char *name, uint64_t length, int first)
{
    int32_t status = length > UINT64_MAX / 4 ? REC_E_LIMIT : make_room(path, job, 2 * length + 1);
    if (status != REC_OK) {
        return rec_fail(job, status, REC_UNKNOWN, "a name of %llu bytes", (unsigned long long)length);
    }
    if (!first) {
        path->bytes[path->length++] = '.';
    }
    for (uint64_t i = 0; i < length; i++) {
        if (name[i] == '.' || name[i] == '\\') {
            path->bytes[path->length++] = '\\';
        }
        path->bytes[path->length++] = name[i];
    }
    return REC_OK;
}

void text_free(text *t, rec_job *job)
{
    rec_job_free(job, t->bytes);
    *t = (text){0};
}
