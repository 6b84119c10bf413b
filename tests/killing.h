/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Kills the process at one of its calls of the system that change files. So a save is interrupted in each state that it
 * leaves on the disk. For programs that are linked with LR_KILLING_CALLS. */
#ifndef KILLING_H
#define KILLING_H

#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static atomic_long kill_at; /* the call at which the process ends, counted from 1; 0: none */

/* Returns whether this call, of any thread, is the one. */
static inline bool killed_now(void)
{
    return atomic_load(&kill_at) > 0 && atomic_fetch_sub(&kill_at, 1) == 1;
}

/* The process ends before the call, or when a write has written half of its bytes. */
#define KILLING(type, name, parameters, arguments, half) \
    type __real_##name parameters;                       \
    type __wrap_##name parameters;                       \
    type __wrap_##name parameters                        \
    {                                                    \
        if (killed_now()) {                              \
            half;                                        \
            (void)raise(SIGKILL);                        \
        }                                                \
        return __real_##name arguments;                  \
    }

KILLING(ssize_t, writev, (int fd, const struct iovec *parts, int count), (fd, parts, count),
        (void)!write(fd, parts->iov_base, parts->iov_len / 2))
KILLING(ssize_t, pwrite, (int fd, const void *data, size_t size, off_t at), (fd, data, size, at),
        (void)!__real_pwrite(fd, data, size / 2, at))
KILLING(int, fsync, (int fd), (fd), (void)0)
KILLING(int, ftruncate, (int fd, off_t size), (fd, size), (void)0)
KILLING(int, fallocate, (int fd, int mode, off_t at, off_t size), (fd, mode, at, size), (void)0)
KILLING(int, fchmod, (int fd, mode_t mode), (fd, mode), (void)0)
KILLING(int, renameat, (int a, const char *from, int b, const char *to), (a, from, b, to), (void)0)
KILLING(int, unlinkat, (int fd, const char *path, int flags), (fd, path, flags), (void)0)
KILLING(int, flock, (int fd, int how), (fd, how), (void)0)
KILLING(int, close, (int fd), (fd), (void)0)

int __real_openat(int fd, const char *path, int flags, ...);
int __wrap_openat(int fd, const char *path, int flags, ...);
int __wrap_openat(int fd, const char *path, int flags, ...)
{
    va_list args;
    mode_t mode;
    va_start(args, flags);
    mode = (flags & (O_CREAT | O_TMPFILE)) ? (mode_t)va_arg(args, int) : 0;
    va_end(args);
    if (killed_now()) {
        (void)raise(SIGKILL);
    }
    return __real_openat(fd, path, flags, mode);
}

#endif
