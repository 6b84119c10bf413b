/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Bytes behind a record: refused, for they say that something else was read than is there; ignored, as Burn does, by
 * the option `trailing`. */
#ifndef LR_TRAILING_H
#define LR_TRAILING_H

#include <librecord/plugin.h>

#include <inttypes.h>
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

/** The record ended at `at` of `size`. @param cause the likely one. @return REC_OK, or the failure. */
static inline int32_t lr_trailing(rec_job *job, uint64_t at, uint64_t size, const char *cause)
{
    int32_t status = REC_OK;
    if (at < size && strcmp(rec_job_option_text(job, "trailing"), "ignore") == 0) {
        rec_job_note(job, REC_NOTE_TRAILING, "", "%" PRIu64 " bytes after the record were ignored", size - at);
    } else if (at < size) {
        status = rec_fail(job, REC_E_FORMAT, at, "the record ends here, and %" PRIu64 " byte%s follow%s", size - at,
                          size - at == 1 ? "" : "s", size - at == 1 ? "s" : "");
        rec_fail_hint(job, "%s", cause);
        rec_fail_hint(job, "To read it without them, as Burn does, set the option `trailing` to `ignore` "
                           "(record: --from-option trailing=ignore).");
    }
    return status;
}

#endif
