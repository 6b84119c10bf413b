/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Members, their headers and checksums, and their data in one stream. */
#include "plugins/codec/gzip/quick_private.h"

#include <stdlib.h>
#include <string.h>

enum { FLAG_EXTRA = 4, FLAG_NAME = 8, FLAG_COMMENT = 16, FLAGS_ODD = 0xe2 };
enum { HEADER = 10, TRAILER = 8 };
/* A smaller room is filled from a buffer. */
enum { DIRECT_FROM = 32 << 10 };
/* Repeated reads of at most this size come from a reader that works in between. */
enum { SMALL = 1 << 20 };

/* ----------------------------------------------------------------------------------------------------- members -- */

static int32_t pass_text(lr_quick *self, rec_job *job)
{
    int32_t status = lr_quick_feed(self, job, LR_QUICK_INPUT, LR_QUICK_INPUT);
    const uint8_t *end =
        status == REC_OK && lr_quick_at_hand(self) ? memchr(self->lane->in, 0, lr_quick_at_hand(self)) : NULL;
    self->odd = !end;
    self->lane->in = end ? end + 1 : self->lane->in;
    return status;
}

static int32_t pass_extra(lr_quick *self, rec_job *job)
{
    int32_t status = lr_quick_feed(self, job, 2 + UINT16_MAX, LR_QUICK_INPUT);
    size_t size = 0;
    if (status == REC_OK && lr_quick_at_hand(self) >= 2) {
        size = 2 + (self->lane->in[0] | (size_t)self->lane->in[1] << 8);
    }
    self->odd = size == 0 || lr_quick_at_hand(self) < size;
    self->lane->in += self->odd ? 0 : size;
    return status;
}

/* Our own files are all one member. */
static int32_t look_for_index(lr_quick *self, rec_job *job)
{
    int32_t status = lr_quick_feed(self, job, LR_GZIP_HEADER, LR_GZIP_HEADER);
    uint64_t total = rec_source_size(self->parent);
    if (status == REC_OK && total != REC_UNKNOWN) {
        lr_gzip_index *index = malloc(sizeof *index);
        if (index && lr_gzip_index_read(self->lane->in, lr_quick_at_hand(self), total, index) &&
            index->begin == lr_quick_at_hand(self)) {
            self->index = index;
            self->phase = LR_QUICK_PIECES;
            self->lane->in = self->lane->in_end;
        } else {
            free(index);
        }
    }
    return status;
}

static int32_t begin_member(lr_quick *self, rec_job *job)
{
    int32_t status = REC_OK;
    uint8_t flags = 0;
    self->length = 0;
    self->phase = LR_QUICK_DATA;
    self->crc = 0;
    lr_inflate_begin(self->lane);
    if (!self->begun) {
        self->begun = true;
        status = look_for_index(self, job);
        if (status != REC_OK || self->index) {
            return status;
        }
    }
    status = lr_quick_feed(self, job, HEADER, LR_QUICK_INPUT);
    if (status == REC_OK) {
        const uint8_t *header = self->lane->in;
        self->odd = lr_quick_at_hand(self) < HEADER || header[0] != 0x1f || header[1] != 0x8b || header[2] != 8 ||
                    header[3] & FLAGS_ODD;
        flags = self->odd ? 0 : header[3];
        self->lane->in += self->odd ? 0 : HEADER;
    }
    if (status == REC_OK && flags & FLAG_EXTRA) {
        status = pass_extra(self, job);
    }
    if (status == REC_OK && flags & FLAG_NAME && !self->odd) {
        status = pass_text(self, job);
    }
    if (status == REC_OK && flags & FLAG_COMMENT && !self->odd) {
        status = pass_text(self, job);
    }
    return status;
}

