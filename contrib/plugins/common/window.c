/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "common/window.h"

rec_status window_open(window *w, rec_job *job, rec_source *source)
{
    w->job = job;
    w->source = source;
    w->begin = w->length = 0;
    return rec_source_measure(job, source, &w->size);
}

static rec_status fill(window *w, uint64_t offset)
{
    uint64_t left = w->size - offset, length = left < WINDOW_BYTES ? left : WINDOW_BYTES;
    rec_status status = rec_source_read_at(w->job, w->source, offset, w->bytes, length);
    w->begin = offset;
    w->length = status == REC_OK ? length : 0;
    return status;
}

rec_status window_get(window *w, uint64_t offset, uint64_t size, const uint8_t **bytes, uint64_t *got)
{
    uint64_t left = offset < w->size ? w->size - offset : 0, want = size < left ? size : left;
    rec_status status = REC_OK;
    *got = want;
    if (!want) {
        return rec_fail_found(w->job, REC_E_FORMAT, offset, "more data", "the end of the file");
    }
    if (offset < w->begin || offset - w->begin > w->length || want > w->length - (offset - w->begin)) {
        status = fill(w, offset);
    }
    *bytes = status == REC_OK ? w->bytes + (offset - w->begin) : NULL;
    return status;
}
