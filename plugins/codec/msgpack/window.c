/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The window of the MessagePack reader. */
#include "plugins/codec/msgpack/window.h"

#include <string.h>

#include "plugins/codec/beginning.h"

/* The first byte of the window is that at `at`. */
static void window_at(reader *r)
{
    r->data = (const uint8_t *)((uintptr_t)r->window - (uintptr_t)r->at);
}

/* How many bytes to read of a file: to the end of a page, and more the more was read in a row. */
static uint64_t step(const reader *r)
{
    uint64_t want = r->row < STEP ? STEP : r->row, left = r->whole - r->size, over = (r->size + want) % STEP;
    want = over < want / 2 ? want - over : want - over + STEP;
    return want < left ? want : left;
}

int32_t lr_msgpack_window(reader *r)
{
    r->room = WINDOW;
    r->window = rec_job_alloc(r->job, r->room);
    if (!r->window) {
        return rec_fail(r->job, REC_E_MEMORY, REC_UNKNOWN, "out of memory for the data");
    }
    r->size = 0;
    r->whole = r->view ? r->whole : REC_UNKNOWN;
    r->data = r->window;
    return lr_msgpack_more(r);
}

int32_t lr_msgpack_more(reader *r)
{
    const uint8_t *from = r->data + r->at;
    uint64_t kept = r->size - r->at, got = 0;
    int32_t status;
    if (r->view && r->row >= ROW) { /* the map is better then */
        const void *data;
        uint64_t size;
        status = rec_source_view(r->job, r->source, &data, &size);
        if (status == REC_OK) {
            r->data = data;
            r->size = size;
        }
        return status;
    }
    if (kept > r->room / 2) {
        uint64_t skipped = (uint64_t)(from - r->window);
        uint8_t *wider = rec_job_resize(r->job, r->window, r->room * 2);
        if (!wider) {
            return rec_fail(r->job, REC_E_MEMORY, r->at,
                            "out of memory for what begins here"); /* the first failure counts */
        }
        r->window = wider;
        r->room *= 2;
        from = wider + skipped;
    }
    memmove(r->window, from, (size_t)kept);
    window_at(r);
    if (r->view) {
        uint64_t room = r->room - kept;
        got = step(r) < room ? step(r) : room;
        status = rec_source_read_at(r->job, r->source, r->size, r->window + kept, got);
        r->row += got;
        r->size += status == REC_OK ? got : 0;
        return status;
    }
    status = lr_beginning_take(r->job, r->source, r->window + kept, r->room - kept, &got);
    r->size = r->at + kept + got;
    if (status == REC_OK && got < r->room - kept) {
        r->whole = r->size;
    }
    return status;
}

bool lr_msgpack_may_pass(reader *r)
{
    uint8_t first = r->size > r->at ? r->data[r->at] : 0;
    unsigned width = first >= 0xc4 && first <= 0xc6 ? 1u << (first - 0xc4) : 0;
    if (!width || r->size - r->at < 1 + width || at_key(r)) {
        return false;
    }
    r->jump_length = lr_msgpack_big(r->data + r->at + 1, width);
    r->jump_header = !r->view && r->jump_length < JUMP_FROM ? 0 : 1 + width;
    return r->jump_header != 0;
}

/* Reads a stream to the end of the byte string; its head stays, for messages. */
static int32_t read_through(reader *r, uint64_t size, uint64_t there)
{
    uint64_t left = size - there, head = r->jump_header, got = 1;
    int32_t status = REC_OK;
    memmove(r->window, r->data + r->at, (size_t)head);
    window_at(r);
    while (left && got && status == REC_OK) {
        uint64_t room = r->room - head;
        status = lr_beginning_take(r->job, r->source, r->window + head, left < room ? left : room, &got);
        left -= got;
    }
    if (status == REC_OK) {
        r->size = r->at + size - left;
        if (left) {
            r->whole = r->size;
            r->jump_header = 0;
        }
    }
    return status;
}

int32_t lr_msgpack_pass(reader *r)
{
    uint64_t size = r->jump_header + r->jump_length, there = r->size - r->at;
    if (r->view && size > r->whole - r->at) {
        r->size = r->whole;
        r->jump_header = 0;
    }
    return r->view || there >= size ? REC_OK : read_through(r, size, there);
}

void lr_msgpack_passed(reader *r)
{
    if (r->view && r->at > r->size) {
        r->size = r->at;
        r->row = 0;
        window_at(r);
    }
}

int32_t lr_msgpack_rest(reader *r)
{
    int32_t status = REC_OK;
    while (status == REC_OK && r->whole == REC_UNKNOWN) {
        uint64_t got;
        status = lr_beginning_take(r->job, r->source, r->window, r->room, &got);
        r->size += got;
        if (got < r->room) {
            r->whole = r->size;
        }
    }
    return status;
}
