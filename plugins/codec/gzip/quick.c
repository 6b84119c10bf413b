/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The chunks of librecord's own files, found by the index and inflated in parallel, each into its place; members, their
 * headers and checksums, and the data of others in one stream. The index is correct if each chunk ends where the next
 * one begins and has the stated size: a single stream would give the same bytes then. */
#include "plugins/codec/gzip/quick.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "common/team.h"
#include "plugins/codec/gzip/index.h"
#include "plugins/codec/gzip/inflate.h"
#include "plugins/codec/little.h"

enum { FLAG_EXTRA = 4, FLAG_NAME = 8, FLAG_COMMENT = 16, FLAGS_ODD = 0xe2 };
enum { HEADER_SIZE = 10, TRAILER_SIZE = 8 };
/* A smaller room is filled from a buffer. */
enum { DIRECT_FROM = 32 << 10 };
/* Repeated reads of at most this size come from a reader that works in between. */
enum { SMALL = 1 << 20 };

enum {
    INPUT = 256 << 10,     /* bytes of the input that are read at once */
    PIECE = 512 << 10,     /* what a piece inflates to, in files of ours */
    GAP = 16,              /* bytes kept before the input: it may step back over eight of them */
    UNITS = 8,             /* pieces that are inflated at once… */
    DEFLATED = 4352 << 10, /* …the bytes that they may have… */
    STASH = 2 << 20        /* one of two buffers, for readers with little room; more for longer stretches */
};

enum { IN_HEADER, IN_PIECES, IN_DATA, IN_TRAILER, BETWEEN, ENDED };

/* A piece: all of its input, and the room for exactly the bytes that it inflates to. */
typedef struct lr_unit {
    lr_task task; /* first, so that the unit is known by its task */
    struct lr_quick *quick;
    const uint8_t *in;
    uint8_t *out;
    size_t in_size, out_size;
    bool last; /* the stream ends with it */
    bool good;
    uint32_t crc;
} lr_unit;

struct lr_quick {
    lr_task step; /* of the one stream; first, so that it is known by its task */
    rec_source *parent;
    int phase;
    bool begun;           /* the first header was looked at */
    bool drained;         /* the input has no more */
    bool odd;             /* this is left to zlib */
    bool had;             /* the member has had data */
    uint32_t crc, length; /* of the member, as it will say itself */
    uint64_t full;
    uint32_t threads;
    unsigned small; /* readings with little room one after the other, up to three */

    lr_inflater *lane;    /* of the one stream */
    lr_inflate_stop stop; /* why the last step ended */
    uint8_t *made_at;     /* where the output of the last step begins */
    uint8_t input[GAP + INPUT];

    lr_team *team;
    lr_inflater *lanes[LR_TEAM_WORKERS]; /* of the pieces, one a thread; NULL: not needed so far */
    bool started;                        /* a buffer is being filled… */
    unsigned filling;                    /* …this one of the two; the other one is read from */
    uint8_t *stashes[2];                 /* from malloc */
    size_t stash_at, stash_size;

    lr_gzip_index *index; /* from malloc; may be NULL */
    uint32_t next;        /* the stretch that comes next */
    uint64_t pieces;
    uint8_t *deflated; /* from malloc: the input of the units */
    lr_unit units[UNITS];
    unsigned unit_count;
};

/* ------------------------------------------------------------------------------------------------------- input -- */

static int32_t no_memory(rec_job *job)
{
    return rec_fail(job, REC_E_MEMORY, REC_UNKNOWN, "out of memory while zlib was set up");
}

/* Reads into `target`, which holds `*held` bytes, until it has `size` or the input ends. */
static int32_t fill(lr_quick *self, rec_job *job, uint8_t *target, size_t size, size_t *held)
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

/* @return bytes of the input that are in memory. */
static size_t at_hand(const lr_quick *self)
{
    return (size_t)(self->lane->in_end - self->lane->in);
}

/* Has `want` bytes of the input in memory, at most INPUT, or all that are left. Reads up to `most`. */
static int32_t feed(lr_quick *self, rec_job *job, size_t want, size_t most)
{
    lr_inflater *lane = self->lane;
    size_t held = at_hand(self);
    int32_t status = REC_OK;
    if (held < want && !self->drained) {
        memmove(self->input + GAP - LR_INFLATE_BEHIND, lane->in - LR_INFLATE_BEHIND, LR_INFLATE_BEHIND + held);
        lane->in = self->input + GAP;
        status = fill(self, job, self->input + GAP, most, &held);
        lane->in_end = lane->in + held;
    }
    return status;
}

