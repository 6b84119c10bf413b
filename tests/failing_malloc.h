/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Replaces malloc, calloc and realloc of the program and the libraries that it loads (glibc lets a program do that).
 * They fail where fails_now(), which stands before this is included, says so. Sanitizers have a malloc of their own:
 * nothing is replaced then. */
#ifndef LR_FAILING_MALLOC_H
#define LR_FAILING_MALLOC_H

#include <stddef.h>

#include "tests/sanitized.h"

#if defined(__GLIBC__) && !SANITIZED
#define REPLACES_MALLOC 1

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);

/* Exported (REC_API) although tests are built with -fvisibility=hidden. */
REC_API void *malloc(size_t size)
{
    return fails_now() ? NULL : __libc_malloc(size);
}

REC_API void *calloc(size_t count, size_t size)
{
    return fails_now() ? NULL : __libc_calloc(count, size);
}

REC_API void *realloc(void *old, size_t size)
{
    return fails_now() ? NULL : __libc_realloc(old, size);
}
#else
#define REPLACES_MALLOC 0
#endif

#endif
