/* SPDX-License-Identifier: MIT OR Apache-2.0
 * A file read from its beginning on, through a window: its tensors' data is never touched. */
#ifndef LR_GGUF_CURSOR_H
#define LR_GGUF_CURSOR_H

#include <librecord/plugin.h>

typedef struct lr_gguf_cursor {
    rec_job *job;
    rec_source *source;
    uint64_t at;   /**< of the next byte */
    uint64_t size; /**< of the file */
    uint8_t *window;
    uint64_t room;  /**< of the window */
    uint64_t begin; /**< place of its first byte in the file */
    uint64_t count; /**< bytes in it */
} lr_gguf_cursor;

/** Begins at the first byte. A stream is read to its end. */
int32_t lr_gguf_cursor_open(lr_gguf_cursor *c, rec_job *job, rec_source *source);
void lr_gguf_cursor_close(lr_gguf_cursor *c);
/** The next `count` bytes in one piece, valid until the next call. @param what they are, for the message. */
int32_t lr_gguf_take(lr_gguf_cursor *c, uint64_t count, const char *what, const uint8_t **data);
int32_t lr_gguf_take_u32(lr_gguf_cursor *c, const char *what, uint32_t *number);
int32_t lr_gguf_take_u64(lr_gguf_cursor *c, const char *what, uint64_t *number);
/** A string: its length and its bytes, not terminated, as lr_gguf_take() gives them. */
int32_t lr_gguf_take_text(lr_gguf_cursor *c, const char *what, const char **text, uint64_t *length);

#endif
