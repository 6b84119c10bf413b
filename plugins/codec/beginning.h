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

/** The bytes from `at` on, as many as there are up to `size`. @param at where the reading is, if a header is all that
 * is needed of a stream. */
static inline int32_t lr_beginning_at(rec_job *job, rec_source *source, uint64_t at, uint8_t *target, uint64_t size,
                                      uint64_t *got)
{
    uint64_t total = 0;
    int32_t status;
    if (lr_beginning_is_all(job, source)) {
        return lr_beginning_take(job, source, target, size, got);
    }
    status = rec_source_measure(job, source, &total);
    total -= total < at ? total : at;
    *got = total < size ? total : size;
    return status == REC_OK ? rec_source_read_at(job, source, at, target, *got) : status;
}

/** The same into memory, which grows as the bytes of a stream come: a wrong length costs nothing. @param bytes (out) to
 * be freed with rec_job_free(), also on failure. */
static inline int32_t lr_beginning_grow(rec_job *job, rec_source *source, uint64_t at, uint8_t **bytes, uint64_t size,
                                        uint64_t *got)
{
    uint64_t room = 0, more = 0, first = 256 * 1024;
    int32_t status = lr_beginning_is_all(job, source) ? REC_OK : rec_source_measure(job, source, &first);
    *bytes = NULL;
    *got = 0;
    while (status == REC_OK && *got == room && (room < size || !room)) {
        uint64_t wider = room ? room * 2 : first ? first : 1;
        uint8_t *grown;
        wider = wider < size ? wider : size ? size : 1;
        grown = rec_job_resize(job, *bytes, wider);
        if (!grown) {
            return rec_fail(job, REC_E_MEMORY, REC_UNKNOWN,
                            "out of memory for the header"); /* the first failure counts */
        }
        *bytes = grown;
        room = wider;
        status = lr_beginning_at(job, source, at + *got, *bytes + *got, (room < size ? room : size) - *got, &more);
        *got += more;
    }
    return status;
}

#endif
