/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Arrays that grow. */
#ifndef LR_CODEC_ROOM_H
#define LR_CODEC_ROOM_H

#include <librecord/plugin.h>
#include <string.h>

/** Grows an array of the job's memory to at least `need` elements of `each` bytes, and to twice its size. Its contents
 * stay. @param array address of its pointer, which may be NULL while `room` is 0. @return a status: the job has failed.
 */
static inline int32_t lr_codec_grow(rec_job *job, void *array, uint64_t need, uint64_t *room, size_t each)
{
    enum { FIRST_BYTES = 256 };
    uint64_t wide, size;
    void *memory;
    if (need <= *room) {
        return REC_OK;
    }
    wide = *room ? 2 * *room : FIRST_BYTES / each + 1;
    wide = need > wide ? need : wide;
    memcpy(&memory, array, sizeof memory);
    memory = rec_job_resize(job, memory, __builtin_mul_overflow(wide, each, &size) ? UINT64_MAX : size);
    if (!memory) {
        return rec_fail(job, REC_E_MEMORY, REC_UNKNOWN, "out of memory"); /* the first failure counts */
    }
    memcpy(array, &memory, sizeof memory);
    *room = wide;
    return REC_OK;
}

#endif
