/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Bytes that grow. The first failure stays in `status`; what is added after it is ignored. */
#ifndef LR_CODEC_BUFFER_H
#define LR_CODEC_BUFFER_H

#include <string.h>

#include "plugins/codec/little.h"
#include "plugins/codec/room.h"

typedef struct lr_buffer {
    rec_job *job;
    char *data; /**< to be freed with rec_job_free(); not NULL once something was added, even without bytes */
    uint64_t size, room;
    int32_t status;
} lr_buffer;

static inline void lr_put(lr_buffer *b, const void *data, uint64_t size)
{
    if (b->status == REC_OK) {
        b->status = lr_codec_grow(b->job, &b->data, b->size + size + 1, &b->room, 1);
    }
    if (b->status == REC_OK && size) {
        memcpy(b->data + b->size, data, (size_t)size);
        b->size += size;
    }
}

static inline void lr_put_word(lr_buffer *b, const char *text)
{
    lr_put(b, text, strlen(text));
}

/** Adds a number of `bytes` bytes, the lowest first. */
static inline void lr_put_little(lr_buffer *b, uint64_t number, uint32_t bytes)
{
    uint8_t little[8];
    lr_little_put(little, number, bytes);
    lr_put(b, little, bytes);
}

#endif
