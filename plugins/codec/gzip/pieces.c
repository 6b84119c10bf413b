/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Files of ours: their pieces, found by the index, are inflated side by side, each straight into its place. The index
 * is right if each piece ends where the next one begins, and has as many bytes as were said: then they are what one
 * stream would have given, for there is no other way to read it. */
#include "plugins/codec/gzip/quick_private.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "plugins/codec/gzip/sum.h"

static void set_lane(lr_inflater *lane, const lr_unit *unit)
{
    lr_inflate_begin(lane);
    lane->in = unit->in;
    lane->in_end = unit->in + unit->in_size;
    lane->last = true;
    lane->out = unit->out;
    lane->out_end = unit->out + unit->out_size;
    lane->begin = unit->out;
    lane->window = NULL;
    lane->window_size = 0;
}

/* Four at once, or one after the other; on any thread. */
static void run_group(lr_task *task, lr_inflater *lanes)
{
    lr_group *group = (lr_group *)task; /* whose first member it is */
    lr_inflate_stop stops[LR_QUICK_LANES];
    for (unsigned i = 0; i < group->count; i++) {
        set_lane(&lanes[i], &group->units[i]);
    }
    if (group->count == LR_QUICK_LANES) {
        lr_inflate_four(lanes, stops);
    } else {
        for (unsigned i = 0; i < group->count; i++) {
            stops[i] = lr_inflate(&lanes[i]);
        }
    }
    for (unsigned i = 0; i < group->count; i++) {
        lr_unit *unit = &group->units[i];
        unit->good = stops[i] == (unit->last ? LR_INFLATE_END : LR_INFLATE_CUT) && lanes[i].in == lanes[i].in_end &&
                     lanes[i].out == lanes[i].out_end;
        unit->crc = unit->good ? lr_gzip_crc(0, unit->out, unit->out_size) : 0;
    }
}

/* --------------------------------------------------------------------------------------------------- stretches -- */

/* The only full flush near the middle of [from, to): the end of one is two bytes of zero and two of ones. NULL: there
 * is none, or more than one. */
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

static void post_group(lr_quick *self, unsigned first, unsigned count)
{
    lr_group *group = &self->batch.groups[self->batch.group_count++];
    *group = (lr_group){.task = {.run = run_group}, .units = &self->batch.units[first], .count = count};
    (void)lr_team_post(self->team, &group->task, self->threads);
}

static void wait_for_all(lr_quick *self)
{
    for (unsigned i = 0; i < self->batch.group_count; i++) {
        lr_team_wait(self->team, &self->batch.groups[i].task);
    }
}

int32_t lr_quick_pieces_start(lr_quick *self, rec_job *job, uint8_t *target, size_t room)
{
    lr_gzip_index *index = self->index;
    lr_batch *batch = &self->batch;
    size_t in = 0, out = 0;
    /* Four side by side take as long as two would one after the other. */
    unsigned lanes = self->threads > LR_QUICK_LANES ? 1 : LR_QUICK_LANES, posted = 0;
    int32_t status = REC_OK;
    batch->unit_count = batch->group_count = 0;
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
        for (; batch->unit_count - posted >= lanes; posted += lanes) {
            post_group(self, posted, lanes);
        }
        in += size;
        out += (size_t)holds;
        self->next++;
    }
    if (posted < batch->unit_count) {
        post_group(self, posted, batch->unit_count - posted);
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
