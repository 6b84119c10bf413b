/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The words of errors in the tests are those of glibc. */
#ifndef LR_TESTS_LOCAL_WORDS_H
#define LR_TESTS_LOCAL_WORDS_H

#include <errno.h>
#include <stdio.h>
#include <string.h>

/** A message of glibc, as the C library of the test has it. It is valid until the next call. */
static inline const char *local_words(const char *words)
{
    static const struct {
        int error;
        const char *glibc;
    } known[] = {
        {EIO, "Input/output error"},         {ELOOP, "Too many levels of symbolic links"},
        {ENOMEM, "Cannot allocate memory"},  {ENAMETOOLONG, "File name too long"},
        {ETIMEDOUT, "Connection timed out"},
    };
    static char changed[1024];
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const char *here = strerror(known[i].error), *at = strstr(words, known[i].glibc);
        if (at && strcmp(here, known[i].glibc) != 0) {
            (void)snprintf(changed, sizeof changed, "%.*s%s%s", (int)(at - words), words, here,
                           at + strlen(known[i].glibc));
            return changed;
        }
    }
    return words;
}

#endif
