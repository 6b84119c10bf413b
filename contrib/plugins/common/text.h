/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Text of a file, in a buffer that grows. */
#ifndef CONTRIB_TEXT_H
#define CONTRIB_TEXT_H

#include <librecord/plugin.h>

typedef struct text {
    char *bytes; /**< not NUL-terminated; of rec_job_alloc */
    uint64_t length, room;
} text;

/** Reads `length` bytes at `offset` of a source into a text, and checks that they are UTF-8. */
rec_status text_read(text *t, rec_job *job, rec_source *source, uint64_t offset, uint64_t length);
/** Appends bytes. */
rec_status text_add(text *t, rec_job *job, const char *bytes, uint64_t length);
/** Makes a path of a name in which every dot separates. */
rec_status text_escape(text *path, rec_job *job, const char *name, uint64_t length);
void text_free(text *t, rec_job *job);

#endif
