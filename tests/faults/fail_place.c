/* SPDX-License-Identifier: MIT OR Apache-2.0
 * For LD_PRELOAD: one call of the process for memory fails, whoever makes it. Calls are told apart by their place: who
 * makes it, called by whom. FAULT_PLACES is a file that a line goes to for each place as it is met first: the number of
 * the call, the place, what was called. FAULT_CALL is the number of the call that fails, which is the same in a run of
 * the same words with one thread. With -DFAIL_SYSTEM it is calls of the system that fail, but for those that only clean
 * up. */
#define _GNU_SOURCE 1
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <unwind.h>

#include "early.h"

enum { DEEP = 24, PLACES = 1 << 16 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static __thread int within; /* what this file itself calls is not counted */
static int begun;
static unsigned long calls;
static unsigned long failing;
static int list = -1;
static uint64_t seen[PLACES];

static void *next(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

/* A function pointer from an object pointer, as POSIX has it. */
#define REAL(name)                            \
    static __typeof__(&name) real;            \
    if (!real) {                              \
        void *address;                        \
        within++;                             \
        address = next(#name);                \
        within--;                             \
        memcpy(&real, &address, sizeof real); \
    }

/* --------------------------------------------------------------------------------------------------- the place -- */

struct trace {
    uint64_t hash;
    int depth;
};

static _Unwind_Reason_Code one_frame(struct _Unwind_Context *context, void *user)
{
    struct trace *trace = user;
    Dl_info info;
    void *address = (void *)_Unwind_GetIP(context);
    if (!dladdr(address, &info) || ++trace->depth > DEEP) {
        return _URC_END_OF_STACK;
    }
    trace->hash = (trace->hash ^ (uint64_t)((char *)address - (char *)info.dli_fbase)) * 0x9e3779b97f4a7c15U;
    trace->hash ^= trace->hash >> 29;
    return _URC_NO_REASON;
}

/* Whether it is a new one: an open-addressed set, as nothing here may allocate. */
static int is_new(uint64_t hash)
{
    unsigned at = (unsigned)(hash % PLACES);
    hash += hash == 0;
    for (unsigned n = 0; n < PLACES; n++, at = (at + 1) % PLACES) {
        if (seen[at] == hash) {
            return 0;
        }
        if (seen[at] == 0) {
            seen[at] = hash;
            return 1;
        }
    }
    return 0;
}

/* Whether this call is the one that fails, or has to be written down. */
static int fails(const char *what)
{
    int it_does = 0;
    if (within || !begun) {
        return 0;
    }
    within++;
    (void)pthread_mutex_lock(&lock);
    calls++;
    it_does = calls == failing;
    if (list >= 0) {
        struct trace trace = {0, 0};
        (void)_Unwind_Backtrace(one_frame, &trace);
        if (is_new(trace.hash)) {
            char text[64];
            int length = snprintf(text, sizeof text, "%lu %016llx %s\n", calls, (unsigned long long)trace.hash, what);
            (void)!write(list, text, (size_t)length);
        }
    }
    (void)pthread_mutex_unlock(&lock);
    within--;
    return it_does;
}

__attribute__((constructor)) static void begin(void)
{
    const char *number = getenv("FAULT_CALL");
    const char *path = getenv("FAULT_PLACES");
    struct trace trace = {0, 0};
    within++;
    failing = number ? strtoul(number, NULL, 10) : 0;
    list = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : -1;
    (void)_Unwind_Backtrace(one_frame, &trace); /* what it sets up is not the program's */
    (void)unsetenv("LD_PRELOAD");               /* programs that it starts are not tried */
    (void)unsetenv("FAULT_PLACES");
    (void)unsetenv("FAULT_CALL");
    begun = 1;
    within--;
}

/* ------------------------------------------------------------------------------------------------------ memory -- */

static int resolving;

/* With -DFAIL_SYSTEM memory never fails. */
static int refuses(const char *what)
{
#ifdef FAIL_SYSTEM
    (void)what;
    return 0;
#else
    return fails(what);
#endif
}

static void *(*real_malloc)(size_t size);
static void *(*real_calloc)(size_t count, size_t size);
static void *(*real_realloc)(void *old, size_t size);
static void (*real_free)(void *memory);

static void find(void *function, const char *name)
{
    void *address = next(name);
    memcpy(function, &address, sizeof address);
}

static int found(void)
{
    if (!real_free && !resolving) {
        resolving = 1;
        find(&real_malloc, "malloc");
        find(&real_calloc, "calloc");
        find(&real_realloc, "realloc");
        find(&real_free, "free");
        resolving = 0;
    }
    return real_free != NULL;
}

void *malloc(size_t size)
{
    if (!found()) {
        return early_alloc(size);
    }
    if (refuses("malloc")) {
        errno = ENOMEM;
        return NULL;
    }
    return real_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    if (!found()) {
        return early_alloc(count * size);
    }
    if (refuses("calloc")) {
        errno = ENOMEM;
        return NULL;
    }
    return real_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
    if (!found() || is_early(old)) {
        return early_realloc(old, size, real_free ? real_malloc : NULL);
    }
    if (refuses("realloc")) {
        errno = ENOMEM;
        return NULL;
    }
    return real_realloc(old, size);
}

void free(void *memory)
{
    if (real_free && !is_early(memory)) {
        real_free(memory);
    }
}

int posix_memalign(void **memory, size_t alignment, size_t size)
{
    REAL(posix_memalign)
    return refuses("posix_memalign") ? ENOMEM : real(memory, alignment, size);
}

/* -------------------------------------------------------------------------------------------------- the system -- */

#ifdef FAIL_SYSTEM

/* What fails is not done, but for close, which is. */
#define FAILS(name, error) \
    REAL(name)             \
    if (fails(#name)) {    \
        errno = error;     \
        return -1;         \
    }

static mode_t mode_of(int flags, va_list more)
{
    return (flags & (O_CREAT | O_TMPFILE)) ? va_arg(more, mode_t) : 0;
}

int open(const char *path, int flags, ...)
{
    va_list more;
    mode_t mode;
    va_start(more, flags);
    mode = mode_of(flags, more);
    va_end(more);
    FAILS(open, EMFILE)
    return real(path, flags, mode);
}

int openat(int folder, const char *path, int flags, ...)
{
    va_list more;
    mode_t mode;
    va_start(more, flags);
    mode = mode_of(flags, more);
    va_end(more);
    FAILS(openat, EMFILE)
    return real(folder, path, flags, mode);
}

ssize_t read(int fd, void *buffer, size_t size)
{
    FAILS(read, EIO)
    return real(fd, buffer, size);
}

ssize_t pread(int fd, void *buffer, size_t size, off_t offset)
{
    FAILS(pread, EIO)
    return real(fd, buffer, size, offset);
}

ssize_t write(int fd, const void *buffer, size_t size)
{
    FAILS(write, ENOSPC)
    return real(fd, buffer, size);
}

ssize_t pwrite(int fd, const void *buffer, size_t size, off_t offset)
{
    FAILS(pwrite, ENOSPC)
    return real(fd, buffer, size, offset);
}

int fstat(int fd, struct stat *what)
{
    FAILS(fstat, EIO)
    return real(fd, what);
}

int stat(const char *path, struct stat *what)
{
    FAILS(stat, EACCES)
    return real(path, what);
}

int lstat(const char *path, struct stat *what)
{
    FAILS(lstat, EACCES)
    return real(path, what);
}

int fstatat(int folder, const char *path, struct stat *what, int flags)
{
    FAILS(fstatat, EACCES)
    return real(folder, path, what, flags);
}

off_t lseek(int fd, off_t offset, int whence)
{
    FAILS(lseek, ESPIPE)
    return real(fd, offset, whence);
}

int ftruncate(int fd, off_t size)
{
    FAILS(ftruncate, EIO)
    return real(fd, size);
}

int fsync(int fd)
{
    FAILS(fsync, EIO)
    return real(fd);
}

int rename(const char *from, const char *to)
{
    FAILS(rename, EIO)
    return real(from, to);
}

int renameat(int from_folder, const char *from, int to_folder, const char *to)
{
    FAILS(renameat, EIO)
    return real(from_folder, from, to_folder, to);
}

int mkdir(const char *path, mode_t mode)
{
    FAILS(mkdir, EACCES)
    return real(path, mode);
}

int fchmod(int fd, mode_t mode)
{
    FAILS(fchmod, EPERM)
    return real(fd, mode);
}

int dup(int fd)
{
    FAILS(dup, EMFILE)
    return real(fd);
}

void *mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset)
{
    REAL(mmap)
    if (fails("mmap")) {
        errno = ENODEV;
        return MAP_FAILED;
    }
    return real(address, size, protection, flags, fd, offset);
}

FILE *fopen(const char *path, const char *how)
{
    REAL(fopen)
    if (fails("fopen")) {
        errno = EMFILE;
        return NULL;
    }
    return real(path, how);
}

DIR *opendir(const char *path)
{
    REAL(opendir)
    if (fails("opendir")) {
        errno = EMFILE;
        return NULL;
    }
    return real(path);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *how, void *(*what)(void *), void *with)
{
    REAL(pthread_create)
    return fails("pthread_create") ? EAGAIN : real(thread, how, what, with);
}

#endif
