/* SPDX-License-Identifier: MIT OR Apache-2.0
 * How a child that a test forked ends: without what its parent wants to have done at the end, but, where
 * scripts/coverage counts, with what it ran. */
#ifndef END_CHILD_H
#define END_CHILD_H

#include <stdlib.h>
#include <unistd.h>

static inline _Noreturn void end_child(int status)
{
#ifdef LR_COVERAGE
    (void)close(STDOUT_FILENO); /* what the parent had not written yet is not written twice */
    exit(status);
#else
    _exit(status);
#endif
}

#endif
