/* SPDX-License-Identifier: MIT OR Apache-2.0
 * The process and its system. */
#include "os/system.h"

#include <locale.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/random.h>
#include <unistd.h>

/* Other C libraries do not have the macro, which the preprocessor would not skip in the same condition. */
#ifdef __GLIBC_PREREQ
#define HAS_ENGLISH_ERRORS __GLIBC_PREREQ(2, 32)
#else
#define HAS_ENGLISH_ERRORS 0
#endif

const char *lr_system_words(int error, char *text, size_t room)
{
    const char *words = NULL;
#if HAS_ENGLISH_ERRORS
    words = strerrordesc_np(error);
#else
    locale_t english = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (english) {
        (void)snprintf(text, room, "%s", strerror_l(error, english));
        freelocale(english);
        words = text;
    }
#endif
    if (!words) {
        (void)snprintf(text, room, "system error %d", error);
        words = text;
    }
    return words;
}

bool lr_system_privileged(void)
{
    return getauxval(AT_SECURE) != 0;
}

/* The number of processors themselves is in a file, which takes longer to open than all else that a context is made
 * of. */
uint32_t lr_system_processors(void)
{
    cpu_set_t mine;
    long count = sched_getaffinity(0, sizeof mine, &mine) == 0 ? CPU_COUNT(&mine) : sysconf(_SC_NPROCESSORS_ONLN);
    return count < 1 ? 1 : (uint32_t)count;
}

bool lr_system_random(void *target, size_t size, bool wait)
{
    return getrandom(target, size, wait ? 0 : GRND_NONBLOCK) == (ssize_t)size;
}
