/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The window over a file's header. */
#include "plugins/codec/gguf/cursor.h"

#include <inttypes.h>
#include <string.h>

#include "plugins/codec/beginning.h"
#include "plugins/codec/gguf/gguf.h"

enum { WINDOW = 65536 };

int32_t lr_gguf_cursor_open(lr_gguf_cursor *c, rec_job *job, rec_source *source)
{
    *c = (lr_gguf_cursor){.job = job, .source = source, .size = rec_source_size(source)};
    if (c->size == REC_UNKNOWN && !lr_beginning_is_all(job, source)) {
        const void *all;
        return rec_source_view(job, source, &all, &c->size);
    }
    return REC_OK;
}

void lr_gguf_cursor_close(lr_gguf_cursor *c)
{
    rec_job_free(c->job, c->window);
    c->window = NULL;
}

/* Moves the window to where the cursor is, with room for `count` bytes at least. */
static int32_t fill(lr_gguf_cursor *c, uint64_t count)
{
    uint64_t left = c->size - c->at, want = count > WINDOW ? count : WINDOW;
    int32_t status;
    want = want < left ? want : left;
    if (want > c->room) {
        uint8_t *larger = rec_job_resize(c->job, c->window, want);
        if (!larger) {
            return rec_fail(c->job, REC_E_MEMORY, c->at, "out of memory for %" PRIu64 " bytes of the header", want);
        }
        c->window = larger;
        c->room = want;
    }
    if (c->size == REC_UNKNOWN) {
        /* A stream: what is left in the window comes first. Nobody has stepped over more than that. */
        uint64_t kept = c->begin + c->count - c->at, got;
        memmove(c->window, c->window + (c->count - kept), (size_t)kept);
        status = lr_beginning_take(c->job, c->source, c->window + kept, want - kept, &got);
        c->begin = c->at;
        c->count = status == REC_OK ? kept + got : 0;
        return status == REC_OK && c->count < count
                   ? rec_fail_found(c->job, REC_E_FORMAT, c->at, "more bytes of the header", "the end of the file")
                   : status;
    }
    status = rec_source_read_at(c->job, c->source, c->at, c->window, want);
    c->begin = c->at;
    c->count = status == REC_OK ? want : 0;
    return status;
}

int32_t lr_gguf_take(lr_gguf_cursor *c, uint64_t count, const char *what, const uint8_t **data)
{
    int32_t status = REC_OK;
    *data = NULL;
    if (count > c->size - c->at) {
        return rec_fail_found(c->job, REC_E_FORMAT, c->at, what, "%" PRIu64 " bytes before the end of the file",
                              c->size - c->at);
    }
    if (c->at < c->begin || c->at - c->begin > c->count || count > c->count - (c->at - c->begin)) {
        status = fill(c, count);
    }
    if (status == REC_OK) {
        *data = c->window + (c->at - c->begin);
        c->at += count;
    }
    return status;
}

int32_t lr_gguf_take_u32(lr_gguf_cursor *c, const char *what, uint32_t *number)
{
    const uint8_t *data;
    int32_t status = lr_gguf_take(c, 4, what, &data);
    *number = status == REC_OK ? lr_gguf_u32(data) : 0;
    return status;
}

int32_t lr_gguf_take_u64(lr_gguf_cursor *c, const char *what, uint64_t *number)
{
    const uint8_t *data;
    int32_t status = lr_gguf_take(c, 8, what, &data);
    *number = status == REC_OK ? lr_gguf_u64(data) : 0;
    return status;
}

int32_t lr_gguf_take_text(lr_gguf_cursor *c, const char *what, const char **text, uint64_t *length)
{
    const uint8_t *data = NULL;
    int32_t status = lr_gguf_take_u64(c, what, length);
    status = status == REC_OK ? lr_gguf_take(c, *length, what, &data) : status;
    *text = (const char *)data;
    return status;
}
