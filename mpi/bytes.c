/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Reads and writes a whole range of a file: repeats calls that transfer fewer bytes. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "mpi/mpi_private.h"

enum { COPIED = 1 << 20 };

bool lr_mpi_read_all(int fd, void *to, uint64_t size, uint64_t at)
{
    uint8_t *target = to;
    while (size) {
        ssize_t n = pread(fd, target, (size_t)size, (off_t)at);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            errno = n < 0 ? errno : ENODATA;
            return false;
        }
        target += n;
        at += (uint64_t)n;
        size -= (uint64_t)n;
    }
    return true;
}

bool lr_mpi_write_all(int fd, const void *from, uint64_t size, uint64_t at)
{
    const uint8_t *bytes = from;
    while (size) {
        ssize_t n = pwrite(fd, bytes, (size_t)size, (off_t)at);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            errno = n < 0 ? errno : EIO;
            return false;
        }
        bytes += n;
        at += (uint64_t)n;
        size -= (uint64_t)n;
    }
    return true;
}

bool lr_mpi_copy(int fd, uint64_t at, uint64_t size, lr_mpi_write_fn write, void *user)
{
    uint8_t *some = malloc(COPIED);
    bool well = some != NULL;
    while (size && well) {
        uint64_t n = size < COPIED ? size : COPIED;
        well = lr_mpi_read_all(fd, some, n, at) && write(user, some, n) == 0;
        at += n;
        size -= n;
    }
    free(some);
    return well;
}
