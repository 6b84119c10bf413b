/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The process and its system: words for its errors, privileges, processors, random bytes. */
#ifndef LR_OS_SYSTEM_H
#define LR_OS_SYSTEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Returns the English words for an errno, in any thread and locale. @param text for words that are no constants. */
const char *lr_system_words(int error, char *text, size_t room);
/** @return whether the process has more privileges than the user who started it. */
bool lr_system_privileged(void);
/** @return how many threads of the process may run at once, at least 1. */
uint32_t lr_system_processors(void);
/** Fills memory with random bytes that nobody can predict. @param wait false: fails if the system has none yet, early
 * at boot. @return whether it did. */
bool lr_system_random(void *target, size_t size, bool wait);

#endif
