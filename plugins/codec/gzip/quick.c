/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Members, their headers and sums, and their data in one stream. */
#include "plugins/codec/gzip/quick_private.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "plugins/codec/gzip/sum.h"

enum { FLAG_EXTRA = 4, FLAG_NAME = 8, FLAG_COMMENT = 16, FLAGS_ODD = 0xe2 };
enum { HEADER = 10, TRAILER = 8 };
/* Sums are made of bytes that are still in the cache. */
enum { CACHED = 256 << 10 };
/* Who has less room has it filled from a buffer of ours. */
enum { DIRECT_FROM = 32 << 10 };
/* Who has no more room than this, and comes again, reads in small parts and does something else in between. */
enum { SMALL = 1 << 20 };

/* ------------------------------------------------------------------------------------------------------- input -- */

int32_t lr_quick_fill(lr_quick *self, rec_job *job, uint8_t *target, size_t size, size_t *held)
{
    int32_t status = REC_OK;
    while (*held < size && !self->drained && status == REC_OK) {
        uint64_t got = 0;
        status = rec_source_read(job, self->parent, target + *held, size - *held, &got);
        *held += (size_t)got;
        self->drained = status == REC_OK && got == 0;
    }
    return status;
}

/* Has `want` bytes at hand, at most INPUT, or what is left. `most` are read. */
static int32_t feed(lr_quick *self, rec_job *job, size_t want, size_t most)
{
    lr_inflater *lane = &self->lane;
    size_t held = (size_t)(lane->in_end - lane->in);
    int32_t status = REC_OK;
    if (held < want && !self->drained) {
        if (held) {
            memmove(self->input, lane->in, held);
        }
        lane->in = self->input;
        status = lr_quick_fill(self, job, self->input, most, &held);
        lane->in_end = lane->in + held;
    }
    return status;
}

/* @return bytes at hand. */
static size_t at_hand(const lr_quick *self)
{
    return (size_t)(self->lane.in_end - self->lane.in);
}

/* ----------------------------------------------------------------------------------------------------- members -- */

static int32_t pass_text(lr_quick *self, rec_job *job)
{
    int32_t status = feed(self, job, LR_QUICK_INPUT, LR_QUICK_INPUT);
    const uint8_t *end = status == REC_OK && at_hand(self) ? memchr(self->lane.in, 0, at_hand(self)) : NULL;
    self->odd = !end;
    self->lane.in = end ? end + 1 : self->lane.in;
    return status;
}

static int32_t pass_extra(lr_quick *self, rec_job *job)
{
    int32_t status = feed(self, job, 2 + UINT16_MAX, LR_QUICK_INPUT);
    size_t size = 0;
    if (status == REC_OK && at_hand(self) >= 2) {
        size = 2 + (self->lane.in[0] | (size_t)self->lane.in[1] << 8);
    }
    self->odd = size == 0 || at_hand(self) < size;
    self->lane.in += self->odd ? 0 : size;
    return status;
}

