/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The text that a JSON reader looks at: the whole of it where that costs nothing, else a window that moves on. */
#ifndef LR_JSON_INPUT_H
#define LR_JSON_INPUT_H

#include <stdbool.h>

#include <librecord/plugin.h>

typedef struct lr_json_input {
    rec_job *job;
    rec_source *source;
    const uint8_t *at;    /**< the next byte; readers move it */
    const uint8_t *end;   /**< of the window */
    const uint8_t *start; /**< of the window */
    uint64_t offset;      /**< of `start` in the text */
    uint64_t size;        /**< of the whole text, REC_UNKNOWN of a stream */
    bool ended;           /**< the window has the end of the text */
    uint8_t *buffer;      /**< the window, NULL if the whole is at hand */
} lr_json_input;

/** What one refill can bring at most. */
enum { LR_JSON_WINDOW = 256 * 1024 };

/** Opens a source at its beginning: as a whole if it is in memory or mapped, which copies nothing. */
int32_t lr_json_input_open(lr_json_input *in, rec_job *job, rec_source *source);
void lr_json_input_close(lr_json_input *in);
/** Appends more text to the part from `at` on, and moves `at`; other pointers into the window become invalid. Does
 * nothing at the end of the text. */
int32_t lr_json_input_more(lr_json_input *in);

/** Sees to it that `size` bytes (at most LR_JSON_WINDOW) are there, unless the text ends before. */
static inline int32_t lr_json_input_need(lr_json_input *in, uint64_t size)
{
    return (uint64_t)(in->end - in->at) >= size || in->ended ? REC_OK : lr_json_input_more(in);
}

static inline uint64_t lr_json_input_offset(const lr_json_input *in)
{
    return in->offset + (uint64_t)(in->at - in->start);
}

#endif