static uint32_t number_at(const uint8_t *at)
{
    return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static int32_t end_member(lr_quick *self, rec_job *job)
{
    int32_t status = lr_quick_feed(self, job, TRAILER, LR_QUICK_INPUT);
    if (status == REC_OK) {
        self->odd = lr_quick_at_hand(self) < TRAILER || number_at(self->lane->in) != self->crc ||
                    number_at(self->lane->in + 4) != self->length;
        self->lane->in += self->odd ? 0 : TRAILER;
        self->full += self->had;
        self->had = false;
        self->phase = LR_QUICK_BETWEEN;
    }
    return status;
}

/* Another member, or nothing but zeros. */
static int32_t pass_padding(lr_quick *self, rec_job *job)
{
    int32_t status = lr_quick_feed(self, job, 2, LR_QUICK_INPUT);
    if (status == REC_OK && lr_quick_at_hand(self) >= 2 && self->lane->in[0] == 0x1f && self->lane->in[1] == 0x8b) {
        self->phase = LR_QUICK_HEADER;
        return REC_OK;
    }
    while (status == REC_OK && lr_quick_at_hand(self) && !self->odd) {
        self->odd = *self->lane->in++ != 0;
        status = lr_quick_feed(self, job, 1, LR_QUICK_INPUT);
    }
    self->phase = status == REC_OK ? LR_QUICK_ENDED : self->phase;
    return status;
}

/* -------------------------------------------------------------------------------------------------- one stream -- */

/* Inflates until input or room is used up; on any thread. */
static void run_step(lr_task *task, unsigned worker)
{
    lr_quick *self = (lr_quick *)task; /* whose first member it is */
    (void)worker;
    self->stop = lr_inflate(self->lane);
}

/* Inflates the stream, now or (`post`) on any thread. */
static int32_t start_stream(lr_quick *self, rec_job *job, uint8_t *target, size_t room, bool post)
{
    int32_t status = lr_quick_feed(self, job, 1, LR_QUICK_INPUT);
    if (status != REC_OK) {
        return status;
    }
    self->made_at = target;
    self->lane->out = target;
    self->lane->out_end = target + room;
    self->lane->crc = self->crc;
    self->step.run = run_step;
    if (post) {
        (void)lr_team_post(self->team, &self->step, self->threads);
    } else {
        run_step(&self->step, 0);
    }
    return REC_OK;
}

/* @return bytes that were inflated. */
static size_t finish_stream(lr_quick *self)
{
    size_t made;
    lr_team_wait(self->team, &self->step);
    made = (size_t)(self->lane->out - self->made_at);
    self->crc = self->lane->crc;
    self->length += (uint32_t)made;
    self->had = self->had || made;
    if (self->stop == LR_INFLATE_END) {
        self->phase = LR_QUICK_TRAILER;
    } else {
        self->odd = self->stop == LR_INFLATE_BAD || (self->stop == LR_INFLATE_INPUT && self->drained);
    }
    return made;
}

/* ------------------------------------------------------------------------------------------------------ output -- */

static bool has_data(const lr_quick *self)
{
    return (self->phase == LR_QUICK_PIECES || self->phase == LR_QUICK_DATA) && !self->odd;
}

/* @param post others may do it. @return REC_OK also if it turns out that there is nothing to wait for. */
static int32_t start(lr_quick *self, rec_job *job, uint8_t *target, size_t room, bool post)
{
    int32_t status = REC_OK;
    self->started = false;
    if (self->phase == LR_QUICK_PIECES) {
        status = lr_quick_pieces_start(self, job, target, room);
        self->started = status == REC_OK && self->batch.unit_count > 0;
        if (status != REC_OK || self->started || self->odd) {
            return status;
        }
        self->phase = LR_QUICK_DATA; /* what the index says is of no use from here on */
    }
    status = start_stream(self, job, target, room, post);
    self->started = status == REC_OK;
    return status;
}

static size_t finish(lr_quick *self)
{
    self->started = false;
    return self->phase == LR_QUICK_PIECES ? lr_quick_pieces_finish(self) : finish_stream(self);
}

/* Begins to fill the buffer that is not read from. */
static int32_t start_stash(lr_quick *self, rec_job *job, bool ahead)
{
    uint8_t **stash = &self->stashes[self->filling];
    uint64_t span = self->phase == LR_QUICK_PIECES ? self->index->span : 0, most = LR_QUICK_UNITS * LR_QUICK_PIECE;
    size_t room = span > LR_QUICK_STASH && span <= most ? (size_t)span : LR_QUICK_STASH;
    if (!*stash) {
        *stash = malloc(room);
    }
    if (!*stash) {
        return lr_quick_no_memory(job);
    }
    if (self->phase != LR_QUICK_PIECES) {
        room = ahead ? LR_QUICK_STASH / 4 : LR_QUICK_STASH / 32;
    }
    return start(self, job, *stash, room, ahead);
}

/* The next bytes, few or many. */
static int32_t data(lr_quick *self, rec_job *job, uint8_t *target, size_t room, size_t *made)
{
    bool ahead = self->small > 2 && self->threads > 1;
    uint64_t least = self->phase == LR_QUICK_PIECES ? lr_quick_stretch(self) : DIRECT_FROM;
    int32_t status = REC_OK;
    if (!self->started && !ahead && room >= least) {
        status = start(self, job, target, room, false);
        *made = self->started ? finish(self) : 0;
        return status;
    }
    if (!self->started) {
        status = start_stash(self, job, ahead);
    }
    if (self->started) {
        self->stash_size = finish(self);
        self->stash_at = 0;
        self->filling = !self->filling;
    }
    if (status == REC_OK && ahead && has_data(self)) {
        status = start_stash(self, job, true);
    }
    return status;
}

static size_t from_stash(lr_quick *self, uint8_t *target, size_t room)
{
    size_t left = self->stash_size - self->stash_at, size = left < room ? left : room;
    if (size) {
        memcpy(target, self->stashes[!self->filling] + self->stash_at, size);
    }
    self->stash_at += size;
    return size;
}

int32_t lr_quick_read(lr_quick *self, rec_job *job, uint8_t *target, uint64_t room, uint64_t *got, bool *gives_up)
{
    size_t filled = 0, made;
    int32_t status = REC_OK;
    self->threads = rec_job_threads(job);
    self->small = room > SMALL ? 0 : self->small + (self->small < 3);
    while (filled < room && status == REC_OK) {
        made = from_stash(self, target + filled, (size_t)room - filled);
        filled += made;
        if (made) {
            continue;
        }
        if (self->odd || self->phase == LR_QUICK_ENDED) {
            break;
        }
        switch (self->phase) {
        case LR_QUICK_HEADER:
            status = begin_member(self, job);
            break;
        case LR_QUICK_PIECES:
        case LR_QUICK_DATA:
            if (filled && room > SMALL && self->phase == LR_QUICK_PIECES && room - filled < lr_quick_stretch(self)) {
                goto done; /* the next call has room for the whole of it */
            }
            made = 0;
            status = data(self, job, target + filled, (size_t)room - filled, &made);
            filled += made;
            break;
        case LR_QUICK_TRAILER:
            status = end_member(self, job);
            break;
        default:
            status = pass_padding(self, job);
        }
    }
done:
    *gives_up = status == REC_OK && self->odd;
    *got = status == REC_OK && !self->odd ? filled : 0;
    return status;
}

/* --------------------------------------------------------------------------------------------------- the whole -- */

lr_quick *lr_quick_new(rec_source *parent)
{
    lr_quick *self = malloc(sizeof *self);
    if (!self) {
        return NULL;
    }
    memset(self, 0, sizeof *self);
    self->parent = parent;
    self->phase = LR_QUICK_HEADER;
    self->lane = lr_inflater_new();
    self->team = lr_team_new();
    if (!self->lane || !self->team) {
        lr_quick_free(self);
        return NULL;
    }
    self->lane->in = self->lane->in_end = self->input + LR_QUICK_GAP;
    return self;
}

void lr_quick_free(lr_quick *self)
{
    if (!self) {
        return;
    }
    if (self->started) {
        (void)finish(self); /* what was posted is in use */
    }
    lr_team_free(self->team);
    lr_inflater_free(self->lane);
    for (unsigned i = 0; i < LR_TEAM_WORKERS; i++) {
        lr_inflater_free(self->lanes[i]);
    }
    free(self->index);
    free(self->batch.in);
    free(self->stashes[0]);
    free(self->stashes[1]);
    free(self);
}

bool lr_quick_ended(const lr_quick *self, uint64_t *full)
{
    *full = self->full;
    return self->phase == LR_QUICK_ENDED && !self->odd && self->stash_at == self->stash_size;
}

uint64_t lr_quick_pieces(const lr_quick *self)
{
    return self->pieces;
}
