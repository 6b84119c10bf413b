/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What the three files of the quick reader share: quick.c calls quick_input.c and pieces.c, pieces.c calls
 * quick_input.c. */
#ifndef LR_GZIP_QUICK_PRIVATE_H
#define LR_GZIP_QUICK_PRIVATE_H

#include "plugins/codec/gzip/index.h"
#include "plugins/codec/gzip/inflate.h"
#include "plugins/codec/gzip/quick.h"
#include "common/team.h"

enum {
    LR_QUICK_INPUT = 256 << 10,     /* bytes of the input that are read at once */
    LR_QUICK_PIECE = 512 << 10,     /* what a piece inflates to, in files of ours */
    LR_QUICK_GAP = 16,              /* bytes kept before the input: it may step back over eight of them */
    LR_QUICK_UNITS = 8,             /* pieces that are inflated at once… */
    LR_QUICK_DEFLATED = 4352 << 10, /* …the bytes that they may have… */
    LR_QUICK_STASH = 2 << 20        /* one of two buffers, for readers with little room; more for longer stretches */
};

enum { LR_QUICK_HEADER, LR_QUICK_PIECES, LR_QUICK_DATA, LR_QUICK_TRAILER, LR_QUICK_BETWEEN, LR_QUICK_ENDED };

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

/* Those of one buffer. */
typedef struct lr_batch {
    uint8_t *in; /* from malloc */
    lr_unit units[LR_QUICK_UNITS];
    unsigned unit_count;
} lr_batch;

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
    uint8_t input[LR_QUICK_GAP + LR_QUICK_INPUT];

    lr_team *team;
    lr_inflater *lanes[LR_TEAM_WORKERS]; /* of the pieces, one a thread; NULL: not needed so far */
    bool started;                        /* a buffer is being filled… */
    unsigned filling;                    /* …this one of the two; the other one is read from */
    uint8_t *stashes[2];                 /* from malloc */
    size_t stash_at, stash_size;

    lr_gzip_index *index; /* from malloc; may be NULL */
    uint32_t next;        /* the stretch that comes next */
    uint64_t pieces;
    lr_batch batch;
};

/** @return bytes of the input that are in memory. */
size_t lr_quick_at_hand(const lr_quick *self);
/** Has `want` bytes of the input in memory, at most LR_QUICK_INPUT, or all that are left. Reads up to `most`. */
int32_t lr_quick_feed(lr_quick *self, rec_job *job, size_t want, size_t most);
/** Reads into `target`, which holds `*held` bytes, until it has `size` or the input ends. */
int32_t lr_quick_fill(lr_quick *self, rec_job *job, uint8_t *target, size_t size, size_t *held);
int32_t lr_quick_no_memory(rec_job *job);

/** @return bytes that the next stretch of the index inflates to. */
uint64_t lr_quick_stretch(const lr_quick *self);
/** Posts the next pieces, as many as there is room for. `self->batch.unit_count` is 0 if the next stretch cannot be
 * taken. */
int32_t lr_quick_pieces_start(lr_quick *self, rec_job *job, uint8_t *target, size_t room);
/** Waits for them. @return bytes that were inflated; 0: they are odd. */
size_t lr_quick_pieces_finish(lr_quick *self);

#endif
