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

/** The path of a name of the file's, as rec_path_escape(), in the buffer, whose bytes are overwritten. A name without
 * backslashes is one. @param text,length (in, out). */
static inline int32_t lr_buffer_path(lr_buffer *b, const char **text, uint64_t *length)
{
    b->size = 0;
    if (*length && memchr(*text, '\\', (size_t)*length)) {
        b->status = lr_codec_grow(b->job, &b->data, 2 * *length + 1, &b->room, 1);
        *length = b->status == REC_OK ? rec_path_escape(*text, *length, b->data, b->room) : 0;
        *text = b->data;
    }
    return b->status;
}

/** Adds the reverse: a path without its escapes. */
static inline void lr_put_unescaped(lr_buffer *b, const char *path, uint64_t length)
{
    uint64_t at = b->size;
    lr_put(b, path, length);
    lr_put(b, "", 1); /* the NUL */
    if (b->status == REC_OK) {
        b->size = at + rec_path_unescape(path, length, b->data + at, length + 1);
    }
}

#endif
