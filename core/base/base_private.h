/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What jobs take of errors and reports, and of the list of their memory. */
#ifndef LR_BASE_PRIVATE_H
#define LR_BASE_PRIVATE_H

#include "core/base/base.h"

/** From malloc: it outlives the job and its context. NULL: out of memory, and notes are only counted. */
lr_report *lr_report_new(void);
void lr_report_free(void *report);
/** Copies the note, if there is room for it. */
void lr_report_add(lr_report *report, const rec_note *note);
/** Gives the report to the calling thread. NULL: there were no notes. */
void lr_report_publish(lr_report *report, uint64_t notes);

/* pieces.c */

typedef struct lr_piece {
    void *memory; /**< NULL: none */
    uint64_t size;
} lr_piece;

/* error.c */

void lr_error_clear(lr_error *error);
/** Copies what fits; a cut text ends in "..." at a character's boundary. */
void lr_error_copy(char *target, size_t room, const char *text);
/** Copies the name to show for a file to an error's `file`. */
void lr_error_copy_file(char *target, const char *file);
/** Prints what fits; what is not UTF-8 or a control character becomes `?`, for messages are passed on as JSON. */
void lr_error_print(char *target, size_t room, const char *format, va_list args) REC_PRINTF(3, 0);
/** The same for a text that is there. */
void lr_error_clean(char *text);
/** Publishes it as the calling thread's last error; without a failure clears the last error. */
void lr_error_publish(lr_error *error);

#endif
