/* SPDX-License-Identifier: MIT OR Apache-2.0
 * What the tests share that try many cases of a kind: on a machine that is emulated they take each n-th alone, where
 * LIBRECORD_TEST_EVERY says n. */
#ifndef SPARSE_H
#define SPARSE_H

#include <stdlib.h>

/** Each how manieth case is tried: 1, all of them, unless the environment says otherwise. */
static inline unsigned sparsely(void)
{
    const char *text = getenv("LIBRECORD_TEST_EVERY");
    long every = text ? strtol(text, NULL, 10) : 1;
    return every > 1 && every < 1000 ? (unsigned)every : 1;
}

#endif
