/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The beginning of a stream: how much a reader of headers takes from a source of unknown size. */
#ifndef CODEC_BEGINNING_H
#define CODEC_BEGINNING_H

#include <stdbool.h>

#include <librecord/plugin.h>

/** Whether only a header is needed from a source that would otherwise be read to its end. */
static inline bool lr_beginning_is_all(const rec_job *job, const rec_source *source)
{
    return rec_source_size(source) == REC_UNKNOWN && rec_job_skips_data(job);
}

/** The next bytes of it, as many as there are up to `size`. @param got (out) fewer at its end only. */
static inline int32_t lr_beginning_take(rec_job *job, rec_source *source, uint8_t *target, uint64_t size, uint64_t *got)
{
    int32_t status = REC_OK;
    uint64_t more = 1;
    for (*got = 0; *got < size && more && status == REC_OK; *got += status == REC_OK ? more : 0) {
        status = rec_source_read(job, source, target + *got, size - *got, &more);
    }
    return status;
}

/** The same into memory that grows as the bytes come, so that a wrong length costs nothing. @param bytes (out) to be
 * freed with rec_job_free(), also on failure. */
static inline int32_t lr_beginning_grow(rec_job *job, rec_source *source, uint8_t **bytes, uint64_t size, uint64_t *got)
{
    enum { FIRST = 256 * 1024 };
    uint64_t room = 0, more = 0;
    int32_t status = REC_OK;
    *bytes = NULL;
    *got = 0;
    do {
        uint64_t wider = room ? room * 2 : FIRST;
        uint8_t *grown;
        wider = wider < size ? wider : size ? size : 1;
        grown = rec_job_resize(job, *bytes, wider);
        if (!grown) {
            return rec_fail(job, REC_E_MEMORY, REC_UNKNOWN,
                            "out of memory for the header"); /* the first failure counts */
        }
        *bytes = grown;
        room = wider;
        status = lr_beginning_take(job, source, *bytes + *got, (room < size ? room : size) - *got, &more);
        *got += more;
    } while (status == REC_OK && *got == room && room < size);
    return status;
}

#endif
