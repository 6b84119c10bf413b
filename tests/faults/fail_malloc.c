/* SPDX-License-Identifier: MIT OR Apache-2.0
 * For LD_PRELOAD: an allocation of the process fails, whoever asks for it. FAULT_ALLOCATION is its number from 1 on,
 * none of 0; FAULT_COUNT a file that the number of all of them is written to at the end. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "early.h"

static atomic_ulong made;
static unsigned long fails;
static void *(*real_malloc)(size_t size);
static void *(*real_calloc)(size_t count, size_t size);
static void *(*real_realloc)(void *old, size_t size);
static void *(*real_aligned_alloc)(size_t alignment, size_t size);
static int (*real_posix_memalign)(void **memory, size_t alignment, size_t size);
static void (*real_free)(void *memory);

/* A function pointer from an object pointer, as POSIX has it. */
static void find(void *function, const char *name)
{
    void *address = dlsym(RTLD_NEXT, name);
    memcpy(function, &address, sizeof address);
}

__attribute__((constructor)) static void begin(void)
{
    const char *number = getenv("FAULT_ALLOCATION");
    find(&real_calloc, "calloc");
    find(&real_realloc, "realloc");
    find(&real_aligned_alloc, "aligned_alloc");
    find(&real_posix_memalign, "posix_memalign");
    find(&real_free, "free");
    find(&real_malloc, "malloc");
    fails = number ? strtoul(number, NULL, 10) : 0;
}

__attribute__((destructor)) static void end(void)
{
    const char *path = getenv("FAULT_COUNT");
    char text[32];
    int fd = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : -1;
    int length = snprintf(text, sizeof text, "%lu\n", atomic_load(&made));
    if (fd >= 0) {
        (void)!write(fd, text, (size_t)length);
        (void)close(fd);
    }
}

static int this_one(void)
{
    if (atomic_fetch_add(&made, 1) + 1 != fails) {
        return 0;
    }
    errno = ENOMEM;
    return 1;
}

void *malloc(size_t size)
{
    if (!real_malloc) {
        return early_alloc(size);
    }
    return this_one() ? NULL : real_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    if (!real_malloc) {
        return early_alloc(count * size);
    }
    return this_one() ? NULL : real_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
    if (!real_malloc || is_early(old)) {
        return early_realloc(old, size, real_malloc);
    }
    return this_one() ? NULL : real_realloc(old, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return !real_aligned_alloc || this_one() ? NULL : real_aligned_alloc(alignment, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size)
{
    return !real_posix_memalign || this_one() ? ENOMEM : real_posix_memalign(memory, alignment, size);
}

void free(void *memory)
{
    if (real_free && !is_early(memory)) {
        real_free(memory);
    }
}
