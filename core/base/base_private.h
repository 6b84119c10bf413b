/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What jobs take of errors and reports (error.c). */
#ifndef LR_BASE_PRIVATE_H
#define LR_BASE_PRIVATE_H

#include "core/base/base.h"

/** Of malloc's memory: it outlives the job and its context. NULL: there is none, and the notes are only counted. */
lr_report *lr_report_new(void);
void lr_report_free(void *report);
/** Copies the note, if there is room for it. */
void lr_report_add(lr_report *report, const rec_note *note);
/** Gives the report to the calling thread. NULL: there were no notes. */
void lr_report_publish(lr_report *report, uint64_t notes);

void lr_error_clear(lr_error *error);
/** Copies what fits; a cut text ends in "..." at a character's boundary. */
void lr_error_copy(char *target, size_t room, const char *text);
void lr_error_print(char *target, size_t room, const char *format, va_list args) REC_PRINTF(3, 0);
/** Makes it the calling thread's last error, or if there is none, its success. */
void lr_error_publish(lr_error *error);

#endif
