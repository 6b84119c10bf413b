/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include <string.h>

#include "common/text.h"

static rec_status make_room(text *t, rec_job *job, uint64_t more)
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

rec_status text_read(text *t, rec_job *job, rec_source *source, uint64_t offset, uint64_t length)
{
    rec_status status;
    t->length = 0;
    status = make_room(t, job, length ? length : 1);
    status = status == REC_OK && length ? rec_source_read_at(job, source, offset, t->bytes, length) : status;
    if (status == REC_OK && !rec_is_utf8(t->bytes, length)) {
        status = rec_fail_found(job, REC_E_FORMAT, offset, "a text in UTF-8", "other bytes");
    }
    t->length = status == REC_OK ? length : 0;
    return status;
}

rec_status text_add(text *t, rec_job *job, const char *bytes, uint64_t length)
{
    rec_status status = make_room(t, job, length);
    if (status == REC_OK && length) {
        memcpy(t->bytes + t->length, bytes, length);
        t->length += length;
    }
    return status;
}

rec_status text_escape(text *path, rec_job *job, const char *name, uint64_t length)
{
    rec_status status;
    path->length = 0;
    status = length > UINT64_MAX / 4 ? REC_E_LIMIT : make_room(path, job, 2 * length + 1);
    if (status != REC_OK) {
        return rec_fail(job, status, REC_UNKNOWN, "a name of %llu bytes", (unsigned long long)length);
    }
    path->length = rec_path_escape(name, length, path->bytes, path->room);
    return REC_OK;
}

void text_free(text *t, rec_job *job)
{
    rec_job_free(job, t->bytes);
    *t = (text){0};
}
