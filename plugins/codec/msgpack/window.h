/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The reader's state, and the window through which it reads: a stream of which only headers are needed, and a large
 * mapped file. Of the latter a few KiB around each header are read, since touching the map would cost a page table
 * entry for each tensor; tensors still point into the map. */
#ifndef CODEC_MSGPACK_WINDOW_H
#define CODEC_MSGPACK_WINDOW_H

#include <stdbool.h>

#include <librecord/plugin.h>

#include "plugins/codec/msgpack/numbers.h"

/* Levels of the template's stack; core allows at most 200. */
#define MSGPACK_EMBED_STACK_SIZE 256
/* Numbers gathered before they are handed on, and twice as many floats of 32 bits. */
#define RUN 4096
#define FLOATS (2 * RUN)
/* Values of a list that are read past the template. */
#define MANY 16
/* Sizes of the window, which grows for longer contiguous data, and of byte strings of a stream that are skipped
 * instead. */
#define WINDOW (256u << 10)
#define JUMP_FROM (64u << 10)
/* For mapped files: minimum size for reading headers through a window; size of the first read after a tensor; and
 * consecutive bytes after which the window is given up, since most of the file is needed. */
#define STEPS_FROM (8u << 20)
#define STEP 4096u
#define ROW (256u << 10)
/* Bytes between two reports of progress. */
#define REPORT (4u << 20)

enum { IN_ROOT, IN_LIST, IN_MAP };

typedef struct frame {
    uint64_t left;  /* values still to come, keys counted */
    uint64_t above; /* values that the frames around it still owe */
    int in;
} frame;

typedef struct reader {
    rec_job *job;
    rec_source *source;
    const rec_visitor *visitor;
    void *self;
    const uint8_t *data; /* where the first byte is, or would be: those of the window alone can be looked at */
    const uint8_t *view; /* all bytes where they are in memory or mapped; NULL of a stream */
    uint64_t size;       /* where what can be had ends */
    uint64_t whole;      /* size of the file; REC_UNKNOWN of a stream before its end */
    uint64_t at;         /* where the next object begins */
    uint8_t *window;     /* of a stream and of headers of a mapped file, else NULL… */
    uint64_t room, row;  /* …bytes that it can hold; that were read in a row… */
    uint64_t jump_header, jump_length; /* …a byte string that was stepped over, which the template takes for nil */
    uint64_t reported;
    int32_t status; /* why a callback stopped the template */
    uint32_t limit; /* open lists and maps at most */
    lr_msgpack_floats *floats;
    bool past; /* a callback stopped the template for numbers that are to be read past it */
    frame *top;
    frame frames[MSGPACK_EMBED_STACK_SIZE + 1]; /* the first stands for the file, which owes one value */
    rec_dtype run_dtype;                        /* REC_DTYPE_NONE: no run */
    uint32_t run_count;
    uint64_t run_at;
    union {
        int64_t i64[RUN]; /* of U64 too */
        float f32[FLOATS];
        double f64[RUN];
        uint8_t bools[RUN];
    } run;
} reader;

static inline bool at_key(const reader *r)
{
    return r->top->in == IN_MAP && r->top->left % 2 == 0;
}

/** Whether there is more to be read than the window has. */
static inline bool lr_msgpack_has_more(const reader *r)
{
    return r->whole == REC_UNKNOWN || r->size < r->whole;
}

/** Makes the window and fills it for the first time. */
int32_t lr_msgpack_window(reader *r);
/** Appends more bytes to those from `at` on. */
int32_t lr_msgpack_more(reader *r);
/** Whether a byte string begins at `at`, whose head is in the window, that is better stepped over. */
bool lr_msgpack_may_pass(reader *r);
/** Steps over it: `jump_header` is 0 if the file ends in it. The window has its head still. */
int32_t lr_msgpack_pass(reader *r);
/** `at` is after it. */
void lr_msgpack_passed(reader *r);
/** Of a stream: reads the data after the value, since the decoder checks the whole at its end. */
int32_t lr_msgpack_rest(reader *r);

#endif