/* Our own files are all one member. */
static int32_t look_for_index(lr_quick *self, rec_job *job)
{
    int32_t status = feed(self, job, LR_GZIP_HEADER, LR_GZIP_HEADER);
    uint64_t total = rec_source_size(self->parent);
    if (status == REC_OK && total != REC_UNKNOWN) {
        lr_gzip_index *index = malloc(sizeof *index);
        if (index && lr_gzip_index_read(self->lane.in, at_hand(self), total, index) && index->begin == at_hand(self)) {
            self->index = index;
            self->phase = LR_QUICK_PIECES;
            self->lane.in = self->lane.in_end;
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
    self->crc = self->length = 0;
    self->window_size = 0;
    self->phase = LR_QUICK_DATA;
    lr_inflate_begin(&self->lane);
    if (!self->begun) {
        self->begun = true;
        status = look_for_index(self, job);
        if (status != REC_OK || self->index) {
            return status;
        }
    }
    status = feed(self, job, HEADER, LR_QUICK_INPUT);
    if (status == REC_OK) {
        const uint8_t *header = self->lane.in;
        self->odd =
            at_hand(self) < HEADER || header[0] != 0x1f || header[1] != 0x8b || header[2] != 8 || header[3] & FLAGS_ODD;
        flags = self->odd ? 0 : header[3];
        self->lane.in += self->odd ? 0 : HEADER;
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
    int32_t status = feed(self, job, TRAILER, LR_QUICK_INPUT);
    if (status == REC_OK) {
        self->odd = at_hand(self) < TRAILER || number_at(self->lane.in) != self->crc ||
                    number_at(self->lane.in + 4) != self->length;
        self->lane.in += self->odd ? 0 : TRAILER;
        self->full += self->had;
        self->had = false;
        self->phase = LR_QUICK_BETWEEN;
    }
    return status;
}

/* Another member, or nothing but zeros. */
static int32_t pass_padding(lr_quick *self, rec_job *job)
{
    int32_t status = feed(self, job, 2, LR_QUICK_INPUT);
    if (status == REC_OK && at_hand(self) >= 2 && self->lane.in[0] == 0x1f && self->lane.in[1] == 0x8b) {
        self->phase = LR_QUICK_HEADER;
        return REC_OK;
    }
    while (status == REC_OK && at_hand(self) && !self->odd) {
        self->odd = *self->lane.in++ != 0;
        status = feed(self, job, 1, LR_QUICK_INPUT);
    }
    self->phase = status == REC_OK ? LR_QUICK_ENDED : self->phase;
    return status;
}

/* -------------------------------------------------------------------------------------------------- one stream -- */

/* What was inflated last is remembered: matches reach back into it. */
static void remember(lr_quick *self, const uint8_t *data, size_t size)
{
    uint8_t *const end = self->window + LR_INFLATE_WINDOW;
    if (size >= LR_INFLATE_WINDOW) {
        memcpy(self->window, data + (size - LR_INFLATE_WINDOW), LR_INFLATE_WINDOW);
        self->window_size = LR_INFLATE_WINDOW;
    } else if (size) {
        size_t keep = LR_INFLATE_WINDOW - size < self->window_size ? LR_INFLATE_WINDOW - size : self->window_size;
        memmove(end - size - keep, end - keep, keep);
        memcpy(end - size, data, size);
        self->window_size = (uint32_t)(keep + size);
    }
}

/* Inflates until input or room is used up; on any thread. */
static void run_step(lr_task *task, lr_inflater *lanes)
{
    lr_quick *self = (lr_quick *)task; /* whose first member it is */
    lr_inflater *lane = &self->lane;
    uint8_t *const end = self->step_end;
    (void)lanes;
    do {
        uint8_t *from = lane->out;
        lane->out_end = end - from > CACHED ? from + CACHED : end;
        self->stop = lr_inflate(lane);
        self->crc = lr_gzip_crc(self->crc, from, (size_t)(lane->out - from));
    } while (self->stop == LR_INFLATE_ROOM && lane->out < end);
}

/* Has the stream inflated, now or (`post`) by whoever has time. */
static int32_t start_stream(lr_quick *self, rec_job *job, uint8_t *target, size_t room, bool post)
{
    int32_t status = feed(self, job, LR_INFLATE_HEADER, LR_QUICK_INPUT);
    if (status != REC_OK) {
        return status;
    }
    self->lane.last = self->drained;
    self->lane.out = target;
    self->lane.begin = target;
    self->lane.window = self->window + LR_INFLATE_WINDOW;
    self->lane.window_size = self->window_size;
    self->step_end = target + room;
    self->step.run = run_step;
    if (post) {
        (void)lr_team_post(self->team, &self->step, self->threads);
    } else {
        run_step(&self->step, NULL);
    }
    return REC_OK;
}

/* @return bytes that were inflated. */
static size_t finish_stream(lr_quick *self)
{
    size_t made;
    lr_team_wait(self->team, &self->step);
    made = (size_t)(self->lane.out - self->lane.begin);
    remember(self, self->lane.begin, made);
    self->length += (uint32_t)made;
    self->had = self->had || made;
    if (self->stop == LR_INFLATE_END) {
        self->phase = LR_QUICK_TRAILER;
    } else {
        self->odd = self->stop == LR_INFLATE_BAD || self->stop == LR_INFLATE_CUT;
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

int32_t lr_quick_no_memory(rec_job *job)
{
    return rec_fail(job, REC_E_MEMORY, REC_UNKNOWN, "out of memory while zlib was set up");
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
    memset(self, 0, offsetof(lr_quick, input));
    memset(&self->team, 0, sizeof *self - offsetof(lr_quick, team));
    self->parent = parent;
    self->phase = LR_QUICK_HEADER;
    self->lane.in = self->lane.in_end = self->input;
    self->team = lr_team_new();
    if (!self->team) {
        free(self);
        self = NULL;
    }
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