/* ------------------------------------------------------------------------------------------------------ pieces -- */

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
    size_t count = (whole.out_size + PIECE - 1) / PIECE;
    const uint8_t *begin = whole.in;
    if (span % PIECE || count < 2 || count > room) {
        return 1;
    }
    for (size_t i = 0; i < count; i++) {
        size_t out = i * PIECE, each = whole.in_size / count, slack = each / 16 + 64;
        const uint8_t *end = whole.in + whole.in_size;
        if (i + 1 < count) {
            size_t middle = (size_t)((double)whole.in_size * (double)(out + PIECE) / (double)whole.out_size);
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
        units[i].out_size = whole.out_size - out < PIECE ? whole.out_size - out : PIECE;
        begin = end;
    }
    return (unsigned)count;
}

/* @return bytes that the next stretch of the index inflates to. */
static uint64_t stretch(const lr_quick *self)
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
    for (unsigned i = 0; i < self->unit_count; i++) {
        lr_team_wait(self->team, &self->units[i].task);
    }
}

/* Posts the next pieces, as many as there is room for. `self->unit_count` is 0 if the next stretch cannot be
 * taken. */
static int32_t start_pieces(lr_quick *self, rec_job *job, uint8_t *target, size_t room)
{
    lr_gzip_index *index = self->index;
    size_t in = 0, out = 0;
    unsigned posted = 0;
    int32_t status = REC_OK;
    self->unit_count = 0;
    if (!self->deflated) {
        self->deflated = malloc(DEFLATED);
    }
    if (!self->deflated) {
        return no_memory(job);
    }
    while (self->next < index->count && self->unit_count < UNITS && status == REC_OK) {
        uint64_t holds = stretch(self);
        size_t size = index->sizes[self->next], held = 0;
        if (holds > room - out || size > DEFLATED - in) {
            break;
        }
        status = fill(self, job, self->deflated + in, size, &held);
        if (held < size) {
            self->odd = status == REC_OK; /* it was longer when we looked */
            break;
        }
        self->units[self->unit_count] = (lr_unit){.in = self->deflated + in,
                                                  .out = target + out,
                                                  .in_size = size,
                                                  .out_size = (size_t)holds,
                                                  .last = self->next + 1 == index->count};
        self->unit_count += split(&self->units[self->unit_count], UNITS - self->unit_count, index->span);
        for (; posted < self->unit_count; posted++) {
            post(self, &self->units[posted]);
        }
        in += size;
        out += (size_t)holds;
        self->next++;
    }
    if (status != REC_OK || self->odd) {
        wait_for_all(self);
        self->unit_count = 0;
    }
    return status;
}

/* Waits for them. @return bytes that were inflated; 0: they are odd. */
static size_t finish_pieces(lr_quick *self)
{
    size_t made = 0;
    wait_for_all(self);
    for (unsigned i = 0; i < self->unit_count && !self->odd; i++) {
        const lr_unit *unit = &self->units[i];
        self->odd = !unit->good;
        self->crc = (uint32_t)crc32_combine(self->crc, unit->crc, (z_off_t)unit->out_size);
        self->length += (uint32_t)unit->out_size;
        self->had = true;
        made += unit->out_size;
        self->pieces++;
    }
    if (self->next == self->index->count) {
        self->phase = IN_TRAILER;
    }
    return self->odd ? 0 : made;
}

/* ----------------------------------------------------------------------------------------------------- members -- */

static int32_t pass_text(lr_quick *self, rec_job *job)
{
    int32_t status = feed(self, job, INPUT, INPUT);
    const uint8_t *end = status == REC_OK && at_hand(self) ? memchr(self->lane->in, 0, at_hand(self)) : NULL;
    self->odd = !end;
    self->lane->in = end ? end + 1 : self->lane->in;
    return status;
}

static int32_t pass_extra(lr_quick *self, rec_job *job)
{
    int32_t status = feed(self, job, 2 + UINT16_MAX, INPUT);
    size_t size = 0;
    if (status == REC_OK && at_hand(self) >= 2) {
        size = 2 + (self->lane->in[0] | (size_t)self->lane->in[1] << 8);
    }
    self->odd = size == 0 || at_hand(self) < size;
    self->lane->in += self->odd ? 0 : size;
    return status;
}

