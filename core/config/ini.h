/* SPDX-License-Identifier: MIT OR Apache-2.0
 * INI files line by line: sections and `key = value`, of any length, with the line each stands in. */
#ifndef LR_INIFILE_H
#define LR_INIFILE_H

#include "core/base/job.h"

/** What a file is told to. Texts are trimmed, valid UTF-8, and live during the call only. What returns a status other
 *  than REC_OK has said why on the job, and ends the reading. */
typedef struct lr_ini_reader {
    /** `[kind name]`: what stands between the brackets. */
    int32_t (*section)(void *user, const char *text, uint32_t line);
    /** A key (A-Z a-z 0-9 . _ -, at most 64 bytes) and its value, which is not empty. Never before a section. */
    int32_t (*setting)(void *user, const char *key, const char *value, uint32_t line);
    const char *begin;    /**< hint about a key before any section */
    const char *no_value; /**< hint about a key without value */
} lr_ini_reader;

/** Reads a file of at most 16 MiB, to its end or to the first mistake. */
int32_t lr_ini_read(rec_job *job, const char *path, const lr_ini_reader *reader, void *user);

#endif
