/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Files of librecord: their chunks, found by the index, are inflated in parallel, each into its place. The index is
 * correct if each chunk ends where the next one begins and has the stated size: a single stream would give the same
 * bytes then. */
#include "plugins/codec/gzip/quick_private.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* Inflates a piece, on any thread. A thread that has no memory for its inflater leaves the piece to zlib. */
static void run_unit(lr_task *task, unsigned worker)
{
    lr_unit *unit = (lr_unit *)task; /* whose first member it is */
    lr_inflater **lane = &unit->quick->lanes[worker];
    if (!*lane) {
        *lane = lr_inflater_new();
    }
    if (!*lane) {
        return;
    }
    (*lane)->in = unit->in;
    (*lane)->in_end = unit->in + unit->in_size;
    (*lane)->out = unit->out;
    (*lane)->out_end = unit->out + unit->out_size;
    unit->good = lr_inflate_whole(*lane, unit->last);
    unit->crc = (*lane)->crc;
}

/* --------------------------------------------------------------------------------------------------- stretches -- */

/* Finds the only full flush near the middle of [from, to): it ends in two bytes of zero and two of ones. NULL: none, or
 * more than one. */
static const uint8_t *flush_near(const uint8_t *from, const uint8_t *to)
{
    static const uint8_t mark[4] = {0, 0, 0xff, 0xff};
    const uint8_t *found = NULL, *at = from;
    while (at && to - at >= (ptrdiff_t)sizeof mark) {
        at = memchr(at, 0xff, (size_t)(to - at)); /* the third byte */
        if (at && at - from >= 2 && to - at >= 2 && memcmp(at - 2, mark, sizeof mark) == 0) {
            if (found) {
                return NULL;
            }
            found = at + 2;
        }
        at = at ? at + 1 : NULL;
    }
    return found;
}

/* In a long file a stretch is of several pieces. Where they lie the index does not tell; they have a mark at their end,
 * near to where it is to be expected. A wrong guess shows like a wrong index. @return how many units it was made. */
static unsigned split(lr_unit *units, unsigned room, uint64_t span)
{
    const lr_unit whole = units[0];
    size_t count = (whole.out_size + LR_QUICK_PIECE - 1) / LR_QUICK_PIECE;
    const uint8_t *begin = whole.in;
    if (span % LR_QUICK_PIECE || count < 2 || count > room) {
        return 1;
    }
    for (size_t i = 0; i < count; i++) {
        size_t out = i * LR_QUICK_PIECE, each = whole.in_size / count, slack = each / 16 + 64;
        const uint8_t *end = whole.in + whole.in_size;
        if (i + 1 < count) {
            size_t middle = (size_t)((double)whole.in_size * (double)(out + LR_QUICK_PIECE) / (double)whole.out_size);
            size_t from = middle > slack ? middle - slack : 0;
            size_t to = middle + slack < whole.in_size ? middle + slack : whole.in_size;
            end = flush_near(whole.in + from, whole.in + to);
        }
        if (!end || end <= begin) {
            units[0] = whole;
            return 1;
        }
        units[i] = (lr_unit){.in = begin,
                             .out = whole.out + out,
                             .in_size = (size_t)(end - begin),
                             .last = whole.last && i + 1 == count};
        units[i].out_size = whole.out_size - out < LR_QUICK_PIECE ? whole.out_size - out : LR_QUICK_PIECE;
        begin = end;
    }
    return (unsigned)count;
}

uint64_t lr_quick_stretch(const lr_quick *self)
{
    const lr_gzip_index *index = self->index;
    uint64_t left = self->next < index->count ? index->inflated - index->span * self->next : 0;
    return left < index->span ? left : index->span;
}

static void post(lr_quick *self, lr_unit *unit)
{
    unit->task.run = run_unit;
    unit->quick = self;
    (void)lr_team_post(self->team, &unit->task, self->threads);
}

static void wait_for_all(lr_quick *self)
{
    for (unsigned i = 0; i < self->batch.unit_count; i++) {
        lr_team_wait(self->team, &self->batch.units[i].task);
    }
}

int32_t lr_quick_pieces_start(lr_quick *self, rec_job *job, uint8_t *target, size_t room)
{
    lr_gzip_index *index = self->index;
    lr_batch *batch = &self->batch;
    size_t in = 0, out = 0;
    unsigned posted = 0;
    int32_t status = REC_OK;
    batch->unit_count = 0;
    if (!batch->in) {
        batch->in = malloc(LR_QUICK_DEFLATED);
    }
    if (!batch->in) {
        return lr_quick_no_memory(job);
    }
    while (self->next < index->count && batch->unit_count < LR_QUICK_UNITS && status == REC_OK) {
        uint64_t holds = lr_quick_stretch(self);
        size_t size = index->sizes[self->next], held = 0;
        if (holds > room - out || size > LR_QUICK_DEFLATED - in) {
            break;
        }
        status = lr_quick_fill(self, job, batch->in + in, size, &held);
        if (held < size) {
            self->odd = status == REC_OK; /* it was longer when we looked */
            break;
        }
        batch->units[batch->unit_count] = (lr_unit){.in = batch->in + in,
                                                    .out = target + out,
                                                    .in_size = size,
                                                    .out_size = (size_t)holds,
                                                    .last = self->next + 1 == index->count};
        batch->unit_count += split(&batch->units[batch->unit_count], LR_QUICK_UNITS - batch->unit_count, index->span);
        for (; posted < batch->unit_count; posted++) {
            post(self, &batch->units[posted]);
        }
        in += size;
        out += (size_t)holds;
        self->next++;
    }
    if (status != REC_OK || self->odd) {
        wait_for_all(self);
        batch->unit_count = 0;
    }
    return status;
}

size_t lr_quick_pieces_finish(lr_quick *self)
{
    lr_batch *batch = &self->batch;
    size_t made = 0;
    wait_for_all(self);
    for (unsigned i = 0; i < batch->unit_count && !self->odd; i++) {
        const lr_unit *unit = &batch->units[i];
        self->odd = !unit->good;
        self->crc = (uint32_t)crc32_combine(self->crc, unit->crc, (z_off_t)unit->out_size);
        self->length += (uint32_t)unit->out_size;
        self->had = true;
        made += unit->out_size;
        self->pieces++;
    }
    if (self->next == self->index->count) {
        self->phase = LR_QUICK_TRAILER;
    }
    return self->odd ? 0 : made;
}
