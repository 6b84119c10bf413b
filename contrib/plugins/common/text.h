/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Text of a file: a buffer that grows, and paths made of names. */
#ifndef CONTRIB_TEXT_H
#define CONTRIB_TEXT_H

#include <librecord/plugin.h>

typedef struct text {
    char *bytes; /**< not NUL-terminated; of rec_job_alloc */
    uint64_t length, room;
} text;

/** Reads `length` bytes at `offset` of a source into a text, and checks that they are UTF-8. */
int32_t text_read(text *t, rec_job *job, rec_source *source, uint64_t offset, uint64_t length);
/** Appends a name to a path: a dot before it if the path has a name already, escapes for its own dots. */
int32_t text_push(text *path, rec_job *job, const char *name, uint64_t length, int first);
/** Appends bytes. */
int32_t text_add(text *t, rec_job *job, const char *bytes, uint64_t length);
/** Makes a path of a name in which every dot separates. */
int32_t text_escape(text *path, rec_job *job, const char *name, uint64_t length);
void text_free(text *t, rec_job *job);

#endif
