/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Bytes after a record: rejected, since they suggest that the file was misread; ignored, as in Burn, with the option
 * `trailing`. */
#ifndef LR_TRAILING_H
#define LR_TRAILING_H

#include <librecord/plugin.h>

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

/* The option: every format that can have such bytes has it. */
#define LR_TRAILING                                                                             \
    {                                                                                           \
        .size = sizeof(rec_option),                                                             \
        .type = REC_OPTION_CHOICE,                                                              \
        .name = "trailing",                                                                     \
        .initial = "refuse",                                                                    \
        .help = "trailing bytes after the record when reading: an error, or ignored like Burn", \
        .choices = (const char *const[]){"refuse", "ignore", NULL},                             \
    }

/** Whether the option says that bytes which are not the record's are ignored. */
static inline bool lr_trailing_ignored(const rec_job *job)
{
    return strcmp(rec_job_option_text(job, "trailing"), "ignore") == 0;
}

/** @param who ignores them. */
static inline void lr_trailing_hint(rec_job *job, const char *who)
{
    rec_fail_hint(job,
                  "To read it without them, as %s does, set the option `trailing` to `ignore` "
                  "(record: --from-option trailing=ignore).",
                  who);
}

/** The record ended at `at` of `size`. @param cause the likely one. @return REC_OK, or the failure. */
static inline int32_t lr_trailing(rec_job *job, uint64_t at, uint64_t size, const char *cause)
{
    int32_t status = REC_OK;
    if (at < size && lr_trailing_ignored(job)) {
        rec_job_note(job, REC_NOTE_TRAILING, "", "%" PRIu64 " bytes after the record were ignored", size - at);
    } else if (at < size) {
        status = rec_fail(job, REC_E_FORMAT, at, "the record ends here, and %" PRIu64 " byte%s follow%s", size - at,
                          size - at == 1 ? "" : "s", size - at == 1 ? "s" : "");
        rec_fail_hint(job, "%s", cause);
        lr_trailing_hint(job, "Burn");
    }
    return status;
}

/** The same where zeros may follow, as padding to `padded`. A stream of no known size, of which the header alone is
 * read, is not looked at. */
static inline int32_t lr_trailing_padded(rec_job *job, rec_source *source, uint64_t at, uint64_t padded, uint64_t size)
{
    bool known = size != REC_UNKNOWN && rec_source_size(source) != REC_UNKNOWN, more = known && size > padded;
    uint8_t bytes[256];
    int32_t status = REC_OK;
    for (uint64_t place = at; known && !more && place < size && status == REC_OK;) {
        uint64_t count = size - place < sizeof bytes ? size - place : sizeof bytes;
        status = rec_source_read_at(job, source, place, bytes, count);
        for (uint64_t i = 0; i < count && status == REC_OK; i++) {
            more = more || bytes[i];
        }
        place += count;
    }
    return status == REC_OK && more
               ? lr_trailing(job, at, size, "Something was appended to the file, or it is damaged.")
               : status;
}

#endif
