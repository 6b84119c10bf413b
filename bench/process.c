/* SPDX-License-Identifier: MIT OR Apache-2.0
 * How long a program takes that is started for one short thing. */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "bench.h"

extern char **environ;

static double seconds_of(struct timeval t)
{
    return (double)t.tv_sec + 1e-6 * (double)t.tv_usec;
}

static int compare(const void *a, const void *b)
{
    const span *one = a, *other = b;

    return (one->seconds > other->seconds) - (one->seconds < other->seconds);
}

/* One start, until the program has ended. What it says goes nowhere. */
static span spawn_once(char *const *words)
{
    posix_spawn_file_actions_t actions;
    span start, took;
    struct rusage usage;
    pid_t child;
    int status;

    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    start = begin();
    if ((errno = posix_spawn(&child, words[0], &actions, NULL, words, environ)) != 0 ||
        wait4(child, &status, 0, &usage) != child) {
        err(2, "%s", words[0]);
    }
    took = (span){since(start).seconds, seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime)};
    posix_spawn_file_actions_destroy(&actions);
    if (status != 0) {
        errx(2, "%s ended with status %d", words[0], status);
    }
    return took;
}

/* spawn TIMES PROGRAM [ARGUMENTS...]: the median of so many starts, one after the other */
static span spawn_many(const model *m, char *const *words)
{
    enum { MOST = 99 };
    char *command[WORDS + 1] = {0};
    size_t times = number_of(words[1], 1) % MOST;
    span took[MOST];

    (void)m;
    for (size_t i = 2; i < WORDS && words[i][0]; i++) {
        command[i - 2] = words[i];
    }
    for (size_t i = 0; i < times; i++) {
        took[i] = spawn_once(command);
    }
    qsort(took, times, sizeof *took, compare);
    return took[times / 2];
}

const operation process_operations[] = {{"spawn", spawn_many}, {0}};
