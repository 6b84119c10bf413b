/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Memory before there is anybody to ask for it: what dlsym itself wants, while a preloaded file looks for the real
 * functions. */
#ifndef TESTS_FAULTS_EARLY_H
#define TESTS_FAULTS_EARLY_H

#include <stddef.h>
#include <string.h>

static char early[8192] __attribute__((aligned(16)));
static size_t early_used;

static inline int is_early(const void *memory)
{
    return (const char *)memory >= early && (const char *)memory < early + sizeof early;
}

static inline void *early_alloc(size_t size)
{
    void *memory = early + early_used;
    size = (size + 15) & ~(size_t)15;
    if (size > sizeof early - early_used) {
        return NULL;
    }
    early_used += size;
    return memory;
}

/* Another size for early memory or none. @param allocate the real function, or NULL while there is none */
static inline void *early_realloc(void *old, size_t size, void *(*allocate)(size_t size))
{
    void *memory = allocate ? allocate(size) : early_alloc(size);
    size_t left = old ? (size_t)(early + sizeof early - (char *)old) : 0;
    if (memory && old) {
        memcpy(memory, old, left < size ? left : size);
    }
    return memory;
}

#endif