/* Our own files are all one member. */
static int32_t look_for_index(lr_quick *self, rec_job *job)
{
    int32_t status = feed(self, job, LR_GZIP_HEADER, LR_GZIP_HEADER);
    uint64_t total = rec_source_size(self->parent);
    if (status == REC_OK && total != REC_UNKNOWN) {
        lr_gzip_index *index = malloc(sizeof *index);
        if (index && lr_gzip_index_read(self->lane->in, at_hand(self), total, index) && index->begin == at_hand(self)) {
            self->index = index;
            self->phase = IN_PIECES;
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
    self->phase = IN_DATA;
    self->crc = 0;
    lr_inflate_begin(self->lane);
    if (!self->begun) {
        self->begun = true;
        status = look_for_index(self, job);
        if (status != REC_OK || self->index) {
            return status;
        }
    }
    status = feed(self, job, HEADER_SIZE, INPUT);
    if (status == REC_OK) {
        const uint8_t *header = self->lane->in;
        self->odd = at_hand(self) < HEADER_SIZE || header[0] != 0x1f || header[1] != 0x8b || header[2] != 8 ||
                    header[3] & FLAGS_ODD;
        flags = self->odd ? 0 : header[3];
        self->lane->in += self->odd ? 0 : HEADER_SIZE;
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

static int32_t end_member(lr_quick *self, rec_job *job)
{
    int32_t status = feed(self, job, TRAILER_SIZE, INPUT);
    if (status == REC_OK) {
        self->odd = at_hand(self) < TRAILER_SIZE || lr_little(self->lane->in, 4) != self->crc ||
                    lr_little(self->lane->in + 4, 4) != self->length;
        self->lane->in += self->odd ? 0 : TRAILER_SIZE;
        self->full += self->had;
        self->had = false;
        self->phase = BETWEEN;
    }
    return status;
}

/* Another member, or nothing but zeros. */
static int32_t pass_padding(lr_quick *self, rec_job *job)
{
    int32_t status = feed(self, job, 2, INPUT);
    if (status == REC_OK && at_hand(self) >= 2 && self->lane->in[0] == 0x1f && self->lane->in[1] == 0x8b) {
        self->phase = IN_HEADER;
        return REC_OK;
    }
    while (status == REC_OK && at_hand(self) && !self->odd) {
        self->odd = *self->lane->in++ != 0;
        status = feed(self, job, 1, INPUT);
    }
    self->phase = status == REC_OK ? ENDED : self->phase;
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
    int32_t status = feed(self, job, 1, INPUT);
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
        self->phase = IN_TRAILER;
    } else {
        self->odd = self->stop == LR_INFLATE_BAD || (self->stop == LR_INFLATE_INPUT && self->drained);
    }
    return made;
}

/* ------------------------------------------------------------------------------------------------------ output -- */

static bool has_data(const lr_quick *self)
{
    return (self->phase == IN_PIECES || self->phase == IN_DATA) && !self->odd;
}

/* @param post others may do it. @return REC_OK also if it turns out that there is nothing to wait for. */
static int32_t start(lr_quick *self, rec_job *job, uint8_t *target, size_t room, bool post)
{
    int32_t status = REC_OK;
    self->started = false;
    if (self->phase == IN_PIECES) {
        status = start_pieces(self, job, target, room);
        self->started = status == REC_OK && self->unit_count > 0;
        if (status != REC_OK || self->started || self->odd) {
            return status;
        }
        self->phase = IN_DATA; /* what the index says is of no use from here on */
    }
    status = start_stream(self, job, target, room, post);
    self->started = status == REC_OK;
    return status;
}

static size_t finish(lr_quick *self)
{
    self->started = false;
    return self->phase == IN_PIECES ? finish_pieces(self) : finish_stream(self);
}

/* Begins to fill the buffer that is not read from. */
static int32_t start_stash(lr_quick *self, rec_job *job, bool ahead)
{
    uint8_t **stash = &self->stashes[self->filling];
    uint64_t span = self->phase == IN_PIECES ? self->index->span : 0, most = UNITS * PIECE;
    size_t room = span > STASH && span <= most ? (size_t)span : STASH;
    if (!*stash) {
        *stash = malloc(room);
    }
    if (!*stash) {
        return no_memory(job);
    }
    if (self->phase != IN_PIECES) {
        room = ahead ? STASH / 4 : STASH / 32;
    }
    return start(self, job, *stash, room, ahead);
}

/* The next bytes, few or many. */
static int32_t data(lr_quick *self, rec_job *job, uint8_t *target, size_t room, size_t *made)
{
    bool ahead = self->small > 2 && self->threads > 1;
    uint64_t least = self->phase == IN_PIECES ? stretch(self) : DIRECT_FROM;
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
        if (self->odd || self->phase == ENDED) {
            break;
        }
        switch (self->phase) {
        case IN_HEADER:
            status = begin_member(self, job);
            break;
        case IN_PIECES:
        case IN_DATA:
            if (filled && room > SMALL && self->phase == IN_PIECES && room - filled < stretch(self)) {
                goto done; /* the next call has room for the whole of it */
            }
            made = 0;
            status = data(self, job, target + filled, (size_t)room - filled, &made);
            filled += made;
            break;
        case IN_TRAILER:
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
    self->phase = IN_HEADER;
    self->lane = lr_inflater_new();
    self->team = lr_team_new();
    if (!self->lane || !self->team) {
        lr_quick_free(self);
        return NULL;
    }
    self->lane->in = self->lane->in_end = self->input + GAP;
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
    free(self->deflated);
    free(self->stashes[0]);
    free(self->stashes[1]);
    free(self);
}

bool lr_quick_ended(const lr_quick *self, uint64_t *full)
{
    *full = self->full;
    return self->phase == ENDED && !self->odd && self->stash_at == self->stash_size;
}

uint64_t lr_quick_pieces(const lr_quick *self)
{
    return self->pieces;
}
