/* SPDX-License-Identifier: MIT OR Apache-2.0
 * For tests with very many cases of a kind: LIBRECORD_TEST_EVERY=n makes them run every n-th case only. `make check`
 * sets 7, `make check-slow` runs all. */
#ifndef SPARSE_H
#define SPARSE_H

#include <stdlib.h>

/** Returns n where every n-th case is to run: 1 unless the environment says otherwise. */
static inline unsigned sparsely(void)
{
    const char *text = getenv("LIBRECORD_TEST_EVERY");
    long every = text ? strtol(text, NULL, 10) : 1;
    return every > 1 && every < 1000 ? (unsigned)every : 1;
}

#endif
